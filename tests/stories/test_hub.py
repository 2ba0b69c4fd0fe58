"""Stories of a whole hub: what a person sees and does, and what Claude makes of it."""

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from handraise.cli.main import main
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.desk.interface import Conflict, Unfit
from handraise.model.answers import Allow, Choice, Choices, Deny
from handraise.model.asks import Permission, Question
from handraise.model.items import (
    ActionEnded,
    ActionStarted,
    AskDelivered,
    AskOpened,
    AskSettled,
    Said,
    SaidTaken,
    Text,
    TurnEnded,
)
from stories.house import house, next_ask, seen

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose_then_write(told: Told) -> Script:
    told = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
    told = yield [say(told.result().text), use("Write", file_path=f"{told.directory}/choice.txt", content="SQLite\n")]
    yield [say("Written." if not told.result().is_error else f"Refused: {told.result().text}")]


async def test_a_question_and_a_permission_from_the_first_word_to_the_end_of_the_turn(tmp_path: Path) -> None:
    async with house(tmp_path, choose_then_write) as (home, hub):
        desk = hub.desk
        session = (await desk.start("Choose a database.", str(home.work))).session

        question = await next_ask(desk, session)
        assert isinstance(question.body, Question)
        with pytest.raises(Unfit, match="not answered yet"):
            await desk.answer(question.id, Choices((Choice(),)))
        await desk.answer(question.id, Choices((Choice(("SQLite",)),)), question.digest)
        with pytest.raises(Conflict, match="answered before, by owner, from hub"):
            await desk.answer(question.id, Choices((Choice(("Postgres",)),)))

        permission = await next_ask(desk, session)
        assert isinstance(permission.body, Permission)
        assert permission.body.diff is not None
        assert "+SQLite" in permission.body.diff
        await desk.answer(permission.id, Allow(), permission.digest)

        told = await seen(desk, lambda content: isinstance(content, TurnEnded))
        assert (home.work / "choice.txt").read_text() == "SQLite\n"
        kinds = [type(content) for content in told]
        for kind in (Said, SaidTaken, AskOpened, AskSettled, AskDelivered, ActionEnded):
            assert kind in kinds
        assert [content.text for content in told if isinstance(content, Text)][-1] == "Written."
        assert home.model.errors == []


async def test_the_journal_alone_gives_the_timeline_back(tmp_path: Path) -> None:
    async with house(tmp_path, choose_then_write) as (home, hub):
        session = (await hub.desk.start("Choose a database.", str(home.work))).session
        await hub.desk.answer((await next_ask(hub.desk, session)).id, Choices((Choice(("SQLite",)),)))
        await hub.desk.answer((await next_ask(hub.desk, session)).id, Allow())
        lived = await seen(hub.desk, lambda content: isinstance(content, TurnEnded))
        state = str(home.tmp / "state")
        done = await asyncio.to_thread(CliRunner().invoke, main, ["replay", session.id, "--state", state, "--json"])
        assert done.exit_code == 0, done.output
        replayed = [json.loads(line) for line in done.output.splitlines()]
        assert {each["session"] for each in replayed} == {session.id}
        for kind in (Text, ActionStarted, ActionEnded, TurnEnded):
            told = [msgspec.convert(each, kind) for each in replayed if each["type"] == kind.__struct_config__.tag]
            assert told == [each for each in lived if isinstance(each, kind)]
        opened = [each["ask"]["id"] for each in replayed if each["type"] == "ask.opened"]
        assert opened == [each.ask["id"] for each in lived if isinstance(each, AskOpened)]


async def test_a_denial_reaches_claude_with_its_reason(tmp_path: Path) -> None:  # lesson 42
    async with house(tmp_path, choose_then_write) as (home, hub):
        session = (await hub.desk.start("Choose a database.", str(home.work))).session
        await hub.desk.answer((await next_ask(hub.desk, session)).id, Choices((Choice(text="DuckDB"),)))
        await hub.desk.answer((await next_ask(hub.desk, session)).id, Deny("Not into this folder."))
        told = await seen(hub.desk, lambda content: isinstance(content, TurnEnded))
        last = [content.text for content in told if isinstance(content, Text)][-1]
        assert "Not into this folder." in last
        assert not (home.work / "choice.txt").exists()


async def test_a_hub_that_comes_back_finds_the_question_and_carries_the_answer(tmp_path: Path) -> None:
    async with house(tmp_path, choose_then_write) as (home, hub):
        session = (await hub.desk.start("Choose a database.", str(home.work))).session
        question = await next_ask(hub.desk, session)
    # `house` has opened a hub once more and stopped everything: the ask was withdrawn, not lost.
    async with home.open_hub() as later:
        kept = await later.desk.ask(question.id)
        assert kept.state == "withdrawn"
