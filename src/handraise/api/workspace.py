"""Syncs the files of a project: which project, which options, and where its hub is."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, BadRequest, Route, answer
from handraise.api.schemas import Done
from handraise.auth import Principal
from handraise.desk.interface import NotFound
from handraise.model.projects import Options, Project
from handraise.store.interface import Store
from handraise.texts import t
from handraise.workspace.hook_entry import HookEntry
from handraise.workspace.hook_offer import HookOffer
from handraise.workspace.json_texts import Unmergeable
from handraise.workspace.merging import files_for
from handraise.workspace.syncing import project_hook, sync
from handraise.workspace.user_settings import sync_user, user_hook

_LONGEST = 100


class Syncing(Struct, frozen=True, forbid_unknown_fields=True):
    """Add our entries to the project's files, or remove them."""

    remove: bool = False


class Synced(Struct, frozen=True):
    """The files of the project that changed."""

    project: str
    path: str
    changed: list[str]


class SyncedUser(Struct, frozen=True):
    """The files of the user that changed."""

    changed: list[str]


class SyncRoutes:
    """`options` are those that apply in a project and its directory; `hooks` is the address that hooks call.

    `state` is written to the files only if it isn't the default, so that they can be shared. `folder` is Claude's.
    """

    def __init__(
        self,
        store: Store,
        options: Callable[[Project | None, str], Options],
        state: Path,
        usual: Path,
        hooks: str,
        folder: Path | None,
        offer: HookOffer,
    ) -> None:
        self._store = store
        self._options = options
        self._one_at_a_time = asyncio.Lock()
        self._state = None if state == usual else str(state)
        self._hooks = hooks
        self._folder = folder
        self._offer = offer

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/api/projects/{id}/sync", "admin", self.sync, "Update a project's files", Syncing, Synced),
            Route("DELETE", "/api/hook-offer", "admin", self.dismiss, "Dismiss the hint about the hook", returns=Done),
            Route("POST", "/api/sync", "admin", self.sync_user, "Update the user's settings", Syncing, SyncedUser),
        )

    async def sync(self, request: ApiRequest) -> Response:
        wanted = request.body(Syncing)
        project = await self._store.project(request.path("id"))
        if project is None:
            raise NotFound(t("error.no_project", project=request.path("id")))
        if not project.path:
            raise NotFound(t("error.no_directory_here", project=project.name))
        options = self._options(project, project.path)

        def write(hook: HookEntry | None) -> list[str]:
            return sync(project.path, None if wanted.remove else files_for(options, self._state, hook))

        name = t("sessions.terminal.token", project=project.name)[:_LONGEST]
        changed = await self._write(request, partial(project_hook, project.path), write, wanted, name, project.id)
        return answer(Synced(project.id, project.path, changed))

    async def dismiss(self, _: ApiRequest) -> Response:
        self._offer.close()
        return answer(Done())

    async def sync_user(self, request: ApiRequest) -> Response:
        wanted = request.body(Syncing)
        if self._folder is None:
            raise BadRequest(t("error.sync.no_home"), 409, "unmergeable")
        folder = self._folder

        def write(hook: HookEntry | None) -> list[str]:
            return sync_user(folder, hook)

        name = t("sessions.terminal.token_user")
        return answer(SyncedUser(await self._write(request, partial(user_hook, folder), write, wanted, name, None)))

    async def _write(
        self,
        request: ApiRequest,
        read: Callable[[], HookEntry | None],
        write: Callable[[HookEntry | None], list[str]],
        wanted: Syncing,
        name: str,
        project: str | None,
    ) -> list[str]:
        """Writes with the secret that is there, or with a new one; a secret that is no longer used is revoked."""
        try:
            async with self._one_at_a_time:
                before = await asyncio.to_thread(read)
                old = await request.auth.admit(before.secret) if before is not None else None
                if wanted.remove:
                    changed = await asyncio.to_thread(write, None)
                    await self._revoke(request, old)
                    return changed
                self._offer.close()
                if before is not None and old is not None and _fits(old, project):
                    return await asyncio.to_thread(write, HookEntry(self._hooks, before.secret))
                made = await request.auth.make(name, "agent", request.desk.person, request.desk.source, project=project)
                try:
                    return await asyncio.to_thread(write, HookEntry(self._hooks, made.secret))
                except Unmergeable:
                    await request.auth.revoke(made.token.id, request.desk.person, request.desk.source)
                    raise
        except Unmergeable as error:
            raise BadRequest(str(error), 409, "unmergeable") from error

    async def _revoke(self, request: ApiRequest, old: Principal | None) -> None:
        if old is not None and old.role == "agent" and old.token is not None:
            await request.auth.revoke(old.token.id, request.desk.person, request.desk.source)


def _fits(old: Principal, project: str | None) -> bool:
    return old.role == "agent" and old.token is not None and old.token.project == project
