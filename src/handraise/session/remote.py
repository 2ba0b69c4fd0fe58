"""What people want of sessions on other machines: stored as instructions, and carried out by the hubs there."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from handraise.model import ids
from handraise.model.actors import Actor
from handraise.model.instructions import IMMEDIATE, REPEATABLE, Instruction, InstructionKind
from handraise.model.items import InstructionSettled, Item
from handraise.model.sessions import Session
from handraise.session.machine import WishRefused
from handraise.session.titles import Words
from handraise.store.changes import GiveInstruction, SettleInstruction
from handraise.store.interface import Store
from handraise.texts import t

PATIENCE = 10.0
"""How long a person waits for a hub elsewhere to carry something out, in seconds."""
_SETTLED = b'{"type":"instruction.settled"'


class WishWaits(WishRefused):
    """It was stored, and is carried out when the machine returns or gets to it. The text is a sentence."""


class Dispatcher:
    """Entered with `async with`, inside the store's. Gives instructions and waits for what becomes of them."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._patience = patience
        self._awaited: dict[str, asyncio.Future[InstructionSettled]] = {}

    async def __aenter__(self) -> Self:
        self._store.listen(self._committed)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for future in self._awaited.values():
            if not future.done():
                future.set_exception(WishRefused(t("sessions.refused.closing")))

    async def give(
        self,
        session: Session,
        kind: InstructionKind,
        by: Actor,
        source: str,
        value: str = "",
        words: Words | None = None,
    ) -> str:
        """Returns its result once it was carried out; raises WishRefused if it was not, and WishWaits if not yet."""
        name, is_away = await self._machine(session.machine)
        if is_away and kind in IMMEDIATE:
            raise WishRefused(t("sessions.refused.away", machine=name))
        identity = ids.spell("i", self._entropy(ids.ENTROPY))
        wanted = Instruction(
            identity, session.machine, session.id, kind, by, source, self._clock(), value=value, words=words
        )
        future: asyncio.Future[InstructionSettled] = asyncio.get_running_loop().create_future()
        self._awaited[identity] = future
        try:
            await self._store.apply([GiveInstruction(wanted)])
            if is_away:
                raise WishWaits(t("sessions.refused.waiting_for", machine=name))
            async with asyncio.timeout(self._patience):
                return _result(await future)
        except TimeoutError:
            return await self._overdue(wanted)
        finally:
            del self._awaited[identity]

    async def _overdue(self, wanted: Instruction) -> str:
        """What only makes sense now is taken back, unless it has been begun; the rest keeps waiting."""
        if wanted.kind in IMMEDIATE:
            taken_back = await self._store.apply([SettleInstruction(wanted.id, "withdrawn", self._clock())])
            if taken_back.took[0]:
                name, _ = await self._machine(wanted.machine)
                raise WishRefused(t("sessions.refused.no_response", machine=name))
        found = await self._store.instruction(wanted.id)
        if found is None and wanted.kind == "remove":
            return ""  # it went with its session; the hub there could not say so
        if found is not None and found.is_settled:
            return _result(InstructionSettled(found.id, found.state, found.reason, found.result))
        name, is_away = await self._machine(wanted.machine)
        if wanted.kind in IMMEDIATE and wanted.kind not in REPEATABLE:
            # It was taken. If that hub was killed, the next one won't do it again.
            raise WishRefused(t("sessions.refused.begun", machine=name))
        raise WishWaits(t("sessions.refused.waiting_for" if is_away else "sessions.refused.slow", machine=name))

    async def _machine(self, machine: str) -> tuple[str, bool]:
        """What it is called, and whether it is away."""
        found = [each for each in await self._store.machines() if each.id == machine]
        return (found[0].name, found[0].away_since is not None) if found else (machine, True)

    def _committed(self, items: Sequence[Item]) -> None:
        if not self._awaited:
            return
        for item in items:
            if item.content.startswith(_SETTLED):
                content = item.read()
                future = self._awaited.get(content.instruction) if isinstance(content, InstructionSettled) else None
                if future is not None and not future.done() and isinstance(content, InstructionSettled):
                    future.set_result(content)


def _result(settled: InstructionSettled) -> str:
    match settled.state:
        case "done":
            return settled.result
        case "withdrawn":
            raise WishRefused(t("sessions.refused.withdrawn"))
        case _:
            raise WishRefused(settled.reason)
