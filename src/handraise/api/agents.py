"""The routes of external agents: MCP over HTTP, relays, and runs."""

import asyncio
import importlib
import logging
import os
import time
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from handraise.agents.calls import GRACE, AgentCalls, Caller, DirectoryContext, HubContext
from handraise.agents.run_file import BadRunFile
from handraise.agents.runs import STALE, Runs, caller_in
from handraise.api import schemas
from handraise.api.ask_user import AskUserEndpoints, Forbidden
from handraise.api.requests import ApiRequest, BadRequest, Parameter, Route, answer
from handraise.desk.interface import NotFound
from handraise.hub.hub import Hub
from handraise.inbox.considering import Surroundings
from handraise.inbox.errors import NoSuchAsk
from handraise.model.asks import Ask
from handraise.model.own_tools import ASK_USER_LEAST, ASK_USER_MOST
from handraise.model.projects import innermost
from handraise.model.tokens import Token
from handraise.session import surroundings
from handraise.store.waiting import insist
from handraise.terminals.calls import PREFIX as TERMINAL

if TYPE_CHECKING:
    from handraise.api.mcp_sdk import McpSdk

_LARGEST_CALL = 16 * 1024 * 1024
_SWEEPS = 6
"""How often a run is checked before it is stale."""
_NOWHERE = "/dev/null"
"""The directory of agents whose directory is unknown: it holds nothing that could be read without asking."""

log = logging.getLogger("handraise.agents")


class NewRun(Struct, frozen=True, forbid_unknown_fields=True):
    """A run of an agent in a project. `timeout`: how long `ask_user` waits, in seconds."""

    project: str
    timeout: Annotated[int, Meta(ge=ASK_USER_LEAST, le=ASK_USER_MOST)] | None = None


class IssuedRun(Struct, frozen=True):
    """Start the agent with `ASK_USER_CONFIG` set to `path`. The file is removed when the run ends."""

    path: str
    stream_token: str = msgspec.field(name="streamToken")


