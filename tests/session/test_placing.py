"""Where a session runs if a person leaves it open."""

from typing import Any

from handraise.model.machines import Machine
from handraise.model.sessions import Session
from handraise.session.placing import least_busy
from session.claude_says import NOON

MACHINES = [Machine(f"m_{number}", name, "0.1.0", 4, NOON, NOON) for number, name in enumerate(("a", "b", "c"), 1)]
ALL = {each.id for each in MACHINES}


def sessions(*machines: str, **fields: Any) -> list[Session]:
    values = {"phase": "working", **fields}
    return [
        Session(f"s_{n}", None, "/", "c", "t", NOON, NOON, machine=each, **values) for n, each in enumerate(machines)
    ]


def chosen(*args: Any, **more: Any) -> str | None:
    found = least_busy(*args, **more)
    return found.id if found else None


def test_the_machine_with_the_smallest_share_in_use_is_chosen() -> None:
    big = [MACHINES[0], Machine("m_2", "b", "0.1.0", 16, NOON, NOON)]
    assert chosen(MACHINES, sessions("m_1", "m_1", "m_2"), ALL) == "m_3"
    assert chosen(big, sessions("m_1", "m_2", "m_2"), ALL) == "m_2"


def test_of_equal_ones_our_own_comes_first_then_the_first_by_name() -> None:
    assert chosen(MACHINES, [], ALL, here="m_2") == "m_2"
    assert chosen(MACHINES, [], ALL) == "m_1"


def test_one_that_is_away_a_gateway_or_without_the_project_is_never_chosen() -> None:
    away = Machine("m_1", "a", "0.1.0", 4, NOON, NOON, away_since=NOON)
    gateway = Machine("m_2", "b", "0.1.0", 0, NOON, NOON)
    assert chosen([away, gateway, MACHINES[2]], sessions("m_3", "m_3"), ALL) == "m_3"
    assert chosen([away, gateway, MACHINES[2]], [], {"m_1", "m_2"}) is None
    assert chosen([], [], ALL) is None


def test_sessions_without_a_process_are_no_load() -> None:
    parked = sessions("m_1", "m_1", phase="parked")
    hand_run = sessions("m_1", terminal="laptop")
    assert chosen(MACHINES, [*parked, *hand_run, *sessions("m_2")], ALL) == "m_1"


def test_sessions_of_an_older_version_count_for_this_machine() -> None:
    assert chosen(MACHINES[:2], sessions(""), ALL, here="m_1") == "m_2"
