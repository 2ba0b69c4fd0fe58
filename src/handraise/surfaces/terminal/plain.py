"""Plain lines: numbered choices, answered by typed lines. For dumb terminals and screen readers: nothing is redrawn.

Leaves the terminal's mode unchanged: lines are read as the terminal delivers them.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec.structs import replace

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.present.harmless import one_line, seal
from handraise.present.headlines import clipped
from handraise.surfaces.terminal import cards
from handraise.surfaces.terminal.announcing import TOGETHER, Announcements, Announcer
from handraise.surfaces.terminal.cards import CardFrame
from handraise.surfaces.terminal.dialogue import Dialogue, named
from handraise.surfaces.terminal.editor import Editor
from handraise.surfaces.terminal.fit import Fit
from handraise.surfaces.terminal.help import help_lines
from handraise.surfaces.terminal.lines import Line, text_of
from handraise.surfaces.terminal.live import nothing_open
from handraise.surfaces.terminal.session import TerminalSession
from handraise.surfaces.terminal.view import ViewState
from handraise.texts import t

_WHOLE = 10**6
"""Nothing is folded: a screen reader reads all of it."""
_GLANCE = 60
_HELP = "?"
_NONE = "-"
_EMPTY_TEXT = '""'
_LATER = ">"
_BACK = "<"
_PASTE = 0.05
"""Lines that arrive within this many seconds are a paste."""
_MARGIN = 0.005


def lines_of_card(
    dialogue: Dialogue, width: int, now: datetime, place: str, title: str = "", stored: str = ""
) -> list[str]:
    """A card as lines of plain text."""
    rows = cards.card(dialogue, CardFrame(width, _WHOLE, now, title, place, stored=stored, keys=False))
    return [text_of(row).removeprefix(cards.BAR[1]).rstrip() for row in rows]


def how(dialogue: Dialogue) -> str:
    """How to answer the card."""
    back = bool(dialogue.at or dialogue.writing)
    if dialogue.writing is not None:
        line = t("terminal.plain.line_back" if back else "terminal.plain.line")
        draft = clipped(one_line(dialogue.draft), _GLANCE)
        return t("terminal.plain.default", how=line, text=draft) if draft else line
    if dialogue.step.several:
        return t("terminal.plain.numbers_back" if back else "terminal.plain.numbers")
    return t("terminal.plain.number_back" if back else "terminal.plain.number")


def keys_of(dialogue: Dialogue, typed: str) -> list[str]:
    """The keys that a typed line stands for while there is something to choose; none for any other line."""
    words = typed.replace(",", " ").split()
    if words in ([_BACK], [_LATER]):
        return ["back" if words == [_BACK] else "escape"]
    rows = [named(dialogue.step, word) for word in words]
    chosen = [(word, row) for word, row in zip(words, rows, strict=True) if row is not None]
    if not words:
        return ["enter"]
    if words == [_NONE] and dialogue.step.several:
        chosen, words = [], []
    if len(chosen) != len(words) or (len(words) > 1 and not dialogue.step.several):
        return []
    if not dialogue.step.several:
        # The line was ended with Enter, which a grant requires.
        return [words[0], "enter"] if chosen[0][1].weight == "grant" else words
    # The line is the whole selection: what is marked and not in it, is unmarked.
    meant = {row.name for _, row in chosen}
    unmarked = [row for row in dialogue.step.rows if row.name in dialogue.marked - meant]
    wanted = {row.name: word for word, row in chosen if row.name not in dialogue.marked}
    writes = any(row.then == "write" for row in dialogue.step.rows if row.name in wanted)
    return [*(str(row.digit) for row in unmarked), *wanted.values(), *([] if writes else ["enter"])]


def standing(view: ViewState) -> str:
    """What a person can do while there is no card; empty while Claude works."""
    if view.session is None or not view.looked:
        return nothing_open(view)
    if not view.speaks:
        return t("terminal.plain.terminal", host=view.timeline.terminal)
    if view.stack.aside:
        return t("terminal.plain.aside")
    return "" if view.timeline.working else t("terminal.plain.composing")


class Plain:
    """See `TerminalIO`. Entered by `run`. Lines are read from the `keyboard`, a file descriptor of the terminal."""

    def __init__(self, clock: Callable[[], datetime], keyboard: int, wanted: Announcements | None = None) -> None:
        self._clock = clock
        # The title is for people who look at it.
        self._announcer = Announcer(replace(wanted or Announcements(), title=False), self._write)
        self._notice: asyncio.TimerHandle | None = None
        self._keyboard = keyboard
        self._editor = Editor(keyboard)
        self._stay: TerminalSession | None = None
        self._typed = b""
        self._shown: tuple[object, ...] | None = None
        self._stood = ""
        self._taking = False
        self._held: list[str] = []
        self._gathering: asyncio.TimerHandle | None = None

    @property
    def live(self) -> bool:
        return False

    @property
    def size(self) -> tuple[int, int]:
        found = shutil.get_terminal_size()
        return max(20, found.columns), max(8, found.lines)

    def show(self, lines: Sequence[Line]) -> None:
        for each in lines:
            self._print(text_of(each).rstrip())

    def take(self, items: Sequence[Item]) -> None:
        """Lines are enough."""

    def refresh(self) -> None:
        """Prints the card on top, unless it was the last one printed and hasn't changed."""
        if self._stay is None or self._taking:
            return
        view = self._stay.view
        current = view.stack.current
        if current is None or current.sending:
            self._shown = None
            if current is None:
                self._stand(standing(view))
            return
        stands = (current.ask.id, current.at, current.writing, current.marked, current.note, current.inputs)
        if stands != self._shown:
            self._shown, self._stood = stands, ""
            width, _ = self.size
            title, stored = view.asker_of(current.ask), view.stored_until(current.ask)
            for each in lines_of_card(current, width, self._clock(), view.stack.place, title, stored):
                self._print(each)
            now = self._clock()
            view.stack.drawn(Fit(), now)
            # Shown as soon as a line counts: earlier input was meant for something else.
            wakes = self._stay.hand.wakes(now)
            wait = wakes.total_seconds() + _MARGIN if wakes is not None else 0.0
            asyncio.get_running_loop().call_later(wait, self._tell_how, stands, how(current))

    def call(self, _ask: Ask) -> None:
        self._write("\a")
        if self._notice is None and self._stay is not None and self._stay.view.looked:
            self._notice = asyncio.get_running_loop().call_later(TOGETHER, self._notify)

    def keep(self, text: str) -> None:
        self._print(t("terminal.plain.not_sent"))
        for each in text.split("\n"):
            self._print(f"  {each}")

    async def edit(self, text: str, suffix: str) -> str:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._keyboard)
        try:
            return await self._editor.edit(text, suffix)
        finally:
            loop.add_reader(self._keyboard, self._read)
            held, self._held = self._held, []
            for each in held:
                self._print(each)

    async def run(self, stay: TerminalSession) -> None:
        """Runs until the person leaves, or the process must end."""
        self._stay = stay
        loop = asyncio.get_running_loop()
        loop.add_reader(self._keyboard, self._read)
        try:
            await stay.leaving.wait()
            await self._editor.close()
        finally:
            loop.remove_reader(self._keyboard)
            if self._notice is not None:
                self._notice.cancel()

    def interrupt(self) -> None:
        # Keys pressed in an editor belong to the editor.
        if self._stay is not None and not self._editor.is_open:
            self._stay.stop()

    def _notify(self) -> None:
        self._notice = None
        if self._stay is not None and not self._editor.is_open:
            self._announcer.notify(len(self._stay.view.stack.waiting))

    def _read(self) -> None:
        try:
            typed = os.read(self._keyboard, 65536)
        except OSError:
            typed = b""
        if not typed and self._stay is not None:
            asyncio.get_running_loop().remove_reader(self._keyboard)
            self._stay.leaving.set()
            return
        self._typed += typed
        if b"\n" in self._typed and self._gathering is None:
            # A terminal delivers a paste line by line, each as soon as the next one is read.
            self._gathering = asyncio.get_running_loop().call_later(_PASTE, self._take_all)

    def _take_all(self) -> None:
        self._gathering = None
        *rows, self._typed = self._typed.split(b"\n")
        lines = [row.decode(errors="replace").rstrip("\r") for row in rows]
        for each in lines:
            self._take(each, pasted=len(lines) > 1)

    def _take(self, typed: str, *, pasted: bool) -> None:
        if self._stay is None:
            return
        now, stack = self._clock(), self._stay.view.stack
        current = stack.current
        if typed.strip() == _HELP and not pasted:
            self.show(help_lines(plain=True))
            return
        if current is None:
            if typed.strip() == _LATER and stack.aside:
                self._stay.look_aside()
            elif self._stay.view.speaks:
                self._stay.say(typed)
            elif typed.strip():
                self._print(standing(self._stay.view) or t("terminal.plain.nothing_open"))
            return
        whose = "nobody" if pasted else self._stay.hand.whose(now, "")
        keys = keys_of(current, typed)
        if whose == "entry" and typed.strip() != _BACK:
            # Enter alone takes what the card showed: a form's default, or what was written before.
            if typed or not current.draft:
                self._stay.write("" if typed.strip() == _EMPTY_TEXT and current.draft else typed)
            self._stay.confirm()
        elif whose in ("card", "entry") and keys:
            self._press(self._stay, keys)
        elif pasted or keys or not self._stay.view.speaks:
            early = whose not in ("card", "entry")
            self._stay.hand.stray(now)
            not_chosen = t("terminal.plain.not_chosen", how=how(current))
            self._print(t("terminal.plain.pasted") if pasted else t("terminal.plain.early") if early else not_chosen)
        else:
            self._stay.hand.stray(now)
            self._print(t("terminal.plain.message"))
            self._stay.say(typed)

    def _press(self, stay: TerminalSession, keys: list[str]) -> None:
        """One line is one step, however many keys it stands for: the card is printed once, after the last of them."""
        self._taking = True
        stay.choose(keys)
        self._taking = False
        self.refresh()

    def _stand(self, text: str) -> None:
        if text and text != self._stood:
            self._print(text)
        self._stood = text

    def _tell_how(self, stands: tuple[object, ...], text: str) -> None:
        if stands == self._shown:
            self._print(text)

    def _print(self, text: str) -> None:
        if self._editor.is_open:
            self._held.append(text)
            return
        self._write(f"{seal(text)}\n")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
