"""The board: which asks are shown where, whatever happens at the same time."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from desk.hubs import BASH, put_ask, put_session, quiet_hub
from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.model.answers import Deny
from handraise.surfaces.telegram.card_board import CardBoard
from handraise.surfaces.telegram.deliveries import Delivery
from handraise.surfaces.telegram.ledger import Ledger
from handraise.surfaces.telegram.outgoing import ChatPlace, EditText, Outgoing, SendResult, SendText, Sent
from handraise.surfaces.telegram.pacing import Priority
from handraise.surfaces.telegram.people import Member, People, TelegramConfig
from handraise.surfaces.telegram.reach import Reach

HERE = ChatPlace(1001)


class InstantOutbox:
    """Everything arrives at once."""

    def __init__(self) -> None:
        self.sent: list[Outgoing] = []
        self.result: SendResult | None = None
        """What becomes of a message, if it doesn't arrive."""

    def put(
        self, outgoing: Outgoing, *, priority: Priority, key: str = "", follows: bool = False
    ) -> asyncio.Future[SendResult]:
        assert priority == "card"
        self.sent.append(outgoing)
        future: asyncio.Future[SendResult] = asyncio.get_running_loop().create_future()
        future.set_result(self.result or Sent(100 + len(self.sent)))
        return future

    def withdraw(self, future: asyncio.Future[SendResult]) -> bool:
        return False


@asynccontextmanager
async def board_of(tmp: Path) -> AsyncIterator[tuple[CardBoard, InstantOutbox, Hub, Ledger]]:
    people = People(TelegramConfig("1:x", (Member(1001, "ana", "admin"),)))
    people.private[1001] = 1001
    outbox = InstantOutbox()
    async with quiet_hub(tmp) as hub, Ledger(tmp / "telegram.db", lambda: datetime.now(UTC)) as ledger:
        await put_session(hub)
        desk = hub.desk.seat(Person("handraise"), "telegram")
        board = CardBoard(desk, ledger, outbox, people, Reach(), lambda: datetime.now(UTC), os.urandom, "http://hub")
        async with board:
            yield board, outbox, hub, ledger


async def until_closed(ledger: Ledger, ask: str = "a_1") -> Delivery:
    async with asyncio.timeout(30):
        while not (found := await ledger.delivery(ask, HERE)) or not found.is_closed:
            await asyncio.sleep(0.01)
    return found


async def until_sent(ledger: Ledger, ask: str = "a_1") -> Delivery:
    async with asyncio.timeout(30):
        while not (found := await ledger.delivery(ask, HERE)) or not found.copies:
            await asyncio.sleep(0.01)
    return found


async def until_finished(board: CardBoard) -> None:
    async with asyncio.timeout(30):
        while board.unfinished:
            await asyncio.sleep(0.01)


async def test_what_was_read_before_an_ask_was_settled_does_not_open_its_card_again(
    tmp_path: Path,
) -> None:  # lesson 32
    async with board_of(tmp_path) as (board, outbox, hub, ledger):
        before = await put_ask(hub, "a_1", BASH)
        await board.open(before)
        await until_sent(ledger)
        await hub.desk.seat(Person("dee"), "web").answer("a_1", Deny())
        await board.settle("a_1")
        for _ in range(3):
            sender = await board.sender(before, HERE)
            assert sender is not None
            assert not sender.is_open
            await board.refresh(before)
            await until_closed(ledger)
            await until_finished(board)
        assert all(not each.keyboard for each in outbox.sent if isinstance(each, EditText))


async def test_an_ask_that_is_settled_while_places_change_is_not_sent(tmp_path: Path) -> None:
    async with board_of(tmp_path) as (board, outbox, hub, ledger):
        await board.reconcile([await put_ask(hub, "a_1", BASH), await put_ask(hub, "a_2", BASH)])
        await hub.desk.seat(Person("dee"), "web").answer("a_1", Deny())
        await asyncio.gather(board.spread(), board.settle("a_1"), board.spread())
        await until_closed(ledger)
        await board.spread()
        assert board.waiting == 1
        sent = [each for each in outbox.sent if isinstance(each, SendText)]
        assert len(sent) == 2


async def test_a_card_from_before_its_session_had_a_topic_can_still_be_answered(tmp_path: Path) -> None:
    async with board_of(tmp_path) as (board, _, hub, _):
        ask = await put_ask(hub, "a_1", BASH)
        await board.open(ask)
        board.place_of = lambda _: ChatPlace(-100300, 17)
        assert await board.sender(ask, HERE) is not None
        assert await board.sender(ask, ChatPlace(4711)) is None


async def test_a_card_whose_ask_is_gone_says_so(tmp_path: Path) -> None:
    async with board_of(tmp_path) as (board, outbox, hub, ledger):
        await board.open(await put_ask(hub, "a_1", BASH))
        found = await until_sent(ledger)
    async with board_of(tmp_path / "other hub") as (board, outbox, hub, ledger):
        await board.restore([found])
        await until_closed(ledger)
        (edit,) = outbox.sent
        assert isinstance(edit, EditText)
        assert edit.content.text == "This request is no longer shown here."
