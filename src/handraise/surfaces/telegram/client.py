"""Calls the Bot API. Never retries, and never lets the token into a log, an error or a repr.

The token is part of every URL. It is added on the way out, below everything that logs or keeps URLs.
"""

import asyncio
import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
import msgspec
from msgspec import Raw, Struct

from handraise.surfaces.telegram.bot_types import UPDATES, BotUser, FilePath, Update

PUBLIC_API = "https://api.telegram.org"
DEADLINE = 20.0
"""How long a call may take; one with a file may take UPLOAD_DEADLINE."""
UPLOAD_DEADLINE = 120.0
CONNECT_DEADLINE = 10.0
POLL_GRACE = 10.0
"""How much longer than its timeout a long poll may take."""
LARGEST_ANSWER = 16 * 1024 * 1024
LARGEST_DOWNLOAD = 20 * 1024 * 1024
"""The public API offers no larger files."""
LONGEST_RETRY = 24 * 3600.0
_LONGEST_REASON = 300
_BLANKED = b"/bot***/"
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.LocalProtocolError)
_GATEWAY_TIMEOUT = 504
T = TypeVar("T")


class BotError(Exception):
    """A call failed."""


class BotRefused(BotError):
    """The server answered, and did nothing. `description` is its own; empty if something else answered for it."""

    def __init__(
        self, code: int, description: str = "", retry_after: float | None = None, migrate_to: int | None = None
    ) -> None:
        super().__init__(f"Telegram refused a call ({code})")
        self.code = code
        self.description = description
        self.retry_after = retry_after
        self.migrate_to = migrate_to


class BotUnreached(BotError):
    """There is no answer. `certain`: the call surely had no effect, because it was never sent."""

    def __init__(self, reason: str, *, certain: bool) -> None:
        super().__init__(f"Telegram did not answer a call ({reason})")
        self.reason = reason
        self.certain = certain


class BadApiAddress(ValueError):
    """This can't be the address of a Bot API server."""


class BotUpload(Struct, frozen=True):
    """A file to send."""

    name: str
    data: bytes
    mime: str = "application/octet-stream"


class BotClient:
    """Entered with `async with`. One bot, at the public API or at a server of one's own."""

    def __init__(
        self, token: str, api: str = PUBLIC_API, *, trust: ssl.SSLContext | None = None, deadline: float = DEADLINE
    ) -> None:
        self._token = token.strip()
        self._api = check_api(api)
        self._deadline = deadline
        self._http = httpx2.AsyncClient(
            transport=_TokenTransport(self._token, trust or _trust(self._api)),
            trust_env=False,
            follow_redirects=False,
            timeout=deadline,
            headers={"user-agent": "handraise"},
        )

    def __repr__(self) -> str:
        return f"BotClient({self._api!r})"

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        files: Mapping[str, BotUpload] | None = None,
        *,
        deadline: float | None = None,
    ) -> Raw:
        """What the method returns, as JSON. Raises BotRefused and BotUnreached."""
        limit = deadline or (max(self._deadline, UPLOAD_DEADLINE) if files else self._deadline)
        answer = await self._send(self._request(method, params or {}, files or {}, limit), limit)
        return self._read(answer)

    async def fetch(
        self,
        kind: type[T],
        method: str,
        params: Mapping[str, Any] | None = None,
        files: Mapping[str, BotUpload] | None = None,
        *,
        deadline: float | None = None,
    ) -> T:
        """What the method returns, as this type. Raises BotRefused and BotUnreached."""
        result = _decode(await self.call(method, params, files, deadline=deadline), kind)
        if result is None:
            raise BotUnreached("unreadable result", certain=False)
        return result

    async def updates(self, offset: int | None, timeout: int) -> list[Update]:
        """What happened since; waits up to `timeout` seconds for it. Confirms everything before `offset`."""
        params = {"timeout": timeout, "allowed_updates": UPDATES} | ({} if offset is None else {"offset": offset})
        found = await self.fetch(list[Raw], "getUpdates", params, deadline=timeout + POLL_GRACE)
        return [update for each in found if (update := _read_update(each)) is not None]

    async def me(self) -> BotUser:
        """The bot itself."""
        return await self.fetch(BotUser, "getMe")

    async def download(self, file_id: str, most: int = LARGEST_DOWNLOAD) -> bytes:
        """The contents of a file that someone sent; BotRefused with 413 if it is larger than `most`."""
        file = await self.fetch(FilePath, "getFile", {"file_id": file_id})
        path = file.file_path.lstrip("/")
        if not path or ".." in path.split("/"):
            raise BotRefused(404, "the file has no path")
        request = self._http.build_request("GET", f"{self._api}/file{_BLANKED.decode()}{quote(path)}")
        response = await self._send(request, UPLOAD_DEADLINE, most)
        if response.status != httpx2.codes.OK:
            self._read(response)
            raise BotRefused(response.status)
        return response.body

    def _request(
        self, method: str, params: Mapping[str, Any], files: Mapping[str, BotUpload], deadline: float
    ) -> httpx2.Request:
        url = f"{self._api}{_BLANKED.decode()}{quote(method)}"
        limit = httpx2.Timeout(deadline, connect=min(CONNECT_DEADLINE, deadline))
        if not files:
            body, headers = msgspec.json.encode(params), {"content-type": "application/json"}
            return self._http.build_request("POST", url, content=body, headers=headers, timeout=limit)
        fields = {
            name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
            for name, value in params.items()
        }
        uploads = {field: (each.name, each.data, each.mime) for field, each in files.items()}
        return self._http.build_request("POST", url, data=fields, files=uploads, timeout=limit)

    async def _send(self, request: httpx2.Request, deadline: float, most: int = LARGEST_ANSWER) -> "_Answer":
        answer = await self._try(request, deadline, most)
        if isinstance(answer, BotError):
            # Outside of the `except` below: nothing of the HTTP client's errors hangs on to this one.
            raise answer
        return answer

    async def _try(self, request: httpx2.Request, deadline: float, most: int) -> "_Answer | BotError":
        try:
            async with asyncio.timeout(deadline):
                response = await self._http.send(request, stream=True)
                try:
                    body = await _read_body(response, most)
                finally:
                    await response.aclose()
        except _UNSENT as error:
            return BotUnreached(type(error).__name__, certain=True)
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            return BotUnreached(type(error).__name__, certain=False)
        if body is None:
            reason = "too large"
            return BotRefused(413, reason) if request.method == "GET" else BotUnreached(reason, certain=False)
        if response.status_code != httpx2.codes.OK and self._token:
            # A server may quote the URL that it refuses.
            body = body.replace(self._token.encode(), b"***")
        return _Answer(response.status_code, body, response.headers.get("retry-after", ""))

    def _read(self, answer: "_Answer") -> Raw:
        envelope = _decode(answer.body, _Envelope)
        if envelope is None:
            raise _no_envelope(answer)
        if not envelope.ok:
            raise _refusal(answer, envelope)
        return envelope.result


