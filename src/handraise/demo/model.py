"""The scripted model: a Messages API on loopback. Only performs what parts decide; binds 127.0.0.1 and nothing else.

A part is a script and a run key, and each has its own base URL. Whoever comes to the same URL again (a resumed
Claude, say) goes on in the same running script.
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
"""A run key: every conversation that comes to the URL has a run of its own."""
_SHUTDOWN_SECONDS = 2


class UnknownScript(LookupError):
    """No script has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no script is called {name!r}")
        self.name = name


class ConnectionCut(Exception):
    """A reply was broken off, as its script wanted or because the model closes."""


class ScriptedModel:
    """Plays scripts to every Claude that is pointed at one of its URLs, while it is entered.

    Every pause in a script is multiplied by `stretch`; 0 leaves them all out.
    """

    def __init__(self, scripts: Mapping[str, Scripted], *, stretch: float = 1) -> None:
        self._scripts = dict(scripts)
        self._stretch = stretch
        self._parts: dict[tuple[str, str], RunScript] = {}
        self._unread: list[str] = []
        self._held: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._closing = asyncio.Event()
        self._exits = contextlib.AsyncExitStack()
        self._port = 0

    @property
    def errors(self) -> list[str]:
        """What scripts did wrong, and what Claude asked that no script expected. Empty when all went as written."""
        return [*self._unread, *(error for part in self._parts.values() for error in part.errors)]

    def url(self, name: str, run: str = "1") -> str:
        """The base URL for one Claude; another run key starts the same script afresh."""
        self._part(name, run)
        return f"http://{LOOPBACK}:{self._port}/play/{name}/{run}"

    def requests(self, name: str, run: str = "1") -> tuple[Request, ...]:
        """The last requests of a part, side requests included, oldest first."""
        return tuple(self._part(name, run).requests)

    async def held(self, name: str) -> None:
        """Waits until the first reply has come to `hold(name)`; the caller sets the deadline."""
        await self._held[name].wait()

    def release(self, name: str) -> None:
        """Lets every reply pass `hold(name)`, those that come later too."""
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
        # The task group is not told what was raised, or it would wrap that in a group of its own.
        await self._exits.aclose()

    def _close(self, server: uvicorn.Server) -> None:
        self._closing.set()
        for released in self._released.values():
            released.set()
        server.should_exit = True

    def _part(self, name: str, run: str) -> RunScript:
        if name not in self._scripts:
            raise UnknownScript(name)
        if (name, run) not in self._parts:
            self._parts[name, run] = RunScript(f"{name}/{run}", self._scripts[name])
        return self._parts[name, run]

    def _application(self) -> Starlette:
        base = "/play/{name}/{run}"
        return Starlette(
            routes=[
                Route(f"{base}/v1/messages", self._speak, methods=["POST"]),
                Route(f"{base}/v1/messages/count_tokens", _count_tokens, methods=["POST"]),
                # Claude greets its API (`HEAD /api/hello`) and may look for more; nothing there is needed.
                Route("/{rest:path}", _nod, methods=["GET", "HEAD", "POST"]),
            ]
        )

    async def _speak(self, http: HttpRequest) -> Response:
        try:
            request = Request.read(await http.body(), http.headers)
            run = http.path_params["run"]
            part = self._part(http.path_params["name"], request.session if run == EACH_SESSION else run)
        except (UnknownScript, ValueError) as mistake:
            self._unread.append(f"{http.url.path}: {mistake}")
            return _refuse(str(mistake))
        given = part.reply_to(request)
        return StreamingResponse(
            self._perform(reply.beats(given, request)),
            status_code=reply.status(given, streamed=request.streamed),
            headers=reply.headers(given, streamed=request.streamed),
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
    """A server that leaves the signals to the program it runs in."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _UnlessCut(logging.Filter):
    """Drops what uvicorn logs about connections that were broken on purpose."""

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
    return JSONResponse({"input_tokens": 1 + len(await http.body()) // reply.LETTERS_A_TOKEN})


async def _nod(http: HttpRequest) -> Response:
    return JSONResponse({}) if http.method in ("GET", "HEAD") else _refuse(f"nothing at {http.url.path}")


def _refuse(reason: str) -> Response:
    return JSONResponse({"type": "error", "error": {"type": "not_found_error", "message": reason}}, 404)
