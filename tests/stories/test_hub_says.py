"""Stories of things said: whatever becomes of the turn, each reaches Claude once, and is shown as it is."""

import json
from pathlib import Path

from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.told import Told
from handraise.hub import Hub
from handraise.model.answers import Trusting
from handraise.model.items import Notice, Said, SaidTaken, SessionEnded
from handraise.model.sessions import Session
from stories.house import House, house, next_ask, seen
from stories.test_hub_begins_anew import until_taken, until_told
from stories.test_hub_lives import small_talk
from stories.timeline import only, times, until_turn


def holds_once(told: Told) -> Script:
    told = yield [say("Let me think."), hold("thinking"), say("Never heard.")]
    while True:
        told = yield [say(f"You said: {told.text}")]


async def resumed(hub: Hub, session: Session, text: str) -> None:
    """The next process has taken this up, and with it all that waited before."""
    await hub.desk.resume(session.id, text)
    await until_taken(hub, session, text)


async def stopped(hub: Hub, session: Session) -> None:
    await hub.desk.stop(session.id)
    await seen(hub.desk, times(1, SessionEnded), session.id)


async def counts(home: House, *words: str) -> list[int]:
    """How often each stands in the first conversation that has all of them."""
    conversation = await until_told(home, *words)
    return [conversation.count(each) for each in words]


async def test_what_waited_when_the_turn_was_interrupted_is_taken_up_once(tmp_path: Path) -> None:
    async with house(tmp_path, holds_once) as (home, hub):
        session = (await hub.desk.start("Alder.", str(home.work))).session
        await home.model.held("thinking")
        await hub.desk.say(session.id, "Birch.")
        await hub.desk.say(session.id, "Cedar.")
        await hub.desk.interrupt(session.id)

        told = await until_taken(hub, session, "Cedar.")
        taken = [each.say for each in only(SaidTaken, told)]
        assert [each.say for each in only(Said, told)] == taken
        assert await counts(home, "Birch.", "Cedar.") == [1, 1]

        await stopped(hub, session)
        await resumed(hub, session, "Dogwood.")
        assert await counts(home, "Birch.", "Cedar.", "Dogwood.") == [1, 1, 1]
        told = await until_taken(hub, session, "Dogwood.")
        assert len(only(Said, told)) == len(only(SaidTaken, told)) == 4
        assert [each for each in only(Notice, told) if each.about == "not taken"] == []


async def test_what_waits_at_a_permission_that_is_denied_with_an_interrupt_is_taken_up_once(tmp_path: Path) -> None:
    def script(told: Told) -> Script:
        told = yield [use("Write", file_path=f"{told.directory}/note.txt", content="one")]
        while True:
            told = yield [say(f"You said: {told.text}")]

    async with house(tmp_path, script) as (home, hub):
        session = (await hub.desk.start("Alder.", str(home.work))).session
        await next_ask(hub.desk, session)
        await hub.desk.say(session.id, "Birch.")
        await hub.desk.interrupt(session.id)

        await until_taken(hub, session, "Birch.")
        assert await counts(home, "Birch.") == [1]
        assert await hub.desk.asks(session=session.id) == []


async def test_what_waited_when_the_session_was_stopped_waits_for_the_next_process(tmp_path: Path) -> None:
    async with house(tmp_path, holds_once) as (home, hub):
        session = (await hub.desk.start("Alder.", str(home.work))).session
        await home.model.held("thinking")
        waiting = await hub.desk.say(session.id, "Birch.")
        await stopped(hub, session)
        assert [each.id for each in await hub.store.says(session.id)] == [waiting.id]

        await resumed(hub, session, "Cedar.")

        assert await hub.store.says(session.id) == []
        assert await counts(home, "Alder.", "Birch.", "Cedar.") == [1, 1, 1]


async def test_a_command_that_claude_does_not_echo_is_done_with_and_not_said_again(tmp_path: Path) -> None:
    async with house(tmp_path, small_talk) as (home, hub):
        session = (await hub.desk.start("Alder.", str(home.work))).session
        await until_turn(hub.desk, session)
        await hub.desk.say(session.id, "/help")
        await until_taken(hub, session, "/help")

        assert await hub.store.says(session.id) == []
        await stopped(hub, session)
        await resumed(hub, session, "Birch.")
        told = await until_taken(hub, session, "Birch.")
        assert len(only(Said, told)) == len(only(SaidTaken, told)) == 3


async def test_what_a_hook_refuses_is_done_with_and_not_said_again(tmp_path: Path) -> None:
    async with house(tmp_path, small_talk) as (home, hub):
        (home.work / ".claude").mkdir()
        refusing = {"type": "command", "command": "grep -q Birch && { echo no birches >&2; exit 2; } || exit 0"}
        hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [refusing]}]}}
        (home.work / ".claude" / "settings.json").write_text(json.dumps(hooks))
        session = (await hub.desk.start("Alder.", str(home.work))).session
        await hub.desk.answer((await next_ask(hub.desk, session)).id, Trusting("exactly"))
        await until_turn(hub.desk, session)
        await hub.desk.say(session.id, "Birch.")

        await until_taken(hub, session, "Birch.")

        assert await hub.store.says(session.id) == []


async def test_after_clear_the_new_conversation_is_the_one_that_is_resumed(tmp_path: Path) -> None:
    async with house(tmp_path, small_talk) as (home, hub):
        session = (await hub.desk.start("My name is Alder.", str(home.work))).session
        await until_turn(hub.desk, session)
        await hub.desk.say(session.id, "/clear")
        await until_taken(hub, session, "/clear")
        await hub.desk.say(session.id, "My name is Birch.")
        await until_taken(hub, session, "My name is Birch.")
        await until_turn(hub.desk, session, 3)

        await stopped(hub, session)
        await resumed(hub, session, "What is my name?")

        conversation = await until_told(home, "What is my name?")
        assert "Birch" in conversation
        assert "Alder" not in conversation
        fork = (await hub.desk.fork(session.id, "And whose is this?")).session
        await until_turn(hub.desk, fork)
        conversation = await until_told(home, "And whose is this?")
        assert "Birch" in conversation
        assert "Alder" not in conversation
