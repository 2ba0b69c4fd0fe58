"""Retries: when an event is sent again, when it has failed, and which ones are kept."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from handraise.model.webhooks import DeliveryAttempt, WebhookDelivery, WebhookHealth
from handraise.surfaces.webhooks.retries import (
    JITTER,
    LONGEST_WISH,
    MOST_SETTLED,
    PAUSES,
    after_attempt,
    after_resend,
    given_up,
    health_after,
    newest_first,
    next_due,
    pause_after,
    queued,
    surplus,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
QUEUED = WebhookDelivery("msg_1", "ask.opened", NOW, "{}", NOW)
ACCEPTED = DeliveryAttempt(NOW, 12, 204)
FAILED = DeliveryAttempt(NOW, 12, 500, "The response was 500.")
GONE = DeliveryAttempt(NOW, 12, 410, "The response was 410.")
MIDDLE = 0.5


def test_pauses_grow_from_seconds_to_more_than_a_day_in_all() -> None:
    pauses = [pause_after(tries, MIDDLE) for tries in range(1, len(PAUSES) + 1)]

    assert pauses[:4] == [timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2)]
    assert pauses == sorted(each for each in pauses if each is not None)
    assert sum(PAUSES, timedelta()) > timedelta(days=1)
    assert pause_after(len(PAUSES) + 1, MIDDLE) is None


@pytest.mark.parametrize("tries", range(1, len(PAUSES) + 1))
def test_chance_moves_a_pause_by_a_fifth_at_most(tries: int) -> None:
    shortest, longest = pause_after(tries, 0.0), pause_after(tries, 1.0)

    assert (shortest, longest) == (PAUSES[tries - 1] * (1 - JITTER), PAUSES[tries - 1] * (1 + JITTER))


@pytest.mark.parametrize(
    ("wish", "pause"),
    [
        (None, timedelta(seconds=5)),
        (timedelta(seconds=1), timedelta(seconds=5)),
        (timedelta(minutes=10), timedelta(minutes=10)),
        (timedelta(days=400), LONGEST_WISH),
    ],
)
def test_a_receiver_may_ask_for_a_longer_pause_but_not_for_ages(wish: timedelta | None, pause: timedelta) -> None:
    assert pause_after(1, MIDDLE, wish) == pause


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_success_settles_it(status: int) -> None:
    sent = after_attempt(QUEUED, replace(ACCEPTED, status=status), MIDDLE)

    assert (sent.state, sent.next_at, sent.tries) == ("sent", None, 1)


@pytest.mark.parametrize("status", [None, 100, 301, 302, 307, 400, 401, 404, 408, 429, 500, 503, 599])
def test_everything_else_is_tried_again(status: int | None) -> None:
    after = after_attempt(QUEUED, replace(FAILED, status=status), MIDDLE)

    assert (after.state, after.next_at, after.tries) == ("queued", NOW + timedelta(seconds=5), 1)
    assert after.attempts[-1].status == status


def test_after_the_last_pause_it_has_failed() -> None:
    delivery = QUEUED
    for _ in range(len(PAUSES)):
        delivery = after_attempt(delivery, FAILED, MIDDLE)
        assert delivery.state == "queued"

    delivery = after_attempt(delivery, FAILED, MIDDLE)

    assert (delivery.state, delivery.next_at, delivery.tries) == ("failed", None, len(PAUSES) + 1)


def test_one_whose_receiver_is_gone_has_failed_at_once() -> None:
    assert after_attempt(QUEUED, GONE, MIDDLE).state == "failed"


def test_only_the_last_attempts_are_kept() -> None:
    delivery = QUEUED
    for number in range(40):
        delivery = after_resend(delivery, replace(FAILED, ms=number))

    assert [each.ms for each in delivery.attempts] == list(range(28, 40))


def test_sending_again_by_hand_changes_nothing_unless_it_succeeds() -> None:
    failed = after_attempt(QUEUED, GONE, MIDDLE)

    again = after_resend(failed, FAILED)
    assert (again.state, again.tries, len(again.attempts)) == ("failed", 1, 2)
    waiting = after_resend(replace(QUEUED, next_at=NOW + timedelta(hours=2)), FAILED)
    assert (waiting.state, waiting.next_at) == ("queued", NOW + timedelta(hours=2))
    assert after_resend(failed, ACCEPTED).state == "sent"
    assert after_resend(QUEUED, ACCEPTED).next_at is None


def test_one_that_is_dropped_says_why() -> None:
    dropped = given_up(QUEUED, NOW)

    assert dropped.state == "failed"
    assert "newer events" in dropped.attempts[-1].problem


def test_what_is_due_is_the_oldest_whose_time_has_come() -> None:
    early = replace(QUEUED, id="msg_early", at=NOW - timedelta(hours=1), next_at=NOW + timedelta(minutes=5))
    settled = replace(QUEUED, id="msg_sent", at=NOW - timedelta(hours=2), state="sent", next_at=None)

    assert next_due([settled, early, QUEUED], NOW) == QUEUED
    assert next_due([settled, early], NOW) == early.next_at
    assert next_due([settled, early], NOW + timedelta(minutes=5)) == early
    assert next_due([settled], NOW) is None
    assert [each.id for each in queued([QUEUED, settled, early])] == ["msg_early", "msg_1"]
    assert [each.id for each in newest_first([settled, QUEUED, early])] == ["msg_1", "msg_early", "msg_sent"]


def test_old_ones_are_forgotten_but_never_queued_ones() -> None:
    settled = [
        replace(QUEUED, id=f"msg_{number:04}", at=NOW + timedelta(seconds=number), state="sent", next_at=None)
        for number in range(MOST_SETTLED + 3)
    ]
    waiting = [replace(QUEUED, id=f"msg_q{number}", at=NOW - timedelta(days=1)) for number in range(5)]

    assert [each.id for each in surplus([*waiting, *settled])] == ["msg_0000", "msg_0001", "msg_0002"]
    assert surplus(settled[:MOST_SETTLED]) == []


def test_a_webhook_fails_from_the_first_failure_until_the_next_success() -> None:
    later = NOW + timedelta(minutes=5)
    failing = health_after(health_after(WebhookHealth(NOW), FAILED), replace(FAILED, at=later, problem="No response."))

    assert failing == WebhookHealth(NOW, "No response.")
    assert health_after(failing, replace(ACCEPTED, at=later)) == WebhookHealth(last_sent_at=later)
