"""Keeps one ask's card right in one place: sends it, changes it, closes it."""

import asyncio
import logging
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.model.asks import Ask, Expired
from handraise.surfaces.telegram import deliveries
from handraise.surfaces.telegram.buttons import BoundButton
from handraise.surfaces.telegram.cards import CardButton
from handraise.surfaces.telegram.conversation import CardState
from handraise.surfaces.telegram.deliveries import (
    CardCopy,
    CloseDelivery,
    Delivery,
    EditCopy,
    SendCopy,
    SendPart,
)
from handraise.surfaces.telegram.keyed_locks import KeyedLocks
from handraise.surfaces.telegram.layout import CardFile
from handraise.surfaces.telegram.ledger import Ledger
from handraise.surfaces.telegram.movements import Movements
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    Button,
    ChatPlace,
    Doubtful,
    EditText,
    Gone,
    Keyboard,
    Migrated,
    Outgoing,
    SendFile,
    SendResult,
    SendText,
    Sent,
    Undeliverable,
)
from handraise.surfaces.telegram.people import People
from handraise.surfaces.telegram.reach import Reach
from handraise.surfaces.telegram.refusals import forbids_files, is_topic_gone, without_quotes
from handraise.surfaces.telegram.rendered import (
    AskOrigin,
    RenderedCard,
    card_link,
    open_card,
    retired_card,
    settled_card,
)
from handraise.surfaces.telegram.session_side import MessageQueue

_AFTER_A_FAULT = 5.0
_ID_BYTES = 12

CardSending = SendPart | SendCopy | EditCopy
SendTrouble = Blocked | Migrated | Doubtful | Undeliverable

log = logging.getLogger("handraise.telegram")


class CardServices(Struct, frozen=True):
    """What every card uses. `moved` is told that a place's messages go elsewhere."""

    ledger: Ledger
    outbox: MessageQueue
    people: People
    reach: Reach
    clock: Callable[[], datetime]
    entropy: Callable[[int], bytes]
    moved: Callable[[ChatPlace, ChatPlace], Awaitable[None]]
    turns: KeyedLocks
    """By place: the messages of one card come one after another."""
    movements: Movements
    links: str
    """The address of the page."""
    second: float = 1.0
    """How long a second of waiting takes; shorter in tests."""
    report: Callable[[Ask, ChatPlace, str | None], None] | None = None
    """Is told that an open ask's card arrived, or why it can't."""


class _LastRendered(Struct, frozen=True):
    """An open card as it was rendered last, and from what: a large one takes long."""

    ask: Ask
    origin: AskOrigin
    state: str
    may_answer: bool
    lacks_files: bool
    card: RenderedCard

    def fits(self, ask: Ask, origin: AskOrigin, delivery: Delivery, may_answer: bool) -> bool:
        rendered = (self.origin, self.state, self.may_answer, self.lacks_files)
        return self.ask is ask and rendered == (origin, delivery.state, may_answer, delivery.lacks_files)


