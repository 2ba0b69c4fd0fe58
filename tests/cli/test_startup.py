"""Commands start fast: they import only what they need, and `ps` almost nothing."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import platformdirs
import pytest
from click.testing import CliRunner

import handraise
from api.served import WHICH, served
from handraise.cli.commands import COMMANDS, SENTENCES
from handraise.cli.entry import main as entry
from handraise.cli.main import main
from handraise.cli.places import state_folder
from handraise.model.asks import Permission, Plan


def imported_by(code: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_ps_imports_neither_what_others_need_nor_what_reads_a_command_line() -> None:
    found = imported_by("import handraise.cli.entry, handraise.client.state, handraise.cli.client, handraise.cli.table")
    others = {"click", "http.client", "asyncio", "msgspec", "httpx2", "rich", "prompt_toolkit", "uvicorn"}
    # Each of these takes as long as a third of Python's own start.
    slow = {"pathlib", "typing", "urllib.parse", "platformdirs", "shutil"}
    assert not (found - imported_by("pass")) & (others | slow)


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--version"]])
def test_the_overview_imports_nothing(words: list[str]) -> None:
    found = imported_by(f"sys.argv = ['handraise', *{words!r}]\nfrom handraise.cli.entry import main\nmain()\nprint()")
    assert not found & {"click", "typing", "re", "textwrap", "shutil", "importlib.metadata", "pathlib", "json"}


BOTH_WAYS = """
import os, sys
from handraise.cli.entry import main as entry
from handraise.cli.main import main
for columns in (20, 50, 51, *range(57, 90), 200):
    os.environ["COLUMNS"] = str(columns)
    for words in (["--help"], ["-h"], ["--version"]):
        sys.argv = ["handraise", *words]
        entry()
        print("=====")
        main(prog_name="handraise", standalone_mode=False)
        print("-----")
"""


def test_the_overview_is_what_click_would_print() -> None:
    done = subprocess.run([sys.executable, "-c", BOTH_WAYS], capture_output=True, text=True, check=True)
    pairs = [each.split("=====\n") for each in done.stdout.split("-----\n")[:-1]]
    assert len(pairs) == 37 * 3
    assert all(ours == clicks for ours, clicks in pairs)


async def test_open_requests_are_listed_alike_without_what_reads_a_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served(tmp_path) as hub:
        for body in (WHICH, Permission("Bash", {"command": "echo \u202e“ü”"}), Plan("1. Do it.\n" * 3000)):
            await hub.ask(body)
        monkeypatch.setenv("HANDRAISE_STATE", str(hub.state))
        monkeypatch.setattr(sys, "argv", ["handraise", "inbox", "--json"])
        await asyncio.to_thread(entry)
        fast = capsys.readouterr().out
        slow = (await asyncio.to_thread(CliRunner().invoke, main, ["inbox", "--json"])).output
    assert [json.loads(row) for row in fast.splitlines()] == [json.loads(row) for row in slow.splitlines()]
    assert len(fast.splitlines()) == 3
    found = imported_by("import handraise.cli.entry, handraise.client.state, handraise.cli.client")
    assert "click" not in found


@pytest.mark.parametrize("place", ["", "/elsewhere", " "])
def test_the_hubs_folder_is_where_the_platform_keeps_state(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.delenv("HANDRAISE_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", place)
    assert str(state_folder(None)) == platformdirs.user_state_dir("handraise")
    monkeypatch.setenv("HANDRAISE_STATE", "~/hub")
    assert state_folder(None) == Path.home() / "hub"
    assert state_folder("/given") == Path("/given")


def test_the_commands_import_no_terminal_and_no_server_before_they_are_called() -> None:
    found = imported_by(
        "import handraise.cli.main, handraise.cli.interactive, handraise.cli.ps, handraise.cli.steering"
    )
    assert not found & {"asyncio", "http.client", "httpx2", "rich", "prompt_toolkit", "uvicorn", "starlette", "apsw"}


@pytest.mark.parametrize(
    "words", [["--help"], ["pss"], ["--version"]], ids=["help", "a command that does not exist", "version"]
)
def test_what_is_said_of_all_commands_imports_none_of_them(words: list[str]) -> None:
    found = imported_by(f"from handraise.cli.main import main\ntry: main({words!r})\nexcept SystemExit: pass\nprint()")
    ours = {each for each in found if each.startswith("handraise")}
    assert ours == {"handraise", "handraise.cli", "handraise.cli.commands", "handraise.cli.main"}


def test_a_tab_imports_no_command() -> None:
    environment = {"_HANDRAISE_COMPLETE": "zsh_complete", "COMP_WORDS": "handraise ", "COMP_CWORD": "1"}
    found = imported_by(
        f"import os\nos.environ.update({environment!r})\nfrom handraise.cli.main import main\n"
        "try: main(prog_name='handraise')\nexcept SystemExit: pass\nprint()"
    )
    assert set(COMMANDS) <= found  # they were found
    assert {each for each in found if each.startswith("handraise.")} == {
        "handraise.cli",
        "handraise.cli.commands",
        "handraise.cli.main",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_the_first_sentence_of_its_own_help(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert SENTENCES[name] == command.get_short_help_str(limit=1000)


def test_staying_without_a_terminal_draws_nothing_and_imports_nothing_that_draws() -> None:
    found = imported_by("import handraise.cli.interactive_session, handraise.surfaces.terminal.unattended")
    assert not found & {"prompt_toolkit", "rich", "markdown_it", "pygments", "platformdirs"}


def test_talking_to_a_hub_takes_nothing_but_our_own_client() -> None:
    found = imported_by("import handraise.cli.interactive_session")
    assert not found & {"httpx2", "httpcore2", "h11", "anyio", "http.client", "urllib.request"}


def test_a_hub_imports_what_few_hubs_need_when_they_need_it() -> None:
    found = imported_by("import handraise.serving.serve")
    assert not found & {"prometheus_client", "http.server", "httpx2", "cryptography", "mcp", "rich", "prompt_toolkit"}


SERVED = """
import gc, os, signal, sys
from handraise.cli.entry import main

