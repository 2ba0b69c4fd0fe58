"""Every session that is shown on Telegram, by place: found by what a person wrote, and kept up to date by the feed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

from handraise.desk.interface import NotFound
from handraise.model.items import Item, Preview
from handraise.surfaces.telegram.formatted import units
from handraise.surfaces.telegram.incoming import IncomingMessage
from handraise.surfaces.telegram.link_record import LinkDetail, with_detail
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.session_side import SessionLink, SessionTools
from handraise.surfaces.telegram.session_view import SessionView

_CONTEXT = 300
"""How many items before its cursor say where a session stands."""
_PAGE = 500
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_LONG = 4000
_SPLIT = timedelta(seconds=3)
_PLACE_ITSELF = ""
"""The session of a link that is about the place: whether all of it is muted."""

log = logging.getLogger("handraise.telegram")


class SessionViews:
    """Entered with `async with`: then it knows what the ledger knows."""

    def __init__(self, tools: SessionTools, beat: float) -> None:
        self._tools = tools
        self._beat = beat
        self._views: dict[str, dict[ChatPlace, SessionView]] = {}
        self._muted: set[ChatPlace] = set()
        self._tasks = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        for link in await self._tools.ledger.links():
            if link.session == _PLACE_ITSELF:
                self._mark(link.place, muted=link.mute)
            else:
                await self._restore(link)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._running:
            task.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    def __iter__(self) -> Iterator[SessionView]:
        return iter([view for places in self._views.values() for view in places.values()])

    def at(self, place: ChatPlace) -> list[SessionView]:
        """The sessions of a place, those used last first."""
        here = [places[place] for places in self._views.values() if place in places]
        return sorted(here, key=lambda view: view.record.detail.used_at or _LONG_AGO, reverse=True)

    def of(self, session: str) -> list[SessionView]:
        return list(self._views.get(session, {}).values())

    def find(self, session: str, place: ChatPlace) -> SessionView | None:
        return self._views.get(session, {}).get(place)

    def meant(self, message: IncomingMessage) -> SessionView | None:
        """The session that a message is for: by its reply, by its topic, by its album."""
        here = self.at(message.place)
        if self.is_reply(message):
            return next((view for view in here if message.reply_to in view.record.detail.messages), None)
        own = next((view for view in here if view.record.detail.topic), None)
        return own or next((view for view in here if _continues(message, view.record.detail)), None)

    @staticmethod
    def is_reply(message: IncomingMessage) -> bool:
        """In a topic, everything refers to the topic's first message."""
        return message.reply_to is not None and message.reply_to != message.place.topic

    def drafted(self, place: ChatPlace, draft: int) -> SessionView | None:
        """The session with this draft."""
        return next((view for view in self.at(place) if view.message.draft == draft), None)

    async def open(self, link: SessionLink) -> SessionView:
        """Shows a session in a place; one that is already shown there is found."""
        known = self.find(link.session, link.place)
        if known is not None:
            return known
        view = self._add(link)
        await view.record.save()
        await self._catch_up(view)
        return view

    def item(self, item: Item) -> None:
        for view in self.of(item.session or ""):
            view.receive(item)
            self.wake(view)

    def preview(self, preview: Preview) -> None:
        for view in self.of(preview.session):
            view.preview(preview)

    async def read_again(self) -> None:
        """Items were missed."""
        for view in self:
            view.catching_up = True
            await self._catch_up(view)

    def is_muted(self, place: ChatPlace) -> bool:
        return place in self._muted

    async def mute(self, place: ChatPlace, *, muted: bool) -> None:
        """Mutes all of a place, or no longer."""
        await self._tools.ledger.save_link(SessionLink(_PLACE_ITSELF, place, mute=muted))
        self._mark(place, muted=muted)
        for view in self.at(place):
            self.wake(view)

    def wake(self, view: SessionView) -> None:
        """Shows what there is to show."""
        view.changed.set()
        if view.is_running or view.catching_up or not view.has_work:
            return
        view.is_running = True
        self.spawn(view.run)

    def spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs beside everything else, until this is left."""
        task = self._tasks.create_task(_apart(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _mark(self, place: ChatPlace, *, muted: bool) -> None:
        (self._muted.add if muted else self._muted.discard)(place)

    def _add(self, link: SessionLink) -> SessionView:
        view = SessionView(self._tools, link, beat=self._beat, moved=self._moved, is_muted=self.is_muted)
        view.catching_up = True
        self._views.setdefault(link.session, {})[link.place] = view
        return view

    async def _restore(self, link: SessionLink) -> None:
        if await self._may_show(link):
            await self._catch_up(self._add(link))
        else:
            await self._tools.ledger.drop_link(link.session, link.place)

    async def _may_show(self, link: SessionLink) -> bool:
        """Whether the session still exists, and the settings still let the place's people read it."""
        try:
            session = (await self._tools.reading.session(link.session)).session
        except NotFound:
            return False
        projects = await self._tools.reading.projects()
        name = next((each.name for each in projects if each.id == session.project), None)
        return self._tools.people.shows(link.place, name)

    async def _catch_up(self, view: SessionView) -> None:
        """Reads what happened since its cursor, and enough before it to know where a running session stands."""
        reading, first = self._tools.reading, max(view.record.link.cursor, view.seen)
        session = (await reading.session(view.session)).session
        view.progress.title, view.progress.directory = session.title, session.directory
        items, after = [], first
        while page := await reading.items(view.session, after=after, limit=_PAGE):
            items += page
            after = page[-1].cursor
        if not view.seen and (items or session.ended is None):
            items = [*await reading.items(view.session, before=first + 1, limit=_CONTEXT), *items]
        view.catch_up(items)
        self.wake(view)

    async def _moved(self, view: SessionView, before: ChatPlace) -> None:
        places = self._views[view.session]
        if places.get(before) is view:
            del places[before]
        places[view.place] = view


def _continues(message: IncomingMessage, detail: LinkDetail) -> bool:
    """Whether it belongs to the message before it: another photo of an album, or the rest of a long text."""
    if message.album:
        return message.album == detail.album
    return detail.split_at is not None and timedelta() <= message.at - detail.split_at <= _SPLIT


def split_at(message: IncomingMessage) -> datetime | None:
    """Telegram's apps send a long text as several messages, each as long as possible."""
    return message.at if units(message.text) >= _LONG else None


async def _apart(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:  # outer boundary: one session's problem must not affect others
        log.exception("something about a session failed")


def new_link(session: str, message: IncomingMessage, started_by: int, *, wants_topic: bool) -> SessionLink:
    """A link for a session that a message starts."""
    link = SessionLink(session, message.place, started_by=started_by)
    return with_detail(
        link,
        used_at=message.at,
        private=message.private,
        album=message.album,
        split_at=split_at(message),
        wants_topic=wants_topic,
        reply_to=None if message.private else message.number,
        messages=(message.number,),
    )


def opened_link(session: str, place: ChatPlace, cursor: int) -> SessionLink:
    """A link for a session that was there before, from an item on. Private chats have positive numbers."""
    return with_detail(SessionLink(session, place, cursor=cursor), private=place.chat > 0)
