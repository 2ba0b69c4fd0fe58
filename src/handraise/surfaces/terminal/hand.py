"""The hand: whether a key is meant for the card on top, or for the line to Claude. Pure; time is an argument.

Keys never choose if they come before a card is calm, while the line to Claude has text, or as fast as a person types
words: a choice they made is undone, and they go to that line. A single key that would send something waits until it is
clear that no word follows; Enter doesn't wait.
"""

from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.model.intent import BURST, CALM, Act, Attention, Weight, is_typing
from handraise.present.steps import Row
from handraise.surfaces.terminal import cards
from handraise.surfaces.terminal import dialogue as dialogues
from handraise.surfaces.terminal.dialogue import Dialogue, Effect, PutAside
from handraise.surfaces.terminal.view import CardStack, milliseconds
from handraise.texts import t

Whose = Literal["card", "entry", "line", "nobody"]
"""Where a key goes: the card on top, the text for it, the line to Claude, or nowhere."""
UNDECIDED = "…"
_SCROLLING = frozenset("vq/jkgGdufbnN ")
_MOVES = ("up", "down", "pageup", "pagedown", "home", "end")


class Before(Struct, frozen=True):
    """The state before a run of letters."""

    dialogue: Dialogue
    attention: Attention


class Pressed(Struct, frozen=True):
    """The effect of a key. `typed`: text that belongs to the line to Claude."""

    effect: Effect | None = None
    typed: str = ""
    helps: bool = False
    """Whether the person wants to see the keys."""


class Held(Struct, frozen=True):
    """A key that sends something if no word follows: when, and for which ask. It never counts for another one."""

    key: str
    at: int
    ask: str


