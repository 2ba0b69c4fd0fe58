"""Stories of auto mode: what its check denied is shown, and a person may allow exactly that call, once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, Use, checked, hold, say, use, wait
from handraise.demo.request import Conversation
from handraise.desk.interface import Refused
from handraise.hub.hub import Hub
from handraise.model.asks import Answered
from handraise.model.items import (
    ActionChecked,
    ActionDenied,
    AskOpened,
    AskSettled,
    Content,
    DenialChanged,
    Said,
    SessionChanged,
    Text,
    TurnEnded,
)
from handraise.model.sessions import Session
from stories.bed import parts
from stories.house import House, house, seen
from stories.terminal_desk import desk
from stories.timeline import Stay, only, times
from surfaces.terminal.pseudo import CTRL_D, ENTER

WHY = "[Scripted] it sends data away"


def upload(name: str) -> Use:
    """A command that auto mode has checked."""
    call = use("Bash", command=f"python3 -c \"open('{name}', 'w')\"", description="Upload")
    return checked(call, WHY)


def retries(*names: str) -> "Retrying":
    return Retrying(names)


class Retrying:
    """Tries the first upload, says that it was denied, and then tries the others, one per message."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def __call__(self, conversation: Conversation) -> Script:
        for name in self._names:
            conversation = yield [upload(name)]
            conversation = yield [say("Denied." if conversation.result().is_error else "Done.")]
        yield [say("That was all.")]


def unchecked(conversation: Conversation) -> Script:
    for name in ("auto", "auto", "plan", "plan"):
        conversation = yield [use("Bash", command=f"python3 -c \"open('{name}', 'w')\"", description="Write")]
        conversation = yield [say("Denied." if conversation.result().is_error else "Done.")]


def dangerous(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command=f"rm -rf {conversation.directory}", description="Remove everything")]
    conversation = yield [say("Denied.")]
    conversation = yield [use("Bash", command="python3 -c \"open('x', 'w')\"", description="Write")]
    conversation = yield [say("Denied.")]


def slow(conversation: Conversation) -> Script:
    call = use("Bash", command="python3 -c \"open('slow', 'w')\"", description="Write")
    yield [checked(call), wait(6)]
    yield [say("Done.")]


def chats(conversation: Conversation) -> Script:
    while True:
        yield [say("Yes.")]


def steered(conversation: Conversation) -> Script:
    conversation = yield [upload("steered")]
    look = use("Read", file_path=f"{conversation.directory}/x")
    conversation = yield [say("One moment."), hold("denied"), look]
    for _ in range(50):
        if "I allow" in " ".join([conversation.text, *conversation.asides]):
            break
        conversation = yield [look]  # the message is on its way
    yield [upload("steered")]
    yield [say("Done.")]


SCRIPT = parts(
    same=retries("a", "a", "a"),
    other=retries("b", "c"),
    unchecked=unchecked,
    dangerous=dangerous,
    slow=slow,
    chats=chats,
    steered=steered,
)


@pytest.fixture(scope="module")
async def stay(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stay]:
    async with house(tmp_path_factory.mktemp("house"), SCRIPT) as (home, hub):
        yield Stay(home, hub)


async def denied_once(stay: Stay, part: str) -> tuple[Session, ActionDenied]:
    """Plays a part whose first call is denied."""
    session = await stay.begin(part, mode="auto")
    (denied,) = only(ActionDenied, await stay.until_turn())
    return session, denied


async def begin(hub: Hub, home: House) -> tuple[Session, ActionDenied]:
    session = (await hub.desk.start("Upload it.", str(home.work), mode="auto")).session
    contents = await turn(hub, session)
    (denied,) = only(ActionDenied, contents)
    return session, denied


async def turn(hub: Hub, session: Session, number: int = 1) -> list[Content]:
    return await seen(hub.desk, times(number, TurnEnded), session.id)


async def test_a_denied_call_that_a_person_allows_runs_when_claude_retries_it(stay: Stay) -> None:
    home, hub = stay.home, stay.hub
    session, denied = await denied_once(stay, "same")
    assert (denied.tool, denied.reason, denied.cause) == (
        "Bash",
        f"Auto mode's check denied this: {WHY}",
        "classifier",
    )
    assert denied.allowable_until is not None

    await hub.desk.allow_denied(session.id, denied.action)
    await hub.desk.allow_denied(session.id, denied.action)

    contents = await stay.until_turn(2)
    assert (home.work / "a").exists()
    (message,) = [each for each in only(Said, contents) if "I allow" in each.text]
    assert message.by == hub.desk.person
    assert [(each.state, each.by) for each in only(DenialChanged, contents)] == [
        ("allowed", hub.desk.person),
        ("retried", hub.desk.person),
    ]
    (ask,) = await hub.desk.asks(session=session.id, state=None)
    assert isinstance(ask.settlement, Answered)
    assert ask.settlement.by == hub.desk.person
    (entry,) = await hub.desk.audit(what="denied call allowed")
    assert (entry.by, entry.session, entry.detail["tool_use"]) == (hub.desk.person, session.id, denied.action)

    # A second time it is checked as usual.
    (home.work / "a").unlink()
    await hub.desk.allow_denied(session.id, denied.action)
    await hub.desk.say(session.id, "Again.")
    contents = await stay.until_turn(3)
    assert not (home.work / "a").exists()
    assert len(only(ActionDenied, contents)) == 2
    assert len(only(AskOpened, contents)) == 1


