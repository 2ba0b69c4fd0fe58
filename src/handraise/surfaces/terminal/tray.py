"""The tray: the open asks in front of one person, each with its dialogue, one of them on top. Time is an argument.

A settled ask leaves the tray for good: neither an old list nor a late item brings it back.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from handraise.model.asks import Ask
from handraise.surfaces.terminal import dialogue as dialogues
from handraise.surfaces.terminal.dialogue import Dialogue, Effect
from handraise.surfaces.terminal.matters import matter_of

CALM = timedelta(milliseconds=300)
"""A card that has just come ignores keys for this long: they were meant for what stood there before."""


@dataclass(slots=True)
class Tray:
    """Oldest first. `aside`: the person looks at something else, and no card is on top."""

    aside: bool = False
    top: str | None = None
    _open: dict[str, Dialogue] = field(default_factory=dict)
    _settled: set[str] = field(default_factory=set)
    _since: datetime | None = None

    @property
    def current(self) -> Dialogue | None:
        """The dialogue on top."""
        return None if self.aside or self.top is None else self._open[self.top]

    @property
    def waiting(self) -> list[Ask]:
        """Every open ask."""
        return [each.ask for each in self._open.values()]

    @property
    def place(self) -> str:
        """Which of several is on top."""
        if self.top is None or len(self._open) < 2:
            return ""
        return f"ask {list(self._open).index(self.top) + 1} of {len(self._open)}"

    def add(self, ask: Ask, now: datetime) -> bool:
        """Whether it is a new one."""
        if ask.id in self._open or ask.id in self._settled:
            return False
        if ask.state != "open":
            self._settled.add(ask.id)
            return False
        self._open[ask.id] = dialogues.begin(ask, matter_of(ask))
        if self.top is None:
            self._show(ask.id, now)
        return True

    def remove(self, ask: str, now: datetime) -> Dialogue | None:
        """The dialogue of an ask that is settled, if it was here; the next one comes on top."""
        self._settled.add(ask)
        gone = self._open.pop(ask, None)
        if self.top == ask:
            self._show(next(iter(self._open), None), now)
        return gone

    def keep_only(self, open_asks: set[str], now: datetime) -> list[Dialogue]:
        """Removes what is not among the open ones any more."""
        return [gone for each in set(self._open) - open_asks if (gone := self.remove(each, now))]

    def is_ready(self, now: datetime) -> bool:
        """Whether keys count."""
        return self._since is None or now - self._since >= CALM

    def press(self, key: str, now: datetime) -> Effect | None:
        """A key for the dialogue on top."""
        if self.current is None or not self.is_ready(now):
            return None
        moved, effect = dialogues.press(self.current, key)
        self.put(moved)
        return effect

    def put(self, dialogue: Dialogue) -> None:
        """The dialogue as it is from here on, if its ask is still open."""
        if dialogue.ask.id in self._open:
            self._open[dialogue.ask.id] = dialogue

    def find(self, ask: str) -> Dialogue | None:
        return self._open.get(ask)

    def turn(self, by: int, now: datetime) -> None:
        """The next card, or the one before."""
        ids = list(self._open)
        if self.top is not None and len(ids) > 1:
            self._show(ids[(ids.index(self.top) + by) % len(ids)], now)

    def put_aside(self, aside: bool, now: datetime) -> None:
        self.aside = aside
        self._since = now

    def begin_again(self, ask: Ask) -> None:
        """The ask is another one than was shown: what was chosen does not count."""
        self.put(replace(dialogues.begin(ask, matter_of(ask)), note="This ask has changed. Look at it again."))

    def _show(self, ask: str | None, now: datetime) -> None:
        self.top, self._since = ask, now
        if ask is None:
            self.aside = False
