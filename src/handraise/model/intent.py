"""Intent: whether a hand meant this very card. Decides from what was shown and done, and when; never looks at a clock.

What allows, approves or grants needs an act that was meant for this card: all of its evidence was seen (or the person
chose to go on at its marked end), it stood still, and the person typed and clicked nothing for a while before. Refusing
and asking back wait for nothing; only a key that repeats is ignored.

The page has the same rule in `web/src/intent.ts`. Both pass the cases in `tests/model/intent.json`.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

CALM = {"terminal": 1000, "page": 700, "push": 1000}
"""Milliseconds for which a card stands still, and the person types and clicks nothing, before an act counts."""
SETTLED = 250
"""Milliseconds after the person scrolled it, or went on to its next step: it changed because they changed it."""
BURST = 400
"""Milliseconds between two letters of somebody who types a sentence."""

Surface = Literal["terminal", "page", "push"]
Weight = Literal["refuse", "answer", "grant"]
"""What an act does: says no, not now, or only opens something; answers a question; allows something."""
Verdict = Literal["meant", "repeated", "moved", "busy", "unseen"]
"""`meant` counts. `repeated`: a held key, the second click of two, a paste. `moved`: the card has only just appeared,
moved or changed. `busy`: the person has only just typed or clicked. `unseen`: some evidence was not on screen."""


class Act(Struct, frozen=True):
    """A key, a click or a tap that would answer a card."""

    weight: Weight
    at: int
    repeated: bool = False
    letter: bool = False
    """By one letter alone, without Enter: it could be the first one of a word."""

    def due(self) -> int:
        """When it is carried out, if it is still meant then: another letter would show that this one began a word."""
        return self.at + BURST if self.letter and self.weight == "grant" else self.at


class Attention(Struct, frozen=True):
    """How one card stands before one person. Each event gives another value. Times in milliseconds."""

    surface: Surface
    still_since: int
    quiet_since: int
    scrolled_at: int | None = None
    seen: bool = False
    going_on: bool = False
    """The person was shown that there is more, and chose to go on without it."""

    def move(self, at: int) -> "Attention":
        """It came into place, or moved by itself: whatever the hand was about to press was something else."""
        return replace(self, still_since=at)

    def change(self, at: int) -> "Attention":
        """It shows something else: another step, an edited command. What was seen before does not count."""
        return replace(self, still_since=at, seen=False, going_on=False)

    def turn(self, at: int) -> "Attention":
        """The person went on to its next step: it shows something else, where they have just been looking."""
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
        """The person knows that there is more, and goes on."""
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
    """Whether two letters in a row are somebody typing words, rather than two choices."""
    return before is not None and at - before < BURST
