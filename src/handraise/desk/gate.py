"""The gate: what surfaces that deliver by themselves ask before they show someone an ask."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from handraise.model.asks import Ask


class NotificationGate(Protocol):
    """One decision for every channel. Its reasons are noted, and so is what was sent."""

    def opens_at(self, ask: Ask, channel: str, person: str) -> datetime | None:
        """When this ask may be shown there: in the past, or later. None if only a change can help.

        `person` is empty if nobody in particular sees it.
        """
        ...

    def report_sent(self, ask: Ask, channel: str, person: str, label: str = "", trouble: str | None = None) -> None:
        """It was sent, or (`trouble`) given up. Never waits."""
        ...

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls back whenever something may be decided differently, until what it returns is called."""
        ...