class Watched:
    def write(self, text):
        if "is up at" in text:
            print(gc.isenabled(), gc.get_freeze_count() > 0, *sys.modules, file=sys.stderr)
            os.kill(os.getpid(), signal.SIGTERM)

    def flush(self): pass
    def isatty(self): return False

sys.argv = ["handraise", "serve", "--port", "0"]
sys.stdout = Watched()
main()
"""
FOR_FEW_HUBS = {
    *("apprise", "asyncpg", "babel", "cryptography", "httpx2", "mcp", "prometheus_client", "smtplib"),
    *("handraise.store.postgres", "handraise.surfaces.telegram", "handraise.surfaces.push.client"),
    *("handraise.surfaces.webhooks.client", "handraise.api.mcp_sdk", "handraise.api.prometheus"),
}
FOR_OTHER_COMMANDS = {
    *("rich", "prompt_toolkit", "pygments", "markdown_it", "handraise.desk.remote", "handraise.surfaces.terminal"),
    *("handraise.backup", "handraise.demo", "handraise.doctor"),
}
FOR_NOBODY = {
    *(
        "attr",
        "greenlet",
        "h11",
        "html.entities",
        "http.server",
        "platformdirs",
        "structlog",
        "unittest",
        "urllib.request",
    ),
    *("starlette.applications", "starlette.routing", "starlette.templating", "starlette.testclient", "websockets"),
    *("wsproto", "xml", "zipfile", "zoneinfo"),
}


def test_a_hub_that_is_up_has_imported_only_what_every_hub_needs(tmp_path: Path) -> None:
    claude = tmp_path / "claude"
    claude.write_text("#!/bin/sh\n")
    claude.chmod(0o700)
    here = {"HANDRAISE_STATE": str(tmp_path / "state"), "HANDRAISE_CLAUDE_PATH": str(claude), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SERVED], env={**os.environ, **here}, capture_output=True, text=True, check=True
    )
    collects, has_frozen, *found = done.stderr.split()
    assert not set(found) & (FOR_FEW_HUBS | FOR_OTHER_COMMANDS | FOR_NOBODY)
    assert "handraise.serving.serve" in found
    assert (collects, has_frozen) == ("True", "True")


def test_no_value_of_ours_is_a_dataclass() -> None:
    """Each takes as long to make as fifty Structs: a hub had a hundred, and needed a third of its start for them."""
    sources = Path(handraise.__file__).parent.rglob("*.py")
    assert [each.name for each in sources if "dataclass" in each.read_text()] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert f"Usage: main {name}" in result.output


@pytest.mark.parametrize("name", ["run", "attach", "inbox", "ps", "answer", "completion"])
def test_help_has_an_example(name: str) -> None:
    assert f"handraise {name}" in CliRunner().invoke(main, [name, "--help"]).output


@pytest.mark.parametrize(("shell", "piece"), [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete ")])
def test_completion_for_each_shell(shell: str, piece: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert piece in result.output
    assert "_HANDRAISE_COMPLETE" in result.output


def test_help_lists_every_command_with_its_whole_first_sentence_and_the_exit_codes() -> None:
    result = CliRunner().invoke(main, ["--help"]).output
    assert all(f"\n  {name} " in result for name in COMMANDS)
    assert "..." not in result.partition("Work with Claude")[2]
    assert "3 no hub" in " ".join(result.split())


@pytest.mark.parametrize(("typed", "meant"), [("pss", "'ps'"), ("inboxx", "'inbox'"), ("atach", "'attach'")])
def test_a_command_that_does_not_exist_is_told_with_the_nearest_one(typed: str, meant: str) -> None:
    result = CliRunner().invoke(main, [typed])
    assert result.exit_code == 2
    assert f"Did you mean {meant}?" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["inbox", "--hub", "example.org:8420"], "--hub needs a URL, for example https://example.org:8420."),
        (["ps", "--watch"], "--watch needs a terminal"),
        (["run", "--patience", "-1", "x"], "is not in the range x>=0"),
        (["completion", "tcsh"], "is not one of"),
        (["run", "--fork", "x"], "--fork needs --resume ID"),
    ],
)
def test_wrong_usage_is_told_with_the_right_one(words: list[str], sentence: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert sentence in result.output


def test_a_shell_is_told_the_commands() -> None:
    environment = {"_HANDRAISE_COMPLETE": "bash_complete", "COMP_WORDS": "handraise in", "COMP_CWORD": "1"}
    result = CliRunner().invoke(main, env=environment, prog_name="handraise")
    assert result.output.split() == ["plain,inbox", "plain,interrupt"]
