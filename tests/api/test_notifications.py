"""Notifications over HTTP: what people set, what is sent to a real ntfy server on loopback, and its buttons."""

import asyncio
import csv
import io
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2

from api.served import Served, error_of, served
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.claude.process import Identity
from handraise.model.actors import Person
from handraise.model.asks import Permission
from handraise.reach.situation import ReachConfig
from handraise.surfaces.push.notifier import PushConfig

NPM = Permission("Bash", {"command": "npm test"})
AT_ONCE: dict[str, Any] = {
    "push": PushConfig(grace=timedelta(0)),
    "notifications": ReachConfig(private_addresses=True),
}
BASE = "/api/notifications"


@asynccontextmanager
async def notified(tmp_path: Path) -> AsyncIterator[tuple[Served, httpx2.AsyncClient, NtfyServer]]:
    async with (
        ntfy_server(NtfyServer()) as ntfy,
        served(tmp_path, **AT_ONCE) as hub,
        hub.client("approver") as client,
    ):
        yield hub, client, ntfy


async def add(client: httpx2.AsyncClient, ntfy: NtfyServer, **more: Any) -> dict[str, Any]:
    wanted = {
        "name": "My phone",
        "kind": "ntfy",
        "fields": {"server": f"http://127.0.0.1:{ntfy.port}", "topic": "shop"},
        **more,
    }
    made = await client.post(f"{BASE}/channels", json=wanted)
    assert made.status_code == 201, made.text
    channel: dict[str, Any] = made.json()
    return channel


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.02)


async def test_an_ask_reaches_the_phone_and_its_button_denies_it_once(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy):
        channel = await add(client, ntfy)
        session = await hub.session(phase="idle")
        ask = await hub.ask(NPM, session=session.id)
        await until(lambda: ntfy.published)
        [message] = ntfy.published
        assert message["title"] == "Claude needs you: a permission"
        assert "npm" not in json.dumps(message)
        assert message["click"] == f"{hub.up.base}/sessions/{session.id}#card-{ask.id}"
        [deny] = message["actions"]
        assert (deny["label"], deny["method"]) == ("Deny", "POST")

        async with hub.client() as phone:
            wrong = await phone.post(deny["url"], content=json.dumps({"secret": f"{ask.id}.guess"}))
            assert error_of(wrong)["message"] == "This button has expired or was already used."
            assert (await phone.get(deny["url"])).status_code == 405
            pressed = await phone.post(deny["url"], content=deny["body"])
            assert pressed.json() == {"ask": ask.id}
            again = await phone.post(deny["url"], content=deny["body"])
            assert again.status_code == 409
        settled = (await client.get(f"/api/asks/{ask.id}")).json()["settlement"]
        assert (settled["answer"]["allow"], settled["by"]["name"], settled["from"]) == (False, "a approver", "ntfy")
        await until(lambda: ntfy.deleted)
        log = (await client.get(f"/api/asks/{ask.id}/notifications")).json()
        assert log["noticed_by"] == "a approver"
        await until_state(client, ask.id, "retracted")
        assert channel["owner"] == "a approver"


async def test_a_tool_of_claude_that_reads_the_topic_can_press_no_button(tmp_path: Path) -> None:
    """Whatever raises asks must never settle them (lesson 45)."""
    async with notified(tmp_path) as (hub, client, ntfy):
        await add(client, ntfy, with_content=True)
        ask = await hub.ask(NPM)
        await until(lambda: ntfy.published)
        [message] = ntfy.published
        myself = Identity.of(os.getpid())
        assert myself is not None
        claude = SimpleNamespace(process=SimpleNamespace(identity=myself))
        hub.up.hub.pool._out_of_hold["s_mine"] = claude  # type: ignore[assignment]
        async with hub.client() as tool:
            assert {each["label"] for each in message["actions"]} == {"Deny", "Allow once"}
            for button in message["actions"]:
                pressed = await tool.post(button["url"], content=button["body"])
                assert pressed.status_code == 403
        assert (await hub.up.hub.desk.ask(ask.id)).state == "open"

        hub.up.hub.pool._out_of_hold.clear()
        async with hub.client() as phone:
            assert (await phone.post(message["actions"][0]["url"], content=message["actions"][0]["body"])).is_success


async def until_state(client: httpx2.AsyncClient, ask: str, state: str) -> None:
    async with asyncio.timeout(60):
        while True:
            entries = (await client.get(f"/api/asks/{ask}/notifications")).json()["entries"]
            if [each["state"] for each in entries][-1:] == [state]:
                return
            await asyncio.sleep(0.02)


