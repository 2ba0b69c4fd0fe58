"""Shared by the tests of the notifier: people with phones, asks, and waiting for what the hub reports about
devices."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import httpx2

from api.served import WHICH, Served
from handraise.model.actors import Person
from handraise.model.asks import Ask, Body, Origin, Permission
from handraise.model.audit import Entry
from handraise.model.items import SessionEnded
from handraise.model.tokens import Role
from handraise.store.changes import OpenAsk, PublishItems, Record
from handraise.surfaces.push.notifier import PushConfig
from surfaces.push.vendor import Phone, Vendor

NUMBERS = itertools.count(1)
AT_ONCE = PushConfig(private_addresses=True, grace=timedelta(0))
NPM = Permission("Bash", {"command": "npm test"})


@asynccontextmanager
async def switched_on(
    hub: Served, service: Vendor, role: Role = "approver", **more: Any
) -> AsyncIterator[tuple[httpx2.AsyncClient, Phone, str]]:
    """A person with a phone that has notifications on, and its id at the hub."""
    async with hub.client(role) as client:
        phone, name = await switch_on(client, service, **more)
        yield client, phone, name


async def switch_on(client: httpx2.AsyncClient, service: Vendor, **more: Any) -> tuple[Phone, str]:
    phone = service.phone((await client.get("/api/push")).json()["key"])
    made = await client.post("/api/push/devices", json=phone.subscription(**more))
    assert made.status_code == 201, made.text
    return phone, made.json()["id"]


async def raised(hub: Served, body: Body = WHICH, *, session: str | None = None, wait: timedelta = timedelta(0)) -> Ask:
    """Another ask, with an id that no hub of the test used before; `wait` is how long before a notification is
    sent."""
    name = f"a_new{next(NUMBERS)}"
    asker: Literal["session", "agent"] = "session" if session else "agent"
    ask = Ask(name, session, None, body, "ask_user", Origin(name), datetime.now(UTC) + wait, asker)
    await hub.up.hub.store.apply([OpenAsk(ask)])
    return ask


async def own(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = (await client.get("/api/push/devices")).json()["devices"]
    return devices


async def answer(client: httpx2.AsyncClient, ask: str, text: dict[str, Any]) -> None:
    assert (await client.post(f"/api/asks/{ask}/answer", json={"answer": text})).status_code == 200


def about(ask: str, kind: str = "ask") -> Any:
    return lambda notice: (notice["kind"], notice.get("ask")) == (kind, ask)


async def end(
    hub: Served, session: str, by: str, how: str, reason: str, stopped_by: str | None = None, *, alarm: bool = False
) -> None:
    now = datetime.now(UTC)
    began = Entry(now, "session started", Person(by), "test", session=session)
    ended = SessionEnded(how, reason, None, stopped_by, alarm)
    await hub.up.hub.store.apply([Record(began), PublishItems(session, now, ended)])


async def until_device(client: httpx2.AsyncClient, name: str, value: object) -> bool:
    async with asyncio.timeout(60):
        while [each[name] for each in await own(client)] != [value]:
            await asyncio.sleep(0.02)
    return True


async def until_gone(client: httpx2.AsyncClient) -> bool:
    async with asyncio.timeout(60):
        while await own(client):
            await asyncio.sleep(0.02)
    return True
