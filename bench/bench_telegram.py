"""The Telegram bot against a bare client on the same Bot API server, in turns and in one run.

From an ask to its message, and from a press to the answer in the store; then 500 cards in ten chats at Telegram's
limits, which must be refused nothing, against the least time that these limits permit.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import apsw

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import figures
from desk.hubs import BASH, put_ask, put_session, quiet_hub
from handraise.desk.interface import Follower
from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.model.answers import Deny
from handraise.model.items import AskSettled, Preview
from handraise.model.projects import Options
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, TelegramConfig
from stories.telegram_house import ShiftedClock, make_bot
from surfaces.telegram.bare_client import BareClient, bare_client
from surfaces.telegram.bot_api import TOKEN, BotApi, bot_api
from surfaces.telegram.chats import DEADLINE, FakeChat, ShownMessage
from surfaces.telegram.people import Someone
from surfaces.telegram.rates import RateLimits

ROUNDS = 300
WITHIN = 0.050
"""How much more than a bare client it may take: nobody notices that in a chat."""
UNPACED = RateLimits(private_burst=10**6, group_messages=10**6, total_messages=10**6)
CHATS, CARDS = 10, 500
PACE = 10.0
"""For the 500 cards, Telegram's seconds pass this much faster."""
ANA = Member(1001, "ana", "admin")
LABEL = "Deny"


class HubSide:
    """A hub with a bot. Waits for no pace."""

    def __init__(self, hub: Hub, ana: Someone, clock: ShiftedClock, feed: Follower) -> None:
        self.hub, self.ana, self.clock, self._feed = hub, ana, clock, feed

    async def send(self, number: int) -> ShownMessage:
        """Claude asks; returns the message that the person sees."""
        before = len(self.ana.private.from_bot)
        await put_ask(self.hub, f"a_{number}", BASH)
        return await nth(self.ana.private, before)

    async def press(self, message: ShownMessage) -> None:
        """The person presses; returns when a follower of the feed sees the answer, which is stored by then."""
        self.ana.press(message, LABEL)
        async for news in self._feed:
            if not isinstance(news, Preview) and any(isinstance(item.read(), AskSettled) for item in news):
                return

    async def tidy(self, message: ShownMessage) -> None:
        await message.chat.until(lambda _: not message.buttons)
        self.clock.skip(5)


class BareSide:
    """A client that sends what the bot sent, and takes each press; with a database, it stores it first."""

    def __init__(self, ana: Someone, client: BareClient, database: apsw.Connection | None) -> None:
        self.ana, self._client, self._database = ana, client, database
        self._answered = asyncio.Event()
        self.content: dict[str, Any] = {}

    async def send(self, _: int) -> ShownMessage:
        before = len(self.ana.private.from_bot)
        sending = asyncio.create_task(self._client.call("sendMessage", chat_id=self.ana.number, **self.content))
        shown = await nth(self.ana.private, before)
        await sending
        return shown

    async def press(self, message: ShownMessage) -> None:
        self.ana.press(message, LABEL)
        async with asyncio.timeout(DEADLINE):
            await self._answered.wait()
        self._answered.clear()

    async def tidy(self, message: ShownMessage) -> None:
        content = {"chat_id": message.chat.number, "message_id": message.number, "text": "Denied"}
        await self._client.call("editMessageText", **content)

    async def poll(self) -> None:
        offset = 0
        while True:
            for update in await self._client.call("getUpdates", offset=offset, timeout=50):
                offset = update["update_id"] + 1
                if query := update.get("callback_query"):
                    if self._database is not None:
                        self._database.execute("INSERT INTO answers VALUES (?)", (query["data"],))
                    self._answered.set()
                    await self._client.call("answerCallbackQuery", callback_query_id=query["id"])


Side = HubSide | BareSide


@asynccontextmanager
async def hub_side(folder: Path) -> AsyncIterator[HubSide]:
    async with bot_api(limits=UNPACED) as api, quiet_hub(folder) as hub:
        ana = started(api)
        await put_session(hub)
        clock = ShiftedClock()
        config = TelegramConfig(TOKEN, (ANA,), api=api.base)
        bot = make_bot(hub, config, folder / "telegram", clock, second=1e-6)
        async with bot, hub.desk.follow(await hub.desk.newest()) as feed:
            await ana.private.message("/new")
            yield HubSide(hub, ana, clock, feed)


@asynccontextmanager
async def bare_side(database: Path | None) -> AsyncIterator[BareSide]:
    connection = None
    if database is not None:
        connection = apsw.Connection(str(database))
        setup = "PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE answers (data TEXT)"
        connection.execute(setup).fetchall()
    async with bot_api(limits=UNPACED) as api, bare_client(api) as client:
        side = BareSide(started(api), client, connection)
        polling = asyncio.create_task(side.poll())
        try:
            yield side
        finally:
            polling.cancel()


