"""The prompt races with every other surface: the first answer counts, and the others are told."""  # lessons 30, 33

import asyncio
from pathlib import Path

from handraise.hub.hub import now
from handraise.model.answers import Allow, Choice, Choices, Deny
from handraise.model.asks import Expired, Question
from handraise.store.changes import SettleAsk
from surfaces.terminal.asked import DATABASE, NPM
from surfaces.terminal.pseudo import CTRL_D, ENTER
from surfaces.terminal.table import Table, table

ONE = Question((DATABASE,))
READY = "Esc to postpone"


async def test_half_typed_text_is_kept_where_it_can_still_be_sent(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1") as terminal:
            ask = await laid.ask(NPM, session="s_1")
            await terminal.until("Run `npm test`?", READY)
            terminal.type("d")
            await terminal.until("Why? Claude reads it", "Enter to send")
            terminal.type("because of the data")
            await terminal.until("› because of the data")
            await laid.answer(ask, Allow())
            await terminal.until("ann allowed", "was not sent. It's saved", "› because of the data", gone="▌")


async def test_the_inbox_shows_text_that_it_can_not_keep(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(NPM)
        await terminal.until("Run `npm test`?", READY)
        terminal.type("d")
        await terminal.until("Why? Claude reads it", "Enter to send")
        terminal.type("because of the data")
        await terminal.until("› because of the data")
        await laid.answer(ask, Allow())
        await terminal.until("ann allowed", "Your text was not sent:", "    because of the data", gone="saved")


async def test_an_ask_that_runs_out_of_time_says_so(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        ask = await laid.ask(ONE, patience=3600)
        await terminal.until("Which database?", " min left")
        await laid.hub.store.apply([SettleAsk(ask.id, Expired(now()))])
        await terminal.until("No one answered in time", gone="1 SQLite")


async def test_the_next_ask_does_not_take_the_key_that_was_meant_for_the_last_one(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:  # lesson 28
        first, second = await laid.ask(NPM), await laid.ask(NPM)
        await terminal.until("request 1 of 2", READY)
        await terminal.confirm("a")
        await terminal.until("You allowed", gone="request 1 of 2")
        for key in ("a", ENTER, "a", ENTER):
            terminal.type(key)
        await terminal.until("Run `npm test`?", READY)
        assert await laid.given(first) == Allow()
        assert (await laid.hub.desk.ask(second.id)).state == "open"


async def test_two_terminals_answer_and_the_second_is_told_the_truth(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as one, laid.terminal("inbox", "--plain") as other:
        ask = await laid.ask(NPM)
        await one.until(READY)
        await other.until("A number, then Enter.")
        await one.confirm("a")
        await one.until("You allowed")
        await other.until("allowed `npm test`")
        assert await laid.given(ask) == Allow()


async def test_output_that_streams_meanwhile_does_not_tear_the_prompt(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1", rows=30) as terminal:
            ask = await laid.ask(NPM, session="s_1")
            await terminal.until(READY)
            terminal.type("d")
            await terminal.until("Why? Claude reads it", "Enter to send")
            for number in range(60):
                await laid.publish(f"Paragraph {number} says **something**.")
                terminal.type("x")
                await asyncio.sleep(0)
            await terminal.until("Paragraph 59", "✋ Permission", "› " + "x" * 60, "needs you")
            shown = terminal.lines
            at = next(place for place, row in enumerate(shown) if "✋ Permission" in row)
            assert [row[:1] for row in shown[at:-1]] == ["▌"] * (len(shown) - at - 1)
            numbers = [row for row in terminal.everything.split("\n") if "Paragraph" in row]
            assert numbers == [f"  Paragraph {number} says something." for number in range(60)]
            terminal.type(ENTER)
            await terminal.until("You denied `npm test`: “xxx")
            assert await laid.given(ask) == Deny("x" * 60)


async def test_a_hub_that_restarts_is_found_again_with_the_same_prompt_and_nothing_twice(tmp_path: Path) -> None:
    laid = Table(tmp_path)
    async with laid.serve():
        terminal = laid.terminal("inbox")
        await terminal.__aenter__()
        ask = await laid.ask(ONE)
        await terminal.until("Which database?", READY)
        terminal.type("0")
        await terminal.until("Answer in your own words.", "Enter to send")
        terminal.type("Duck")
    try:
        await terminal.until("Lost the connection to the hub", "› Duck")
        await terminal.enter("DB")
        await terminal.until("nothing was answered. Choose again to retry.")
        async with laid.serve():
            await terminal.until("Reconnected to the hub", "› DuckDB", gone="Not connected")
            terminal.type(ENTER)
            await terminal.until("You answered: DuckDB")
            assert await laid.given(ask) == Choices((Choice(text="DuckDB"),))
            assert terminal.everything.count("Reconnected to the hub") == 1
            terminal.type(CTRL_D)
            assert await terminal.end() == 0
    finally:
        await terminal.__aexit__(None, None, None)


async def test_what_became_of_an_ask_while_the_hub_was_away_is_told_once(tmp_path: Path) -> None:
    laid = Table(tmp_path)
    async with laid.serve():
        await laid.session()
        terminal = laid.terminal("attach", "s_1")
        await terminal.__aenter__()
        await laid.ask(NPM, session="s_1")
        await terminal.until("Run `npm test`?", READY)
    try:
        await terminal.until("Lost the connection to the hub")
        async with laid.serve():
            # No process is left of a session that nobody ran, so that its ask is withdrawn.
            await terminal.until("Claude exited", "Type to resume the session")
            assert terminal.everything.count("No longer needed:") == 1
            terminal.type(CTRL_D)
            assert await terminal.end() == 1
            assert "handraise run --resume s_1" in terminal.everything
    finally:
        await terminal.__aexit__(None, None, None)


async def test_whoever_loses_is_told_once_who_was_first(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1") as terminal:
            ask = await laid.ask(NPM, session="s_1")
            await terminal.until(READY)
            await laid.answer(ask, Deny("no"))
            terminal.type("a")
            await terminal.until("ann denied `npm test`: “no”", gone="Allow once")
            await laid.publish("And so on.")
            await terminal.until("And so on.")
            assert terminal.everything.count("ann denied `npm test`: “no”") == 1


async def test_an_ask_answered_while_the_hub_was_away_is_told_when_it_is_back(tmp_path: Path) -> None:
    laid = Table(tmp_path)
    async with laid.serve():
        terminal = laid.terminal("inbox")
        await terminal.__aenter__()
        ask = await laid.ask(NPM)
        await terminal.until(READY)
    try:
        await terminal.until("Lost the connection to the hub")
        async with laid.serve():
            await laid.answer(ask, Deny("no"))
            await terminal.until("ann denied `npm test`: “no”", gone="Allow once")
            assert terminal.everything.count("ann denied") == 1
    finally:
        await terminal.__aexit__(None, None, None)
