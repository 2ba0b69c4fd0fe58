"""The machines that share the database: found by ID or name, counted, and chosen for a new session."""

from posixpath import isabs, normpath

from msgspec.structs import replace

from handraise.desk.interface import Invalid, MachineSummary, NotFound, Refused
from handraise.model.machines import Machine, Place
from handraise.model.projects import Project, places_of
from handraise.model.sessions import Session
from handraise.session.placing import least_busy
from handraise.store.interface import Store
from handraise.texts import t

ANY = "any"


class MachineDirectory:
    """Reads from the store each time: other hubs change it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, machine: str) -> Machine:
        """By ID or name; raises NotFound."""
        for each in await self._store.machines():
            if machine in (each.id, each.name):
                return each
        raise NotFound(t("error.no_machine", machine=machine))

    async def is_away(self, session: Session) -> bool:
        """Whether the session's machine is away. One that nobody knows is."""
        known = {each.id: each for each in await self._store.machines()}
        machine = session.machine or self._store.machine
        return machine not in known or known[machine].away_since is not None

    async def summaries(self) -> list[MachineSummary]:
        """By name."""
        known = await self._store.machines()
        sessions = [each for each in await self._store.sessions() if each.ended is None]
        asks = await self._store.asks(state="open")
        here = self._store.machine
        return [
            MachineSummary(
                each,
                sum((session.machine or here) == each.id for session in sessions),
                sum((ask.machine or here) == each.id for ask in asks),
                each.id == here,
            )
            for each in known
        ]

    async def chosen(self, wanted: str, project: Project | None) -> Machine:
        """The machine that a new session runs on, as a person named it; raises NotFound or Refused."""
        if wanted != ANY:
            machine = await self.find(wanted)
            if machine.limit == 0:
                raise Refused(t("error.machine.gateway", machine=machine.name))
            return machine
        having = [place.machine for place in places_of(project, self._store.machine)] if project else []
        sessions = await self._store.sessions(["queued", "starting", "idle", "working", "parking", "stopping"])
        found = least_busy(await self._store.machines(), sessions, having, self._store.machine)
        if found is None:
            raise Refused(t("error.machine.none"))
        return found

    def directory_there(self, project: Project | None, machine: Machine) -> str:
        """The project's directory on another machine; raises Refused if it has none."""
        there = (
            [place.path for place in places_of(project, self._store.machine) if place.machine == machine.id]
            if project
            else []
        )
        if not there or project is None:
            raise Refused(t("error.machine.no_directory", machine=machine.name))
        return there[0]

    async def placed(self, project: Project, path: str, machine: str) -> Project:
        """The project with this directory on another machine, or with none there if it is empty."""
        found = await self.find(machine)
        if path and not isabs(path):
            raise Invalid(t("error.machine.absolute", path=path))
        others = [place for place in project.elsewhere if place.machine != found.id]
        own = [Place(found.id, normpath(path))] if path else []
        return replace(project, elsewhere=tuple(sorted([*others, *own], key=lambda place: place.machine)))
