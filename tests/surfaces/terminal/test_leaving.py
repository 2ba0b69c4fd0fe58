"""The terminal after leaving, for good or for a while."""

import signal
import termios
from pathlib import Path

import pytest

from handraise.model.answers import Choice, Choices
from handraise.model.asks import Question
from surfaces.terminal.asked import DATABASE, NPM
from surfaces.terminal.pseudo import CTRL_C, CTRL_D, CTRL_Z, ENTER, Pseudo, handraise
from surfaces.terminal.table import table

READY = "Esc to postpone"


async def left_as_found(terminal: Pseudo) -> None:
    """The modes are those from before, the cursor is seen, bracketed paste is off, and the card is gone."""
    assert terminal.modes() == terminal.before
    assert terminal.raw.rfind(b"\x1b[?2004l") > terminal.raw.rfind(b"\x1b[?2004h")
    # Each picture was drawn whole, the last one too.
    assert terminal.raw.count(b"\x1b[?2026h") == terminal.raw.count(b"\x1b[?2026l") > 0
    assert terminal.raw.rfind(b"\x1b[?2026l") > terminal.raw.rfind(b"\x1b[?2026h")
    assert not terminal.emulator.cursor.hidden
    assert "▌" not in terminal.screen


@pytest.mark.parametrize("keys", [CTRL_D, CTRL_C + CTRL_C])
async def test_leaving_leaves_the_terminal_as_it_was_found(tmp_path: Path, keys: str) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        await laid.ask(NPM)
        await terminal.until(READY)
        assert terminal.modes() != terminal.before
        terminal.type(*keys)
        # As every program that is ended by Ctrl-C.
        assert await terminal.end() == (0 if keys == CTRL_D else 130)
        await left_as_found(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_kill_leaves_the_terminal_as_it_was_found(tmp_path: Path, number: signal.Signals) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(NPM)
        await terminal.until(READY)
        terminal.signal(number)
        await terminal.end()
        await left_as_found(terminal)
        assert (await laid.hub.desk.ask(ask.id)).state == "open"  # lesson 37


def editor(tmp: Path, *rows: str) -> dict[str, str]:
    file = tmp / "editor"
    file.write_text("\n".join(("#!/bin/sh", *rows, "")))
    file.chmod(0o700)
    return {"EDITOR": str(file), "TMPDIR": str(tmp)}


@pytest.mark.parametrize("ignores", ["", "trap '' TERM"])
async def test_a_kill_while_an_editor_is_open_ends_both_and_leaves_nothing_behind(tmp_path: Path, ignores: str) -> None:
    own = editor(
        tmp_path, ignores, "stty raw -echo", "echo $$ > pid", "echo IN THE EDITOR", "while :; do sleep 1; done"
    )
    async with table(tmp_path) as laid, laid.terminal("inbox", environment=own) as terminal:
        ask = await laid.ask(NPM)
        await terminal.until(READY)
        terminal.type("e")
        await terminal.until("IN THE EDITOR")
        terminal.signal(signal.SIGTERM)
        await terminal.end()
        await left_as_found(terminal)
        assert list(tmp_path.glob("handraise-*")) == []
        assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()
        assert (await laid.hub.desk.ask(ask.id)).state == "open"


async def test_ctrl_c_in_an_editor_is_the_editors(tmp_path: Path) -> None:
    own = editor(
        tmp_path, "trap 'echo interrupted > \"$1\"; exit 0' INT", "echo IN THE EDITOR", "while :; do sleep 0.1; done"
    )
    async with table(tmp_path) as laid, laid.terminal("inbox", environment=own) as terminal:
        await laid.ask(NPM)
        await terminal.until(READY)
        terminal.type("e")
        await terminal.until("IN THE EDITOR")
        terminal.type(CTRL_C)
        await terminal.until("Allow it with your changes?", "│ interrupted", gone="Ctrl-C again")


async def test_an_editor_that_cannot_be_started_says_so_and_the_ask_stays(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", environment={"EDITOR": "/nowhere"}) as terminal:
        await laid.ask(NPM)
        await terminal.until(READY)
        terminal.type("e")
        await terminal.until("Can't start the editor `/nowhere`: No such file or directory.", READY)


async def test_stopped_for_a_while_the_terminal_is_the_shells_and_afterwards_ours_again(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        ask = await laid.ask(Question((DATABASE,)))
        shell = laid.shell("set -m; PS1='ready> '")
        async with shell as terminal:
            await terminal.until("ready>")
            usual = terminal.modes()[3] & termios.ECHOCTL
            terminal.type(" ".join(handraise("inbox")), ENTER)
            await terminal.until("Which database?", READY)
            terminal.type("0")
            await terminal.until("Enter to send")
            terminal.type("Duck")
            await terminal.until("› Duck")
            terminal.type(CTRL_Z)
            await terminal.until("Stopped", gone="▌")
            terminal.type("stty -a", ENTER)
            await terminal.until(" icanon", " echo ")
            terminal.type("clear; fg", ENTER)
            await terminal.until("Which database?", "› Duck")
            assert not terminal.modes()[3] & (termios.ICANON | termios.ECHO)
            await terminal.until("Enter to send")
            await terminal.enter("DB")
            await terminal.until("You answered: DuckDB", "Nothing needs you")
            assert await laid.given(ask) == Choices((Choice(text="DuckDB"),))
            terminal.type(CTRL_D)
            await terminal.until("ready>", gone="Nothing needs you")
            assert terminal.modes()[3] & termios.ECHOCTL == usual


async def test_keys_that_nobody_waits_for_do_not_keep_one_from_leaving(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        await terminal.until("Nothing needs you")
        terminal.type("abc", ENTER, "\x1b[200~pasted\x1b[201~", CTRL_D)
        assert await terminal.end() == 0
