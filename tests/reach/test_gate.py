"""Web Push asks the one decision: presence, quiet hours, mutes and chains count for it, too."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from api.served import served
from handraise.model.asks import Permission
from handraise.model.dangers import Danger
from surfaces.push.notified import AT_ONCE, about, raised, switched_on
from surfaces.push.vendor import vendor

NPM = Permission("Bash", {"command": "npm test"})
BASE = "/api/notifications"


async def until_held(client: httpx2.AsyncClient, ask: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            entries = (await client.get(f"/api/asks/{ask}/notifications")).json()["entries"]
            if entries:
                entry: dict[str, Any] = entries[-1]
                return entry
            await asyncio.sleep(0.02)


async def test_a_phone_is_silent_while_its_owner_looks_at_the_session_elsewhere(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (client, phone, _),
    ):
        session = await hub.session(phase="idle")
        seen = {"page": "p", "focused": True, "view": "session", "session": session.id}
        await client.post("/api/presence", json=seen)
        ask = await raised(hub, NPM, session=session.id)
        held = await until_held(client, ask.id)
        assert (held["channel"], held["reason_text"]) == ("push", "You were looking at it")
        assert phone.shown == []
        await client.post("/api/presence", json={**seen, "focused": False})
        await phone.until(about(ask.id))
        log = (await client.get(f"/api/asks/{ask.id}/notifications")).json()
        assert log["noticed_by"] == "a approver"


async def test_a_mute_and_a_chain_hold_for_push(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.client("admin") as admin,
        switched_on(hub, service) as (client, phone, _),
    ):
        session = await hub.session(phase="idle")
        until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        mute = (await client.post(f"{BASE}/mutes", json={"session": session.id, "until": until})).json()
        muted = await raised(hub, NPM, session=session.id)
        assert (await until_held(client, muted.id))["reason"] == "muted"
        await client.delete(f"{BASE}/mutes/{mute['id']}")
        await phone.until(about(muted.id))

        steps = [{"after": 3600, "targets": [{"to": "devices"}]}]
        await admin.put(f"{BASE}/chains/all", json={"steps": steps})
        later = await raised(hub, NPM)
        await admin.put(f"{BASE}/chains/all", json={"steps": [{"after": 0, "targets": [{"to": "screens"}]}]})
        assert (await until_held(client, later.id))["reason"] == "not_in_chain"
        await admin.delete(f"{BASE}/chains/all")
        await phone.until(about(later.id))


async def test_quiet_hours_hold_for_push_and_urgent_asks_get_through(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    hours = {
        "start": f"{now - timedelta(hours=1):%H:%M}",
        "end": f"{now + timedelta(hours=2):%H:%M}",
        "time_zone": "UTC",
    }
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (client, phone, _),
    ):
        assert (await client.put(f"{BASE}/quiet-hours", json=hours)).status_code == 200
        quiet = await raised(hub, NPM)
        assert (await until_held(client, quiet.id))["reason_text"].startswith("Quiet hours until ")
        danger = Permission("Bash", {"command": "rm -rf /"}, dangers=(Danger("deletes_outside", "/"),))
        urgent = await raised(hub, danger)
        await phone.until(about(urgent.id))
        assert [ask for kind, ask in phone.shown if kind == "ask"] == [urgent.id]
