"""Follows the feed for events, and hands each one over with what it refers to. Keeps its place only in memory."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from handraise.desk.interface import CutOff, Desk, LostPlace, NotFound
from handraise.model.asks import Ask
from handraise.model.items import Item, Preview
from handraise.model.projects import Project
from handraise.model.sessions import Session
from handraise.surfaces.webhooks import events
from handraise.surfaces.webhooks.events import Announced, EventFacts, WebhookEvent

_AFTER_A_FAULT = 5.0

log = logging.getLogger("handraise.webhooks")


class EventReader:
    """`heard` is called with each event, in order; when it returns, the reader goes on. `base` is for links."""

    def __init__(self, desk: Desk, base: str, cursor: int, heard: Callable[[WebhookEvent], Awaitable[None]]) -> None:
        self.cursor = cursor
        """The last item that was handled completely."""
        self._desk = desk
        self._base = base
        self._heard = heard

    async def follow(self) -> None:
        """Runs until the feed ends. What was removed from the feed meanwhile can't be sent any more."""
        while True:
            try:
                await self._follow_once()
                return
            except LostPlace as lost:
                self.cursor = lost.oldest if self.cursor < lost.oldest else lost.newest
                log.warning("events before the oldest item of the feed are lost")
            except CutOff as cut:
                log.info("the feed was too fast: following it again after %s", cut.cursor)
            except Exception:  # outer boundary: a failing store may recover
                log.exception("the feed could not be followed; it is tried again")
                await asyncio.sleep(_AFTER_A_FAULT)

    async def _follow_once(self) -> None:
        async with self._desk.follow(self.cursor) as follower:
            async for news in follower:
                if not isinstance(news, Preview):
                    for item in news:
                        await self._hear(item)

    async def _hear(self, item: Item) -> None:
        content = events.announced_in(item)
        if content is not None:
            await self._heard(events.event_of(item, content, await self._facts(item, content), self._base))
        self.cursor = item.cursor

    async def _facts(self, item: Item, content: Announced) -> EventFacts:
        ask = events.facts_in(content).ask or await self._ask(events.ask_in(content))
        session = await self._session(ask.session if ask is not None else item.session)
        project = events.project_in(content, EventFacts(ask, session))
        return EventFacts(ask, session, await self._project(project))

    async def _ask(self, ask: str | None) -> Ask | None:
        try:
            return None if ask is None else await self._desk.ask(ask)
        except NotFound:
            return None

    async def _session(self, session: str | None) -> Session | None:
        try:
            return None if session is None else (await self._desk.session(session)).session
        except NotFound:
            return None

    async def _project(self, project: str | None) -> Project | None:
        if project is None:
            return None
        return next((each for each in await self._desk.projects() if each.id == project), None)
