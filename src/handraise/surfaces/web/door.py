"""The door: who somebody is, whether they may, and how a refusal is told. Nothing inside is reached past it."""

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import ExitStack
from urllib.parse import unquote

from msgspec import MsgspecError, Struct, field
from starlette.requests import Request
from starlette.responses import Response

from handraise.desk import interface
from handraise.desk.gate import Gate, Visitor
from handraise.desk.local import LocalDesk
from handraise.model.actors import Person, seat_of
from handraise.model.asks import ask_as_json
from handraise.model.tokens import Role, hash_of, may
from handraise.surfaces.web import guards, shapes
from handraise.surfaces.web.forwarded import HEADER, address_of, client_of, spelled
from handraise.surfaces.web.limits import Guesses
from handraise.surfaces.web.receiving import receive_body
from handraise.surfaces.web.squeezing import squeeze
from handraise.surfaces.web.staying import Staying, Stays, while_let_in
from handraise.surfaces.web.visit import BadRequest, Visit, Way, answer, failed

OWNER = "owner"
Address = tuple[str, int]

log = logging.getLogger("handraise.web")

_LONGEST_SURFACE = 40
_LONGEST_NAME = 200
_OUR_OWN = ("hub", "rule", "start")
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
    """The name of the cookie that tells one browser from another, whoever is logged in there."""
    return f"{cookie}-seat"


