"""This machine's hub: whether it runs, its log, stopping and restarting it, and the service that starts it."""

import configparser
import json
import os
import plistlib
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from handraise.cli.client import HubClient
from handraise.cli.main import main
from handraise.cli.service import plist, unit

SYSTEMCTL = '#!/bin/sh\necho "$@" >> "$CALLS"\ntest ! -e "$CALLS.fails" || { echo "No medium found" >&2; exit 1; }\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with a Claude Code that is never started, and a `systemctl` that only takes notes."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("claude", "#!/bin/sh\nexit 1\n"), ("systemctl", SYSTEMCTL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HANDRAISE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HANDRAISE_WEB_PORT", "0")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HANDRAISE_HUB", "HANDRAISE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def typed(*words: str, stdin: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(main, words, stdin)
    return done.exit_code, done.output


def test_a_hub_in_the_background_is_shown_restarted_and_stopped(home: Path) -> None:
    state = home / "state"
    assert typed("hub", "status") == (
        3,
        f"handraise: No hub is running in {state}. Start one with: handraise serve\n",
    )
    assert typed("hub", "stop")[0] == 3
    start = f"from pathlib import Path; from handraise.cli.background import start_hub; start_hub(Path({str(state)!r}))"
    subprocess.run([sys.executable, "-c", start], check=True)
    try:
        code, shown = typed("hub", "status", "--json")
        assert code == 0, shown
        facts = json.loads(shown)
        assert facts["background"] is True
        assert facts["address"].startswith("http://127.0.0.1:")
        assert (facts["running"], facts["waiting"]) == (0, 0)
        assert f"Log:       {state / 'hub.log'}" in typed("hub", "status")[1]
        assert "Handraise is up at" in typed("hub", "logs")[1]

        restart = [sys.executable, "-m", "handraise", "hub", "restart", "--yes"]
        assert b"The hub is running at" in subprocess.run(restart, check=True, capture_output=True).stdout
        again = json.loads(typed("hub", "status", "--json")[1])
        assert again["pid"] != facts["pid"]

        # Nobody is asked if nothing is running.
        assert typed("hub", "stop") == (0, "The hub has stopped.\n")
        assert not HubClient(state).is_there()
    finally:
        typed("hub", "stop", "--yes")


def test_the_unit_ends_only_the_hub_and_says_what_it_says_whatever_the_path(home: Path) -> None:
    text = unit(home / 'a "b" $HOME %h')
    parsed = configparser.RawConfigParser(strict=True)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read_string(text)
    assert parsed["Service"]["KillMode"] == "process"
    assert parsed["Service"]["ExecStart"].endswith(r'a \"b\" $$HOME %%h"')
    assert f'"{sys.executable}" "-m" "handraise" "serve"' in parsed["Service"]["ExecStart"]
    assert parsed["Install"]["WantedBy"] == "default.target"
    made = plistlib.loads(plist(home / "a <b> & c").encode())
    assert made["AbandonProcessGroup"] is True
    assert made["ProgramArguments"][-1] == str(home / "a <b> & c")


def test_a_service_is_installed_shown_and_removed(home: Path) -> None:
    file = home / ".config/systemd/user/handraise.service"
    code, printed = typed("service", "install", "--print", "--kind", "systemd")
    assert (code, file.exists()) == (0, False)
    code, status = typed("service", "install", "--kind", "systemd")
    assert code == 0, status
    assert file.read_text() == printed
    assert f"Wrote {file}:" in status
    assert "    KillMode=process" in status
    assert (home / "calls").read_text() == "--user daemon-reload\n--user enable --now handraise\n"

    # One that a person changed is not replaced without a word.
    file.write_text("[Service]\n")
    assert typed("service", "install", "--kind", "systemd")[0] == 2
    assert file.read_text() == "[Service]\n"
    assert typed("service", "install", "--kind", "systemd", "--yes", "--no-start")[0] == 0
    assert file.read_text() == printed

    (home / "calls.fails").touch()
    code, status = typed("service", "install", "--kind", "systemd")
    assert (code, "failed: No medium found" in status) == (1, True)
    (home / "calls.fails").unlink()

    assert typed("service", "uninstall")[0] == 2
    code, status = typed("service", "uninstall", "--yes")
    assert (code, status) == (0, f"Removed {file}.\n")
    assert (home / "calls").read_text().endswith("--user disable --now handraise\n")
    assert typed("service", "uninstall", "--yes")[0] == 1


def test_what_the_unit_runs_is_a_hub(home: Path) -> None:
    """The command in it is one that works: with --help, since a hub would stay."""
    [row] = [row for row in unit(home / "state").splitlines() if row.startswith("ExecStart=")]
    words = [each.strip('"') for each in row.removeprefix("ExecStart=").split()]
    assert subprocess.run([*words, "--help"], capture_output=True, check=False).returncode == 0
