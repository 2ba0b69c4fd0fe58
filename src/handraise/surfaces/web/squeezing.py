"""Makes long answers shorter for who can read them so.

Only what its way lets it: the length of what was squeezed tells something of what is in it, so that a secret is never
squeezed together with somebody else's words.
"""

import asyncio
import zlib

from starlette.responses import Response

LEAST = 2048
"""Shorter ones are not worth it."""
_AT_ONCE = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 3


async def squeeze(response: Response, accepts: str) -> Response:
    """The same answer; `accepts` is what the client says of it (Accept-Encoding)."""
    response.headers.append("vary", "accept-encoding")
    body = bytes(response.body)
    if response.status_code != 200 or len(body) < LEAST or not is_accepted("gzip", accepts):
        return response
    # The loop has others to serve; zlib lets go of the interpreter while it works.
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