class Unreachable(Exception):
    """Not from here, or not by you."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class TrustedProxy(Struct, frozen=True):
    """A reverse proxy, known by its addresses, that says who somebody is, if it has a header for that."""

    header: str | None
    addresses: frozenset[str]
    role: Role = "approver"


class Door(Struct, frozen=True):
    """`is_agent` tells by both ends of a TCP connection whether a Claude that we run, or its kin, may be at it."""

    desk: LocalDesk
    gate: Gate
    is_agent: Callable[[Address, Address], bool]
    hosts: Collection[str] = ()
    proxy: TrustedProxy | None = None
    cookie: str = "handraise"
    secure: bool = False
    """Whether browsers come by TLS."""
    troubles: tuple[type[Exception], ...] = ()
    """What the parts behind the desk raise when they cannot work for now; the text is a sentence."""
    stays: Stays = field(default_factory=Stays)
    guesses: Guesses = field(default_factory=Guesses)

    async def enter(self, way: Way, request: Request) -> Response:
        """Performs a way for whoever may, and says why to whoever may not."""
        try:
            response = await self._perform(way, request)
        except (Unreachable, BadRequest) as error:
            response = failed(error.status, error.code, str(error))
        except interface.DeskError as error:
            response = _told(error)
        except self.troubles as error:
            log.error("%s %s: %s", request.method, way.path, type(error).__name__)  # noqa: TRY400 (known trouble)
            response = failed(503, "unavailable", str(error))
        except MsgspecError:
            log.exception("%s %s: something that is kept cannot be read", request.method, way.path)
            why = "Something in the database can't be read. Run `handraise doctor`, and restore a backup."
            response = failed(503, "unavailable", why)
        except Exception:  # the outer door: whatever else goes wrong is ours, and is told without its text
            log.exception("%s %s failed", request.method, way.path)
            response = failed(500, "fault", "Something went wrong inside the hub; its log says what.")
        # What is shown here is for who asked, at this moment.
        response.headers.setdefault("cache-control", "no-store")
        # The way and not the address: that may hold a code, and is as long as somebody likes.
        log.info("%s %s", request.method, way.path, extra={"status": response.status_code})
        return response

    async def _perform(self, way: Way, request: Request) -> Response:
        visitor, source, by_cookie = await self._recognise(way, request)
        _check_login(way, visitor)
        await self._check_role(way, request, visitor, source)
        _check_query(way, request)
        if visitor is not _NOBODY:
            request.scope["extensions"]["handraise.let_in"]()
        sent = b""
        if not way.own_guard:
            self._check_page(request, source, by_cookie=by_cookie)
            async with while_let_in(visitor):
                sent = await receive_body(request, way.largest, json_only=by_cookie)
        request.scope["extensions"]["handraise.heard"]()
        seat = (
            request.cookies.get(seat_cookie(self.cookie), "")
            if by_cookie
            else request.headers.get("handraise-seat", "")
        )
        person = Person(visitor.person.name, seat_of(seat[:_LONGEST_NAME]))
        desk = self.desk.seat(person, source if by_cookie else _surface(request) or source)
        visit = Visit(request, visitor, desk, self.gate, sent)
        response = await (self._stay(way, visit) if way.lasts else way.act(visit))
        if way.squeezes and source != "terminal" and type(response) is Response:
            response = await squeeze(response, request.headers.get("accept-encoding", ""))
        return response

    async def _stay(self, way: Way, visit: Visit) -> Response:
        with ExitStack() as held:
            if visit.visitor is not _NOBODY:
                held.enter_context(self.stays.hold(visit.visitor))
            async with while_let_in(visit.visitor):
                response = await way.act(visit)
            return response if type(response) is Response else Staying(response, visit.visitor, held.pop_all())

    async def _recognise(self, way: Way, request: Request) -> tuple[Visitor, str, bool]:
        """Who it is, from where, and whether only a cookie or a proxy says so."""
        peer = request.scope.get("extensions", {}).get("handraise.peer")
        if peer is not None:
            return _neighbour(*peer), "terminal", False
        bearer = request.headers.get("authorization", "")
        if bearer[:7].lower() == "bearer ":
            sender = await self._bearer(request, bearer[7:].strip())
            return await self._by_tcp(request, sender), "api", False
        cookie = None if way.own_guard else request.cookies.get(self.cookie)
        visitor = await self.gate.admit(unquote(cookie)) if cookie else None
        if visitor is not None and visitor.role != "agent":
            return await self._by_tcp(request, visitor), "web", True
        proxied = self._behind_proxy(request)
        return (await self._by_tcp(request, proxied) if proxied else _NOBODY), "web", True

    async def _bearer(self, request: Request, secret: str) -> Visitor:
        """Who sends this token. Who sends one wrong token after the other has to wait, as with logins."""
        client = self._client(request)
        now = asyncio.get_running_loop().time()
        hashed = hash_of(secret)
        leave = self.guesses.begin(client, hashed, now)
        visitor = await self.gate.admit(secret) if leave != "none" else None
        if visitor is not None:
            self.guesses.admit(client, hashed, now)
            return visitor
        self.guesses.refuse(hashed)
        if leave != "free":
            raise Unreachable(429, "too_many_tries", "Too many unknown tokens. Wait a minute.")
        raise Unreachable(401, "unknown_token", "This token is unknown, revoked or expired.")

    def _client(self, request: Request) -> str:
        if request.client is None:
            return "this machine"
        proxies = self.proxy.addresses if self.proxy else ()
        return client_of(address_of(request.client.host, request.headers.getlist(HEADER), proxies))

    async def _by_tcp(self, request: Request, visitor: Visitor) -> Visitor:
        """A process of this machine that descends from a Claude is an agent, whatever token or cookie it has found."""
        if visitor.role == "agent" or request.client is None:
            return visitor
        # Of a connection it is asked once: whoever opened it stays who they are.
        known = request.scope["extensions"]["handraise.known"]
        if "agent" not in known:
            client, server = (request.client.host, request.client.port), request.scope.get("server")
            known["agent"] = server is None or await asyncio.to_thread(self.is_agent, client, (server[0], server[1]))
        return Visitor(Person("a tool of Claude"), "agent") if known["agent"] else visitor

    def _behind_proxy(self, request: Request) -> Visitor | None:
        if self.proxy is None or self.proxy.header is None or request.client is None:
            return None
        if spelled(request.client.host) not in self.proxy.addresses:
            return None
        named = request.headers.getlist(self.proxy.header)
        name = named[0].strip() if len(named) == 1 else ""
        if not 0 < len(name) <= _LONGEST_NAME:
            return None
        return Visitor(Person(name), self.proxy.role)

    def _check_page(self, request: Request, source: str, *, by_cookie: bool) -> None:
        if source == "terminal":
            return
        if not guards.may_change(
            request.method, request.headers, by_cookie=by_cookie, allowed=self.hosts, secure=self.secure
        ):
            raise Unreachable(403, "foreign_page", "Only the hub's own page may change something.")

    async def _check_role(self, way: Way, request: Request, visitor: Visitor, source: str) -> None:
        if way.role is not None and not may(visitor.role, way.role):
            tried = f"{request.method} {way.path}"
            await self.gate.refused(tried, visitor, source, **_about(way, request))
            raise Unreachable(403, "not_allowed", f"The role {visitor.role!r} may not do this; it takes {way.role!r}.")


_NOBODY = Visitor(Person("nobody"), "viewer")


def _neighbour(process: int, is_agent: bool) -> Visitor:
    """On the Unix socket: the owner, unless the process descends from a Claude or cannot be told."""
    if is_agent:
        return Visitor(Person(f"process {process}, a tool of Claude"), "agent")
    return Visitor(Person(OWNER), "admin")


def _told(error: interface.DeskError) -> Response:
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 400)
    ask = getattr(error, "ask", None)
    told = ask_as_json(ask) if ask is not None else None
    problem = shapes.Problem(error.code, str(error), told["settlement"] if told else None, told)
    return answer(shapes.Failed(problem), status)


def _check_login(way: Way, visitor: Visitor) -> None:
    if way.role is not None and visitor is _NOBODY:
        raise Unreachable(401, "login_needed", "Log in first: open the link that the hub printed, or send a token.")


def _check_query(way: Way, request: Request) -> None:
    known = [each.name for each in way.parameters]
    for name in request.query_params:
        if name not in known:
            there_is = f"there is {', '.join(known)}" if known else "there is none"
            raise BadRequest(f"There is no parameter {name[:100]!r} here; {there_is}.", 422, "invalid")


def _surface(request: Request) -> str | None:
    """What a client that is no browser calls itself; the hub's own names are not for others."""
    named = request.headers.get("handraise-surface", "")
    is_name = len(named) <= _LONGEST_SURFACE and named.isascii() and named.isidentifier()
    return named.lower() if is_name and named.lower() not in _OUR_OWN else None


def _about(way: Way, request: Request) -> dict[str, str]:
    """Which ask or session a refused request was about."""
    name = request.path_params.get("id", "")[:100]
    for what in ("ask", "session"):
        if name and way.path.startswith(f"/api/{what}s/"):
            return {what: name}
    return {}