def check_api(api: str) -> str:
    """The address without a slash at its end; raises BadApiAddress."""
    try:
        parts = urlsplit(api.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment:
        raise BadApiAddress(api)
    return api.strip().rstrip("/")


def _trust(api: str) -> ssl.SSLContext:
    """Nothing is trusted without TLS, so that no certificates are loaded for nothing."""
    if api.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.create_ssl_context(trust_env=False)


class _TokenTransport(httpx2.AsyncBaseTransport):
    """Puts the token into the URL as the last thing before the wire."""

    def __init__(self, token: str, trust: ssl.SSLContext) -> None:
        self._path = f"/bot{quote(token, safe=':')}/".encode()
        self._inner = httpx2.AsyncHTTPTransport(
            verify=trust,
            trust_env=False,
            # Each chat has one call at a time, and presses are answered beside them: none waits for a connection.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30.0),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        where = request.url.copy_with(raw_path=request.url.raw_path.replace(_BLANKED, self._path, 1))
        return await self._inner.handle_async_request(
            httpx2.Request(
                request.method, where, headers=request.headers, stream=request.stream, extensions=request.extensions
            )
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Answer(Struct, frozen=True):
    status: int
    body: bytes
    retry_after: str = ""


class _Parameters(Struct, frozen=True):
    retry_after: float | None = None
    migrate_to_chat_id: int | None = None


class _Envelope(Struct):
    ok: bool = False
    result: Raw = Raw(b"null")
    error_code: int = 0
    description: str = ""
    parameters: _Parameters = _Parameters()


def _refusal(answer: _Answer, envelope: _Envelope) -> BotRefused:
    pause, moved = envelope.parameters.retry_after, envelope.parameters.migrate_to_chat_id
    pause = None if pause is None else min(max(pause, 0.0), LONGEST_RETRY)
    return BotRefused(envelope.error_code or answer.status, envelope.description[:_LONGEST_REASON], pause, moved)


def _no_envelope(answer: _Answer) -> BotError:
    """Something in between answered, or the server is broken."""
    if answer.status == _GATEWAY_TIMEOUT or answer.status < 300:
        return BotUnreached(f"status {answer.status}", certain=False)
    pause = float(answer.retry_after) if answer.retry_after.isdecimal() and len(answer.retry_after) < 6 else None
    return BotRefused(answer.status, "", pause)


async def _read_body(response: httpx2.Response, most: int) -> bytes | None:
    """None if there is more than that."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)


def _read_update(raw: Raw) -> Update | None:
    """One that we can't read has only its number, so that it can be confirmed; without one, it is nothing."""
    if update := _decode(raw, Update):
        return update
    number = _decode(raw, _UpdateNumber)
    return None if number is None else Update(number.update_id)


def _decode(source: Raw | bytes, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(source, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


class _UpdateNumber(Struct):
    update_id: int
