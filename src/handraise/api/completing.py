"""What people can complete while they type: Claude's commands and models, files of a project, directories."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, BadRequest, Parameter, Route, answer
from handraise.desk.interface import NotFound, Refused
from handraise.hub.directories import DirectoryEntry, DirectoryListing, DirectoryRefused
from handraise.hub.file_access import FileAccess
from handraise.hub.machine_directory import MachineDirectory
from handraise.model.abilities import ModelChoice, SlashCommand
from handraise.session import abilities
from handraise.store.interface import Store
from handraise.texts import t

_LONGEST = 400
_QUERY = (Parameter("q", "What was typed so far"),)
_WHERE = (
    Parameter("path", "An absolute path. Default: the directory that the hub was started in"),
    Parameter("q", "How the names start"),
    Parameter("machine", "A machine's ID or name. Default: this one"),
)
_OF = (
    Parameter("session", "A session's ID"),
    Parameter("directory", "A directory"),
    Parameter("machine", "The directory's machine, by ID or name. Default: this one"),
)
_STATUS = {"relative": 422, "missing": 404, "unreadable": 409, "hidden": 409}


class FilesSchema(Struct, frozen=True):
    """Paths relative to the session's directory, best first. Directories end in `/`."""

    files: list[str]
    complete: bool
    """Whether all files were looked at. False in very large directories."""


class AbilitiesSchema(Struct, frozen=True):
    """What Claude offers, as it said when it was last started there. Empty if that isn't known yet."""

    commands: tuple[SlashCommand, ...]
    models: tuple[ModelChoice, ...]


class DirectoriesSchema(Struct, frozen=True):
    """A directory, and those inside of it. `path` has no links in it; `parent` is empty at the top."""

    path: str
    parent: str
    repository: bool
    """Whether it is a Git repository."""
    directories: list[DirectoryEntry]
    complete: bool
    """Whether these are all. Narrow it down with `q`."""


class CompletionRoutes:
    """Files and directories may be on other machines."""

    def __init__(self, store: Store, files: FileAccess) -> None:
        self._store = store
        self._machines = MachineDirectory(store)
        self._files = files

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "GET",
                "/api/sessions/{id}/files",
                "approver",
                self.files,
                "Find files in a session's directory",
                returns=FilesSchema,
                parameters=_QUERY,
            ),
            Route(
                "GET",
                "/api/abilities",
                "approver",
                self.offered,
                "Get Claude's slash commands and models",
                returns=AbilitiesSchema,
                parameters=_OF,
                compress=True,
            ),
            Route(
                "GET",
                "/api/directories",
                "admin",
                self.directories,
                "List the directories inside a directory",
                returns=DirectoriesSchema,
                parameters=_WHERE,
            ),
            Route(
                "GET",
                "/api/directories/files",
                "admin",
                self.files_there,
                "Find files in a directory",
                returns=FilesSchema,
                parameters=(_WHERE[0], *_QUERY),
            ),
        )

    async def files(self, request: ApiRequest) -> Response:
        session = (await request.desk.session(request.path("id"))).session
        found, is_complete = await self._files.files(session, (request.text("q") or "")[:_LONGEST])
        return answer(FilesSchema(found, is_complete))

    async def files_there(self, request: ApiRequest) -> Response:
        """For the first message of a session, before there is one."""
        path, typed = request.text("path") or "", (request.text("q") or "")[:_LONGEST]
        with _refusals():
            found, is_complete = await self._files.files_in(path, typed)
        return answer(FilesSchema(found, is_complete))

    async def offered(self, request: ApiRequest) -> Response:
        machine, directory = await self._machine(request), request.text("directory") or ""
        session = request.text("session")
        if session is not None:
            found = (await request.desk.session(session)).session
            machine, directory = found.machine or machine, found.directory
        known = await self._store.records(abilities.KIND)
        stored = known.get(abilities.key_of(machine, directory))
        here = abilities.load(stored) if stored is not None else None
        # Models belong to the account: those of any other directory are better than none.
        others = [abilities.load(each).models for each in known.values()] if here is None or not here.models else []
        models = here.models if here is not None and here.models else next(filter(None, others), ())
        return answer(AbilitiesSchema(here.commands if here is not None else (), models))

    async def directories(self, request: ApiRequest) -> Response:
        machine, path, starting = await self._machine(request), request.text("path") or "", request.text("q") or ""
        with _refusals():
            return answer(_listing(await self._files.directories(machine, path, starting)))

    async def _machine(self, request: ApiRequest) -> str:
        named = request.text("machine")
        return self._store.machine if named is None else (await self._machines.find(named)).id


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except DirectoryRefused as error:
        message = t(f"error.directory.{error.reason}", directory=error.path[:_LONGEST])
        raise _refusal(error.reason, message) from error


def _refusal(reason: str, message: str) -> Exception:
    match _STATUS.get(reason):
        case 404:
            return NotFound(message)
        case 422:
            return BadRequest(message, 422, "invalid")
        case _:
            return Refused(message)


def _listing(found: DirectoryListing) -> DirectoriesSchema:
    return DirectoriesSchema(found.path, found.parent, found.is_repository, list(found.entries), found.is_complete)
