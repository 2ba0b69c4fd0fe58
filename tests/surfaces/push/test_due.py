"""What a device is sent, and when: each thing once, and settled asks are removed."""

from datetime import timedelta

import pytest

from handraise.model.asks import Ask
from handraise.surfaces.push.device_log import DeviceState, Ending
from handraise.surfaces.push.due import (
    COURTESY,
    GRACE,
    LONGEST_LIFE,
    TRIES,
    Announce,
    AskStates,
    Failures,
    Show,
    TakeBack,
    WaitUntil,
    life_of,
    next_action,
    pause_after,
)
from surfaces.push.asked import NOW, PLAN, WHICH, ask_of, device_of

SECOND = timedelta(seconds=1)
LATER = NOW + timedelta(hours=1)


def scene(*asks: Ask, **settled: object) -> AskStates:
    return AskStates(open={ask.id: ask for ask in asks}, is_known=True, **settled)  # type: ignore[arg-type]


def test_nobody_is_called_for_what_is_answered_at_once() -> None:
    ask, page = ask_of(WHICH), DeviceState(device_of())
    assert next_action(page, scene(ask), {}, NOW) == WaitUntil(NOW + GRACE)
    assert next_action(page, scene(), {}, NOW + GRACE) is None
    assert next_action(page, scene(ask), {}, NOW + GRACE) == Show(ask)


def test_what_was_shown_is_not_shown_again() -> None:
    ask = ask_of(WHICH)
    assert next_action(DeviceState(device_of(), shown={ask.id: NOW}), scene(ask), {}, LATER) is None


def test_what_may_not_have_reached_it_is_shown_again() -> None:
    ask = ask_of(WHICH)
    assert next_action(DeviceState(device_of(), doubtful={ask.id: NOW}), scene(ask), {}, LATER) == Show(ask)


def test_the_oldest_is_shown_first_and_only_kinds_that_were_wanted() -> None:
    old, new = ask_of(WHICH, "a_1"), ask_of(PLAN, "a_2", opened_at=NOW + SECOND)
    assert next_action(DeviceState(device_of()), scene(old, new), {}, LATER) == Show(old)
    assert next_action(DeviceState(device_of(kinds=("plan",))), scene(old, new), {}, LATER) == Show(new)


def test_what_waited_before_the_device_was_switched_on_is_on_its_screen() -> None:
    ask = ask_of(WHICH, opened_at=NOW - SECOND)
    assert next_action(DeviceState(device_of()), scene(ask), {}, LATER) is None


def test_before_anybody_looked_nothing_is_taken_for_settled() -> None:
    page = DeviceState(device_of(), shown={"a_1": NOW}, endings=[Ending("s_1", "lost", "", NOW)])
    assert next_action(page, AskStates(), {}, LATER) is None


@pytest.mark.parametrize("known", ["shown", "doubtful"])
def test_what_is_settled_is_taken_back_first(known: str) -> None:
    other = ask_of(WHICH, "a_2")
    page = DeviceState(device_of())
    setattr(page, known, {"a_1": NOW})
    assert next_action(page, scene(other), {}, LATER) == TakeBack("a_1")
    just = scene(settled={"a_1": LATER})
    assert next_action(page, just, {}, LATER) == WaitUntil(LATER + COURTESY)
    assert next_action(page, just, {}, LATER + COURTESY) == TakeBack("a_1")


def test_what_it_put_away_itself_is_not_taken_back() -> None:
    page = DeviceState(device_of(), shown={"a_1": NOW}, doubtful={"a_1": NOW})
    assert page.forget("a_1")
    assert not page.forget("a_1")
    assert next_action(page, scene(), {}, LATER) is None


def test_what_it_put_away_itself_does_not_come_back() -> None:
    ask = ask_of(WHICH)
    assert next_action(DeviceState(device_of(), put_away={ask.id: NOW}), scene(ask), {}, LATER) is None


def test_the_end_of_a_session_is_told() -> None:
    ending = Ending("s_1", "lost", "killed", NOW)
    assert next_action(DeviceState(device_of(), endings=[ending]), scene(), {}, LATER) == Announce(ending)


def test_a_push_service_that_fails_is_left_alone_and_one_trouble_holds_up_nothing_else() -> None:
    first, second = ask_of(WHICH, "a_1"), ask_of(PLAN, "a_2")
    busy = {"a_1": Failures(1, LATER + SECOND)}
    page = DeviceState(device_of())
    assert next_action(page, scene(first), busy, LATER) == WaitUntil(LATER + SECOND)
    assert next_action(page, scene(first, second), busy, LATER) == Show(second)
    assert next_action(page, scene(first), busy, LATER + SECOND) == Show(first)
    assert next_action(page, scene(first), {"a_1": Failures(TRIES, LATER)}, LATER + SECOND) is None


def test_pauses_grow_and_end_and_what_the_push_service_says_counts() -> None:
    assert [pause_after(count, None) for count in (1, 2, 3, 9, 500)] == [2.0, 4.0, 8.0, 512.0, 600.0]
    assert pause_after(1, 90.0) == 90.0
    assert pause_after(5, 0.0) == 2.0


def test_a_message_lives_as_long_as_its_asker_waits() -> None:
    assert life_of(ask_of(WHICH), NOW) == LONGEST_LIFE
    assert life_of(ask_of(WHICH, expires_at=NOW + 90 * SECOND), NOW) == 90
    assert life_of(ask_of(WHICH, expires_at=NOW - SECOND), NOW) == 0
