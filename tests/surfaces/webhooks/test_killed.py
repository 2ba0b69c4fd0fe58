"""A hub that is killed between any two steps loses no event, and what it sends twice has the same ID."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from desk.hubs import quiet_hub
from handraise.auth import Auth
from handraise.desk.shared import RecordChange
from handraise.hub.hub import Hub
from handraise.hub.shared import StoreRecords
from handraise.model.actors import Person
from handraise.model.asks import Ask, Option, Origin, Prompt, Question
from handraise.model.webhooks import NewWebhook
from handraise.store.changes import OpenAsk
from handraise.store.interface import Store, StoreAway
from handraise.surfaces.webhooks.webhooks import Webhooks
from surfaces.webhooks.hooked import PRIVATE
from surfaces.webhooks.receiver import Receiver, receiver, status

ANA = Person("ana")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WHICH = Question((Prompt("Which?", "", (Option("A"),)),))
DEADLINE = 30.0


class DyingRecords(StoreRecords):
    """Real records, until the hub dies at one step: before it takes effect, or right after."""

    def __init__(self, store: Store, dies_at: int, *, after: bool) -> None:
        super().__init__(store)
        self.died = asyncio.Event()
        self._left = dies_at
        self._after = after

    async def read(self, kind: str) -> dict[str, bytes]:
        is_last = await self._step()
        found = await super().read(kind)
        await (self._die() if is_last else asyncio.sleep(0))
        return found

    async def save(self, kind: str, changes: Sequence[RecordChange]) -> Sequence[bool]:
        is_last = await self._step()
        took = await super().save(kind, changes)
        await (self._die() if is_last else asyncio.sleep(0))
        return took

    async def _step(self) -> bool:
        """Whether it dies after this one."""
        if self.died.is_set():
            raise StoreAway("It was killed.")
        self._left -= 1
        if self._left == 0 and not self._after:
            await self._die()
        return self._left == 0

    async def _die(self) -> None:
        self.died.set()
        await asyncio.Event().wait()


@asynccontextmanager
async def sending(
    opened: Hub, records: StoreRecords, clock: Callable[[], datetime] | None = None
) -> AsyncIterator[Webhooks]:
    auth = Auth(opened.store, opened.clock, os.urandom)
    desk = opened.desk.seat(Person("handraise"), "webhooks")
    async with Webhooks(desk, auth, records, clock or opened.clock, os.urandom, "http://hub", PRIVATE) as made:
        yield made


async def raise_ask(opened: Hub, name: str) -> None:
    ask = Ask(name, None, None, WHICH, "ask_user", Origin(name), datetime.now(UTC), "agent")
    await opened.store.apply([OpenAsk(ask)])


async def states(webhooks: Webhooks, webhook: str) -> list[str]:
    return [each.state for each in await webhooks.deliveries(webhook)]


async def survives(opened: Hub, there: Receiver, webhook: str, dies_at: int, *, after: bool) -> bool:
    """Whether the hub did everything before it came to that step. If not, the next one does the rest."""
    there.received.clear()
    names = [f"a_{dies_at}_{after}_{number}" for number in range(2)]
    for name in names:
        await raise_ask(opened, name)
    wanted = [("ask.opened", name) for name in names]
    records = DyingRecords(opened.store, dies_at, after=after)
    # As after a kill: what the first hub began isn't finished by anyone before the second one starts.
    first = asyncio.create_task(run(opened, records, webhook))
    died = asyncio.create_task(records.died.wait())
    async with asyncio.timeout(DEADLINE):
        await asyncio.wait([first, died], return_when=asyncio.FIRST_COMPLETED)
    is_done = first.done()
    for task in (first, died):
        task.cancel()
    await asyncio.gather(first, died, return_exceptions=True)
    async with sending(opened, StoreRecords(opened.store)) as webhooks:
        await there.until_about(*wanted)
        async with asyncio.timeout(DEADLINE):
            while "queued" in await states(webhooks, webhook):
                await asyncio.sleep(0.01)
    received = [(each.about, each.id) for each in there.received]
    assert {about for about, _ in received} == set(wanted), "nothing is lost"
    assert len(set(received)) == len(wanted), "what comes twice has the same ID"
    assert max(Counter(received).values()) <= 2
    return is_done


async def run(opened: Hub, records: StoreRecords, webhook: str) -> None:
    """A hub that sends what there is; it stops when nothing is left."""
    living = StoreRecords(opened.store)
    async with sending(opened, records), sending_nothing(opened, living) as observer:
        _, newest = await opened.store.cursors()
        while int((await living.read("webhooks")).get("cursor", b"0")) < newest:
            await asyncio.sleep(0.005)
        while "queued" in await states(observer, webhook):
            await asyncio.sleep(0.005)


@asynccontextmanager
async def sending_nothing(opened: Hub, records: StoreRecords) -> AsyncIterator[Webhooks]:
    """Looks at the same webhooks without being entered, so it neither follows the feed nor sends."""
    auth = Auth(opened.store, opened.clock, os.urandom)
    yield Webhooks(opened.desk, auth, records, opened.clock, os.urandom, "http://hub", PRIVATE)


async def test_a_hub_that_is_killed_at_any_step_loses_nothing(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path) as opened, receiver() as there:
        async with sending(opened, StoreRecords(opened.store)) as webhooks:
            made, _ = await webhooks.add(NewWebhook("chat", there.url()), ANA, "test")
        steps = 0
        for after in (False, True):
            dies_at = 1
            while not await survives(opened, there, made.webhook.id, dies_at, after=after):
                dies_at += 1
            steps += dies_at
        assert steps > 15, "every read and write was a step"


async def test_a_killed_hub_does_not_forget_a_failure(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path) as opened, receiver() as there:
        there.always = status(500)
        async with sending(opened, StoreRecords(opened.store), lambda: NOON) as webhooks:
            made, _ = await webhooks.add(NewWebhook("chat", there.url()), ANA, "test")
            await raise_ask(opened, "a_1")
            async with asyncio.timeout(DEADLINE):
                while not (found := await webhooks.deliveries(made.webhook.id)) or found[0].tries == 0:
                    await asyncio.sleep(0.01)
        async with sending(opened, StoreRecords(opened.store), lambda: NOON) as webhooks:
            (again,) = await webhooks.deliveries(made.webhook.id)
            assert (again.tries, again.state, again.next_at) == (1, "queued", found[0].next_at)
            (seen,) = await webhooks.list_all()
            assert seen.state == "failing"


async def test_a_kill_while_a_webhook_is_removed_leaves_nothing_behind_that_sends(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path) as opened, receiver() as there:
        for dies_at in range(1, 12):
            living = StoreRecords(opened.store)
            async with sending(opened, living) as webhooks:
                made, _ = await webhooks.add(NewWebhook("chat", there.url()), ANA, "test")
                await webhooks.test(made.webhook.id)
            records = DyingRecords(opened.store, dies_at, after=True)
            async with sending_nothing(opened, records) as dying:
                removing = asyncio.create_task(dying.remove(made.webhook.id, ANA, "test"))
                died = asyncio.create_task(records.died.wait())
                await asyncio.wait([removing, died], return_when=asyncio.FIRST_COMPLETED)
                for task in (removing, died):
                    task.cancel()
                await asyncio.gather(removing, died, return_exceptions=True)
            async with sending_nothing(opened, living) as webhooks:
                if await webhooks.list_all():
                    await webhooks.remove(made.webhook.id, ANA, "test")
            assert await living.read("webhooks") == {}
