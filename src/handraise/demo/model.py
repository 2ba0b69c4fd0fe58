"""The scripted model: a Messages API on loopback. Only performs what scripts decide; binds only 127.0.0.1.

A run is a script and a run key, and each has its own base URL. A Claude that comes back to the same URL, for example
after a resume, continues the same run.
"""

import asyncio
import contextlib
import logging
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Self, assert_never

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from handraise.demo import reply
from handraise.demo.pieces import Cut, Hold, Scripted, WaitPiece
from handraise.demo.request import Request
from handraise.demo.run_script import RunScript

LOOPBACK = "127.0.0.1"
EACH_SESSION = "each-session"
"""A run key: every conversation at this URL gets its own run."""
_SHUTDOWN_SECONDS = 2
_PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(model_url: str, home: str) -> dict[str, str]:
    """The whole environment of a Claude that talks to `model_url` alone and keeps its files in `home`."""
    return {
        "PATH": _PATH,
        "HOME": home,
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": model_url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "FORCE_COLOR": "0",
        "NO_PROXY": "127.0.0.1",
        # It lives for a few turns: compiling its code for speed takes more time than it saves.
        "BUN_JSC_useDFGJIT": "0",
        # So does collecting garbage whenever it is idle; it is still collected when memory is needed.
        "BUN_GC_TIMER_DISABLE": "1",
        # Root may use `bypassPermissions` only inside something that calls itself a sandbox.
        "IS_SANDBOX": "1",
    }


class UnknownScript(LookupError):
    """No script has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no script is called {name!r}")
        self.name = name


class ConnectionCut(Exception):
    """A reply was cut off, by its script or because the model closes."""


class ScriptedModel:
    """Plays scripts to every Claude that is pointed at one of its URLs, while it is entered.

    Every pause in a script is multiplied by `stretch`; 0 leaves them all out.
    """

    def __init__(self, scripts: Mapping[str, Scripted], *, stretch: float = 1) -> None:
        self._scripts = dict(scripts)
        self._stretch = stretch
        self._runs: dict[tuple[str, str], RunScript] = {}
        self._unread: list[str] = []
        self._held: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._closing = asyncio.Event()
        self._exits = contextlib.AsyncExitStack()
        self._port = 0

    @property
    def errors(self) -> list[str]:
        """Errors in scripts, and requests that no script expected. Empty if everything went as scripted."""
        return [*self._unread, *(error for run in self._runs.values() for error in run.errors)]

    def url(self, name: str, run: str = "1") -> str:
        """The base URL for one Claude; another run key starts the same script from the beginning."""
        self._run(name, run)
        return f"http://{LOOPBACK}:{self._port}/play/{name}/{run}"

    def requests(self, name: str, run: str = "1") -> tuple[Request, ...]:
        """The last requests of a run, side requests included, oldest first."""
        return tuple(self._run(name, run).requests)

    async def held(self, name: str) -> None:
        """Waits until the first reply reaches `hold(name)`; the caller sets the deadline."""
        await self._held[name].wait()

    def release(self, name: str) -> None:
        """Lets every reply pass `hold(name)`, including later ones."""
        self._released[name].set()

    async def __aenter__(self) -> Self:
        listener = socket.create_server((LOOPBACK, 0))
        self._port = listener.getsockname()[1]
        server = _ModelServer(
            uvicorn.Config(
                self._application(),
                lifespan="off",
                ws="none",
                access_log=False,
                log_config=None,
                timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            )
        )
        self._exits.enter_context(_cuts_unlogged())
        tasks = await self._exits.enter_async_context(asyncio.TaskGroup())
        self._exits.callback(self._close, server)
        tasks.create_task(server.serve(sockets=[listener]))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The error isn't passed to the task group, which would wrap it in an exception group.
        await self._exits.aclose()

    def _close(self, server: uvicorn.Server) -> None:
        self._closing.set()
        for released in self._released.values():
            released.set()
        server.should_exit = True

    def _run(self, name: str, run: str) -> RunScript:
        if name not in self._scripts:
            raise UnknownScript(name)
        if (name, run) not in self._runs:
            self._runs[name, run] = RunScript(f"{name}/{run}", self._scripts[name])
        return self._runs[name, run]

    def _application(self) -> Starlette:
        base = "/play/{name}/{run}"
        return Starlette(
            routes=[
                Route(f"{base}/v1/messages", self._message, methods=["POST"]),
                Route(f"{base}/v1/messages/count_tokens", _count_tokens, methods=["POST"]),
                # Claude calls other endpoints too (`HEAD /api/hello`); it doesn't need their answers.
                Route("/{rest:path}", _other, methods=["GET", "HEAD", "POST"]),
            ]
        )

    async def _message(self, http: HttpRequest) -> Response:
        try:
            request = Request.read(await http.body(), http.headers)
            key = http.path_params["run"]
            run = self._run(http.path_params["name"], request.session if key == EACH_SESSION else key)
        except (UnknownScript, ValueError) as mistake:
            self._unread.append(f"{http.url.path}: {mistake}")
            return _refuse(str(mistake))
        scripted = run.reply_to(request)
        return StreamingResponse(
            self._perform(reply.beats(scripted, request)),
            status_code=reply.status(scripted, streamed=request.streamed),
            headers=reply.headers(scripted, streamed=request.streamed),
        )

    async def _perform(self, beats: Iterator[reply.Beat]) -> AsyncIterator[bytes]:
        for beat in beats:
            match beat:
                case bytes():
                    yield beat
                case WaitPiece(seconds):
                    await self._wait(seconds)
                case Hold(name):
                    await self._hold(name)
                case Cut():
                    raise ConnectionCut
                case _:
                    assert_never(beat)

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._closing.wait(), seconds * self._stretch)
        except TimeoutError:
            return
        raise ConnectionCut

    async def _hold(self, name: str) -> None:
        self._held[name].set()
        if not self._closing.is_set():
            await self._released[name].wait()
        if self._closing.is_set():
            raise ConnectionCut


class _ModelServer(uvicorn.Server):
    """A server that doesn't handle signals: the program it runs in does."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _UnlessCut(logging.Filter):
    """Drops uvicorn's log entries about connections that were cut on purpose."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], ConnectionCut))


@contextlib.contextmanager
def _cuts_unlogged() -> Iterator[None]:
    log, unless_cut = logging.getLogger("uvicorn.error"), _UnlessCut()
    log.addFilter(unless_cut)
    try:
        yield
    finally:
        log.removeFilter(unless_cut)


async def _count_tokens(http: HttpRequest) -> Response:
    return JSONResponse({"input_tokens": 1 + len(await http.body()) // reply.CHARACTERS_PER_TOKEN})


async def _other(http: HttpRequest) -> Response:
    return JSONResponse({}) if http.method in ("GET", "HEAD") else _refuse(f"nothing at {http.url.path}")


def _refuse(reason: str) -> Response:
    return JSONResponse({"type": "error", "error": {"type": "not_found_error", "message": reason}}, 404)
