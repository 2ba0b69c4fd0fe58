"""Prepares the calls that Claude had us check: if it asks about one, it does so a few milliseconds later."""

from collections.abc import Callable

from handraise.inbox.considering import Preparation, Surroundings
from handraise.inbox.inbox import Inbox
from handraise.session.commands import Consult, DangersFound

_MOST = 16
"""How many calls stay prepared; most of them are never asked about."""


class Preparations:
    """The calls of one session. Never awaits."""

    def __init__(self, inbox: Inbox, around: Callable[[str], Surroundings]) -> None:
        """`around` is what surrounds the session, in this permission mode."""
        self._inbox = inbox
        self._around = around
        self._checked: list[Consult] = []
        self._ready: dict[str, Preparation] = {}

    def add(self, check: Consult) -> None:
        """A call that was checked. Nothing happens yet: Claude waits for our answer."""
        self._checked.append(check)

    def make(self) -> list[DangersFound]:
        """Prepares what was added, and returns the dangers in it."""
        if not self._checked:
            return []
        checked, self._checked = self._checked, []
        found = []
        for check in checked:
            use = check.ask.origin.tool_use or ""
            prepared = self._inbox.prepare(check.ask, self._around(check.mode))
            if prepared is not None:
                found.append(DangersFound(use, prepared.dangers))
                self._ready[use] = prepared
        while len(self._ready) > _MOST:
            del self._ready[next(iter(self._ready))]
        return found

    def take(self, tool_use: str | None) -> Preparation | None:
        """What was prepared for this call; it is asked about once."""
        return self._ready.pop(tool_use or "", None)
