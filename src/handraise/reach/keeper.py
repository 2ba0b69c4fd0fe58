"""Carries out what was decided: sends each step of each chain once, and takes back what was answered.

A step is stored as *sending* before it is sent, and as *sent* afterwards. If the hub is killed in between, nobody knows
whether the message arrived: it is sent again, with the same ID, so that a channel that can replaces it. A notification
that never comes would be worse than one that comes twice.
"""

import asyncio
import logging
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from handraise.channels.config import connect
from handraise.channels.model import Channel, ChannelButton, ChannelError, ChannelMessage, ChannelReceipt
from handraise.desk.interface import Desk, NotFound
from handraise.desk.machine_names import MachineNames
from handraise.desk.shared import LeaseKeeper
from handraise.model.asks import Ask
from handraise.model.items import NotificationFailed
from handraise.model.tokens import hash_of, may
from handraise.reach import words
from handraise.reach.health import ChannelHealth
from handraise.reach.log import NotificationLog
from handraise.reach.model import ALL, AskLog, ButtonSecret, NoticeEntry
from handraise.reach.open_asks import OpenAsks
from handraise.reach.rounds import TRIES, Bundle, Round, SendAttempts, next_round, pause_after
from handraise.reach.settings import StoredChannel
from handraise.reach.situation import Situation
from handraise.reach.urgency import facts_of
from handraise.texts import t

MARGIN = 40.0
"""A message is sent only if the lease lasts longer than that: a channel may take nearly as long."""
BUTTONS = "/api/notifications/buttons"
_LONGEST_SLEEP = 30.0
"""The clock may be set, or the machine may sleep: what is due is checked again after this long."""
_AFTER_A_FAULT = 5.0
_SECRET = 24

log = logging.getLogger("handraise.reach")

Connect = Callable[[StoredChannel], Channel]


