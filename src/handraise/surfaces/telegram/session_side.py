"""The line between the bot and what it does with sessions: everything that isn't a card."""

from asyncio import Future
from collections.abc import Awaitable, Callable
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

from handraise.desk.interface import Desk
from handraise.model.items import Item, Preview
from handraise.surfaces.telegram.incoming import IncomingMessage, IncomingPress
from handraise.surfaces.telegram.outgoing import ChatPlace, Outgoing, SendResult
from handraise.surfaces.telegram.pacing import Priority
from handraise.surfaces.telegram.people import Member, People
from handraise.surfaces.telegram.reach import Reach


class SessionLink(Struct, frozen=True):
    """A session that is shown in a place, as the ledger keeps it."""

    session: str
    place: ChatPlace
    progress: int | None = None
    """The message that shows how far it is."""
    cursor: int = 0
    """How far its items were shown here: an item up to here is never shown again."""
    mute: bool = False
    started_by: int = 0
    """The number of the member who started it, or 0."""
    detail: str = ""
    """Whatever else must survive a restart, as JSON."""


class SessionLedger(Protocol):
    """What the ledger keeps for sessions. Durable when a call returns."""

    async def links(self) -> list[SessionLink]: ...

    async def save_link(self, link: SessionLink) -> None:
        """There is one link per session and place."""
        ...

    async def drop_link(self, session: str, place: ChatPlace) -> None: ...


class MessageQueue(Protocol):
    """The outbox."""

    def put(
        self, outgoing: Outgoing, *, priority: Priority, key: str = "", follows: bool = False
    ) -> Future[SendResult]:
        """Queues it. With `follows`, a new message for a group that got a new number goes there."""
        ...

    def withdraw(self, future: Future[SendResult]) -> bool:
        """Takes back what hasn't gone yet."""
        ...


class SessionTools(Struct, frozen=True):
    """What the session side may use."""

    reading: Desk
    """For reading only: it belongs to no member."""
    desk_of: Callable[[Member], Desk]
    people: People
    reach: Reach
    outbox: MessageQueue
    ledger: SessionLedger
    bind: Callable[[ChatPlace, str, str], Awaitable[str]]
    """`(place, act, argument)` -> the `data` of a button, durable. Its press reaches `SessionSide.press`."""
    show_again: Callable[[ChatPlace], Awaitable[int]]
    """Sends the open cards of a place once more, at its end; returns how many there are. For `/inbox`."""
    download: Callable[[str], Awaitable[bytes]]
    """A file by Telegram's id; raises DeskError with a sentence."""
    clock: Callable[[], datetime]
    entropy: Callable[[int], bytes]
    links: str
    """The address of the page."""
    session_topics: bool = False
    machine: str = ""
    """The hub's own."""


class SessionSide(Protocol):
    """Entered with `async with` before the first update.

    The bot has checked that the member is allowed, and that the place is one of ours; roles are checked here. Calls for
    one chat come one after another, and each update comes once: what was cut off by a crash comes to `interrupted`.
    """

    commands: tuple[tuple[str, str], ...]
    """Each command with its description. The bot registers them with Telegram."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def place_of(self, session: str) -> ChatPlace | None:
        """The session's own topic, if it has one: its cards go there."""
        ...

    async def message(self, member: Member, message: IncomingMessage) -> None:
        """A message that is neither a command nor a reply to a card."""
        ...

    async def command(self, member: Member, message: IncomingMessage, command: str, rest: str) -> None:
        """`/new fix it` is `new` and `fix it`. Commands that nobody knows come here too."""
        ...

    async def interrupted(self, member: Member, message: IncomingMessage) -> None:
        """The hub stopped while it handled this message: whether it took effect is unknown."""
        ...

    async def press(self, member: Member, press: IncomingPress) -> str:
        """Returns the sentence that the person sees at once. Must be quick."""
        ...

    async def stopped(self, member: Member, place: ChatPlace, draft: int) -> None:
        """Someone pressed Stop on a draft."""
        ...

    async def item(self, item: Item) -> None:
        """Each item of the feed, in order. After a restart some may come again: compare with the link's cursor."""
        ...

    def shown(self) -> frozenset[str]:
        """The sessions whose partial text is shown somewhere."""
        ...

    async def preview(self, preview: Preview) -> None:
        """Partial text."""
        ...

    async def missed(self) -> None:
        """Some items of the feed are gone: start again from the sessions' current state."""
        ...


SessionSideFactory = Callable[[SessionTools], SessionSide]
