"""Signing in and out: with the link that the hub printed, or with a token."""

import asyncio
from collections.abc import Callable, Collection
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
from handraise.auth import BROWSER_LIFE, IssuedToken
from handraise.model.actors import seat_of
from handraise.model.tokens import Role
from handraise.model.tools import TOOL_KINDS
from handraise.workspace.hook_offer import HookOffer

_LARGEST_LOGIN = 4096
_SEAT_LIFE = 400 * 24 * 3600
"""Seconds. Browsers keep no cookie longer."""
_ONE_TIME = (Parameter("code", "The one-time code"),)


class LoginRoutes:
    """Limits failed attempts. `secure` is for hubs with TLS; `proxies` are trusted to name a request's address."""

    def __init__(
        self,
        page: StaticPage,
        *,
        secure: bool,
        base: str,
        cookie: str,
        proxies: Collection[str] = frozenset(),
        offer: HookOffer | None = None,
        no_sandbox: str = "",
        unsafe_claude: Callable[[], str] = lambda: "",
        telegram_trouble: Callable[[], str] = lambda: "",
        hub_trouble: Callable[[], str] = lambda: "",
        shared: bool = False,
    ) -> None:
        """`no_sandbox` says why there is no sandbox; empty if there is one. `unsafe_claude` is a version.

        `shared`: sessions may run on other machines.
        """
        self._attempts = Attempts()
        self._proxies = proxies
        self._page = page
        self._secure = secure
        self._base = base
        self._cookie = cookie
        self._offer = offer
        self._no_sandbox = no_sandbox
        self._unsafe_claude = unsafe_claude
        self._telegram_trouble = telegram_trouble
        self._hub_trouble = hub_trouble
        self._shared = shared

    async def by_link(self, request: ApiRequest) -> Response:
        code = request.text("code")
        if code is None:
            return self._page.index() or failed(401, "login_needed", texts.t("error.sign_in"))
        try:
            made = await self._login(request, code, texts.t("error.link"))
        except AccessDenied as error:
            return self._page.index(error.status) or failed(error.status, error.code, str(error))
        response = RedirectResponse("/", 303)
        self._remember(response, made.secret, request.auth.seconds_left(made.token))
        self._give_seat(response, "" if request.desk.person.seat else token_urlsafe(16))
        return response

    async def by_secret(self, request: ApiRequest) -> Response:
        secret = request.body(schemas.Login).secret.strip()
        made = await self._login(request, secret, texts.t("error.secret"))
        response = self._me(request, made.token.name, made.token.role, "web")
        self._remember(response, made.secret, request.auth.seconds_left(made.token))
        return response

    async def leave(self, request: ApiRequest) -> Response:
        await request.auth.logout(request.principal, request.desk.source)
        response = answer(schemas.Done())
        response.delete_cookie(self._cookie, path="/", secure=self._secure, httponly=True, samesite="lax")
        return response

    async def me(self, request: ApiRequest) -> Response:
        return self._me(request, request.desk.person.name, request.principal.role, request.desk.source)

    async def look(self, _: ApiRequest) -> Response:
        known = texts.language() == texts.ENGLISH  # the page has English with it
        return answer(schemas.LoginPage(texts.language(), {} if known else texts.whole()))

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
                "Sign in with a one-time link. Without a code: the sign-in page",
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
                "Sign in with a token or a one-time code",
                schemas.Login,
                schemas.Me,
                largest=_LARGEST_LOGIN,
            ),
            Route(
                "GET",
                "/api/login",
                None,
                self.look,
                "Get the language and the texts of the sign-in page",
                returns=schemas.LoginPage,
                compress=True,
            ),
            Route("POST", "/api/logout", "viewer", self.leave, "Sign out", returns=schemas.Done),
            Route("GET", "/api/health", None, self.health, "Check that the hub is up", returns=schemas.Health),
            Route("GET", "/api/texts", "viewer", self.texts, "Get every text, by its key", compress=True),
            Route("GET", "/api/me", "viewer", self.me, "Get your name, role and seat", returns=schemas.Me),
            Route(
                "POST",
                "/api/login-link",
                "admin",
                self.make_link,
                "Create a one-time sign-in link",
                returns=schemas.Link,
                status=201,
            ),
        )

    async def _login(self, request: ApiRequest, secret: str, wrong: str) -> IssuedToken:
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
            raise AccessDenied(429, "too_many_tries", texts.t("error.too_many_sign_ins"))
        raise AccessDenied(401, "unknown_token", wrong)

    def _me(self, request: ApiRequest, name: str, role: Role, source: str) -> Response:
        """Who the caller is. A browser without a seat gets one."""
        fresh = "" if request.desk.person.seat or source != "web" else token_urlsafe(16)
        seat = request.desk.person.seat or seat_of(fresh)
        unsafe = self._unsafe_claude()
        response = answer(
            schemas.Me(
                name,
                role,
                source,
                seat,
                self._no_sandbox,
                unsafe,
                self._telegram_trouble(),
                self._hub_trouble(),
                texts.language(),
                role == "admin" and self._offer is not None and self._offer.is_open,
                TOOL_KINDS,
                self._shared,
            )
        )
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
        attributes = cookie[name]
        attributes["path"] = "/"
        attributes["httponly"] = True
        attributes["samesite"] = "lax"
        attributes["max-age"] = seconds
        if self._secure:
            attributes["secure"] = True
        response.headers.append("set-cookie", cookie.output(header="").strip())
