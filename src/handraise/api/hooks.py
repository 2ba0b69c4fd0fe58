"""The route that hooks of hand-run Claudes call: held until somebody decides, here or in the terminal."""

import asyncio
import os
import socket
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from handraise.agents.calls import HubContext
from handraise.api.requests import ApiRequest, Route, answer
from handraise.auth import Principal
from handraise.hub.hub import Hub
from handraise.model.inputs import MalformedInput
from handraise.terminals.calls import UNSEEN, Gone, TerminalCalls, TerminalContext
from handraise.terminals.hook_calls import HookCall, read_hook
from handraise.terminals.sessions import TerminalPlace, TerminalSessions
from handraise.workspace.hook_entry import PATH

_LARGEST = 16 * 1024 * 1024
_WITHOUT_CLAUDE = ("queued", "parked", "ended")
"""The phases in which the hub runs no Claude: a person may continue such a session in a terminal."""

Address = tuple[str, int]


class HookResponse(Struct, frozen=True, omit_defaults=True):
    """What Claude Code takes from a hook. Without `hookSpecificOutput`, the dialog in the terminal decides."""

    hookSpecificOutput: dict[str, Any] = {}  # noqa: N815 (Claude Code's name)


class HookRoutes:
    """Entered with `async with`, inside the hub. `closing` is set before connections end; `folder` is Claude's."""

    def __init__(
        self,
        hub: Hub,
        knowledge: HubContext,
        folder: Path | None,
        closing: asyncio.Event,
        *,
        unseen: float = UNSEEN,
    ) -> None:
        self._hub = hub
        self._closing = closing
        place = TerminalPlace(folder, socket.gethostname())
        self._sessions = TerminalSessions(hub.store, knowledge.clock, os.urandom, place)
        context = TerminalContext(knowledge, os.urandom, place)
        self._calls = TerminalCalls(hub.inbox, self._sessions, context, unseen=unseen)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        # In this order: what an earlier hub left open is withdrawn before sessions are looked at.
        await self._stack.enter_async_context(self._calls)
        await self._stack.enter_async_context(self._sessions)
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "POST",
                PATH,
                "agent",
                self.decide,
                "Decide a PermissionRequest of a Claude in a terminal",
                returns=HookResponse,
                largest=_LARGEST,
                long_lived=True,
            ),
        )

    async def decide(self, request: ApiRequest) -> Response:
        """Never an error that Claude Code would show: what can't be asked here is asked in the terminal."""
        try:
            call = read_hook(request.content)
            if await self._is_ours(request.http, call):
                return answer({})
            call = await self._placed(request.principal, call)
            token = request.principal.token.id if request.principal.token else ""
            return answer(await self._calls.decide(call, token, partial(self._gone, request.http)))
        except MalformedInput:
            return answer({})

    async def _is_ours(self, http: Request, call: HookCall) -> bool:
        """Whether the hub runs this Claude, or one of its Claudes started it: their requests come another way."""
        client, server = http.client, http.scope.get("server")
        if client is None or server is None:
            return True
        ends: tuple[Address, Address] = (client.host, client.port), (server[0], server[1])
        if await asyncio.to_thread(self._hub.pool.may_hold, *ends):
            return True
        sessions = [each for each in await self._hub.store.sessions() if self._hub.pool.owns(each)]
        running = [each for each in sessions if each.phase not in _WITHOUT_CLAUDE and not each.terminal]
        return any(each.claude_id == call.session_id for each in running)

    async def _placed(self, principal: Principal, call: HookCall) -> HookCall:
        """The call with the directory it counts for. With a project's secret, that is never outside this project.

        A Claude that has left the project is asked about, but in no known mode: the project's rules weren't made for
        where it works now, so none of them may allow anything.
        """
        real = _real(call.cwd)
        bound = principal.token.project if principal.token else None
        project = await self._hub.store.project(bound) if bound is not None else None
        if bound is not None and project is None:
            raise MalformedInput("This project was removed.")
        if project is None:
            return replace(call, cwd=real)
        if not project.path:
            raise MalformedInput("This project has no directory on this machine.")
        here = [each for each in await self._hub.store.sessions() if each.machine in ("", self._hub.store.machine)]
        sessions = [each for each in here if each.claude_id == call.session_id]
        if not all(_is_within(_real(each.directory), project.path) for each in sessions):
            raise MalformedInput("This session belongs to another project.")
        if _is_within(real, project.path):
            return replace(call, cwd=real)
        return replace(call, cwd=project.path, permission_mode="")

    async def _gone(self, http: Request) -> Gone:
        closing = asyncio.ensure_future(self._closing.wait())
        closed = asyncio.ensure_future(_disconnected(http))
        try:
            await asyncio.wait([closing, closed], return_when=asyncio.FIRST_COMPLETED)
            return "hub" if self._closing.is_set() else "claude"
        finally:
            for task in (closing, closed):
                task.cancel()
            await asyncio.gather(closing, closed, return_exceptions=True)


def _is_within(directory: str, path: str) -> bool:
    return f"{directory}/".startswith(f"{path}/")


def _real(directory: str) -> str:
    if not os.path.isabs(directory) or "\0" in directory:
        raise MalformedInput("The directory must be absolute.")
    return os.path.realpath(directory)


async def _disconnected(http: Request) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass
