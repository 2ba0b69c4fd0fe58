"""What a session has decided and the store doesn't have yet, in order. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from handraise.session.commands import Command
from handraise.store.changes import Advance, Change

_MOST = 4
"""How many decisions may wait: a Claude whose session can't be stored soon has to wait, too."""


class Decision(Struct, frozen=True):
    """The effects of some frames, wishes or answers. Its lines were written to Claude already."""

    commands: Sequence[Command]
    changes: Sequence[Change]
    advance: Advance
    """The journal's offset, and the machine's memory, after exactly these effects and all before them."""
    rests: bool = False
    """The session has become idle."""


class Backlog:
    """Decisions that wait while others are being stored. They are stored together: one commit for all of them."""

    def __init__(self) -> None:
        self._waiting: list[Decision] = []

    @property
    def is_full(self) -> bool:
        return len(self._waiting) >= _MOST

    def add(self, decision: Decision) -> None:
        self._waiting.append(decision)

    def take(self) -> Decision | None:
        """All of them as one, or nothing. Only the last offset and memory count."""
        waiting, self._waiting = self._waiting, []
        if len(waiting) < 2:
            return waiting[0] if waiting else None
        return Decision(
            [command for each in waiting for command in each.commands],
            [change for each in waiting for change in each.changes],
            waiting[-1].advance,
            any(each.rests for each in waiting),
        )
