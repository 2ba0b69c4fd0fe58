"""IDs: a letter for the noun, then sixteen unambiguous characters."""

from hypothesis import given
from hypothesis import strategies as st

from handraise.model import ids


def test_an_id_is_spelled_the_same_for_the_same_entropy() -> None:
    assert ids.spell("s", bytes(10)) == "s_0000000000000000"
    assert ids.spell("a", b"\xff" * 32) == "a_zzzzzzzzzzzzzzzz"


@given(st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_two_ids_are_the_same_only_by_the_same_entropy(one: bytes, other: bytes) -> None:
    assert (ids.spell("r", one) == ids.spell("r", other)) == (one == other)
    assert not set(ids.spell("r", one)[2:]) & set("ilou")
