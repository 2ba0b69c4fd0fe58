"""The kinds of desk that the contract suite holds: each a way to seat a person at a hub."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from handraise.desk.interface import Desk
from handraise.hub import Hub
from handraise.model.actors import Person

Seat = Callable[[Hub, Person, str], AbstractAsyncContextManager[Desk]]


@asynccontextmanager
async def _local(opened: Hub, person: Person, source: str) -> AsyncIterator[Desk]:
    yield opened.desk.seat(person, source)


SEATS: dict[str, Seat] = {"local": _local}


@pytest.fixture(params=sorted(SEATS))
def seat(request: pytest.FixtureRequest) -> Seat:
    return SEATS[request.param]