async def test_a_button_is_dead_once_the_ask_is_settled(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy):
        await add(client, ntfy, with_content=True)
        ask = await hub.ask(NPM, session=(await hub.session(phase="idle")).id)
        await until(lambda: ntfy.published)
        deny, allow = ntfy.published[0]["actions"]
        assert allow["label"] == "Allow once"
        await client.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": False}})
        async with hub.client() as phone:
            for each in (deny, allow):
                assert (await phone.post(each["url"], content=each["body"])).status_code == 409


async def test_a_button_of_someone_who_lost_access_does_nothing(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy):
        await add(client, ntfy)
        ask = await hub.ask(NPM, session=(await hub.session(phase="idle")).id)
        await until(lambda: ntfy.published)
        [deny] = ntfy.published[0]["actions"]
        for token in await hub.up.auth.tokens():
            await hub.up.auth.revoke(token.id, Person("owner"), "test")
        async with hub.client() as phone:
            assert (await phone.post(deny["url"], content=deny["body"])).status_code == 409
        async with hub.neighbour() as owner:
            assert (await owner.get(f"/api/asks/{ask.id}")).json()["state"] == "open"


async def test_a_channel_is_tested_changed_and_removed_and_never_shows_its_secrets(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy):
        ntfy.token = "tk_secret"
        fields = {"server": f"http://127.0.0.1:{ntfy.port}", "topic": "shop", "token": "tk_wrong"}
        channel = await add(client, ntfy, fields=fields)
        assert channel["secrets"] == ["token"]
        one = f"{BASE}/channels/{channel['id']}"
        failed = (await client.post(f"{one}/test")).json()
        assert failed["sent"] is False
        assert failed["trouble"]
        assert (await client.post(f"{one}/probe")).json()["ok"] is False
        assert (await client.get(f"{BASE}/channels")).json()["channels"][0]["trouble"] == failed["trouble"]
        await client.patch(one, json={"fields": {**fields, "token": "tk_secret"}})
        assert (await client.post(f"{one}/test")).json() == {"sent": True, "trouble": None}
        renamed = await client.patch(one, json={"name": "Phone"})
        assert (renamed.json()["name"], renamed.json()["secrets"]) == ("Phone", ["token"])
        listed = await client.get(f"{BASE}/channels")
        assert "tk_" not in listed.text
        assert listed.json()["channels"][0]["trouble"] is None
        async with hub.client("viewer") as viewer:
            assert (await viewer.get(f"{BASE}/channels")).json()["channels"] == []
        assert (await client.delete(one)).status_code == 200
        assert (await client.get(f"{BASE}/channels")).json()["channels"] == []
        audit = [each.what for each in await hub.up.hub.desk.audit()]
        assert "channel added" in audit
        assert "channel removed" in audit


async def test_a_channel_that_a_chain_uses_is_not_removed(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy), hub.client("admin") as admin:
        channel = await add(client, ntfy)
        steps = [{"after": 60, "targets": [{"to": "channel", "channel": channel["id"]}]}]
        assert (await client.put(f"{BASE}/chains/all", json={"steps": steps})).status_code == 403
        assert (await admin.put(f"{BASE}/chains/all", json={"steps": steps})).json()["steps"] == steps
        refused = await client.delete(f"{BASE}/channels/{channel['id']}")
        assert error_of(refused)["message"] == "An escalation chain uses this channel. Change the chain first."
        unknown = [{"after": 60, "targets": [{"to": "channel", "channel": "c_none"}]}]
        assert (await admin.put(f"{BASE}/chains/all", json={"steps": unknown})).status_code == 404
        await admin.delete(f"{BASE}/chains/all")
        [chain] = (await client.get(f"{BASE}/chains")).json()["chains"]
        assert chain["is_default"] is True


async def test_the_preview_says_what_would_happen_and_why_not(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy), hub.client("admin") as admin:
        channel = await add(client, ntfy)
        shared = await add(admin, ntfy, name="Team", shared=True)
        steps = [
            {"after": 0, "targets": [{"to": "screens"}, {"to": "channel", "channel": channel["id"]}]},
            {"after": 900, "targets": [{"to": "channel", "channel": shared["id"]}, {"to": "telegram"}]},
            {"after": 3600, "targets": [{"to": "person", "person": "nobody"}]},
        ]
        await admin.put(f"{BASE}/chains/all", json={"steps": steps})
        session = await hub.session(phase="idle")
        await client.post(f"{BASE}/mutes", json={"session": session.id})
        shown = (await client.get(f"{BASE}/preview", params={"session": session.id})).json()
        assert [each["after"] for each in shown["steps"]] == [0, 900, 3600]
        rows = [[(row["label"], row["effect"], row["reason_text"]) for row in each["rows"]] for each in shown["steps"]]
        assert rows == [
            [("screens", "shown", ""), ("My phone", "held", "Muted")],
            [("Team", "sent", "")],
            [("", "not_sent", "No one to notify")],
        ]


