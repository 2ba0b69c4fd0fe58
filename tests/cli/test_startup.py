"""A command starts at once: it imports what it needs, and `ps` next to nothing."""

import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest
from click.testing import CliRunner

from handraise.cli.folder import state_folder, state_path
from handraise.cli.main import COMMANDS, main


def imported_by(code: str) -> set[str]:
    told = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(told.stdout.split())


def test_ps_imports_neither_what_others_need_nor_what_reads_a_command_line() -> None:
    found = imported_by(
        "import handraise.cli.entry, handraise.cli.folder, handraise.cli.neighbour, handraise.cli.table"
    )
    others = {"click", "http.client", "asyncio", "msgspec", "httpx2", "rich", "prompt_toolkit", "uvicorn"}
    # Each of these takes as long as a third of Python's own start.
    slow = {"pathlib", "typing", "urllib.parse", "platformdirs", "shutil"}
    assert not (found - imported_by("pass")) & (others | slow)


@pytest.mark.parametrize("place", ["", "/elsewhere", " "])
def test_the_hubs_folder_is_where_the_platform_keeps_state(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.delenv("HANDRAISE_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", place)
    assert state_path(None) == platformdirs.user_state_dir("handraise")
    monkeypatch.setenv("HANDRAISE_STATE", "~/hub")
    assert state_folder(None) == Path.home() / "hub"
    assert state_folder("/given") == Path("/given")


def test_the_commands_import_no_terminal_and_no_server_before_they_are_called() -> None:
    found = imported_by("import handraise.cli.main, handraise.cli.staying, handraise.cli.ps, handraise.cli.steer")
    assert not found & {"asyncio", "http.client", "httpx2", "rich", "prompt_toolkit", "uvicorn", "starlette", "apsw"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    told = CliRunner().invoke(main, [name, "--help"])
    assert told.exit_code == 0
    assert f"Usage: main {name}" in told.output


@pytest.mark.parametrize("name", ["run", "attach", "inbox", "ps", "answer", "completion"])
def test_help_has_an_example(name: str) -> None:
    assert f"handraise {name}" in CliRunner().invoke(main, [name, "--help"]).output


@pytest.mark.parametrize(("shell", "piece"), [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete ")])
def test_completion_for_each_shell(shell: str, piece: str) -> None:
    told = CliRunner().invoke(main, ["completion", shell])
    assert told.exit_code == 0
    assert piece in told.output
    assert "_HANDRAISE_COMPLETE" in told.output


def test_help_lists_every_command_with_its_whole_first_sentence_and_the_exit_codes() -> None:
    told = CliRunner().invoke(main, ["--help"]).output
    assert all(f"\n  {name} " in told for name in COMMANDS)
    assert "..." not in told.partition("Stay with Claude")[2]
    assert "3 no hub" in " ".join(told.split())


@pytest.mark.parametrize(("typed", "meant"), [("pss", "'ps'"), ("inboxx", "'inbox'"), ("atach", "'attach'")])
def test_a_command_that_does_not_exist_is_told_with_the_nearest_one(typed: str, meant: str) -> None:
    told = CliRunner().invoke(main, [typed])
    assert told.exit_code == 2
    assert f"Did you mean {meant}?" in told.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["inbox", "--hub", "example.org:8420"], "--hub takes an address such as https://example.org:8420."),
        (["ps", "--watch"], "--watch draws on a terminal"),
        (["run", "--patience", "-1", "x"], "is not in the range x>=0"),
        (["completion", "tcsh"], "is not one of"),
        (["run", "--fork", "x"], "--fork needs --resume ID"),
    ],
)
def test_wrong_usage_is_told_with_the_right_one(words: list[str], sentence: str) -> None:
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 2
    assert sentence in told.output


def test_a_shell_is_told_the_commands() -> None:
    environment = {"_HANDRAISE_COMPLETE": "bash_complete", "COMP_WORDS": "handraise in", "COMP_CWORD": "1"}
    told = CliRunner().invoke(main, env=environment, prog_name="handraise")
    assert told.output.split() == ["plain,inbox", "plain,interrupt"]
