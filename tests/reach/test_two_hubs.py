"""Hubs over one database: the same channels and settings, one sender, and nothing twice."""

import asyncio
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from api.hubs import two_hubs
from api.test_notifications import add, until
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.model.asks import Permission
from handraise.reach.situation import ReachConfig
from handraise.surfaces.push.notifier import PushConfig
from surfaces.push.notified import raised

NPM = Permission("Bash", {"command": "npm test"})
OFTEN: dict[str, Any] = {
    "push": PushConfig(grace=timedelta(0)),
    "notifications": ReachConfig(private_addresses=True, renew=0.02),
}
BASE = "/api/notifications"


async def test_everything_is_sent_once_whichever_hub_it_comes_from(tmp_path: Path) -> None:
    async with (
        ntfy_server(NtfyServer()) as ntfy,
        two_hubs(tmp_path, **OFTEN) as (one, two),
        one.client("approver") as client,
        two.client("approver") as other,
    ):
        await add(client, ntfy)
        asks = [await raised(hub, NPM) for hub in (one, two) * 5]
        await until(lambda: len(ntfy.published) >= len(asks))
        for ask in asks:
            answered = await other.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": False}})
            assert answered.status_code == 200
        await until(lambda: len(ntfy.deleted) >= len(asks))
        sent = Counter(each["sequence_id"] for each in ntfy.published)
        assert set(sent.values()) == {1}
        assert len(sent) == len(asks)


async def test_who_looks_at_one_hub_is_not_notified_by_the_other(tmp_path: Path) -> None:
    async with (
        ntfy_server(NtfyServer()) as ntfy,
        two_hubs(tmp_path, **OFTEN) as (one, two),
        one.client("approver") as client,
        two.client("approver") as other,
    ):
        await add(client, ntfy)
        for page, each in (("p1", client), ("p2", other)):
            seen = {"page": page, "focused": each is other, "view": "inbox"}
            assert (await each.post("/api/presence", json=seen)).status_code == 200
        async with asyncio.timeout(60):
            while not (await client.get(BASE)).json()["looking"]:
                await asyncio.sleep(0.02)
        ask = await raised(one, NPM)
        async with asyncio.timeout(60):
            while not (entries := (await other.get(f"/api/asks/{ask.id}/notifications")).json()["entries"]):
                await asyncio.sleep(0.02)
        assert [each["reason"] for each in entries] == ["looking"]
        assert ntfy.published == []


async def test_settings_of_one_hub_count_at_the_other(tmp_path: Path) -> None:
    async with two_hubs(tmp_path, **OFTEN) as (one, two), one.client("admin") as client, two.client("viewer") as other:
        steps = [{"after": 60, "targets": [{"to": "devices", "person": ""}]}]
        assert (await client.put(f"{BASE}/chains/all", json={"steps": steps})).status_code == 200
        [chain] = (await other.get(f"{BASE}/chains")).json()["chains"]
        assert chain["steps"] == steps
