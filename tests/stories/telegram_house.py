"""A hub with the real CLI and a Telegram bot, people who press and write, and Telegram's time passing quickly."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from handraise.demo.pieces import Scripted
from handraise.hub.hub import Hub
from handraise.model.items import TurnEnded
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.surfaces.telegram.bot import SOURCE, TelegramBot
from handraise.surfaces.telegram.client import DEADLINE as CALL_DEADLINE
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, TelegramConfig
from handraise.surfaces.telegram.sessions import TelegramSessions
from handraise.texts import t
from stories.house import House, house, seen
from surfaces.telegram.bot_api import TOKEN, BotApi, bot_api
from surfaces.telegram.chats import DEADLINE, FakeChat, ShownMessage
from surfaces.telegram.people import Someone

PACE = 50.0
"""Telegram's seconds pass this much faster."""
ANA = Member(1001, "ana", "admin")
FORMS = Path(__file__).with_name("plain_form_server.py")


class ShiftedClock:
    """The real time, and what a story skips."""

    def __init__(self) -> None:
        self._skipped = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._skipped

    def skip(self, seconds: float) -> None:
        self._skipped += timedelta(seconds=seconds)


@dataclass
class TelegramHouse:
    """Ana has a private chat with the bot, and gets every card there."""

    home: House
    hub: Hub
    api: BotApi
    clock: ShiftedClock
    ana: Someone
    team: FakeChat | None = None

    @property
    def chat(self) -> FakeChat:
        return self.ana.private

    async def start(self, words: str, **options: Any) -> str:
        return (await self.hub.desk.start(words, str(self.home.work), **options)).session.id

    async def press(self, message: ShownMessage, *labels: str, by: Someone | None = None) -> str:
        """Presses one button after another, each when it is there, like someone who tries again if it was too early."""
        toast = ""
        for label in labels:
            await self.shows(message, label)
            toast = await self._press(message, label, by or self.ana)
        return toast

    async def shows(self, message: ShownMessage, label: str) -> None:
        """Waits until a message has this button."""
        await message.chat.until(lambda _: label in message.buttons, DEADLINE)

    async def text(self, message: ShownMessage, part: str) -> None:
        """Waits until a message has this text."""
        await message.chat.until(lambda _: part in message.text, DEADLINE)

    async def _press(self, message: ShownMessage, label: str, person: Someone) -> str:
        for _ in range(10):
            self.clock.skip(5)
            toast = await person.press(message, label).toast()
            if toast not in (t("telegram.press.early"), t("telegram.press.stale")):
                return toast
            await asyncio.sleep(1 / PACE)
        raise AssertionError(f"{label!r} never counted")

    async def closed(self, message: ShownMessage) -> str:
        """What a card says when its buttons have gone."""
        await message.chat.until(lambda _: not message.buttons, DEADLINE)
        return message.text

    async def result(self, session: str, number: int = 1) -> str:
        """What Claude said at the end of a turn."""
        ends: list[TurnEnded] = []

        def fits(content: object) -> bool:
            if isinstance(content, TurnEnded):
                ends.append(content)
            return len(ends) == number

        await seen(self.hub.desk, fits, session)
        return ends[-1].result


@asynccontextmanager
async def telegram_house(
    tmp: Path,
    script: Scripted,
    *,
    servers: dict[str, Any] | None = None,
    rules: tuple[Rule, ...] = (),
    group: str = "",
    deadline: float = CALL_DEADLINE,
) -> AsyncIterator[TelegramHouse]:
    """`group`: the title of a group that gets every card, too."""
    async with bot_api(pace=PACE) as api, house(tmp, script, rules=rules) as (home, hub):
        (home.tmp / "home" / ".claude.json").write_text(
            json.dumps({"mcpServers": servers or {"forms": forms_server()}})
        )
        ana = api.someone(ANA.number, "Ana")
        ana.start()
        team = api.group(group, ana) if group else None
        await hub.desk.add_project(str(home.work), "work", Options())
        clock = ShiftedClock()
        chats = (ChatPlace(ana.number), ChatPlace(team.number)) if team else ()
        config = TelegramConfig(TOKEN, (ANA,), chats, api=api.base)
        async with make_bot(hub, config, tmp / "telegram", clock, deadline=deadline):
            yield TelegramHouse(home, hub, api, clock, ana, team)


def make_bot(
    hub: Hub,
    config: TelegramConfig,
    folder: Path,
    clock: ShiftedClock,
    second: float = 1 / PACE,
    deadline: float = CALL_DEADLINE,
) -> TelegramBot:
    """`second` is how long one of Telegram's seconds takes."""
    side = partial(TelegramSessions, beat=second)
    desk = hub.desk
    return TelegramBot(
        lambda person: desk.seat(person, SOURCE),
        config,
        folder,
        clock,
        os.urandom,
        "http://127.0.0.1:8420",
        side,
        second=second,
        deadline=deadline,
    )


def forms_server() -> dict[str, Any]:
    return {"type": "stdio", "command": sys.executable, "args": ["-IS", str(FORMS)]}
