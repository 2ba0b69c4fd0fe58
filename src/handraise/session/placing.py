"""Where a new session runs, if a person leaves it open. Pure."""

from collections.abc import Collection, Iterable, Sequence

from handraise.model.machines import Machine
from handraise.model.sessions import Session

_NO_LOAD = ("parked", "ended")
"""Phases in which a session has no process and waits for none."""


def least_busy(
    machines: Sequence[Machine], sessions: Iterable[Session], having: Collection[str], here: str = ""
) -> Machine | None:
    """The online machine with the smallest share of its limit in use; None if there is none.

    `having` are the machines that have the project. Of equal ones, `here` comes first, then the first by name.
    """
    load: dict[str, int] = {}
    for session in sessions:
        if session.phase not in _NO_LOAD and not session.terminal:
            load[session.machine or here] = load.get(session.machine or here, 0) + 1
    able = [each for each in machines if each.id in having and each.limit > 0 and each.away_since is None]
    return min(able, key=lambda each: (load.get(each.id, 0) / each.limit, each.id != here, each.name), default=None)