def started(api: BotApi) -> Someone:
    ana = api.someone(ANA.number, "Ana")
    ana.start()
    return ana


async def nth(chat: FakeChat, number: int) -> ShownMessage:
    """The bot's message with this number, counted from 0."""
    await chat.until(lambda _: len(chat.from_bot) > number)
    return chat.from_bot[number]


async def compare(folder: Path) -> None:
    """One ask on each in turn, so that other load affects all."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(hub_side(folder))
        bare = await stack.enter_async_context(bare_side(None))
        durable = await stack.enter_async_context(bare_side(folder / "bare.db"))
        sample = await ours.send(-1)
        keyboard = {"inline_keyboard": sample.keyboard}
        bare.content = durable.content = {
            "text": sample.text,
            "entities": sample.entities,
            "reply_markup": keyboard,
        }
        ours.clock.skip(5)
        await ours.press(sample)
        await ours.tidy(sample)
        sides: tuple[Side, ...] = (ours, bare, durable)
        times: list[list[tuple[float, float]]] = [[], [], []]
        for number in range(ROUNDS):
            for side, measured in zip(sides, times, strict=True):
                measured.append(await once(side, number))
    for at, what in enumerate(("ask to message", "press to answer in the store")):
        tell(what, *([each[at] for each in measured] for measured in times))


async def once(side: Side, number: int) -> tuple[float, float]:
    began = time.perf_counter()
    message = await side.send(number)
    sent = time.perf_counter() - began
    if isinstance(side, HubSide):
        side.clock.skip(5)
    began = time.perf_counter()
    await side.press(message)
    answered = time.perf_counter() - began
    await side.tidy(message)
    return sent, answered


def tell(what: str, ours: list[float], bare: list[float], durable: list[float]) -> None:
    for of_hundred, called in ((50, "median"), (95, "p95")):
        mine, floor, stored = (
            statistics.quantiles(each, n=100)[of_hundred - 1] * 1000 for each in (ours, bare, durable)
        )
        verdict = "holds" if mine - floor <= WITHIN * 1000 else "MISSED"
        if called == "median":
            figures.report_over(f"{what}, of a bare client", floor, mine)
        print(
            f"telegram: {what}, {called}: {mine / floor:.1f} of a bare client ({mine:.1f} and {floor:.1f} ms); "
            f"target: within {WITHIN * 1000:g} ms of it: {verdict}; of one that stores it: {mine / stored:.1f}"
        )


async def flood(folder: Path) -> None:
    """A hub starts with 500 open asks, half of them for private chats and half for groups; then all are answered."""
    async with bot_api(pace=PACE) as api, quiet_hub(folder) as hub:
        people = [api.someone(2000 + number, f"Person {number}") for number in range(CHATS // 2)]
        chats = [each.private for each in people] + [
            api.supergroup(f"Team {at}", people[0]) for at in range(CHATS // 2)
        ]
        for each in people:
            each.start()
        await put_session(hub)
        names = [f"project{at}" for at in range(CHATS)]
        projects = []
        for name in names:
            (folder / name).mkdir()
            projects.append(await hub.desk.add_project(str(folder / name), name, Options()))
        for number in range(CARDS):
            await put_ask(hub, f"a_{number}", BASH, project=projects[number % CHATS].id)
        members = tuple(Member(each.number, each.account.first_name, "admin") for each in people)
        routes = {name: ChatPlace(chat.number) for name, chat in zip(names, chats, strict=True)}
        config = TelegramConfig(TOKEN, members, routes=routes, api=api.base)
        async with make_bot(hub, config, folder / "telegram", ShiftedClock(), second=1 / PACE):
            began = api.world.now()
            await api.until(lambda: api.count("sendMessage") >= CARDS + len(people), deadline=600)
            sent = api.world.now() - began
            elsewhere = hub.desk.seat(Person("dee", "seat"), "web")
            for number in range(CARDS):
                await elsewhere.answer(f"a_{number}", Deny())
            await api.until(lambda: api.count("editMessageText") >= CARDS, deadline=600)
            closed = api.world.now() - began
        each_chat = CARDS // CHATS
        report("sent", sent, least(each_chat), api.refused)
        report("sent and closed", closed, least(2 * each_chat), api.refused)


def least(messages: int) -> float:
    """The least seconds for this many messages in a group, which takes longer than a private chat."""
    limits = RateLimits()
    return (messages - 1) // limits.group_messages * limits.group_seconds


def report(what: str, seconds: float, floor: float, refused: int) -> None:
    verdict = "holds" if refused == 0 else "MISSED"
    figures.report(f"{CARDS} cards {what}, of the least time", seconds / floor)
    print(
        f"telegram: {CARDS} cards in {CHATS} chats {what}: {seconds / floor:.2f} of the least time that the limits "
        f"permit ({seconds:.0f} and {floor:.0f} s); refused with 429: {refused}; target: none: {verdict}"
    )


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        await compare(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        await flood(Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
