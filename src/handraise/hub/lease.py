"""This machine's lease in the database: claimed at start, renewed while the hub runs, and released at the end."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from handraise.hub.machine_file import MachineFile
from handraise.hub.shared_clock import SharedClock
from handraise.model.items import Item, MachineChanged
from handraise.model.machines import BEAT, Machine
from handraise.store.changes import SaveMachine
from handraise.store.interface import Store, StoreError, StoreFenced

_CHANGED = b'{"type":"machine.changed"'

WATCHED = 1.6
"""How many beats a hub waits for a sign of life of another one, before it takes the machine over."""

log = logging.getLogger("handraise.hub")


class MachineRunning(Exception):
    """Another hub runs as this machine at this moment: the state folder, or the whole computer, is a copy."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(
            f"Another hub is running as this machine ({machine.name}), so one of the two state directories is a copy. "
            "If this is the copy, make it a machine of its own: handraise machines new-identity. If it should replace "
            "the other one, stop that hub first."
        )
        self.machine = machine


class Lease:
    """Entered with `async with`, inside the store's and outside everything that writes for this machine.

    `lost` is called once if another hub takes the machine over. It is never taken back: a person has to decide which
    of the two hubs is the right one. Each renewal tells `clock` what time it is for everyone.
    """

    def __init__(
        self,
        store: Store,
        machine: Machine,
        clock: SharedClock,
        lost: Callable[[StoreFenced], None],
        *,
        every: float | None = BEAT,
        file: MachineFile | None = None,
    ) -> None:
        """`every` is None for a store that no other hub uses: nobody waits for a sign of life there.

        `file` remembers claims, so that a copy of its folder is found out; without one, every claim is made.
        """
        self.machine = machine
        self.trouble = ""
        """Why this hub can't write for its machine at the moment, as a sentence; empty if it can."""
        self._store = store
        self._clock = clock
        self._lost = lost
        self._every = every
        self._file = file
        self._sooner = asyncio.Event()
        self._beating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._every is None:
            self.machine = await self._saved()
            return self
        if self._file is not None:
            await self._check_alone(self._file, self._every)
        since = self._clock.own()
        self.machine = await self._store.claim(self.machine)
        self._clock.learn(self.machine.seen_at, since)
        if self._file is not None:
            self._record(self._file)
        self._store.listen(self._committed)
        self._beating = asyncio.create_task(self._keep_beating(self._every))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._beating is None:
            return
        self._beating.cancel()
        with suppress(asyncio.CancelledError):
            await self._beating
        try:
            await self._store.release(self._clock())
        except StoreError as failed:
            log.warning("this machine could not say that it goes away: %s", failed)

    async def _check_alone(self, file: MachineFile, every: float) -> None:
        """Raises MachineRunning if another hub renews the lease. After a crash or a move, nobody does.

        Fencing keeps two hubs apart in any case; this keeps the newer one from winning by accident.
        """
        before = await self._stored()
        if before is None or before.away_since is not None or file.made(before.epoch):
            return
        log.info("checking whether another hub runs as this machine")
        loop = asyncio.get_running_loop()
        until = loop.time() + every * WATCHED
        while loop.time() < until:
            await asyncio.sleep(every / 20)
            found = await self._stored()
            if found is None or found.away_since is not None:
                return
            if (found.epoch, found.seen_at) != (before.epoch, before.seen_at):
                raise MachineRunning(found)

    def _record(self, file: MachineFile) -> None:
        """After the claim: a copy that was refused is still a copy when it is started again."""
        try:
            file.record(self.machine.epoch)
        except OSError as error:
            log.warning("can't remember that this machine was claimed from here: %s", error.strerror)

    async def _stored(self) -> Machine | None:
        return next((each for each in await self._store.machines() if each.id == self.machine.id), None)

    async def _saved(self) -> Machine:
        """In a database that only this hub uses, nobody can take the machine over, and nobody waits for it."""
        machines = {each.id: each for each in await self._store.machines()}
        stored = machines.get(self.machine.id)
        name = stored.name if stored else _free(self.machine.name, {each.name for each in machines.values()})
        saved = replace(self.machine, name=name, epoch=stored.epoch + 1 if stored else 1)
        await self._store.apply([SaveMachine(saved, self._clock(), quiet=True)])
        return saved

    async def _keep_beating(self, every: float) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(every):
                    await self._sooner.wait()
            self._sooner.clear()
            since = self._clock.own()
            try:
                self._clock.learn(await self._store.beat(self._clock()), since)
            except StoreFenced as error:
                self.trouble = str(error)
                self._lost(error)
                return
            except StoreError as error:
                if not self.trouble:
                    log.warning("%s", error)
                self.trouble = str(error)
            else:
                if self.trouble:
                    log.info("the database can be used again")
                self.trouble = ""

    def _committed(self, items: Sequence[Item]) -> None:
        """Another hub that takes this machine over publishes it: find out at once whether this happened."""
        for item in items:
            if item.session is None and item.content.startswith(_CHANGED):
                content = item.read()
                if isinstance(content, MachineChanged) and content.machine.get("id") == self.machine.id:
                    self._sooner.set()


def _free(name: str, others: Collection[str]) -> str:
    """The name, with a number if another machine has it."""
    numbered = (f"{name}-{number}" for number in count(2))
    return name if name not in others else next(each for each in numbered if each not in others)
