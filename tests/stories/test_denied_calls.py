"""Stories of auto mode: what its check denied is shown, and a person may allow exactly that call, once."""

from pathlib import Path

import pytest

from handraise.demo.pieces import Script, Use, checked, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Refused
from handraise.hub.hub import Hub
from handraise.model.asks import Answered
from handraise.model.items import (
    ActionDenied,
    AskOpened,
    AskSettled,
    Content,
    DenialChanged,
    Said,
    TurnEnded,
)
from handraise.model.sessions import Session
from stories.house import House, seen
from stories.timeline import only, times

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

    def __call__(self, told: Conversation) -> Script:
        for name in self._names:
            told = yield [upload(name)]
            told = yield [say("Denied." if told.result().is_error else "Done.")]
        yield [say("That was all.")]


async def begin(hub: Hub, home: House) -> tuple[Session, ActionDenied]:
    session = (await hub.desk.start("Upload it.", str(home.work), mode="auto")).session
    contents = await turn(hub, session)
    (denied,) = only(ActionDenied, contents)
    return session, denied


async def turn(hub: Hub, session: Session, number: int = 1) -> list[Content]:
    return await seen(hub.desk, times(number, TurnEnded), session.id)


async def test_a_denied_call_that_a_person_allows_runs_when_claude_retries_it(tmp_path: Path) -> None:
    async with House(tmp_path, retries("a", "a", "a")) as home, home.open_hub() as hub:
        session, denied = await begin(hub, home)
        assert (denied.tool, denied.reason, denied.cause) == (
            "Bash",
            f"Auto mode's check denied this: {WHY}",
            "classifier",
        )
        assert denied.allowable_until is not None

        await hub.desk.allow_denied(session.id, denied.action)
        await hub.desk.allow_denied(session.id, denied.action)

        contents = await turn(hub, session, 2)
        assert (home.work / "a").exists()
        (said,) = [each for each in only(Said, contents) if "I allow" in each.text]
        assert said.by == hub.desk.person
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
        contents = await turn(hub, session, 3)
        assert not (home.work / "a").exists()
        assert len(only(ActionDenied, contents)) == 2
        assert len(only(AskOpened, contents)) == 1


async def test_a_retry_with_another_command_is_not_allowed_by_it(tmp_path: Path) -> None:
    async with House(tmp_path, retries("a", "b")) as home, home.open_hub() as hub:
        session, denied = await begin(hub, home)

        await hub.desk.allow_denied(session.id, denied.action)

        contents = await turn(hub, session, 2)
        assert not (home.work / "a").exists()
        assert not (home.work / "b").exists()
        assert not only(AskSettled, contents)
        assert len(only(ActionDenied, contents)) == 2


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
