"""From a token to the first answer: the real setup, the real hub, the real CLI, and Telegram on loopback."""

import asyncio
import sys
from pathlib import Path

import pexpect

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Desk
from handraise.model.items import Text
from handraise.texts import t
from stories.serving_house import command, desk, serve, settle_in, stop_all, surroundings
from surfaces.telegram.bot_api import BOT, TOKEN, bot_api

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    yield [say(f"Heard: {conversation.result().text}")]


async def heard(owner: Desk) -> str:
    """What Claude made of the answer."""
    async with asyncio.timeout(60), owner.follow(0) as follower:
        async for news in follower:
            for content in [item.read() for item in news] if isinstance(news, list) else ():
                if isinstance(content, Text) and "Heard: " in content.text:
                    return content.text
    raise AssertionError("the feed ended")


async def test_from_a_token_to_the_first_answer(tmp_path: Path) -> None:
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model, bot_api() as api:
        environ = surroundings(tmp_path, model.url("choose"))
        ana = api.someone(1001, "Ana")
        setup = pexpect.spawn(
            sys.executable,
            ["-m", "handraise", "telegram", "setup", "--yes", "--api", api.base],
            env=environ,
            encoding="utf-8",
            timeout=60,
        )
        await asyncio.to_thread(setup.expect, "Token: ")
        setup.sendline(TOKEN)
        await asyncio.to_thread(setup.expect, r"/start ([A-Z0-9]{8})\s")
        ana.write(f"/start {setup.match[1]}")
        await asyncio.to_thread(setup.expect, pexpect.EOF)
        setup.close()
        assert setup.exitstatus == 0

        async with serve(tmp_path, environ) as hub, desk(tmp_path) as owner:
            await owner.start("Choose a database.", str(tmp_path / "work"))
            card = await ana.private.message("Which database?")
            # Right after it has appeared, a press doesn't count yet.
            while await ana.press(card, "1. SQLite").toast() == t("telegram.press.early"):
                pass
            await ana.private.message("Ana answered: SQLite (telegram)")
            assert "SQLite" in await heard(owner)
            answered = await command(environ, "audit", "--json")
            assert answered[0] == 0
            assert '"source":"telegram"' in answered[1].replace(" ", "")
            assert '"name":"Ana"' in answered[1].replace(" ", "")
            status = await command(environ, "telegram", "status")
            assert (status[0], f"The running hub is connected as @{BOT.username}." in status[1]) == (0, True)
            assert TOKEN not in status[1] + answered[1] + hub.errors.read_text()
            await hub.stop()
        await stop_all(tmp_path, environ)
