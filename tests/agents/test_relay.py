"""The relay: starts with the standard library alone, explains its usage, and doesn't wait for a hub indefinitely."""

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from handraise.agents import relay
from handraise.agents.relay_state import LONGEST_AWAY
from handraise.client.state import state_folder

WHAT_IS_IMPORTED = """
import sys
sys.argv = ["handraise", "mcp", "--help"]
from handraise.cli.entry import main
try:
    main()
finally:
    print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


def test_it_imports_nothing_but_the_standard_library() -> None:
    # Isolated, and without what a virtual environment runs at the start of every program.
    source = str(Path(relay.__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {source!r})\n{WHAT_IS_IMPORTED}"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(ran.stderr.split())

    assert "handraise" in imported
    assert imported <= {*sys.stdlib_module_names, "handraise", "__main__"}
    assert not imported & {"asyncio", "ssl", "email", "http", "urllib"}


@pytest.mark.parametrize(
    "variables", [{}, {"HANDRAISE_STATE": "~/elsewhere"}, {"XDG_STATE_HOME": "/var/state"}, {"XDG_STATE_HOME": ""}]
)
def test_it_looks_for_the_hub_where_the_hub_is(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name in ("HANDRAISE_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    named = variables.get("HANDRAISE_STATE")
    assert state_folder() == (os.path.expanduser(named) if named else platformdirs.user_state_dir("handraise"))


def test_help_and_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert relay.main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: handraise mcp")
    assert relay.main(["--what"]) == 2
    assert capsys.readouterr().err.startswith("Usage: handraise mcp")


def test_a_run_file_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("ASK_USER_CONFIG", str(tmp_path / "nothing.json"))

    assert relay.main([]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_user", "arguments": {}}}
TAKEN = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class RelayClock:
    """The machine's own clock, or one that stands still until a test moves it."""

    def __init__(self, *, stands: bool = False) -> None:
        self.stands = stands
        self.forward = 0.0

    def __call__(self) -> float:
        return (0.0 if self.stands else time.monotonic()) + self.forward

    def go_forward(self) -> None:
        self.forward += LONGEST_AWAY + 1


class Side:
    """The agent's side of a relay."""

    def __init__(self, to_relay: int, from_relay: int) -> None:
        self._to_relay = to_relay
        self._from_relay = os.fdopen(from_relay, "rb")

    def say(self, line: bytes) -> None:
        os.write(self._to_relay, line + b"\n")

    def hear(self, meanwhile: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """The next line; until it comes, something is repeated."""
        for _ in range(600):
            if select.select([self._from_relay], [], [], 0.05)[0]:
                response: dict[str, Any] = json.loads(self._from_relay.readline())
                return response
            meanwhile()
        raise AssertionError("nothing was said")

    def leave(self) -> None:
        os.close(self._to_relay)
        self._from_relay.close()


@contextmanager
def relaying(state: Path, clock: RelayClock) -> Iterator[Side]:
    heard, to_relay = os.pipe()
    from_relay, text = os.pipe()
    carrying = threading.Thread(target=relay.Relay(str(state), None, heard, text, clock).carry)
    carrying.start()
    side = Side(to_relay, from_relay)
    try:
        yield side
    finally:
        side.leave()
        carrying.join()
        os.close(heard)
        os.close(text)


@contextmanager
def listening(state: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as hub:
        hub.settimeout(30)
        hub.bind(str(state / "hub.sock"))
        hub.listen()
        yield hub
    (state / "hub.sock").unlink()


def test_a_call_of_a_hub_that_is_gone_for_good_is_given_up_in_the_end(tmp_path: Path) -> None:
    clock = RelayClock()
    with relaying(tmp_path, clock) as agent:
        with listening(tmp_path) as hub:
            agent.say(json.dumps(CALL).encode())
            with hub.accept()[0] as connection:
                connection.sendall(TAKEN)
                while b"ask_user" not in connection.recv(65536):
                    pass

        contents = agent.hear(meanwhile=clock.go_forward)["result"]
        assert (contents["isError"], "No Handraise hub is running" in contents["content"][0]["text"]) == (True, True)


def test_a_hub_that_hangs_up_again_and_again_is_not_run_after_in_circles(tmp_path: Path) -> None:
    clock = RelayClock(stands=True)
    with relaying(tmp_path, clock) as agent, listening(tmp_path) as hub:
        agent.say(json.dumps(CALL).encode())
        hub.accept()[0].close()
        hub.settimeout(0.5)
        with pytest.raises(TimeoutError):
            hub.accept()

        clock.forward = 1.0
        hub.settimeout(30)
        hub.accept()[0].close()


@pytest.mark.parametrize("line", [b"[" * 100_000, b"\xff\xfe", b"null", b'{"id": 1e999}', b"{}"])
def test_what_is_no_message_ends_nothing(tmp_path: Path, line: bytes) -> None:
    with relaying(tmp_path, RelayClock()) as agent:
        agent.say(line)
        agent.say(json.dumps(CALL).encode())

        assert agent.hear()["id"] == 1
