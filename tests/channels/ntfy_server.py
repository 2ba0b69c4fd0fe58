"""A server on loopback that keeps ntfy's documented rules strictly: limits, sign-in, sequence IDs, deletion.

The rules are those of ntfy 2.x: https://docs.ntfy.sh/publish/. `version` 15 stands for a server before sequence IDs.
"""

import asyncio
import base64
import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")
MOST_TEXT = 4096
KNOWN = {"topic", "message", "title", "tags", "priority", "actions", "click", "sequence_id"}


class NtfyServer:
    """What it got, and how it misbehaves."""

    def __init__(self, *, token: str = "", user: str = "", password: str = "", version: int = 16) -> None:
        self.token = token
        self.basic = base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""
        self.version = version
        self.port = 0
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.published: list[dict[str, Any]] = []
        self.deleted: list[str] = []
        self.answer: tuple[int, dict[str, str], bytes] | None = None
        """What it answers instead."""
        self.silent = False
        self.endless = False
        self.cuts = False
        self.arrived = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            method, path, headers, body = await read_request(reader)
            self.requests.append((method, path, headers, body))
            self.arrived.set()
            if self.cuts:
                writer.transport.abort()
                return
            if self.silent:
                await reader.read()
            elif self.endless:
                writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
                while True:
                    writer.write(b" " * 65536)
                    await writer.drain()
            else:
                status, more, content = self.answer or self.respond(method, path, headers, body)
                lines = "".join(f"{name}: {value}\r\n" for name, value in more.items())
                writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(content)}\r\n{lines}\r\n".encode() + content)
                await writer.drain()
        writer.close()

    def respond(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if (method, path) == ("GET", "/v1/health"):
            return 200, {}, b'{"healthy":true}'
        login = headers.get("authorization", "")
        wanted = {f"Bearer {self.token}"} if self.token else {f"Basic {self.basic}"} if self.basic else set()
        if login and login not in wanted:
            return error(401, 40101, "unauthorized")
        if (method, path) == ("GET", "/v1/account"):
            return 200, {}, b'{"username":"ana","role":"user"}' if login else b'{"username":"*","role":"anonymous"}'
        if wanted and not login:
            return error(403, 40301, "forbidden")
        if (method, path) == ("POST", "/"):
            return self.publish(body)
        found = re.fullmatch(r"/([-_A-Za-z0-9]{1,64})/([-_A-Za-z0-9]{1,64})", path)
        if method == "DELETE" and found and self.version >= 16:
            self.deleted.append(found[2])
            return 200, {}, json.dumps({"event": "message_delete", "sequence_id": found[2]}).encode()
        return error(404, 40401, "page not found")

    def publish(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if len(body) > 2 * MOST_TEXT:
            return error(413, 41303, "JSON body too large")
        try:
            message = json.loads(body.decode())
        except ValueError:
            return error(400, 40024, "request body must be valid JSON")
        assert set(message) <= KNOWN, "fields that ntfy doesn't know"
        if not TOPIC.fullmatch(message.get("topic", "")):
            return error(400, 40009, "topic invalid")
        if len(message["message"].encode()) > MOST_TEXT:
            return error(400, 40014, "attachments not allowed")
        if len(message.get("title", "").encode()) > 1024:
            return error(400, 40057, "title too large")
        if message.get("priority", 3) not in range(1, 6):
            return error(400, 40007, "invalid priority parameter")
        actions = message.get("actions", [])
        if len(actions) > 3 or any(
            each["action"] != "http" or not each["label"] or not each["url"] or each["method"] != "POST"
            for each in actions
        ):
            return error(400, 40018, "actions invalid")
        if self.version >= 16 and not TOPIC.fullmatch(message.get("sequence_id", "x")):
            return error(400, 40049, "sequence ID invalid")
        self.published.append(message)
        reply = {"id": f"id{len(self.published)}", "event": "message", "topic": message["topic"]}
        if self.version >= 16:
            reply["sequence_id"] = message.get("sequence_id", reply["id"])
        return 200, {}, json.dumps(reply).encode()


def error(status: int, code: int, words: str) -> tuple[int, dict[str, str], bytes]:
    return status, {}, json.dumps({"code": code, "http": status, "error": words}).encode()


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in head[1:-2])}
    return method, path, headers, await reader.readexactly(int(headers.get("content-length", "0")))


@asynccontextmanager
async def ntfy_server(server: NtfyServer, tls: ssl.SSLContext | None = None) -> AsyncIterator[NtfyServer]:
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
