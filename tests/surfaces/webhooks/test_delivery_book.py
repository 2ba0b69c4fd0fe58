"""Delivery books: bounded, durable, and of two that change the same delivery neither loses anything."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from handraise.desk.shared import RecordChange
from handraise.hub.shared import StoreRecords
from handraise.model.webhooks import DeliveryAttempt, WebhookDelivery, WebhookHealth
from handraise.store.memory.store import MemoryStore
from handraise.surfaces.webhooks import retries
from handraise.surfaces.webhooks.delivery_book import DeliveryBook, kind_of

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
QUEUED = WebhookDelivery("msg_1", "ask.opened", NOON, "{}", NOON)
ACCEPTED = DeliveryAttempt(NOON, 12, 204)
FAILED = DeliveryAttempt(NOON, 12, 500, "The response was 500.")


@pytest.fixture
async def records() -> AsyncIterator[StoreRecords]:
    async with MemoryStore("m_1") as store:
        yield StoreRecords(store)


async def a_book(records: StoreRecords) -> DeliveryBook:
    book = DeliveryBook(records, "w_1")
    await book.refresh()
    return book


async def test_the_same_event_is_stored_once(records: StoreRecords) -> None:
    one, two = await a_book(records), await a_book(records)

    assert await one.add(QUEUED, NOON)
    assert not await one.add(QUEUED, NOON)
    assert not await two.add(replace(QUEUED, body='{"other": 1}'), NOON)
    assert two.deliveries == {"msg_1": QUEUED}


async def test_of_two_that_change_a_delivery_neither_loses_what_it_saw(records: StoreRecords) -> None:
    one, two = await a_book(records), await a_book(records)
    await one.add(QUEUED, NOON)
    await two.refresh()

    await one.change("msg_1", lambda each: retries.after_attempt(each, FAILED, 0.5))
    after = await two.change("msg_1", lambda each: retries.after_resend(each, ACCEPTED))

    assert after is not None
    assert (after.state, after.attempts) == ("sent", (FAILED, ACCEPTED))
    await one.refresh()
    assert one.deliveries["msg_1"] == after


async def test_an_outcome_and_the_health_are_stored_together(records: StoreRecords) -> None:
    book = await a_book(records)
    await book.add(QUEUED, NOON)

    await book.change(
        "msg_1",
        lambda each: retries.after_attempt(each, FAILED, 0.5),
        lambda health: retries.health_after(health, FAILED),
    )

    again = await a_book(records)
    assert again.health == WebhookHealth(NOON, "The response was 500.")
    assert again.deliveries["msg_1"].tries == 1


async def test_what_is_gone_stays_gone(records: StoreRecords) -> None:
    one, two = await a_book(records), await a_book(records)
    await one.add(QUEUED, NOON)
    await two.refresh()

    await two.remove()

    assert await one.change("msg_1", lambda each: retries.after_attempt(each, ACCEPTED, 0.5)) is None
    assert await records.read(kind_of("w_1")) == {}


async def test_if_too_many_wait_the_oldest_has_failed(records: StoreRecords) -> None:
    waiting = [
        replace(QUEUED, id=f"msg_{number:04}", at=NOON + timedelta(seconds=number))
        for number in range(retries.MOST_QUEUED)
    ]
    await records.save(kind_of("w_1"), [RecordChange(each.id, msgspec.json.encode(each), None) for each in waiting])
    book = await a_book(records)

    await book.add(replace(QUEUED, id="msg_new", at=NOON + timedelta(days=1)), NOON)

    assert len(retries.queued(book.deliveries.values())) == retries.MOST_QUEUED
    assert book.deliveries["msg_0000"].state == "failed"
    assert book.deliveries["msg_new"].state == "queued"


async def test_a_record_that_cannot_be_read_is_left_alone(records: StoreRecords) -> None:
    await records.save(kind_of("w_1"), [RecordChange("msg_odd", b"{", None)])
    book = await a_book(records)

    assert await book.add(QUEUED, NOON)
    assert list(book.deliveries) == ["msg_1"]
    assert (await records.read(kind_of("w_1")))["msg_odd"] == b"{"
