"""Talks to the hub of this machine over its Unix socket. On the standard library alone: a command starts at once."""

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

_DEADLINE = 30.0


class NoHub(Exception):
    """No hub answers here."""


class Failed(Exception):
    """The hub said no. The text is its sentence."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Neighbour:
    """The hub whose state folder this is."""

    def __init__(self, state: Path) -> None:
        self._socket = state / "hub.sock"

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 (JSON)
        given = {key: value for key, value in query.items() if value is not None}
        return self._ask("GET", f"{path}?{urlencode(given)}" if given else path)

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
        given = {key: value for key, value in {"after": after, "session": session}.items() if value is not None}
        connection = _Connection(self._socket, None)
        response = _request(connection, "GET", f"/api/feed?{urlencode(given)}")
        event, found = "message", ""
        for line in response:
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
        connection = _Connection(self._socket, _DEADLINE)
        try:
            response = _request(connection, method, path, body)
            return json.loads(response.read() or b"null")
        finally:
            connection.close()


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path, deadline: float | None) -> None:
        super().__init__("localhost", timeout=deadline)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _request(
    connection: http.client.HTTPConnection, method: str, path: str, body: object = None
) -> http.client.HTTPResponse:
    sent = None if body is None else json.dumps(body).encode()
    try:
        connection.request(method, path, sent, {"content-type": "application/json"} if sent else {})
        response = connection.getresponse()
    except (FileNotFoundError, ConnectionError, TimeoutError) as error:
        raise NoHub("No hub answers here. Start one with: handraise serve") from error
    if response.status >= 400:
        told = json.loads(response.read() or b"{}").get("error", {})
        raise Failed(response.status, told.get("code", "error"), told.get("message", response.reason))
    return response
