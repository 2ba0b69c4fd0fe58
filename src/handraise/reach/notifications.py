"""Everything that people can do about notifications, and what other surfaces report about theirs."""

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from handraise.auth import Auth, Principal
from handraise.channels.config import connect
from handraise.channels.model import Channel, ChannelError, ChannelMessage
from handraise.desk.interface import Desk, Invalid, NotFound, Refused
from handraise.desk.shared import LeaseKeeper
from handraise.model.actors import Person
from handraise.model.answers import read_answer
from handraise.model.asks import Ask, Kind
from handraise.model.items import NotificationFailed
from handraise.model.tokens import hash_of, may
from handraise.reach import words
from handraise.reach.counts import NotificationCounts
from handraise.reach.decision import HoldBack, Skip, is_looking
from handraise.reach.health import ChannelHealth, ChannelState
from handraise.reach.keeper import EscalationKeeper, log_for
from handraise.reach.log import NotificationLog, ReachRecords
from handraise.reach.model import ALL, EVERYTHING, AskLog, ButtonSecret, ChainStep, Mute, NoticeEntry, QuietSettings
from handraise.reach.picture import PictureStep, picture_of
from handraise.reach.presence import Presence
from handraise.reach.settings import ReachSettings, StoredChannel, is_used
from handraise.reach.situation import ReachConfig, Situation
from handraise.reach.statistics import AskRow, ReachStatistics, is_by_rule, rows_of, statistics_of
from handraise.reach.urgency import AskFacts
from handraise.texts import t

MOST_ASKS = 2_000
"""How many asks the statistics count."""
REMEMBERED = timedelta(days=90)
"""For how long it is kept what was sent."""
_PRUNE_EVERY = timedelta(hours=1)
_LEASE = "reach"
_LASTS = 60.0
"""Seconds. Longer than a channel may take."""
SOURCE = "ntfy"
_MOST_PAGES = 100
"""Characters of the ID that a page gives itself."""

log = logging.getLogger("handraise.reach")

DeskFor = Callable[[Person, str], Desk]


