"""Terminals of every size, hostile texts, and the terminal as it is left behind."""

import signal
from pathlib import Path

import pytest

from handraise.model.answers import Allow, Choice, Choices
from handraise.model.asks import Option, Permission, Plan, Prompt, Question
from surfaces.terminal.asked import DATABASE, NPM, TWO_QUESTIONS
from surfaces.terminal.hostile import CORPUS
from surfaces.terminal.pseudo import CTRL_C, CTRL_D, ENTER, Pseudo
from surfaces.terminal.table import table

READY = "Esc later"
FORBIDDEN = ("\x1b]", "\x1b[2J", "\x9b", "\x9d", "\x1bP", "\x05", "\u202e", "\u2028")


@pytest.mark.parametrize(("columns", "rows"), [(40, 12), (200, 50)])
async def test_a_card_fits_any_terminal(tmp_path: Path, columns: int, rows: int) -> None:
    wide = Option("日本語で答える 🎉", "מימין לשמאל, right to left, and words that go on for quite a while")
    async with table(tmp_path) as laid, laid.terminal("inbox", columns=columns, rows=rows) as terminal:
        ask = await laid.ask(Question((Prompt("Which one shall it be, of those that are offered here?", "", (wide,)),)))
        await terminal.until("1 日本語で答える 🎉", READY)
        assert all(row.startswith("▌") for row in terminal.lines[:-1])
        terminal.type("1")
        await terminal.until("You chose")
        assert await laid.given(ask) == Choices((Choice((wide.label,)),))


async def test_a_terminal_that_is_resized_shows_the_card_once(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        await laid.ask(TWO_QUESTIONS)
        await terminal.until("Which database?", READY)
        for columns, rows in ((50, 20), (120, 40), (40, 15), (100, 30)):
            terminal.resize(columns, rows)
            await terminal.until("Which database?", READY)
        terminal.type("1")
        await terminal.until("Which checks?", gone="Which database?")


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
            await laid.publish("That was all.")
            await terminal.until("That was all.")
            assert terminal.emulator.titles == []
            for sequence in FORBIDDEN:
                assert sequence not in terminal.raw.decode()
            assert "1 Allow once" in terminal.everything
            assert not any(row.startswith("▌") for row in terminal.everything.split("\n"))


async def test_a_paste_does_not_answer(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(NPM)
        await terminal.until(READY)
        terminal.type("\x1b[200~a\r1\r\x1b[201~")
        terminal.type("d")
        await terminal.until("Why? Claude reads it")
        assert (await laid.hub.desk.ask(ask.id)).state == "open"


async def left_as_found(terminal: Pseudo) -> None:
    """The modes are those from before, the cursor is seen, bracketed paste is off, and the card is gone."""
    assert terminal.modes() == terminal.before
    assert terminal.raw.rfind(b"\x1b[?2004l") > terminal.raw.rfind(b"\x1b[?2004h")
    assert not terminal.emulator.cursor.hidden
    assert "▌" not in terminal.screen


@pytest.mark.parametrize("keys", [CTRL_D, CTRL_C + CTRL_C])
async def test_leaving_leaves_the_terminal_as_it_was_found(tmp_path: Path, keys: str) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        await laid.ask(NPM)
        await terminal.until(READY)
        assert terminal.modes() != terminal.before
        terminal.type(*keys)
        assert await terminal.end() == 0
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


async def test_plain_mode_reads_numbers_and_lines(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", environment={"TERM": "dumb"}) as terminal:
        ask = await laid.ask(TWO_QUESTIONS)
        await terminal.until("Which database?", "A number, then Enter.")
        terminal.type("2", ENTER)
        await terminal.until("Numbers with blanks between them")
        terminal.type("1 3 4", ENTER)
        await terminal.until("Type a line, then Enter.")
        terminal.type("and load", ENTER)
        await terminal.until("[x] Free text (o): and load")
        terminal.type(ENTER)
        await terminal.until("Checks: Uptime, Memory, and load")
        terminal.type("1", ENTER)
        await terminal.until("You chose Postgres")
        assert await laid.given(ask) == Choices((Choice(("Postgres",)), Choice(("Uptime", "Memory"), "and load")))
        assert b"\x1b" not in terminal.raw
        assert terminal.modes() == terminal.before
        terminal.type(CTRL_D)
        assert await terminal.end() == 0


async def test_plain_mode_loses_a_race_in_words(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", environment={"NO_COLOR": "1"}) as terminal:
        ask = await laid.ask(Question((DATABASE,)))
        await terminal.until("A number, then Enter.")
        await laid.answer(ask, Choices((Choice(("SQLite",)),)))
        await terminal.until("ann chose SQLite")
        assert b"\x1b" not in terminal.raw


async def test_the_table_of_sessions_is_watched(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("ps", "--watch") as terminal:
        await terminal.until("No sessions yet", "q leaves")
        await laid.session()
        await laid.ask(Permission("Bash", {"command": "ls"}), session="s_1")
        await terminal.until("s_1", "needs you", "1 open", "Fix the tests")
        terminal.type("q")
        assert await terminal.end() == 0
        assert terminal.modes() == terminal.before
        assert not terminal.emulator.cursor.hidden


async def test_a_killed_watch_leaves_the_terminal_as_it_was_found(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("ps", "--watch") as terminal:
        await terminal.until("q leaves")
        terminal.signal(signal.SIGTERM)
        await terminal.end()
        assert terminal.modes() == terminal.before
        assert terminal.raw.endswith(b"\x1b[?25h\x1b[?1049l")


async def test_the_first_answer_counts_also_when_it_is_allowed_twice(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(NPM)
        await terminal.until(READY)
        await laid.answer(ask, Allow())
        terminal.type("a")
        await terminal.until("allowed", gone="Allow once")
        assert await laid.given(ask) == Allow()
