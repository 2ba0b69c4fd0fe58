"""The book: the ledger and its file, which is replaced whole or not at all.

It lies beside the hub's key and not in the store: a device belongs to the address and the key that it was switched on
with, so that no other hub could reach it.
"""

import asyncio
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from handraise.surfaces.push.ledger import DeviceLog


class DeviceLogLost(Exception):
    """The file is there and cannot be read. The text is a sentence."""


def read(file: Path) -> DeviceLog:
    """An empty one where there is none; raises LedgerLost."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=DeviceLog)
    except FileNotFoundError:
        return DeviceLog()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DeviceLogLost(f"{file} cannot be read; without it, devices are to be switched on again.") from error


def write(file: Path, written: bytes) -> None:
    """On the disk when this returns; readable by its owner only, since who has it could speak to the devices."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.draft")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(opened, "wb") as into:
        into.write(written)
        into.flush()
        os.fsync(into.fileno())
    os.replace(draft, file)


class DeviceLogFile:
    """The ledger and its file. Entered with `async with`; raises LedgerLost.

    One write at a time, by a task of its own: who is cancelled while it waits for one leaves no half of it behind.
    """

    def __init__(self, file: Path) -> None:
        self.ledger = DeviceLog()
        self._file = file
        self._next: asyncio.Future[None] | None = None
        self._wanted = asyncio.Event()
        self._closing = False
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self.ledger = await asyncio.to_thread(read, self._file)
        self._writer = asyncio.create_task(self._write_for_ever())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        self._wanted.set()
        if self._writer is not None:
            await self._writer

    async def save(self) -> None:
        """What the ledger says at this moment is on the disk when this returns; raises OSError."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            self._next.add_done_callback(_look_at)
        self._wanted.set()
        await asyncio.shield(self._next)

    async def _write_for_ever(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            told, self._next = self._next, None
            if told is not None:
                await self._write(told)
            elif self._closing:
                return
            if self._closing:
                self._wanted.set()

    async def _write(self, told: asyncio.Future[None]) -> None:
        try:
            await asyncio.to_thread(write, self._file, msgspec.json.encode(self.ledger))
        except OSError as error:
            told.set_exception(error)
        else:
            told.set_result(None)


def _look_at(written: asyncio.Future[None]) -> None:
    """Whoever wanted it may have gone: its error is nobody's then."""
    written.exception()
