"""The screen: a real terminal by prompt_toolkit. Lines that stay are printed above; what is shown for now, below them.

Only performs: which lines there are and what a key means is decided elsewhere. Leaves the terminal as it found it.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TextIO

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import create_output
from prompt_toolkit.shortcuts import print_formatted_text
from prompt_toolkit.styles import Style

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.surfaces.terminal.editor import edit
from handraise.surfaces.terminal.harmless import seal
from handraise.surfaces.terminal.lines import Line, cut, line
from handraise.surfaces.terminal.stay import Stay

STYLE = Style.from_dict(
    {
        "accent": "fg:ansiyellow",
        "danger": "fg:ansired",
        "warning": "fg:ansiyellow",
        "good": "fg:ansigreen",
        "dim": "fg:ansibrightblack",
        "key": "fg:ansicyan",
        "code": "",
        "added": "fg:ansigreen",
        "removed": "fg:ansired",
        "hunk": "fg:ansicyan",
        "said": "bold",
    }
)
_TICK = 0.1
_WRITING = 6
"""How many rows a text may take while it is written."""
_NAMED = {
    "up": "up",
    "down": "down",
    "enter": "enter",
    " ": "space",
    "left": "back",
    "backspace": "back",
    "escape": "escape",
    "pageup": "pageup",
    "pagedown": "pagedown",
    "home": "home",
    "end": "end",
}


class Screen:
    """See `Front`. Entered by `run`."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lines: deque[Line] = deque()
        self._wake = asyncio.Event()
        self._stay: Stay | None = None
        self._composer = Buffer(multiline=True)
        self._entry = Buffer(multiline=True, on_text_changed=self._written)
        self._entry_of: tuple[str, str, str] | None = None
        self._editing = False
        self._app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=STYLE,
            input=_keyboard(lent=lambda: self._editing),
            output=create_output(always_prefer_tty=True),
            erase_when_done=True,
            before_render=self._follow_dialogue,
        )
        # Esc must be told from an arrow key, and quickly.
        self._app.ttimeoutlen, self._app.timeoutlen = 0.05, 0.3

    @property
    def size(self) -> tuple[int, int]:
        found = self._app.output.get_size()
        return max(20, found.columns), max(8, found.rows)

    def show(self, lines: Sequence[Line]) -> None:
        self._lines.extend(lines)
        self._wake.set()

    def take(self, items: Sequence[Item]) -> None:
        """Lines are enough."""

    def refresh(self) -> None:
        self._app.invalidate()

    def call(self, _ask: Ask) -> None:
        if self._composer.text.strip() and self._stay is not None and not self._stay.tray.aside:
            # Whoever is typing goes on typing: the next key must not answer what has just come.
            self._stay.look_aside()
        self._app.output.bell()

    def keep(self, text: str) -> None:
        before = self._composer.text
        self._composer.text = f"{before}\n{text}" if before.strip() else text
        self._composer.cursor_position = len(self._composer.text)
        self.refresh()

    async def edit(self, text: str, suffix: str) -> str | None:
        self._editing = True
        try:
            return await run_in_terminal(lambda: edit(text, suffix), in_executor=True)
        finally:
            self._editing = False
            self._wake.set()

    async def run(self, stay: Stay) -> None:
        """Until somebody leaves, or the process is told to end."""
        self._stay = stay
        async with asyncio.TaskGroup() as tasks:
            work = [tasks.create_task(each) for each in (self._print(), self._tick())]
            drawing = tasks.create_task(self._app.run_async(handle_sigint=False))
            await stay.leaving.wait()
            for each in work:
                each.cancel()
            if self._app.is_running:
                self._app.exit()
            await drawing
        self._print_now()

    def interrupt(self) -> None:
        # What is pressed in an editor is the editor's.
        if self._stay is not None and not self._editing:
            self._stay.stop()

    async def _print(self) -> None:
        """Prints what came, above what is drawn; everything that came meanwhile goes at once."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._lines and not self._editing:
                await run_in_terminal(self._print_now)

    def _print_now(self) -> None:
        if not self._lines:
            return
        text: StyleAndTextTuples = []
        while self._lines:
            text += [*_sealed(self._lines.popleft()), ("", "\n")]
        print_formatted_text(FormattedText(text), end="", style=STYLE, output=self._app.output)

    async def _tick(self) -> None:
        """Ages and countdowns go on, and a card that has calmed down shows its keys."""
        while True:
            await asyncio.sleep(_TICK)
            stay = self._stay
            if stay is not None and (stay.tray.top is not None or stay.timeline.working or stay.timeline.doing):
                self._app.invalidate()

    def _layout(self) -> Layout:
        live = Window(FormattedTextControl(self._live, show_cursor=False), dont_extend_height=True, wrap_lines=False)
        height = Dimension(min=1, max=_WRITING)
        entry = Window(
            BufferControl(self._entry, input_processors=[BeforeInput([("class:accent", "▌ "), ("class:key", "› ")])]),
            height=height,
            dont_extend_height=True,
            wrap_lines=True,
        )
        composer = Window(
            BufferControl(self._composer, input_processors=[BeforeInput([("class:key", "› ")])]),
            height=height,
            dont_extend_height=True,
            wrap_lines=True,
        )
        state = Window(FormattedTextControl(self._state), height=1, dont_extend_height=True)
        return Layout(
            HSplit(
                [
                    live,
                    ConditionalContainer(entry, Condition(self._is_writing)),
                    ConditionalContainer(composer, Condition(self._is_composing)),
                    state,
                ]
            ),
            focused_element=composer,
        )

    def _live(self) -> StyleAndTextTuples:
        if self._stay is None:
            return []
        text: StyleAndTextTuples = []
        for each in self._stay.live(self._clock()):
            text += [*([("", "\n")] if text else []), *_sealed(each)]
        return text

    def _state(self) -> StyleAndTextTuples:
        stay = self._stay
        if stay is None:
            return []
        width, _ = self.size
        if stay.session is None:
            return [*cut(line(("class:dim", "inbox · j k next and previous · Ctrl-D leaves")), width)]
        timeline = stay.timeline
        doing = "working" if timeline.working else "ended" if timeline.ended else "idle"
        if stay.tray.top is not None:
            doing = "needs you"
        waits = [f"{len(timeline.waiting)} not yet taken"] if timeline.waiting else []
        told = [doing, timeline.mode, f"${timeline.cost_usd:.4f}", *waits, "Ctrl-C interrupts", "Ctrl-D leaves"]
        return [*cut(line(("class:dim", " · ".join(each for each in told if each))), width)]

    def _is_writing(self) -> bool:
        current = self._stay.tray.current if self._stay is not None else None
        return current is not None and current.writing is not None and current.reading is None

    def _is_composing(self) -> bool:
        stay = self._stay
        return stay is not None and stay.session is not None and stay.tray.current is None

    def _is_choosing(self) -> bool:
        return self._stay is not None and self._stay.tray.current is not None and not self._is_writing()

    def _follow_dialogue(self, app: Application[None]) -> None:
        """The focus is where the person writes, and the entry holds what the dialogue does."""
        current = self._stay.tray.current if self._stay is not None else None
        if current is not None and current.writing is not None:
            place = (current.ask.id, current.step.name, current.writing)
            if place != self._entry_of:
                self._entry_of = place
                self._entry.text = current.draft
                self._entry.cursor_position = len(current.draft)
            app.layout.focus(self._entry)
        else:
            self._entry_of = None
            app.layout.focus(self._composer)

    def _written(self, buffer: Buffer) -> None:
        if self._stay is not None and self._entry_of is not None:
            self._stay.write(buffer.text)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        choosing, writing = Condition(self._is_choosing), Condition(self._is_writing)
        composing = Condition(self._is_composing)
        for name in _NAMED:
            keys.add(name, filter=choosing, eager=name == "escape")(self._press)
        keys.add(Keys.Any, filter=choosing)(self._press)
        keys.add(Keys.BracketedPaste, filter=choosing)(_ignore)
        keys.add("enter", filter=writing)(self._press)
        keys.add("escape", filter=writing)(self._press)
        keys.add("up", filter=writing)(self._up)
        keys.add("enter", filter=composing)(self._say)
        keys.add("escape", "enter", filter=writing | composing)(_new_line)
        keys.add("c-j", filter=writing | composing)(_new_line)
        keys.add("tab", eager=True)(self._aside)
        keys.add("c-c", eager=True)(self._stop)
        keys.add("<sigint>")(self._stop)
        keys.add("c-d", eager=True)(self._leave)
        keys.add("c-z", eager=True)(lambda event: event.app.suspend_to_background())
        keys.add("c-l", eager=True)(lambda event: event.app.renderer.clear())
        return keys

    def _press(self, event: KeyPressEvent) -> None:
        if self._stay is None:
            return
        pressed = event.key_sequence[0]
        name = str(getattr(pressed.key, "value", pressed.key))
        name = {"c-m": "enter", "c-h": "backspace"}.get(name, name)
        self._stay.press(_NAMED.get(name, event.data if name == "<any>" else name))

    def _up(self, event: KeyPressEvent) -> None:
        """Up, on the first row of what is written, is the way back."""
        if event.current_buffer.document.cursor_position_row == 0 and self._stay is not None:
            self._stay.press("back")
        else:
            event.current_buffer.cursor_up()

    def _say(self, event: KeyPressEvent) -> None:
        text = event.current_buffer.text
        event.current_buffer.reset()
        if self._stay is not None:
            self._stay.say(text)

    def _aside(self, _event: KeyPressEvent) -> None:
        if self._stay is not None:
            self._stay.look_aside()

    def _stop(self, event: KeyPressEvent) -> None:
        if self._stay is None:
            return
        if not self._stay.timeline.working and self._is_composing() and self._composer.text:
            self._composer.reset()
        else:
            self._stay.stop()
        event.app.invalidate()

    def _leave(self, event: KeyPressEvent) -> None:
        if event.current_buffer.text and not self._is_choosing():
            event.current_buffer.delete()
        elif self._stay is not None:
            self._stay.leaving.set()


class _Keyboard(Vt100Input):
    """Stays ours while lines are printed above, so that a key pressed then is a key, and neither echo nor signal."""

    def __init__(self, terminal: TextIO, lent: Callable[[], bool]) -> None:
        super().__init__(terminal)
        self._lent = lent

    def cooked_mode(self) -> contextlib.AbstractContextManager[None]:
        return super().cooked_mode() if self._lent() else contextlib.nullcontext()


def _keyboard(lent: Callable[[], bool]) -> Input:
    found = create_input(always_prefer_tty=True)
    return _Keyboard(found.stdin, lent) if isinstance(found, Vt100Input) else found


def _sealed(given: Line) -> list[tuple[str, str]]:
    return [(style, seal(text)) for style, text in given]


def _ignore(_event: KeyPressEvent) -> None:
    """A paste is no choice."""


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")
