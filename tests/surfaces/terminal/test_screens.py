"""Terminals of every size, and hostile texts."""

import re
from pathlib import Path

import pytest

from handraise.model.answers import Allow, Choice, Choices
from handraise.model.asks import Option, Plan, Prompt, Question
from surfaces.terminal.asked import NPM, TWO_QUESTIONS
from surfaces.terminal.hostile import CORPUS
from surfaces.terminal.pseudo import CTRL_U, ENTER, UP, Pseudo
from surfaces.terminal.table import table

READY = "Esc to postpone"
TITLE = "handraise · Fix the tests"
OWN_TITLE = re.compile(r"\x1b\]0;[ -~·]*\x07")
FORBIDDEN = ("\x1b]", "\x1b[2J", "\x9b", "\x9d", "\x1bP", "\x05", "\u202e", "\u2028")


@pytest.mark.parametrize(("columns", "rows"), [(40, 12), (200, 50)])
async def test_a_card_fits_any_terminal(tmp_path: Path, columns: int, rows: int) -> None:
    wide = Option("日本語で答える 🎉", "מימין לשמאל, right to left, and words that go on for quite a while")
    async with table(tmp_path) as laid, laid.terminal("inbox", columns=columns, rows=rows) as terminal:
        ask = await laid.ask(Question((Prompt("Which one shall it be, of those that are offered here?", "", (wide,)),)))
        await terminal.until("1 日本語で答える 🎉", READY)
        assert all(row.startswith("▌") for row in terminal.lines[:-1] if row)
        terminal.type("1")
        await terminal.until("You answered")
        assert await laid.given(ask) == Choices((Choice((wide.label,)),))


SIZES = ((60, 40), (100, 40), (50, 20), (120, 40), (40, 15), (100, 15), (45, 30), (100, 40))


async def test_a_terminal_that_is_resized_shows_the_card_once(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        await laid.publish(*(f"Paragraph {number}. " + "These words fill the row. " * 6 for number in range(12)))
        await laid.ask(TWO_QUESTIONS, session="s_1")
        async with laid.terminal("attach", "s_1") as terminal:
            await terminal.until("Which database?", READY)
            await resized(terminal, READY)
            # The cursor is below the card.
            terminal.type("words for Claude")
            await terminal.until("› words for Claude")
            await resized(terminal, "› words for Claude")
            # The cursor is inside the card.
            terminal.type(CTRL_U)
            await terminal.until("0 Other (o)", READY)
            terminal.type(UP)
            await terminal.until("❯ 0 Other")
            terminal.type(ENTER)
            await terminal.until("Answer in your own words.")
            terminal.type("something else")
            await terminal.until("▌ › something else")
            await resized(terminal, "▌ › something else")
            for number in range(12):
                assert terminal.everything.count(f"Paragraph {number}.") == 1
            terminal.type(ENTER)
            await terminal.until("Which checks?", gone="Which database?")


async def resized(terminal: Pseudo, text: str) -> None:
    for columns, rows in SIZES:
        await terminal.resize(columns, rows, "Which database?")
        await terminal.until("Which database?", text)
        assert terminal.screen.count("Which database?") == 1
        assert terminal.screen.count("Store 1 of 2") == 1
    assert terminal.everything.count("Store 1 of 2") == 1


async def test_a_terminal_that_cuts_off_rows_keeps_the_lines_above_the_card(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        await laid.publish("One.", "Two.", "Three.")
        await laid.ask(TWO_QUESTIONS, session="s_1")
        async with laid.terminal("attach", "s_1", environment={"TERM": "linux"}) as terminal:
            await terminal.until("Which database?", READY)
            for columns in (40, 100, 60):
                await terminal.resize(columns, 40, "Which database?")
                await terminal.until("One.", "Two.", "Three.", "Which database?", READY)
                assert terminal.screen.count("Which database?") == 1


async def test_nothing_in_an_ask_or_a_text_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1", rows=60) as terminal:
            texts = [text.replace("\ud83d", "") for text in CORPUS.values()]
            for text in texts:
                await laid.publish(text, f"```\n{text}\n```")
            for some in (texts[:8], texts[8:16], texts[16:]):
                options = tuple(Option(f"{number}{text}", text, text) for number, text in enumerate(some))
                ask = await laid.ask(Question((Prompt("\n".join(some), some[0], options),)), session="s_1")
                await terminal.until(READY)
                terminal.type("\x1b[B")
                await terminal.until("❯ 1 0")
                await laid.answer(ask, Choices((Choice(text="".join(some)),)), "".join(some), "".join(some))
                plan = await laid.ask(Plan("\n\n".join(some)), session="s_1")
                await terminal.until("Claude has a plan.")
                await laid.hub.inbox.withdraw(plan.id, "".join(some))
                await terminal.wait(lambda: not any(row.startswith("▌") for row in terminal.lines), "no card")
            await laid.publish("That was all.")
            await terminal.until("That was all.")
            assert set(terminal.emulator.titles) <= {TITLE, f"handraise: 1 needs you · {TITLE.split(' · ')[1]}"}
            raw = OWN_TITLE.sub("", terminal.raw.decode())
            for sequence in FORBIDDEN:
                assert sequence not in raw
            assert "1 Allow once" in terminal.everything
            assert not any(row.startswith("▌") for row in terminal.everything.split("\n"))


async def test_a_paste_does_not_answer(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(NPM)
        await terminal.until(READY)
        terminal.type("\x1b[200~a\r1\r\x1b[201~")
        await terminal.until("Keys count in a moment")
        await terminal.until(READY)
        terminal.type("d")
        await terminal.until("Why? Claude reads it")
        assert (await laid.hub.desk.ask(ask.id)).state == "open"


async def test_the_first_answer_counts_also_when_it_is_allowed_twice(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(NPM)
        await terminal.until(READY)
        await laid.answer(ask, Allow())
        terminal.type("a")
        await terminal.until("allowed", gone="Allow once")
        assert await laid.given(ask) == Allow()
