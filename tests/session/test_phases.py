"""The table of phases: complete for every process, and the same as the diagram in the documentation."""

import re
from pathlib import Path
from typing import get_args

import pytest

from handraise import session
from handraise.model.sessions import PHASES, Phase
from handraise.session.phases import INITIAL, TRANSITIONS, Event, NoTransition, after, diagram

SOURCES = Path(str(session.__file__)).parent.glob("*.py")
SETS_A_PHASE = re.compile(r"""phase = ["']|phase=["']""")
ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"
WITH_A_PROCESS: tuple[Phase, ...] = ("starting", "idle", "working", "parking", "stopping")
ABOUT_A_PROCESS: tuple[Event, ...] = ("greeted", "turn began", "turn ended", "stop", "exited", "failed", "not found")


def test_every_phase_has_a_row_and_every_event_is_used() -> None:
    assert tuple(TRANSITIONS) == PHASES
    assert {event for row in TRANSITIONS.values() for event in row} == set(get_args(Event))


@pytest.mark.parametrize("phase", WITH_A_PROCESS)
def test_whatever_a_process_does_has_a_next_phase(phase: Phase) -> None:
    assert [event for event in ABOUT_A_PROCESS if event not in TRANSITIONS[phase]] == []


def test_every_phase_can_be_reached_and_every_session_can_end() -> None:
    reached = {INITIAL} | {following for row in TRANSITIONS.values() for following in row.values()}
    ends = {"ended"}
    for _ in PHASES:
        ends |= {phase for phase, row in TRANSITIONS.items() if ends & set(row.values())}

    assert reached == ends == set(PHASES)


def test_an_event_that_the_phase_does_not_know_is_an_error() -> None:
    with pytest.raises(NoTransition) as error:
        after("ended", "greeted")

    assert (error.value.phase, error.value.event) == ("ended", "greeted")


def test_no_phase_is_set_by_name() -> None:
    by_name = [path.name for path in SOURCES if SETS_A_PHASE.search(path.read_text())]

    assert by_name == []


def test_the_diagram_in_the_documentation_is_made_from_the_table() -> None:
    """Where this fails: replace what is between the two markers by what `diagram()` returns."""
    before, _, rest = ARCHITECTURE.read_text().partition("<!-- phases: begin -->\n")
    shown, marker, _ = rest.partition("<!-- phases: end -->")

    assert before
    assert marker
    assert shown.strip() == f"```mermaid\n{diagram()}\n```"
