"""Plain mode: numbered choices and typed lines, in a real terminal at a real hub."""

from pathlib import Path

from handraise.model.answers import Allow, Approve, Choice, Choices, Filled
from handraise.model.asks import Form, Question
from surfaces.terminal.asked import DATABASE, NPM, PLAN, TWO_QUESTIONS
from surfaces.terminal.pseudo import CTRL_D, ENTER
from surfaces.terminal.table import table


async def test_plain_mode_reads_numbers_and_lines(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", environment={"TERM": "dumb"}) as terminal:
        ask = await laid.ask(TWO_QUESTIONS)
        await terminal.until("Which database?", "A number, then Enter.")
        terminal.type("2", ENTER)
        await terminal.until("Numbers separated by spaces")
        terminal.type("1 3 0", ENTER)
        await terminal.until("Type a line, then Enter.")
        terminal.type("and load", ENTER)
        await terminal.until("[x] Other (o): and load")
        terminal.type(ENTER)
        await terminal.until("Checks: Uptime, Memory, and load")
        await terminal.wait(lambda: terminal.everything.count("A number, then Enter.") == 2)
        terminal.type("1", ENTER)
        await terminal.until("You answered: Postgres")
        assert await laid.given(ask) == Choices((Choice(("Postgres",)), Choice(("Uptime", "Memory"), "and load")))
        assert b"\x1b" not in terminal.raw
        assert terminal.modes() == terminal.before
        terminal.type(CTRL_D)
        assert await terminal.end() == 0


async def test_plain_mode_loses_a_race_in_words(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", environment={"TERM": "dumb"}) as terminal:
        ask = await laid.ask(Question((DATABASE,)))
        await terminal.until("A number, then Enter.")
        await laid.answer(ask, Choices((Choice(("SQLite",)),)))
        await terminal.until("ann answered: SQLite")
        assert b"\x1b" not in terminal.raw


async def test_one_typed_line_tells_the_card_once(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", "--plain") as terminal:
        await laid.ask(TWO_QUESTIONS)
        await terminal.until("A number, then Enter.")
        terminal.type("1", ENTER)
        await terminal.until("Numbers separated by spaces")
        terminal.type("1 2 3", ENTER)
        await terminal.until("Checks: Uptime, Disk, Memory")
        assert terminal.everything.count("[ ] Uptime") == 1
        assert "[x]" not in terminal.everything


async def test_a_forms_default_is_taken_by_enter_and_a_selection_is_what_was_typed_last(tmp_path: Path) -> None:
    properties = {
        "floor": {"type": "integer", "default": 2},
        "note": {"type": "string", "default": "ring twice"},
        "days": {"type": "array", "items": {"type": "string", "enum": ["Mo", "Tu", "We"]}, "default": ["Mo", "Tu"]},
    }
    async with table(tmp_path) as laid, laid.terminal("inbox", "--plain") as terminal:
        ask = await laid.ask(Form("Where?", "forms", {"properties": properties}))
        await terminal.until("4 Fill in", "A number, then Enter.")
        terminal.type("4", ENTER)
        await terminal.until("Enter alone sends: 2")
        terminal.type(ENTER)
        await terminal.until("Enter alone sends: ring twice")
        terminal.type('""', ENTER)
        await terminal.until("[x] Mo", "[x] Tu", "exactly these")
        terminal.type("2 3", ENTER)
        await terminal.wait(lambda: terminal.everything.count("A number, then Enter.") == 2)
        terminal.type("1", ENTER)
        await terminal.until("You filled in")
        given = await laid.given(ask)
        assert isinstance(given, Filled)
        assert given.content is not None
        assert (given.content["floor"], given.content["days"]) == (2, ["Tu", "We"])
        assert not given.content.get("note")


async def test_an_empty_inbox_says_so(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", "--plain") as terminal:
        await terminal.until("Nothing needs you. No session is working. Ctrl-D to leave.")
        # An unknown entry isn't met with silence, and ? lists what can be typed.
        terminal.type("hello", ENTER)
        await terminal.wait(lambda: terminal.everything.count("Nothing needs you.") == 2, "said again")
        terminal.type("?", ENTER)
        await terminal.until("select exactly these", "leave; the session keeps running")
        await laid.session()
        await laid.ask(NPM, session="s_1")
        await terminal.until("Fix the tests · waiting", "A number, then Enter.")


async def test_a_card_is_left_for_later_and_something_said_meanwhile(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1", "--plain") as terminal:
            ask = await laid.ask(NPM, session="s_1")
            await terminal.until("A number, then Enter.", "> to postpone.")
            terminal.type(">", ENTER)
            await terminal.until("Postponed. What you type goes to Claude; > to return to the request.")
            terminal.type("1", ENTER)
            await terminal.until("› 1")
            assert (await laid.hub.desk.ask(ask.id)).state == "open"
            terminal.type(">", ENTER)
            await terminal.wait(lambda: terminal.everything.count("A number, then Enter.") == 2)
            terminal.type("1", ENTER)
            await terminal.until("You allowed")
            assert await laid.given(ask) == Allow()


async def test_the_next_card_is_reached_in_the_inbox(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", "--plain") as terminal:
        first, second = await laid.ask(NPM), await laid.ask(PLAN)
        await terminal.until("Run `npm test`?", "> to postpone.")
        terminal.type(">", ENTER)
        await terminal.until("Claude has a plan: The plan", "request 2 of 2")
        await terminal.wait(lambda: terminal.everything.count("A number, then Enter.") == 2)
        terminal.type("1", ENTER)
        await terminal.until("You approved the plan")
        assert await laid.given(second) == Approve()
        assert (await laid.hub.desk.ask(first.id)).state == "open"


async def test_lines_come_from_the_terminal_where_stdin_is_something_else(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        ask = await laid.ask(Question((DATABASE,)))
        async with laid.shell("handraise inbox --plain < /dev/null") as terminal:
            await terminal.until("A number, then Enter.")
            terminal.type("2", ENTER)
            await terminal.until("You answered: Postgres")
            assert await laid.given(ask) == Choices((Choice(("Postgres",)),))


async def test_what_is_typed_in_an_editor_is_the_editors_and_what_comes_meanwhile_waits(tmp_path: Path) -> None:
    file = tmp_path / "editor"
    file.write_text('#!/bin/sh\necho IN THE EDITOR\nread line\nread more\nprintf "%s" "$line $more" > "$1"\n')
    file.chmod(0o700)
    own = {"EDITOR": str(file), "TERM": "dumb"}
    async with table(tmp_path) as laid:
        first = await laid.ask(NPM)
        other = await laid.ask(Question((DATABASE,)))
        async with laid.terminal("inbox", environment=own) as terminal:
            await terminal.until("A number, then Enter.")
            terminal.type("4", ENTER)
            await terminal.until("IN THE EDITOR")
            terminal.type("npm run", ENTER)
            await laid.answer(other, Choices((Choice(("SQLite",)),)))
            terminal.type("lint", ENTER)
            await terminal.until("│ npm run lint", "ann answered: SQLite", "A number, then Enter. < to go back.")
            terminal.type("1", ENTER)
            await terminal.until("(edited)")
        assert await laid.given(first) == Allow(input={"command": "npm run lint", "description": "Run the tests"})
