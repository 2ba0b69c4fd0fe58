"""The names of machines, for surfaces that mention where a session is. With one machine, none is mentioned."""

import asyncio

from handraise.desk.interface import Desk, DeskError

_FRESH = 60.0
"""How long names are reused, in seconds: listing machines counts everything on them."""


class MachineNames:
    """Reads the list now and then. A machine that it doesn't know makes it read again."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._names: dict[str, str] = {}
        self._read_at: float | None = None

    async def titled(self, title: str, machine: str) -> str:
        """A session's title, with its machine's name if there are several."""
        name = await self._name(machine) if machine else ""
        return f"{title} · {name}" if name else title

    async def _name(self, machine: str) -> str:
        now = asyncio.get_running_loop().time()
        if self._read_at is None or now - self._read_at > _FRESH or machine not in self._names:
            try:
                self._names = {each.machine.id: each.machine.name for each in await self._desk.machines()}
            except DeskError:
                return self._names.get(machine, "")
            self._read_at = now
        return self._names.get(machine, "") if len(self._names) > 1 else ""
