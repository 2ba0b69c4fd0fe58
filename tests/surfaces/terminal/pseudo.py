"""A pseudo-terminal with the real command in it, read through a terminal emulator that answers like a real one."""

import asyncio
import os
import signal
import sys
import termios
import unicodedata
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import pyte
from wcwidth import wcwidth

from surfaces.terminal.ready import start
from surfaces.terminal.wrapping import Wrapping

DEADLINE = 60.0
UP, DOWN, LEFT, RIGHT = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"
ENTER, ESCAPE, TAB, SPACE, BACKSPACE = "\r", "\x1b", "\t", " ", "\x7f"
CTRL_C, CTRL_D, CTRL_U, CTRL_Z = "\x03", "\x04", "\x15", "\x1a"
PAGE_DOWN = "\x1b[6~"
_END_PICTURE = b"\x1b[?2026l"
_SYNCHRONIZED = 2026 << 5
"""The mode in which a program draws a picture, in pyte's numbering of private modes."""


class Emulator(Wrapping):
    """Answers cursor-position requests, and records what must never happen."""

    def __init__(self, columns: int, rows: int, reply: Callable[[str], None], *, wraps: bool) -> None:
        super().__init__(columns, rows, wraps=wraps)
        self._reply = reply
        self.titles: list[str] = []
        self.bells = 0

    def draw(self, data: str) -> None:
        # pyte drops everything after a character without width; terminals add it to the one before.
        drawn = (each for each in data if unicodedata.combining(each) or wcwidth(each))
        super().draw(data if data.isascii() else "".join(drawn))

    def write_process_input(self, data: str) -> None:
        self._reply(data)

    def set_title(self, param: str) -> None:
        self.titles.append(param)

    def bell(self) -> None:
        self.bells += 1


class Pseudo:
    """A command in a terminal of this size. Entered with `async with`; killed if it still runs at the end."""

    def __init__(
        self, *command: str, environment: Mapping[str, str], cwd: str, columns: int = 100, rows: int = 40
    ) -> None:
        self._command = command
        self._environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
        self._cwd = cwd
        # The Linux console cuts off rows; nearly all others wrap them.
        self.emulator = Emulator(columns, rows, self._reply, wraps=self._environment["TERM"] != "linux")
        self._stream = pyte.ByteStream(self.emulator)
        self._changed = asyncio.Event()
        self._lines: list[str] | None = None
        self.raw = b""
        self.ended = False
        self._pictures, self._replied = 0, -1

    async def __aenter__(self) -> Self:
        self._end, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (self.emulator.lines, self.emulator.columns))
        try:
            self.before = self.modes()
            self._child = await start(self._command, self._environment, self._cwd, [theirs] * 3)
        finally:
            os.close(theirs)
        asyncio.get_running_loop().add_reader(self._end, self._read)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.ended:
            asyncio.get_running_loop().remove_reader(self._end)
        os.close(self._end)
        await self._child.kill()

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without trailing empty lines."""
        if self._lines is None:
            self._lines = [row.rstrip() for row in self.emulator.display]
            while self._lines and not self._lines[-1]:
                self._lines.pop()
        return self._lines

    @property
    def screen(self) -> str:
        return "\n".join(self.lines)

    @property
    def everything(self) -> str:
        """What has scrolled away, and the screen."""
        rows = [[row[at].data for at in range(self.emulator.columns)] for row in self.emulator.history.top]
        return "\n".join(["".join(row).rstrip() for row in rows] + self.lines)

    async def until(self, *texts: str, gone: str | None = None) -> str:
        """The screen, as soon as it shows all these texts and no longer the one that should go."""
        return await self.wait(
            lambda: all(text in self.screen for text in texts) and (gone is None or gone not in self.screen),
            f"{texts} without {gone!r}",
        )

    async def wait(self, holds: Callable[[], bool], what: str = "") -> str:
        try:
            async with asyncio.timeout(DEADLINE):
                while self._is_drawing or not holds():
                    if self.ended:
                        raise AssertionError(f"it ended before {what}:\n{self.screen}")
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"never {what}:\n{self.screen}") from None
        return self.screen

    @property
    def _is_drawing(self) -> bool:
        """A redraw is in progress: the screen may still show parts of the last one."""
        return _SYNCHRONIZED in self.emulator.mode and not self.ended

    def type(self, *keys: str) -> None:
        for key in keys:
            self._send(key)

    async def confirm(self, key: str) -> None:
        """Selects something that grants, sees that it is selected, and confirms it."""
        self.type(key)
        await self.until("❯ ")
        self.type(ENTER)

    async def enter(self, text: str) -> None:
        """Types a text, sees it, and presses Enter: in one piece it would be a paste."""
        self.type(text)
        shown = text.strip()
        await self.wait(lambda: any("› " in row and row.endswith(shown) for row in self.lines), f"› … {shown}")
        self.type(ENTER)

    async def resize(self, columns: int, rows: int, *texts: str) -> None:
        """Until the program has redrawn these texts: the emulator itself wraps or cuts off what was drawn before."""
        before = len(self.raw)
        self.emulator.resize(rows, columns)
        self._lines = None
        termios.tcsetwinsize(self._end, (rows, columns))
        await self.wait(lambda: all(text.encode() in self.raw[before:] for text in texts), f"{texts} anew")
        # The program asks where the cursor is, and draws once more. A picture on its way isn't wrapped by the emulator.
        await self.wait(lambda: self._pictures > self._replied, "drawn after the reply")

    async def end(self) -> int:
        """The exit code, once the command has exited by itself."""
        try:
            async with asyncio.timeout(DEADLINE):
                while not self.ended:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"it does not end:\n{self.screen}") from None
        return await self._child.wait()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self._child.pid, number)

    def modes(self) -> list[Any]:
        """The terminal's settings: they must be the same afterwards."""
        return termios.tcgetattr(self._end)

    def _reply(self, text: str) -> None:
        self._replied = self._pictures
        self._send(text)

    def _send(self, text: str) -> None:
        os.write(self._end, text.encode())

    def _read(self) -> None:
        try:
            piece = os.read(self._end, 65536)
        except OSError:
            piece = b""
        if not piece:
            asyncio.get_running_loop().remove_reader(self._end)
            self.ended = True
        else:
            self.raw += piece
            self._pictures = self.raw.count(_END_PICTURE)
            self._stream.feed(piece)
            self._lines = None
        self._changed.set()


def handraise(*arguments: str) -> tuple[str, ...]:
    """The real command, with this interpreter."""
    return (sys.executable, "-m", "handraise", *arguments)
