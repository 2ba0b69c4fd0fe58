"""A machine's memory is small, and survives encoding."""

from hypothesis import given
from hypothesis import strategies as st

from handraise.model.sessions import Ended
from handraise.session.memory import Cooldown, Memory, Pending
from handraise.session.translate import Action
from session.claude_says import NOON

memories = st.builds(
    Memory,
    title=st.text(max_size=9),
    phase=st.sampled_from(["starting", "idle", "working", "stopping", "ended"]),
    greeted=st.booleans(),
    turn=st.integers(0, 9),
    cost_run=st.floats(0, 9),
    requests=st.dictionaries(
        st.text(max_size=3), st.builds(Pending, st.text(max_size=3), st.none() | st.text(max_size=3), st.booleans())
    ),
    wants=st.dictionaries(st.text(max_size=3), st.tuples(st.text(max_size=3), st.text(max_size=3))),
    actions=st.dictionaries(
        st.text(max_size=3), st.builds(Action, st.sampled_from(["command", "tool"]), st.text(max_size=3))
    ),
    last_text=st.text(max_size=9),
    cooldown=st.builds(Cooldown, st.integers(0, 5), st.none() | st.just(NOON)),
    unmoved=st.booleans(),
    way=st.sampled_from(["begin", "fork", "resume"]),
    missing=st.sampled_from(["", "fork", "resume"]),
    opening=st.text(max_size=3),
    unfinished=st.dictionaries(st.text(max_size=3), st.just(NOON)),
    finished=st.lists(st.text(max_size=3)),
    stop_reason=st.none() | st.text(max_size=3),
    ended=st.none() | st.builds(Ended, st.just("lost"), st.text(max_size=3), st.just(NOON)),
)


@given(memories)
def test_it_comes_back_from_its_bytes(memory: Memory) -> None:
    assert Memory.load(memory.dump()) == memory


def test_a_session_that_has_nothing_to_remember_takes_no_room() -> None:
    assert len(Memory().dump()) < 10


def test_what_an_older_hub_wrote_down_is_read() -> None:
    assert Memory.load(b"\x80") == Memory()
    assert Memory.load(b"\x81\xa7unknown\x01") == Memory()
