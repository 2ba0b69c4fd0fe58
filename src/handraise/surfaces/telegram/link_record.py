"""The link between a session and a place, changed and saved together."""

from datetime import datetime

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.session_side import SessionLedger, SessionLink

_MOST_MESSAGES = 100
_MOST_BUTTONS = 20


class LinkDetail(Struct, frozen=True, omit_defaults=True):
    """What else a link remembers."""

    messages: tuple[int, ...] = ()
    """The session's last messages in this place, for replies."""
    used_at: datetime | None = None
    """When a person last wrote to the session from here."""
    private: bool = False
    parts: int = 0
    """How many messages of the next answer have arrived."""
    album: str = ""
    """The album that people are sending to it."""
    split_at: datetime | None = None
    """When people sent it a text as long as a message can be: the next message may be the rest."""
    topic: str = ""
    """The name of the session's own topic; empty if it has none."""
    is_closed: bool = False
    """Whether that topic was closed."""
    wants_topic: bool = False
    reply_to: int | None = None
    """The message that started it."""
    allowing: dict[str, int] = {}
    """The messages with a button that allows a denied call, by its action."""


def detail_of(link: SessionLink) -> LinkDetail:
    """The link's details as our type."""
    return msgspec.json.decode(link.detail, type=LinkDetail) if link.detail else LinkDetail()


def with_detail(link: SessionLink, **fields: object) -> SessionLink:
    """The link with some details changed."""
    detail = replace(detail_of(link), **fields)
    return replace(link, detail=msgspec.json.encode(detail).decode())


class LinkRecord:
    """Each change is in memory at once, and durable when its call returns."""

    def __init__(self, ledger: SessionLedger, link: SessionLink) -> None:
        self._ledger = ledger
        self.link = link

    @property
    def session(self) -> str:
        return self.link.session

    @property
    def place(self) -> ChatPlace:
        return self.link.place

    @property
    def detail(self) -> LinkDetail:
        return detail_of(self.link)

    async def save(self, **fields: object) -> None:
        """Changes the link itself."""
        self.link = replace(self.link, **fields)
        await self._ledger.save_link(self.link)

    async def remember(self, **fields: object) -> None:
        """Changes its details."""
        self.link = with_detail(self.link, **fields)
        await self._ledger.save_link(self.link)

    async def add_message(self, number: int) -> None:
        """A message of the session, so that replies to it find the session."""
        if number and number not in self.detail.messages:
            await self.remember(messages=(*self.detail.messages, number)[-_MOST_MESSAGES:])

    async def advance(self, number: int, allows: str = "") -> None:
        """One more message of the next answer has arrived; a button below it may allow a denied action."""
        detail = self.detail
        messages = (*detail.messages, *([number] if number else []))[-_MOST_MESSAGES:]
        allowing = {**detail.allowing, **({allows: number} if allows and number else {})}
        newest = dict(list(allowing.items())[-_MOST_BUTTONS:])
        await self.remember(parts=detail.parts + 1, messages=messages, allowing=newest)

    async def finish(self, cursor: int) -> None:
        """An answer has arrived as a whole: nothing up to this item is shown again."""
        self.link = with_detail(replace(self.link, cursor=cursor), parts=0, reply_to=None)
        await self._ledger.save_link(self.link)

    async def move(self, place: ChatPlace) -> None:
        """The session is shown elsewhere from here on; its messages stay where they are."""
        before = self.place
        forgotten = {"messages": (), "allowing": {}, **({"topic": ""} if place.topic is None else {})}
        self.link = with_detail(replace(self.link, place=place, progress=None), **forgotten)
        await self._ledger.save_link(self.link)
        await self._ledger.drop_link(self.session, before)