class Hand(Struct):
    """One person's keys. `speaks`: there is a line to Claude."""

    stack: CardStack
    speaks: bool
    turned: str | None = None
    """The card that the person switched to from the line and its text."""
    _run: str = ""
    _before: Before | None = None
    _last: int | None = None
    _held: Held | None = None
    _unread: set[str] = field(default_factory=set)
    """The asks for which the person was shown that part of them was not on the screen."""

    def whose(self, now: datetime, line: str) -> Whose:
        """Where the next key goes. `line`: the text in the line to Claude."""
        current, attention, at = self.stack.current, self.stack.attention, milliseconds(now)
        other: Whose = "line" if self.speaks else "nobody"
        if current is None or attention is None or current.sending:
            return other
        if self.speaks and line and not self._has_turned:
            return other
        if at < max(attention.still_since, attention.quiet_since) + CALM["terminal"]:
            return "nobody" if self._has_turned else other
        return "entry" if current.writing is not None and current.reading is None else "card"

    def waits(self, now: datetime, line: str) -> str:
        """Why keys don't count yet, or go elsewhere; empty if they count."""
        whose = self.whose(now, line)
        if whose in ("card", "entry"):
            at, attention = milliseconds(now), self.stack.attention
            # It may still become a word; or the step was only just reached.
            open_run = (whose == "entry" or self._held is not None) and is_typing(self._last, at)
            return UNDECIDED if open_run or (attention is not None and at < attention.calm_at()) else ""
        if self.speaks and line and not self._has_turned:
            return t("terminal.card.composing")
        return t("terminal.card.soon")

    def wakes(self, now: datetime) -> timedelta | None:
        """When something changes by itself. A held key is never forgotten, however late it is."""
        at, attention = milliseconds(now), self.stack.attention
        if self._held is not None and self._held.at <= at:
            return timedelta(0)
        times = [*([self._last + BURST] if self._last else []), *([attention.calm_at()] if attention else [])]
        coming = [each - at for each in times if each > at]
        return timedelta(milliseconds=min(coming)) if coming else None

    def stray(self, now: datetime) -> str:
        """A key that isn't for the card on top: returns what was typed just before it, as part of the same words."""
        at = milliseconds(now)
        typed = self._run if self._run and is_typing(self._last, at) else ""
        if typed:
            self._take_back()
        self.stack.touch(at)
        self._forget()
        return typed if self.speaks else ""

    def turn_to_card(self) -> None:
        """The person switches from the line to the card."""
        self.turned = self.stack.top
        self._forget()

    def press(self, key: str, now: datetime, size: tuple[int, int], *, pasted: bool = False) -> Pressed:
        """A key for the card on top: a key name, or a character."""
        current, attention = self.stack.current, self.stack.attention
        if current is None or attention is None or current.sending:
            return Pressed()
        if current.reading is not None and current.seeking is not None:
            # Nothing can be chosen here, so no letter is a word for Claude, and a paste does no harm.
            self._forget()
            self.stack.put(cards.seek(current, key, *size), now)
            return Pressed()
        if pasted and key not in _MOVES:
            self._take_back()
            self.stack.touch(milliseconds(now))
            self._forget()
            return Pressed(typed=" " if key == "space" else key if len(key) == 1 and self.speaks else "")
        text = " " if key == "space" else key if len(key) == 1 else ""
        if text and not (text == " " and (current.reading is not None or current.step.several)):
            return self._letter(text, current, attention, now, size)
        held, self._held = self._held, None
        if held is not None and held.ask == current.ask.id and key == "enter":
            return self._act(held.key, now)
        self._forget()
        if current.reading is not None:
            self.stack.put(cards.read(current, key, *size), now)
            return Pressed()
        if key == "enter" and current.writing is None:
            return self._confirm(current, attention, now)
        return self._act(key, now)

    def entered(self, text: str, now: datetime) -> str | None:
        """A character of the text for the card: None if it belongs there, else what was typed."""
        at = milliseconds(now)
        if self._run and is_typing(self._last, at):
            return self._words(text, now)
        self._forget()
        return None

    def confirm(self, now: datetime, *, pasted: bool = False) -> Pressed:
        """Enter, at the end of a text for the card."""
        self._forget()
        current, attention = self.stack.current, self.stack.attention
        if current is None or attention is None:
            return Pressed()
        row = next((each for each in current.step.rows if each.name == current.writing), None)
        verdict = attention.judge(Act(row.weight if row else "answer", milliseconds(now), pasted))
        return self._act("enter", now) if verdict == "meant" else Pressed()

    def due(self, now: datetime) -> Pressed:
        """The effect of a held key, once it is due."""
        held, current = self._held, self.stack.current
        if held is None or milliseconds(now) < held.at:
            return Pressed()
        self._forget()
        return self._act(held.key, now) if current is not None and current.ask.id == held.ask else Pressed()

    def choose(self, keys: list[str], now: datetime) -> Pressed:
        """Keys that a typed line stands for, all at once: accepted if the line was meant for this very card."""
        current, attention, at = self.stack.current, self.stack.attention, milliseconds(now)
        if current is None or attention is None:
            return Pressed()
        rows = [row for key in keys if (row := dialogues.named(current.step, key))]
        weight = rows[0].weight if rows else "refuse" if keys in (["back"], ["escape"]) else "answer"
        if attention.judge(Act(weight, at)) != "meant":
            return Pressed()
        pressed = Pressed()
        for key in keys:
            pressed = self._act(key, now)
        return pressed

    def _letter(
        self, text: str, current: Dialogue, attention: Attention, now: datetime, size: tuple[int, int]
    ) -> Pressed:
        at, key = milliseconds(now), "space" if text == " " else text
        goes_on = is_typing(self._last, at)
        marks = current.step.several and current.reading is None and (self._run + text).replace(" ", "").isdecimal()
        # A held key repeats as fast as a person types.
        scrolls = current.reading is not None and set(self._run + text) <= _SCROLLING
        if goes_on and not (marks or scrolls):
            return Pressed(typed=self._words(text, now))
        if not goes_on:
            self._run, self._before = "", Before(current, attention)
        self._run, self._last, self._held = self._run + text, at, None
        row = dialogues.named(current.step, key) if current.reading is None else None
        match key:
            case "j" | "k" if current.reading is None:
                self.stack.turn(1 if key == "j" else -1)
            case "?" if current.reading is None:
                # Like any letter that chooses nothing: what was selected before isn't confirmed by the next Enter.
                self.stack.put(replace(current, pointer=None, note=""), now)
                self.stack.touch(at)
                return Pressed(helps=True)
            case "v" if current.reading is None:
                self.stack.put(cards.read(current, "open", *size), now)
            case "g" if current.reading is None and row is None and self._may_go_on(current):
                self.stack.attend(attention.go_on())
                self.stack.put(replace(current, note=t("terminal.card.skipped")), now)
            case _ if current.reading is not None:
                self.stack.put(cards.read(current, key, *size), now)
            case _ if row is not None and row.weight == "answer" and not self._is_meant(row.weight, at):
                pass
            case _ if row is None:
                # It means nothing here, so it was meant for something else.
                self.stack.put(replace(current, pointer=None, note=""), now)
                self.stack.touch(at)
            case _ if _waits(current, row):
                self.stack.put(dialogues.point(current, row), now)
                self._held = Held(key, at + BURST, current.ask.id)
            case _:
                return self._act(key, now)
        return Pressed()

    def _words(self, text: str, now: datetime) -> str:
        """The person types words: nothing was chosen, and all of it belongs to the line."""
        typed = self._run + text
        at = milliseconds(now)
        self._take_back()
        current = self.stack.current
        if current is not None and not self.speaks:
            self.stack.put(replace(current, note=t("terminal.card.typing")), now)
        self.stack.touch(at)
        # Later keys continue from here, and don't repeat it.
        self._run, self._before, self._last, self._held = "", None, at, None
        self.turned = None
        return typed if self.speaks else ""

    def _take_back(self) -> None:
        before, self._before = self._before, None
        if before is not None and self.stack.find(before.dialogue.ask.id) is not None:
            self.stack.show(before.dialogue.ask.id)
            self.stack.restore(before.dialogue, before.attention)

    def _confirm(self, current: Dialogue, attention: Attention, now: datetime) -> Pressed:
        """Enter, on the selected choice or all marked ones."""
        pointed = current.step.rows[current.pointer] if current.pointer is not None else None
        weight = pointed.weight if pointed is not None and not current.step.several else "answer"
        if weight == "grant" and self.stack.fit.tiny:
            self.stack.put(replace(current, note=t("terminal.card.larger")), now)
        elif weight == "grant" and self.stack.pointing != current.pointer:
            # The choice was not yet shown as selected.
            pass
        else:
            match attention.judge(Act(weight, milliseconds(now))):
                case "meant":
                    return self._act("enter", now)
                case "unseen":
                    self.stack.put(replace(current, note=self._unseen(current)), now)
                case _:
                    self.stack.touch(milliseconds(now))
        return Pressed()

    @property
    def _has_turned(self) -> bool:
        return self.turned is not None and self.turned == self.stack.top

    def _is_meant(self, weight: Weight, at: int) -> bool:
        return self.stack.attention is not None and self.stack.attention.judge(Act(weight, at)) == "meant"

    def _unseen(self, current: Dialogue) -> str:
        self._unread.add(current.ask.id)
        return t("terminal.card.unread", count=self.stack.fit.hidden)

    def _may_go_on(self, current: Dialogue) -> bool:
        return current.ask.id in self._unread and not self.stack.fit.tiny

    def _act(self, key: str, now: datetime) -> Pressed:
        current = self.stack.current
        if current is None:
            return Pressed()
        moved, effect = dialogues.press(current, key)
        self.stack.put(moved, now)
        if isinstance(effect, PutAside):
            self.turned = None
        return Pressed(effect)

    def _forget(self) -> None:
        self._run, self._before, self._last, self._held = "", None, None, None


def _waits(dialogue: Dialogue, row: Row) -> bool:
    """Whether this row, chosen with one key, would do something irreversible."""
    return row.weight != "grant" and row.then != "write" and not dialogue.step.several
