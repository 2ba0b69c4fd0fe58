"""One bot for two hubs with one database: one runs it, the other waits, says so, and takes over."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2

from api.hubs import hub_over
from api.served import Served
from handraise.store.memory.store import MemoryDatabase
from handraise.surfaces.telegram.leased_bot import lease_name
from handraise.surfaces.telegram.people import Member, TelegramConfig
from surfaces.telegram.bot_api import BOT, TOKEN, bot_api

ANA = Member(1001, "ana", "admin")


async def until(hub: Served, key: str) -> dict[str, Any]:
    """The state of its bot, once this part of it is there."""
    async with hub.client("viewer") as client:
        while True:
            state = await _state(client)
            if state[key]:
                return state
            await asyncio.sleep(0.02)


async def _state(client: httpx2.AsyncClient) -> dict[str, Any]:
    state: dict[str, Any] = (await client.get("/api/telegram")).json()
    return state


async def test_the_second_hub_waits_and_says_so_until_the_first_stops(tmp_path: Path) -> None:
    database = MemoryDatabase()
    async with bot_api() as api, AsyncExitStack() as stays, asyncio.timeout(60):
        config = TelegramConfig(TOKEN, (ANA,), api=api.base)
        async with hub_over(database, tmp_path / "1", telegram=config) as one:
            assert (await until(one, "bot"))["bot"] == BOT.username
            two = await stays.enter_async_context(hub_over(database, tmp_path / "2", telegram=config))
            waits = await until(two, "is_elsewhere")
            assert (waits["enabled"], waits["bot"], waits["trouble"]) == (True, "", "")
            async with two.client("viewer") as client:
                assert "telegram_trouble" not in (await client.get("/api/me")).json()
        assert await until(two, "bot") == {
            "enabled": True,
            "bot": BOT.username,
            "trouble": "",
            "chats": [],
            "waiting": 0,
            "is_elsewhere": False,
        }


def test_the_lease_of_a_bot_has_no_secret_in_its_name() -> None:
    assert lease_name("12345:secret") == "telegram 12345"
    assert lease_name("12345:other") == lease_name("12345:secret") != lease_name("6:secret")
