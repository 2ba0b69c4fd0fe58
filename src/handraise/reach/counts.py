"""Counts for metrics, since the hub was started. Pure: others say what happened."""

from collections import Counter

from handraise.model.asks import Ask
from handraise.reach.model import AskLog
from handraise.reach.statistics import rang, was_unneeded


class NotificationCounts:
    """By kind of channel, not by channel: what people add must not add to the metrics."""

    def __init__(self) -> None:
        self.entries: Counter[tuple[str, str, str]] = Counter()
        """By kind of channel, step and state."""
        self.unneeded: Counter[str] = Counter()
        self.noticed = 0
        self.seconds_to_notice = 0.0
        self.seconds_waited = 0.0
        self.kinds: dict[str, str] = {}
        """The kind of each channel, by its ID."""

    def note(self, before: AskLog, after: AskLog) -> None:
        """The log of an ask was changed."""
        for entry in after.entries:
            if entry not in before.entries:
                self.entries[self._kind(entry.channel), str(entry.step), entry.state] += 1
        if before.noticed_at is None and after.noticed_at is not None:
            self.noticed += 1
            self.seconds_to_notice += max(0.0, (after.noticed_at - after.opened_at).total_seconds())

    def settle(self, ask: Ask, log: AskLog | None) -> None:
        """An ask was settled."""
        if ask.settlement is not None:
            self.seconds_waited += max(0.0, (ask.settlement.at - ask.opened_at).total_seconds())
        for entry in rang(log):
            if was_unneeded(ask, entry):
                self.unneeded[self._kind(entry.channel)] += 1

    def _kind(self, channel: str) -> str:
        return self.kinds.get(channel, channel)
