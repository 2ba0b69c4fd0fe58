"""Several hubs in one process, each for its own machine, on one database in memory."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from handraise.hub.hub import Hub, HubConfig, hub
from handraise.hub.machine_file import FILE
from handraise.model.asks import Ask
from handraise.model.projects import Options
from handraise.model.sessions import Phase, Session
from handraise.store.changes import Applied, Change
from handraise.store.interface import AskListener, StoreAway, StoreClosed
from handraise.store.memory.shelves import Shelves
from handraise.store.memory.store import MemoryDatabase, MemoryStore

DEADLINE = 60.0
_PRETEND = Path(__file__).with_name("pretend_claude.py")


class FaultyStore(MemoryStore):
    """Its database can be away, and its hub can be killed: then nothing it does has an effect any more."""

    def __init__(self, machine: str, database: MemoryDatabase) -> None:
        super().__init__(machine, database)
        self.is_away = False
        self.is_killed = False
        self.before: Callable[[Sequence[Change]], Awaitable[None]] | None = None
        """Called before each batch; may raise."""
        self.before_beat: Callable[[], Awaitable[None]] | None = None
        self.is_deaf = False
        """Whether it is told of no ask that is settled."""

    async def apply(self, changes: Sequence[Change]) -> Applied:
        if self.before is not None:
            await self.before(changes)
        return await super().apply(changes)

    def listen_to_asks(self, listener: AskListener) -> None:
        super().listen_to_asks(lambda asks: None if self.is_deaf else listener(asks))

    async def beat(self, at: datetime) -> datetime:
        if self.before_beat is not None:
            await self.before_beat()
        return await super().beat(at)

    async def release(self, at: Any) -> None:
        if not self.is_killed:
            await super().release(at)

    def _contents(self) -> Shelves:
        if self.is_killed:
            raise StoreClosed("The hub was killed.")
        if self.is_away:
            raise StoreAway("The database can't be reached.")
        return super()._contents()


class MachineSite:
    """One machine: its state folder, and the hub that runs there, if any."""

    def __init__(self, fleet: "Fleet", name: str) -> None:
        self.fleet = fleet
        self.name = name
        self.state = fleet.tmp / name / "state"
        self.work = fleet.tmp / name / "work"
        self.log = fleet.tmp / name / "received"
        self._stack = AsyncExitStack()

    async def open(self, **settings: Any) -> Hub:
        """Starts its hub, again if need be."""
        self.work.mkdir(parents=True, exist_ok=True)
        self.hub = await self._stack.enter_async_context(hub(self.config(**settings)))
        return self.hub

    def config(self, **settings: Any) -> HubConfig:
        stores = self.fleet.stores

        def store(machine: str) -> MemoryStore:
            made = FaultyStore(machine, self.fleet.database)
            stores.setdefault(self.name, []).append(made)
            return made

        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.fleet.tmp), "PRETEND_LOG": str(self.log)}
        values = {"options": Options(sandbox="off"), "machine_name": self.name, "beat": 0.05, **settings}
        if self.fleet.url is not None:
            return HubConfig(self.state, self.fleet.program, environment, database=self.fleet.url, **values)
        return HubConfig(self.state, self.fleet.program, environment, store=store, **values)

    @property
    def store(self) -> FaultyStore:
        """That of its last hub."""
        return self.fleet.stores[self.name][-1]

    @property
    def machine(self) -> str:
        identity: str = json.loads((self.state / FILE).read_bytes())["id"]
        return identity

    async def stop(self) -> None:
        """Ends its hub as Ctrl-C does. Claudes keep running."""
        await self._stack.aclose()

    async def kill(self) -> None:
        """Ends its hub without a last word to the database."""
        self.store.is_killed = True
        with suppress(StoreClosed):
            await self._stack.aclose()

    def end_the_rest(self) -> None:
        """Ends Claudes that no hub knows any more, such as those of a hub that lost its machine."""
        started = self.log.with_suffix(".pids")
        for pid in started.read_text().split() if started.exists() else ():
            with suppress(OSError):
                if str(_PRETEND).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(int(pid), signal.SIGKILL)

    def received(self, kind: str) -> list[Any]:
        """The lines of a type that its Claudes have read."""
        if not self.log.exists():
            return []
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.endswith("}")]
        return [line for line in lines if line["type"] == kind]


class Fleet:
    """Entered with `async with`; `site` makes a machine. Leaving it ends every Claude."""

    def __init__(self, tmp: Path, url: str | None = None) -> None:
        self.tmp = tmp
        self.url = url
        """Of a PostgreSQL database, if it isn't the one in memory."""
        self.database = MemoryDatabase()
        self.stores: dict[str, list[FaultyStore]] = {}
        self.sites: dict[str, MachineSite] = {}
        self.program = tmp / "claude"

    async def __aenter__(self) -> Self:
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "{_PRETEND}" "$@"\n')
        self.program.chmod(0o700)
        return self

    async def __aexit__(self, *raised: object) -> None:
        for site in self.sites.values():
            with suppress(Exception):
                await (site.kill() if self.url is None else site.stop())
        for site in self.sites.values():
            last = await site.open()
            await last.pool.stop_all()
            await site.stop()
            site.end_the_rest()

    def site(self, name: str) -> MachineSite:
        return self.sites.setdefault(name, MachineSite(self, name))


@asynccontextmanager
async def fleet_of(tmp: Path, *names: str, url: str | None = None, **settings: Any) -> AsyncIterator[list[MachineSite]]:
    """Machines with running hubs."""
    async with Fleet(tmp, url) as fleet:
        sites = [fleet.site(name) for name in names]
        for site in sites:
            await site.open(**settings)
        yield sites


async def until(hub: Hub, holds: Callable[[], Awaitable[bool]]) -> None:
    """Waits for something that follows from what is committed."""
    async with asyncio.timeout(DEADLINE), hub.feed.follow() as follower:
        while not await _holds(holds):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await anext(follower)


async def _holds(holds: Callable[[], Awaitable[bool]]) -> bool:
    with suppress(StoreAway):
        return await holds()
    return False


async def until_phase(hub: Hub, session: str, *phases: Phase) -> Session:
    async def holds() -> bool:
        return (await hub.desk.session(session)).session.phase in phases

    await until(hub, holds)
    return (await hub.desk.session(session)).session


async def until_turns(hub: Hub, session: str, number: int = 1) -> None:
    """Waits until this many turns are over."""

    async def holds() -> bool:
        return sum(item.content.startswith(b'{"type":"turn.ended"') for item in await hub.desk.items(session)) >= number

    await until(hub, holds)


async def next_ask(hub: Hub, session: str) -> Ask:
    """Its first open ask."""

    async def holds() -> bool:
        return bool(await hub.desk.asks(session=session))

    await until(hub, holds)
    return (await hub.desk.asks(session=session))[0]
