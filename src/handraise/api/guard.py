"""Guards every route: who is calling, whether they may, and how a refusal reads."""

import asyncio
import logging
from collections.abc import Callable, Collection
from urllib.parse import unquote

from msgspec import MsgspecError, Struct, field
from starlette.requests import Request
from starlette.responses import Response

from handraise.api import origins, schemas
from handraise.api.cards import AskCards
from handraise.api.limits import Guesses
from handraise.api.long_requests import LongRequest, LongRequests, OpenRequest, while_allowed
from handraise.api.origins import HEADER, address_of, client_of, spelled
from handraise.api.requests import ApiRequest, BadRequest, Route, answer, failed, receive_body, squeeze, wrong_role
from handraise.auth import Auth, Principal
from handraise.desk import interface
from handraise.hub.desk import LocalDesk
from handraise.model.actors import Person, seat_of
from handraise.model.tokens import Role, hash_of, may
from handraise.texts import t

OWNER = "owner"
Address = tuple[str, int]

log = logging.getLogger("handraise.api")

_LONGEST_SURFACE = 40
_LONGEST_NAME = 200
_RESERVED = ("hub", "rule", "start")
_STATUS: dict[type[interface.DeskError], int] = {
    interface.NotFound: 404,
    interface.Refused: 409,
    interface.Unfit: 422,
    interface.Invalid: 422,
    interface.Conflict: 409,
    interface.TooLate: 410,
    interface.LostPlace: 410,
}


def seat_cookie(cookie: str) -> str:
    """The cookie that tells one browser from another, whatever account is signed in there."""
    return f"{cookie}-seat"


