"""How many messages a bot may send."""

import pytest

from surfaces.telegram.rates import RateLimits, RateMeter
from surfaces.telegram.rules import RuleBroken


def refused(meter: RateMeter, chat: int, now: float, *, private: bool = True) -> int:
    """The time to wait; 0 if it was sent."""
    try:
        meter.count(chat, private, now)
    except RuleBroken as broken:
        return broken.parameters["retry_after"]
    return 0


def test_a_refusal_says_how_long_to_wait() -> None:
    meter = RateMeter(RateLimits(private_burst=0))
    with pytest.raises(RuleBroken) as broken:
        meter.count(1, private=True, now=0.0)
    assert (broken.value.code, broken.value.parameters) == (429, {"retry_after": 1})
    assert broken.value.description == "Too Many Requests: retry after 1"


def test_private_chats_take_a_few_at_once_and_then_one_a_second() -> None:
    meter = RateMeter(RateLimits())
    assert [refused(meter, 1, 0.0) for _ in range(4)] == [0, 0, 0, 1]
    assert [refused(meter, 1, float(at)) for at in range(1, 60)] == [0] * 59
    assert refused(meter, 1, 59.1) == 1
    assert meter.refused == 2


def test_a_refused_chat_stays_closed_for_its_time() -> None:
    meter = RateMeter(RateLimits(private_per_second=0.1))
    assert [refused(meter, 1, 0.0) for _ in range(4)] == [0, 0, 0, 10]
    assert refused(meter, 1, 4.0) == 6
    assert refused(meter, 2, 4.0) == 0
    assert refused(meter, 1, 10.0) == 0


def test_groups_take_20_in_any_minute() -> None:
    meter = RateMeter(RateLimits())
    assert [refused(meter, -1, at * 0.1, private=False) for at in range(20)] == [0] * 20
    assert refused(meter, -1, 30.0, private=False) == 30
    assert refused(meter, -2, 30.0, private=False) == 0
    assert refused(meter, -1, 60.0, private=False) == 0


def test_all_chats_together_take_30_a_second() -> None:
    meter = RateMeter(RateLimits())
    assert [refused(meter, chat, 0.0) for chat in range(31)] == [0] * 30 + [1]
    assert refused(meter, 30, 1.0) == 0


@pytest.mark.parametrize(("early", "wait"), [(0.2, 0), (0.4, 1)])
def test_a_little_too_early_is_on_time(early: float, wait: int) -> None:
    meter = RateMeter(RateLimits())
    for _ in range(3):
        refused(meter, 1, 0.0)
    assert refused(meter, 1, 1.0 - early) == wait
