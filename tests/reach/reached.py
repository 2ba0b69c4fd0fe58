"""A hub without sessions that notifies people, with a clock that tests set and channels that remember."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from handraise.auth import Auth
from handraise.channels.model import ChannelError, ChannelMessage, ChannelReceipt
from handraise.desk.shared import RecordChange
from handraise.feed import Feed
from handraise.hub.desk import LocalDesk
from handraise.hub.shared import StoreRecords
from handraise.inbox.inbox import Inbox
from handraise.model.actors import Person
from handraise.model.answers import Allow
from handraise.model.asks import Answered, Ask, Body, Origin, Permission
from handraise.model.items import NotificationFailed
from handraise.model.sessions import Session
from handraise.model.tokens import Role
from handraise.reach.notifications import Notifications
from handraise.reach.settings import StoredChannel
from handraise.reach.situation import ReachConfig
from handraise.store.changes import OpenAsk, SaveSession, SettleAsk
from handraise.store.interface import Store

NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)
NPM = Permission("Bash", {"command": "npm test"})


class Deadly:
    """Counts what a hub does. At a chosen moment it is killed: nothing it does comes to an end any more."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.count = 0
        self.killed = asyncio.Event()

    async def pass_by(self) -> None:
        self.count += 1
        if self.killed.is_set() or self.count == self.at:
            self.killed.set()
            await asyncio.Event().wait()


class DeadlyRecords(StoreRecords):
    """Records of a hub that may be killed before and after it stores something."""

    def __init__(self, store: Store, fate: Deadly) -> None:
        super().__init__(store)
        self._fate = fate

    async def save(self, kind: str, changes: Sequence[RecordChange]) -> Sequence[bool]:
        await self._fate.pass_by()
        saved = await super().save(kind, changes)
        await self._fate.pass_by()
        return saved


@dataclass
class Letterbox:
    """What arrived: everything, and what is still shown. A message with a known ID takes the other's place."""

    arrived: list[tuple[str, ChannelMessage]] = field(default_factory=list)
    shown: dict[tuple[str, str], ChannelMessage] = field(default_factory=dict)
    errors: dict[str, ChannelError] = field(default_factory=dict)
    """By the name of a channel: what sending to it raises."""
    slow: asyncio.Event | None = None
    """If there is one, messages arrive when it is set."""
    began: asyncio.Event = field(default_factory=asyncio.Event)

    def names(self) -> list[str]:
        return [name for name, _ in self.arrived]


class MemoryChannel:
    """One channel of a letterbox."""

    def __init__(self, channel: StoredChannel, box: Letterbox, fate: Deadly) -> None:
        self._name = channel.config.name
        self._box = box
        self._fate = fate

    async def send(self, message: ChannelMessage) -> ChannelReceipt:
        await self._fate.pass_by()
        if self._name in self._box.errors:
            raise self._box.errors[self._name]
        self._box.began.set()
        if self._box.slow is not None:
            await self._box.slow.wait()
        self._box.arrived.append((self._name, message))
        self._box.shown[self._name, message.id] = message
        await self._fate.pass_by()
        return ChannelReceipt(message.id)

    async def retract(self, receipt: ChannelReceipt, message: ChannelMessage) -> bool:
        await self._fate.pass_by()
        assert receipt.data == message.id
        return self._box.shown.pop((self._name, receipt.data), None) is not None

    async def probe(self) -> str:
        return "It works."

    def describe(self) -> str:
        return self._name


@dataclass
class ReachedWorld:
    """A store with people and asks, and hubs that notify."""

    store: Store
    feed: Feed
    inbox: Inbox
    now: datetime = NOON
    box: Letterbox = field(default_factory=Letterbox)
    failures: list[NotificationFailed] = field(default_factory=list)
    count: int = 0

    def clock(self) -> datetime:
        return self.now

    def entropy(self, size: int) -> bytes:
        self.count += 1
        return self.count.to_bytes(size, "big")

    def later(self, **more: float) -> None:
        self.now += timedelta(**more)

    def desk(self, person: Person, source: str) -> LocalDesk:
        return LocalDesk(
            person,
            source,
            store=self.store,
            feed=self.feed,
            inbox=self.inbox,
            supervisor=cast(Any, None),
            dispatcher=cast(Any, None),
            clock=self.clock,
            entropy=self.entropy,
        )

    async def person(self, name: str, role: Role = "approver") -> None:
        await Auth(self.store, self.clock, self.entropy).make(name, role, Person("owner"), "test")

    async def ask(
        self,
        name: str = "a_1",
        body: Body = NPM,
        *,
        session: str | None = "s_1",
        project: str | None = None,
        **more: Any,
    ) -> Ask:
        if session is not None and await self.store.session(session) is None:
            made = Session(session, project, "/work/shop", f"claude-{session}", "Secret plans", NOON, NOON, "idle")
            await self.store.apply([SaveSession(made)])
        asker = "session" if session else "agent"
        ask = Ask(name, session, project, body, "Bash", Origin(name), self.now, cast(Any, asker), **more)
        await self.store.apply([OpenAsk(ask)])
        return ask

    async def answer(self, ask: str, by: str = "ana") -> None:
        await self.store.apply([SettleAsk(ask, Answered(Allow(), Person(by), "web", self.now))])

    def hub(self, fate: Deadly | None = None, **config: Any) -> Notifications:
        """One that does nothing by itself: `hub.keeper.look()` does what is due."""
        fate = fate or Deadly()

        async def publish(failure: NotificationFailed) -> None:
            self.failures.append(failure)

        return Notifications(
            self.desk,
            Auth(self.store, self.clock, self.entropy),
            DeadlyRecords(self.store, fate),
            self.clock,
            self.entropy,
            "https://hub.example",
            publish,
            ReachConfig(**config),
            make=lambda channel: MemoryChannel(channel, self.box, fate),
        )


@asynccontextmanager
async def world_in(store: Store) -> AsyncIterator[ReachedWorld]:
    """The store must be entered."""
    clock = [NOON]
    async with Feed(store) as feed, Inbox(store, lambda: clock[0], (), lambda: 0.0) as inbox:
        yield ReachedWorld(store, feed, inbox)