class AgentRoutes:
    """Entered with `async with`, inside the hub. `closing` is set before connections are ended."""

    def __init__(self, hub: Hub, state: Path, base: str, closing: asyncio.Event, *, grace: float = GRACE) -> None:
        self._hub = hub
        self._closing = closing
        self.agent_calls = AgentCalls(hub.inbox, self.knowledge(terminals=False), closing, grace=grace)
        self._runs = Runs(state / "runs", base, state / "hub.sock", os.urandom, time.time)
        self.ask_user = AskUserEndpoints(self.agent_calls, self._runs, self._directory_of, _random_name, self._left)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._runs.sweep()
        await self._stack.enter_async_context(self.agent_calls)
        self._sdk_loader = _SdkLoader(self.agent_calls, self._closing)
        self._stack.push_async_callback(self._sdk_loader.close)
        sweeping = asyncio.create_task(self._sweep_regularly())
        self._stack.callback(sweeping.cancel)
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()

    def routes(self) -> tuple[Route, ...]:
        p = Parameter("p", "A project: its ID, name or path")
        return (
            Route(
                "POST",
                "/mcp",
                "agent",
                self.call,
                "Call an MCP tool over HTTP",
                parameters=(p,),
                largest=_LARGEST_CALL,
                long_lived=True,
            ),
            Route(
                "GET",
                "/mcp",
                "agent",
                self.resume,
                "Continue a call with `Last-Event-ID`",
                parameters=(p,),
                media="text/event-stream",
                long_lived=True,
            ),
            Route(
                "POST",
                "/mcp/lines",
                None,
                self.carry,
                "MCP as lines, for `handraise mcp`",
                media="application/x-ndjson",
                long_lived=True,
                authenticates_itself=True,
            ),
            Route(
                "POST", "/api/runs", "admin", self.open_run, "Start a run of an external agent", NewRun, IssuedRun, 201
            ),
            Route("DELETE", "/api/runs/{id}", "admin", self.close_run, "End a run", returns=schemas.Done),
            *self.ask_user.routes(),
        )

    async def call(self, request: ApiRequest) -> Response:
        caller = await self._caller_by_token(request)
        return (await self._sdk_loader.sdk()).exchange(caller, request.content, _random_name())

    async def resume(self, request: ApiRequest) -> Response:
        event = request.http.headers.get("last-event-id")
        if not event:
            raise BadRequest(
                "Nothing to continue without Last-Event-ID. Send a call with POST.", 405, "method_not_allowed"
            )
        sdk = await self._sdk_loader.sdk()
        try:
            return await sdk.resume(await self._caller_by_token(request), event)
        except NoSuchAsk as error:
            raise NotFound(str(error)) from error

    async def carry(self, request: ApiRequest) -> Response:
        """For this machine's owner, runs, and agent tokens."""
        caller = await self._caller_by_lines(request)
        stream = request.http.headers.get("handraise-stream")
        alive = self._runs.alive(stream) if stream is not None else nullcontext()
        return (await self._sdk_loader.sdk()).lines(caller, alive)

    async def open_run(self, request: ApiRequest) -> Response:
        wanted = request.body(NewRun)
        project = await self._hub.store.project(wanted.project)
        if project is None:
            raise NotFound(f"There is no project {wanted.project}.")
        timeout = wanted.timeout or self._hub.pool.options(project, project.path or _NOWHERE).ask_user_timeout
        try:
            token, path = self._runs.open(project.id, timeout)
        except BadRunFile as error:
            raise BadRequest(f"A run can't reach this hub: {error}", 409, "unreachable") from error
        return answer(IssuedRun(str(path), token), 201)

    async def close_run(self, request: ApiRequest) -> Response:
        run = self._runs.find(request.path("id"))
        if run is None:
            raise NotFound("There is no such run.")
        self._runs.close(run.stream_token)
        self.agent_calls.leave(caller_in(run, _NOWHERE))
        return answer(schemas.Done())

    async def _caller_by_token(self, request: ApiRequest) -> Caller:
        token = request.principal.token
        owner = token.id if isinstance(token, Token) else "machine"
        return Caller(f"http/{owner}", request.principal.person.name, await self._named(request), comes_back=False)

    async def _named(self, request: ApiRequest) -> str:
        """The directory of the token's project; otherwise, of the project that `p` names."""
        bound = request.principal.token.project if request.principal.token else None
        named = request.text("p") or bound
        if named is None:
            return _NOWHERE
        project = await self._hub.store.project(named)
        if project is None:
            raise NotFound(f"There is no project {named}.")
        if bound not in (None, project.id):
            raise BadRequest("This token is limited to another project.", 403, "not_allowed")
        return project.path or _NOWHERE

    async def _caller_by_lines(self, request: ApiRequest) -> Caller:
        headers = request.http.headers
        conversation = headers.get("handraise-conversation", "")
        if len(conversation) != 32 or not conversation.isalnum():
            raise BadRequest("The Handraise-Conversation header is missing or invalid.")
        directory = _unhex(headers.get("handraise-directory", ""))
        stream = headers.get("handraise-stream")
        if stream is not None:
            run = self._runs.find(stream)
            if run is None or headers.get("handraise-project") != run.project.encode().hex():
                raise Forbidden
            return caller_in(run, await self._directory_of(run.project), f"/{conversation}")
        if request.principal.role != "agent" and request.desk.source != "terminal":
            raise Forbidden
        if request.principal.token is not None and request.principal.token.project is not None:
            directory = await self._named(request)
        return Caller(f"lines/{conversation}", f"an agent in {directory}", directory)

    async def _sweep_regularly(self) -> None:
        while True:
            await asyncio.sleep(STALE / _SWEEPS)
            self._runs.sweep()

    async def _directory_of(self, project: str) -> str:
        found = await self._hub.store.project(project)
        return (found.path if found else "") or _NOWHERE

    async def _left(self, prefix: str) -> list[Ask]:
        store = self._hub.store
        waiting = [*await store.asks(state="open"), *await store.asks(undelivered=True)]
        ours = [ask for ask in waiting if ask.session is None and ask.origin.reference.startswith(prefix)]
        return sorted(ours, key=lambda ask: ask.opened_at)

    def knowledge(self, *, terminals: bool) -> HubContext:
        """What calls need; of the asks that were left open, those of Claudes in terminals or those of others."""

        async def left_open() -> list[Ask]:
            here = ("", self._hub.store.machine)
            asks = [ask for ask in await self._hub.store.asks(state="open") if ask.machine in here]
            if terminals:
                return [ask for ask in asks if ask.origin.reference.startswith(TERMINAL)]
            return [ask for ask in asks if ask.session is None and not ask.origin.reference.startswith(TERMINAL)]

        return HubContext(self._hub.clock, self._context_of, self._around, left_open, lambda: self._hub.trouble)

    async def _context_of(self, directory: str) -> DirectoryContext:
        project = innermost(await insist(self._hub.store.projects, log), directory)
        root = project.path if project else directory
        named = project.id if project else None if directory == _NOWHERE else directory
        return DirectoryContext(named, self._hub.pool.options(project, root), root)

    def _around(self, directory: str, where: DirectoryContext) -> Surroundings:
        stricter = self._hub.pool.own_file(where.root).rules
        return surroundings.around(directory, "default", where.options, stricter, where.root)


class _SdkLoader:
    """Imports the SDK when the first agent calls: it takes a second and 40 MB, and most hubs never need it."""

    def __init__(self, agent_calls: AgentCalls, closing: asyncio.Event) -> None:
        self._agent_calls = agent_calls
        self._closing = closing
        self._wanted = asyncio.Event()
        self._sdk: asyncio.Future[McpSdk] = asyncio.get_running_loop().create_future()
        # Its own task: the SDK's manager must be left by the task that entered it.
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def sdk(self) -> "McpSdk":
        self._wanted.set()
        return await asyncio.shield(self._sdk)

    async def _run(self) -> None:
        await self._wanted.wait()
        try:
            module = await asyncio.to_thread(importlib.import_module, "handraise.api.mcp_sdk")
            kind: type[McpSdk] = module.McpSdk
            async with kind(self._agent_calls, self._closing) as sdk:
                self._sdk.set_result(sdk)
                await asyncio.Event().wait()
        except Exception as error:  # otherwise every call would wait for it
            if not self._sdk.done():
                self._sdk.set_exception(error)
            raise


def _unhex(spelled: str) -> str:
    try:
        directory = bytes.fromhex(spelled).decode()
    except ValueError:
        return _NOWHERE
    return os.path.realpath(directory) if os.path.isabs(directory) and "\0" not in directory else _NOWHERE


def _random_name() -> str:
    return os.urandom(16).hex()
