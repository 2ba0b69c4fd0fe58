"""Stories of a whole hub: what a person sees and does, and what Claude makes of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from handraise.cli.main import main
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
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
from stories.bed import parts
from stories.house import house
from stories.timeline import Stay, texts

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose_then_write(conversation: Conversation) -> Script:
    conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
    conversation = yield [
        say(conversation.result().text),
        use("Write", file_path=f"{conversation.directory}/choice.txt", content="SQLite\n"),
    ]
    yield [say("Written." if not conversation.result().is_error else f"Refused: {conversation.result().text}")]


@pytest.fixture(scope="module")
async def stay(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stay]:
    script = parts(choose=choose_then_write)
    async with house(tmp_path_factory.mktemp("house"), script) as (home, hub):
        yield Stay(home, hub)


@pytest.fixture
def choice(stay: Stay) -> Path:
    """What Claude writes, which is not there yet."""
    choice = stay.home.work / "choice.txt"
    choice.unlink(missing_ok=True)
    return choice


async def test_a_question_and_a_permission_from_the_first_word_to_the_end_of_the_turn(stay: Stay, choice: Path) -> None:
    desk = stay.desk
    await stay.begin("choose")

    question = await stay.next_ask()
    assert isinstance(question.body, Question)
    with pytest.raises(Unfit, match="has no answer yet"):
        await desk.answer(question.id, Choices((Choice(),)))
    await desk.answer(question.id, Choices((Choice(("SQLite",)),)), question.digest)
    with pytest.raises(Conflict, match=r"Already answered by owner \(hub\)"):
        await desk.answer(question.id, Choices((Choice(("Postgres",)),)))

    permission = await stay.next_ask()
    assert isinstance(permission.body, Permission)
    assert permission.body.diff is not None
    assert "+SQLite" in permission.body.diff
    await desk.answer(permission.id, Allow(), permission.digest)

    contents = await stay.until_turn()
    assert choice.read_text() == "SQLite\n"
    kinds = [type(content) for content in contents]
    for kind in (Said, SaidTaken, AskOpened, AskSettled, AskDelivered, ActionEnded):
        assert kind in kinds
    assert texts(contents)[-1] == "Written."
    assert stay.home.model.errors == []


async def test_a_denial_reaches_claude_with_its_reason_and_the_journal_alone_gives_the_timeline_back(
    stay: Stay, choice: Path
) -> None:
    session = await stay.begin("choose")
    await stay.desk.answer((await stay.next_ask()).id, Choices((Choice(text="DuckDB"),)))
    await stay.desk.answer((await stay.next_ask()).id, Deny("Not into this folder."))
    contents = await stay.until_turn()
    assert "Not into this folder." in texts(contents)[-1]  # lesson 42
    assert not choice.exists()

    lived = [item.read() for item in await stay.desk.items(session.id)]
    state = str(stay.home.tmp / "state")
    done = await asyncio.to_thread(CliRunner().invoke, main, ["replay", session.id, "--state", state, "--json"])
    assert done.exit_code == 0, done.output
    replayed = [json.loads(line) for line in done.output.splitlines()]
    assert {each["session"] for each in replayed} == {session.id}
    for kind in (Text, ActionStarted, ActionEnded, TurnEnded):
        told_again = [msgspec.convert(each, kind) for each in replayed if each["type"] == kind.__struct_config__.tag]
        assert told_again
        assert told_again == [each for each in lived if isinstance(each, kind)]
    opened = [each["ask"]["id"] for each in replayed if each["type"] == "ask.opened"]
    assert opened == [each.ask["id"] for each in lived if isinstance(each, AskOpened)]