class CardSender:
    """One card. `ask` is None if it no longer exists. Call `wake` after changing anything; `run` ends when closed."""

    def __init__(self, services: CardServices, delivery: Delivery, ask: Ask | None, origin: AskOrigin) -> None:
        self.delivery = delivery
        self.ask = ask
        self.origin = origin
        self.is_wanted = ask is not None and not delivery.is_retired
        """Whether its place should show it, by the settings."""
        self.lock = asyncio.Lock()
        """Held while one person's act is carried out."""
        self._services = services
        self._changed = asyncio.Event()
        self._rendered: _LastRendered | None = None
        self._failures = 0
        self._has_failed = False
        self._tries_files = False
        """Whether a place that refused the card's files gets them once more."""
        self._done = False
        self._stopping = False

    @property
    def directory(self) -> str | None:
        return self.origin.directory

    @property
    def state(self) -> CardState:
        return msgspec.json.decode(self.delivery.state, type=CardState) if self.delivery.state else CardState()

    @property
    def is_open(self) -> bool:
        return self.ask is not None and self.ask.settlement is None

    def update(self, ask: Ask) -> None:
        """This is what the ask is now. What was read before it was settled comes too late, and changes nothing."""
        if self.ask is None or _progress(ask) > _progress(self.ask):
            self.ask = ask
        self.wake()

    async def start_over(self, ask: Ask) -> None:
        """Another request has its id: it is shown from its first step."""
        self.ask = ask
        await self.advance(CardState(revision=self.state.revision + 1))

    def wake(self) -> None:
        self._changed.set()

    async def advance(self, state: CardState, heard: int = 0) -> None:
        """A person got further in answering; `heard`: by this reply.

        If that can't be saved, the card is still changed, and saved with it.
        """
        advanced = deliveries.advance(self.delivery, self.state, state)
        self.delivery = replace(advanced, heard=max(advanced.heard, heard))
        try:
            await self._save()
        finally:
            self.wake()

    def still_since(self, message: int) -> datetime:
        """Since when a message shows what it shows, where it is."""
        now = self._services.clock()
        moved = self._services.movements.since(self.delivery.place.chat, message, now)
        shown = deliveries.shown_since(self.delivery, message) or now
        return shown if moved is None else max(shown, moved)

    async def find(self, message: int, button: BoundButton) -> None:
        """A person pressed this button on a message, of which we may not know what it shows."""
        card = self._render()
        is_newest = card.look.is_open and self.ask is not None and self.ask.digest == button.digest
        shown = card.look.shown if is_newest and button.revision == card.revision else ""
        found = deliveries.copy_used(self.delivery, message, shown, self._services.clock())
        if found != self.delivery:
            self.delivery = found
            await self._save()
            self.wake()

    async def show_again(self) -> None:
        self.delivery = deliveries.show_again(self.delivery)
        self._tries_files = self.delivery.lacks_files
        await self._save()
        self.wake()

    def stop(self) -> None:
        """What waits is taken back; what is on its way is awaited, so that it isn't sent again after a restart."""
        self._stopping = True
        self.wake()

    async def run(self) -> None:
        """Until everything shows how the ask was settled."""
        while not self._done and not self._stopping:
            try:
                await self._step()
            except Exception:  # outer boundary: one card's problem must not affect others
                log.exception("a card could not be shown; trying again", extra={"ask": self.delivery.ask})
                await asyncio.sleep(_AFTER_A_FAULT)

    async def _step(self) -> None:
        self._changed.clear()
        card = self._render()
        action = deliveries.next_action(self.delivery, card.look)
        match action:
            case None if self.delivery.is_closed:
                self._done = True
            case None:
                await self._changed.wait()
            case CloseDelivery():
                self.delivery = replace(self.delivery, is_closed=True, is_retired=not self.is_wanted)
                await self._save()
            case EditCopy():
                await self._overcome(await self._perform(action, card))
            case SendPart() | SendCopy():
                await self._send_whole()
            case _:
                assert_never(action)

    def _render(self) -> RenderedCard:
        if self.ask is None or not self.is_wanted:
            return retired_card()
        if self.ask.settlement is not None:
            return settled_card(self.ask, self.origin)
        may_answer = self._services.people.may_answer_at(self.delivery.place)
        if self._rendered is None or not self._rendered.fits(self.ask, self.origin, self.delivery, may_answer):
            lacks_files = self.delivery.lacks_files
            card = self._open_card(self.ask, may_answer, lacks_files)
            self._rendered = _LastRendered(self.ask, self.origin, self.delivery.state, may_answer, lacks_files, card)
        card = self._rendered.card
        if self.delivery.lacks_files and self._tries_files:
            whole = self._open_card(self.ask, may_answer, False)
            return replace(card, before=whole.before, look=replace(card.look, parts=len(whole.before)))
        return card

    def _open_card(self, ask: Ask, with_buttons: bool, lacks_files: bool) -> RenderedCard:
        link = card_link(self._services.links, ask.id)
        return open_card(ask, self.origin, self.state, link, with_buttons=with_buttons, lacks_files=lacks_files)

    async def _send_whole(self) -> None:
        """All messages of the card, without those of another card in between."""
        trouble: SendTrouble | None = None
        async with self._services.turns.hold(self.delivery.place):
            while trouble is None and not self._stopping:
                card = self._render()
                action = deliveries.next_action(self.delivery, card.look)
                if not isinstance(action, SendPart | SendCopy):
                    break
                trouble = await self._perform(action, card)
        if trouble is None:
            self._report(None)
        await self._overcome(trouble)

    def _report(self, trouble: str | None) -> None:
        """A failure once, until the card has arrived after all."""
        if self.ask is None or not self.is_open or self._services.report is None:
            return
        if trouble is None or not self._has_failed:
            self._services.report(self.ask, self.delivery.place, trouble)
        self._has_failed = trouble is not None

    async def _perform(self, action: CardSending, card: RenderedCard) -> SendTrouble | None:
        """Does it and records it, or returns what went wrong."""
        if self.delivery.is_closed:
            self.delivery = replace(self.delivery, is_closed=False)
            await self._save()
        self._note_movement(action)
        result = await self._send(await self._outgoing(action, card), action, card)
        match result:
            case Sent(message=message):
                self._note_movement(action)
                self._services.reach.regain(self.delivery.place.chat)
                self.delivery = self._arrived(action, message, card)
            case Gone() if isinstance(action, EditCopy):
                self.delivery = deliveries.copy_gone(self.delivery, action.copy.message)
            case Gone() | None:
                return None
            case Undeliverable(reason=reason) if isinstance(action, SendPart) and forbids_files(reason):
                log.warning("a chat doesn't allow files: a card is shortened", extra={"ask": self.delivery.ask})
                self._tries_files = False
                self.delivery = replace(self.delivery, lacks_files=True)
            case _:
                return result
        self._failures = 0
        await self._save()
        return None

    def _note_movement(self, action: CardSending) -> None:
        """An edit changes the height of a message at some time between its start and its end."""
        if isinstance(action, EditCopy):
            services = self._services
            services.movements.note(self.delivery.place.chat, action.copy.message, services.clock())

    async def _outgoing(self, action: CardSending, card: RenderedCard) -> Outgoing:
        place, silent = self.delivery.place, self._services.people.is_silent(self._services.clock())
        match action:
            case SendPart(index=index):
                part = card.before[index]
                if isinstance(part, CardFile):
                    return SendFile(place, part.name, part.data, silent=silent)
                return SendText(place, part, silent=silent)
            case SendCopy():
                return SendText(place, card.content, await self._keyboard(card), silent=silent)
            case EditCopy(copy=copy):
                return EditText(place, copy.message, card.content, await self._keyboard(card))
            case _:
                assert_never(action)

    async def _send(self, outgoing: Outgoing, action: CardSending, card: RenderedCard) -> SendResult | None:
        """None if it was taken back before it went out, because something else is right now."""
        key = f"card {self.delivery.ask} {outgoing.message}" if isinstance(outgoing, EditText) else ""
        outbox = self._services.outbox
        sending = outbox.put(outgoing, priority="card", key=key)
        while not sending.done():
            changed = asyncio.ensure_future(self._changed.wait())
            try:
                await asyncio.wait((sending, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            self._changed.clear()
            if not sending.done() and not self._is_right(action, card) and outbox.withdraw(sending):
                self.wake()
                return None
        return await sending

    def _is_right(self, action: CardSending, card: RenderedCard) -> bool:
        """Whether what waits to be sent is still what should be sent."""
        now = self._render()
        return not self._stopping and (deliveries.next_action(self.delivery, now.look), now.look) == (action, card.look)

    async def _keyboard(self, card: RenderedCard) -> Keyboard:
        """The buttons with their ids, which are saved before anything is sent. The same button keeps its id."""
        flat = [each for row in card.keyboard for each in row if not each.url]
        bound = [] if self.ask is None else [self._bind(self.ask, card.revision, each) for each in flat]
        known = await self._services.ledger.same_buttons(bound) if bound else []
        names = [name or new_id(self._services.entropy) for name in known]
        fresh = [(name, each) for name, each, old in zip(names, bound, known, strict=True) if old is None]
        await self._services.ledger.save_delivery(self.delivery, fresh)
        ids = iter(names)
        return tuple(
            tuple(Button(each.label, url=each.url) if each.url else Button(each.label, next(ids)) for each in row)
            for row in card.keyboard
        )

    def _bind(self, ask: Ask, revision: int, button: CardButton) -> BoundButton:
        place = self.delivery.place
        reader = self._services.people.reader(place)
        return BoundButton(
            ask.id,
            ask.digest,
            place,
            None if reader is None else reader.number,
            revision,
            button.act,
            button.argument,
        )

    async def _overcome(self, trouble: SendTrouble | None) -> None:
        """Waits until it is worth another try, or makes way for the card in another place."""
        match trouble:
            case None:
                pass
            case Blocked(reason=reason) if self.delivery.place.topic is not None and is_topic_gone(reason):
                await self._move(ChatPlace(self.delivery.place.chat))
            case Blocked(reason=reason):
                self._report(reason)
                self._services.reach.lose(self.delivery.place.chat, reason)
                await self._until_back()
            case Migrated(chat=chat):
                await self._move(ChatPlace(chat))
            case Doubtful() | Undeliverable():
                if isinstance(trouble, Undeliverable):
                    self._report(trouble.reason)
                await self._pause(trouble)
            case _:
                assert_never(trouble)

    def _arrived(self, action: CardSending, message: int, card: RenderedCard) -> Delivery:
        now, shown = self._services.clock(), card.look.shown
        match action:
            case SendPart():
                arrived = deliveries.part_arrived(self.delivery, message)
                return replace(arrived, lacks_files=arrived.lacks_files and len(arrived.parts) < card.look.parts)
            case EditCopy(copy=CardCopy(message=edited)):
                return deliveries.copy_edited(self.delivery, edited, shown, now)
            case _:
                return deliveries.copy_arrived(self.delivery, message, shown, now)

    async def _move(self, to: ChatPlace) -> None:
        """Its messages stay where they are, out of reach. The board sends an open ask to the new place."""
        self._done = True
        await self._services.moved(self.delivery.place, to)

    async def _until_back(self) -> None:
        """The chat can be reached again, or the hub stops."""
        back = asyncio.ensure_future(self._services.reach.until_back(self.delivery.place.chat))
        while not back.done() and not self._stopping:
            self._changed.clear()
            changed = asyncio.ensure_future(self._changed.wait())
            try:
                await asyncio.wait((back, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
        back.cancel()

    async def _pause(self, result: Doubtful | Undeliverable) -> None:
        self._failures += 1
        reason = without_quotes(result.reason) if isinstance(result, Undeliverable) else "outcome unknown"
        log.warning("a card's message failed: %s", reason, extra={"ask": self.delivery.ask})
        with suppress(TimeoutError):
            async with asyncio.timeout(deliveries.pause_after(self._failures) * self._services.second):
                await self._changed.wait()

    async def _save(self) -> None:
        await self._services.ledger.save_delivery(self.delivery)


def _progress(ask: Ask) -> int:
    """How far an ask is: open, expired, over. It never goes back."""
    match ask.settlement:
        case None:
            return 0
        case Expired(late=None):
            return 1
        case _:
            return 2


def new_id(entropy: Callable[[int], bytes]) -> str:
    """A button's id: 16 characters that nobody can guess."""
    return urlsafe_b64encode(entropy(_ID_BYTES)).decode()