async def test_a_retry_with_another_command_is_not_allowed_by_it(stay: Stay) -> None:
    home, hub = stay.home, stay.hub
    stay.leave()  # after a few denials in a row, auto mode asks a person
    session, denied = await denied_once(stay, "other")

    await hub.desk.allow_denied(session.id, denied.action)

    contents = await stay.until_turn(2)
    assert not (home.work / "b").exists()
    assert not (home.work / "c").exists()
    assert not only(AskSettled, contents)
    assert len(only(ActionDenied, contents)) == 2
    stay.leave()


async def test_an_approval_survives_a_hub_and_ends_with_the_session(tmp_path: Path) -> None:
    async with House(tmp_path, retries("a", "a", "a")) as home:
        async with home.open_hub() as hub:
            session, denied = await begin(hub, home)
        async with home.open_hub() as hub:
            await hub.desk.allow_denied(session.id, denied.action)
        async with home.open_hub() as hub:
            await turn(hub, session, 2)
            assert (home.work / "a").exists()
            await hub.desk.say(session.id, "Again.")
            again = only(ActionDenied, await turn(hub, session, 3))[-1]
            await hub.desk.stop(session.id)
            over = await seen(hub.desk, lambda each: isinstance(each, DenialChanged) and each.state == "over")
            assert over[-1] == DenialChanged(again.action, "over", note="Claude has exited since then.")
            with pytest.raises(Refused):
                await hub.desk.allow_denied(session.id, again.action)
            with pytest.raises(Refused):
                await hub.desk.allow_denied(session.id, "toolu_unknown")


async def test_without_a_check_and_in_plan_mode_a_person_can_allow_it_too(stay: Stay) -> None:
    hub, work = stay.hub, stay.home.work
    session, denied = await denied_once(stay, "unchecked")
    await hub.desk.allow_denied(session.id, denied.action)
    await stay.until_turn(2)
    assert (work / "auto").exists()

    await hub.desk.change_mode(session.id, "plan")
    await hub.desk.say(session.id, "Plan it.")
    again = only(ActionDenied, await stay.until_turn(3))[-1]
    assert again.allowable_until is not None
    await hub.desk.allow_denied(session.id, again.action)
    await stay.until_turn(4)
    assert (work / "plan").exists()


async def test_a_slow_check_is_shown_as_being_checked(stay: Stay) -> None:
    await stay.begin("slow", mode="auto")
    contents = await stay.until_turn()
    assert [each.checking for each in only(ActionChecked, contents)] == [True, False]
    assert (stay.home.work / "slow").exists()


async def test_a_call_allowed_during_the_turn_is_retried_in_it(stay: Stay) -> None:
    hub, model = stay.hub, stay.home.model
    session = await stay.begin("steered", mode="auto")
    await model.held("denied")
    shown = await stay.seen(lambda each: isinstance(each, ActionDenied))
    await hub.desk.allow_denied(session.id, only(ActionDenied, shown)[0].action)
    model.release("denied")
    await stay.until_turn()
    assert (stay.home.work / "steered").exists()
    assert model.errors == []


async def test_a_safety_check_and_a_strict_mode_are_shown_but_cannot_be_allowed(stay: Stay) -> None:
    hub = stay.hub
    session, unsafe = await denied_once(stay, "dangerous")
    await hub.desk.change_mode(session.id, "dontAsk")
    await hub.desk.say(session.id, "Go on.")
    strict = only(ActionDenied, await stay.until_turn(2))[-1]
    for each, cause in ((unsafe, "safetyCheck"), (strict, "mode")):
        assert (each.cause, each.allowable_until) == (cause, None)
        with pytest.raises(Refused, match="can't be allowed any more"):
            await hub.desk.allow_denied(session.id, each.action)
    assert stay.home.work.exists()


async def test_a_title_that_claude_is_given_is_shown_until_a_person_renames_the_session(stay: Stay) -> None:
    hub = stay.hub
    session = await stay.begin("chats")
    await stay.until_turn()
    await hub.desk.say(session.id, "/rename Better title")
    await stay.seen(lambda each: isinstance(each, SessionChanged) and each.title == "Better title")
    await hub.desk.rename(session.id, "Mine")
    await hub.desk.say(session.id, "/rename Another title")
    await hub.desk.say(session.id, "Hello again.")
    await seen(
        hub.desk, lambda each: isinstance(each, Text) and each.text == "Yes.", session.id, await hub.desk.newest()
    )
    assert (await hub.desk.session(session.id)).session.title == "Mine"


async def test_a_denied_call_is_allowed_by_its_number_in_a_terminal(tmp_path: Path) -> None:
    script = retries("a", "a")
    async with desk(tmp_path, script) as (laid, _), laid.terminal("run", "--mode", "auto", "Upload it.") as terminal:
        await terminal.until("✗ 1. $ python3", "Auto mode's check denied this", "type /allow 1", "idle · ")
        terminal.type("/allow 2", ENTER)
        await terminal.until("There is no denied call 2 that can be allowed here.")
        assert not (laid.home.work / "a").exists()
        terminal.type("/allow 1", ENTER)
        await terminal.until(
            "I allow the last denied Bash call", "Denied call 1:", "Claude tried again", "Done.", "idle · "
        )
        assert (laid.home.work / "a").exists()
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
