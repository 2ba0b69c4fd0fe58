"""Receives the body of a request: bounded in size and time, and as JSON where a browser may have been tricked."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from handraise.surfaces.web.visit import BadRequest

SLOW = 30.0
"""How long a client may send nothing."""
_LEAST_SPEED = 64 * 1024
"""Bytes a second, over all of the largest body that there may be."""


async def receive_body(request: Request, largest: int, *, json_only: bool) -> bytes:
    """The whole body; raises BadRequest."""
    if request.method in ("GET", "HEAD"):
        return b""
    told = request.headers.get("content-length", "")
    if told.isascii() and told.isdigit() and int(told[:20]) > largest:
        raise _too_large(largest)
    body = await _collect(request, largest)
    if json_only and body and not _is_json(request.headers.get("content-type", "")):
        # A form on a hostile page can send any text, but not with this type unless it asks first.
        raise BadRequest("Send JSON, with the content-type application/json.", 415, "not_json")
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
        raise BadRequest("The body took too long.", 408, "too_slow") from error


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"


def _too_large(largest: int) -> BadRequest:
    return BadRequest(f"The body is larger than {largest} bytes.", 413, "too_large")
