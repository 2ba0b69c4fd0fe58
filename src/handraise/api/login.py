"""Logging in and out: by the link that the hub printed, or by pasting a token."""

import asyncio
from collections.abc import Collection
from http.cookies import SimpleCookie
from secrets import token_urlsafe
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

import handraise
from handraise import texts
from handraise.api import schemas
from handraise.api.guard import AccessDenied, seat_cookie
from handraise.api.limits import Attempts
from handraise.api.origins import HEADER, address_of, client_of
from handraise.api.requests import ApiRequest, Parameter, Route, answer, failed
from handraise.api.static import StaticPage
from handraise.auth.auth import BROWSER_LIFE, IssuedToken
from handraise.model.actors import seat_of
from handraise.model.tokens import Role

_LARGEST_LOGIN = 4096
_SEAT_LIFE = 400 * 24 * 3600
"""Seconds; no browser keeps a cookie for longer."""
_ONE_TIME = (Parameter("code", "the one-time code"),)


class LoginRoutes:
    """Counts tries, so that nobody can guess for long. `secure` is for hubs that speak TLS; what `proxies` say of where
    a request comes from is believed."""

    def __init__(
        self,
        page: StaticPage,
        *,
        secure: bool,
        base: str,
        cookie: str,
        proxies: Collection[str] = frozenset(),
        no_sandbox: str = "",
    ) -> None:
        """`no_sandbox` says why Claudes cannot be sandboxed, where they cannot."""
        self._attempts = Attempts()
        self._proxies = proxies
        self._page = page
        self._secure = secure
        self._base = base
        self._cookie = cookie
        self._no_sandbox = no_sandbox

    async def by_link(self, request: ApiRequest) -> Response:
        code = request.text("code")
        if code is None:
            return self._page.index() or failed(401, "login_needed", "Open the link that the hub printed.")
        try:
            made = await self._login(request, code)
        except AccessDenied as error:
            return self._page.index(error.status) or failed(error.status, error.code, str(error))
        response = RedirectResponse("/", 303)
        self._remember(response, made.secret, request.auth.seconds_left(made.token))
        self._give_seat(response, "" if request.desk.person.seat else token_urlsafe(16))
        return response

    async def by_secret(self, request: ApiRequest) -> Response:
        made = await self._login(request, request.body(schemas.Login).secret.strip())
        response = self._told(request, made.token.name, made.token.role, "web")
        self._remember(response, made.secret, request.auth.seconds_left(made.token))
        return response

    async def leave(self, request: ApiRequest) -> Response:
        await request.auth.logout(request.principal, request.desk.source)
        response = answer(schemas.Done())
        response.delete_cookie(self._cookie, path="/", secure=self._secure, httponly=True, samesite="lax")
        return response

    async def me(self, request: ApiRequest) -> Response:
        return self._told(request, request.desk.person.name, request.principal.role, request.desk.source)

    async def texts(self, _: ApiRequest) -> Response:
        return answer(texts.whole())

    async def health(self, _: ApiRequest) -> Response:
        return answer(schemas.Health(ok=True, version=handraise.__version__, sandbox=not self._no_sandbox))

    async def make_link(self, request: ApiRequest) -> Response:
        code = await request.auth.make_code(request.desk.person.name, "admin", request.desk.person, request.desk.source)
        return answer(schemas.Link(f"{self._base}/login?code={quote(code)}"), 201)

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "GET",
                "/login",
                None,
                self.by_link,
                "Log in by a one-time link; without a code, the page to log in at",
                status=303,
                alternate_status=200,
                parameters=_ONE_TIME,
                media="text/html",
            ),
            Route(
                "POST",
                "/api/login",
                None,
                self.by_secret,
                "Log in by a token or code",
                schemas.Login,
                schemas.Me,
                largest=_LARGEST_LOGIN,
            ),
            Route("POST", "/api/logout", "viewer", self.leave, "Log out", returns=schemas.Done),
            Route("GET", "/api/health", None, self.health, "The hub is up", returns=schemas.Health),
            Route("GET", "/api/texts", "viewer", self.texts, "Every text that people read, by its key", compress=True),
            Route("GET", "/api/me", "viewer", self.me, "Who I am here", returns=schemas.Me),
            Route(
                "POST",
                "/api/login-link",
                "admin",
                self.make_link,
                "A link that logs one browser in",
                returns=schemas.Link,
                status=201,
            ),
        )

    async def _login(self, request: ApiRequest, secret: str) -> IssuedToken:
        address = self._address(request)
        client = client_of(address)
        now = asyncio.get_running_loop().time()
        leave = self._attempts.begin(client, now)
        made = await request.auth.login(secret, address) if leave != "none" else None
        if made is not None:
            self._attempts.forgive(client, now)
            return made
        await request.auth.refused("to log in", request.principal, "web", address=address)
        if leave != "free":
            raise AccessDenied(429, "too_many_tries", "Too many failed logins; wait a minute.")
        raise AccessDenied(401, "unknown_token", "This link or token is not good, or was used before.")

    def _told(self, request: ApiRequest, name: str, role: Role, source: str) -> Response:
        """Who somebody is here. A browser that has no seat yet gets one."""
        fresh = "" if request.desk.person.seat or source != "web" else token_urlsafe(16)
        seat = request.desk.person.seat or seat_of(fresh)
        response = answer(schemas.Me(name, role, source, seat, self._no_sandbox, texts.language()))
        self._give_seat(response, fresh)
        return response

    def _address(self, request: ApiRequest) -> str:
        client = request.http.client
        if client is None:
            return "this machine"
        return address_of(client.host, request.http.headers.getlist(HEADER), self._proxies)

    def _remember(self, response: Response, secret: str, seconds: float | None) -> None:
        longest = BROWSER_LIFE.total_seconds()
        self._set(response, self._cookie, secret, int(min(longest, longest if seconds is None else seconds)))

    def _give_seat(self, response: Response, fresh: str) -> None:
        if fresh:
            self._set(response, seat_cookie(self._cookie), fresh, _SEAT_LIFE)

    def _set(self, response: Response, name: str, value: str, seconds: int) -> None:
        cookie: SimpleCookie = SimpleCookie()
        cookie[name] = quote(value)
        kept = cookie[name]
        kept["path"] = "/"
        kept["httponly"] = True
        kept["samesite"] = "lax"
        kept["max-age"] = seconds
        if self._secure:
            kept["secure"] = True
        response.headers.append("set-cookie", cookie.output(header="").strip())
