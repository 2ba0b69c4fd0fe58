"""Devices belong to people: each has their own, as long as they have access."""

from datetime import timedelta
from pathlib import Path

from api.served import A, error_of, served
from handraise.api.guard import TrustedProxy
from handraise.surfaces.push.notifier import MOST_DEVICES, PushConfig
from surfaces.push.notified import AT_ONCE, NPM, about, answer, own, raised, switch_on, switched_on
from surfaces.push.vendor import Phone, vendor


async def test_whose_token_is_revoked_is_told_nothing_more_at_once(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.client("admin") as admin,
        switched_on(hub, service) as (client, phone, _),
        switched_on(hub, service, "admin") as (_, other, _),
    ):
        first = await raised(hub)
        await phone.until(about(first.id))
        token = next(each for each in (await admin.get("/api/tokens")).json()["tokens"] if each["role"] == "approver")
        assert (await admin.delete(f"/api/tokens/{token['id']}")).status_code == 200
        second = await raised(hub)
        await other.until(about(second.id))
        await answer(admin, first.id, A)
        await other.until(about(first.id, "settled"))
        assert phone.shown == [("ask", first.id)]
        assert (await client.get("/api/push/devices")).status_code == 401


async def test_who_logs_out_is_told_nothing_more(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub, hub.browser() as browser:
        phone, _ = await switch_on(browser, service)
        async with switched_on(hub, service) as (_, other, _):
            assert (await browser.post("/api/logout")).status_code == 200
            ask = await raised(hub)
            await other.until(about(ask.id))
            fence = await raised(hub)
            await other.until(about(fence.id))
            assert phone.tried == 0


async def test_each_person_sees_and_removes_their_own(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.client("admin") as admin,
        switched_on(hub, service, label="Ana's phone") as (client, phone, name),
    ):
        assert await own(admin) == []
        for path in (f"/api/push/devices/{name}/test", f"/api/push/devices/{name}/closed"):
            assert (await admin.post(path, json={"ask": "a_1"} if "closed" in path else {})).status_code == 404
        assert (await admin.delete(f"/api/push/devices/{name}")).status_code == 404
        (device,) = await own(client)
        assert (device["id"], device["label"], device["trouble"]) == (name, "Ana's phone", None)
        assert set(device) == {"id", "label", "kinds", "created_at", "last_sent_at", "trouble"}

        assert (await client.delete(f"/api/push/devices/{name}")).status_code == 200
        assert await own(client) == []
        assert (await client.delete(f"/api/push/devices/{name}")).status_code == 404
        await raised(hub)
        assert phone.tried == 0
        entries = (await admin.get("/api/audit")).json()["entries"]
        noted = [(each["what"], each["detail"]) for each in entries if each["what"].startswith("device")]
        assert noted == [("device added", {"device": name}), ("device removed", {"device": name})]


async def test_it_can_be_tried_out(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service, "viewer") as (client, phone, name),
    ):
        tried = await client.post(f"/api/push/devices/{name}/test")
        assert tried.json() == {"sent": True, "trouble": None}
        assert phone.delivered[0].notice["title"] == "Notifications work on this device."
        phone.refusals.append((403, {}))
        tried = await client.post(f"/api/push/devices/{name}/test")
        assert tried.json() == {"sent": False, "trouble": "The push service refused the message (403)."}
        assert (await own(client))[0]["trouble"] == "The push service refused the message (403)."
        phone.refusals.append((410, {}))
        tried = await client.post(f"/api/push/devices/{name}/test")
        assert "Turn notifications on again." in tried.json()["trouble"]
        assert await own(client) == []
        assert (await client.post(f"/api/push/devices/{name}/test")).status_code == 404


async def test_the_same_browser_again_is_the_same_device_and_a_new_address_takes_the_place_of_the_old(
    tmp_path: Path,
) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (client, phone, name),
    ):
        again = await client.post("/api/push/devices", json=phone.subscription(label="Renamed", kinds=["plan"]))
        assert (again.status_code, again.json()["id"], again.json()["label"]) == (201, name, "Renamed")
        moved = service.phone(phone.made_for)
        told_so = await client.post("/api/push/devices", json=moved.subscription(replaces=phone.endpoint))
        assert (told_so.json()["id"], told_so.json()["kinds"]) == (name, ["plan"])
        everything = ["question", "permission", "plan", "form", "ended"]
        wider = await client.post("/api/push/devices", json=moved.subscription(kinds=everything))
        assert wider.json()["kinds"] == everything
        assert len(await own(client)) == 1
        entries = await hub.up.hub.desk.audit(what="device added")
        assert len(entries) == 1
        ask = await raised(hub)
        await moved.until(about(ask.id))
        assert phone.tried == 0


