"""One authenticated request: its body within limits, and its response, compressed if that is safe."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from handraise.api.cards import AskCards
from handraise.api.schemas import FailedSchema, Moment, Problem
from handraise.auth import Auth, Principal
from handraise.hub.desk import LocalDesk
from handraise.model.tokens import Role
from handraise.texts import t

_UNKNOWN = "Object contains unknown field `"

S = TypeVar("S", bound=Struct)
_EXAMPLE = "2030-01-31T18:00:00Z"
SLOW = 30.0
"""How long a client may send nothing."""
_LEAST_SPEED = 64 * 1024
"""Bytes per second, on average, for the largest body."""
LEAST = 2048
"""Shorter responses aren't worth compressing."""
_AT_ONCE = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 3


def explain(error: msgspec.ValidationError, shape: type[Struct]) -> str:
    """The error as a sentence, with the most similar field."""
    message = str(error)
    if not message.startswith(_UNKNOWN):
        return f"{message}."
    name, _, place = message.removeprefix(_UNKNOWN).partition("`")
    similar = get_close_matches(name, sorted(set(_keys(shape))), 1, cutoff=0.0)
    hint = f" Did you mean `{similar[0]}`?" if similar else ""
    return f"Unknown field `{name[:100]}`{place}.{hint}"


def _keys(shape: type[Struct]) -> Iterator[str]:
    """The keys of the type, and of everything nested in it."""
    for each in msgspec.structs.fields(shape):
        yield each.encode_name
        for kind in (each.type, *get_args(each.type)):
            if isinstance(kind, type) and issubclass(kind, Struct):
                yield from _keys(kind)


class BadRequest(Exception):
    """The request can't be used. The text is a sentence."""

    def __init__(self, message: str, status: int = 400, code: str = "bad_request") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class ApiRequest(Struct, frozen=True):
    """What an endpoint gets."""

    http: Request
    principal: Principal
    desk: LocalDesk
    auth: Auth
    content: bytes
    cards: AskCards

    def body(self, shape: type[S]) -> S:
        """The body as our type; raises BadRequest with what is wrong."""
        try:
            return msgspec.json.decode(self.content or b"{}", type=shape)
        except msgspec.ValidationError as error:
            raise BadRequest(explain(error, shape), 422, "invalid") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest("The body is not valid JSON.") from error

    def path(self, name: str) -> str:
        return str(self.http.path_params[name])

    def text(self, name: str) -> str | None:
        """A query parameter; None if it is empty."""
        return self.http.query_params.get(name) or None

    def choice(self, name: str, allowed: tuple[str, ...]) -> Any:  # noqa: ANN401 (the caller knows the literals)
        value = self.text(name)
        if value is not None and value not in allowed:
            raise BadRequest(f"{name!r} must be one of {', '.join(allowed)}.", 422, "invalid")
        return value

    def number(self, parameter: "Parameter") -> int | None:
        """A query parameter that is a whole number, within its bounds."""
        value, least, most = self.text(parameter.name), parameter.least, parameter.most
        if value is None:
            return None
        if not value.isascii() or not value.isdigit() or len(value) > 19 or not least <= int(value) <= most:
            raise BadRequest(f"{parameter.name!r} must be a whole number from {least} to {most}.", 422, "invalid")
        return int(value)

    def moment(self, name: str) -> datetime | None:
        """A query parameter that is a time with a time zone."""
        value = self.text(name)
        try:
            return None if value is None else msgspec.convert(value, Moment)
        except msgspec.ValidationError as error:
            raise BadRequest(
                f"{name!r} must be a time with a time zone, for example {_EXAMPLE}.", 422, "invalid"
            ) from error

    def wants_excerpts(self) -> bool:
        return bool(self.choice(TEXTS.name, TEXTS.choices) == "excerpt")

    def newest_first(self) -> bool:
        return bool(self.choice(ORDER.name, ORDER.choices) == "newest")


Endpoint = Callable[[ApiRequest], Awaitable[Response]]


class Parameter(Struct, frozen=True):
    """A query parameter. A route refuses parameters that it doesn't name."""

    name: str
    description: str
    kind: str = "string"
    choices: tuple[str, ...] = ()
    form: str | None = None
    """The format of a text, as JSON Schema names it."""
    least: int = 0
    most: int = 2**62
    """The bounds of a whole number."""


