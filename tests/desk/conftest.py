"""The kinds of desk that the contract suite holds: each a way to seat a person at a hub."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from handraise.desk.interface import Desk
from handraise.desk.remote import RemoteDesk
from handraise.hub import Hub
from handraise.model.actors import Person
from handraise.serving import Service, reachable

Seat = Callable[[Hub, Person, str], AbstractAsyncContextManager[Desk]]


@asynccontextmanager
async def _local(opened: Hub, person: Person, source: str) -> AsyncIterator[Desk]:
    yield opened.desk.seat(person, source)


@asynccontextmanager
async def _remote(opened: Hub, person: Person, source: str) -> AsyncIterator[Desk]:
    """Over HTTP, with a token of this name."""
    with TemporaryDirectory() as folder:
        service = Service(Path(folder), Path("/bin/false"), {}, port=0)
        async with reachable(opened, service) as up:
            made = await up.gate.make(person.name, "admin", person, "test")
            async with RemoteDesk(up.base, made.secret, source=source) as desk:
                yield desk


SEATS: dict[str, Seat] = {"local": _local, "remote": _remote}


@pytest.fixture(params=sorted(SEATS))
def seat(request: pytest.FixtureRequest) -> Seat:
    return SEATS[request.param]
