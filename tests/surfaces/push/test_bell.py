"""The bell: a hub on real sockets, a push service on loopback, and what reaches whose device."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest

from handraise.model.actors import Person
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask, Body, Origin, Permission
from handraise.model.audit import Entry
from handraise.model.items import SessionEnded
from handraise.model.tokens import Role
from handraise.store.changes import OpenAsk, Publish, Record
from handraise.surfaces.push.bell import MOST_DEVICES, Terms
from handraise.surfaces.push.rounds import topic
from handraise.surfaces.web.door import TrustedProxy
from surfaces.push.vendor import Phone, Vendor, vendor
from surfaces.web.served import TESTER, WHICH, A, B, Served, served, told

NUMBERS = itertools.count(1)
AT_ONCE = Terms(private_addresses=True, grace=timedelta(0))
NPM = Permission("Bash", {"command": "npm test"})


@asynccontextmanager
async def switched_on(
    hub: Served, service: Vendor, role: Role = "approver", **more: Any
) -> AsyncIterator[tuple[httpx2.AsyncClient, Phone, str]]:
    """Somebody with a phone that is switched on, and its name at the hub."""
    async with hub.client(role) as client:
        phone, name = await switch_on(client, service, **more)
        yield client, phone, name


async def switch_on(client: httpx2.AsyncClient, service: Vendor, **more: Any) -> tuple[Phone, str]:
    phone = service.phone((await client.get("/api/push")).json()["key"])
    made = await client.post("/api/push/devices", json=phone.subscription(**more))
    assert made.status_code == 201, made.text
    return phone, made.json()["id"]


async def raised(hub: Served, body: Body = WHICH, *, session: str | None = None) -> Ask:
    """Another ask, by a name that no hub of the test has given before."""
    name = f"a_new{next(NUMBERS)}"
    asker: Literal["session", "agent"] = "session" if session else "agent"
    ask = Ask(name, session, None, body, "ask_user", Origin(name), datetime.now(UTC), asker)
    await hub.up.hub.store.apply([OpenAsk(ask)])
    return ask


async def own(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = (await client.get("/api/push/devices")).json()["devices"]
    return devices


async def answer(client: httpx2.AsyncClient, ask: str, said: dict[str, Any]) -> None:
    assert (await client.post(f"/api/asks/{ask}/answer", json={"answer": said})).status_code == 200


def about(ask: str, kind: str = "ask") -> Any:
    return lambda notice: (notice["kind"], notice.get("ask")) == (kind, ask)


async def test_an_ask_reaches_every_device_and_is_taken_back_when_somebody_answers(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (_, one, name),
        switched_on(hub, service, "admin") as (_, two, _),
    ):
        session = await hub.session()
        ask = await raised(hub, NPM, session=session.id)
        for phone in (one, two):
            got = await phone.until(about(ask.id))
            assert got.notice["title"] == "Run npm test?"
            assert got.notice["body"] == session.title
            assert got.notice["digest"] == ask.digest
            assert got.notice["waiting"] == 1
            assert [each["answer"] for each in got.notice["answers"]] == [
                {"message": "", "interrupt": False, "allow": False},
                {"for": "once", "suggestions": [], "allow": True},
            ]
            assert (got.headers["urgency"], got.headers["topic"]) == ("high", topic(ask.id))
            assert got.headers["ttl"] == str(28 * 24 * 3600)
        assert (await one.until(about(ask.id))).notice["device"] == name

        await answer(owner, ask.id, {"allow": True})
        for phone in (one, two):
            back = await phone.until(about(ask.id, "settled"))
            assert back.notice["body"] == "owner allowed it · terminal"
            assert back.notice["waiting"] == 0
            assert back.headers["topic"] == topic(ask.id), "an undelivered one is replaced"
            assert phone.shown == [("ask", ask.id), ("settled", ask.id)]


async def test_who_may_only_look_gets_no_buttons_and_only_the_kinds_that_were_wanted(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service, "viewer") as (_, looking, _),
        switched_on(hub, service, kinds=["question"]) as (_, picky, _),
    ):
        first, second = await raised(hub, NPM), await raised(hub)
        assert (await looking.until(about(first.id))).notice["answers"] == []
        assert (await looking.until(about(second.id))).notice["answers"] == []
        got = await picky.until(about(second.id))
        assert [each["title"] for each in got.notice["answers"]] == ["A", "B"]
        assert picky.shown == [("ask", second.id)]


async def test_what_is_answered_at_once_calls_nobody(tmp_path: Path) -> None:
    terms = Terms(private_addresses=True, grace=timedelta(seconds=1))
    async with (
        vendor() as service,
        served(tmp_path, push=terms) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (_, phone, _),
    ):
        quick, slow = await raised(hub), await raised(hub)
        await answer(owner, quick.id, A)
        await phone.until(about(slow.id))
        assert phone.shown == [("ask", slow.id)]


async def test_what_was_open_before_is_not_told_again(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub:
        await raised(hub)
        async with switched_on(hub, service) as (_, phone, _):
            later = await raised(hub)
            await phone.until(about(later.id))
            assert phone.shown == [("ask", later.id)]


async def test_what_a_device_put_away_itself_is_not_taken_back(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (client, phone, name),
    ):
        first, second = await raised(hub), await raised(hub)
        await phone.until(about(first.id))
        await phone.until(about(second.id))
        # As the page's worker does it: the answer, then that nothing is shown any more.
        await answer(client, first.id, A)
        done = await client.post(f"/api/push/devices/{name}/closed", json={"ask": first.id})
        assert done.status_code == 200
        await answer(owner, second.id, A)
        await phone.until(about(second.id, "settled"))
        assert ("settled", first.id) not in phone.shown
        again = await client.post(f"/api/push/devices/{name}/closed", json={"ask": first.id})
        assert again.status_code == 200


async def test_a_hub_that_went_before_it_could_tell_tells_at_its_next_start_and_once(tmp_path: Path) -> None:
    async with vendor() as service:
        async with served(tmp_path, push=AT_ONCE) as hub, switched_on(hub, service) as (_, phone, _):
            known = await raised(hub)
            await phone.until(about(known.id))
            phone.refusals += [(503, {})] * 100
            missed = await raised(hub)
            await phone.until_tried(2)
        phone.refusals.clear()
        async with served(tmp_path, push=AT_ONCE) as hub:
            await phone.until(about(missed.id))
            fence = await raised(hub)
            await phone.until(about(fence.id))
        async with served(tmp_path, push=AT_ONCE) as hub, hub.neighbour() as owner:
            for ask in (known, missed, fence):
                await answer(owner, ask.id, A)
            for ask in (known, missed, fence):
                await phone.until(about(ask.id, "settled"))
        shown = [ask for kind, ask in phone.shown if kind == "ask"]
        assert shown == [known.id, missed.id, fence.id]


async def test_what_was_settled_while_the_push_service_was_away_is_taken_back_later(tmp_path: Path) -> None:
    async with vendor() as service:
        async with (
            served(tmp_path, push=AT_ONCE) as hub,
            hub.neighbour() as owner,
            switched_on(hub, service) as (_, phone, _),
        ):
            ask = await raised(hub)
            await phone.until(about(ask.id))
            phone.refusals += [(503, {})] * 100
            await answer(owner, ask.id, A)
            await phone.until_tried(2)
        phone.refusals.clear()
        async with served(tmp_path, push=AT_ONCE):
            await phone.until(about(ask.id, "settled"))


async def test_what_may_have_reached_a_device_is_taken_back_too(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (_, phone, _),
    ):
        # Who answers with 500 may have taken it all the same.
        phone.refusals.append((500, {"retry-after": "600"}))
        ask = await raised(hub)
        await phone.until_tried(1)
        await answer(owner, ask.id, A)
        await phone.until(about(ask.id, "settled"))
        assert phone.shown == [("settled", ask.id)]


async def test_a_push_service_that_is_busy_is_tried_again_and_its_trouble_is_shown(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (client, phone, _),
    ):
        phone.refusals.append((429, {"retry-after": "0"}))
        ask = await raised(hub)
        await phone.until_tried(1)
        assert await until_device(client, "trouble", "The push service is busy (429).")
        await phone.until(about(ask.id))
        assert await until_device(client, "trouble", None)
        (device,) = await own(client)
        assert device["last_sent_at"] is not None


@pytest.mark.parametrize("status", [404, 410])
async def test_a_device_that_is_gone_is_forgotten(tmp_path: Path, status: int) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (client, gone, _),
        switched_on(hub, service, "admin") as (_, other, _),
    ):
        gone.refusals.append((status, {}))
        first = await raised(hub)
        await gone.until_tried(1)
        await other.until(about(first.id))
        second = await raised(hub)
        await other.until(about(second.id))
        assert await own(client) == []
        assert (gone.tried, gone.delivered) == (1, [])
        assert (hub.state / "push" / "devices.json").read_text().count('"endpoint"') == 1


async def test_a_message_that_is_refused_is_not_sent_again_and_the_next_one_is(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (client, phone, _),
    ):
        phone.refusals.append((400, {}))
        await raised(hub)
        await phone.until_tried(1)
        assert await until_device(client, "trouble", "The push service refused it (400).")
        second = await raised(hub)
        await phone.until(about(second.id))
        assert (phone.tried, phone.shown) == (2, [("ask", second.id)])


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
        assert phone.delivered[0].notice["title"] == "Handraise reaches this device."
        phone.refusals.append((403, {}))
        tried = await client.post(f"/api/push/devices/{name}/test")
        assert tried.json() == {"sent": False, "trouble": "The push service refused it (403)."}
        assert (await own(client))[0]["trouble"] == "The push service refused it (403)."
        phone.refusals.append((410, {}))
        tried = await client.post(f"/api/push/devices/{name}/test")
        assert "Switch it on again." in tried.json()["trouble"]
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
        taken = await admin.post("/api/push/devices", json=phone.subscription())
        assert taken.json()["id"] != name
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
            assert (refused.status_code, told(refused)["code"]) == (422, "invalid"), endpoint
        wrong = {"keys": {"p256dh": "AAAA", "auth": "AAAA"}, "endpoint": "https://8.8.8.8/x"}
        refused = await client.post("/api/push/devices", json=good.subscription(**wrong))
        assert (refused.status_code, told(refused)["message"]) == (422, "The keys of this browser cannot be used.")
        assert await own(client) == []


async def test_a_browser_that_is_bound_to_another_hub_is_told_so(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub, hub.client("viewer") as client:
        refused = await client.post("/api/push/devices", json=service.phone("another key").subscription())
        assert (refused.status_code, told(refused)["code"]) == (409, "refused")
        assert "another hub" in told(refused)["message"]


async def test_the_owner_on_the_socket_has_no_browser_to_switch_on(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub, hub.neighbour() as owner:
        key = (await owner.get("/api/push")).json()["key"]
        refused = await owner.post("/api/push/devices", json=service.phone(key).subscription())
        assert (refused.status_code, told(refused)["code"]) == (409, "refused")


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
        assert (refused.status_code, "remove one first" in told(refused)["message"]) == (409, True)


async def test_switched_off_in_the_settings_nothing_is_sent_and_nothing_is_made(tmp_path: Path) -> None:
    async with vendor() as service:
        async with served(tmp_path, push=AT_ONCE) as hub, switched_on(hub, service) as (_, phone, _):
            pass
        off = Terms(enabled=False, private_addresses=True, grace=timedelta(0))
        async with served(tmp_path, push=off) as hub, hub.client("approver") as client:
            assert (await client.get("/api/push")).json() == {"enabled": False, "key": None}
            refused = await client.post("/api/push/devices", json=phone.subscription())
            assert (refused.status_code, told(refused)["code"]) == (409, "refused")
            await raised(hub)
            assert len(await own(client)) == 1
        assert phone.tried == 0
    other = tmp_path / "other"
    other.mkdir()
    async with served(other) as hub:
        await raised(hub)
    assert not (other / "state" / "push").exists()


async def test_the_end_of_a_session_is_told_to_who_started_it(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (_, starter, _),
        switched_on(hub, service, "admin") as (_, other, _),
    ):
        for how, reason in (("lost", "Claude was killed"), ("stopped", "a approver stopped it")):
            session = await hub.session()
            await end(hub, session.id, "a approver", how, reason)
        mine = await hub.session()
        await end(hub, mine.id, "a approver", "stopped", "a admin stopped it")
        got = await starter.until(lambda notice: notice.get("session") == mine.id)
        assert got.notice["body"] == "Stopped: a admin stopped it"
        fence = await raised(hub)
        await other.until(about(fence.id))
        assert [each.notice.get("body") for each in starter.delivered if each.notice["kind"] == "ended"] == [
            "Claude is gone: Claude was killed",
            "Stopped: a admin stopped it",
        ]
        assert other.shown == [("ask", fence.id)]


async def test_an_end_that_could_not_be_told_is_told_at_the_next_start_and_once(tmp_path: Path) -> None:
    async with vendor() as service:
        async with served(tmp_path, push=AT_ONCE) as hub, switched_on(hub, service) as (_, phone, _):
            phone.refusals += [(503, {})] * 100
            session = await hub.session()
            await end(hub, session.id, "a approver", "lost", "Claude was killed")
            await phone.until_tried(1)
        phone.refusals.clear()
        for _ in range(2):
            async with served(tmp_path, push=AT_ONCE) as hub:
                await phone.until(lambda notice: notice["kind"] == "ended")
                fence = await raised(hub)
                await phone.until(about(fence.id))
        assert [each.notice["kind"] for each in phone.delivered] == ["ended", "ask", "ask"]


async def test_a_ledger_or_key_that_cannot_be_read_stops_no_hub(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with vendor() as service:
        async with served(tmp_path, push=AT_ONCE) as hub, switched_on(hub, service) as (_, phone, _):
            pass
        ledger, key = hub.state / "push" / "devices.json", hub.state / "push" / "key.pem"
        kept = ledger.read_bytes()
        ledger.write_bytes(b"{")
        async with served(tmp_path, push=AT_ONCE) as hub, hub.client("approver") as client:
            refused = await client.get("/api/push")
            assert (refused.status_code, "its log says where" in told(refused)["message"]) == (409, True)
            await raised(hub)
        assert ledger.read_bytes() == b"{"
        ledger.write_bytes(kept)
        key.write_bytes(b"nonsense")
        async with served(tmp_path, push=AT_ONCE) as hub, hub.client("approver") as client:
            refused = await client.get("/api/push")
            assert (refused.status_code, "its log says why" in told(refused)["message"]) == (409, True)
        assert phone.tried == 0
        assert any("devices.json cannot be read" in each.message for each in caplog.records)
        assert any("key.pem cannot be used" in each.message for each in caplog.records)


async def test_the_log_holds_no_endpoint_no_key_and_no_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="handraise")
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service, label="marker-label") as (client, phone, _),
    ):
        phone.refusals += [(400, {}), (410, {})]
        await raised(hub, Permission("Bash", {"command": "marker-command"}))
        await phone.until_tried(1)
        await raised(hub, Permission("Bash", {"command": "marker-command"}))
        await phone.until_tried(2)
        assert await until_gone(client)
    written = caplog.text
    assert "a message was not taken: The push service refused it (400)." in written
    assert "a device was removed" in written
    for secret in (phone.endpoint, phone.endpoint.rpartition("/")[2], "marker"):
        assert secret not in written


async def test_who_answers_second_takes_nothing_back_again(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (_, phone, _),
    ):
        ask = await raised(hub)
        await phone.until(about(ask.id))
        desk = hub.up.hub.desk.seat(TESTER, "test")
        await desk.answer(ask.id, Choices((Choice(("B",)),)))
        refused = await owner.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        assert refused.status_code == 409
        await answer(owner, ask.id, B)
        await phone.until(about(ask.id, "settled"))
        fence = await raised(hub)
        await phone.until(about(fence.id))
        assert phone.shown == [("ask", ask.id), ("settled", ask.id), ("ask", fence.id)]


async def end(hub: Served, session: str, by: str, how: str, reason: str) -> None:
    now = datetime.now(UTC)
    began = Entry(now, "session started", Person(by), "test", session=session)
    await hub.up.hub.store.apply([Record(began), Publish(session, now, SessionEnded(how, reason, None))])


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
