"""The screen: a real terminal, with prompt_toolkit. Lines that stay are printed above what is drawn.

Only performs: the lines and the meaning of keys are decided elsewhere. Restores the terminal.
"""

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from msgspec.structs import replace
from prompt_toolkit.application import Application, in_terminal, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.shortcuts import print_formatted_text

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.present.harmless import seal
from handraise.surfaces.terminal import live, reflow, rendering, windows
from handraise.surfaces.terminal.announcing import TOGETHER, Announcements, Announcer, title_of
from handraise.surfaces.terminal.editor import Editor
from handraise.surfaces.terminal.hand import Whose
from handraise.surfaces.terminal.keyboard import NAMED, is_together, keyboard
from handraise.surfaces.terminal.lines import Line
from handraise.surfaces.terminal.renderer import ResizedRenderer, terminal_output
from handraise.surfaces.terminal.session import TerminalSession
from handraise.surfaces.terminal.view import CardStack

_TICK = 1.0
_NARROW = 20
"""With fewer columns nothing can be decided."""
_MARGIN = 0.005
"""Timers may fire a little early."""
_BEGIN_PICTURE, _END_PICTURE = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronized output: a terminal that supports it never shows a half-drawn picture."""


class Screen:
    """See `TerminalIO`. Entered by `run`."""

    def __init__(self, clock: Callable[[], datetime], wanted: Announcements | None = None) -> None:
        rendering.warm_up()  # the first text must not delay a key
        self._clock = clock
        self._lines: deque[Line] = deque()
        self._wake = asyncio.Event()
        self._stay: TerminalSession | None = None
        self._composer = Buffer(multiline=True)
        self._entry = Buffer(multiline=True, on_text_changed=self._written)
        self._entry_of: tuple[str, str, str] | None = None
        self._picture: tuple[StyleAndTextTuples, StyleAndTextTuples] = [], []
        self._lent = False
        self._whose: Whose = "line"
        self._alarm: asyncio.TimerHandle | None = None
        keys = self._input = keyboard(lent=lambda: self._lent)
        self._editor = Editor(keys.fileno())
        self._app: Application[None] = Application(
            layout=windows.layout(
                lambda: self._picture[0],
                self._entry,
                self._entry_rows,
                lambda: self._picture[1],
                self._composer,
                self._hint,
                self._state,
                Condition(self._has_entry),
                Condition(self._is_composing),
            ),
            key_bindings=self._keys(),
            style=windows.STYLE,
            input=keys,
            output=terminal_output(),
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
            erase_when_done=True,
            before_render=self._draw,
            after_render=self._drawn,
        )
        self._announcer = Announcer(wanted or Announcements(), self._write)
        self._notice: asyncio.TimerHandle | None = None
        self._app.renderer = ResizedRenderer(self._app.renderer.style, self._app.output, wraps=reflow.wraps(os.environ))
        # Esc must be told from an arrow key, and quickly.
        self._app.ttimeoutlen, self._app.timeoutlen = 0.05, 0.3
        self._app.key_processor.before_key_press += self._before_key

    @property
    def live(self) -> bool:
        return True

    @property
    def size(self) -> tuple[int, int]:
        found = self._app.output.get_size()
        return max(_NARROW, found.columns), max(1, found.rows - 1 - self._entry_rows() - self._composer_rows())

    def show(self, lines: Sequence[Line]) -> None:
        self._lines.extend(lines)
        self._wake.set()

    def take(self, items: Sequence[Item]) -> None:
        """Lines are enough."""

    def refresh(self) -> None:
        # Immediately, not with the next redraw: the next key may arrive together with the last one.
        self._follow_dialogue()
        self._app.invalidate()

    def call(self, _ask: Ask) -> None:
        self._app.output.bell()
        # Requests that were open before are on the screen at once, and several new ones are one notification.
        if self._notice is None and self._stay is not None and self._stay.view.looked:
            self._notice = asyncio.get_running_loop().call_later(TOGETHER, self._notify)

    def keep(self, text: str) -> None:
        before = self._composer.text
        self._composer.text = f"{before}\n{text}" if before.strip() else text
        self._composer.cursor_position = len(self._composer.text)
        self.refresh()

    async def edit(self, text: str, suffix: str) -> str:
        async with self._lending():
            return await self._editor.edit(text, suffix)

    async def run(self, stay: TerminalSession) -> None:
        """Runs until the person leaves, or the process must end."""
        self._stay = stay
        async with asyncio.TaskGroup() as tasks:
            work = [tasks.create_task(each) for each in (self._print(), self._tick())]
            drawing = tasks.create_task(self._app.run_async(handle_sigint=False))
            await stay.leaving.wait()
            await self._editor.close()
            for each in work:
                each.cancel()
            if self._notice is not None:
                self._notice.cancel()
            if self._app.is_running:
                self._app.exit()
            await drawing
            self._announcer.restore()
        self.show(stay.view.timeline.unfinished())
        self._print_now()

    def interrupt(self) -> None:
        # Keys pressed in an editor belong to the editor.
        if self._stay is not None and not self._lent:
            self._stay.stop()

    @property
    def _stack(self) -> CardStack:
        return self._stay.view.stack if self._stay is not None else CardStack()

    @contextlib.asynccontextmanager
    async def _lending(self) -> AsyncIterator[None]:
        """Sets the terminal up for another program, and afterwards for us again."""
        self._lent = True
        try:
            async with in_terminal():
                self._announcer.restore()
                yield
        finally:
            self._lent = False
            self._wake.set()

    async def _suspend(self) -> None:
        async with self._lending():
            os.kill(0, signal.SIGTSTP)

    def _write(self, sequence: str) -> None:
        self._app.output.write_raw(sequence)
        self._app.output.flush()

    def _notify(self) -> None:
        self._notice = None
        self._announcer.notify(len(self._stack.waiting))

    async def _print(self) -> None:
        """Prints new lines above what is drawn, all that have arrived together."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._lines and not self._lent:
                # Whoever leaves now cancels us, but never this: the application waits for it, and would for ever.
                await asyncio.shield(run_in_terminal(self._print_now))

    def _print_now(self) -> None:
        if not self._lines:
            return
        text: StyleAndTextTuples = []
        while self._lines:
            text += [*_sealed(self._lines.popleft()), ("", "\n")]
        print_formatted_text(
            FormattedText(text),
            end="",
            style=windows.STYLE,
            output=self._app.output,
            color_depth=self._app.color_depth,
        )

    async def _tick(self) -> None:
        """Updates ages and countdowns."""
        while True:
            await asyncio.sleep(_TICK)
            timeline = self._stay.view.timeline if self._stay is not None else None
            if timeline is not None and (self._stack.top is not None or timeline.working or timeline.doing):
                self._app.invalidate()

    def _drawn(self, app: Application[None]) -> None:
        app.output.write_raw(_END_PICTURE)
        app.output.flush()
        if self._stay is not None and not self._lent and not app.is_done:
            self._announcer.show(title_of(self._stay.view))

    def _draw(self, app: Application[None]) -> None:
        app.output.write_raw(_BEGIN_PICTURE)
        self._follow_dialogue()
        if self._stay is None:
            return
        now = self._clock()
        waits = self._stay.hand.waits(now, self._composer.text)
        above, below, fit = live.live(self._stay.view, now, *self.size, waits)
        self._picture = _together(above), _together(below)
        narrow = self._app.output.get_size().columns < _NARROW
        self._stack.drawn(replace(fit, tiny=True) if narrow else fit, now)
        self._set_alarm(now)

    def _set_alarm(self, now: datetime) -> None:
        """Redraws as soon as a key counts or has waited long enough."""
        if self._alarm is not None:
            self._alarm.cancel()
        wakes = self._stay.hand.wakes(now) if self._stay is not None else None
        if wakes is not None:
            self._alarm = asyncio.get_running_loop().call_later(wakes.total_seconds() + _MARGIN, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self._stay is not None:
            self._stay.tick()

    def _hint(self) -> StyleAndTextTuples:
        if self._stay is None or self._composer.text:
            return []
        return [("class:dim", live.hint(self._stay.view))]

    def _state(self) -> StyleAndTextTuples:
        width, _ = self.size
        return [*live.state(self._stay.view, self._clock(), width)] if self._stay is not None else []

    def _entry_rows(self) -> int:
        found = self._app.output.get_size()
        return windows.rows_of(self._entry.text, found.columns, found.rows) if self._has_entry() else 0

    def _composer_rows(self) -> int:
        """The rows that the line to Claude takes below a card."""
        if self._stack.current is None or not self._is_composing():
            return 0
        found = self._app.output.get_size()
        return windows.rows_of(self._composer.text, found.columns, found.rows)

    def _has_entry(self) -> bool:
        current = self._stack.current
        return current is not None and current.writing is not None and current.reading is None

    def _is_writing(self) -> bool:
        return self._whose == "entry"

    def _is_composing(self) -> bool:
        return self._stay is not None and self._stay.view.speaks and self._whose == "line"

    def _is_choosing(self) -> bool:
        return self._whose == "card"

    def _before_key(self, _keys: object) -> None:
        """Decides where the next key goes."""
        if self._stay is None:
            return
        self._follow_dialogue()
        if self._stack.current is not None and self._whose in ("line", "nobody"):
            self._composer.insert_text(self._stay.hand.stray(self._clock()))

    def _follow_dialogue(self) -> None:
        """Focuses the field that the person writes in, and keeps it in sync with the dialogue."""
        if self._stay is not None:
            self._whose = self._stay.hand.whose(self._clock(), self._composer.text)
        current = self._stack.current
        if current is not None and current.writing is not None:
            place = (current.ask.id, current.step.name, current.writing)
            if place != self._entry_of:
                self._entry_of = None
                self._entry.text = current.draft
                self._entry.cursor_position = len(current.draft)
                self._entry_of = place
        else:
            self._entry_of = None
        self._app.layout.focus(self._entry if self._is_writing() else self._composer)

    def _written(self, buffer: Buffer) -> None:
        if self._stay is not None and self._entry_of is not None:
            self._stay.write(buffer.text)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        choosing, writing = Condition(self._is_choosing), Condition(self._is_writing)
        composing = Condition(self._is_composing)
        for name in NAMED:
            keys.add(name, filter=choosing, eager=name == "escape")(self._press)
        keys.add(Keys.Any, filter=choosing)(self._press)
        nobody, behind = (
            ~(choosing | writing | composing),
            composing & Condition(lambda: self._stack.current is not None),
        )
        for nothing in (Keys.Any, "enter", Keys.BracketedPaste):
            keys.add(nothing, filter=nobody)(_ignore)
        for turning in ("j", "k"):
            keys.add(turning, filter=nobody)(self._turn)
        keys.add(Keys.BracketedPaste, filter=choosing)(self._paste)
        keys.add(Keys.Any, filter=writing)(self._enter)
        keys.add("enter", filter=writing)(self._confirm)
        keys.add("escape", filter=writing)(self._press)
        keys.add("escape", filter=nobody | behind)(self._later)
        keys.add("up", filter=writing)(self._up)
        keys.add("enter", filter=composing)(self._say)
        keys.add("?", filter=composing & Condition(lambda: not self._composer.text))(self._help)
        keys.add("escape", "enter", filter=writing | composing)(_new_line)
        keys.add("c-j", filter=writing | composing)(_new_line)
        keys.add("tab", eager=True)(self._aside)
        keys.add("c-c", eager=True)(self._stop)
        keys.add("<sigint>")(self._stop)
        keys.add("c-d", eager=True)(self._leave)
        keys.add("c-z", eager=True)(lambda event: event.app.create_background_task(self._suspend()))
        keys.add("c-l", eager=True)(lambda event: event.app.renderer.clear())
        return keys

    def _press(self, event: KeyPressEvent) -> None:
        if self._stay is None:
            return
        pressed = event.key_sequence[0]
        name = str(getattr(pressed.key, "value", pressed.key))
        name = {"c-m": "enter", "c-h": "backspace"}.get(name, name)
        key = NAMED.get(name, event.data if name == "<any>" else name)
        self._composer.insert_text(self._stay.press(key, pasted=is_together(self._input)))
        self._follow_dialogue()

    def _enter(self, event: KeyPressEvent) -> None:
        """A character of a text for the card, unless it shows that the one before was part of a word."""
        typed = self._stay.hand.entered(event.data, self._clock()) if self._stay is not None else None
        if typed is None:
            event.current_buffer.insert_text(event.data)
        else:
            self._composer.insert_text(typed)
            self.refresh()

    def _confirm(self, event: KeyPressEvent) -> None:
        """Enter inside a paste is part of the text."""
        if is_together(self._input):
            event.current_buffer.insert_text("\n")
        elif self._stay is not None:
            self._stay.confirm()

    def _paste(self, event: KeyPressEvent) -> None:
        """A paste is never a choice."""
        if self._stay is not None:
            self._stay.hand.stray(self._clock())
            if self._stay.view.speaks:
                self._composer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"))
            self.refresh()

    def _turn(self, event: KeyPressEvent) -> None:
        """Switching to another card answers nothing, so it needs no calm."""
        if self._stay is not None and not self._stay.view.speaks and not is_together(self._input):
            self._stack.turn(1 if event.data == "j" else -1)
            self.refresh()

    def _later(self, _event: KeyPressEvent) -> None:
        if self._stay is not None and self._stack.current is not None:
            self._stay.postpone()

    def _up(self, event: KeyPressEvent) -> None:
        """Up, in the first row of the input, leads back to the choices."""
        if event.current_buffer.document.cursor_position_row == 0 and self._stay is not None:
            self._stay.press("back")
        else:
            event.current_buffer.cursor_up()

    def _say(self, event: KeyPressEvent) -> None:
        text = event.current_buffer.text
        event.current_buffer.reset(append_to_history=bool(text.strip()))
        if self._stay is not None:
            self._stay.say(text)

    def _help(self, event: KeyPressEvent) -> None:
        """On an empty line; in a paste it is part of the text."""
        if is_together(self._input) or self._stay is None:
            event.current_buffer.insert_text(event.data)
        else:
            self._stay.help()

    def _aside(self, _event: KeyPressEvent) -> None:
        if self._stay is None:
            return
        if self._stack.current is not None and self._whose == "line" and self._composer.text:
            self._stay.hand.turn_to_card()
            self.refresh()
        else:
            self._stay.look_aside()

    def _stop(self, event: KeyPressEvent) -> None:
        if self._stay is None:
            return
        if not self._stay.view.timeline.working and self._is_composing() and self._composer.text:
            self._composer.reset()
        else:
            self._stay.stop()
        event.app.invalidate()

    def _leave(self, event: KeyPressEvent) -> None:
        if event.current_buffer.text and (self._is_writing() or self._is_composing()):
            event.current_buffer.delete()
        elif self._stay is not None:
            self._stay.leaving.set()


def _together(lines: Sequence[Line]) -> StyleAndTextTuples:
    text: StyleAndTextTuples = []
    for number, each in enumerate(lines):
        text += [*([("", "\n")] if number else []), *_sealed(each)]
    return text


def _sealed(row: Line) -> list[tuple[str, str]]:
    return [(style, seal(text)) for style, text in row]


def _ignore(_event: KeyPressEvent) -> None:
    """Nobody is typing, and a paste is never a choice."""


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")
