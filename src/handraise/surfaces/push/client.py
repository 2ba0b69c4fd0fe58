"""Sends one encrypted message to one push service, and reports the outcome. Never retries.

Push services are on the open internet, so this uses a general HTTP client. `handraise.client` is for hubs.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from socket import SOCK_STREAM
from types import TracebackType
from typing import Self

import httpx2
from cryptography.hazmat.primitives.asymmetric import ec

from handraise.model.devices import Device, Unusable
from handraise.surfaces.endpoints import Endpoint
from handraise.surfaces.push.endpoints import check_addresses, read_endpoint
from handraise.surfaces.push.messages import Accepted, EndpointGone, Outcome, PushMessage, Rejected, RetryLater
from handraise.surfaces.push.sealing import CURVE, SALT, NoSuchKey, read_point, seal
from handraise.surfaces.push.vapid import HubKey, unspell
from handraise.texts import t

DEADLINE = 20.0
"""How long a push service may take, from name lookup to response."""
LONGEST_PAUSE = 3600.0
"""The longest pause we accept, whatever `Retry-After` says."""
_SECRET = 16
_GONE = (404, 410)
_BUSY = (408, 425, 429)
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of a host."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class WebPushClient:
    """Entered with `async with`. `private` also allows machines that are not on the public internet."""

    def __init__(
        self,
        key: HubKey,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        *,
        contact: str | None = None,
        private: bool = False,
        resolve: Resolve = resolve,
        trust: ssl.SSLContext | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self._key = key
        self._clock = clock
        self._entropy = entropy
        self._contact = contact
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

    @property
    def key(self) -> str:
        """The hub's public key, as browsers want it."""
        return self._key.public

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def check(self, endpoint: str, key: str, secret: str) -> None:
        """Raises Unusable if nothing could ever be sent there."""
        to = read_endpoint(endpoint, private=self._private)
        try:
            read_point(unspell(key))
            if len(unspell(secret)) != _SECRET:
                raise Unusable(t("push.error.keys"))
        except (NoSuchKey, ValueError) as error:
            raise Unusable(t("push.error.keys")) from error
        async with asyncio.timeout(self._deadline):
            check_addresses(await self._resolve(to.host, to.port), private=self._private)

    async def carry(self, device: Device, message: PushMessage) -> Outcome:
        """Encrypts it for the device and posts it."""
        try:
            async with asyncio.timeout(self._deadline):
                to = read_endpoint(device.endpoint, private=self._private)
                addresses = await self._resolve(to.host, to.port)
                if not addresses:
                    return RetryLater(t("push.error.not_found"))
                check_addresses(addresses, private=self._private)
                return await self._post(device, message, to, addresses)
        except Unusable as error:
            return Rejected(str(error))
        except TimeoutError:
            return RetryLater(t("push.error.timeout"))

    async def _post(self, device: Device, message: PushMessage, to: Endpoint, addresses: list[str]) -> Outcome:
        headers = {
            "host": to.name,
            "authorization": self._key.authorize(device.endpoint, self._contact or device.origin, self._clock()),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(message.seconds),
            "urgency": message.urgency,
        }
        if message.topic is not None:
            headers["topic"] = message.topic
        body = self._sealed(device, message.message)
        for address in addresses:
            # To the address that was checked: a later lookup may return another one.
            where = httpx2.URL(scheme=to.scheme, host=address, port=to.port, raw_path=to.target.encode())
            request = self._http.build_request(
                "POST", where, headers=headers, content=body, extensions={"sni_hostname": to.host}
            )
            try:
                response = await self._http.send(request, stream=True)
            except httpx2.ConnectError:
                continue
            except httpx2.HTTPError as error:
                return RetryLater(t("push.error.unreachable_because", error=type(error).__name__))
            # Only the status is read: the body may be endless, and nobody needs it.
            await response.aclose()
            return _outcome(response.status_code, response.headers.get("retry-after"), self._clock())
        return RetryLater(t("push.error.unreachable"))

    def _sealed(self, device: Device, message: bytes) -> bytes:
        try:
            point, secret = unspell(device.key), unspell(device.secret)
            ours = ec.generate_private_key(CURVE)
            return seal(message, point, secret, ours=ours, salt=self._entropy(SALT))
        except (NoSuchKey, ValueError) as error:
            raise Unusable(t("push.error.keys")) from error


def _outcome(status: int, retry_after: str | None, now: datetime) -> Outcome:
    if 200 <= status < 300:
        return Accepted()
    if status in _GONE:
        return EndpointGone()
    if status in _BUSY or status >= 500:
        return RetryLater(t("push.error.busy", status=status), read_pause(retry_after, now))
    return Rejected(t("push.error.refused", status=status))


def read_pause(retry_after: str | None, now: datetime) -> float | None:
    """The value of `Retry-After` in seconds from now; None if it makes no sense."""
    if not retry_after:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return min(float(retry_after[:9]), LONGEST_PAUSE)
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
    return min(max(seconds, 0.0), LONGEST_PAUSE)
