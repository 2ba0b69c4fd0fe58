"""The application: the table of ways behind the door, the page, and the headers on everything."""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import handraise
from handraise.surfaces.web import administration, asks, guards, sessions, shapes
from handraise.surfaces.web.door import Door, failed
from handraise.surfaces.web.entering import Entrance
from handraise.surfaces.web.openapi import document
from handraise.surfaces.web.stream import Streams
from handraise.surfaces.web.visit import Visit, Way, answer

log = logging.getLogger("handraise.web")


class WebApp:
    """An ASGI application. `ways` is the whole API; `streams` end when their `closing` is set."""

    def __init__(
        self, door: Door, entrance: Entrance, streams: Streams, *, more: tuple[Way, ...] = (), page: Path | None = None
    ) -> None:
        self.streams = streams
        self.ways: tuple[Way, ...] = (
            *entrance.ways(),
            *sessions.WAYS,
            *asks.WAYS,
            *streams.ways(),
            *administration.WAYS,
            *more,
            Way("GET", "/api/health", None, _health, "The hub is up", gives=shapes.Health),
            Way("GET", "/api/openapi.json", None, self._openapi, "This document"),
        )
        self._page = page or Path(str(files("handraise.surfaces.web"))) / "page"
        routes = [Route(way.path, _behind(door, way), methods=[way.method]) for way in self.ways]
        routes += [Route("/{path:path}", self._file, methods=["GET"])]
        self._app: ASGIApp = Starlette(
            routes=routes,
            exception_handlers={HTTPException: _no_such_way, Exception: _our_fault},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_GUARDS]
            await send(message)

        await self._app(scope, receive, send_guarded)

    async def _openapi(self, _: Visit) -> Response:
        return answer(document(self.ways, handraise.__version__))

    async def _file(self, request: Request) -> Response:
        """The built page: names with a hash never change, and any other path is the page itself."""
        wanted = (self._page / request.path_params["path"]).resolve()
        if wanted.is_file() and wanted.is_relative_to(self._page.resolve()):
            hashed = wanted.parent.name == "assets"
            age = "public, max-age=31536000, immutable" if hashed else "no-cache"
            return FileResponse(wanted, headers={"cache-control": age})
        index = self._page / "index.html"
        if request.path_params["path"].startswith("api/") or not index.is_file():
            return failed(404, "not_found", "There is nothing here.")
        return FileResponse(index, headers={"cache-control": "no-cache"})


_GUARDS = [(name.encode(), value.encode()) for name, value in guards.HEADERS.items()]


def _behind(door: Door, way: Way) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await door.enter(way, request)

    return endpoint


async def _health(_: Visit) -> Response:
    return answer(shapes.Health(ok=True, version=handraise.__version__))


async def _no_such_way(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 405:
        return failed(405, "method_not_allowed", f"{request.method} does nothing at {request.url.path}.")
    return failed(status, "not_found", "There is nothing here.")


async def _our_fault(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return failed(500, "fault", "Something went wrong inside the hub; its log says what.")
