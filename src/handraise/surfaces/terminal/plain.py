"""The plain front: numbered choices, read from a line. For dumb terminals and screen readers: nothing is drawn twice.

Leaves the terminal in the mode it was in: lines are read as the terminal gives them.
"""

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.surfaces.terminal import cards
from handraise.surfaces.terminal.cards import Frame
from handraise.surfaces.terminal.dialogue import Dialogue
from handraise.surfaces.terminal.editor import edit
from handraise.surfaces.terminal.harmless import seal
from handraise.surfaces.terminal.lines import Line, text_of
from handraise.surfaces.terminal.stay import Stay
from handraise.surfaces.terminal.tray import CALM

_WHOLE = 10**6
"""Nothing is folded: a screen reader reads all of it."""


def told(dialogue: Dialogue, width: int, now: datetime, place: str) -> list[str]:
    """A card as lines of plain text."""
    rows = cards.card(dialogue, Frame(width, _WHOLE, now, place=place, keys=False))
    return [text_of(row).removeprefix(cards.BAR[1]).rstrip() for row in rows]


def how(dialogue: Dialogue) -> str:
    """How the card is answered."""
    back = " < goes back." if dialogue.at or dialogue.writing else ""
    if dialogue.writing is not None:
        return f"Type a line, then Enter.{back}"
    if dialogue.step.several:
        return f"Numbers with blanks between them, then Enter; Enter alone takes what is marked.{back}"
    return f"A number, then Enter.{back}"


def keys_of(dialogue: Dialogue, typed: str) -> list[str]:
    """The keys that a typed line stands for, while something is to be chosen."""
    words = typed.replace(",", " ").split()
    if typed.strip() == "<":
        return ["back"]
    if not dialogue.step.several:
        return words[:1] or ["enter"]
    if not words:
        return ["enter"]
    rows = dialogue.step.rows
    numbers = [word for word in words if word.isdecimal() and 0 < int(word) <= len(rows)]
    wanted = [word for word in numbers if rows[int(word) - 1].name not in dialogue.marked]
    writes = any(rows[int(word) - 1].then == "write" for word in wanted)
    return [*wanted, *([] if writes else ["enter"])]


class Plain:
    """See `Front`. Entered by `run`."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._stay: Stay | None = None
        self._typed = b""
        self._shown: tuple[object, ...] | None = None
        self._kept = ""

    @property
    def size(self) -> tuple[int, int]:
        found = shutil.get_terminal_size()
        return max(20, found.columns), max(8, found.lines)

    def show(self, lines: Sequence[Line]) -> None:
        for each in lines:
            _print(seal(text_of(each)).rstrip())

    def take(self, items: Sequence[Item]) -> None:
        """Lines are enough."""

    def refresh(self) -> None:
        """Tells the card on top, if it is another one, or stands otherwise, than the one told last."""
        current = self._stay.tray.current if self._stay is not None else None
        if self._stay is None or current is None or current.sending:
            self._shown = None
            return
        stands = (current.ask.id, current.at, current.writing, current.marked, current.note, current.given)
        if stands != self._shown:
            self._shown = stands
            width, _ = self.size
            for each in told(current, width, self._clock(), self._stay.tray.place):
                _print(seal(each))
            # Said as soon as a line counts: what was typed before was meant for something else.
            wait = 0.0 if self._stay.tray.is_ready(self._clock()) else CALM.total_seconds()
            asyncio.get_running_loop().call_later(wait, self._tell_how, stands, how(current))

    def _tell_how(self, stands: tuple[object, ...], text: str) -> None:
        if stands == self._shown:
            _print(text)

    def call(self, _ask: Ask) -> None:
        sys.stdout.write("\a")
        sys.stdout.flush()

    def keep(self, text: str) -> None:
        self._kept = text
        _print(f"Not sent: {seal(text)}")
        _print("Type it again to say it to Claude.")

    async def edit(self, text: str, suffix: str) -> str | None:
        return await asyncio.to_thread(edit, text, suffix)

    async def run(self, stay: Stay) -> None:
        """Until somebody leaves, or the process is told to end."""
        self._stay = stay
        with _reading(self._read):
            await stay.leaving.wait()

    def interrupt(self) -> None:
        if self._stay is not None:
            self._stay.stop()

    def _read(self) -> None:
        typed = os.read(0, 65536)
        if not typed and self._stay is not None:
            self._stay.leaving.set()
            return
        self._typed += typed
        while b"\n" in self._typed:
            row, _, self._typed = self._typed.partition(b"\n")
            self._take(row.decode(errors="replace").rstrip("\r"))

    def _take(self, typed: str) -> None:
        if self._stay is None:
            return
        current = self._stay.tray.current
        if current is None:
            self._stay.say(typed)
            return
        if not self._stay.tray.is_ready(self._clock()):
            _print("That was typed before the question was shown; please answer once more.")
            return
        if current.writing is not None and typed.strip() != "<":
            self._stay.write(typed)
            self._stay.press("enter")
            return
        for key in keys_of(current, typed):
            self._stay.press(key)


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextlib.contextmanager
def _reading(read: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_reader(0, read)
    try:
        yield
    finally:
        loop.remove_reader(0)
