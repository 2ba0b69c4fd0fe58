"""Each kind of prompt, with keys, in a real terminal at a real hub."""

from pathlib import Path

from handraise.model.answers import Approve, Choice, Choices, Filled, Outline, Revise
from handraise.model.asks import Permission, Question
from surfaces.terminal.asked import ADDRESS, DATABASE, NPM, PLAN, TWO_QUESTIONS
from surfaces.terminal.pseudo import CTRL_D, DOWN, ENTER, ESCAPE, LEFT, PAGE_DOWN, SPACE, UP
from surfaces.terminal.table import table

READY = "Esc to postpone"


async def test_a_single_question_by_arrows(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(Question((DATABASE,)))
        await terminal.until("Which database?", "1 SQLite – one file", "0 Other", READY)
        assert terminal.emulator.bells == 1
        terminal.type(DOWN)
        terminal.type(DOWN)
        await terminal.until("❯ 2 Postgres")
        terminal.type(ENTER)
        await terminal.until("You answered: Postgres", "Nothing needs you")
        assert await laid.given(ask) == Choices((Choice(("Postgres",)),))
        terminal.type(CTRL_D)
        assert await terminal.end() == 0


async def test_free_text_after_a_stray_enter(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(Question((DATABASE,)))
        await terminal.until(READY)
        terminal.type(ENTER)
        await terminal.until("Choose with the arrow keys or a number.")
        terminal.type("0")
        await terminal.until("Answer in your own words.", "Enter to send")
        await terminal.enter("DuckDB, bitte 🦆")
        await terminal.until("You answered: DuckDB")
        assert await laid.given(ask) == Choices((Choice(text="DuckDB, bitte 🦆"),))


async def test_what_comes_in_one_piece_is_a_paste_and_answers_nothing(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(NPM)
        await terminal.until(READY)
        terminal.type(f"a{ENTER}")
        await terminal.until("Keys count in a moment")
        await terminal.until(READY)
        terminal.type("0")
        assert (await laid.hub.desk.ask(ask.id)).state == "open"


async def test_the_other_asks_stand_behind_the_card(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        await laid.session()
        await laid.ask(NPM, session="s_1")
        await laid.ask(PLAN, session="s_1")
        await terminal.until("Run `npm test`?", "✋ Claude has a plan: The plan · Fix the tests · waiting", READY)


async def test_two_questions_with_checkboxes_free_text_and_a_way_back(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(TWO_QUESTIONS)
        await terminal.until("Store 1 of 2", READY)
        terminal.type("2")
        await terminal.until("Checks 2 of 2", READY)
        terminal.type(LEFT)
        await terminal.until("Store 1 of 2", "❯ 2 Postgres", READY)
        terminal.type("1")
        await terminal.until("Checks 2 of 2", READY)
        terminal.type("1")
        await terminal.until("[x] Uptime")
        terminal.type(DOWN)
        await terminal.until("❯ 2 [ ] Disk")
        terminal.type(SPACE)
        await terminal.until("[x] Uptime", "[x] Disk", "[ ] Memory")
        terminal.type("0")
        await terminal.until("Enter to save it")
        await terminal.enter("load")
        await terminal.until("[x] Other (o): load")
        terminal.type(ENTER)
        await terminal.until("Ready to send", "Store: SQLite", "Checks: Uptime, Disk, load", READY)
        terminal.type(ENTER)
        await terminal.until("You answered: SQLite · Uptime, Disk, load")
        assert await laid.given(ask) == Choices((Choice(("SQLite",)), Choice(("Uptime", "Disk"), "load")))


async def test_a_long_diff_is_folded_and_can_be_read_whole(tmp_path: Path) -> None:  # lesson 38
    diff = "@@ -0,0 +1,300 @@\n" + "".join(f"+line {number}\n" for number in range(300))
    async with table(tmp_path) as laid, laid.terminal("inbox", rows=30) as terminal:
        await laid.ask(Permission("Write", {"file_path": "/a.py", "content": "x"}, diff=diff))
        await terminal.until("lines not shown: v to read", READY)
        terminal.type("v")
        await terminal.until("Space for more", "+line 0", gone="Allow once")
        terminal.type(*[PAGE_DOWN] * 12)
        await terminal.until("+line 299")
        terminal.type(ESCAPE)
        await terminal.until("1 Allow once")


async def test_a_plan_is_sent_back_and_another_one_edited_and_approved(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "# A shorter plan" > "$1"\n')
    editor.chmod(0o700)
    async with table(tmp_path) as laid, laid.terminal("inbox", environment={"VISUAL": str(editor)}) as terminal:
        first, second, third = [await laid.ask(PLAN) for _ in range(3)]
        await terminal.until("Claude has a plan: The plan", "The plan", "request 1 of 3", READY)
        terminal.type("d")
        await terminal.until("What should change?", "Enter to send")
        await terminal.enter("Tests first")
        await terminal.until("sent the plan “The plan” back: “Tests first”", "request 1 of 2", READY)
        terminal.type("e")
        await terminal.until("Approve the plan with your changes?", "A shorter plan", READY)
        await terminal.confirm("y")
        await terminal.until("You approved the plan “The plan” and accept edits (edited)", READY, gone="request 1")
        terminal.type("p")
        await terminal.until("You asked for an outline")
        assert await laid.given(first) == Revise("Tests first")
        assert await laid.given(second) == Approve("acceptEdits", "# A shorter plan")
        assert await laid.given(third) == Outline()


async def test_a_form_field_by_field(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(ADDRESS)
        await terminal.until("Where does it go?", "4 Fill in", READY)
        terminal.type("e")
        await terminal.until("Street: and number", "Enter to continue")
        terminal.type(ENTER)
        await terminal.until("Street is required.")
        await terminal.enter("Odeon 4")
        await terminal.until("A whole number", "› 2", "Enter to continue")
        terminal.type("\x15")
        await terminal.enter("77")
        await terminal.until("floor must be at most 9.")
        terminal.type(UP)
        await terminal.until("Street: and number", "› Odeon 4", "Enter to continue")
        terminal.type(ENTER)
        await terminal.until("› 77", "Enter to continue")
        terminal.type("\x15")
        await terminal.enter("3")
        await terminal.until("lift", "1 Yes", READY)
        terminal.type("1")
        await terminal.until("2 right", READY)
        terminal.type("2")
        await terminal.until("[ ] Tu", READY)
        terminal.type("1")
        await terminal.until("[x] Mo")
        terminal.type("3")
        await terminal.until("[x] We")
        terminal.type(ENTER)
        await terminal.until("Ready to send", "Street: Odeon 4", "days: Mo, We", READY)
        terminal.type(ENTER)
        await terminal.until("You filled in the form")
        filled = {"street": "Odeon 4", "floor": 3, "lift": True, "door": "right", "days": ["Mo", "We"]}
        assert await laid.given(ask) == Filled("accept", filled)


async def test_a_card_is_put_aside_and_another_one_answered_first(tmp_path: Path) -> None:  # lessons 27, 34
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        first, second = await laid.ask(NPM), await laid.ask(PLAN)
        await terminal.until("Run `npm test`?", "request 1 of 2", READY)
        terminal.type("j")
        await terminal.until("Claude has a plan: The plan", "request 2 of 2", READY)
        await terminal.confirm("a")
        await terminal.until("You approved the plan", "Run `npm test`?", READY)
        assert await laid.given(second) == Approve()
        assert (await laid.hub.desk.ask(first.id)).state == "open"
