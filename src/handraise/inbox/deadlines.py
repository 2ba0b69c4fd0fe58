"""When the patience for each open ask ends, by a clock that nobody sets. Pure; time, in seconds, is an argument."""

import heapq


class Deadlines:
    """A heap; removed ones are skipped when they come up."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._live: dict[str, float] = {}

    def add(self, ask: str, at: float) -> None:
        self._live[ask] = at
        heapq.heappush(self._heap, (at, ask))

    def remove(self, ask: str) -> None:
        self._live.pop(ask, None)

    def due(self, now: float) -> list[str]:
        """Whose time has come; they stay until they are removed."""
        self._skip_removed()
        return sorted((ask for ask, at in self._live.items() if at <= now), key=lambda ask: self._live[ask])

    def seconds_to_next(self, now: float) -> float | None:
        """How long to sleep; None if nothing has a deadline."""
        self._skip_removed()
        return max(0.0, self._heap[0][0] - now) if self._heap else None

    def _skip_removed(self) -> None:
        while self._heap and self._live.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
