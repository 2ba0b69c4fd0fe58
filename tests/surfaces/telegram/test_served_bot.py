"""A whole hub with a bot, and one without."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx2

from api.served import served
from desk.hubs import BASH
from handraise.cli.hub_settings import service
from handraise.surfaces.telegram.people import Member, TelegramConfig
from surfaces.telegram.bot_api import TOKEN, bot_api

WITHOUT_A_BOT = """
import asyncio, sys
from pathlib import Path
from handraise.cli.hub_settings import service
from handraise.serving.serve import serving
from msgspec.structs import replace

async def run(state):
    environ = {"HOME": state, "HANDRAISE_CLAUDE_PATH": "/bin/false"}
    config = service(environ, Path(state) / "state", None, None)
    async with serving(replace(config, port=0)):
        print(*[name for name in sys.modules if name.startswith("handraise.surfaces.telegram") ])

asyncio.run(run(sys.argv[1]))
"""


async def test_a_card_is_answered_and_the_api_says_how_the_bot_is(tmp_path: Path) -> None:
    async with bot_api() as api:
        ana = api.someone(1001, "Ana")
        ana.start()
        config = TelegramConfig(TOKEN, (Member(1001, "ana", "admin"),), api=api.base)
        async with served(tmp_path, telegram=config) as hub, hub.client("viewer") as client:
            session = await hub.session()
            await hub.ask(BASH, session=session.id, name="a_1")
            card = await ana.private.button("Deny")
            assert await ana.press(card, "Deny").toast() == "You denied npm test"
            await card.chat.until(lambda _: not card.buttons)
            await api.until(lambda: bool(api.world.commands))
            assert await state_of(client) == {
                "enabled": True,
                "bot": "handraise_test_bot",
                "trouble": "",
                "chats": [],
                "waiting": 0,
                "is_elsewhere": False,
            }
            answered = (await client.get("/api/asks/a_1")).json()["settlement"]
            assert (answered["from"], answered["by"]["name"]) == ("telegram", "ana")
            ana.write("/help")
            await ana.private.message("/new")
        assert (tmp_path / "state" / "telegram" / "telegram.db").stat().st_mode & 0o777 == 0o600


async def test_a_token_that_fails_is_shown_and_the_hub_runs_on(tmp_path: Path) -> None:
    async with bot_api() as api:
        config = TelegramConfig("1:AAAAAAAAAAAAAAAAAAAAAAAAAA", (Member(1001, "ana", "admin"),), api=api.base)
        async with served(tmp_path, telegram=config) as hub, hub.client("viewer") as client:
            while not (state := await state_of(client))["trouble"]:
                await asyncio.sleep(0.02)
            assert (await client.get("/api/me")).json()["telegram_trouble"] == state["trouble"]


async def test_a_token_file_that_cannot_be_used_is_shown_and_the_hub_runs_on(tmp_path: Path) -> None:
    (tmp_path / "bot").write_text(TOKEN)
    (tmp_path / "bot").chmod(0o644)
    (tmp_path / "handraise.toml").write_text('[telegram]\ntoken_file = "bot"\nallowed = [1001]\n')
    (tmp_path / "handraise.toml").chmod(0o600)
    environ = {"HANDRAISE_CONFIG": str(tmp_path / "handraise.toml"), "HANDRAISE_CLAUDE_PATH": "/bin/false"}
    config = service(environ, tmp_path / "state", None, None)
    trouble = f"Other users can access {tmp_path}/bot, which has the bot's token. Run: chmod 600 {tmp_path}/bot"
    async with served(tmp_path, telegram_trouble=config.telegram_trouble) as hub, hub.client("viewer") as client:
        state = await state_of(client)
        assert (state["enabled"], state["bot"], state["trouble"]) == (True, "", trouble)
        assert (await client.get("/api/me")).json()["telegram_trouble"] == trouble


async def state_of(client: httpx2.AsyncClient) -> dict[str, object]:
    found: dict[str, object] = (await client.get("/api/telegram")).json()
    return found


def test_a_hub_without_a_bot_imports_nothing_of_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_BOT, str(tmp_path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.returncode) == ("\n", 0), done.stderr
