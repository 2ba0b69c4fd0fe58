"""What a session's state and ending are called. Pure; an unknown word is shown as it is."""

from typing import get_args

from handraise.model.sessions import PHASES, Ending
from handraise.texts import t

_ENDINGS: tuple[str, ...] = get_args(Ending)
_STATES = ("needs you", "not moving", *PHASES, *_ENDINGS)


def state_in_words(state: str) -> str:
    """One or two words for a state of `model.sessions.state_of`."""
    if state in ("parking", "parked", "ended") or state not in _STATES:
        return state
    return t(f"card.session.state.{state.replace(' ', '_')}")


def ending_in_words(how: str) -> str:
    """How a session ended, for the start of a line."""
    return t(f"card.session.ended.{how}") if how in _ENDINGS else how
