"""Every command in hostile environments: a sentence and an exit code, never a traceback."""

import base64
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.hostile_process import HostileStage, stage
from handraise.cli.commands import COMMANDS

WORDS: dict[str, list[list[str]]] = {
    "run": [["run", "hi"], ["run", "--json", "hi"], ["run", "--resume", "s_1", "hi"]],
    "attach": [["attach", "s_1"]],
    "inbox": [["inbox"], ["inbox", "--json"]],
    "ps": [["ps"], ["ps", "--json"]],
    "say": [["say", "s_1", "hi"], ["say", "s_1"]],
    "answer": [["answer", "a_1", "--allow"]],
    "allow": [["allow", "s_1", "toolu_1"]],
    "interrupt": [["interrupt", "s_1"]],
    "cancel": [["cancel", "s_1"], ["cancel", "s_1", "i_1"]],
    "stop": [["stop", "s_1"]],
    "mode": [["mode", "s_1", "plan"]],
    "serve": [["serve", "--port", "0"]],
    "demo": [["demo", "--port", "0"]],
    "doctor": [["doctor"]],
    "backup": [["backup", "/none/backup.zip"]],
    "restore": [["restore", "/dev/null"], ["restore", "/none/backup.zip"]],
    "store": [["store", "copy", "/none/hub.db", "/none/copy.db"]],
    "audit": [["audit"]],
    "replay": [["replay", "s_1"]],
    "project": [["project", "list"], ["project", "add", "."], ["project", "sync"]],
    "rules": [["rules", "list"]],
    "machines": [["machines"], ["machines", "rename", "a", "b"], ["machines", "forget", "a", "--yes"]],
    "trust": [["trust", "list"], ["trust", "revoke", "."]],
    "token": [["token", "list"]],
    "rm": [["rm", "s_1", "--yes"]],
    "prune": [["prune", "--yes"]],
    "show": [["show", "s_1"], ["show", "a_1"]],
    "diff": [["diff", "s_1"]],
    "notify": [["notify"], ["notify", "quiet"], ["notify", "log"], ["notify", "chain", "show"]],
    "search": [["search", "hi"], ["search", "--session", "s_1", "hi"]],
    "hub": [["hub", "status"], ["hub", "stop", "--yes"], ["hub", "restart", "--yes"], ["hub", "logs"]],
    "service": [["service", "uninstall", "--yes"]],
    "login": [["login", "http://127.0.0.1:1"]],
    "logout": [["logout"]],
    "telegram": [["telegram", "setup"], ["telegram", "test"], ["telegram", "status"]],
    "webhooks": [
        ["webhooks"],
        ["webhooks", "add", "https://example.com/hook"],
        ["webhooks", "test", "chat"],
        ["webhooks", "deliveries", "chat"],
        ["webhooks", "remove", "chat", "--yes"],
    ],
    "mcp": [["mcp"]],
    "completion": [["completion", "bash"]],
}
ENDLESS = ("serve", "demo")
"""They run until stopped: what keeps them from starting is tested one by one below."""
STARTS_A_HUB = ("run",)
NEEDS_NO_HUB = ("backup", "restore")
EACH = [words for name, many in WORDS.items() if name not in ENDLESS for words in many]
WITHOUT_A_HUB = [words for words in EACH if words[0] not in STARTS_A_HUB]


Found = list[tuple[list[str], int, str, str]]


class Checked:
    """Tries commands: whatever they meet, they end with a sentence and a code."""

    def __init__(self, at: HostileStage) -> None:
        self._stage = at

    def __call__(self, cases: list[dict[str, Any]], *, fails: bool = True) -> Found:
        found = []
        for case, code, out, err in self._stage.tried(cases):
            text = f"{case['words']}: {code}\n{out}\n{err}"
            assert "Traceback" not in out + err, text
            assert "Internal error" not in out + err, text
            assert code in (0, 1, 2, 3, 4, 5), text
            assert code or not fails, text
            found.append((case["words"], code, out, err))
        return found


@pytest.fixture(scope="module")
def checked() -> Iterator[Checked]:
    with stage() as at:
        yield Checked(at)


def test_every_command_is_tried() -> None:
    assert set(WORDS) == set(COMMANDS)


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str | None]:
    """With a Claude Code that only knows its version: the real one takes longer than all else that `doctor` does."""
    claude = tmp_path / "claude"
    claude.write_text('#!/bin/sh\necho "2.1.325 (Claude Code)"\n')
    claude.chmod(0o755)
    return {
        "HANDRAISE_STATE": str(tmp_path / "state"),
        "HOME": str(tmp_path),
        "HANDRAISE_HUB": None,
        "HANDRAISE_CLAUDE_PATH": str(claude),
    }


