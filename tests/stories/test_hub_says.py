"""Stories of messages: whatever happens to the turn, each reaches Claude once, and its state is shown."""

import json
from collections.abc import AsyncIterator

import pytest

from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import Hub
from handraise.model.answers import Trusting
from handraise.model.items import Notice, Said, SaidTaken, SessionEnded
from handraise.model.sessions import Session
from stories.house import House, house, seen
from stories.test_hub_begins_anew import until_taken, until_told
from stories.timeline import Stay, only, times, until_turn


def script(conversation: Conversation) -> Script:
    """Three turns that are not finished; in all others Claude repeats what was said."""
    unfinished = {"Alder.", "Dogwood.", "Fir."}
    while True:
        words = conversation.text.splitlines()[-1] if conversation.text else ""
        if words not in unfinished:
            conversation = yield [say(f"You said: {conversation.text}")]
            continue
        unfinished.remove(words)
        if words == "Dogwood.":
            conversation = yield [use("Write", file_path=f"{conversation.directory}/note.txt", content="one")]
        else:
            conversation = yield [say("Let me think."), hold(words), say("Never heard.")]


REFUSING = {"type": "command", "command": "grep -q Larch && { echo no larches >&2; exit 2; } || exit 0"}


@pytest.fixture(scope="module")
async def stay(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stay]:
    async with house(tmp_path_factory.mktemp("house"), script) as (home, hub):
        yield Stay(home, hub)


async def resumed(hub: Hub, session: Session, text: str) -> None:
    """The next process has received this, and everything queued before it."""
    await hub.desk.resume(session.id, text)
    await until_taken(hub, session, text)


async def stopped(hub: Hub, session: Session) -> None:
    before = await hub.desk.newest()
    await hub.desk.stop(session.id)
    await seen(hub.desk, times(1, SessionEnded), session.id, before)


async def counts(home: House, *words: str) -> list[int]:
    """How often each occurs in the first conversation that has all of them."""
    conversation = await until_told(home, *words)
    return [conversation.count(each) for each in words]


async def test_each_thing_said_reaches_claude_once_whatever_becomes_of_the_turn(stay: Stay) -> None:
    home, hub = stay.home, stay.hub
    (home.work / ".claude").mkdir()
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [REFUSING]}]}}
    (home.work / ".claude" / "settings.json").write_text(json.dumps(hooks))
    session = await stay.begin("Alder.")
    await hub.desk.answer((await stay.next_ask()).id, Trusting("exactly"))

    # The turn is interrupted while two wait.
    await home.model.held("Alder.")
    await hub.desk.say(session.id, "Birch.")
    await hub.desk.say(session.id, "Cedar.")
    await hub.desk.interrupt(session.id)
    contents = await until_taken(hub, session, "Cedar.")
    assert [each.say for each in only(Said, contents)] == [each.say for each in only(SaidTaken, contents)]
    assert await counts(home, "Birch.", "Cedar.") == [1, 1]

    # It is interrupted at a permission.
    await hub.desk.say(session.id, "Dogwood.")
    await stay.next_ask()
    await hub.desk.say(session.id, "Elm.")
    await hub.desk.interrupt(session.id)
    await until_taken(hub, session, "Elm.")
    assert await counts(home, "Elm.") == [1]
    assert await hub.desk.asks(session=session.id) == []

    # A command is not echoed, and a hook refuses what is said: both are done with.
    for words in ("/help", "Larch."):
        await hub.desk.say(session.id, words)
        await until_taken(hub, session, words)
        assert await hub.store.says(session.id) == []

    # The session is stopped while one waits: it waits for the next process.
    await hub.desk.say(session.id, "Fir.")
    await home.model.held("Fir.")
    waiting = await hub.desk.say(session.id, "Hazel.")
    await stopped(hub, session)
    assert [each.id for each in await hub.store.says(session.id)] == [waiting.id]
    await resumed(hub, session, "Juniper.")

    assert await hub.store.says(session.id) == []
    heard = ("Alder.", "Birch.", "Cedar.", "Dogwood.", "Elm.", "Fir.", "Hazel.", "Juniper.")
    assert await counts(home, *heard) == [1] * len(heard)
    contents = await until_taken(hub, session, "Juniper.")
    assert len(only(Said, contents)) == len(only(SaidTaken, contents)) == len(heard) + 2
    assert [each for each in only(Notice, contents) if each.about == "not taken"] == []
    await stay.until_idle()


async def test_after_clear_the_new_conversation_is_the_one_that_is_resumed(stay: Stay) -> None:
    home, hub = stay.home, stay.hub
    session = await stay.begin("My name is Maple.")
    await stay.until_turn()
    await hub.desk.say(session.id, "/clear")
    await until_taken(hub, session, "/clear")
    await hub.desk.say(session.id, "My name is Oak.")
    await until_taken(hub, session, "My name is Oak.")
    await stay.until_turn(3)

    await stopped(hub, session)
    await resumed(hub, session, "What is my name?")

    conversation = await until_told(home, "What is my name?")
    assert "Oak" in conversation
    assert "Maple" not in conversation
    fork = (await hub.desk.fork(session.id, "And whose is this?")).session
    await until_turn(hub.desk, fork)
    conversation = await until_told(home, "And whose is this?")
    assert "Oak" in conversation
    assert "Maple" not in conversation
