"""The kinds of desk that the contract suite tests: each a way to seat people at a hub."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from handraise.desk.interface import Desk
from handraise.desk.remote import RemoteDesk
from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.serving.serve import ServeConfig, reachable

Sit = Callable[[Person, str], Awaitable[Desk]]
"""Seats a person at a surface."""
Seats = Callable[[Hub], AbstractAsyncContextManager[Sit]]


@asynccontextmanager
async def _local(opened: Hub) -> AsyncIterator[Sit]:
    async def sit(person: Person, source: str) -> Desk:
        return opened.desk.seat(person, source)

    yield sit


@asynccontextmanager
async def _remote(opened: Hub) -> AsyncIterator[Sit]:
    """Over HTTP, each with their own token."""
    with TemporaryDirectory() as folder:
        service = ServeConfig(Path(folder), Path("/bin/false"), {}, port=0)
        async with reachable(opened, service) as up, AsyncExitStack() as desks:

            async def sit(person: Person, source: str) -> Desk:
                made = await up.auth.make(person.name, "admin", person, "test")
                return await desks.enter_async_context(RemoteDesk(up.base, made.secret, source=source))

            yield sit


SEATS: dict[str, Seats] = {"local": _local, "remote": _remote}


@pytest.fixture(params=sorted(SEATS))
def seats(request: pytest.FixtureRequest) -> Seats:
    return SEATS[request.param]
