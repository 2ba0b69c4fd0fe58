"""One HTTP request to a server of a third party. Never retries, never follows a redirect, and logs nothing.

The connection goes to an address that was checked, so a name that changes meanwhile leads nowhere else. What is read
of the response is limited in size, and all of it in time.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from socket import SOCK_STREAM
from typing import Literal
from urllib.parse import urlsplit

import httpx2
from msgspec import Struct

from handraise.model.addresses import is_public

DEADLINE = 10.0
"""How long a request may take, from name lookup to the end of the response."""
LARGEST_REPLY = 64 * 1024
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.LocalProtocolError, httpx2.UnsupportedProtocol)
_PORTS = {"https": 443, "http": 80}
Resolve = Callable[[str, int], Awaitable[list[str]]]
Trouble = Literal["not_found", "private", "plain", "timeout", "tls", "unreachable", "broken"]


class OutboundReply(Struct, frozen=True):
    """What the server answered. `body` is only the beginning if there was more."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoReply(Exception):
    """There is no answer. `maybe_sent`: the request may have been received."""

    def __init__(self, trouble: Trouble, *, maybe_sent: bool = False) -> None:
        super().__init__(trouble)
        self.trouble = trouble
        self.maybe_sent = maybe_sent


async def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of a host."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def usable_addresses(host: str, port: int, resolve: Resolve, *, private: bool) -> list[str]:
    """Where a host is. Raises NoReply unless all addresses are public: a private one could be the one in use."""
    addresses = await resolve(host, port)
    if not addresses:
        raise NoReply("not_found")
    if not private and not all(is_public(each) for each in addresses):
        raise NoReply("private")
    return addresses


class OutboundClient:
    """`private` also allows machines that aren't on the public internet, and plain HTTP to those."""

    def __init__(
        self,
        *,
        private: bool = False,
        resolve: Resolve = resolve,
        trust: ssl.SSLContext | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self._private = private
        self._resolve = resolve
        self._trust = trust
        self._deadline = deadline

    async def request(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> OutboundReply:
        """Raises NoReply. The URL must have been checked for its form."""
        outcome = await self._try(method, url, headers or {}, body)
        if isinstance(outcome, NoReply):
            # Outside of an `except`: nothing of the HTTP client's errors, which have the request, hangs on to this one.
            raise outcome
        return outcome

    async def _try(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> OutboundReply | NoReply:
        started = False
        try:
            async with asyncio.timeout(self._deadline):
                parts = urlsplit(url)
                host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
                addresses = await usable_addresses(host, port, self._resolve, private=self._private)
                if parts.scheme == "http" and any(is_public(each) for each in addresses):
                    return NoReply("plain")
                started = True
                return await self._send(method, url, addresses, headers, body)
        except NoReply as error:
            return NoReply(error.trouble, maybe_sent=error.maybe_sent)
        except TimeoutError:
            return NoReply("timeout", maybe_sent=started)

    async def _send(
        self, method: str, url: str, addresses: list[str], headers: Mapping[str, str], body: bytes
    ) -> OutboundReply:
        parts = urlsplit(url)
        host = parts.hostname or ""
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        trouble: Trouble = "unreachable"
        # The transport alone: the client above it would log URLs.
        async with httpx2.AsyncHTTPTransport(verify=self._context(parts.scheme), trust_env=False) as transport:
            for address in addresses:
                where = httpx2.URL(
                    scheme=parts.scheme,
                    host=address.partition("%")[0],
                    port=parts.port or _PORTS[parts.scheme],
                    raw_path=target.encode("ascii"),
                )
                request = httpx2.Request(
                    method,
                    where,
                    headers={
                        "host": parts.netloc.rpartition("@")[2],
                        "user-agent": "handraise",
                        "accept-encoding": "identity",
                        "content-length": str(len(body)),
                        **headers,
                    },
                    content=body,
                    extensions={"sni_hostname": host, "timeout": dict.fromkeys(_TIMEOUTS, self._deadline)},
                )
                try:
                    response = await transport.handle_async_request(request)
                except _UNSENT as error:
                    trouble = "tls" if _is_tls(error) else "unreachable"
                    continue
                except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
                    raise NoReply("tls" if _is_tls(error) else "broken", maybe_sent=True) from None
                return await _read(response)
        raise NoReply(trouble)

    def _context(self, scheme: str) -> ssl.SSLContext:
        if scheme == "http":
            # Nothing is trusted without TLS, so that no certificates are loaded for nothing.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._trust is None:
            self._trust = httpx2.create_ssl_context(trust_env=False)
        return self._trust


_TIMEOUTS = ("connect", "read", "write", "pool")


async def _read(response: httpx2.Response) -> OutboundReply:
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) >= LARGEST_REPLY:
                break
    except (httpx2.HTTPError, httpx2.StreamError, OSError):
        # The status has arrived, and it says what became of the request.
        pass
    finally:
        await response.aclose()
    return OutboundReply(response.status_code, dict(response.headers), bytes(body[:LARGEST_REPLY]))


def _is_tls(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
