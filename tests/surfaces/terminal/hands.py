"""A person's keys without a terminal: at given times, as the screen passes them on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from handraise.model.answers import Allow, Answer, Approve
from handraise.model.asks import Body, Permission, Plan, Question
from handraise.surfaces.terminal import cards, dialogue
from handraise.surfaces.terminal.cards import CardFrame
from handraise.surfaces.terminal.dialogue import Dialogue, Edit, PutAside, Send
from handraise.surfaces.terminal.fit import Fit
from handraise.surfaces.terminal.hand import Hand, Pressed
from handraise.surfaces.terminal.view import CardStack
from surfaces.terminal.asked import ADDRESS, DATABASE, NAME, NOON, NPM, PLAN, TWO_QUESTIONS, ask

CARDS: Mapping[str, Body] = {
    "permission": NPM,
    "permission without offers": Permission("Bash", {"command": "sudo true"}),
    "long permission": Permission("Bash", {"command": "\n".join(f"echo {number}" for number in range(60))}),
    "plan": PLAN,
    "long plan": Plan("\n".join(f"{number}. Step {number}" for number in range(1, 60))),
    "question": Question((DATABASE,)),
    "questions": TWO_QUESTIONS,
    "open question": Question((NAME,)),
    "form": ADDRESS,
}
"""What `hands.json` calls each card."""


@dataclass
class Player:
    """One person, with a line to Claude or, in the inbox, without."""

    speaks: bool = True
    size: tuple[int, int] = (80, 24)
    line: str = ""
    stack: CardStack = field(default_factory=CardStack)
    at: int = 0
    messages: list[str] = field(default_factory=list)
    sent: list[tuple[str, Answer]] = field(default_factory=list)
    edited: list[Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hand = Hand(self.stack, self.speaks)

    @property
    def now(self) -> datetime:
        return NOON + timedelta(milliseconds=self.at)

    def appears(self, body: Body, name: str = "a_1") -> None:
        self.stack.add(ask(body, name), self.now)
        self.draw()

    def draw(self) -> None:
        if (current := self.stack.current) is not None:
            self.stack.drawn(_fit(current, self.size), self.now)

    def until(self, at: int) -> None:
        """Time passes."""
        while self.at < at:
            wakes = self.hand.wakes(self.now)
            self.at = min(at, self.at + (round(wakes.total_seconds() * 1000) if wakes is not None else at))
            self._came(self.hand.due(self.now))
            self.draw()

    def key(self, key: str, *, pasted: bool = False) -> None:
        """One key: a character, or a key name."""
        whose = self.hand.whose(self.now, self.line)
        if self.stack.current is not None and whose in ("line", "nobody"):
            self.line += self.hand.stray(self.now)
        match whose:
            case "card":
                self._came(self.hand.press("space" if key == " " else key, self.now, self.size, pasted=pasted))
            case "entry" if key == "enter":
                self._came(self.hand.confirm(self.now, pasted=pasted))
            case "entry" if len(key) == 1:
                self._enter(key)
            case "entry":
                self._came(self.hand.press(key, self.now, self.size, pasted=pasted))
            case "line":
                self._compose(key)
            case _:
                pass
        self.draw()

    def types(self, text: str, pace: int = 120) -> None:
        """A text, letter by letter; `⏎` is Enter."""
        for letter in text:
            self.key("enter" if letter == "⏎" else letter)
            self.until(self.at + pace)

    def _enter(self, letter: str) -> None:
        typed = self.hand.entered(letter, self.now)
        current = self.stack.current
        assert current is not None
        if typed is None:
            self.stack.put(dialogue.write(current, current.draft + letter), self.now)
        else:
            self.line += typed

    def _compose(self, key: str) -> None:
        if key == "enter":
            self.messages += [self.line] if self.line else []
            self.line = ""
        elif key == "backspace":
            self.line = self.line[:-1]
        elif len(key) == 1:
            self.line += key

    def _came(self, pressed: Pressed) -> None:
        self.line += pressed.typed
        match pressed.effect:
            case Send(answer=answer) if self.stack.current is not None:
                self.sent.append((self.stack.current.ask.id, answer))
                self.stack.remove(self.stack.current.ask.id)
            case Edit() as effect:
                self.edited.append(effect)
            case PutAside():
                self.stack.put_aside(True)
            case _:
                pass


_FITS: dict[object, Fit] = {}


def _fit(shown: Dialogue, size: tuple[int, int]) -> Fit:
    """How much of it is visible: computed once for all cases that reach the same state."""
    drafts = tuple(shown.drafts.items())
    key = (id(shown.ask.body), size, shown.at, shown.pointer, shown.marked, shown.writing, shown.reading, drafts)
    if (key, shown.note) not in _FITS:
        _FITS[key, shown.note] = cards.picture(shown, CardFrame(*size, NOON)).fit
    return _FITS[key, shown.note]


def outcome(player: Player) -> str:
    """The outcome, in a word."""
    if not player.sent:
        return "open"
    answer: Any = player.sent[-1][1]
    if isinstance(answer, Allow | Approve):
        return "granted"
    return "refused" if type(answer).__name__ in ("Deny", "Revise", "Outline") else "answered"
