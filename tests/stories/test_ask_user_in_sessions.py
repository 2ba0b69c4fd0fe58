"""Stories of `ask_user` in our own sessions: no port, no second process, no permission."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.hub.desk import LocalDesk
from handraise.model.agent_replies import ASK_USER_EXPIRED
from handraise.model.answers import Choice, Choices, Trusting
from handraise.model.asks import Ask, Expired, Option, Prompt, Question
from handraise.model.items import AskDelivered, SaidTaken, TurnEnded
from handraise.model.own_tools import ASK_USER, qualified
from handraise.model.projects import Options
from handraise.workspace.merging import files_for
from handraise.workspace.syncing import sync
from stories.bed import parts
from stories.house import House, house, next_ask, seen
from stories.timeline import Stay, texts, until_turn

TOOL = qualified(ASK_USER)
LABELLED = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}]


REFUSED: list[tuple[dict[str, object], str]] = [
    ({}, "The question has no text."),
    ({"question": "Which?", "options": [{"label": "A"}, {"label": "A"}]}, "two options with the same label"),
    ({"question": "Which?", "options": [{"description": "no label"}]}, "an option without a label"),
]


def ask_once(conversation: Conversation) -> Script:
    conversation = yield [use(TOOL, question="Which database?", options=LABELLED)]
    yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]


def ask_a_name(conversation: Conversation) -> Script:
    conversation = yield [use(TOOL, question="What name?")]
    yield [say(conversation.result().text)]


def ask_for_several(conversation: Conversation) -> Script:
    conversation = yield [use(TOOL, question="Which?", options=LABELLED, multiSelect=True)]
    yield [say(conversation.result().text)]


def ask_two(conversation: Conversation) -> Script:
    conversation = yield [use(TOOL, question="First?"), use(TOOL, question="Second?")]
    yield [say(" / ".join(result.text for result in conversation.results))]


def ask_what_cannot_be_shown(conversation: Conversation) -> Script:
    conversation = yield [use(TOOL, **arguments) for arguments, _ in REFUSED]
    yield [say("\n".join(f"{result.is_error}: {result.text}" for result in conversation.results))]


def ask_in_a_synced_project(conversation: Conversation) -> Script:
    offered = [tool for tool in conversation.tools if tool.endswith(ASK_USER)]
    conversation = yield [use(TOOL, question="Which database?")]
    yield [say(f"{offered} {conversation.result().text}")]


SCRIPT = parts(
    once=ask_once,
    name=ask_a_name,
    several=ask_for_several,
    two=ask_two,
    refused=ask_what_cannot_be_shown,
    synced=ask_in_a_synced_project,
)


@pytest.fixture(scope="module")
async def stay(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stay]:
    async with house(tmp_path_factory.mktemp("house"), SCRIPT) as (home, hub):
        yield Stay(home, hub)


async def last_words(desk: LocalDesk, session: str) -> str:
    return texts(await seen(desk, lambda content: isinstance(content, TurnEnded), session))[-1]


def choices_of(*labels: str, text: str | None = None) -> Choices:
    return Choices((Choice(labels, text),))


async def test_ask_user_is_a_question_and_its_answer_goes_back_as_the_specification_words_it(stay: Stay) -> None:
    await stay.begin("once")
    ask = await stay.next_ask()
    assert ask.body == Question((Prompt("Which database?", "", (Option("SQLite", "one file"), Option("Postgres"))),))
    assert ask.tool == ASK_USER
    await stay.desk.answer(ask.id, choices_of("SQLite"), ask.digest)

    assert texts(await stay.until_turn())[-1] == "False: User selected: SQLite"
    assert (await stay.desk.ask(ask.id)).delivered_at is not None
    assert stay.home.model.errors == []


async def test_a_question_without_options_takes_words_of_ones_own(stay: Stay) -> None:
    await stay.begin("name")
    await stay.desk.answer((await stay.next_ask()).id, choices_of(text="Wren, of course"))

    assert texts(await stay.until_turn())[-1] == "Wren, of course"


async def test_several_options_and_words_of_ones_own_go_back_together(stay: Stay) -> None:
    await stay.begin("several")
    await stay.desk.answer((await stay.next_ask()).id, choices_of("SQLite", "Postgres", text="and keep both"))

    assert texts(await stay.until_turn())[-1] == "User selected: SQLite, Postgres\nand keep both"


async def test_nobody_answers_and_claude_is_told_to_go_on_and_a_late_answer_still_counts(tmp_path: Path) -> None:
    def script(conversation: Conversation) -> Script:
        conversation = yield [use(TOOL, question="Which database?")]
        yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]
        yield [say("Thank you.")]

    async with house(tmp_path, script, options=Options(ask_user_timeout=1)) as (home, hub):
        session = (await hub.desk.start("Choose.", str(home.work))).session
        assert await last_words(hub.desk, session.id) == f"True: {ASK_USER_EXPIRED}"
        [ask] = await hub.desk.asks(state="expired", session=session.id)
        assert isinstance(ask.settlement, Expired)

        given = await hub.desk.answer(ask.id, choices_of(text="SQLite, after all"))
        assert given.late
        receipt = 0

        def is_second(content: object) -> bool:
            nonlocal receipt
            receipt += isinstance(content, SaidTaken)
            return receipt == 2

        await seen(hub.desk, is_second, session.id)


async def test_two_at_once_are_two_asks_and_each_gets_its_own_answer(stay: Stay) -> None:
    await stay.begin("two")
    one = await stay.next_ask()
    other = await stay.next_ask({one.id})
    by_text = {_text(ask): ask for ask in (one, other)}
    await stay.desk.answer(by_text["Second?"].id, choices_of(text="two"))
    await stay.desk.answer(by_text["First?"].id, choices_of(text="one"))

    assert texts(await stay.until_turn())[-1] == "one / two"


async def test_a_call_that_cannot_be_shown_comes_back_with_the_reason(stay: Stay) -> None:
    before = await stay.desk.asks(state=None)
    await stay.begin("refused")

    heard = texts(await stay.until_turn())[-1].splitlines()
    for (_, reason), words in zip(REFUSED, heard, strict=True):
        assert reason in words
    assert await stay.desk.asks(state=None) == before


async def test_an_interrupt_withdraws_the_question(stay: Stay) -> None:
    session = await stay.begin("once")
    ask = await stay.next_ask()
    await stay.desk.interrupt(session.id)
    await stay.until_turn()

    assert (await stay.desk.ask(ask.id)).state == "withdrawn"


async def test_the_next_hub_finds_the_question_open_and_carries_the_answer(tmp_path: Path) -> None:
    """And when the next question is answered and the hub ends at once, the one after it delivers that answer."""
    async with House(tmp_path, parts(once=ask_once)) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("once", str(home.work))).session
            ask = await next_ask(first.desk, session)
        async with home.open_hub() as second:
            assert (await second.desk.ask(ask.id)).state == "open"
            await second.desk.answer(ask.id, choices_of("Postgres"))
            assert texts(await until_turn(second.desk, session))[-1] == "False: User selected: Postgres"

            await second.desk.say(session.id, "once")
            other = await next_ask(second.desk, session)
            await second.desk.answer(other.id, choices_of("SQLite"))
        async with home.open_hub() as third:
            await seen(third.desk, lambda content: content == AskDelivered(other.id), session.id)

            assert texts(await until_turn(third.desk, session, 2))[-1] == "False: User selected: SQLite"


async def test_switched_off_the_tool_is_not_offered_and_nothing_else_changes(tmp_path: Path) -> None:
    def script(conversation: Conversation) -> Script:
        while True:
            conversation = yield [say(" ".join(conversation.tools))]

    async with house(tmp_path, script, options=Options(ask_user_enabled=False)) as (home, hub):
        project = await hub.desk.add_project(str(home.work), "asking", Options(ask_user_enabled=True))
        quiet = home.tmp / "quiet"
        quiet.mkdir()
        off = (await hub.desk.start("Here?", str(quiet))).session
        on = (await hub.desk.start("And here?", project.name)).session

        without = (await last_words(hub.desk, off.id)).split()
        assert TOOL not in without
        assert sorted([*without, TOOL]) == sorted((await last_words(hub.desk, on.id)).split())
        for session, is_offered in ((off, False), (on, True)):
            command = home.tmp / "state" / "sessions" / session.id / "1" / "launch.json"
            assert ("--mcp-config" in command.read_text()) == is_offered


def _text(ask: Ask) -> str:
    assert isinstance(ask.body, Question)
    return ask.body.questions[0].question


async def test_in_a_synced_project_the_tool_is_offered_once_and_over_the_pipe(stay: Stay) -> None:
    work = stay.home.tmp / "synced"
    work.mkdir()
    sync(str(work), files_for(Options().over(Options()), str(stay.home.tmp / "elsewhere")))
    session = (await stay.desk.start("synced", str(work))).session
    trust = await next_ask(stay.desk, session)
    assert trust.kind == "trust"  # synced files need trust like anything else in a directory
    await stay.desk.answer(trust.id, Trusting("exactly"))
    ask = await next_ask(stay.desk, session, {trust.id})
    assert ask.asker == "session"
    await stay.desk.answer(ask.id, choices_of(text="SQLite"))

    assert await last_words(stay.desk, session.id) == f"['{TOOL}'] SQLite"
