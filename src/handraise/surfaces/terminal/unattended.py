"""Output without a terminal: nobody types here. Says how to answer an open ask from elsewhere; never hangs."""

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Literal

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.present.dangers import dangers_in_words
from handraise.present.harmless import one_line, seal
from handraise.present.headlines import headline
from handraise.surfaces.terminal.answer_options import how_to_answer
from handraise.surfaces.terminal.editor import EditorFailed
from handraise.surfaces.terminal.lines import Line, text_of
from handraise.surfaces.terminal.session import TerminalSession
from handraise.surfaces.terminal.timeline import Timeline
from handraise.texts import t

_QUEUE = "queue"


def lines_of_ask(ask: Ask, options: str = "", place: str = "") -> list[str]:
    """An open ask, and how to answer it from elsewhere; `options` find its hub, `place` is its machine's name."""
    where = f" ({one_line(place)})" if place else ""
    warned = [f"    ⚠ {one_line(each)}" for each in dangers_in_words(ask.body)]
    ways = [f"    {each}{options}" for each in how_to_answer(ask)]
    return [f"✋ {one_line(headline(ask, None))}{where}", *warned, *ways]


class Unattended:
    """See `TerminalIO`. Prints lines, or with `as_json` each item as one JSON object. Entered by `run`."""

    def __init__(self, *, as_json: bool, patience: float | None, options: str = "") -> None:
        self.gave_up: Literal["", "unanswered", "queued"] = ""
        """What took longer than `patience`."""
        self.unread: OSError | None = None
        """Why the output can no longer be written."""
        self._as_json = as_json
        self._patience = patience
        self._options = options
        self._stay: TerminalSession | None = None

    @property
    def live(self) -> bool:
        return False

    @property
    def size(self) -> tuple[int, int]:
        found = shutil.get_terminal_size((100, 24))
        return max(20, found.columns), max(8, found.lines)

    def show(self, lines: Sequence[Line]) -> None:
        if not self._as_json:
            for each in lines:
                self._write(seal(text_of(each)).rstrip())

    def take(self, items: Sequence[Item]) -> None:
        if self._as_json:
            for item in items:
                self._write(item.as_json().decode(errors="replace"))

    def refresh(self) -> None:
        """Nothing is drawn."""

    def call(self, ask: Ask) -> None:
        if self._as_json:
            return
        asked, *commands = lines_of_ask(ask, self._options)
        for each in (asked, t("terminal.answer.waiting"), *commands):
            self._write(each)

    def keep(self, text: str) -> None:
        """Nobody types here."""

    async def edit(self, _text: str, _suffix: str) -> str:
        raise EditorFailed(t("terminal.edit.no_terminal"))

    async def run(self, stay: TerminalSession) -> None:
        """Runs until the turn is over, the session has ended, or patience runs out."""
        self._stay = stay
        await self._wait(stay)

    def interrupt(self) -> None:
        if self._stay is not None:
            self._stay.leaving.set()

    def _write(self, text: str) -> None:
        if self.unread is not None:
            return
        try:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        except OSError as error:
            # A closed pipe or a full disk: the session doesn't depend on it.
            self.unread = error
            # Further output is discarded; otherwise Python would try, and fail, to flush it at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if self._stay is not None:
                self._stay.leaving.set()

    async def _wait(self, stay: TerminalSession) -> None:
        """Patience runs while an ask is open or the session is queued: the turn itself has no limit."""
        loop = asyncio.get_running_loop()
        waiting, since = _held_up_by(stay), loop.time()
        while not (stay.leaving.is_set() or _is_over(stay.view.timeline)):
            stay.changed.clear()
            if _held_up_by(stay) != waiting:
                waiting, since = _held_up_by(stay), loop.time()
            ends = None if waiting is None or self._patience is None else since + self._patience
            try:
                async with asyncio.timeout_at(ends):
                    await _either(stay.changed, stay.leaving)
            except TimeoutError:
                self.gave_up = "queued" if stay.view.timeline.queued else "unanswered"
                return


def _held_up_by(stay: TerminalSession) -> str | None:
    """The ask that nobody has answered, or the queue."""
    return _QUEUE if stay.view.timeline.queued else stay.view.stack.top


def _is_over(timeline: Timeline) -> bool:
    over = timeline.turns > 0 and not timeline.working and not timeline.waiting
    return timeline.ended is not None or over


async def _either(one: asyncio.Event, other: asyncio.Event) -> None:
    tasks = [asyncio.create_task(each.wait()) for each in (one, other)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
