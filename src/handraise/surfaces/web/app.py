"""The application: the table of ways behind the door, and the page beside it."""

from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import handraise
from handraise.surfaces.web import administration, asks, guards, sessions
from handraise.surfaces.web.door import Door
from handraise.surfaces.web.entering import Entrance
from handraise.surfaces.web.openapi import document
from handraise.surfaces.web.page import Page
from handraise.surfaces.web.stream import Streams
from handraise.surfaces.web.visit import Visit, Way, answer, failed


class WebApp:
    """An ASGI application. `ways` is the whole API; `streams` end when their `closing` is set."""

    def __init__(
        self, door: Door, entrance: Entrance, streams: Streams, page: Page, more: tuple[Way, ...] = ()
    ) -> None:
        self.streams = streams
        self.answered: Counter[int] = Counter()
        """How many answers had which status."""
        self.ways: tuple[Way, ...] = (
            *entrance.ways(),
            *sessions.WAYS,
            *asks.WAYS,
            *streams.ways(),
            *administration.WAYS,
            *more,
            Way("GET", "/api/openapi.json", None, self._openapi, "This document", squeezes=True),
        )
        self._door = door
        self._page = page
        self.routes = [_route(door, way) for way in self.ways]
        self._app = Starlette(routes=self.routes, exception_handlers={HTTPException: self._no_such_way})
        self._app.router.redirect_slashes = False
        self._app.router.default = self._otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_counted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.answered[message["status"]] += 1
            await send(message)

        if self._is_called_by_its_name(scope):
            await self._app(scope, receive, send_counted)
        else:
            told = failed(421, "wrong_host", "This hub is not called by that name; see [web] allowed_hosts.")
            await told(scope, receive, send_counted)

    def _is_called_by_its_name(self, scope: Scope) -> bool:
        """Before anything else: under a name that somebody pointed at us, there is not even a page."""
        if "handraise.peer" in scope.get("extensions", {}):
            return True
        named = Request(scope).headers.getlist("host")
        return len(named) == 1 and guards.host_is_ours(named[0], self._door.hosts)

    async def _otherwise(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whatever is no way: a file of the page, or any address that the page itself makes sense of."""
        path = scope["path"].removeprefix("/")
        response: Response | None = None
        if scope["method"] in ("GET", "HEAD"):
            accepts = Request(scope).headers.get("accept-encoding", "")
            response = self._page.find(path, accepts)
            if response is None and not path.startswith("api/"):
                response = self._page.index(accepts=accepts)
        response = response or failed(404, "not_found", "There is nothing here.")
        await response(scope, receive, send)

    async def _no_such_way(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status != 405:
            return failed(status, "not_found", "There is nothing here.")
        response = failed(405, "method_not_allowed", f"{request.method} does nothing at {request.url.path[:200]}.")
        response.headers["allow"] = ", ".join(self._methods(request.scope["path"]))
        return response

    def _methods(self, path: str) -> list[str]:
        """All that can be done at a path: several ways may have it, each with a method of its own."""
        return sorted({name for each in self.routes if each.path_regex.match(path) for name in each.methods or ()})

    async def _openapi(self, _: Visit) -> Response:
        return answer(document(self.ways, handraise.__version__, self._door.cookie))


def _route(door: Door, way: Way) -> Route:
    made = Route(way.path, _behind(door, way), methods=[way.method])
    # What only wants to look at the head of an answer must not spend a one-time code, nor hold a stream open.
    made.methods = {way.method}
    return made


def _behind(door: Door, way: Way) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await door.enter(way, request)

    return endpoint
