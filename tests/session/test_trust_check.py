"""Whether a session may start: a decision, or an ask. Real files, no Claude."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from handraise import texts
from handraise.inbox.inbox import Inbox
from handraise.model.answers import Trusting as Level
from handraise.model.asks import Ask
from handraise.model.projects import Options, Patience
from handraise.model.sessions import Session
from handraise.model.trust import Trust, TrustLevel
from handraise.session.launching import StartContext
from handraise.session.trust_check import TrustCheck
from handraise.store.changes import DeliverAsk, RevokeTrust, SaveSession
from handraise.store.memory.store import MemoryStore
from inbox.waiting_room import ANA, NOON, Clock


class TrustDesk:
    """One session in one directory."""

    def __init__(self, store: MemoryStore, inbox: Inbox, clock: Clock, work: Path) -> None:
        self.store, self.inbox, self.clock, self.work = store, inbox, clock, work
        self.trusting = TrustCheck(store, inbox, {"HOME": str(work.parent / "home")}, clock, os.urandom)
        self.session = Session("s_1", None, str(work), "c", "Fix it", NOON, NOON)
        self.decided: list[Ask] = []

    async def look(self, patience: float | None = None) -> StartContext | None:
        options = Options(patience=Patience(trust=patience))
        return await self.trusting.footing(self.session, options)

    async def open(self) -> list[Ask]:
        return await self.store.asks(state="open")

    async def answer(self, level: TrustLevel) -> None:
        (ask,) = await self.open()
        await self.inbox.answer(ask.id, Level(level), ANA, "web", ask.digest)

    def brings(self, settings: object) -> None:
        (self.work / ".claude").mkdir(exist_ok=True)
        (self.work / ".claude/settings.json").write_text(json.dumps(settings))


@asynccontextmanager
async def desk(tmp: Path) -> AsyncIterator[TrustDesk]:
    work, clock = tmp / "work", Clock()
    work.mkdir()
    async with MemoryStore() as store, Inbox(store, clock) as inbox:
        here = TrustDesk(store, inbox, clock, work)
        await store.apply([SaveSession(here.session)])
        with inbox.listening(here.decided.append, "s_1"):
            yield here


async def test_where_nothing_is_brought_nobody_is_asked_and_nothing_is_trusted(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        assert await here.look() == StartContext()
        assert await here.open() == []


async def test_what_is_brought_is_asked_about_once_and_the_session_waits(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.brings({"env": {"A": "1"}})
        assert (await here.look(), await here.look()) == (None, None)
        (ask,) = await here.open()
        assert isinstance(ask.body, Trust)
        assert [each.name for each in ask.body.brought] == ["A"]

        await here.answer("exactly")

        assert [each.id for each in here.decided] == [ask.id]
        footing = await here.look()
        assert footing is not None
        assert footing.trusted
        assert [type(each) for each in await here.trusting.started(here.session, footing)] == [DeliverAsk]


async def test_a_change_while_it_waits_is_asked_about_instead(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.brings({"env": {"A": "1"}})
        await here.look()
        (first,) = await here.open()
        here.brings({"env": {"A": "2"}})
        # What was answered is what was shown: it does not cover what is there by now.
        await here.answer("exactly")

        assert await here.look() is None
        (second,) = await here.open()
        assert second.digest != first.digest
        assert "changed since ana trusted them" in second.why
        here.brings({})
        assert await here.look() == StartContext()
        assert await here.open() == []


async def test_never_holds_whatever_is_brought_until_it_is_revoked(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.brings({"env": {"A": "1"}})
        await here.look()
        await here.answer("never")
        here.brings({"env": {"A": "2"}})
        footing = await here.look()
        assert footing is not None
        assert not footing.trusted
        assert footing.note == "Running without this directory's settings: 1 environment variable."

        await here.store.apply([RevokeTrust(str(here.work))])
        assert await here.look() is None


async def test_nobody_answers_and_it_starts_without_and_does_not_wait_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.brings({"env": {"A": "1"}})
        assert await here.look(patience=600) is None
        here.clock.forward(601)
        await here.inbox.expire()
        assert len(here.decided) == 1
        # Parked and woken, too.
        for _ in range(2):
            footing = await here.look(patience=600)
            assert footing is not None
            assert not footing.trusted
            here.session = replace(here.session, changed_at=here.clock())
        assert await here.store.trusts() == []


async def test_another_directory_and_another_digest_say_nothing_of_this_one(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.brings({"env": {"A": "1"}})
        await here.look()
        await here.answer("exactly")
        other = here.work / "sub"
        (other / ".claude").mkdir(parents=True)
        (other / ".claude/settings.json").write_text('{"env": {"A": "1"}}')
        here.session = replace(here.session, id="s_2", directory=str(other))

        assert await here.look() is None


async def test_a_decision_about_an_unreadable_directory_holds_in_every_language(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        (here.work / ".claude").mkdir()
        (here.work / ".claude/settings.json").write_bytes(b"\xff")
        assert await here.look() is None
        with texts.using("en-XA"):
            assert await here.look() is None
            assert len(await here.open()) == 1
            await here.answer("without")
            assert await here.look() is not None
        assert await here.look() is not None


async def test_a_lone_half_of_a_letter_in_the_settings_breaks_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.brings({})
        (here.work / ".claude/settings.json").write_text('{"env": {"A": "\\ud83d"}}')
        assert (await here.look(), await here.look()) == (None, None)
        await here.answer("without")
        assert await here.look() is not None


async def test_the_person_s_own_servers_go_along_where_the_directory_is_not_trusted(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        (tmp_path / "home").mkdir()
        (tmp_path / "home/.claude.json").write_text('{"mcpServers": {"mine": {"command": "x"}}}')
        footing = await here.look()
        assert footing == StartContext(own_servers=str(tmp_path / "home/.claude.json"))
