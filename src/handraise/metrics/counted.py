"""What was counted of a hub, as numbers. Knows nothing of Prometheus."""

from collections.abc import Mapping

from msgspec import Struct, field

SECONDS = (1, 5, 15, 30, 60, 120, 300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
"""Up to which a time to answer is counted together with others."""


class Waits(Struct):
    """How long asks of one kind waited for their answers."""

    since: float
    seconds: float = 0.0
    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    """For each of SECONDS, how many took so long at most, and longer than the one before; then all others."""

    def note(self, seconds: float) -> None:
        self.seconds += seconds
        self.counts[next((at for at, most in enumerate(SECONDS) if seconds <= most), len(SECONDS))] += 1


class Counted(Struct, frozen=True):
    """Everything, at one moment."""

    open_asks: Mapping[str, int]
    sessions: Mapping[str, int]
    lag: int
    """Bytes that Claude has said, and the hub has not taken in."""
    streams: int
    statuses: Mapping[int, int]
    waits: Mapping[str, Waits]
