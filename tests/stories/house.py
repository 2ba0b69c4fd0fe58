"""A whole hub on the test bed: the real CLI, the scripted model, and a desk."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Scripted
from handraise.desk.remote import RemoteDesk
from handraise.hub.desk import LocalDesk
from handraise.hub.hub import Hub, HubConfig, hub
from handraise.model.asks import Ask
from handraise.model.items import Content, Item
from handraise.model.sessions import Session

DEADLINE = 60.0


class House:
    """Entered with `async with`. `open_hub` may be entered repeatedly: sessions continue."""

    def __init__(self, tmp: Path, script: Scripted, **settings: Any) -> None:
        self.tmp = tmp
        self.work = tmp / "work"
        self.model = ScriptedModel({"script": script})
        self._settings = settings
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.work.mkdir()
        (self.tmp / "home").mkdir()
        await self._stack.enter_async_context(self.model)
        return self

    async def __aexit__(self, *raised: Any) -> None:
        try:
            async with self.open_hub() as last:
                await last.pool.stop_all()
        finally:
            await self._stack.__aexit__(*raised)

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.model.url("script"), str(self.tmp / "home"))

    def open_hub(self, **settings: Any) -> AbstractAsyncContextManager[Hub]:
        return hub(HubConfig(self.tmp / "state", locate(), self.environment, **{**self._settings, **settings}))


@asynccontextmanager
async def house(tmp: Path, script: Scripted, **settings: Any) -> AsyncIterator[tuple[House, Hub]]:
    """A house with a running hub."""
    async with House(tmp, script, **settings) as home, home.open_hub() as opened:
        yield home, opened


async def seen(
    desk: LocalDesk | RemoteDesk, fits: Callable[[Content], bool], session: str | None = None, after: int = 0
) -> list[Content]:
    """All feed contents after a cursor, up to the first that fits."""
    contents: list[Content] = []
    async with asyncio.timeout(DEADLINE), desk.follow(after, session) as follower:
        async for news in follower:
            for item in news if not hasattr(news, "message") else ():
                assert isinstance(item, Item)
                contents.append(item.read())
                if fits(contents[-1]):
                    return contents
    raise AssertionError(f"the feed ended: {contents}")


async def next_ask(desk: LocalDesk | RemoteDesk, session: Session, but: set[str] | None = None) -> Ask:
    """The next open ask of a session, other than these."""
    async with asyncio.timeout(DEADLINE), desk.follow(0, session.id) as follower:
        async for _ in follower:
            for ask in await desk.asks(session=session.id):
                if ask.id not in (but or set()):
                    return ask
    raise AssertionError("the feed ended")
