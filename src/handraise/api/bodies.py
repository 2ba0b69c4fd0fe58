"""The bodies of requests and responses: received within bounds, and compressed where that is safe."""

import asyncio
import zlib

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from handraise.api.requests import BadRequest

SLOW = 30.0
"""How long a client may send nothing."""
_LEAST_SPEED = 64 * 1024
"""Bytes per second, on average, for the largest body."""

LEAST = 2048
"""Shorter responses aren't worth compressing."""
_AT_ONCE = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 3


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
    try:
        async with asyncio.timeout(max(SLOW, largest / _LEAST_SPEED)):
            while True:
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
        raise BadRequest("The body took too long to arrive.", 408, "too_slow") from error


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"


def _too_large(largest: int) -> BadRequest:
    return BadRequest(f"The body is larger than {largest} bytes.", 413, "too_large")


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
    """Whether an Accept-Encoding header names this one, and does not mean "anything but"."""
    for each in accepts.lower().split(","):
        coding, *parameters = [part.strip() for part in each.split(";")]
        if coding == name:
            return not any(part.startswith("q=") and part[2:].strip("0.") == "" for part in parameters)
    return False


def _squeezed(body: bytes) -> bytes:
    maker = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return maker.compress(body) + maker.flush()
