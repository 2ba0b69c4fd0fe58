"""HTTP as a Bot API server speaks it: calls with JSON, forms or uploads, and answers."""

import asyncio
import re
import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from surfaces.telegram.rules import RuleBroken, bad_request

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients: reading the machine's certificates takes longer than most tests."""
LARGEST_BODY = 60 * 1024 * 1024
NAME = re.compile(r'\bname="([^"]*)"')
FILE_NAME = re.compile(r'\bfilename="([^"]*)"')


@dataclass(frozen=True)
class FakeUpload:
    """A file in a call."""

    name: str
    content: bytes
    mime: str


@dataclass(frozen=True)
class CallParams:
    """What a call was given. In forms, lists and objects are JSON in strings."""

    values: dict[str, Any]
    uploads: dict[str, FakeUpload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        value = self.values.get(name, "")
        if not isinstance(value, str):
            raise bad_request(f'field "{name}" must be of type String')
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        value = self.values.get(name, default)
        if value is None or value == "":
            raise bad_request(f"{name} is empty")
        try:
            return int(value)
        except (TypeError, ValueError):
            raise bad_request(f'field "{name}" must be a valid Number') from None

    def optional(self, name: str) -> int | None:
        return self.integer(name) if self.values.get(name) else None

    def flag(self, name: str) -> bool:
        return self.values.get(name) in {True, "true", "True", "1"}

    def json(self, name: str) -> Any:
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return msgspec.json.decode(value) if value else None
        except msgspec.DecodeError:
            raise bad_request(f"can't parse {name} JSON object") from None

    def entities(self, name: str) -> list[dict[str, Any]]:
        found = self.json(name)
        if found is None:
            return []
        if not isinstance(found, list):
            raise bad_request("can't parse entities: entities must be of type Array")
        return found


@dataclass(frozen=True)
class BotRequest:
    """One HTTP request."""

    method: str
    path: str
    params: CallParams


class WatchedReader(asyncio.StreamReader):
    """Knows when the other side has hung up, also while nobody reads."""

    def __init__(self, changed: Any) -> None:
        super().__init__(limit=2**20)
        self.hung_up = asyncio.Event()
        self._changed = changed

    def feed_eof(self) -> None:
        super().feed_eof()
        self._end()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self._end()

    def _end(self) -> None:
        self.hung_up.set()
        self._changed()


async def read_request(reader: asyncio.StreamReader) -> BotRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
    body = await _read_body(reader, headers)
    parts = urlsplit(target)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    params = _read_params(headers.get("content-type", ""), body)
    return BotRequest(method, parts.path, CallParams({**query, **params.values}, params.uploads))


def envelope(result: Any) -> tuple[int, str, bytes]:
    """The status, type and body of a successful call."""
    return 200, "application/json", msgspec.json.encode({"ok": True, "result": result})


def refusal(error: RuleBroken) -> tuple[int, str, bytes]:
    content: dict[str, Any] = {"ok": False, "error_code": error.code, "description": error.description}
    if error.parameters:
        content["parameters"] = error.parameters
    return error.code, "application/json", msgspec.json.encode(content)


def server_error(status: int) -> tuple[int, str, bytes]:
    """What the machines before Telegram's send on bad days."""
    page = f"<html>\r\n<head><title>{status}</title></head>\r\n<body><center><h1>{status}</h1></center></body></html>"
    return status, "text/html", page.encode()


def response(status: int, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader)
    length = int(headers.get("content-length", "0"))
    assert length <= LARGEST_BODY, "no test sends that much"
    return await reader.readexactly(length)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while length := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += (await reader.readexactly(length + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


def _read_params(kind: str, body: bytes) -> CallParams:
    if kind.startswith("multipart/form-data"):
        return _read_multipart(kind, body)
    if kind.startswith("application/x-www-form-urlencoded"):
        return CallParams(dict(parse_qsl(body.decode(), keep_blank_values=True)))
    if kind.startswith("application/json") and body:
        content = msgspec.json.decode(body)
        return CallParams({key: value for key, value in content.items() if value is not None})
    return CallParams({})


def _read_multipart(kind: str, body: bytes) -> CallParams:
    boundary = kind.partition("boundary=")[2].strip('"').encode()
    values: dict[str, Any] = {}
    uploads: dict[str, FakeUpload] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        text = head.decode()
        name = NAME.search(text)
        assert name, "a part without a name"
        if file := FILE_NAME.search(text):
            mime = re.search(r"content-type: *(\S+)", text, re.IGNORECASE)
            uploads[name[1]] = FakeUpload(file[1], content, mime[1] if mime else "application/octet-stream")
        else:
            values[name[1]] = content.decode()
    return CallParams(values, uploads)
