"""Stories of a hub: answers that come late, last longer, or get no response from Claude."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.demo.scenarios import propose
from handraise.desk.interface import Refused
from handraise.hub.desk import LocalDesk
from handraise.model.actors import ByRule, Person
from handraise.model.agent_replies import NOBODY
from handraise.model.answers import Allow, Approve, Choice, Choices, Outline
from handraise.model.asks import Answered, Ask, Expired, Permission, Plan, Withdrawn
from handraise.model.items import (
    ActionChanged,
    ActionEnded,
    AskDelivered,
    AskOpened,
    AskSettled,
    Notice,
    Said,
    SaidTaken,
    SessionChanged,
)
from handraise.model.projects import Options, Patience
from handraise.session.machine import SessionLimits
from handraise.session.replies import COOLING
from stories.bed import parts
from stories.house import DEADLINE, house, next_ask, seen
from stories.timeline import Stay, claude_of, only, texts, until_turn

SQLITE = Choices((Choice(("SQLite",)),))
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    conversation = yield [say(f"Heard: {conversation.result().text}")]
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


def touch_twice(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command=f"touch {conversation.directory}/one", description="Touch a file")]
    conversation = yield [use("Bash", command=f"touch {conversation.directory}/one", description="Touch it again")]
    yield [say("Touched.")]


def plan_twice(conversation: Conversation) -> Script:
    conversation = yield from propose(conversation, "1. Everything at once.")
    conversation = yield from propose(conversation, "1. Everything at once, please.")
    yield [say(f"Told: {conversation.result().text}")]


def plan_and_write(conversation: Conversation) -> Script:
    conversation = yield from propose(conversation, "1. Write it.")
    conversation = yield [use("Write", file_path=f"{conversation.directory}/done.txt", content="done\n")]
    yield [say("Done.")]


def runs_a_command(_: Conversation) -> Script:
    conversation = yield [use("Bash", command="touch original", description="Say it")]
    yield [say(f"It said: {conversation.result().text}")]


SCRIPT = parts(choose=choose, touch=touch_twice, think=plan_twice, plan=plan_and_write, run=runs_a_command)


@pytest.fixture(scope="module")
async def stay(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stay]:
    async with house(tmp_path_factory.mktemp("house"), SCRIPT) as (home, hub):
        yield Stay(home, hub)


async def until_settled(desk: LocalDesk, ask: Ask) -> Ask:
    async with asyncio.timeout(DEADLINE), desk.follow(0, ask.session) as follower:
        async for _ in follower:
            now = await desk.ask(ask.id)
            if now.settlement is not None:
                return now
    raise AssertionError("the feed ended")


async def test_what_is_said_during_a_turn_waits_until_claude_takes_it(stay: Stay) -> None:
    session = await stay.begin("choose")
    question = await stay.next_ask()
    message = await stay.desk.say(session.id, "And keep it small.")
    again = await stay.desk.say(session.id, "And keep it small.", message.id)
    assert again.id == message.id
    assert [each.id for each in await stay.hub.store.says(session.id)] == [message.id]

    await stay.desk.answer(question.id, SQLITE)
    contents = await stay.seen(lambda content: isinstance(content, SaidTaken) and content.say == message.id)
    assert len([each for each in only(Said, contents) if each.say == message.id]) == 1
    assert await stay.hub.store.says(session.id) == []
    await stay.until_turn()


async def test_an_interrupt_withdraws_what_is_open(stay: Stay) -> None:
    session = await stay.begin("choose")
    question = await stay.next_ask()

    await stay.desk.interrupt(session.id)

    settled = (await until_settled(stay.desk, question)).settlement
    assert isinstance(settled, Withdrawn)
    assert settled.reason == "the turn was interrupted"
    await stay.until_turn()
    with pytest.raises(Refused, match="Nothing to interrupt"):
        await stay.desk.interrupt(session.id)


async def test_a_permission_for_always_answers_the_next_call_without_a_person(stay: Stay) -> None:
    await stay.begin("touch")
    permission = await stay.next_ask()
    assert isinstance(permission.body, Permission)
    assert "always" in [offer.lasting for offer in permission.body.offers]
    await stay.desk.answer(permission.id, Allow("always"), permission.digest)

    contents = await stay.until_turn()

    (rule,) = await stay.desk.rules()
    asked = [await stay.desk.ask(each.ask["id"]) for each in only(AskOpened, contents)]
    by = [ask.settlement.by for ask in asked if isinstance(ask.settlement, Answered)]
    assert by[0] == Person("owner")
    assert isinstance(by[1], ByRule)
    assert by[1].rule == rule.id
    assert all(ask.delivered_at is not None for ask in asked)
    await stay.desk.revoke(rule.id)


async def test_a_title_given_while_claude_works_stays(stay: Stay) -> None:
    session = await stay.begin("choose")
    question = await stay.next_ask()

    await stay.desk.rename(session.id, "The database")
    await stay.desk.answer(question.id, SQLITE)
    contents = await stay.until_turn()

    assert (await stay.desk.session(session.id)).session.title == "The database"
    assert "The database" in [each.title for each in only(SessionChanged, contents)]


async def test_after_an_edit_the_timeline_has_what_was_really_run(stay: Stay) -> None:
    await stay.begin("run")
    ask = await stay.next_ask()
    assert isinstance(ask.body, Permission)
    edited = {**ask.body.input, "command": "touch edited"}
    await stay.desk.answer(ask.id, Allow(input=edited), ask.digest)
    contents = await stay.until_turn()

    changed = only(ActionChanged, contents)
    assert [(each.action, each.title, each.input) for each in changed] == [
        (ask.origin.tool_use, "touch edited", edited)
    ]
    ended = next(each for each in only(ActionEnded, contents) if each.action == ask.origin.tool_use)
    assert ended.title == "touch edited"
    assert (stay.home.work / "edited").exists()
    assert not (stay.home.work / "original").exists()


async def test_an_approved_plan_leaves_plan_mode_for_the_mode_that_was_chosen(stay: Stay) -> None:  # lesson 10
    session = await stay.begin("plan", mode="plan")
    plan = await stay.next_ask()
    assert isinstance(plan.body, Plan)
    await stay.desk.answer(plan.id, Approve("acceptEdits"))

    contents = await stay.until_turn()
    assert (stay.home.work / "done.txt").exists()
    assert (await stay.desk.session(session.id)).session.mode == "acceptEdits"
    assert [each.ask["id"] for each in only(AskOpened, contents)] == [plan.id]


async def test_patience_that_ran_out_answers_claude_and_a_late_answer_is_said(stay: Stay) -> None:  # lesson 3
    hurry = stay.home.tmp / "hurry"
    hurry.mkdir()
    project = await stay.desk.add_project(str(hurry), "hurry", Options(patience=Patience(question=1.0)))
    session = (await stay.desk.start("choose", project.name)).session
    question = await next_ask(stay.desk, session)
    contents = await until_turn(stay.desk, session)
    assert NOBODY in texts(contents)[-1]
    assert (await stay.desk.ask(question.id)).delivered_at is not None

    given = await stay.desk.answer(question.id, SQLITE)
    assert given.late

    contents = await until_turn(stay.desk, session, 2)
    assert "Which database? — SQLite" in texts(contents)[-1]
    settled = (await stay.desk.ask(question.id)).settlement
    assert isinstance(settled, Expired)
    assert settled.late is not None
    assert len(only(AskSettled, contents)) == 2


async def test_after_an_outline_was_asked_for_the_next_plan_is_sent_back_at_once(stay: Stay) -> None:
    await stay.begin("think", mode="plan")
    plan = await stay.next_ask()
    assert isinstance(plan.body, Plan)
    await stay.desk.answer(plan.id, Outline())

    contents = await stay.until_turn()
    assert COOLING in texts(contents)[-1]
    assert [each.about for each in only(Notice, contents)] == ["sent back"]
    assert [each.ask["id"] for each in only(AskOpened, contents)] == [plan.id]
    stay.leave()  # a plan is sent back there for some time


async def test_a_claude_that_does_not_take_an_answer_is_noticed_until_it_moves(tmp_path: Path) -> None:  # lesson 6
    async with house(tmp_path, choose, limits=SessionLimits(move=0.2)) as (home, hub):
        session = (await hub.desk.start("Choose.", str(home.work))).session
        question = await next_ask(hub.desk, session)
        os.kill(claude_of(hub, session), signal.SIGSTOP)
        await hub.desk.answer(question.id, SQLITE)

        await seen(hub.desk, lambda content: isinstance(content, Notice) and content.about == "not moving", session.id)
        assert (await hub.desk.session(session.id)).session.stuck_since is not None
        os.kill(claude_of(hub, session), signal.SIGCONT)

        contents = await until_turn(hub.desk, session)
        assert "SQLite" in texts(contents)[-1]
        assert (await hub.desk.session(session.id)).session.stuck_since is None
        assert len(only(AskDelivered, contents)) == 1