async def test_quiet_hours_and_mutes_are_ones_own(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, _), hub.client("viewer") as other:
        hours = {"start": "22:00", "end": "07:00", "time_zone": "Europe/Berlin", "urgent_gets_through": False}
        assert (await client.put(f"{BASE}/quiet-hours", json=hours)).status_code == 200
        assert (await client.get(BASE)).json()["quiet_hours"] == hours
        assert (await other.get(BASE)).json()["quiet_hours"] is None
        wrong = await client.put(f"{BASE}/quiet-hours", json={**hours, "time_zone": "Europe/Nowhere"})
        assert error_of(wrong)["message"].startswith("`Europe/Nowhere` isn't a time zone.")
        same = await client.put(f"{BASE}/quiet-hours", json={**hours, "end": "22:00"})
        assert same.status_code == 422
        await client.delete(f"{BASE}/quiet-hours")
        assert (await client.get(BASE)).json()["quiet_hours"] is None

        session = await hub.session(phase="idle")
        until_then = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        mute = (await client.post(f"{BASE}/mutes", json={"session": session.id, "until": until_then})).json()
        assert (await other.get(f"{BASE}/mutes")).json() == {"mutes": []}
        assert (await other.delete(f"{BASE}/mutes/{mute['id']}")).status_code == 404
        everyone = {"session": session.id, "for_everyone": True}
        assert (await client.post(f"{BASE}/mutes", json=everyone)).status_code == 409
        assert (await client.delete(f"{BASE}/mutes/{mute['id']}")).status_code == 200


async def test_who_looks_is_not_notified_and_the_log_says_so(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy):
        await add(client, ntfy)
        session = await hub.session(phase="idle")
        seen = {"page": "p", "focused": True, "view": "session", "session": session.id}
        assert (await client.post("/api/presence", json=seen)).status_code == 200
        assert (await client.get(BASE)).json()["looking"] is True
        ask = await hub.ask(NPM, session=session.id)
        await until_state(client, ask.id, "held")
        [entry] = (await client.get(f"/api/asks/{ask.id}/notifications")).json()["entries"]
        assert entry["reason_text"] == "You were looking at it"
        assert ntfy.published == []
        await client.post("/api/presence", json={**seen, "focused": False})
        await until(lambda: ntfy.published)


async def test_statistics_say_what_rang_and_led_to_an_answer(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy):
        await add(client, ntfy)
        ask = await hub.ask(NPM, session=(await hub.session(phase="idle")).id)
        await until_state(client, ask.id, "sent")
        await client.post(f"/api/asks/{ask.id}/answer", json={"answer": {"allow": False}})
        numbers = (await client.get(f"{BASE}/statistics")).json()["statistics"]
        assert (numbers["asks"], numbers["answered"], numbers["notifications"]) == (1, 1, 1)
        assert numbers["to_answer"]["count"] == 1
        assert {(each["label"], each["step"], each["sent"]) for each in numbers["channels"]} == {
            ("My phone", None, 1),
            ("My phone", 0, 1),
        }
        await hub.up.notifications.idle()
        metrics = (await client.get("/metrics")).text
        assert 'handraise_notifications_total{channel="ntfy",state="sent",step="0"} 1.0' in metrics
        assert 'handraise_notifications_unneeded_total{channel="ntfy"} 1.0' in metrics
        assert "handraise_agent_wait_seconds_total " in metrics
        [row] = (await client.get(f"{BASE}/export")).json()["rows"]
        assert (row["ask"], row["answered_by"], row["last_channel"]) == (ask.id, "a approver", "My phone")
        exported = await client.get(f"{BASE}/export", params={"format": "csv"})
        [header, line] = csv.reader(io.StringIO(exported.text))
        assert dict(zip(header, line, strict=True))["state"] == "answered"


async def test_a_channel_that_fails_is_in_the_feed(tmp_path: Path) -> None:
    async with notified(tmp_path) as (hub, client, ntfy):
        ntfy.token = "tk_secret"
        await add(client, ntfy)
        ask = await hub.ask(NPM, session=(await hub.session(phase="idle")).id)
        await until_state(client, ask.id, "failed")
        async with asyncio.timeout(60):
            while True:
                items = (await client.get("/api/items")).json()["items"]
                failed = [each for each in items if each["type"] == "notification.failed"]
                if failed:
                    break
                await asyncio.sleep(0.02)
        assert (failed[0]["channel"], failed[0]["kind"], failed[0]["ask"]) == ("My phone", "ntfy", ask.id)
        assert failed[0]["session"] is None
