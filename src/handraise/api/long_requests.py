"""Long-lived requests: they end when the caller's access does, and each caller has a limited number."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handraise.api.requests import BadRequest, failed
from handraise.auth import Principal
from handraise.texts import t

MOST = 100
"""How many requests of one token may be open at once.

A browser has six connections to a hub, however many tabs are open; a script has one for each follower, an agent one
for each waiting call. So this is enough for sixteen browsers that share a token, and a fraction of the total (see
`room` in `serving/serve.py`): a leaked token can't crowd others out.
"""
_FAREWELL = 1.0


class TooManyRequests(BadRequest):
    """This token has too many open requests."""

    def __init__(self, most: int) -> None:
        super().__init__(t("error.too_many_open", count=most), 429, "too_many_open")


class AccessRevoked(BadRequest):
    """The token was revoked or has expired since the request started."""

    def __init__(self) -> None:
        super().__init__(t("error.unknown_token"), 401, "unknown_token")


class OpenRequest:
    """Counts as open until it is left."""

    __slots__ = ("_leave",)

    def __init__(self, leave: Callable[[], None] | None = None) -> None:
        self._leave = leave

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        if self._leave is not None:
            self._leave()


class LongRequests:
    """Counts open requests of everyone but this machine's owner."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def hold(self, principal: Principal) -> OpenRequest:
        """One more is open until it is left; raises TooManyRequests."""
        name = _name(principal)
        if name is None:
            return OpenRequest()
        if self._open[name] >= self._most:
            raise TooManyRequests(self._most)
        self._open[name] += 1
        return OpenRequest(partial(self._leave, name))

    def _leave(self, name: str) -> None:
        self._open[name] -= 1
        if not self._open[name]:
            del self._open[name]


@asynccontextmanager
async def while_allowed(principal: Principal) -> AsyncIterator[None]:
    """Cancels what is inside when the principal's access ends; raises AccessRevoked."""
    try:
        async with asyncio.timeout(principal.seconds) as stay:
            with principal.left.ending(stay) if principal.left is not None else nullcontext():
                yield
    except TimeoutError:
        if stay.expired():
            raise AccessRevoked from None
        raise


class LongRequest(Response):
    """Another response, while its principal has access; leaves `held` when it is over.

    A stream of events can end anywhere. Any other response that is cut off must not look complete.
    """

    def __init__(self, inside: Response, principal: Principal, held: OpenRequest) -> None:
        super().__init__(status_code=inside.status_code)
        self.raw_headers = inside.raw_headers
        self._inside = inside
        self._principal = principal
        self._held = held
        self._begun: MutableMapping[str, Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_noted(message: MutableMapping[str, Any]) -> None:
            self._begun = self._begun or message
            await send(message)

        try:
            async with while_allowed(self._principal):
                await self._inside(scope, receive, send_noted)
        except AccessRevoked as error:
            if self._begun is None:
                await failed(error.status, error.code, str(error))(scope, receive, send)
            elif is_event_stream(self._begun):
                await end(scope, send)
            else:
                cut_off(scope)
        finally:
            self._held.leave()


async def end(scope: Scope, send: Send) -> None:
    """Ends a response that has started; a client that doesn't read is cut off."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_FAREWELL):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
    cut_off(scope)


def cut_off(scope: Scope) -> None:
    """Closes the connection immediately, and drops what the client hasn't read."""
    scope["extensions"]["handraise.cut_off"]()


def is_event_stream(begun: MutableMapping[str, Any]) -> bool:
    """Whether a response with this start is a stream of events."""
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in begun.get("headers", [])
    )


def _name(principal: Principal) -> str | None:
    """The name that requests count for: all of Claude's tools together, the owner not at all."""
    if principal.token is not None:
        return f"token {principal.token.id}"
    if principal.role == "agent":
        return "agents"
    return None if principal.role == "admin" else f"person {principal.person.name}"
