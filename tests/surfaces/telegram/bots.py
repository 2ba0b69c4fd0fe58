"""Shared by the tests of the bot: a hub, Telegram on loopback, a bot between them, and a clock that tests set."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw
from msgspec.structs import replace

from desk.hubs import BASH, put_ask, put_session, quiet_hub
from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.model.answers import Answer
from handraise.model.asks import Ask, Body
from handraise.model.items import Item, Preview
from handraise.surfaces.telegram.bot import SOURCE, TelegramBot
from handraise.surfaces.telegram.incoming import IncomingMessage, IncomingPress
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, TelegramConfig
from handraise.surfaces.telegram.session_side import SessionTools
from handraise.texts import t
from surfaces.telegram.bot_api import TOKEN, BotApi, bot_api
from surfaces.telegram.chats import DEADLINE, ShownMessage
from surfaces.telegram.people import Someone

PACE = 50.0
"""Telegram's seconds pass this much faster."""
ANA = Member(1001, "ana", "admin")
BO = Member(1002, "bo", "approver")
CY = Member(1003, "cy", "viewer")
NEVER_SEEN = 4711
_DELIVERIES = "SELECT is_closed FROM deliveries WHERE ask = ?"


class SettableClock:
    """The hub's time. It stands still unless it is moved, so that nothing depends on how fast a machine is."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def pass_by(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class NotedSide:
    """A session side that notes what it got."""

    tools: SessionTools
    commands: tuple[tuple[str, str], ...] = (("help", "Show what I can do"),)
    messages: list[tuple[str, str]] = field(default_factory=list)
    orders: list[tuple[str, str, str]] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)
    presses: list[tuple[str, str, str]] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    stops: list[tuple[str, int]] = field(default_factory=list)
    hangs: str = ""
    """The command or press that never ends."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def place_of(self, session: str) -> ChatPlace | None:
        return None

    def shown(self) -> frozenset[str]:
        return frozenset()

    async def message(self, member: Member, message: IncomingMessage) -> None:
        self.messages.append((member.name, message.text))

    async def command(self, member: Member, message: IncomingMessage, command: str, rest: str) -> None:
        self.orders.append((member.name, command, rest))
        if command == self.hangs:
            await asyncio.Event().wait()

    async def interrupted(self, member: Member, message: IncomingMessage) -> None:
        self.cut_off.append(message.text)

    async def press(self, member: Member, press: IncomingPress) -> str:
        self.presses.append((member.name, press.act, press.argument))
        if press.act == self.hangs:
            await asyncio.Event().wait()
        return "Done"

    async def stopped(self, member: Member, place: ChatPlace, draft: int) -> None:
        self.stops.append((member.name, draft))

    async def item(self, item: Item) -> None:
        self.items.append(item)

    async def preview(self, preview: Preview) -> None:
        pass

    async def missed(self) -> None:
        pass


@dataclass
class BotRig:
    """A hub and a bot, and the people."""

    api: BotApi
    hub: Hub
    folder: Path
    config: TelegramConfig
    clock: SettableClock
    ana: Someone
    bo: Someone
    cy: Someone
    sides: list[NotedSide] = field(default_factory=list)
    _ledger: apsw.Connection | None = None

    @property
    def side(self) -> NotedSide:
        return self.sides[-1]

    @asynccontextmanager
    async def bot(self) -> AsyncIterator[TelegramBot]:
        """The bot, while this is entered; the next one is the same bot after a restart."""

        def side(tools: SessionTools) -> NotedSide:
            self.sides.append(NotedSide(tools))
            return self.sides[-1]

        desk = self.hub.desk
        bot = TelegramBot(
            lambda person: desk.seat(person, SOURCE),
            self.config,
            self.folder,
            self.clock,
            os.urandom,
            "http://127.0.0.1:8420",
            side,
            second=1 / PACE,
        )
        async with bot:
            yield bot

    async def ask(self, name: str = "a_1", body: Body = BASH, **fields: Any) -> Ask:
        return await put_ask(self.hub, name, body, **fields)

    async def answer_elsewhere(self, ask: str, answer: Answer) -> None:
        await self.hub.desk.seat(Person("dee", "seat"), "web").answer(ask, answer)

    async def state_of(self, ask: str) -> str:
        return (await self.hub.desk.ask(ask)).state

    async def until_state(self, ask: str, state: str) -> None:
        async with asyncio.timeout(DEADLINE):
            while await self.state_of(ask) != state:
                await asyncio.sleep(0.01)

    def calm(self) -> None:
        """Enough time passes for a press to count."""
        self.clock.pass_by(5)

    async def press(self, person: Someone, message: ShownMessage, label: str) -> str:
        """Presses like someone who waits if it is too early; returns what they are told."""
        for _ in range(10):
            self.calm()
            toast = await person.press(message, label).toast()
            if toast != t("telegram.press.early"):
                return toast
        raise AssertionError(f"{label!r} never counted")

    async def recorded(self, message: ShownMessage) -> None:
        """Waits until the bot knows that this message arrived."""
        await self.until(lambda: self.knows(message))

    async def closed(self, message: ShownMessage) -> None:
        """Waits until this message has no buttons any more."""
        await message.chat.until(lambda _: not message.buttons)

    async def until(self, find: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE):
            while not find():
                await asyncio.sleep(0.01)

    def knows(self, message: ShownMessage) -> bool:
        """Whether the bot knows that this message arrived."""
        found = "SELECT 1 FROM card_messages WHERE chat = ? AND message = ?"
        return bool(self._rows(found, (message.chat.number, message.number)))

    def deliveries(self, ask: str) -> list[str]:
        """Whether the bot is done with an ask's card, for each place that has it."""
        return ["closed" if each[0] else "open" for each in self._rows(_DELIVERIES, (ask,))]

    def configure(self, **settings: Any) -> None:
        """For the next bot."""
        self.config = replace(self.config, **settings)

    def close(self) -> None:
        if self._ledger:
            self._ledger.close()

    def _rows(self, query: str, values: tuple[int | str, ...]) -> list[Any]:
        if self._ledger is None:
            self._ledger = apsw.Connection(str(self.folder / "telegram.db"), flags=apsw.SQLITE_OPEN_READONLY)
        return self._ledger.execute(query, values).fetchall()


@asynccontextmanager
async def rigged(tmp: Path, *, started: bool = True, **settings: Any) -> AsyncIterator[BotRig]:
    """Telegram and a hub without a bot; Ana has started a private chat with it."""
    async with bot_api(pace=PACE) as api, quiet_hub(tmp) as hub:
        people = [api.someone(each.number, each.name.capitalize()) for each in (ANA, BO, CY)]
        if started:
            people[0].start()
        config = TelegramConfig(TOKEN, (ANA, BO, CY), **{"api": api.base, **settings})
        await put_session(hub)
        ana, bo, cy = people
        rig = BotRig(api, hub, tmp / "telegram", config, SettableClock(), ana, bo, cy)
        try:
            yield rig
        finally:
            rig.close()