def test_a_state_path_that_is_a_file(checked: Checked, tmp_path: Path, state: dict[str, str | None]) -> None:
    place = tmp_path / "file"
    place.write_text("")
    state["HANDRAISE_STATE"] = str(place)
    for words, code, out, err in checked([{"words": words, "env": state} for words in EACH], fails=False):
        if words[0] not in ("doctor", "completion", "mcp", "replay", "telegram", "store", "service", "login", "logout"):
            assert code in ((1, 2) if words[0] in NEEDS_NO_HUB else (3,)), (words, code, out, err)
    [(_, code, _, err)] = checked([{"words": ["serve", "--port", "0"], "env": state}])
    assert code == 1
    assert str(place) in err


def test_a_place_where_nothing_can_be_made(checked: Checked, state: dict[str, str | None]) -> None:
    state["HANDRAISE_STATE"] = "/proc/nowhere"
    checked([{"words": words, "env": state} for words in [*EACH, ["serve", "--port", "0"]]], fails=False)


@pytest.mark.parametrize("place", ["/dev/full", "broken", "closed"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_nothing_can_be_printed(checked: Checked, state: dict[str, str | None], place: str, stream: str) -> None:
    words = [*WITHOUT_A_HUB, ["--help"], ["--version"], ["nonsense"], ["answer", "--help"]]
    for tried_words, code, _, err in checked(
        [{"words": each, "env": state, stream: place} for each in words], fails=False
    ):
        if stream == "stdout" and place == "/dev/full" and tried_words[0] == "completion":
            assert (code, err) == (1, "handraise: Can't write the output: No space left on device.\n")


def test_bytes_that_are_no_text(checked: Checked, state: dict[str, str | None]) -> None:
    sent = base64.b64encode(b"caf\xe9 \xff\xfe").decode()
    for locale in ("C", "POSIX", "C.UTF-8"):
        env = {**state, "LC_ALL": locale, "LANG": locale}
        [(_, run_code, _, run_err), (_, say_code, _, say_err)] = checked(
            [{"words": words, "env": env, "stdin": sent} for words in (["run"], ["say", "s_1"])]
        )
        assert (run_code, say_code) == (2, 2)
        assert run_err == say_err == "handraise: The input isn't valid UTF-8 (byte 3).\n"
    odd = [["say", "\udcff", "x"], ["answer", "\udcff", "--allow"], ["replay", "\udcff"], ["attach", "\udcff"]]
    checked([{"words": words, "env": state} for words in odd])


def test_a_locale_that_knows_only_ascii(checked: Checked, state: dict[str, str | None]) -> None:
    env = {**state, "LC_ALL": "POSIX", "LANG": None, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    checked([{"words": words, "env": env} for words in [*WITHOUT_A_HUB, ["--help"]]], fails=False)


def test_no_home_and_a_directory_that_is_gone(checked: Checked, state: dict[str, str | None]) -> None:
    bare = {"HOME": None, "XDG_STATE_HOME": None, "HANDRAISE_STATE": "/nowhere/at/all", "USER": None}
    checked([{"words": words, "env": bare} for words in WITHOUT_A_HUB], fails=False)
    found = checked([{"words": words, "env": state, "cwd_gone": True} for words in WITHOUT_A_HUB], fails=False)
    [text] = [err for words, _, _, err in found if words == ["doctor"]]
    assert text == "handraise: The current directory no longer exists. Change to another directory.\n"


@pytest.mark.parametrize("text", [b"[web\n", b"\xff", b"[web]\nport = 'x'\n"])
def test_settings_that_cannot_be_read(
    checked: Checked, tmp_path: Path, state: dict[str, str | None], text: bytes
) -> None:
    file = tmp_path / "handraise.toml"
    file.write_bytes(text)
    file.chmod(0o600)
    env = {**state, "HANDRAISE_CONFIG": str(file)}
    for words, code, _, err in checked([{"words": words, "env": env} for words in (["serve"], ["doctor"])]):
        assert code == 1, (words, err)


def test_a_taken_port_and_a_missing_cli(checked: Checked, tmp_path: Path, state: dict[str, str | None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as receipt:
        port = str(receipt.getsockname()[1])
        for _, code, _, err in checked([{"words": [each, "--port", port], "env": state} for each in ENDLESS]):
            assert code == 5
            assert f"Port {port} is in use." in err
    empty = tmp_path / "bin"
    empty.mkdir()
    (empty / "claude").write_text("not a program")
    missing = {**state, "HANDRAISE_CLAUDE_PATH": str(empty / "claude")}
    [(_, code, _, err)] = checked([{"words": ["serve", "--port", "0"], "env": missing}])
    assert code == 1
    assert "isn't executable" in err
