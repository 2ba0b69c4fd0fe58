"""The ASGI application: the table of routes behind the guard, and the page."""

from collections import Counter
from collections.abc import Iterable, MutableMapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

import handraise
from handraise.api import administration, asks, machines, origins, sessions
from handraise.api.guard import ApiGuard
from handraise.api.login import LoginRoutes
from handraise.api.openapi import document
from handraise.api.requests import ApiRequest, Route, answer, failed
from handraise.api.route_table import RouteTable
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
        self._table = RouteTable(self.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_counted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.answered[message["status"]] += 1
            await send(message)

        response = await self._respond(scope, receive, send_counted)
        await response(scope, receive, send_counted)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> Response:
        if not self._is_for_us(scope):
            return failed(421, "wrong_host", t("error.host"))
        found = self._table.find(scope["path"])
        if not found:
            return self._otherwise(scope)
        # Each route has one method. HEAD isn't GET: it must not use up a one-time code or hold a stream open.
        if scope["method"] not in found:
            return _not_supported(scope, found)
        route, scope["path_params"] = found[scope["method"]]
        return await self._guard.enter(route, Request(scope, receive, send))

    def _is_for_us(self, scope: Scope) -> bool:
        """Checked first: under a host name that isn't ours (DNS rebinding) there isn't even a page."""
        if "handraise.peer" in scope.get("extensions", {}):
            return True
        hosts = Request(scope).headers.getlist("host")
        return len(hosts) == 1 and origins.host_is_ours(hosts[0], self._guard.hosts)

    def _otherwise(self, scope: Scope) -> Response:
        """Anything that isn't a route: a file of the page, or a path that the page itself handles."""
        path = scope["path"].removeprefix("/")
        response: Response | None = None
        if scope["method"] in ("GET", "HEAD"):
            accepts = Request(scope).headers.get("accept-encoding", "")
            response = self._page.find(path, accepts)
            if response is None and not path.startswith("api/"):
                response = self._page.index(accepts=accepts)
        return response or failed(404, "not_found", t("error.nothing_here"))

    async def _openapi(self, _: ApiRequest) -> Response:
        return answer(document(self.routes, handraise.__version__, self._guard.cookie))


def _not_supported(scope: Scope, methods: Iterable[str]) -> Response:
    message = f"{scope['method']} isn't supported at {Request(scope).url.path[:200]}."
    response = failed(405, "method_not_allowed", message)
    response.headers["allow"] = ", ".join(sorted(methods))
    return response
