"""Posts one signed event to one receiver, and reports what came back. Never retries, never follows a redirect.

Receivers are anywhere, so this uses a general HTTP client. Only a hub that has a webhook imports it.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from socket import SOCK_STREAM
from types import TracebackType
from typing import NamedTuple, Self

import httpx2

from handraise import __version__
from handraise.surfaces.endpoints import BadEndpoint, Endpoint, check_addresses, read_endpoint
from handraise.texts import t

DEADLINE = 10.0
"""How long a receiver may take, from name lookup to response."""
MOST_ANSWER = 500
"""Bytes that are read of a response that is not a success."""
_ANSWER_SECONDS = 2.0
"""How long such a response may take after its status."""
_GONE = 410
Resolve = Callable[[str, int], Awaitable[list[str]]]


class WebhookResponse(NamedTuple):
    """What came back. `status` is None if nothing did; `problem` is empty if it was accepted."""

    status: int | None
    problem: str = ""
    answer: str = ""
    wish: timedelta | None = None
    """How long the receiver wants us to wait."""


async def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of a host."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class WebhookClient:
    """Entered with `async with`. `private` also allows machines that are not on the public internet."""

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
        self._deadline = deadline
        self._http = httpx2.AsyncClient(
            verify=trust or True,
            trust_env=False,
            follow_redirects=False,
            timeout=deadline,
            # Connections go to an address that was checked for one name: none is reused for another.
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def check(self, url: str) -> None:
        """Raises BadEndpoint if nothing may be sent there."""
        to = read_endpoint(url, private=self._private)
        try:
            async with asyncio.timeout(self._deadline):
                addresses = await self._resolve(to.host, to.port)
        except TimeoutError:
            raise BadEndpoint("not_found") from None
        check_addresses(addresses, private=self._private)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookResponse:
        """Posts it; everything together may take as long as the deadline."""
        try:
            async with asyncio.timeout(self._deadline):
                to = read_endpoint(url, private=self._private)
                addresses = await self._resolve(to.host, to.port)
                check_addresses(addresses, private=self._private)
                return await self._post(to, addresses, headers, body)
        except BadEndpoint as error:
            return WebhookResponse(None, t(f"webhooks.endpoint.{error.reason}"))
        except TimeoutError:
            return WebhookResponse(None, t("webhooks.error.timeout", seconds=f"{self._deadline:g}"))

    async def _post(
        self, to: Endpoint, addresses: list[str], headers: Mapping[str, str], body: bytes
    ) -> WebhookResponse:
        sent = {
            **headers,
            "host": to.name,
            "content-type": "application/json",
            "user-agent": f"Handraise/{__version__}",
            "accept-encoding": "identity",
        }
        for address in addresses:
            # To the address that was checked: a later lookup may return another one.
            where = httpx2.URL(scheme=to.scheme, host=address, port=to.port, raw_path=to.target.encode())
            request = self._http.build_request(
                "POST", where, headers=sent, content=body, extensions={"sni_hostname": to.host}
            )
            try:
                response = await self._http.send(request, stream=True)
            except httpx2.ConnectError:
                continue
            except httpx2.TimeoutException:
                raise TimeoutError from None
            except httpx2.HTTPError as error:
                return WebhookResponse(None, t("webhooks.error.broken", error=type(error).__name__))
            try:
                return await _outcome(response)
            finally:
                await response.aclose()
        return WebhookResponse(None, t("webhooks.error.unreachable"))


async def _outcome(response: httpx2.Response) -> WebhookResponse:
    """A success has no body that anyone needs; of others, the beginning may say why."""
    status = response.status_code
    if 200 <= status < 300:
        return WebhookResponse(status)
    if 300 <= status < 400:
        return WebhookResponse(status, t("webhooks.error.redirect", status=status))
    answer = await _beginning(response)
    problem = t("webhooks.error.gone") if status == _GONE else t("webhooks.error.status", status=status)
    return WebhookResponse(status, problem, answer, _wish(response))


async def _beginning(response: httpx2.Response) -> str:
    """The first bytes as text. Not decompressed: nobody asked for that, and it could become endless."""
    found = b""
    with suppress(httpx2.HTTPError, TimeoutError):
        async with asyncio.timeout(_ANSWER_SECONDS):
            async for piece in response.aiter_raw():
                found += piece
                if len(found) >= MOST_ANSWER:
                    break
    return found[:MOST_ANSWER].decode(errors="replace").strip()


def _wish(response: httpx2.Response) -> timedelta | None:
    wished = response.headers.get("retry-after", "")
    return timedelta(seconds=int(wished)) if wished.isascii() and wished.isdigit() and len(wished) <= 9 else None
