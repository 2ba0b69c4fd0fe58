"""A picture that is drawn again whenever the feed says that something changed. Leaves the terminal as it was found."""

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

_CALM = 0.2
"""At most so often, in seconds, however much happens."""
_AGES = 5.0
"""At least so often: ages go on."""
_AGAIN = 1.0
_LEAVE = (b"q", b"Q", b"\x03", b"\x04", b"")


def can_watch() -> bool:
    """Whether there is somebody who sees it and can type, on a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def keep_showing(client: HubClient, picture: Callable[[int, int], list[str]]) -> int:
    """Until `q`, Ctrl-C or a kill; the exit code. Raises Failed if the hub refuses to show anything."""
    changed, change = os.pipe()
    os.set_blocking(change, False)
    threading.Thread(target=_listen, args=(client, change), daemon=True).start()
    with _Screen(change) as screen:
        while screen.told is None:
            size = os.get_terminal_size(sys.stdout.fileno())
            rows = picture(size.columns, size.lines)
            sys.stdout.write("\x1b[H" + "".join(f"{row}\x1b[K\r\n" for row in rows) + "\x1b[J")
            sys.stdout.flush()
            ready, _, _ = select.select([0, changed], [], [], _AGES)
            screen.rest()
            if 0 in ready and os.read(0, 100)[:1] in _LEAVE:
                return 0
            if changed in ready and signal.SIGWINCH not in os.read(changed, 4096):
                time.sleep(_CALM)
    return 0 if screen.told == signal.SIGINT else 128 + screen.told


def _listen(client: HubClient, change: int) -> None:
    while True:
        with contextlib.suppress(NoHub, HubError, OSError, ValueError):
            _tell(change)
            for event, _ in client.feed():
                if event != "preview":
                    _tell(change)
        _tell(change)
        time.sleep(_AGAIN)


def _tell(change: int) -> None:
    with contextlib.suppress(BlockingIOError):
        os.write(change, b"\0")


class _Screen:
    """The alternate screen without an echo; given back also when the process is told to end, or to stop for a while.

    Signals come as their numbers through the pipe, between two pictures and never in the middle of one.
    """

    def __init__(self, wake: int) -> None:
        self.told: int | None = None
        self._tired = False
        self._wake = wake
        self._before = termios.tcgetattr(0)

    def __enter__(self) -> "_Screen":
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._end)
        signal.signal(signal.SIGTSTP, self._stop)
        signal.signal(signal.SIGWINCH, _notice)
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._give_back()

    def _take(self) -> None:
        tty.setcbreak(0)
        sys.stdout.write("\x1b[?1049h\x1b[?25l")
        sys.stdout.flush()

    def _give_back(self) -> None:
        with contextlib.suppress(OSError, termios.error):
            sys.stdout.write("\x1b[?25h\x1b[?1049l")
            sys.stdout.flush()
            termios.tcsetattr(0, termios.TCSADRAIN, self._before)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self.told = number

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._tired = True

    def rest(self) -> None:
        """Stops for a while if somebody said so."""
        if self._tired:
            self._tired = False
            self._give_back()
            os.kill(os.getpid(), signal.SIGSTOP)
            self._take()


def _notice(_number: int, _frame: FrameType | None) -> None:
    """The pipe has it."""
