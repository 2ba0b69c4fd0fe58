"""Every card in every place: which asks should be shown where, and one sender for each."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from types import TracebackType
from typing import Self

from handraise.desk.gate import NotificationGate
from handraise.desk.interface import Desk, NotFound
from handraise.desk.machine_names import MachineNames
from handraise.model.asks import Ask
from handraise.surfaces.telegram.card_sender import CardSender, CardServices
from handraise.surfaces.telegram.deliveries import Delivery
from handraise.surfaces.telegram.keyed_locks import KeyedLocks
from handraise.surfaces.telegram.ledger import Ledger
from handraise.surfaces.telegram.movements import Movements
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import People
from handraise.surfaces.telegram.reach import Reach
from handraise.surfaces.telegram.refusals import without_quotes
from handraise.surfaces.telegram.rendered import AskOrigin
from handraise.surfaces.telegram.session_side import MessageQueue
from handraise.texts import t

_CHANNEL = "telegram"
_LONGEST_SLEEP = 30.0
"""The clock may be set, or the machine may sleep: what is due is checked again after this long."""
_STOPPING = 5.0
"""Seconds for what is on its way at the end."""

log = logging.getLogger("handraise.telegram")


class CardBoard:
    """Entered with `async with`. `reconcile` makes everything right, whatever happened before."""

    def __init__(
        self,
        desk: Desk,
        ledger: Ledger,
        outbox: MessageQueue,
        people: People,
        reach: Reach,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        links: str,
        second: float = 1.0,
        gate: NotificationGate | None = None,
    ) -> None:
        self._desk = desk
        self._names = MachineNames(desk)
        self._ledger = ledger
        self._second = second
        self._people = people
        self._clock = clock
        self._gate = gate
        self._timer: asyncio.TimerHandle | None = None
        self._spreading: set[asyncio.Task[None]] = set()
        self.movements = Movements()
        self._services = CardServices(
            ledger,
            outbox,
            people,
            reach,
            clock,
            entropy,
            self.move,
            KeyedLocks(),
            self.movements,
            links,
            second,
            self._report if gate is not None else None,
        )
        self._senders: dict[tuple[str, ChatPlace], CardSender] = {}
        self._tasks: dict[tuple[str, ChatPlace], asyncio.Task[None]] = {}
        self._beginnings = KeyedLocks()
        """By ask. What is read for a new sender is the newest: whoever comes later finds that sender and updates it."""
        self._open: dict[str, Ask] = {}
        self._is_closed = False
        self._stop_listening: Callable[[], None] = lambda: None
        self.place_of: Callable[[str], ChatPlace | None] = lambda _: None
        """A session's own topic; set by whoever knows."""

    async def __aenter__(self) -> Self:
        if self._gate is not None:
            self._stop_listening = self._gate.listen(self._look_again)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closed = True
        self._stop_listening()
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._spreading, return_exceptions=True)
        tasks = list(self._tasks.values())
        for sender in self._senders.values():
            sender.stop()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOPPING * self._second)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def waiting(self) -> int:
        """How many asks are open."""
        return len(self._open)

    @property
    def unfinished(self) -> int:
        """How many cards are not closed yet."""
        return len(self._senders)

    async def restore(self, unfinished: Iterable[Delivery]) -> None:
        """Takes up the cards of before a restart. Those of settled asks are closed."""
        for delivery in unfinished:
            ask = await self._ask(delivery.ask)
            if ask is None and not delivery.copies:
                await self._ledger.drop_delivery(delivery.ask, delivery.place)
            else:
                places = await self._places(ask) if ask is not None else ()
                # Before its first message: the settings may have changed.
                (await self._begin(delivery)).is_wanted = delivery.place in places

    async def reconcile(self, asks: Iterable[Ask]) -> None:
        """These asks are open, and no others."""
        self._open = {ask.id: ask for ask in asks}
        for (ask, _), sender in list(self._senders.items()):
            if ask not in self._open and sender.is_open:
                await self.settle(ask)
        await self.spread()

    async def spread(self) -> None:
        """Shows every open ask in all of its places, after the places changed."""
        for ask in list(self._open.values()):
            await self._show(ask)

    async def open(self, ask: Ask) -> None:
        """Shows an open ask wherever it belongs, unless it is shown there."""
        self._open[ask.id] = ask
        await self._show(ask)

    async def settle(self, ask: str) -> None:
        """An ask was settled, or answered late: its cards say so, also those that were closed before."""
        settled = await self._ask(ask)
        if settled is not None:
            await self.refresh(settled)

    async def refresh(self, ask: Ask) -> None:
        """This is what an ask is now, or was a moment ago."""
        if ask.settlement is not None:
            self._open.pop(ask.id, None)
        for delivery in await self._ledger.deliveries_of(ask.id):
            await self._begin(delivery)
        for (name, _), sender in self._senders.items():
            if name == ask.id:
                sender.update(ask)

    async def sender(self, ask: Ask, place: ChatPlace) -> CardSender | None:
        """The card of an ask in a place; also one that was closed long ago, which is then checked again.

        None if there never was one, or the settings no longer send an open ask there.
        """
        found = self._senders.get((ask.id, place))
        if found is None:
            delivery = await self._ledger.delivery(ask.id, place)
            if delivery is None:
                return None
            found = await self._begin(delivery)
        is_shown = ask.settlement is not None or await self._may_show(ask, place)
        found.is_wanted = found.is_wanted and is_shown
        found.update(ask)
        return found if is_shown else None

    async def show_again(self, place: ChatPlace) -> int:
        """Sends the open cards of a place once more, oldest first; returns how many."""
        found = [
            sender
            for (ask, where), sender in self._senders.items()
            if where == place and sender.is_wanted and ask in self._open
        ]
        for sender in found:
            await sender.show_again()
        return len(found)

    async def move(self, place: ChatPlace, to: ChatPlace) -> None:
        """Whatever is open there is sent to the new place; the old messages can't be changed any more."""
        if self._people.now_at(place) != to:
            log.warning("a chat or topic was replaced by another", extra={"chat": place.chat, "now": to.chat})
            self._people.moved[place] = to
            self._people.moved.pop(to, None)
            await self._ledger.save_move(place, to)
        for key in [key for key in self._senders if key[1] == place]:
            self._senders.pop(key)
            task = self._tasks.pop(key)
            if task is not asyncio.current_task():
                task.cancel()
            await self._ledger.drop_delivery(key[0], place)
        await self.spread()

    async def _show(self, ask: Ask) -> None:
        places = await self._places(ask)
        for place in places:
            if (ask.id, place) not in self._senders and self._is_due(ask, place):
                await self._begin(Delivery(ask.id, place), only_open=True)
        for (name, place), sender in list(self._senders.items()):
            if name == ask.id and sender.is_wanted != (place in places):
                sender.is_wanted = place in places
                sender.wake()

    def _is_due(self, ask: Ask, place: ChatPlace) -> bool:
        """Whether it may be shown there now. In a session's own topic it always may: people talk to Claude there."""
        is_own = ask.session is not None and self.place_of(ask.session) is not None
        if self._gate is None or is_own:
            return True
        reader = self._people.reader(place)
        opens, now = self._gate.opens_at(ask, _CHANNEL, reader.name if reader is not None else ""), self._clock()
        if opens is None:
            return False
        if opens > now:
            seconds = min((opens - now).total_seconds(), _LONGEST_SLEEP) * self._second
            loop = asyncio.get_running_loop()
            if self._timer is None or self._timer.cancelled() or self._timer.when() > loop.time() + seconds:
                self._set_timer(loop, seconds)
            return False
        return True

    def _set_timer(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(seconds, self._look_again)

    def _look_again(self) -> None:
        """Something may be shown that wasn't until now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._open and not self._is_closed:
            task = asyncio.create_task(self._spread_safely())
            self._spreading.add(task)
            task.add_done_callback(self._spreading.discard)

    async def _spread_safely(self) -> None:
        try:
            await self.spread()
        except Exception:  # outer boundary: it is tried again with the next change
            log.exception("the open cards could not be looked at")

    def _report(self, ask: Ask, place: ChatPlace, trouble: str | None) -> None:
        reader = self._people.reader(place)
        if self._gate is not None:
            why = None if trouble is None else t("telegram.error.chat_refused", reason=without_quotes(trouble))
            self._gate.report_sent(ask, _CHANNEL, reader.name if reader is not None else "", trouble=why)

    async def _begin(self, card: Delivery, *, only_open: bool = False) -> CardSender:
        """The card's sender, or a new one. With `only_open`, an ask that was settled meanwhile isn't sent."""
        key = (card.ask, card.place)
        async with self._beginnings.hold(card.ask):
            if key in self._senders:
                return self._senders[key]
            delivery = await self._ledger.delivery(*key) or card
            ask = await self._ask(card.ask)
            sender = CardSender(self._services, delivery, ask, await self._origin(ask))
            if not only_open or card.ask in self._open:
                self._senders[key] = sender
                self._tasks[key] = asyncio.create_task(self._keep(key, sender))
            return sender

    async def _keep(self, key: tuple[str, ChatPlace], sender: CardSender) -> None:
        await sender.run()
        if self._senders.get(key) is sender:
            del self._senders[key]
            del self._tasks[key]

    async def _ask(self, ask: str) -> Ask | None:
        try:
            return await self._desk.ask(ask)
        except NotFound:
            return None

    async def _origin(self, ask: Ask | None) -> AskOrigin:
        if ask is None or ask.session is None:
            return AskOrigin()
        try:
            session = (await self._desk.session(ask.session)).session
        except NotFound:
            return AskOrigin()
        return AskOrigin(session.directory, await self._names.titled(session.title, session.machine))

    async def _places(self, ask: Ask) -> tuple[ChatPlace, ...]:
        """The session's own topic, if it has one; else where its project's cards go."""
        own = self.place_of(ask.session) if ask.session is not None else None
        if own is not None:
            return (self._people.now_at(own),)
        return self._people.places(await self._project(ask))

    async def _may_show(self, ask: Ask, place: ChatPlace) -> bool:
        """Also where it was sent before its session had a topic."""
        return place in await self._places(ask) or place in self._people.places(await self._project(ask))

    async def _project(self, ask: Ask) -> str | None:
        """The name of the project that an ask belongs to."""
        if ask.project is None:
            return None
        return next((each.name for each in await self._desk.projects() if each.id == ask.project), None)
