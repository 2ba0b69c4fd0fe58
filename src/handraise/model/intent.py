"""Intent: whether an action was meant for this very card. Decides by what was shown and when; never looks at a clock.

To allow or approve, an act must be meant for this card: all of its evidence was seen (or the person chose to continue
without it), the card did not move, and the person typed and clicked nothing for a moment before. Refusing and asking
back need none of this; only a repeated key is ignored.

The page has the same rule in `web/src/intent.ts`. Both pass the cases in `tests/model/intent.json`.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

CALM = {"terminal": 1000, "page": 700, "push": 1000, "telegram": 1500}
"""Milliseconds without movement, typing or clicking before an act counts. In Telegram, a message takes a while to
arrive, and pushes the ones above it away from the thumb."""
SETTLED = 250
"""Milliseconds after the person scrolled it or opened its next step."""
BURST = 400
"""Milliseconds between two letters of a person who is typing a sentence."""

Surface = Literal["terminal", "page", "push", "telegram"]
Weight = Literal["refuse", "answer", "grant"]
"""What an act does: refuses, postpones or only opens something; answers a question; allows something."""
Verdict = Literal["meant", "repeated", "moved", "busy", "unseen"]
"""`meant` counts. `repeated`: a held key, the second click of two, a paste. `moved`: the card has only just appeared,
moved or changed. `busy`: the person has only just typed or clicked. `unseen`: some evidence was not on screen."""


class Act(Struct, frozen=True):
    """A key, a click or a tap that would answer a card."""

    weight: Weight
    at: int
    repeated: bool = False
    letter: bool = False
    """A single letter without Enter: it could be the start of a word."""

    def due(self) -> int:
        """When it is carried out, if still meant then: another letter would show that this one began a word."""
        return self.at + BURST if self.letter and self.weight == "grant" else self.at


class Attention(Struct, frozen=True):
    """One person's attention to one card. Each event returns a new value. Times in milliseconds."""

    surface: Surface
    still_since: int
    quiet_since: int
    scrolled_at: int | None = None
    seen: bool = False
    going_on: bool = False
    """The person saw that there is more, and chose to continue without it."""

    def move(self, at: int) -> "Attention":
        """It appeared or moved by itself: the person was about to press something else."""
        return replace(self, still_since=at)

    def change(self, at: int) -> "Attention":
        """It shows something else: another step, an edited command. What was seen before does not count."""
        return replace(self, still_since=at, seen=False, going_on=False)

    def turn(self, at: int) -> "Attention":
        """The person opened its next step: it shows something else, where they are already looking."""
        return replace(self, scrolled_at=at, seen=False, going_on=False)

    def touch(self, at: int) -> "Attention":
        """The person typed or clicked, and not to act on this card."""
        return replace(self, quiet_since=at)

    def scroll(self, at: int) -> "Attention":
        """The person scrolled it."""
        return replace(self, scrolled_at=at)

    def see(self) -> "Attention":
        """All of the evidence has been on the screen, its end included."""
        return replace(self, seen=True)

    def go_on(self) -> "Attention":
        """The person knows that there is more, and continues."""
        return replace(self, going_on=True)

    def calm_at(self) -> int:
        """When an act will count, if nothing happens until then."""
        calm = max(self.still_since, self.quiet_since) + CALM[self.surface]
        return calm if self.scrolled_at is None else max(calm, self.scrolled_at + SETTLED)

    def judge(self, act: Act) -> Verdict:
        """Whether this act was meant for this card. What is held back is judged again when it is due."""
        if act.repeated:
            return "repeated"
        if act.weight == "refuse":
            return "meant"
        if act.at < self.calm_at():
            return "busy" if self.quiet_since > self.still_since else "moved"
        if act.weight == "grant" and not (self.seen or self.going_on):
            return "unseen"
        return "meant"


def attend(surface: Surface, at: int, *, touched_at: int | None = None, seen: bool = False) -> Attention:
    """A card that has just appeared. `touched_at`: when the person last typed or clicked anything."""
    return Attention(surface, still_since=at, quiet_since=at if touched_at is None else touched_at, seen=seen)


def is_typing(before: int | None, at: int) -> bool:
    """Whether two letters in a row are typing rather than two choices."""
    return before is not None and at - before < BURST
