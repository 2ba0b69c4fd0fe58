"""How a session's next process is started."""

import pytest
from msgspec.structs import replace

from handraise.model.projects import Options
from handraise.model.sessions import Session
from handraise.session import launching
from handraise.session.launching import StartContext
from handraise.session.memory import Cooldown, Memory, StartKind
from session.claude_says import NOON
from session.stand_in import SESSION

FORK = replace(SESSION, forked_from="s_0")
PARENT = replace(SESSION, id="s_0", claude_id="claude-0")


@pytest.mark.parametrize(
    ("session", "old", "way"),
    [
        (SESSION, Memory(), "begin"),
        (SESSION, Memory(turn=3), "resume"),
        (SESSION, Memory(turn=3, missing="resume"), "begin"),
        (FORK, Memory(), "fork"),
        (FORK, Memory(turn=1), "resume"),
        (FORK, Memory(turn=1, missing="resume"), "fork"),
        (FORK, Memory(turn=1, missing="fork"), "begin"),
    ],
)
def test_a_session_goes_on_as_far_as_there_is_something_to_go_on_with(
    session: Session, old: Memory, way: StartKind
) -> None:
    memory = launching.memory_for(session, old)
    launch = launching.launch_of(session, memory, Options(), PARENT, StartContext())

    assert memory.way == way
    assert launch.resume == (way == "resume")
    assert launch.fork_of == ("claude-0" if way == "fork" else None)
    assert launch.session_id == "claude-1"


def test_the_next_process_knows_what_outlives_the_last_one_and_nothing_else() -> None:
    old = Memory(
        phase="ended",
        greeted=True,
        turn=2,
        cost_before=1.0,
        cost_run=0.5,
        last_error="gone",
        stop_reason="ana stopped it",
        cooldown=Cooldown(2, NOON),
        opening="u_1",
        unfinished={"u_2": NOON},
    )

    assert launching.memory_for(SESSION, old, "a key") == Memory(
        title="Fix it",
        turn=2,
        cost_before=1.5,
        cooldown=Cooldown(2, NOON),
        way="resume",
        opening="u_1",
        unfinished={"u_2": NOON},
        key="a key",
        granted=["default"],
    )


def test_only_who_lost_its_memory_is_told_to_look_before_it_does_anything_again() -> None:
    options = Options(append_system_prompt="Be brief.")

    calm = launching.launch_of(SESSION, Memory(), options, None, StartContext())
    lost = launching.launch_of(SESSION, Memory(missing="resume"), options, None, StartContext())

    assert calm.append_system_prompt == "Be brief."
    assert lost.append_system_prompt is not None
    assert lost.append_system_prompt.startswith("Be brief.\n\n")
    assert "check what is there" in lost.append_system_prompt
    assert launching.launch_of(SESSION, Memory(), Options(), None, StartContext()).append_system_prompt is None


def test_a_dialog_of_claude_code_stays_open_unless_the_person_set_a_time() -> None:
    name = "CLAUDE_CODE_USER_DIALOG_TIMEOUT_MS"

    assert StartContext().environment({})[name] == "2000000000"
    assert StartContext().environment({name: "60000"})[name] == "60000"


@pytest.mark.parametrize(
    ("old", "untouched", "renamed"),
    [
        (Memory(), "Fix it", False),
        (Memory(), "Please fix it", True),
        (Memory(title="Fix it"), "", False),
        (Memory(title="Claude's own"), "", True),
        (Memory(title="Fix it", renamed=True), "", True),
    ],
)
def test_a_title_that_a_person_chose_stays_theirs(old: Memory, untouched: str, renamed: bool) -> None:
    assert launching.memory_for(SESSION, old, "", "", untouched).renamed is renamed
