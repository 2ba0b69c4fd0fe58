"""The machine: a computer with a hub of its own. Several share one database, and so one inbox."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

LEASE = timedelta(seconds=15)
"""A machine that was not seen for this long is away."""
BEAT = 5.0
"""How often a hub says that it is there, in seconds."""


class Place(Struct, frozen=True):
    """A project's directory on one machine."""

    machine: str
    path: str


class Machine(Struct, frozen=True):
    """A machine as the database knows it. Its times are the database's, so that clocks need not agree."""

    id: str
    name: str
    version: str
    """The version of Handraise there."""
    limit: int
    """How many sessions run there at once; with 0 it is a gateway."""
    started_at: datetime
    seen_at: datetime
    epoch: int = 0
    """Grows each time a hub takes the machine over; only the newest hub may write for it."""
    away_since: datetime | None = None
    """Since when nothing was heard of it; None while it is online."""


def machine_as_json(machine: Machine) -> dict[str, Any]:
    """A machine as the API shows it."""
    built: dict[str, Any] = msgspec.to_builtins(machine, builtin_types=(datetime,))
    return {key: value for key, value in built.items() if key != "epoch"}
