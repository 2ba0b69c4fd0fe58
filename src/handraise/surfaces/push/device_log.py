"""The devices and what each was sent, in one file that is replaced atomically."""

import asyncio
import importlib
import os
from abc import ABC, abstractmethod
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec import Struct

from handraise.model.devices import Device

if TYPE_CHECKING:
    from handraise.surfaces.push.vapid import HubKey

KEY_FILE = "key.pem"
MOST_ENDINGS = 20
"""How many ended sessions may be queued for a device; the oldest are dropped."""


class Ending(Struct, frozen=True):
    """A session that ended, as the feed reported it."""

    session: str
    how: str
    reason: str
    at: datetime
    by: str | None = None
    """Who stopped it, if a person did."""
    alarm: bool = False


class DeviceState(Struct):
    """One device, and what it was sent."""

    device: Device
    shown: dict[str, datetime] = {}
    """The asks it shows, and since when: its push service accepted them, and they were not removed."""
    doubtful: dict[str, datetime] = {}
    """The asks it may show: they were sent, but the outcome is unknown."""
    endings: list[Ending] = []
    """Ended sessions it has yet to be notified of."""
    put_away: dict[str, datetime] = {}
    """Open asks that were dismissed on it: neither shown again nor removed."""

    def forget(self, ask: str) -> bool:
        """Whether it may have shown the ask; from here on it doesn't."""
        found = [self.shown.pop(ask, None), self.doubtful.pop(ask, None)]
        return found != [None, None]


class DeviceLog(Struct):
    """Every device by its id. `cursor` is how far the feed was searched for ended sessions."""

    pages: dict[str, DeviceState] = {}
    cursor: int | None = None

    def by_endpoint(self, endpoint: str | None) -> DeviceState | None:
        return next((page for page in self.pages.values() if page.device.endpoint == endpoint), None)

    def note_ending(self, ending: Ending, cursor: int, devices: list[str]) -> None:
        """Queues the notification for these devices; the feed isn't searched that far back again."""
        self.cursor = cursor
        for each in devices:
            page = self.pages[each]
            if ending in page.endings:
                continue
            page.endings = [*page.endings, ending][-MOST_ENDINGS:]


class DeviceLogLost(Exception):
    """The file exists but can't be read. The text is a sentence."""


class KeyLost(Exception):
    """The hub's key exists but can't be used. A new one would silence every device. The text is a sentence."""


def read(file: Path) -> DeviceLog:
    """An empty one if there is no file; raises DeviceLogLost."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=DeviceLog)
    except FileNotFoundError:
        return DeviceLog()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DeviceLogLost(f"{file} cannot be read; without it, devices are to be switched on again.") from error


def write(file: Path, written: bytes) -> None:
    """Durable when this returns. Readable by its owner only: with it, anyone could send to the devices."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.draft")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(opened, "wb") as into:
        into.write(written)
        into.flush()
        os.fsync(into.fileno())
    os.replace(draft, file)


class DeviceBook(ABC):
    """The device log, and where it is kept. Entered with `async with`; raises DeviceLogLost.

    One write at a time, by its own task: cancelling a caller never leaves half of it.
    """

    def __init__(self) -> None:
        self.ledger = DeviceLog()
        self._next: asyncio.Future[None] | None = None
        self._wanted = asyncio.Event()
        self._closing = False
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._load()
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
        """The device log is stored when this returns; raises what storing it raises."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            self._next.add_done_callback(_look_at)
        self._wanted.set()
        await asyncio.shield(self._next)

    @abstractmethod
    async def refresh(self) -> None:
        """The device log has what other hubs changed in it when this returns."""

    @abstractmethod
    async def key(self) -> "HubKey":
        """The key that devices are bound to, made on first use; raises KeyLost, and what storing it raises."""

    @abstractmethod
    async def _load(self) -> None: ...

    @abstractmethod
    async def _write(self) -> None: ...

    async def _write_for_ever(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            saved, self._next = self._next, None
            if saved is not None:
                await self._write_for(saved)
            elif self._closing:
                return
            if self._closing:
                self._wanted.set()

    async def _write_for(self, saved: asyncio.Future[None]) -> None:
        try:
            await self._write()
        except Exception as error:  # whoever waits for it gets it
            saved.set_exception(error)
        else:
            saved.set_result(None)


class DeviceLogFile(DeviceBook):
    """In one file, with the key beside it. Raises OSError."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    async def refresh(self) -> None:
        pass  # nobody else writes it

    async def key(self) -> "HubKey":
        return await asyncio.to_thread(self._keep_key)

    async def _load(self) -> None:
        self.ledger = await asyncio.to_thread(read, self._file)

    async def _write(self) -> None:
        await asyncio.to_thread(write, self._file, msgspec.json.encode(self.ledger))

    def _keep_key(self) -> "HubKey":
        vapid = importlib.import_module("handraise.surfaces.push.vapid")
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key: HubKey = vapid.keep_key(self._file.with_name(KEY_FILE))
        return key


def _look_at(written: asyncio.Future[None]) -> None:
    """Nobody may be waiting for it any more; then its error is dropped."""
    written.exception()
