"""Usage limits, as Claude reports them; odd values are left out."""

from datetime import UTC, datetime
from typing import Any

import pytest

from handraise.model.sessions import Session
from handraise.model.usage import UsageLimit
from handraise.session import records
from handraise.session.commands import Changed
from handraise.session.memory import Memory
from handraise.session.usage import limits_after
from session.claude_says import NOON, Line, of, working

RESET = 1_794_779_380
AT = datetime.fromtimestamp(RESET, UTC)
FIVE = UsageLimit("five_hour", 0.42, AT)


def report(**fields: Any) -> Line:
    return {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", **fields}}


def test_every_window_is_read_and_the_limiting_one_may_be_refused() -> None:
    windows = {
        "five_hour": {"utilization": 0.42, "resetsAt": RESET},
        "seven_day": {"utilization": 1, "resetsAt": RESET, "status": "rejected"},
    }

    assert limits_after({"status": "rejected", "unifiedWindows": windows}, ()) == (
        FIVE,
        UsageLimit("seven_day", 1.0, AT, reached=True),
    )


def test_an_older_claude_names_only_the_limiting_one_and_the_others_stay() -> None:
    opus = {"status": "rejected", "rateLimitType": "seven_day_opus", "resetsAt": RESET}

    assert limits_after(opus, (FIVE,)) == (FIVE, UsageLimit("seven_day_opus", None, AT, reached=True))


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"rateLimitType": "five_hour"},
        {"rateLimitType": 5, "resetsAt": RESET},
        {"rateLimitType": "", "resetsAt": RESET},
        {"rateLimitType": "x" * 1000, "resetsAt": RESET},
        {"rateLimitType": "five_hour", "resetsAt": 1e300},
        {"rateLimitType": "five_hour", "resetsAt": "soon", "utilization": True},
        {"rateLimitType": "five_hour", "utilization": float("nan")},
        {"rateLimitType": "five_hour", "utilization": -1},
        {"unifiedWindows": []},
        {"unifiedWindows": {"five_hour": None, "seven_day": {"utilization": "much"}}},
    ],
)
def test_odd_values_are_left_out(odd: dict[str, Any]) -> None:
    assert limits_after(odd, ()) == ()


def test_there_are_only_so_many() -> None:
    windows = {f"w{number}": {"utilization": 5e9, "resetsAt": RESET} for number in range(1000)}

    limits = limits_after({"unifiedWindows": windows}, ())

    assert len(limits) == 8
    assert {each.used for each in limits} == {10.0}


def test_the_session_has_them_and_says_so_when_they_change() -> None:
    talk = working()
    line = report(rateLimitType="five_hour", utilization=0.4201, resetsAt=RESET)

    assert of(Changed, talk.hear(line)) == [Changed()]
    assert of(Changed, talk.hear(report(rateLimitType="five_hour", utilization=0.4249, resetsAt=RESET))) == []
    session = Session("s_1", None, "/w", "c", "A session", NOON, NOON)
    assert records.as_remembered(session, Memory.load(talk.memory.dump()), NOON).usage == (FIVE,)
