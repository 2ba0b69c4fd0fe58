"""A command starts at once: it imports what it needs, and `ps` next to nothing."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from handraise.cli.main import COMMANDS, main


def imported_by(code: str) -> set[str]:
    told = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(told.stdout.split())


def test_ps_imports_neither_what_others_need_nor_what_reads_a_command_line() -> None:
    found = imported_by("import handraise.cli.entry, handraise.cli.folder, handraise.cli.table")
    assert not found & {"click", "http.client", "asyncio", "msgspec", "httpx2", "rich", "prompt_toolkit", "uvicorn"}


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


def test_a_shell_is_told_the_commands() -> None:
    environment = {"_HANDRAISE_COMPLETE": "bash_complete", "COMP_WORDS": "handraise in", "COMP_CWORD": "1"}
    told = CliRunner().invoke(main, env=environment, prog_name="handraise")
    assert told.output.split() == ["plain,inbox", "plain,interrupt"]
