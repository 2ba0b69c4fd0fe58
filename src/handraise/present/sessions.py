"""What a session's state and ending are called. Pure; a word that nobody knows is shown itself."""

from typing import get_args

from handraise.model.sessions import PHASES, Ending
from handraise.texts import t

_ENDINGS: tuple[str, ...] = get_args(Ending)
_STATES = ("needs you", "not moving", *PHASES, *_ENDINGS)


def state_in_words(state: str) -> str:
    """One or two words, as `model.sessions.state_of` tells the states apart."""
    if state in ("parking", "parked", "ended") or state not in _STATES:
        return state
    return t(f"card.session.state.{state.replace(' ', '_')}")


def ending_in_words(how: str) -> str:
    """How a session ended, at the beginning of a line."""
    return t(f"card.session.ended.{how}") if how in _ENDINGS else how