class AccessDenied(Exception):
    """Not from there, or not by this caller."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class TrustedProxy(Struct, frozen=True):
    """A reverse proxy, known by its addresses. Its header, if it has one, says who is calling."""

    header: str | None
    addresses: frozenset[str]
    role: Role = "approver"


class ApiGuard(Struct, frozen=True):
    """`is_agent` says, by both ends of a TCP connection, whether one of our Claudes or its children opened it."""

    desk: LocalDesk
    auth: Auth
    is_agent: Callable[[Address, Address], bool]
    hosts: Collection[str] = ()
    proxy: TrustedProxy | None = None
    cookie: str = "handraise"
    secure: bool = False
    """Whether browsers use TLS."""
    troubles: tuple[type[Exception], ...] = ()
    """Errors of the parts behind the desk that mean "try again later"; the text is a sentence."""
    stays: LongRequests = field(default_factory=LongRequests)
    guesses: Guesses = field(default_factory=Guesses)
    cards: AskCards = field(default_factory=AskCards)

    async def enter(self, route: Route, request: Request) -> Response:
        """Performs a route for callers who may, and tells others why not."""
        try:
            response = await self._perform(route, request)
        except (AccessDenied, BadRequest) as error:
            response = failed(error.status, error.code, str(error))
        except interface.Waiting as error:
            response = answer(schemas.WaitingSchema(str(error)), 202)
        except interface.DeskError as error:
            response = await self._refusal(error)
        except self.troubles as error:
            log.error("%s %s: %s", request.method, route.path, type(error).__name__)  # noqa: TRY400 (known trouble)
            response = failed(503, "unavailable", str(error))
        except MsgspecError:
            log.exception("%s %s: something in the database cannot be read", request.method, route.path)
            response = failed(503, "unavailable", t("error.database"))
        except Exception:  # the outer boundary: any other error is ours, and its text stays inside
            log.exception("%s %s failed", request.method, route.path)
            response = failed(500, "fault", t("error.internal"))
        # The response is for this caller, at this moment.
        response.headers.setdefault("cache-control", "no-store")
        # The route, not the address, which may contain a code and can be of any length.
        log.info("%s %s", request.method, route.path, extra={"status": response.status_code})
        return response

    async def _refusal(self, error: interface.DeskError) -> Response:
        status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 400)
        ask = getattr(error, "ask", None)
        shown = await self.cards.ask(ask, self.desk) if ask is not None else None
        problem = schemas.Problem(error.code, str(error), shown["settlement"] if shown else None, shown)
        return answer(schemas.FailedSchema(problem), status)

    async def _perform(self, route: Route, request: Request) -> Response:
        principal, source, by_cookie = await self._recognise(route, request)
        _check_login(route, principal)
        await self._check_role(route, request, principal, source)
        if route.refuses_agents:
            await self._refuse_agents(route, request, principal, source)
        _check_query(route, request)
        if principal is not _NOBODY:
            request.scope["extensions"]["handraise.let_in"]()
        content = b""
        if not route.authenticates_itself:
            self._check_page(request, source, by_cookie=by_cookie)
            async with while_allowed(principal):
                content = await receive_body(request, route.largest, json_only=by_cookie)
        request.scope["extensions"]["handraise.heard"]()
        seat = (
            request.cookies.get(seat_cookie(self.cookie), "")
            if by_cookie
            else request.headers.get("handraise-seat", "")
        )
        person = Person(principal.person.name, seat_of(seat[:_LONGEST_NAME]))
        desk = self.desk.seat(person, source if by_cookie else _surface(request) or source)
        api_request = ApiRequest(request, principal, desk, self.auth, content, self.cards)
        response = await (self._stay(route, api_request) if route.long_lived else route.endpoint(api_request))
        if route.compress and source != "terminal" and type(response) is Response:
            response = await squeeze(response, request.headers.get("accept-encoding", ""))
        return response

    async def _stay(self, route: Route, api_request: ApiRequest) -> Response:
        principal = api_request.principal
        held = self.stays.hold(principal) if principal is not _NOBODY else OpenRequest()
        try:
            async with while_allowed(principal):
                response = await route.endpoint(api_request)
        except BaseException:
            held.leave()
            raise
        if type(response) is not Response:
            return LongRequest(response, principal, held)
        held.leave()
        return response

    async def _recognise(self, route: Route, request: Request) -> tuple[Principal, str, bool]:
        """Who is calling, from where, and whether only a cookie or a proxy says so."""
        peer = request.scope.get("extensions", {}).get("handraise.peer")
        if peer is not None:
            return _local_process(*peer), "terminal", False
        bearer = request.headers.get("authorization", "")
        if bearer[:7].lower() == "bearer ":
            sender = await self._bearer(request, bearer[7:].strip())
            return await self._by_tcp(request, sender), "api", False
        cookie = None if route.authenticates_itself else request.cookies.get(self.cookie)
        principal = await self.auth.admit(unquote(cookie)) if cookie else None
        if principal is not None and principal.role != "agent":
            return await self._by_tcp(request, principal), "web", True
        proxied = self._behind_proxy(request)
        return (await self._by_tcp(request, proxied) if proxied else _NOBODY), "web", True

    async def _bearer(self, request: Request, secret: str) -> Principal:
        """Who has this token. After too many wrong tokens a client has to wait, as with sign-ins."""
        client = self._client(request)
        now = asyncio.get_running_loop().time()
        hashed = hash_of(secret)
        leave = self.guesses.begin(client, hashed, now)
        principal = await self.auth.admit(secret) if leave != "none" else None
        if principal is not None:
            self.guesses.admit(client, hashed, now)
            return principal
        self.guesses.refuse(hashed)
        if leave != "free":
            raise AccessDenied(429, "too_many_tries", t("error.too_many_tokens"))
        raise AccessDenied(401, "unknown_token", t("error.unknown_token"))

    def _client(self, request: Request) -> str:
        if request.client is None:
            return "this machine"
        proxies = self.proxy.addresses if self.proxy else ()
        return client_of(address_of(request.client.host, request.headers.getlist(HEADER), proxies))

    async def _by_tcp(self, request: Request, principal: Principal) -> Principal:
        """A local process that descends from a Claude is an agent, whatever token or cookie it has found."""
        if principal.role == "agent" or request.client is None:
            return principal
        # Once per connection: the process that opened it stays the same.
        known = request.scope["extensions"]["handraise.known"]
        if "agent" not in known:
            client, server = (request.client.host, request.client.port), request.scope.get("server")
            known["agent"] = server is None or await asyncio.to_thread(self.is_agent, client, (server[0], server[1]))
        return Principal(Person("a tool of Claude"), "agent") if known["agent"] else principal

    def _behind_proxy(self, request: Request) -> Principal | None:
        if self.proxy is None or self.proxy.header is None or request.client is None:
            return None
        if spelled(request.client.host) not in self.proxy.addresses:
            return None
        named = request.headers.getlist(self.proxy.header)
        name = named[0].strip() if len(named) == 1 else ""
        if not 0 < len(name) <= _LONGEST_NAME:
            return None
        return Principal(Person(name), self.proxy.role)

    def _check_page(self, request: Request, source: str, *, by_cookie: bool) -> None:
        if source == "terminal":
            return
        if not origins.may_change(
            request.method, request.headers, by_cookie=by_cookie, allowed=self.hosts, secure=self.secure
        ):
            raise AccessDenied(403, "foreign_page", t("error.foreign_page"))

    async def _check_role(self, route: Route, request: Request, principal: Principal, source: str) -> None:
        if route.role is not None and not may(principal.role, route.role):
            tried = f"{request.method} {route.path}"
            await self.auth.refused(tried, principal, source, **_about(route, request))
            raise AccessDenied(403, "not_allowed", wrong_role(route.role, principal.role))

    async def _refuse_agents(self, route: Route, request: Request, principal: Principal, source: str) -> None:
        caller = await self._by_tcp(request, principal)
        if caller.role == "agent":
            await self.auth.refused(f"{request.method} {route.path}", caller, source, **_about(route, request))
            raise AccessDenied(403, "not_allowed", wrong_role("approver", "agent"))


_NOBODY = Principal(Person("nobody"), "viewer")


def _local_process(process: int, is_agent: bool) -> Principal:
    """On the Unix socket: the owner, unless the process is unknown or descends from a Claude."""
    if is_agent:
        return Principal(Person(f"process {process}, a tool of Claude"), "agent")
    return Principal(Person(OWNER), "admin")


def _check_login(route: Route, principal: Principal) -> None:
    if route.role is not None and principal is _NOBODY:
        raise AccessDenied(401, "login_needed", t("error.sign_in_or_token"))


def _check_query(route: Route, request: Request) -> None:
    known = [each.name for each in route.parameters]
    for name in request.query_params:
        if name not in known:
            hint = f"Use: {', '.join(known)}." if known else "This route has none."
            raise BadRequest(f"Unknown parameter {name[:100]!r}. {hint}", 422, "invalid")


def _surface(request: Request) -> str | None:
    """The surface that a client other than a browser names; the hub's own names are reserved."""
    named = request.headers.get("handraise-surface", "")
    is_name = len(named) <= _LONGEST_SURFACE and named.isascii() and named.isidentifier()
    return named.lower() if is_name and named.lower() not in _RESERVED else None


def _about(route: Route, request: Request) -> dict[str, str]:
    """Which ask or session a refused request was about."""
    name = request.path_params.get("id", "")[:100]
    for what in ("ask", "session"):
        if name and route.path.startswith(f"/api/{what}s/"):
            return {what: name}
    return {}
