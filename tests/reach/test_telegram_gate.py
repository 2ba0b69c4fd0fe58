"""Telegram asks the one decision before it shows a card, and shows it in a session's own topic anyway."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from desk.hubs import BASH, put_ask, put_session, quiet_hub
from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.model.asks import Ask
from handraise.surfaces.telegram.card_board import CardBoard
from handraise.surfaces.telegram.ledger import Ledger
from handraise.surfaces.telegram.outgoing import Blocked, ChatPlace
from handraise.surfaces.telegram.people import Member, People, TelegramConfig
from handraise.surfaces.telegram.reach import Reach
from surfaces.telegram.test_card_board import InstantOutbox, until_sent

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class FakeGate:
    """Lets through what a test says."""

    def __init__(self, opens: datetime | None) -> None:
        self.opens = opens
        self.asked: list[tuple[str, str, str]] = []
        self.sent: list[tuple[str, str, str]] = []
        self.troubles: list[str] = []
        self.listeners: list[Callable[[], None]] = []
        self.was_reported = asyncio.Event()

    def opens_at(self, ask: Ask, channel: str, person: str) -> datetime | None:
        self.asked.append((ask.id, channel, person))
        return self.opens

    def report_sent(self, ask: Ask, channel: str, person: str, label: str = "", trouble: str | None = None) -> None:
        if trouble is None:
            self.sent.append((ask.id, channel, person))
        else:
            self.troubles.append(trouble)
        self.was_reported.set()

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(changed)
        return lambda: self.listeners.remove(changed)

    def change(self, opens: datetime | None) -> None:
        self.opens = opens
        for listener in self.listeners:
            listener()


def now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def gated(
    tmp: Path, gate: FakeGate, reach: Reach | None = None
) -> AsyncIterator[tuple[CardBoard, InstantOutbox, Hub, Ledger]]:
    people = People(TelegramConfig("1:x", (Member(1001, "ana", "admin"),)))
    people.private[1001] = 1001
    outbox = InstantOutbox()
    async with quiet_hub(tmp) as hub, Ledger(tmp / "telegram.db", lambda: datetime.now(UTC)) as ledger:
        await put_session(hub)
        desk = hub.desk.seat(Person("handraise"), "telegram")
        async with CardBoard(
            desk,
            ledger,
            outbox,
            people,
            reach or Reach(),
            lambda: datetime.now(UTC),
            os.urandom,
            "http://hub",
            gate=gate,
        ) as board:
            yield board, outbox, hub, ledger


async def test_a_card_waits_for_the_gate_and_is_reported_when_it_arrived(tmp_path: Path) -> None:
    gate = FakeGate(None)
    async with gated(tmp_path, gate) as (board, outbox, hub, ledger):
        await board.open(await put_ask(hub, "a_1", BASH))
        assert outbox.sent == []
        assert gate.asked == [("a_1", "telegram", "ana")]
        gate.change(LONG_AGO)
        await until_sent(ledger)
        async with asyncio.timeout(30):
            await gate.was_reported.wait()
        assert gate.sent == [("a_1", "telegram", "ana")]
    assert gate.listeners == []


async def test_a_chat_that_refuses_is_reported_once(tmp_path: Path) -> None:
    gate, reach = FakeGate(LONG_AGO), Reach()
    async with gated(tmp_path, gate, reach) as (board, outbox, hub, ledger):
        outbox.result = Blocked("Forbidden: bot was blocked by the user")
        await board.open(await put_ask(hub, "a_1", BASH))
        async with asyncio.timeout(30):
            await gate.was_reported.wait()
        assert gate.sent == []
        outbox.result = None
        async with asyncio.timeout(30):
            while not gate.sent:
                reach.regain(1001)
                await asyncio.sleep(0.01)
        await until_sent(ledger)
    assert gate.troubles == ["Telegram refused the message: Forbidden: bot was blocked by the user"]
    assert gate.sent == [("a_1", "telegram", "ana")]


async def test_a_card_that_opens_later_comes_then(tmp_path: Path) -> None:
    gate = FakeGate(datetime.now(UTC) + timedelta(milliseconds=50))
    async with gated(tmp_path, gate) as (board, _, hub, ledger):
        await board.open(await put_ask(hub, "a_1", BASH))
        await until_sent(ledger)


async def test_in_a_sessions_own_topic_a_card_comes_at_once(tmp_path: Path) -> None:
    gate = FakeGate(None)
    async with gated(tmp_path, gate) as (board, _, hub, _):
        board.place_of = lambda _: ChatPlace(-100300, 17)
        await board.open(await put_ask(hub, "a_1", BASH))
        assert gate.asked == []
        assert board.unfinished == 1