TEXTS = Parameter(
    "texts",
    "`excerpt`: inputs and diffs over 40,000 characters are cut, and their ask or action has `cut`. Default: whole",
    choices=("whole", "excerpt"),
)
ORDER = Parameter("order", "Which come first. Default: oldest", choices=("oldest", "newest"))


class Route(Struct, frozen=True):
    """One route: who may use it, what it takes and returns. The table of routes is the API."""

    method: str
    path: str
    role: Role | None
    """None: for everyone, without signing in."""
    endpoint: Endpoint
    summary: str
    body: type[Struct] | None = None
    returns: type[Struct] | None = None
    status: int = 200
    parameters: tuple[Parameter, ...] = ()
    largest: int = 1024 * 1024
    """How many bytes a body may have."""
    media: str = "application/json"
    alternate_media: str | None = None
    """Another media type that it can return."""
    compress: bool = False
    """Whether long responses may be compressed. Never for a response with a secret."""
    long_lived: bool = False
    """Whether its response may take long. It ends when the caller's access does."""
    alternate_status: int | None = None
    """The status of its other successful response, where it has two."""
    may_wait: bool = False
    """Whether it may have to wait for the session's machine: then it returns a 202 that says so."""
    authenticates_itself: bool = False
    """The endpoint reads the body and checks a secret in it. Cookies don't count."""
    refuses_agents: bool = False
    """A tool of Claude is refused, whatever secret it has found: what raises asks must not settle them."""


def answer(value: object, status: int = 200) -> Response:
    """A JSON response."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def wrong_role(needed: Role, role: Role) -> str:
    """The sentence for someone whose role isn't enough."""
    return t(f"error.role.{role}", needed=needed)


def failed(status: int, code: str, message: str) -> Response:
    """Every error has this shape."""
    return answer(FailedSchema(Problem(code, message)), status)


async def receive_body(request: Request, largest: int, *, json_only: bool) -> bytes:
    """The whole body; raises BadRequest."""
    if request.method in ("GET", "HEAD"):
        return b""
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > largest:
        raise _too_large(largest)
    body = await _collect(request, largest)
    if json_only and body and not _is_json(request.headers.get("content-type", "")):
        # A form on a hostile page can send any text, but not with this type without a preflight.
        raise BadRequest("Send JSON with the content type application/json.", 415, "not_json")
    return body


async def _collect(request: Request, largest: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    stream = request.stream()
    longest = max(SLOW, largest / _LEAST_SPEED)
    try:
        async with asyncio.timeout(longest):
            while True:
                if longest == SLOW:  # then none of its pieces can take longer
                    piece = await anext(stream, None)
                else:
                    async with asyncio.timeout(SLOW):
                        piece = await anext(stream, None)
                if piece is None:
                    return b"".join(pieces)
                size += len(piece)
                if size > largest:
                    raise _too_large(largest)
                pieces.append(piece)
    except ClientDisconnect as error:
        raise BadRequest("The body ended early.") from error
    except TimeoutError as error:
        raise BadRequest(t("error.too_slow"), 408, "too_slow") from error


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"


def _too_large(largest: int) -> BadRequest:
    return BadRequest(t("error.too_large", most=largest), 413, "too_large")


async def squeeze(response: Response, accepts: str) -> Response:
    """The response, compressed if `accepts` (Accept-Encoding) allows it."""
    response.headers.append("vary", "accept-encoding")
    body = bytes(response.body)
    if response.status_code != 200 or len(body) < LEAST or not is_accepted("gzip", accepts):
        return response
    # In a thread: zlib releases the interpreter, and the loop serves others meanwhile.
    squeezed = _squeezed(body) if len(body) < _AT_ONCE else await asyncio.to_thread(_squeezed, body)
    response.body = squeezed
    response.headers["content-length"] = str(len(squeezed))
    response.headers["content-encoding"] = "gzip"
    return response


def is_accepted(name: str, accepts: str) -> bool:
    """Whether an Accept-Encoding header allows this encoding, and doesn't exclude it."""
    for each in accepts.lower().split(","):
        coding, *parameters = [part.strip() for part in each.split(";")]
        if coding == name:
            return not any(part.startswith("q=") and part[2:].strip("0.") == "" for part in parameters)
    return False


def _squeezed(body: bytes) -> bytes:
    maker = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return maker.compress(body) + maker.flush()
