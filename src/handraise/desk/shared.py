"""What surfaces of several hubs share: small values in the database, and leases so that only one of them acts."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

LEASE = 30.0
RENEW = 4.0
_NEVER = float("-inf")

log = logging.getLogger("handraise.shared")


class RecordChange(Struct, frozen=True):
    """A value to store if what is stored is still `only_if` (None: nothing), or to remove (`value` is None)."""

    key: str
    value: bytes | None
    only_if: bytes | None

    def __repr__(self) -> str:
        """Without its value, which may be a secret."""
        return f"RecordChange({self.key!r})"


class Leases(Protocol):
    """At most one hub has the lease of a name, for as long as it renews it. Errors mean that nobody knows."""

    async def lease(self, name: str, seconds: float) -> bool: ...

    async def end_lease(self, name: str) -> None: ...


class SharedRecords(Leases, Protocol):
    """Small values of one kind, by key."""

    async def read(self, kind: str) -> dict[str, bytes]: ...

    async def save(self, kind: str, changes: Sequence[RecordChange]) -> Sequence[bool]:
        """Whether each change took effect."""
        ...


class LeaseKeeper:
    """Entered with `async with`: tries to get a lease, and renews it while it has it.

    It counts from before each request, by its own clock (`elapsed`, in seconds). So it never believes to have a lease
    that has run out, also if the database can't be reached or the machine slept.
    """

    def __init__(
        self,
        leases: Leases,
        name: str,
        elapsed: Callable[[], float],
        *,
        seconds: float = LEASE,
        every: float = RENEW,
    ) -> None:
        self._leases = leases
        self._name = name
        self._elapsed = elapsed
        self._seconds = seconds
        self._every = every
        self._until = _NEVER
        self._is_troubled = False
        self._looked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._keep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._until = _NEVER
        self._tell()
        # Not worth waiting long for: it runs out by itself.
        with suppress(Exception):
            async with asyncio.timeout(self._every):
                await self._leases.end_lease(self._name)

    @property
    def is_held(self) -> bool:
        return self.seconds_left > 0

    @property
    def seconds_left(self) -> float:
        """For how long nobody else can have it."""
        return self._until - self._elapsed()

    async def looked(self) -> None:
        """Waits until it was tried to get or renew it once more."""
        await self._looked.wait()

    async def held(self, margin: float = 0) -> None:
        """Waits until it is ours, for longer than so many seconds."""
        while self.seconds_left <= margin:
            await self.looked()

    async def lost(self, margin: float = 0) -> None:
        """Waits until it is no longer ours, or won't be in so many seconds."""
        while self.seconds_left > margin:
            await self.looked()

    async def _keep(self) -> None:
        while True:
            await self._try()
            self._tell()
            pause = self._every
            if self.is_held:
                pause = min(pause, self.seconds_left)
            await asyncio.sleep(pause)

    async def _try(self) -> None:
        began = self._elapsed()
        try:
            async with asyncio.timeout(self._every):
                is_ours = await self._leases.lease(self._name, self._seconds)
        except Exception as error:  # the database is away or refuses: what we have runs out
            if not self._is_troubled:
                log.warning("the lease %s could not be renewed: %s", self._name, type(error).__name__)
            self._is_troubled = True
            return
        self._is_troubled = False
        self._until = began + self._seconds if is_ours else _NEVER

    def _tell(self) -> None:
        self._looked.set()
        self._looked = asyncio.Event()
