"""Webhooks through the API: what arrives, what is retried, what people can do, and who may."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.served import A, error_of, served
from handraise.model.asks import Permission
from handraise.model.items import NotificationFailed
from handraise.model.projects import Project
from handraise.store.changes import PublishItems, SaveProject
from handraise.surfaces.webhooks.retries import MOST_SETTLED
from handraise.surfaces.webhooks.webhooks import MOST_WEBHOOKS, WebhookConfig
from surfaces.webhooks.hooked import (
    PRIVATE,
    MovableClock,
    add,
    answer,
    deliveries,
    hooked,
    life_of,
    listed,
    raised,
    until_delivery,
    until_recorded,
    until_webhook,
)
from surfaces.webhooks.receiver import Reply, close, garbage, huge, receiver, silence, slow_drip, status

WRITE = Permission("Write", {"file_path": "/work/secret.txt", "content": "Claude wrote this"})


async def test_an_ask_is_announced_when_it_opens_and_when_it_is_settled(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        webhook, secret = await add(client, there.url())
        assert secret.startswith("whsec_")
        ask = await raised(hub)
        await answer(client, ask.id, A)
        await there.until_about(("ask.opened", ask.id), ("ask.settled", ask.id))
        assert all(each.is_signed_with(secret) for each in there.received)
        assert not there.received[0].is_signed_with("whsec_AAAA")
        assert there.received[1].data["ask"]["state"] == "answered"
        newest = await until_delivery(client, webhook, state="sent", event="ask.settled")
        assert (newest["about"], newest["tries"], newest["attempts"][0]["status"]) == (ask.id, 1, 204)
        assert newest["id"] == there.received[1].id
        assert (await listed(client))[0]["state"] == "on"


async def test_sessions_turns_and_failed_notifications_are_announced(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        await add(client, there.url())
        session = await hub.session()
        await life_of(hub, session)
        failed = NotificationFailed("ana's phone", "push", "ana", "", "Nobody answers there.")
        await hub.up.hub.store.apply([PublishItems(None, datetime.now(UTC), failed)])
        await there.until_count(4)
        types = [each.type for each in there.received]
        assert types == ["session.started", "turn.ended", "session.ended", "notification.failed"]
        assert there.received[1].data["session"] == {"id": session.id}


async def test_filters_by_event_and_project(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        await hub.up.hub.store.apply([SaveProject(Project("p_1", "shop", "/work/shop"))])
        await add(client, there.url("/opened"), events=["ask.opened"])
        await add(client, there.url("/shop"), projects=["p_1"])
        one, two = await raised(hub), await raised(hub, project="p_1")
        await answer(client, two.id, A)
        await there.until_count(4)
        found = {(each.path, *each.about) for each in there.received}
        assert found == {
            ("/opened", "ask.opened", one.id),
            ("/opened", "ask.opened", two.id),
            ("/shop", "ask.opened", two.id),
            ("/shop", "ask.settled", two.id),
        }
        assert there.received[-1].data["project"] in ({"id": "p_1", "name": "shop"}, None)


async def test_content_is_a_choice_of_each_webhook(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        await add(client, there.url("/without"))
        await add(client, there.url("/with"), content=True)
        await raised(hub, WRITE, tool="Write")
        await there.until_count(2)
        found = {each.path: each for each in there.received}
        assert b"Claude wrote this" not in found["/without"].raw
        assert b"secret.txt" not in found["/without"].raw
        assert found["/with"].data["content"]["body"]["input"]["content"] == "Claude wrote this"


@pytest.mark.parametrize("reply", [status(500), close, garbage, huge, status(302, location="/x"), silence, slow_drip])
async def test_a_failure_is_tried_again_with_the_same_id(tmp_path: Path, reply: Reply) -> None:
    clock = MovableClock()
    terms = WebhookConfig(private_addresses=True, deadline=1 if reply in (silence, slow_drip) else None)
    async with hooked(tmp_path, clock=clock, webhooks=terms) as (hub, client, there):
        webhook, secret = await add(client, there.url())
        there.replies.append(reply)
        ask = await raised(hub)
        failed = await until_delivery(client, webhook, state="queued", tries=1)
        assert failed["attempts"][0]["problem"]
        (seen,) = await listed(client)
        assert (seen["state"], seen["queued"]) == ("failing", 1)
        assert seen["trouble"] == failed["attempts"][0]["problem"]
        # A busy machine may be too slow for the short deadline: then it is tried once more.
        async with asyncio.timeout(60):
            while (await deliveries(client, webhook))[0]["state"] != "sent":
                clock.ahead += timedelta(minutes=1)
                hub.up.webhooks.wake()
                await asyncio.sleep(0.05)
        assert {each.id for each in there.received} == {failed["id"]}
        assert {each.about for each in there.received} == {("ask.opened", ask.id)}
        assert all(each.is_signed_with(secret) for each in there.received)
        await until_webhook(client, webhook, state="on", queued=0, trouble="")


async def test_after_three_days_of_failures_it_has_failed_and_can_be_sent_by_hand(tmp_path: Path) -> None:
    clock = MovableClock()
    async with hooked(tmp_path, clock=clock) as (hub, client, there):
        webhook, _ = await add(client, there.url())
        there.always = status(503)
        await raised(hub)
        for tries in range(1, 11):
            state = "queued" if tries < 10 else "failed"
            last = await until_delivery(client, webhook, tries=tries, state=state)
            clock.ahead += timedelta(hours=30)
            hub.up.webhooks.wake()
        assert len(there.received) == 10
        there.always = None
        again = await client.post(f"/api/webhooks/{webhook}/deliveries/{last['id']}/resend")
        assert (again.status_code, again.json()["state"]) == (200, "sent")
        assert there.received[-1].id == last["id"]
        assert (await listed(client))[0]["state"] == "on"


async def test_one_that_fails_does_not_hold_up_the_others(tmp_path: Path) -> None:
    terms = WebhookConfig(private_addresses=True, deadline=600)
    async with hooked(tmp_path, webhooks=terms) as (hub, client, there):
        there.refusing_paths["/stuck"] = silence
        await add(client, there.url("/stuck"))
        await add(client, there.url("/fine"))
        asks = [await raised(hub) for _ in range(5)]
        await there.until(lambda got: len([each for each in got if each.path == "/fine"]) == len(asks))
        assert len([each for each in there.received if each.path == "/stuck"]) == 1


async def test_a_receiver_that_is_gone_turns_its_webhook_off(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        webhook, _ = await add(client, there.url())
        there.replies.append(status(410))
        await raised(hub)
        seen = await until_webhook(client, webhook, state="gone")
        assert "410" in seen["trouble"]
        entry = await until_recorded(client, "webhook changed")
        assert (entry["by"]["name"], entry["detail"]["webhook"]) == ("handraise", webhook)
        await raised(hub)
        changed = await client.patch(f"/api/webhooks/{webhook}", json={"enabled": True})
        assert changed.json()["state"] in ("on", "failing")
        third = await raised(hub)
        await there.until_about(("ask.opened", third.id))
        assert len(there.received) == 2, "what happened while it was off isn't sent"
        await until_webhook(client, webhook, state="on")


async def test_a_test_event_says_at_once_whether_it_works(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (_, client, there):
        webhook, secret = await add(client, there.url(), events=["ask.opened"], enabled=False)
        tried = await client.post(f"/api/webhooks/{webhook}/test")
        assert (tried.json()["state"], tried.json()["event"]) == ("sent", "webhook.test")
        assert there.received[0].is_signed_with(secret)
        there.replies.append(status(500, b"out of order"))
        failed = (await client.post(f"/api/webhooks/{webhook}/test")).json()
        assert (failed["state"], failed["attempts"][0]["answer"]) == ("failed", "out of order")
        assert len(await deliveries(client, webhook)) == 2
        assert there.received[0].id != there.received[1].id


async def test_a_new_secret_signs_at_once_and_the_old_one_for_a_day(tmp_path: Path) -> None:
    clock = MovableClock()
    async with hooked(tmp_path, clock=clock) as (_, client, there):
        webhook, old = await add(client, there.url())
        rotated = (await client.post(f"/api/webhooks/{webhook}/secret")).json()
        assert rotated["webhook"]["old_secret_until"]
        await client.post(f"/api/webhooks/{webhook}/test")
        assert there.received[-1].is_signed_with(old)
        assert there.received[-1].is_signed_with(rotated["secret"])
        clock.ahead += timedelta(hours=25)
        await client.post(f"/api/webhooks/{webhook}/test")
        assert not there.received[-1].is_signed_with(old)
        assert there.received[-1].is_signed_with(rotated["secret"])


async def test_a_webhook_can_be_changed_turned_off_and_removed_and_all_of_it_is_recorded(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        webhook, _ = await add(client, there.url())
        change = {"name": "Other", "url": there.url("/new"), "events": ["ask.opened", "ask.opened"], "enabled": False}
        changed = (await client.patch(f"/api/webhooks/{webhook}", json=change)).json()
        assert (changed["name"], changed["events"], changed["state"]) == ("Other", ["ask.opened"], "off")
        await raised(hub)
        await client.patch(f"/api/webhooks/{webhook}", json={"enabled": True})
        second = await raised(hub)
        await there.until_about(("ask.opened", second.id))
        assert [each.path for each in there.received] == ["/new"]
        await client.post(f"/api/webhooks/{webhook}/secret")
        assert (await client.delete(f"/api/webhooks/{webhook}")).status_code == 200
        assert await listed(client) == []
        assert await hub.up.hub.store.records(f"webhook {webhook}") == {}
        await raised(hub)
        entries = (await client.get("/api/audit")).json()["entries"]
        done = [(each["what"], each["detail"].get("changed")) for each in entries if "webhook" in each["what"]]
        assert done == [
            ("webhook added", None),
            ("webhook changed", "enabled, events, name, url"),
            ("webhook changed", "enabled"),
            ("webhook secret rotated", None),
            ("webhook removed", None),
        ]
        for path in ("", "/test", "/secret", "/deliveries"):
            method = "GET" if path == "/deliveries" else "DELETE" if not path else "POST"
            assert (await client.request(method, f"/api/webhooks/{webhook}{path}")).status_code == 404


async def test_a_change_that_changes_nothing_is_not_recorded(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (_, client, there):
        webhook, _ = await add(client, there.url())
        assert (await client.patch(f"/api/webhooks/{webhook}", json={"name": "chat"})).status_code == 200
        entries = (await client.get("/api/audit", params={"what": "webhook changed"})).json()["entries"]
        assert entries == []


async def test_a_secret_is_shown_once_and_viewers_see_only_the_host(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        webhook, secret = await add(client, there.url("/path-with-a-key"))
        for role in ("viewer", "approver", "admin"):
            async with hub.client(role) as reader:
                seen = await reader.get("/api/webhooks")
                assert secret not in seen.text
                assert secret.removeprefix("whsec_") not in seen.text
                shows_path = "path-with-a-key" in seen.text
                assert shows_path is (role == "admin")
                if role != "admin":
                    for method, path in (
                        ("POST", ""),
                        ("PATCH", f"/{webhook}"),
                        ("DELETE", f"/{webhook}"),
                        ("POST", f"/{webhook}/secret"),
                        ("POST", f"/{webhook}/test"),
                        ("GET", f"/{webhook}/deliveries"),
                        ("POST", f"/{webhook}/deliveries/msg_1/resend"),
                    ):
                        refused = await reader.request(method, f"/api/webhooks{path}")
                        assert refused.status_code == 403, (method, path)
        assert secret not in (await client.get("/api/audit")).text
        assert secret not in (await client.get(f"/api/webhooks/{webhook}/deliveries")).text


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"url": "http://127.0.0.1:1/x"}, "https"),
        ({"url": "https://127.0.0.1:1/x"}, "public internet"),
        ({"url": "https://[::1]/x"}, "public internet"),
        ({"url": "nonsense"}, "https"),
        ({"url": "https://8.8.8.8/x", "name": " "}, "name"),
        ({"url": "https://8.8.8.8/x", "projects": ["p_none"]}, "no project"),
        ({"url": "https://8.8.8.8/x", "events": ["ask.reopened"]}, "enum"),
        ({"url": "https://8.8.8.8/x", "secret": "mine"}, "Unknown field"),
    ],
)
async def test_what_cannot_be_a_webhook(tmp_path: Path, wanted: dict[str, Any], words: str) -> None:
    async with hooked(tmp_path, webhooks=WebhookConfig()) as (_, client, _):
        refused = await client.post("/api/webhooks", json={"name": "chat", **wanted})
        assert refused.status_code == 422
        assert words in error_of(refused)["message"]
        assert await listed(client) == []


async def test_there_are_not_endlessly_many(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (_, client, there):
        for number in range(MOST_WEBHOOKS):
            await add(client, there.url(f"/{number}"))
        refused = await client.post("/api/webhooks", json={"name": "chat", "url": there.url()})
        assert refused.status_code == 409


async def test_only_the_last_deliveries_are_kept(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (_, client, there):
        webhook, _ = await add(client, there.url())
        for _ in range(MOST_SETTLED + 5):
            assert (await client.post(f"/api/webhooks/{webhook}/test")).json()["state"] == "sent"
        last_ones = await deliveries(client, webhook)
        assert len(last_ones) == MOST_SETTLED
        assert last_ones[0]["id"] == there.received[-1].id
        gone = await client.post(f"/api/webhooks/{webhook}/deliveries/{there.received[0].id}/resend")
        assert gone.status_code == 404


async def test_what_happened_before_a_webhook_or_while_there_was_none_is_not_sent(tmp_path: Path) -> None:
    async with hooked(tmp_path) as (hub, client, there):
        await raised(hub)
        webhook, _ = await add(client, there.url())
        second = await raised(hub)
        await there.until_count(1)
        await client.delete(f"/api/webhooks/{webhook}")
        await raised(hub)
        await add(client, there.url())
        fourth = await raised(hub)
        await there.until_about(("ask.opened", fourth.id))
        assert [each.about[1] for each in there.received] == [second.id, fourth.id]


async def test_what_happens_while_nobody_sends_is_sent_later(tmp_path: Path) -> None:
    """As when the hub that sends was stopped: the events are in the feed, and the feed is read on from there."""
    async with receiver() as there:
        async with served(tmp_path, webhooks=PRIVATE) as hub, hub.client("admin") as client:
            webhook, _ = await add(client, there.url())
            first = await raised(hub)
            await there.until_about(("ask.opened", first.id))
            await until_delivery(client, webhook, state="sent")
            await hub.up.webhooks.__aexit__(None, None, None)
            later = await raised(hub)
        assert ("ask.opened", later.id) not in [each.about for each in there.received]
        async with served(tmp_path, webhooks=PRIVATE):
            await there.until_about(("ask.opened", later.id))
        assert [each.about for each in there.received].count(("ask.opened", first.id)) == 1
