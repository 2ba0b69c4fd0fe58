"""The ASGI application: the table of routes behind the guard, and the page."""

from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette import routing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

import handraise
from handraise.api import administration, asks, machines, origins, sessions
from handraise.api.guard import ApiGuard
from handraise.api.login import LoginRoutes
from handraise.api.openapi import document
from handraise.api.requests import ApiRequest, Route, answer, failed
from handraise.api.static import StaticPage
from handraise.api.stream import Streams
from handraise.texts import t


class WebApp:
    """An ASGI application. `routes` is the whole API; `streams` end when their `closing` is set."""

    def __init__(
        self, guard: ApiGuard, login: LoginRoutes, streams: Streams, page: StaticPage, more: tuple[Route, ...] = ()
    ) -> None:
        self.streams = streams
        self.answered: Counter[int] = Counter()
        """The number of responses by status."""
        self.routes: tuple[Route, ...] = (
            *login.routes(),
            *sessions.ROUTES,
            *asks.ROUTES,
            *machines.ROUTES,
            *streams.routes(),
            *administration.ROUTES,
            *more,
            Route("GET", "/api/openapi.json", None, self._openapi, "Get this document", compress=True),
        )
        self._guard = guard
        self._page = page
        self.served = [_route(guard, route) for route in self.routes]
        self._app = Starlette(routes=self.served, exception_handlers={HTTPException: self._no_such_route})
        self._app.router.redirect_slashes = False
        self._app.router.default = self._otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_counted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.answered[message["status"]] += 1
            await send(message)

        if self._is_for_us(scope):
            await self._app(scope, receive, send_counted)
        else:
            response = failed(421, "wrong_host", t("error.host"))
            await response(scope, receive, send_counted)

    def _is_for_us(self, scope: Scope) -> bool:
        """Checked first: under a host name that isn't ours (DNS rebinding) there isn't even a page."""
        if "handraise.peer" in scope.get("extensions", {}):
            return True
        hosts = Request(scope).headers.getlist("host")
        return len(hosts) == 1 and origins.host_is_ours(hosts[0], self._guard.hosts)

    async def _otherwise(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Anything that isn't a route: a file of the page, or a path that the page itself handles."""
        path = scope["path"].removeprefix("/")
        response: Response | None = None
        if scope["method"] in ("GET", "HEAD"):
            accepts = Request(scope).headers.get("accept-encoding", "")
            response = self._page.find(path, accepts)
            if response is None and not path.startswith("api/"):
                response = self._page.index(accepts=accepts)
        response = response or failed(404, "not_found", t("error.nothing_here"))
        await response(scope, receive, send)

    async def _no_such_route(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status != 405:
            return failed(status, "not_found", t("error.nothing_here"))
        response = failed(405, "method_not_allowed", f"{request.method} isn't supported at {request.url.path[:200]}.")
        response.headers["allow"] = ", ".join(self._methods(request.scope["path"]))
        return response

    def _methods(self, path: str) -> list[str]:
        """All methods of a path: several routes may share it, each with its own method."""
        return sorted({name for each in self.served if each.path_regex.match(path) for name in each.methods or ()})

    async def _openapi(self, _: ApiRequest) -> Response:
        return answer(document(self.routes, handraise.__version__, self._guard.cookie))


def _route(guard: ApiGuard, route: Route) -> routing.Route:
    made = routing.Route(route.path, _behind(guard, route), methods=[route.method])
    # HEAD must not use up a one-time code or hold a stream open.
    made.methods = {route.method}
    return made


def _behind(guard: ApiGuard, route: Route) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await guard.enter(route, request)

    return endpoint
