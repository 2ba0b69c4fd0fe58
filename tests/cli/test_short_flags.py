"""Short options: the same letter for the same option, on every command."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from api.served import served
from cli.parsing import parsed
from handraise.cli.main import main
from handraise.model.asks import Permission
from surfaces.terminal.table import table

LETTERS = {
    "--all": "-a",
    "--choose": "-c",
    "--detach": "-d",
    "--follow": "-f",
    "--force": "-f",
    "--hub": "-H",
    "--image": "-i",
    "--last": "-n",
    "--limit": "-n",
    "--lines": "-n",
    "--message": "-m",
    "--model": "-m",
    "--name": "-n",
    "--port": "-p",
    "--project": "-p",
    "--quiet": "-q",
    "--resume": "-r",
    "--running": "-r",
    "--search": "-s",
    "--session": "-s",
    "--text": "-t",
    "--verbose": "-v",
    "--version": "-V",
    "--watch": "-w",
    "--yes": "-y",
}


def commands(group: click.Group, name: str = "handraise") -> Iterator[tuple[str, click.Command]]:
    yield name, group
    for each in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), each)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {each}")
        else:
            yield f"{name} {each}", command


def test_an_option_has_the_same_letter_everywhere() -> None:
    found = set()
    for name, command in commands(main):
        for option in (each for each in command.params if isinstance(each, click.Option)):
            short = [each for each in option.opts if not each.startswith("--")]
            for long in (each for each in option.opts if each.startswith("--")):
                assert short == ([LETTERS[long]] if long in LETTERS else []), f"{name} {long}"
                found.add(long)
    assert set(LETTERS) <= found


def test_every_command_has_help_by_a_letter() -> None:
    for name, _ in commands(main):
        shown = CliRunner().invoke(main, [*name.split()[1:], "-h"])
        assert shown.exit_code == 0, name
        assert "-h, --help" in shown.output, name


def test_what_was_parsed_before_still_has_help_by_a_letter() -> None:
    context = parsed(["answer", "a_1", "--allow"])
    assert "-h, --help" in context.get_help()


async def test_ids_of_open_requests_and_the_last_entries_of_the_audit_log(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        asks = [await hub.ask(Permission("Bash", {"command": "ls"})) for _ in range(2)]
        state = ("--state", str(hub.state))
        listed = await asyncio.to_thread(CliRunner().invoke, main, ("inbox", "-q", *state))
        assert sorted(listed.stdout.split()) == sorted(each.id for each in asks)
        for each in asks:
            done = await asyncio.to_thread(CliRunner().invoke, main, ("answer", each.id, "--deny", "No", *state))
            assert done.exit_code == 0, done.output
        everything = await asyncio.to_thread(CliRunner().invoke, main, ("audit", "--json", *state))
        last = await asyncio.to_thread(CliRunner().invoke, main, ("audit", "-n", "1", "--json", *state))
        assert last.stdout.splitlines() == everything.stdout.splitlines()[-1:]
        assert json.loads(last.stdout)["what"] == "answered"


async def test_no_color_takes_only_the_color_away(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.ask(Permission("Bash", {"command": "ls"}))
        shown = []
        for environment in ({}, {"NO_COLOR": "1"}):
            async with laid.terminal("inbox", environment=environment) as terminal:
                await terminal.until("Run `ls`?", "Esc to postpone")
                shown.append((terminal.lines[2:], terminal.raw))
        assert [row for row in shown[0][0] if "waiting" not in row] == [
            row for row in shown[1][0] if "waiting" not in row
        ]
        assert b"\x1b[0;33" in shown[0][1] or b"33m" in shown[0][1]
        assert b"33m" not in shown[1][1]
        # The question is still bold.
        assert b"\x1b[0;1m" in shown[1][1]
