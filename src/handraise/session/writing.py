"""Writes one session's lines to Claude, each in its turn, for as long as Claude takes to read. Never reorders them."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from handraise.claude.claude import Claude
from handraise.claude.fifo import ChildGone, HalfLine

DEADLINE = 60.0

log = logging.getLogger("handraise.session")


class StdinWriter:
    """What is not written must not count as done, so a Claude that does not read is waited for. A stop gives up."""

    def __init__(self, claude: Claude, broken: Callable[[], None]) -> None:
        """`broken` is called when Claude's stdin cannot be used any more."""
        self._claude = claude
        self._broken = broken
        self._waiting: asyncio.Timeout | None = None
        self._in_a_hurry = False

    async def write(self, lines: Sequence[bytes]) -> None:
        """Returns when all of them are written, or Claude is gone, or somebody is in a hurry."""
        for line in lines:
            try:
                while not await self._write_in_time(line):
                    if self._in_a_hurry:
                        log.info("process %d: a line was given up, for it is being stopped", self._pid)
                        return
                    log.warning("process %d: Claude does not read; it is tried again", self._pid)
            except ChildGone:
                log.info("process %d: Claude is gone before a line was written", self._pid)
                return
            except HalfLine as error:
                log.warning("process %d: %s", self._pid, error)
                self._broken()
                return

    def hurry(self) -> None:
        """Claude is to be stopped: a line that it does not take at once is not worth waiting for."""
        self._in_a_hurry = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def _write_in_time(self, line: bytes) -> bool:
        try:
            async with asyncio.timeout(0 if self._in_a_hurry else DEADLINE) as self._waiting:
                await self._claude.write(line)
        except TimeoutError:
            return False
        finally:
            self._waiting = None
        return True

    @property
    def _pid(self) -> int:
        return self._claude.process.identity.pid
