"""Redraws the screen whenever the feed reports a change. Restores the terminal when it ends."""

import contextlib
import os
import select
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable
from types import FrameType

from handraise.cli.client import HubClient, HubError, NoHub

_SHORTEST = 0.2
"""At least this many seconds between two redraws."""
_LONGEST = 5.0
"""At most this many seconds between two redraws: ages change by themselves."""
_RETRY = 1.0
_LEAVE = (b"q", b"Q", b"\x03", b"\x04", b"")


def can_watch() -> bool:
    """Whether stdin and stdout are a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def keep_showing(client: HubClient, picture: Callable[[int, int], list[str]]) -> int:
    """Redraws until `q`, Ctrl-C or a kill; returns the exit code. Raises HubError if the hub refuses the list."""
    changed, change = os.pipe()
    os.set_blocking(change, False)
    threading.Thread(target=_listen, args=(client, change), daemon=True).start()
    with _Screen(change) as screen:
        while screen.signal is None:
            size = os.get_terminal_size(sys.stdout.fileno())
            rows = picture(size.columns, size.lines)
            sys.stdout.write("\x1b[H" + "".join(f"{row}\x1b[K\r\n" for row in rows) + "\x1b[J")
            sys.stdout.flush()
            ready, _, _ = select.select([0, changed], [], [], _LONGEST)
            screen.suspend()
            if 0 in ready and os.read(0, 100)[:1] in _LEAVE:
                return 0
            if changed in ready and signal.SIGWINCH not in os.read(changed, 4096):
                time.sleep(_SHORTEST)
    return 0 if screen.signal == signal.SIGINT else 128 + screen.signal


def _listen(client: HubClient, change: int) -> None:
    while True:
        with contextlib.suppress(NoHub, HubError, OSError, ValueError):
            _wake_up(change)
            for event, _ in client.feed():
                if event != "preview":
                    _wake_up(change)
        _wake_up(change)
        time.sleep(_RETRY)


def _wake_up(change: int) -> None:
    with contextlib.suppress(BlockingIOError):
        os.write(change, b"\0")


class _Screen:
    """The alternate screen without echo; restored also when the process is terminated or suspended.

    Signals arrive as numbers through the pipe, so they are handled between two redraws, never during one.
    """

    def __init__(self, wake: int) -> None:
        self.signal: int | None = None
        self._suspended = False
        self._wake = wake
        self._before = termios.tcgetattr(0)

    def __enter__(self) -> "_Screen":
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._end)
        signal.signal(signal.SIGTSTP, self._stop)
        signal.signal(signal.SIGWINCH, _notice)
        self._enter()
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _enter(self) -> None:
        tty.setcbreak(0)
        sys.stdout.write("\x1b[?1049h\x1b[?25l")
        sys.stdout.flush()

    def _restore(self) -> None:
        with contextlib.suppress(OSError, termios.error):
            sys.stdout.write("\x1b[?25h\x1b[?1049l")
            sys.stdout.flush()
            termios.tcsetattr(0, termios.TCSADRAIN, self._before)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self.signal = number

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._suspended = True

    def suspend(self) -> None:
        """Suspends the process if Ctrl-Z was pressed."""
        if self._suspended:
            self._suspended = False
            self._restore()
            os.kill(os.getpid(), signal.SIGSTOP)
            self._enter()


def _notice(_number: int, _frame: FrameType | None) -> None:
    """Nothing to do: the number arrives through the pipe."""