async def test_a_browser_in_which_somebody_else_has_logged_in_is_theirs(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.client("admin") as admin,
        switched_on(hub, service) as (client, phone, name),
    ):
        receipt = await admin.post("/api/push/devices", json=phone.subscription())
        assert receipt.json()["id"] != name
        assert await own(client) == []
        ask = await raised(hub)
        await phone.until(about(ask.id))
        assert phone.shown == [("ask", ask.id)]


async def test_what_cannot_be_a_push_service_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        key = (await client.get("/api/push")).json()["key"]
        good = Phone("https://127.0.0.1/x", key)
        endpoints = (
            "http://push.example/x",
            "https://127.0.0.1:9/x",
            "https://localhost/x",
            "https://[::1]/x",
            "https://169.254.169.254/latest/meta-data",
            "https://10.0.0.1/x",
            "https://[::ffff:192.168.0.1]/x",
            "https://2130706433/x",
            "https://no-such-host.invalid/x",
            "nonsense",
        )
        for endpoint in endpoints:
            refused = await client.post("/api/push/devices", json=good.subscription(endpoint=endpoint))
            assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid"), endpoint
        wrong = {"keys": {"p256dh": "AAAA", "auth": "AAAA"}, "endpoint": "https://8.8.8.8/x"}
        refused = await client.post("/api/push/devices", json=good.subscription(**wrong))
        assert (refused.status_code, error_of(refused)["message"]) == (422, "This browser's keys can't be used.")
        assert await own(client) == []


async def test_a_browser_that_is_bound_to_another_hub_is_told_so(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub, hub.client("viewer") as client:
        refused = await client.post("/api/push/devices", json=service.phone("another key").subscription())
        assert (refused.status_code, error_of(refused)["code"]) == (409, "refused")
        assert "another hub" in error_of(refused)["message"]


async def test_the_owner_on_the_socket_has_no_browser_to_switch_on(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub, hub.neighbour() as owner:
        key = (await owner.get("/api/push")).json()["key"]
        refused = await owner.post("/api/push/devices", json=service.phone(key).subscription())
        assert (refused.status_code, error_of(refused)["code"]) == (409, "refused")


async def test_people_whom_a_proxy_lets_in_have_devices_while_it_does(tmp_path: Path) -> None:
    proxy = TrustedProxy("X-User", frozenset({"127.0.0.1"}))
    async with vendor() as service:
        async with served(tmp_path, push=AT_ONCE, proxy=proxy) as hub, hub.client() as client:
            client.headers.update({"x-user": "bob", "origin": hub.up.base})
            phone, _ = await switch_on(client, service)
            ask = await raised(hub, NPM)
            assert [each["title"] for each in (await phone.until(about(ask.id))).notice["answers"]] == [
                "Deny",
                "Allow once",
            ]
            client.headers["x-user"] = "eve"
            assert await own(client) == []
        async with served(tmp_path, push=AT_ONCE) as hub, switched_on(hub, service) as (_, other, _):
            later = await raised(hub)
            await other.until(about(later.id))
            assert phone.shown == [("ask", ask.id)]


async def test_nobody_has_more_devices_than_they_can_look_at(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub, hub.client("viewer") as client:
        key = (await client.get("/api/push")).json()["key"]
        for _ in range(MOST_DEVICES):
            assert (await client.post("/api/push/devices", json=service.phone(key).subscription())).status_code == 201
        refused = await client.post("/api/push/devices", json=service.phone(key).subscription())
        assert (refused.status_code, "Remove one first" in error_of(refused)["message"]) == (409, True)


async def test_switched_off_in_the_settings_nothing_is_sent_and_nothing_is_made(tmp_path: Path) -> None:
    async with vendor() as service:
        async with served(tmp_path, push=AT_ONCE) as hub, switched_on(hub, service) as (_, phone, _):
            pass
        off = PushConfig(enabled=False, private_addresses=True, grace=timedelta(0))
        async with served(tmp_path, push=off) as hub, hub.client("approver") as client:
            assert (await client.get("/api/push")).json() == {"enabled": False, "key": None}
            refused = await client.post("/api/push/devices", json=phone.subscription())
            assert (refused.status_code, error_of(refused)["code"]) == (409, "refused")
            await raised(hub)
            assert len(await own(client)) == 1
        assert phone.tried == 0
    other = tmp_path / "other"
    other.mkdir()
    async with served(other) as hub:
        await raised(hub)
    assert not (other / "state" / "push").exists()
