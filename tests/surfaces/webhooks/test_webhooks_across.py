"""Webhooks of two hubs over one database: the same webhooks, one sender, and each event once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from api.hubs import cut_off, hub_over, two_hubs
from api.served import A, Served, served
from handraise.store.interface import Store
from handraise.store.memory.store import MemoryDatabase
from handraise.store.postgres.store import PostgresStore
from surfaces.webhooks.hooked import PRIVATE, add, answer, deliveries, listed, raised, until_delivery, until_webhook
from surfaces.webhooks.receiver import Receiver, receiver, status

LEASE = 31.0


def repeated(there: Receiver) -> list[str]:
    return [each for each, times in Counter(got.id for got in there.received).items() if times > 1]


@asynccontextmanager
async def hubs_on(
    tmp: Path, store: Callable[[str], Store], names: tuple[str, ...] = ("one", "two")
) -> AsyncIterator[list[Served]]:
    async with AsyncExitStack() as stack:
        made = []
        for name in names:
            (tmp / name).mkdir()
            made.append(await stack.enter_async_context(served(tmp / name, store=store, webhooks=PRIVATE)))
        yield made


async def each_once(one: Served, two: Served, there: Receiver) -> None:
    """Both hubs add a webhook, and things happen at both: everything arrives once at each."""
    async with one.client("admin") as here, two.client("admin") as elsewhere:
        first, _ = await add(here, there.url("/first"))
        second, _ = await add(elsewhere, there.url("/second"))
        asks = [await raised(hub) for hub in (one, two) * 5]
        for ask in asks:
            await answer(elsewhere, ask.id, A)
        about = [(name, ask.id) for ask in asks for name in ("ask.opened", "ask.settled")]
        wanted = {(path, each) for path in ("/first", "/second") for each in about}
        await there.until(lambda got: wanted <= {(each.path, each.about) for each in got})
        for webhook in (first, second):
            await until_webhook(elsewhere, webhook, queued=0, state="on")
            assert len(await deliveries(here, webhook)) == len(about)
        assert repeated(there) == []
        assert len(there.received) == 2 * len(about)


async def test_two_hubs_send_each_event_once(tmp_path: Path) -> None:
    async with receiver() as there, two_hubs(tmp_path, webhooks=PRIVATE) as (one, two):
        await each_once(one, two, there)


async def test_two_hubs_on_postgres_send_each_event_once(tmp_path: Path, database: str) -> None:
    async with (
        receiver() as there,
        hubs_on(tmp_path, lambda machine: PostgresStore(database, machine)) as (one, two),
    ):
        await each_once(one, two, there)


async def test_a_webhook_can_be_changed_and_tested_at_the_other_hub(tmp_path: Path) -> None:
    async with (
        receiver() as there,
        two_hubs(tmp_path, webhooks=PRIVATE) as (one, two),
        one.client("admin") as here,
        two.client("admin") as elsewhere,
    ):
        webhook, secret = await add(elsewhere, there.url())
        assert [each["id"] for each in await listed(here)] == [webhook]
        for client in (here, elsewhere):
            assert (await client.post(f"/api/webhooks/{webhook}/test")).json()["state"] == "sent"
        rotated = (await elsewhere.post(f"/api/webhooks/{webhook}/secret")).json()["secret"]
        ask = await raised(one)
        await there.until_about(("ask.opened", ask.id))
        assert there.received[-1].is_signed_with(secret)
        assert there.received[-1].is_signed_with(rotated)
        newest = await until_delivery(elsewhere, webhook, event="ask.opened", state="sent")
        again = await elsewhere.post(f"/api/webhooks/{webhook}/deliveries/{newest['id']}/resend")
        assert again.json()["attempts"][-1]["status"] == 204
        await elsewhere.patch(f"/api/webhooks/{webhook}", json={"enabled": False})
        await raised(one)
        await elsewhere.patch(f"/api/webhooks/{webhook}", json={"enabled": True})
        last = await raised(two)
        await there.until_about(("ask.opened", last.id))
        assert [each.about for each in there.received[2:]] == [
            ("ask.opened", ask.id),
            ("ask.opened", ask.id),
            ("ask.opened", last.id),
        ]
        assert (await elsewhere.delete(f"/api/webhooks/{webhook}")).status_code == 200
        assert await listed(here) == []


async def test_when_the_hub_that_sends_stops_the_other_goes_on(tmp_path: Path) -> None:
    database = MemoryDatabase()
    async with receiver() as there, AsyncExitStack() as stays, asyncio.timeout(60):
        async with hub_over(database, tmp_path / "one", webhooks=PRIVATE) as one:
            later = await stays.enter_async_context(hub_over(database, tmp_path / "two", webhooks=PRIVATE))
            async with one.client("admin") as client:
                webhook, _ = await add(client, there.url())
                ask = await raised(one)
                await there.until_about(("ask.opened", ask.id))
                await until_delivery(client, webhook, state="sent")
        second = await raised(later)
        await there.until_about(("ask.opened", second.id))
        assert repeated(there) == []


@pytest.mark.parametrize("fails", [False, True])
async def test_when_the_hub_that_sends_is_killed_the_other_takes_over_after_its_lease(
    tmp_path: Path, fails: bool
) -> None:
    now = [0.0]
    async with (
        receiver() as there,
        two_hubs(tmp_path, MemoryDatabase(lambda: now[0]), webhooks=PRIVATE) as (one, two),
        two.client("admin") as client,
    ):
        webhook, _ = await add(client, there.url())
        ask = await raised(two)
        await there.until_about(("ask.opened", ask.id))
        await until_delivery(client, webhook, state="sent")
        if fails:
            there.replies.append(status(500))
        cut_off(one)
        second = await raised(two)
        now[0] += LEASE
        await there.until_about(("ask.opened", second.id))
        assert len(there.received) == 2
