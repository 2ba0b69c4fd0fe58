"""Logging in and out: by the link that the hub printed, or by pasting a token."""

import asyncio
from http.cookies import SimpleCookie
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from handraise.desk.gate import BROWSER_LIFE, Made
from handraise.surfaces.web import shapes
from handraise.surfaces.web.door import COOKIE, Unreachable
from handraise.surfaces.web.limits import Attempts
from handraise.surfaces.web.visit import Parameter, Visit, Way, answer


class Entrance:
    """Counts failures, so that nobody can guess for long. `secure` is for hubs that speak TLS."""

    def __init__(self, *, secure: bool, base: str) -> None:
        self._attempts = Attempts()
        self._secure = secure
        self._base = base

    async def by_link(self, visit: Visit) -> Response:
        made = await self._login(visit, visit.text("code") or "")
        response = RedirectResponse("/", 303)
        self._remember(response, made)
        return response

    async def by_secret(self, visit: Visit) -> Response:
        made = await self._login(visit, visit.body(shapes.Login).secret.strip())
        response = answer(shapes.Me(made.token.name, made.token.role, "web"))
        self._remember(response, made)
        return response

    async def leave(self, visit: Visit) -> Response:
        if visit.visitor.token is not None:
            await visit.gate.revoke(visit.visitor.token, visit.desk.person, visit.desk.source)
        response = answer(shapes.Done())
        response.delete_cookie(COOKIE, path="/", secure=self._secure, httponly=True, samesite="lax")
        return response

    async def me(self, visit: Visit) -> Response:
        return answer(shapes.Me(visit.desk.person.name, visit.visitor.role, visit.desk.source))

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
                "Log in by a one-time link",
                parameters=(Parameter("code", "the code"),),
                media="text/html",
                status=303,
            ),
            Way("POST", "/api/login", None, self.by_secret, "Log in by a token or code", shapes.Login, shapes.Me),
            Way("POST", "/api/logout", "viewer", self.leave, "Log out", gives=shapes.Done),
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
        address = visit.request.client.host if visit.request.client else "unknown"
        now = asyncio.get_running_loop().time()
        if not self._attempts.allowed(address, now):
            raise Unreachable(429, "too_many_tries", "Too many failed logins; wait a minute.")
        made = await visit.gate.login(secret) if secret else None
        if made is None:
            self._attempts.failed(address, now)
            raise Unreachable(401, "unknown_token", "This link or token is not good, or was used before.")
        return made

    def _remember(self, response: Response, made: Made) -> None:
        cookie: SimpleCookie = SimpleCookie()
        cookie[COOKIE] = quote(made.secret)
        cookie[COOKIE]["path"] = "/"
        cookie[COOKIE]["httponly"] = True
        cookie[COOKIE]["samesite"] = "lax"
        cookie[COOKIE]["max-age"] = int(BROWSER_LIFE.total_seconds())
        if self._secure:
            cookie[COOKIE]["secure"] = True
        response.headers.append("set-cookie", cookie.output(header="").strip())
