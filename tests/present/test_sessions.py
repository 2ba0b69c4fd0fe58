"""What a session's state and ending are called."""

import pytest

from handraise.model.sessions import PHASES
from handraise.present.sessions import ending_in_words, state_in_words


@pytest.mark.parametrize(
    ("state", "words"),
    [("needs you", "needs you"), ("not moving", "not responding"), ("lost", "lost"), ("strange", "strange")],
)
def test_a_state_in_words(state: str, words: str) -> None:
    assert state_in_words(state) == words


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_has_a_word(phase: str) -> None:
    assert state_in_words(phase)


def test_an_ending_in_words() -> None:
    assert ending_in_words("lost") == "Claude exited"
    assert ending_in_words("strange") == "strange"
