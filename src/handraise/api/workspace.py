"""Syncs the files of a project: which project, which options, and where its hub is."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, BadRequest, Route, answer
from handraise.desk.interface import NotFound
from handraise.model.projects import Options, Project
from handraise.store.interface import Store
from handraise.texts import t
from handraise.workspace.merging import Unmergeable, files_for
from handraise.workspace.syncing import sync


class Syncing(Struct, frozen=True, forbid_unknown_fields=True):
    """Add our entries to the project's files, or remove them."""

    remove: bool = False


class Synced(Struct, frozen=True):
    """The files of the project that changed."""

    project: str
    path: str
    changed: list[str]


class SyncRoutes:
    """`options` are those that apply in a project and its directory.

    `state` is written to the files only if it isn't the default, so that they can be shared.
    """

    def __init__(
        self, store: Store, options: Callable[[Project | None, str], Options], state: Path, usual: Path
    ) -> None:
        self._store = store
        self._options = options
        self._one_at_a_time = asyncio.Lock()
        self._state = None if state == usual else str(state)

    async def sync(self, request: ApiRequest) -> Response:
        wanted = request.body(Syncing)
        project = await self._store.project(request.path("id"))
        if project is None:
            raise NotFound(t("error.no_project", project=request.path("id")))
        files = None if wanted.remove else files_for(self._options(project, project.path), self._state)
        try:
            async with self._one_at_a_time:
                changed = await asyncio.to_thread(sync, project.path, files)
        except Unmergeable as error:
            raise BadRequest(str(error), 409, "unmergeable") from error
        return answer(Synced(project.id, project.path, changed))

    def route(self) -> Route:
        return Route("POST", "/api/projects/{id}/sync", "admin", self.sync, "Update a project's files", Syncing, Synced)
