"""The table of sessions, watched."""

import signal
from pathlib import Path

from handraise.model.asks import Permission
from surfaces.terminal.pseudo import CTRL_C, CTRL_Z, ENTER, handraise
from surfaces.terminal.table import Table, table


async def test_the_table_of_sessions_is_watched(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("ps", "--watch") as terminal:
        await terminal.until("No sessions yet", "q to quit")
        await laid.session()
        await laid.ask(Permission("Bash", {"command": "ls"}), session="s_1")
        await terminal.until("s_1", "needs you", "1 open", "Fix the tests")
        terminal.type("q")
        assert await terminal.end() == 0
        assert terminal.modes() == terminal.before
        assert not terminal.emulator.cursor.hidden


async def test_a_killed_watch_leaves_the_terminal_as_it_was_found(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("ps", "--watch") as terminal:
        await terminal.until("q to quit")
        terminal.signal(signal.SIGTERM)
        await terminal.end()
        assert terminal.modes() == terminal.before
        assert terminal.raw.endswith(b"\x1b[?25h\x1b[?1049l")


async def test_a_watch_is_drawn_anew_when_the_terminal_is_resized(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("ps", "--watch") as terminal:
        await laid.session("s_0123456789abcdef", cost_usd=0.25)
        await terminal.until("$0.2500", "Fix the tests")
        await terminal.resize(40, 10, "s_0123456789abcdef")
        await terminal.wait(lambda: len([row for row in terminal.lines if row]) == 3, "three rows")
        await terminal.until("s_0123456789abcdef", gone="$0.2500")
        await terminal.resize(100, 10, "$0.2500")
        await terminal.until("$0.2500")
        terminal.type(CTRL_C)
        assert await terminal.end() == 0


async def test_a_watch_says_that_the_hub_is_gone_and_finds_the_next_one(tmp_path: Path) -> None:
    laid = Table(tmp_path)
    async with laid.serve():
        terminal = laid.terminal("ps", "--watch")
        await terminal.__aenter__()
        await terminal.until("No sessions yet")
    try:
        await terminal.until("No hub is running.", "Retrying.")
        async with laid.serve():
            await terminal.until("No sessions yet")
    finally:
        await terminal.__aexit__(None, None, None)


async def test_a_watch_without_colours_and_none_where_nothing_can_be_drawn(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("ps", "--watch", environment={"NO_COLOR": "1"}) as terminal:
            await terminal.until("Fix the tests", "q to quit")
            assert b"\x1b[2m" not in terminal.raw
            assert b"\x1b[32m" not in terminal.raw
        async with laid.terminal("ps", "--watch", environment={"TERM": "dumb"}) as terminal:
            assert await terminal.end() == 2
            assert "handraise ps --json" in terminal.screen
            assert b"\x1b" not in terminal.raw


async def test_a_watch_that_is_stopped_gives_the_terminal_back_meanwhile(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.shell("set -m; PS1='ready> '") as terminal:
        await laid.session()
        await terminal.until("ready>")
        terminal.type(" ".join(handraise("ps", "--watch")), ENTER)
        await terminal.until("Fix the tests", "q to quit")
        terminal.type(CTRL_Z)
        await terminal.wait(lambda: terminal.raw.rstrip().endswith(b"ready>") and b"Stopped" in terminal.raw)
        assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")
        before = len(terminal.raw)
        terminal.type("fg", ENTER)
        await terminal.wait(lambda: b"Fix the tests" in terminal.raw[before:])
        terminal.type("q")
        await terminal.wait(lambda: b"\x1b[?1049l" in terminal.raw[before:])