class Notifications:
    """Entered with `async with`, inside the hub's. Costs nothing until someone sets something."""

    def __init__(
        self,
        desk_for: DeskFor,
        auth: Auth,
        records: ReachRecords,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        links: str,
        publish: Callable[[NotificationFailed], Awaitable[None]],
        config: ReachConfig,
        elapsed: Callable[[], float] | None = None,
        make: Callable[[StoredChannel], Channel] | None = None,
    ) -> None:
        """`elapsed` is a clock that also counts while the machine sleeps; only for hubs that share their database."""
        self._desk_for = desk_for
        self._desk = desk_for(Person("handraise"), "reach")
        self._clock = clock
        self._links = links
        self._publish = publish
        self._config = config
        self._make = make or self._connect
        is_shared = elapsed is not None
        self.settings = ReachSettings(records, clock, entropy, private=config.private_addresses)
        self.presence = Presence(clock, records if is_shared else None)
        self.situation = Situation(self.settings, self.presence, auth, clock, config, shared=is_shared)
        self.log = NotificationLog(records)
        self.health = ChannelHealth(records)
        self.settings.listeners.append(self._name_kinds)
        lease = (
            LeaseKeeper(records, _LEASE, elapsed, seconds=_LASTS, every=config.renew) if elapsed is not None else None
        )
        self.keeper = EscalationKeeper(
            self._desk,
            self.situation,
            self.log,
            self.health,
            clock,
            entropy,
            links,
            publish,
            lease,
            self._make,
        )
        self._stack = AsyncExitStack()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pruned: datetime | None = None
        self._reported: dict[tuple[str, str, str], tuple[str, str | None]] = {}

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.situation)
        await self._stack.enter_async_context(self.keeper)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stack.aclose()

    async def set_quiet(self, person: str, wanted: QuietSettings | None) -> None:
        await self.settings.set_quiet(person, wanted)

    async def channels(self, principal: Principal) -> list[tuple[StoredChannel, ChannelState | None]]:
        """One's own, and shared ones; an admin sees all. Oldest first."""
        await self.settings.refresh()
        health = await self.health.read()
        seen = [each for each in self.settings.channels.values() if _may_see(each, principal)]
        return [(each, health.get(each.id)) for each in sorted(seen, key=lambda each: (each.created_at, each.id))]

    async def add_channel(
        self, principal: Principal, name: str, kind: str, fields: dict[str, str], *, with_content: bool, shared: bool
    ) -> StoredChannel:
        if shared and not may(principal.role, "admin"):
            raise Refused(t("reach.error.shared_needs_admin"))
        owner = ALL if shared else principal.person.name
        by = principal.person.name
        return await self.settings.add_channel(owner, by, name, kind, fields, with_content=with_content)

    async def change_channel(
        self,
        principal: Principal,
        channel: str,
        name: str | None,
        fields: dict[str, str] | None,
        *,
        with_content: bool | None,
    ) -> StoredChannel:
        await self._own(channel, principal)
        return await self.settings.change_channel(channel, name, fields, with_content=with_content)

    async def remove_channel(self, principal: Principal, channel: str) -> None:
        await self._own(channel, principal)
        if is_used(channel, self.settings.chains.values()):
            raise Refused(t("reach.error.channel_used"))
        await self.settings.remove_channel(channel)
        await self.health.forget(channel)

    async def test_channel(self, principal: Principal, channel: str) -> str | None:
        """Sends a test; the sentence says why it failed."""
        stored = await self._own(channel, principal)
        wording = words.test_words()
        identity = hash_of(f"{channel} {self._clock().isoformat()}")[:32]
        message = ChannelMessage(identity, wording.title, wording.text, f"{self._links}/", thread=channel)
        trouble = None
        try:
            async with asyncio.timeout(self._config.deadline):
                receipt = await self._make(stored).send(message)
                trouble = receipt.warning or None
        except ChannelError as error:
            trouble = error.sentence
        except TimeoutError:
            trouble = t("reach.error.timeout", seconds=int(self._config.deadline))
        await self.health.note(channel, trouble, self._clock())
        return trouble

    async def probe_channel(self, principal: Principal, channel: str) -> tuple[bool, str]:
        """Whether it could be used, without sending anything, and a sentence about it."""
        stored = await self._own(channel, principal)
        try:
            async with asyncio.timeout(self._config.deadline):
                return True, await self._make(stored).probe()
        except ChannelError as error:
            return False, error.sentence
        except TimeoutError:
            return False, t("reach.error.timeout", seconds=int(self._config.deadline))

    def describe(self, channel: StoredChannel) -> str:
        """Where it sends to, without secrets."""
        try:
            return self._make(channel).describe()
        except ChannelError as error:
            return error.sentence

    async def mutes(self, principal: Principal) -> list[Mute]:
        """One's own, and those for everyone; without those that have ended. Oldest first."""
        await self.settings.refresh()
        now, name = self._clock(), principal.person.name
        found = [
            each
            for each in self.settings.mutes.values()
            if each.person in (ALL, name) and (each.until is None or each.until > now)
        ]
        return sorted(found, key=lambda each: (each.created_at, each.id))

    async def mute(
        self,
        principal: Principal,
        *,
        session: str | None,
        project: str | None,
        until: datetime | None,
        for_everyone: bool = False,
    ) -> Mute:
        if for_everyone and not may(principal.role, "admin"):
            raise Refused(t("reach.error.everyone_needs_admin"))
        if session is not None:
            await self._desk.session(session)
        if project is not None:
            project = await self.project_id(project)
        person = ALL if for_everyone else principal.person.name
        return await self.settings.mute(person, principal.person.name, session=session, project=project, until=until)

    async def unmute(self, principal: Principal, mute: str) -> None:
        await self.settings.refresh()
        found = self.settings.mutes.get(mute)
        is_own = found is not None and found.person == principal.person.name
        if found is None or not (is_own or may(principal.role, "admin")):
            raise NotFound(t("reach.error.no_mute", mute=mute[:100]))
        await self.settings.unmute(mute)

    async def set_chain(self, project: str, steps: Sequence[ChainStep] | None) -> None:
        await self.settings.refresh()
        await self.settings.set_chain(project, steps)

    async def project_id(self, project: str) -> str:
        """Of a project, by its ID or name. Raises NotFound."""
        for each in await self._desk.projects():
            if project in (each.id, each.name):
                return each.id
        raise NotFound(t("reach.error.no_project", project=project[:100]))

    async def picture(
        self, kind: Kind, *, project: str | None, session: str | None, is_dangerous: bool
    ) -> list[PictureStep]:
        """What would happen to an ask that is raised now."""
        await self.settings.refresh()
        if session is not None:
            project = (await self._desk.session(session)).session.project
        elif project is not None:
            project = await self.project_id(project)
        facts = AskFacts("a_", kind, self._clock(), session, project, is_dangerous=is_dangerous)
        return picture_of(facts, await self.situation.world())

    async def log_of(self, ask: str) -> AskLog:
        """What was sent and not sent about one ask."""
        known = await self._desk.ask(ask)
        return await self.log.read(ask) or log_for(known)

    async def logs(self, limit: int) -> list[AskLog]:
        """Newest first."""
        return list(reversed(await self.log.all()))[:limit]

    async def statistics(self, days: int) -> ReachStatistics:
        asks, logs, now = await self._counted(days)
        return statistics_of(asks, logs, now)

    async def rows(self, days: int) -> list[AskRow]:
        """The asks of the statistics, newest first."""
        asks, logs, now = await self._counted(days)
        return rows_of(asks, logs, now)

    async def see(self, principal: Principal, page: str, *, is_focused: bool, view: str, session: str | None) -> None:
        """A page says what it shows, and whether it has the focus."""
        views: tuple[str, ...] = ()
        if is_focused and view == "session" and session is not None:
            views = (session,)
        elif is_focused and view == "inbox":
            views = (EVERYTHING,)
        await self.presence.report(page[:_MOST_PAGES], principal.person.name, views)
        if views and may(principal.role, "approver"):
            await self._notice(principal.person.name)

    def attached(self, principal: Principal, session: str) -> AbstractContextManager[None]:
        """A terminal shows this session while this is entered."""
        if may(principal.role, "approver"):
            self._later(self._notice(principal.person.name, session))
        return self.presence.attached(principal.person.name, session)

    async def press(self, secret: str) -> str:
        """Answers with a button of a message. Raises Refused if it has expired, and what answering raises."""
        ask_id, _, token = secret.partition(".")
        gone = Refused(t("reach.button.gone"))
        found = _button_of(await self.log.read(ask_id) if token else None, hash_of(token))
        if found is None or found.used:
            raise gone
        ask = await self._ask(ask_id)
        if ask is None or ask.settlement is not None:
            raise gone
        role = (await self.situation.roles()).get(found.person)
        if role is None or not may(role, "approver"):
            raise gone
        desk = self._desk_for(Person(found.person), SOURCE)
        # First the answer, which counts once: if it can't be stored, the button still works.
        await desk.answer(ask_id, read_answer(ask.kind, dict(found.answer)), found.digest)
        now = self._clock()
        await self.log.change({ask_id: (log_for(ask), lambda before: before.pressed(found, now))})
        return ask_id

    def opens_at(self, ask: Ask, channel: str, person: str) -> datetime | None:
        """For Web Push and Telegram: when they may show this ask. None if only a change helps. Notes why not."""
        now = self._clock()
        verdict = self.situation.gate(ask, channel, person, now)
        if (isinstance(verdict, HoldBack) and verdict.reason != "not_due") or isinstance(verdict, Skip):
            until = verdict.until if isinstance(verdict, HoldBack) else None
            state, about = (verdict.reason, str(until)), (ask.id, channel, person)
            if self._reported.get(about) != state:
                self._reported[about] = state
                self._forget_reports()
                entry = NoticeEntry(0, channel, person, "held", now, verdict.reason, until)
                self._later(self._add(ask, entry))
        return self.situation.opens_at(ask, channel, person, now)

    def report_sent(self, ask: Ask, channel: str, person: str, label: str = "", trouble: str | None = None) -> None:
        """Web Push or Telegram sent it, or gave up."""
        entry = NoticeEntry(
            0,
            channel,
            person,
            "sent" if trouble is None else "failed",
            self._clock(),
            detail=trouble or "",
            label=label,
        )
        self._later(self._add(ask, entry))
        if trouble is not None:
            self._later(self._publish_failure(NotificationFailed(label or channel, channel, person, ask.id, trouble)))

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.situation.listeners.append(changed)
        return lambda: self.situation.listeners.remove(changed)

    def count_settled(self, ask: str) -> None:
        """For metrics. Never waits."""
        self._later(self._count_settled(ask))

    @property
    def counts(self) -> NotificationCounts:
        """For metrics."""
        return self.log.counts

    def _name_kinds(self) -> None:
        self.log.counts.kinds |= {each.id: each.config.kind for each in self.settings.channels.values()}

    async def _count_settled(self, name: str) -> None:
        ask = await self._ask(name)
        await self.prune()
        if ask is not None and not is_by_rule(ask):
            self.counts.settle(ask, await self.log.peek(name))

    async def idle(self) -> None:
        """Waits until everything that was reported is stored."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _forget_reports(self) -> None:
        while len(self._reported) > MOST_ASKS:
            del self._reported[next(iter(self._reported))]

    async def _counted(self, days: int) -> tuple[list[Ask], dict[str, AskLog], datetime]:
        now = self._clock()
        asks = await self._desk.asks(state=None, limit=MOST_ASKS, newest_first=True)
        since = now - timedelta(days=days)
        logs = {each.ask: each for each in await self.log.all()}
        return [ask for ask in asks if ask.opened_at >= since], logs, now

    async def _notice(self, person: str, session: str | None = None) -> None:
        """Someone who can answer looks at these asks for the first time."""
        world = self.situation.last_world()
        asks = await self._desk.asks(state="open", session=session)
        now = self._clock()

        def noticed(before: AskLog) -> AskLog:
            return before if before.noticed_at is not None else replace(before, noticed_at=now, noticed_by=person)

        for ask in asks:
            if (ask.session is not None and ask.session == session) or is_looking(person, ask.session, world):
                await self.log.change({ask.id: (log_for(ask), noticed)})

    async def _publish_failure(self, failure: NotificationFailed) -> None:
        await self._publish(failure)

    async def prune(self) -> None:
        """Forgets what is old. At most once an hour, when something is noted."""
        now = self._clock()
        if self._pruned is None or now - self._pruned >= _PRUNE_EVERY:
            self._pruned = now
            await self.log.prune(now - REMEMBERED)
            await self.settings.prune()

    async def _add(self, ask: Ask, entry: NoticeEntry) -> None:
        await self.log.change({ask.id: (log_for(ask), lambda before: before.adding(entry))})
        await self.prune()

    def _later(self, what: Coroutine[Any, Any, None]) -> None:
        """In the background: what is sent doesn't wait for its log."""
        task = asyncio.create_task(_logged(what))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _own(self, channel: str, principal: Principal) -> StoredChannel:
        await self.settings.refresh()
        stored = self.settings.channels.get(channel)
        if stored is None or not _may_see(stored, principal):
            raise NotFound(t("reach.error.no_channel", channel=channel[:100]))
        if stored.owner == ALL and not may(principal.role, "admin"):
            raise Refused(t("reach.error.shared_needs_admin"))
        return stored

    async def _ask(self, ask: str) -> Ask | None:
        try:
            return await self._desk.ask(ask)
        except (NotFound, Invalid):
            return None

    def _connect(self, channel: StoredChannel) -> Channel:
        return connect(channel.config, channel.secrets, private=self._config.private_addresses, clock=self._clock)


def _may_see(channel: StoredChannel, principal: Principal) -> bool:
    return channel.owner in (ALL, principal.person.name) or may(principal.role, "admin")


def _button_of(log_of: AskLog | None, hashed: str) -> ButtonSecret | None:
    every = [each for entry in (log_of.entries if log_of else ()) for each in entry.buttons]
    return next((each for each in every if hmac.compare_digest(each.hash, hashed)), None)


async def _logged(what: Coroutine[Any, Any, None]) -> None:
    try:
        await what
    except Exception as error:  # outer boundary: the log of notifications must not disturb what is sent
        log.warning("what was sent could not be noted: %s", type(error).__name__)
