"""Logging in and out: by the link that the hub printed, or by pasting a token."""

import asyncio
from collections.abc import Collection
from http.cookies import SimpleCookie
from secrets import token_urlsafe
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

import handraise
from handraise.desk.gate import BROWSER_LIFE, Made
from handraise.model.actors import seat_of
from handraise.model.tokens import Role
from handraise.surfaces.web import shapes
from handraise.surfaces.web.door import Unreachable, seat_cookie
from handraise.surfaces.web.forwarded import HEADER, address_of, client_of
from handraise.surfaces.web.limits import Attempts
from handraise.surfaces.web.page import Page
from handraise.surfaces.web.visit import Parameter, Visit, Way, answer, failed

_LARGEST_LOGIN = 4096
_SEAT_LIFE = 400 * 24 * 3600
"""Seconds; no browser keeps a cookie for longer."""
_ONE_TIME = (Parameter("code", "the one-time code"),)


class Entrance:
    """Counts tries, so that nobody can guess for long. `secure` is for hubs that speak TLS; what `proxies` say of where
    a request comes from is believed."""

    def __init__(
        self,
        page: Page,
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

    async def by_link(self, visit: Visit) -> Response:
        code = visit.text("code")
        if code is None:
            return self._page.index() or failed(401, "login_needed", "Open the link that the hub printed.")
        try:
            made = await self._login(visit, code)
        except Unreachable as error:
            return self._page.index(error.status) or failed(error.status, error.code, str(error))
        response = RedirectResponse("/", 303)
        self._remember(response, made.secret, visit.gate.seconds_left(made.token))
        self._give_seat(response, "" if visit.desk.person.seat else token_urlsafe(16))
        return response

    async def by_secret(self, visit: Visit) -> Response:
        made = await self._login(visit, visit.body(shapes.Login).secret.strip())
        response = self._told(visit, made.token.name, made.token.role, "web")
        self._remember(response, made.secret, visit.gate.seconds_left(made.token))
        return response

    async def leave(self, visit: Visit) -> Response:
        await visit.gate.logout(visit.visitor, visit.desk.source)
        response = answer(shapes.Done())
        response.delete_cookie(self._cookie, path="/", secure=self._secure, httponly=True, samesite="lax")
        return response

    async def me(self, visit: Visit) -> Response:
        return self._told(visit, visit.desk.person.name, visit.visitor.role, visit.desk.source)

    async def health(self, _: Visit) -> Response:
        return answer(shapes.Health(ok=True, version=handraise.__version__, sandbox=not self._no_sandbox))

    async def make_link(self, visit: Visit) -> Response:
        code = await visit.gate.make_code(visit.desk.person.name, "admin", visit.desk.person, visit.desk.source)
        return answer(shapes.Link(f"{self._base}/login?code={quote(code)}"), 201)

    def ways(self) -> tuple[Way, ...]:
        return (
            Way(
                "GET",
                "/login",
                None,
                self.by_link,
                "Log in by a one-time link; without a code, the page to log in at",
                status=303,
                or_status=200,
                parameters=_ONE_TIME,
                media="text/html",
            ),
            Way(
                "POST",
                "/api/login",
                None,
                self.by_secret,
                "Log in by a token or code",
                shapes.Login,
                shapes.Me,
                largest=_LARGEST_LOGIN,
            ),
            Way("POST", "/api/logout", "viewer", self.leave, "Log out", gives=shapes.Done),
            Way("GET", "/api/health", None, self.health, "The hub is up", gives=shapes.Health),
            Way("GET", "/api/me", "viewer", self.me, "Who I am here", gives=shapes.Me),
            Way(
                "POST",
                "/api/login-link",
                "admin",
                self.make_link,
                "A link that logs one browser in",
                gives=shapes.Link,
                status=201,
            ),
        )

    async def _login(self, visit: Visit, secret: str) -> Made:
        address = self._address(visit)
        client = client_of(address)
        now = asyncio.get_running_loop().time()
        leave = self._attempts.begin(client, now)
        made = await visit.gate.login(secret, address) if leave != "none" else None
        if made is not None:
            self._attempts.forgive(client, now)
            return made
        await visit.gate.refused("to log in", visit.visitor, "web", address=address)
        if leave != "free":
            raise Unreachable(429, "too_many_tries", "Too many failed logins; wait a minute.")
        raise Unreachable(401, "unknown_token", "This link or token is not good, or was used before.")

    def _told(self, visit: Visit, name: str, role: Role, source: str) -> Response:
        """Who somebody is here. A browser that has no seat yet gets one."""
        fresh = "" if visit.desk.person.seat or source != "web" else token_urlsafe(16)
        seat = visit.desk.person.seat or seat_of(fresh)
        response = answer(shapes.Me(name, role, source, seat, self._no_sandbox))
        self._give_seat(response, fresh)
        return response

    def _address(self, visit: Visit) -> str:
        request = visit.request
        if request.client is None:
            return "this machine"
        return address_of(request.client.host, request.headers.getlist(HEADER), self._proxies)

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