class EscalationKeeper:
    """Entered with `async with`, inside the situation. It follows the feed only while there is a channel.

    If hubs share their channels, only the one with the lease sends.
    """

    def __init__(
        self,
        desk: Desk,
        situation: Situation,
        notices: NotificationLog,
        health: ChannelHealth,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        links: str,
        publish: Callable[[NotificationFailed], Awaitable[None]],
        lease: LeaseKeeper | None = None,
        make: Connect | None = None,
    ) -> None:
        """`make` connects a channel; another one in tests."""
        self._desk = desk
        self._situation = situation
        self._log = notices
        self._health = health
        self._clock = clock
        self._entropy = entropy
        self._links = links
        self._publish = publish
        self._lease = lease
        self._make = make or self._connect
        self._names = MachineNames(desk)
        self._changed = asyncio.Event()
        self._asks = OpenAsks(desk, self._changed.set)
        self._logs: dict[str, AskLog] = {}
        self._attempts: dict[str, SendAttempts] = {}
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._task: asyncio.Task[None] | None = None
        situation.listeners.append(self._changed.set)

    async def __aenter__(self) -> Self:
        if self._lease is not None:
            await self._lease.__aenter__()
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.stop()
        if self._lease is not None:
            await self._lease.__aexit__(kind, error, trace)

    async def _run(self) -> None:
        while True:
            try:
                await self._until_needed()
                await self._work()
            except Exception:  # outer boundary: the hub goes on without it, and it is tried again
                log.exception("notifications failed; trying again")
                await asyncio.sleep(_AFTER_A_FAULT)
            finally:
                await self.stop()

    async def _until_needed(self) -> None:
        while not self._is_needed():
            self._changed.clear()
            if self._situation.settings.channels and self._lease is not None:
                await self._lease.looked()
            else:
                await self._changed.wait()

    def _is_needed(self) -> bool:
        return bool(self._situation.settings.channels) and self._may_send()

    def _may_send(self) -> bool:
        return self._lease is None or self._lease.seconds_left > MARGIN

    async def _work(self) -> None:
        follow = asyncio.create_task(self._asks.follow())
        try:
            await self._asks.known.wait()
            await self._remember()
            while self._is_needed():
                self._changed.clear()
                await self._rest(await self.turn())
        finally:
            follow.cancel()
            await asyncio.gather(follow, return_exceptions=True)

    async def _remember(self) -> None:
        """Reads what was sent, also about asks that were settled while no hub was there to take it back."""
        self._logs = {each.ask: each for each in await self._log.all() if each.is_retractable}

    async def look(self) -> datetime | None:
        """Reads everything again, and does what is due; returns when to look again. For tests: needs no feed."""
        await self._asks.read()
        await self._remember()
        wake = await self.turn()
        await self.settled()
        return wake

    async def stop(self) -> None:
        """Forgets what it knows: another hub may go on."""
        tasks = list(self._busy.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._busy.clear()
        self._logs.clear()
        self._attempts.clear()
        self._asks = OpenAsks(self._desk, self._changed.set)

    async def turn(self) -> datetime | None:
        """Starts everything that is due; returns when to look again."""
        world, now = await self._situation.world(), self._clock()
        for name in [each for each in self._asks.asks if each not in self._logs]:
            known = await self._log.read(name)
            if known is not None:
                self._logs[name] = known
        for gone in [each for each in self._logs if each not in self._asks.asks]:
            if any(each.message in self._busy for each in self._logs[gone].entries):
                continue  # what is on its way is taken back when it has arrived
            if self._logs[gone].is_retractable:
                self._start(f"close {gone}", self._close(gone))
            else:
                del self._logs[gone]
                self._log.forget(gone)
        asks = list(self._asks.asks.values())
        counts: dict[str | None, int] = {}
        for ask in asks:
            counts[ask.session] = counts.get(ask.session, 0) + 1
        facts = [facts_of(ask, counts[ask.session] if ask.session else 1) for ask in asks]
        turn: Round = next_round(facts, self._logs, world, self._attempts, self._busy, now)
        await self._note(turn.notes)
        for bundle in turn.sends:
            self._start(bundle.message, self._send(bundle))
        ends = [each for each in (turn.wake, self._situation.presence.next_end()) if each is not None]
        return min(ends, default=None)

    async def settled(self) -> None:
        """Waits until nothing is on its way."""
        while self._busy:
            await asyncio.gather(*self._busy.values(), return_exceptions=True)

    def _start(self, name: str, what: Coroutine[Any, Any, None]) -> None:
        if name in self._busy:
            what.close()
            return
        self._busy[name] = asyncio.create_task(self._guarded(name, what))

    async def _guarded(self, name: str, what: Coroutine[Any, Any, None]) -> None:
        """One channel's problem must not hold up the others."""
        try:
            await what
        except Exception:  # outer boundary of one message: it is tried again later
            log.exception("a notification could not be handled")
            self._failed(name, None)
        finally:
            self._busy.pop(name, None)
            self._changed.set()

    async def _rest(self, until: datetime | None) -> None:
        seconds = _LONGEST_SLEEP
        if until is not None:
            seconds = min(max((until - self._clock()).total_seconds(), 0.0), seconds)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    async def _send(self, bundle: Bundle) -> None:
        channel = self._situation.settings.channels.get(bundle.channel)
        asks = [self._asks.asks[each] for each in bundle.asks if each in self._asks.asks]
        if channel is None or not asks or not self._may_send():
            return
        place = await self._place(asks[0])
        message, buttons = await self._message(bundle, channel, asks, place)
        entry = NoticeEntry(
            bundle.step,
            bundle.channel,
            bundle.person,
            "sending",
            self._clock(),
            message=bundle.message,
            urgency=bundle.urgency,
            buttons=(*self._earlier_buttons(bundle), *buttons),
            label=channel.config.name,
        )
        await self._add([(ask, entry) for ask in asks])
        if not self._may_send() or not any(ask.id in self._asks.asks for ask in asks):
            return
        try:
            receipt = await self._deliver(channel, message)
        except ChannelError as error:
            await self._give_up_or_wait(bundle, channel, asks, entry, error)
            return
        self._attempts.pop(bundle.message, None)
        sent = replace(entry, state="sent", at=self._clock(), receipt=receipt.data, detail=receipt.warning)
        await self._add([(ask, sent) for ask in asks])
        await self._health.note(bundle.channel, None, self._clock())

    def _earlier_buttons(self, bundle: Bundle) -> tuple[ButtonSecret, ...]:
        """Those of an attempt that may have arrived: they work as well."""
        known = self._logs.get(bundle.asks[0])
        last = known.last((bundle.step, bundle.channel, bundle.person)) if known is not None else None
        return last.buttons if last is not None and last.message == bundle.message else ()

    async def _deliver(self, channel: StoredChannel, message: ChannelMessage) -> ChannelReceipt:
        seconds = self._situation.config.deadline
        try:
            async with asyncio.timeout(seconds):
                return await self._make(channel).send(message)
        except TimeoutError as error:
            sentence = t("reach.error.timeout", seconds=int(seconds))
            raise ChannelError(sentence, permanent=False, maybe_sent=True) from error

    async def _give_up_or_wait(
        self, bundle: Bundle, channel: StoredChannel, asks: Sequence[Ask], entry: NoticeEntry, error: ChannelError
    ) -> None:
        log.warning("a notification was not sent: %s", error.sentence, extra={"channel": channel.id})
        await self._health.note(bundle.channel, error.sentence, self._clock())
        count = self._failed(bundle.message, error.retry_after)
        if not error.permanent and count < TRIES:
            return
        self._attempts.pop(bundle.message, None)
        failed = replace(entry, state="failed", at=self._clock(), detail=error.sentence, buttons=())
        await self._add([(ask, failed) for ask in asks])
        await self._publish(
            NotificationFailed(channel.config.name, channel.config.kind, bundle.person, asks[0].id, error.sentence)
        )

    def _failed(self, message: str, wished: float | None) -> int:
        attempts = self._attempts.setdefault(message, SendAttempts())
        attempts.count += 1
        pause = pause_after(attempts.count) if wished is None else max(wished, pause_after(1))
        attempts.not_before = self._clock() + timedelta(seconds=pause)
        return attempts.count

    async def _message(
        self, bundle: Bundle, channel: StoredChannel, asks: Sequence[Ask], place: words.AskPlace
    ) -> tuple[ChannelMessage, tuple[ButtonSecret, ...]]:
        config = channel.config
        wording = words.announcement(asks, place, with_content=config.with_content, in_full=config.kind == "email")
        shown: list[ChannelButton] = []
        secrets: list[ButtonSecret] = []
        role = self._situation.last_world().roles.get(bundle.person)
        # A shared channel has no buttons: nobody would know who answered.
        if config.kind == "ntfy" and len(asks) == 1 and bundle.person != ALL and role and may(role, "approver"):
            for name, label, answer in words.quick_buttons(asks[0], wording):
                secret = urlsafe_b64encode(self._entropy(_SECRET)).decode()
                body = msgspec.json.encode({"secret": f"{asks[0].id}.{secret}"}).decode()
                shown.append(ChannelButton(label, f"{self._links}{BUTTONS}", body))
                secrets.append(ButtonSecret(hash_of(secret), name, answer, bundle.person, asks[0].digest))
        message = ChannelMessage(
            id=bundle.message,
            title=wording.title,
            text=wording.text,
            link=words.link_to(self._links, asks),
            urgency=bundle.urgency,
            buttons=tuple(shown),
            thread=asks[0].session or asks[0].id,
        )
        return message, tuple(secrets)

    async def _close(self, ask_id: str) -> None:
        """The ask was settled: takes back what can be taken back."""
        log_of = self._logs.get(ask_id) or AskLog(ask_id, self._clock())
        ended: list[NoticeEntry] = []
        for key in dict.fromkeys(each.key for each in log_of.entries):
            last = log_of.last(key)
            is_shown = last is not None and last.state == "sent" and not self._is_needed_still(ask_id, last)
            if last is not None and last.state == "sending":
                ended.append(replace(last, state="skipped", at=self._clock(), reason="settled", buttons=()))
            elif last is not None and is_shown and await self._retract(ask_id, last):
                ended.append(replace(last, state="retracted", sent_at=last.at, at=self._clock(), buttons=()))

        def close(before: AskLog) -> AskLog:
            for entry in ended:
                before = before.adding(entry)
            return replace(before, is_closed=True)

        await self._log.change({ask_id: (log_of, close)})
        self._log.forget(ask_id)
        self._logs.pop(ask_id, None)

    def _is_needed_still(self, ask_id: str, entry: NoticeEntry) -> bool:
        """Whether the same message is about another ask that is open."""
        others = (each for name, each in self._logs.items() if name != ask_id and name in self._asks.asks)
        return any(each.message == entry.message for other in others for each in other.entries)

    async def _retract(self, ask_id: str, entry: NoticeEntry) -> bool:
        channel = self._situation.settings.channels.get(entry.channel)
        if channel is None or not entry.receipt:
            return False
        try:
            ask = await self._desk.ask(ask_id)
        except NotFound:
            return False
        wording = words.settled_words([ask], await self._place(ask), with_content=channel.config.with_content)
        message = ChannelMessage(
            id=entry.message,
            title=wording.title,
            text=wording.text,
            link=words.link_to(self._links, [ask]),
            urgency="low",
            thread=ask.session or ask.id,
        )
        try:
            async with asyncio.timeout(self._situation.config.deadline):
                return await self._make(channel).retract(ChannelReceipt(entry.receipt), message)
        except (ChannelError, TimeoutError) as error:
            log.warning("a notification was not taken back: %s", error, extra={"channel": channel.id})
            return False

    async def _note(self, notes: Sequence[tuple[str, NoticeEntry]]) -> None:
        labels = {each.id: each.config.name for each in self._situation.settings.channels.values()}
        pairs = [
            (self._asks.asks[ask], replace(entry, label=labels.get(entry.channel, "")))
            for ask, entry in notes
            if ask in self._asks.asks
        ]
        if pairs:
            await self._add(pairs)

    async def _add(self, entries: Sequence[tuple[Ask, NoticeEntry]]) -> None:
        grouped: dict[str, tuple[Ask, list[NoticeEntry]]] = {}
        for ask, entry in entries:
            grouped.setdefault(ask.id, (ask, []))[1].append(entry)
        changes = {name: (log_for(ask), _adding(added)) for name, (ask, added) in grouped.items()}
        self._logs |= await self._log.change(changes)

    async def _place(self, ask: Ask) -> words.AskPlace:
        project = ""
        if ask.project is not None:
            project = next((each.name for each in await self._desk.projects() if each.id == ask.project), "")
        if ask.session is None:
            return words.AskPlace(project)
        try:
            session = (await self._desk.session(ask.session)).session
        except NotFound:
            return words.AskPlace(project)
        return words.AskPlace(project, await self._names.titled(session.title, session.machine), session.directory)

    def _connect(self, channel: StoredChannel) -> Channel:
        return connect(
            channel.config, channel.secrets, private=self._situation.config.private_addresses, clock=self._clock
        )


def log_for(ask: Ask) -> AskLog:
    """The log of an ask that nothing was sent about."""
    return AskLog(ask.id, ask.opened_at, ask.session, ask.project, ask.kind)


def _adding(entries: Sequence[NoticeEntry]) -> Callable[[AskLog], AskLog]:
    def add(before: AskLog) -> AskLog:
        for entry in entries:
            before = before.adding(entry)
        return before

    return add
