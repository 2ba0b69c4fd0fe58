"""A Bot API server with plenty of room, its bot, and two people."""

from collections.abc import AsyncIterator

import pytest

from surfaces.telegram.bare_client import BareClient, bare_client
from surfaces.telegram.bot_api import BotApi, bot_api
from surfaces.telegram.loop_clock import LoopClock, loop_clock
from surfaces.telegram.people import Someone
from surfaces.telegram.rates import RateLimits

PLENTY = RateLimits(private_burst=1000, group_messages=1000, total_messages=1000)


@pytest.fixture
async def clock() -> AsyncIterator[LoopClock]:
    """From here on, the loop's time is this clock's."""
    with loop_clock() as made:
        yield made


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    async with bot_api(limits=PLENTY) as made:
        yield made


@pytest.fixture
async def bot(api: BotApi) -> AsyncIterator[BareClient]:
    async with bare_client(api) as made:
        yield made


@pytest.fixture
def ana(api: BotApi) -> Someone:
    person = api.someone(1001, "Ana", username="ana")
    person.start()
    return person


@pytest.fixture
def ben(api: BotApi) -> Someone:
    return api.someone(1002, "Ben")
