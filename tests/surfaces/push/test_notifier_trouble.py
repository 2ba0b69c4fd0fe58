"""The notifier when something fails: push services, files, and hubs that go and come back."""

import logging
from pathlib import Path

import pytest

from api.served import A, error_of, served
from handraise.model.asks import Permission
from surfaces.push.notified import AT_ONCE, about, answer, end, own, raised, switched_on, until_device, until_gone
from surfaces.push.vendor import vendor


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
        assert await until_device(client, "trouble", "The push service refused the message (400).")
        second = await raised(hub)
        await phone.until(about(second.id))
        assert (phone.tried, phone.shown) == (2, [("ask", second.id)])


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
        record = ledger.read_bytes()
        ledger.write_bytes(b"{")
        async with served(tmp_path, push=AT_ONCE) as hub, hub.client("approver") as client:
            refused = await client.get("/api/push")
            assert (refused.status_code, "Its log says where" in error_of(refused)["message"]) == (409, True)
            await raised(hub)
        assert ledger.read_bytes() == b"{"
        ledger.write_bytes(record)
        key.write_bytes(b"nonsense")
        async with served(tmp_path, push=AT_ONCE) as hub, hub.client("approver") as client:
            refused = await client.get("/api/push")
            assert (refused.status_code, "Its log says why" in error_of(refused)["message"]) == (409, True)
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
    assert "a message was not accepted: The push service refused the message (400)." in written
    assert "a device was removed" in written
    for secret in (phone.endpoint, phone.endpoint.rpartition("/")[2], "marker"):
        assert secret not in written
