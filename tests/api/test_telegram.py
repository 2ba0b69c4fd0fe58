"""The Telegram bot over HTTP: its state, and trouble that everybody is shown."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2

from api.served import served
from handraise.surfaces.telegram.people import Member, TelegramConfig
from surfaces.telegram.bot_api import BOT, TOKEN, bot_api

ANA = Member(1001, "ana", "admin")


async def until(client: httpx2.AsyncClient, key: str) -> dict[str, Any]:
    """The state, once this part of it is there."""
    while True:
        state: dict[str, Any] = (await client.get("/api/telegram")).json()
        if state[key]:
            return state
        await asyncio.sleep(0.02)


async def test_without_a_bot_the_hub_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        state = (await client.get("/api/telegram")).json()
        assert state == {"enabled": False, "bot": "", "trouble": "", "chats": [], "waiting": 0, "is_elsewhere": False}
        assert "telegram_trouble" not in (await client.get("/api/me")).json()


async def test_a_bot_that_works_is_named(tmp_path: Path) -> None:
    async with bot_api() as api:
        config = TelegramConfig(TOKEN, (ANA,), api=api.base)
        async with served(tmp_path, telegram=config) as hub, hub.client("viewer") as client:
            state = await until(client, "bot")
            assert (state["enabled"], state["bot"], state["trouble"]) == (True, BOT.username, "")
            assert "telegram_trouble" not in (await client.get("/api/me")).json()


async def test_a_token_that_fails_is_shown_and_the_hub_runs_on(tmp_path: Path) -> None:
    async with bot_api() as api:
        config = TelegramConfig("1:abcdefghijklmnopqrstuvwxyz", (ANA,), api=api.base)
        async with served(tmp_path, telegram=config) as hub, hub.client("viewer") as client:
            state = await until(client, "trouble")
            assert (state["enabled"], state["bot"]) == (True, "")
            assert "token" in state["trouble"]
            assert (await client.get("/api/me")).json()["telegram_trouble"] == state["trouble"]
            assert (await client.get("/api/health")).json()["ok"]
