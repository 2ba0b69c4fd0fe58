"""Notifiers of two hubs over one database: the same devices, one sender, and nothing twice."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
from msgspec.structs import replace

from api.hubs import cut_off, hub_over, two_hubs
from api.served import A, Served
from handraise.model.actors import Person
from handraise.store.memory.store import MemoryDatabase
from surfaces.push.notified import AT_ONCE, about, answer, own, raised, switch_on, switched_on
from surfaces.push.vendor import Phone, vendor

OFTEN = replace(AT_ONCE, renew=0.02)
LEASE = 31.0
_ANA = Person("ana")


def repeated(phone: Phone) -> list[tuple[str, str | None]]:
    return [each for each, times in Counter(phone.shown).items() if times > 1]


async def until_stored(hub: Served, ask: str) -> None:
    """Until the database says that a device shows it. A hub killed before that leaves a doubt, and it is sent again."""
    async with asyncio.timeout(30):
        while not any(ask in _shown(each) for each in (await hub.up.hub.store.records("push")).values()):
            await asyncio.sleep(0.02)


def _shown(record: bytes) -> dict[str, str]:
    found = msgspec.json.decode(record) if record.startswith(b"{") else {}
    return found.get("shown", {}) if isinstance(found, dict) else {}


async def test_a_device_gets_everything_once_whichever_hub_it_was_turned_on_at(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        two_hubs(tmp_path, push=OFTEN) as (one, two),
        switched_on(one, service) as (client, first, _),
        switched_on(two, service) as (other, second, _),
    ):
        assert first.made_for == second.made_for
        asks = [await raised(hub) for hub in (one, two) * 5]
        for phone in (first, second):
            for ask in asks:
                await phone.until(about(ask.id))
        await answer(client, asks[0].id, A)
        await answer(other, asks[1].id, A)
        for phone in (first, second):
            await phone.until(about(asks[0].id, "settled"))
            await phone.until(about(asks[1].id, "settled"))
            assert repeated(phone) == []
            assert len(phone.shown) == len(asks) + 2


async def test_a_device_can_be_seen_tested_and_removed_at_the_other_hub(tmp_path: Path) -> None:
    async with vendor() as service, two_hubs(tmp_path, push=OFTEN) as (one, two):
        made = await one.up.auth.make("ana", "approver", _ANA, "test")
        headers = {"authorization": f"Bearer {made.secret}"}
        async with one.client() as here, two.client() as there:
            here.headers.update(headers)
            there.headers.update(headers)
            phone, name = await switch_on(here, service)
            assert [each["id"] for each in await own(there)] == [name]
            assert (await there.post(f"/api/push/devices/{name}/test")).json() == {"sent": True, "trouble": None}
            assert (await there.delete(f"/api/push/devices/{name}")).status_code == 200
            assert await own(here) == []
            phone_after, _ = await switch_on(there, service)
            ask = await raised(one)
            await phone_after.until(about(ask.id))
            assert phone.shown == [("trial", None)]


async def test_what_was_put_away_at_the_other_hub_is_not_taken_back(tmp_path: Path) -> None:
    async with vendor() as service, two_hubs(tmp_path, push=OFTEN) as (one, two):
        made = await one.up.auth.make("ana", "approver", _ANA, "test")
        async with one.client() as here, two.client() as there:
            for client in (here, there):
                client.headers["authorization"] = f"Bearer {made.secret}"
            phone, name = await switch_on(here, service)
            first, second = await raised(one), await raised(one)
            await phone.until(about(first.id))
            await phone.until(about(second.id))
            done = await there.post(f"/api/push/devices/{name}/closed", json={"ask": first.id})
            assert done.status_code == 200
            await answer(there, first.id, A)
            await answer(here, second.id, A)
            await phone.until(about(second.id, "settled"))
            assert ("settled", first.id) not in phone.shown


async def test_when_the_hub_that_sends_stops_the_other_goes_on_at_once(tmp_path: Path) -> None:
    database = MemoryDatabase()
    async with vendor() as service, AsyncExitStack() as stays, asyncio.timeout(60):
        async with hub_over(database, tmp_path / "one", push=OFTEN) as one:
            later = await stays.enter_async_context(hub_over(database, tmp_path / "two", push=OFTEN))
            made = await one.up.auth.make("ana", "approver", _ANA, "test")
            async with one.client() as client:
                client.headers["authorization"] = f"Bearer {made.secret}"
                phone, _ = await switch_on(client, service)
                ask = await raised(one)
                await phone.until(about(ask.id))
        async with later.neighbour() as owner:
            await answer(owner, ask.id, A)
        await phone.until(about(ask.id, "settled"))
        again = await raised(later)
        await phone.until(about(again.id))
        assert repeated(phone) == []


async def test_when_the_hub_that_sends_is_killed_the_other_takes_over_after_its_lease(tmp_path: Path) -> None:
    now = [0.0]
    async with (
        vendor() as service,
        two_hubs(tmp_path, MemoryDatabase(lambda: now[0]), push=OFTEN) as (one, two),
        switched_on(two, service) as (client, phone, _),
    ):
        before = await raised(one)
        await phone.until(about(before.id))
        await until_stored(two, before.id)
        cut_off(one)
        lost = await raised(two)
        now[0] += LEASE
        await phone.until(about(lost.id))
        await answer(client, before.id, A)
        await phone.until(about(before.id, "settled"))
        assert repeated(phone) == []
        cut_off(one, cut=False)
        after = await raised(two)
        await phone.until(about(after.id))
        assert repeated(phone) == []


async def test_two_hubs_that_add_the_same_browser_at_once_notify_it_once(tmp_path: Path) -> None:
    async with vendor() as service, two_hubs(tmp_path, push=OFTEN) as (one, two):
        made = await one.up.auth.make("ana", "approver", _ANA, "test")
        async with one.client() as here, two.client() as there:
            for client in (here, there):
                client.headers["authorization"] = f"Bearer {made.secret}"
            phone = service.phone((await here.get("/api/push")).json()["key"])
            assert phone.made_for == (await there.get("/api/push")).json()["key"]
            await asyncio.gather(
                *(client.post("/api/push/devices", json=phone.subscription()) for client in (here, there))
            )
            asks = [await raised(hub) for hub in (one, two) * 3]
            for ask in asks:
                await phone.until(about(ask.id))
            assert repeated(phone) == []
            async with asyncio.timeout(30):
                while len(await own(here)) != 1:
                    await asyncio.sleep(0.02)


async def test_a_device_ends_with_its_sign_in_wherever_that_was_revoked(tmp_path: Path) -> None:
    async with vendor() as service, two_hubs(tmp_path, push=OFTEN) as (one, two):
        made = await two.up.auth.make("ana", "approver", _ANA, "test")
        async with two.client() as client, one.client("admin") as admin:
            client.headers["authorization"] = f"Bearer {made.secret}"
            phone, _ = await switch_on(client, service)
            await raised(one)
            await phone.until(lambda notice: notice["kind"] == "ask")
            assert (await admin.delete(f"/api/tokens/{made.token.id}")).status_code == 200
            shown = len(phone.shown)
            await raised(one)
            async with asyncio.timeout(30):
                while any(name.startswith("d_") for name in await one.up.hub.store.records("push")):
                    await asyncio.sleep(0.02)
            assert len(phone.shown) == shown
