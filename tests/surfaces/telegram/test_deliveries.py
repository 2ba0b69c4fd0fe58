"""What a card's place still lacks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.surfaces.telegram import deliveries
from handraise.surfaces.telegram.conversation import CardState
from handraise.surfaces.telegram.deliveries import (
    MOST_COPIES,
    CardCopy,
    CardLook,
    CloseDelivery,
    Delivery,
    EditCopy,
    SendCopy,
    SendPart,
    next_action,
)
from handraise.surfaces.telegram.outgoing import ChatPlace

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EMPTY = Delivery("a_1", ChatPlace(1001))
OPEN = CardLook(2, "open", is_open=True)
OVER = CardLook(0, "over", is_open=False)


def test_a_card_is_sent_part_by_part_and_its_buttons_last() -> None:
    delivery = EMPTY
    assert next_action(delivery, OPEN) == SendPart(0)
    delivery = deliveries.part_arrived(delivery, 11)
    assert next_action(delivery, OPEN) == SendPart(1)
    delivery = deliveries.part_arrived(delivery, 12)
    assert next_action(delivery, OPEN) == SendCopy()
    delivery = deliveries.copy_arrived(delivery, 13, "open", NOW)
    assert next_action(delivery, OPEN) is None
    assert deliveries.known_messages(delivery) == (11, 12, 13)
    assert deliveries.shown_since(delivery, 13) == NOW


def test_what_shows_something_else_is_edited() -> None:
    copy = CardCopy(13, "before", NOW)
    delivery = replace(EMPTY, copies=(copy,))
    assert next_action(delivery, OPEN) == EditCopy(copy)
    assert next_action(deliveries.copy_edited(delivery, 13, "open", NOW), OPEN) is None


def test_a_settled_card_is_closed_once_everything_says_so() -> None:
    delivery = replace(EMPTY, copies=(CardCopy(13, "open", NOW), CardCopy(14, "over", NOW)))
    assert next_action(delivery, OVER) == EditCopy(CardCopy(13, "open", NOW))
    delivery = deliveries.copy_edited(delivery, 13, "over", NOW)
    assert next_action(delivery, OVER) == CloseDelivery()
    assert next_action(replace(delivery, is_closed=True), OVER) is None


def test_what_was_never_sent_is_not_sent_once_it_is_settled() -> None:
    assert next_action(replace(EMPTY, parts=(11,)), OVER) == CloseDelivery()


def test_a_deleted_card_is_sent_again_as_a_whole_while_it_is_open() -> None:
    delivery = replace(EMPTY, parts=(11, 12), copies=(CardCopy(13, "open", NOW),))
    gone = deliveries.copy_gone(delivery, 13)
    assert next_action(gone, OPEN) == SendPart(0)
    assert next_action(gone, OVER) == CloseDelivery()


def test_a_copy_that_nobody_knew_of_is_made_right() -> None:
    closed = replace(EMPTY, copies=(CardCopy(13, "over", NOW),), is_closed=True)
    found = deliveries.copy_used(closed, 14, "", NOW)
    assert next_action(found, OVER) == EditCopy(CardCopy(14, "", NOW))
    assert deliveries.copy_used(found, 14, "", NOW) == found


def test_shown_again_it_comes_at_the_end_and_the_older_copies_stay_right() -> None:
    delivery = deliveries.copy_arrived(replace(EMPTY, parts=(11, 12)), 13, "open", NOW)
    again = deliveries.show_again(delivery)
    assert next_action(again, OPEN) == SendPart(0)
    again = deliveries.copy_arrived(replace(again, parts=(14, 15)), 16, "open", NOW)
    assert next_action(again, OPEN) is None
    assert next_action(again, OVER) == EditCopy(CardCopy(13, "open", NOW))
    for number in range(20, 40):
        again = deliveries.copy_arrived(again, number, "open", NOW)
    assert len(again.copies) == MOST_COPIES


def test_pauses_grow_up_to_a_limit() -> None:
    assert [deliveries.pause_after(count) for count in (1, 2, 3, 100)] == [2.0, 4.0, 8.0, 600.0]


TICKING = CardState(step="checks", revision=3)


def ticked(delivery: Delivery, before: CardState, *rows: str) -> tuple[Delivery, CardState]:
    after = replace(before, ticked=rows, revision=before.revision + 1)
    return deliveries.advance(delivery, before, after), after


def test_a_tick_counts_if_its_row_is_as_its_button_showed_it() -> None:
    delivery = deliveries.advance(EMPTY, CardState(revision=2), TICKING)
    delivery, state = ticked(delivery, TICKING, "lint")
    delivery, state = ticked(delivery, state, "lint", "tests")
    assert deliveries.still_counts(delivery, 3, state.revision, "row", "types")
    assert not deliveries.still_counts(delivery, 3, state.revision, "row", "lint")
    assert deliveries.still_counts(delivery, 4, state.revision, "row", "lint")


@pytest.mark.parametrize("act", ["done", "confirm", "back", "skip", "page"])
def test_everything_else_counts_only_on_what_is_shown_now(act: str) -> None:
    delivery = deliveries.advance(EMPTY, CardState(revision=2), TICKING)
    delivery, state = ticked(delivery, TICKING, "lint")
    assert not deliveries.still_counts(delivery, 3, state.revision, act, "")
    assert deliveries.still_counts(delivery, 4, state.revision, act, "")


def test_a_button_of_an_earlier_step_never_counts() -> None:  # lesson 27
    delivery, state = ticked(EMPTY, CardState(revision=0), "lint")
    delivery = deliveries.advance(delivery, state, TICKING)
    delivery, state = ticked(delivery, TICKING, "a")
    assert not deliveries.still_counts(delivery, 1, state.revision, "row", "b")


@given(st.integers(0, 4), st.lists(st.sampled_from(["arrives", "is lost", "is deleted", "settles", "changes"])))
def test_whatever_happens_the_difference_is_sent_and_then_nothing_is_missing(parts: int, events: list[str]) -> None:
    """A place that only ever gets what `next_action` says ends up right."""
    delivery, look, number = EMPTY, CardLook(parts, "0", is_open=True), 100
    for count, event in enumerate(events):
        if event == "settles":
            look = CardLook(0, f"over {count}", is_open=False)
        elif event == "changes":
            look = replace(look, shown=str(count))
        elif event == "is deleted" and delivery.copies:
            delivery = deliveries.copy_gone(delivery, delivery.copies[0].message)
        elif event == "arrives":
            number += 1
            delivery = perform(delivery, look, number)
    for number in range(200, 220):
        delivery = perform(delivery, look, number)
    assert next_action(delivery, look) is None
    assert all(copy.shown == look.shown for copy in delivery.copies)
    assert bool(delivery.copies) or not look.is_open
    assert delivery.is_closed == (not look.is_open)


def perform(delivery: Delivery, look: CardLook, number: int) -> Delivery:
    match next_action(delivery, look):
        case SendPart():
            return deliveries.part_arrived(delivery, number)
        case SendCopy():
            return deliveries.copy_arrived(delivery, number, look.shown, NOW)
        case EditCopy(copy=copy):
            return deliveries.copy_edited(delivery, copy.message, look.shown, NOW)
        case CloseDelivery():
            return replace(delivery, is_closed=True)
        case _:
            return delivery


def test_what_a_press_proves_counts_from_the_press() -> None:
    later = NOW + timedelta(seconds=60)
    delivery = replace(EMPTY, copies=(CardCopy(13, "before", NOW),))
    used = deliveries.copy_used(delivery, 13, "open", later)
    assert used.copies == (CardCopy(13, "open", later),), "its edit was seen before it was confirmed"
    assert deliveries.copy_used(used, 13, "open", later + timedelta(seconds=1)) == used
    assert deliveries.copy_used(delivery, 13, "", later) == delivery
    assert deliveries.copy_used(used, 13, "open", NOW).copies == (CardCopy(13, "open", NOW),), "a clock was set back"


def test_a_message_that_was_pressed_before_it_was_confirmed_is_one_copy() -> None:
    used = deliveries.copy_used(EMPTY, 13, "open", NOW)
    assert deliveries.copy_arrived(used, 13, "open", NOW).copies == (CardCopy(13, "open", NOW),)
