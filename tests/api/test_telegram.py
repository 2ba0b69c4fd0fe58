"""The Telegram bot over HTTP."""

from pathlib import Path

from api.served import served


async def test_without_a_bot_the_hub_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        state = (await client.get("/api/telegram")).json()
        assert state == {"enabled": False, "bot": "", "trouble": "", "chats": [], "waiting": 0}
        assert "telegram_trouble" not in (await client.get("/api/me")).json()
