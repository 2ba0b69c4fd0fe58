"""A picture that is drawn again whenever the feed says that something changed. Leaves the terminal as it was found."""

import contextlib
import os
import select
import shutil
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator
from types import FrameType

from handraise.cli.neighbour import Failed, Neighbour, NoHub

_CALM = 0.2
"""At most so often, in seconds, however much happens."""
_AGES = 5.0
"""At least so often: ages go on."""
_AGAIN = 1.0


def keep_showing(neighbour: Neighbour, picture: Callable[[int, int], list[str]]) -> None:
    """Until `q`, Ctrl-C or a kill."""
    changed, change = os.pipe()
    os.set_blocking(change, False)
    threading.Thread(target=_listen, args=(neighbour, change), daemon=True).start()
    with _own_screen():
        while True:
            size = shutil.get_terminal_size()
            rows = picture(size.columns, size.lines)
            sys.stdout.write("\x1b[H" + "".join(f"{row}\x1b[K\r\n" for row in rows) + "\x1b[J")
            sys.stdout.flush()
            ready, _, _ = select.select([0, changed], [], [], _AGES)
            if 0 in ready and os.read(0, 100)[:1] in (b"q", b"Q", b"\x04", b""):
                return
            if changed in ready:
                os.read(changed, 4096)
                time.sleep(_CALM)


def _listen(neighbour: Neighbour, change: int) -> None:
    while True:
        with contextlib.suppress(NoHub, Failed, OSError, ValueError):
            for event, _ in neighbour.feed():
                if event != "preview":
                    with contextlib.suppress(BlockingIOError):
                        os.write(change, b".")
        time.sleep(_AGAIN)


@contextlib.contextmanager
def _own_screen() -> Iterator[None]:
    """The alternate screen without an echo; given back also when the process is told to end."""
    before = termios.tcgetattr(0) if os.isatty(0) else None
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        if before is not None:
            tty.setcbreak(0)
        sys.stdout.write("\x1b[?1049h\x1b[?25l")
        yield
    except KeyboardInterrupt:
        pass
    finally:
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        if before is not None:
            termios.tcsetattr(0, termios.TCSADRAIN, before)


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
