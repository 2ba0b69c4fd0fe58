"""Shared by the tests of webhooks: hubs with a receiver, and things that happen there."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from api.served import WHICH, Served, served
from handraise.model.asks import Ask, Body, Origin
from handraise.model.items import SessionEnded, SessionStarted, TurnEnded
from handraise.model.sessions import Session
from handraise.store.changes import OpenAsk, PublishItems
from handraise.surfaces.webhooks.webhooks import WebhookConfig
from surfaces.webhooks.receiver import Receiver, receiver

PRIVATE = WebhookConfig(private_addresses=True, renew=0.02)
_NUMBERS = itertools.count(1)


class MovableClock:
    """It stands still until a test moves it: pauses of hours pass at once, and none passes by itself."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self._began = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self._began + self.ahead


@asynccontextmanager
async def hooked(tmp: Path, **settings: Any) -> AsyncIterator[tuple[Served, httpx2.AsyncClient, Receiver]]:
    """A hub, its admin, and a receiver."""
    settings.setdefault("webhooks", PRIVATE)
    async with receiver() as there, served(tmp, **settings) as hub, hub.client("admin") as client:
        yield hub, client, there


async def add(client: httpx2.AsyncClient, url: str, **more: Any) -> tuple[str, str]:
    """The ID of a new webhook, and its secret."""
    made = await client.post("/api/webhooks", json={"name": "chat", "url": url, **more})
    assert made.status_code == 201, made.text
    return made.json()["webhook"]["id"], made.json()["secret"]


async def listed(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await client.get("/api/webhooks")).json()["webhooks"]
    return found


async def deliveries(client: httpx2.AsyncClient, webhook: str) -> list[dict[str, Any]]:
    answer = await client.get(f"/api/webhooks/{webhook}/deliveries")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["deliveries"]
    return found


async def until_delivery(client: httpx2.AsyncClient, webhook: str, **wanted: object) -> dict[str, Any]:
    """Until the newest delivery has these values."""
    async with asyncio.timeout(60):
        while True:
            found = await deliveries(client, webhook)
            if found and all(found[0][name] == value for name, value in wanted.items()):
                return found[0]
            await asyncio.sleep(0.02)


async def until_webhook(client: httpx2.AsyncClient, webhook: str, **wanted: object) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            (found,) = [each for each in await listed(client) if each["id"] == webhook]
            if all(found[name] == value for name, value in wanted.items()):
                return found
            await asyncio.sleep(0.02)


async def until_recorded(client: httpx2.AsyncClient, what: str) -> dict[str, Any]:
    """The newest such entry of the audit log, once there is one."""
    async with asyncio.timeout(60):
        while True:
            found = (await client.get("/api/audit", params={"what": what, "order": "newest"})).json()["entries"]
            if found:
                entry: dict[str, Any] = found[0]
                return entry
            await asyncio.sleep(0.02)


async def raised(
    hub: Served, body: Body = WHICH, *, project: str | None = None, session: str | None = None, tool: str = "ask_user"
) -> Ask:
    """Another ask, with an ID that no hub of the test used before."""
    name = f"a_hook{next(_NUMBERS)}"
    asker = "session" if session else "agent"
    ask = Ask(name, session, project, body, tool, Origin(name), datetime.now(UTC), asker)  # type: ignore[arg-type]
    await hub.up.hub.store.apply([OpenAsk(ask)])
    return ask


async def answer(client: httpx2.AsyncClient, ask: str, text: dict[str, Any]) -> None:
    assert (await client.post(f"/api/asks/{ask}/answer", json={"answer": text})).status_code == 200


async def life_of(hub: Served, session: Session) -> None:
    """A session that starts, has a turn, and ends."""
    now = datetime.now(UTC)
    started = SessionStarted(session.title, session.project, session.directory, "default", None, 1)
    contents = (started, TurnEnded(1, 0.5, 10, {}, False, None, "Done."), SessionEnded("finished", "", 0))
    await hub.up.hub.store.apply([PublishItems(session.id, now, each) for each in contents])
