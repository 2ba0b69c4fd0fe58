"""Talks to a hub: this machine's over its Unix socket, another one's by its address. On the standard library alone.

`http.client` alone takes longer to import than Python takes to start: only the feed pays for it.
"""

from __future__ import annotations

import json
import os
import socket

from handraise.cli.terminal import this_terminal

TYPE_CHECKING = False  # type checkers take the name for true; importing `typing` would cost each command 4 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from http.client import HTTPConnection, HTTPResponse
    from typing import Any

_DEADLINE = 30.0
_NONE_HERE = "No hub answers here. Start one with: handraise serve"


USAGE, INTERRUPTED = "usage", "interrupted"
"""The codes of what was typed wrong and never sent, and of what somebody ended with Ctrl-C."""


class NoHub(Exception):
    """No hub answers here."""


class HubError(Exception):
    """It was not done: the hub said no, or nothing was sent. The text is a sentence."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class HubClient:
    """The hub whose state folder this is; with `address`, the one there, to which `$HANDRAISE_TOKEN` names us."""

    def __init__(self, state: str | os.PathLike[str], address: str | None = None) -> None:
        self._socket = os.path.join(state, "hub.sock")
        self._address = address

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 (JSON)
        return self._ask("GET", _with(path, query))

    def pages(self, path: str, name: str, **query: object) -> Iterator[dict[str, Any]]:
        """All of a list, however many pages it has."""
        page = self.get(path, **query)
        yield from page[name]
        while page["next"] is not None:
            page = self.get(path, **query, after=page["next"])
            yield from page[name]

    def post(self, path: str, body: object = None) -> Any:  # noqa: ANN401 (JSON)
        return self._ask("POST", path, body)

    def patch(self, path: str, body: object) -> Any:  # noqa: ANN401 (JSON)
        return self._ask("PATCH", path, body)

    def delete(self, path: str) -> Any:  # noqa: ANN401 (JSON)
        return self._ask("DELETE", path)

    def is_there(self) -> bool:
        try:
            self.get("/api/health")
        except NoHub:
            return False
        return True

    def feed(self, after: int | None = None, session: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Events as they come: `message` for items, `preview`, `reset`. Ends when the hub does."""
        event, found = "message", ""
        for line in self._stream(_with("/api/feed", {"after": after, "session": session})):
            text = line.decode().rstrip("\n")
            if text.startswith("event: "):
                event = text[7:]
            elif text.startswith("data: "):
                found = text[6:]
            elif not text and found:
                if event != "ping":
                    yield event, json.loads(found)
                event, found = "message", ""

    def _ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 (JSON)
        sent = b"" if body is None else json.dumps(body).encode()
        if self._address is not None:
            return self._ask_elsewhere(self._address, method, path, sent)
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(sent)}\r\n"
        head += f"handraise-seat: {this_terminal()}\r\n"
        try:
            with self._connect(_DEADLINE) as connection:
                connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + sent)
                told = b"".join(iter(lambda: connection.recv(65536), b""))
        except OSError as error:
            raise NoHub(_NONE_HERE) from error
        first, _, content = told.partition(b"\r\n\r\n")
        if not first.startswith(b"HTTP/"):
            raise NoHub(_NONE_HERE)
        return _read(int(first.split(None, 2)[1]), content)

    def _ask_elsewhere(self, address: str, method: str, path: str, sent: bytes) -> Any:  # noqa: ANN401 (JSON)
        from contextlib import closing
        from http.client import HTTPException

        headers = {
            "Content-Type": "application/json",
            "handraise-surface": "terminal",
            "handraise-seat": this_terminal(),
        }
        token = os.environ.get("HANDRAISE_TOKEN")
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            with closing(_connection_to(address)) as connection:
                connection.request(method, path, sent, headers)
                response = connection.getresponse()
                return _read(response.status, response.read())
        except (OSError, HTTPException, ValueError) as error:
            raise NoHub(f"No hub answers at {address}.") from error

    def _stream(self, path: str) -> HTTPResponse:
        from http.client import HTTPConnection, HTTPException

        connection = HTTPConnection("localhost")
        try:
            connection.sock = self._connect(None)
            connection.request("GET", path)
            response = connection.getresponse()
        except (OSError, HTTPException) as error:
            raise NoHub(_NONE_HERE) from error
        if response.status >= 400:
            _read(response.status, response.read())
        return response

    def _connect(self, deadline: float | None) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(deadline)
        try:
            connection.connect(self._socket)
        except OSError:
            connection.close()
            raise
        return connection


def _connection_to(address: str) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=_DEADLINE)


def _with(path: str, query: Mapping[str, object]) -> str:
    given = {key: value for key, value in query.items() if value is not None}
    if not given:
        return path
    from urllib.parse import urlencode

    return f"{path}?{urlencode(given)}"


def _read(status: int, content: bytes) -> Any:  # noqa: ANN401 (JSON)
    try:
        told = json.loads(content or b"null")
    except ValueError:
        raise NoHub("What answers there is no hub.") from None
    if status >= 400:
        error = (told or {}).get("error", {})
        raise HubError(status, error.get("code", "error"), error.get("message", f"The hub said {status}."))
    return told
