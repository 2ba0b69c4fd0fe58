"""Talks to a hub: this machine's over its Unix socket, another one by address. Uses only the standard library.

`http.client` takes longer to import than Python takes to start, so `handraise.client.http` replaces it.
"""

from __future__ import annotations

import json
import os
import socket

from handraise.cli.terminal import this_terminal
from handraise.client.http import BadResponse, ResponseParser, request_head

TYPE_CHECKING = False  # type checkers treat this name as true; importing `typing` would cost each command 4 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from handraise.client.address import HubAddress

_DEADLINE = 30.0


USAGE, INTERRUPTED = "usage", "interrupted"
"""The codes for input errors that were never sent, and for Ctrl-C."""


class NoHub(Exception):
    """No hub is running here."""


class HubError(Exception):
    """Nothing was done: the hub refused, or nothing was sent. The text is a sentence."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class HubClient:
    """The hub of this state folder; with `address`, the one there, authenticated with the token."""

    def __init__(
        self, state: str | os.PathLike[str], address: str | None = None, token: str | None = None, options: str = ""
    ) -> None:
        self.options = options
        """The options with which another command finds the same hub; begins with a space, or is empty."""
        self._state = state
        self._socket = os.path.join(state, "hub.sock")
        self._address = address
        self._token = token

    @property
    def is_elsewhere(self) -> bool:
        """Whether it was named by an address: its files and directories aren't ours."""
        return self._address is not None

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

    def put(self, path: str, body: object) -> Any:  # noqa: ANN401 (JSON)
        return self._ask("PUT", path, body)

    def delete(self, path: str) -> Any:  # noqa: ANN401 (JSON)
        return self._ask("DELETE", path)

    def machine(self, named: str) -> str:
        """The ID of a machine by its name or ID; raises HubError if there is none."""
        for each in self.get("/api/machines")["machines"]:
            if named in (each["id"], each["name"]):
                return str(each["id"])
        raise HubError(422, USAGE, f"There is no machine {named!r}. List them with: handraise machines{self.options}")

    def own_machine(self) -> str:
        """The ID of the machine that the hub of this state folder is on; empty if it isn't known."""
        try:
            with open(os.path.join(self._state, "machine.json")) as file:
                return str(json.load(file)["id"]) if self._address is None else ""
        except (OSError, ValueError, LookupError, TypeError):
            return ""

    def is_there(self) -> bool:
        try:
            self.get("/api/health")
        except NoHub:
            return False
        return True

    def feed(self, after: int | None = None, session: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Events as they come: `message` for items, `preview`, `reset`. Ends when the hub does."""
        from handraise.client.events import EventParser

        events, response, refusal = EventParser(), ResponseParser(), b""
        for piece in self._exchange(response, "GET", _with("/api/feed", {"after": after, "session": session}), None):
            if response.status != 200:
                refusal += piece
                continue
            for event in events.receive(piece):
                if event.kind != "ping":
                    yield event.kind, json.loads(event.data)
        if refusal:
            _read(response.status or 0, refusal)

    def _ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 (JSON)
        content = b"" if body is None else json.dumps(body).encode()
        response = ResponseParser()
        result = b"".join(self._exchange(response, method, path, _DEADLINE, content))
        try:
            return _read(response.status or 0, result)
        except HubError as error:
            if error.status != 401 or self._address is None:
                raise
            # Only a hub elsewhere asks for a token.
            raise HubError(401, error.code, f"{error} Sign in with: handraise login {self._address}") from error

    def _exchange(
        self, response: ResponseParser, method: str, path: str, deadline: float | None, content: bytes = b""
    ) -> Iterator[bytes]:
        """One request; yields the response's body as it comes."""
        try:
            address = _parts(self._address)
            headers = {**self._headers(address), "Content-Length": str(len(content))}
            head = request_head(method, path if address is None else address.path + path, headers)
            with self._connect(address, deadline) as connection:
                connection.sendall(head + content)
                while not response.has_ended and (piece := connection.recv(65536)):
                    yield response.receive(piece)
            response.close()
        except (OSError, BadResponse, ValueError) as error:
            raise NoHub(self._missing) from error

    @property
    def _missing(self) -> str:
        if self._address is None:
            return f"No hub is running. Start one with: handraise serve{self.options}"
        return f"Can't reach a hub at {self._address}."

    def _headers(self, address: HubAddress | None) -> dict[str, str]:
        headers = {
            "Host": "localhost",
            "Connection": "close",
            "Content-Type": "application/json",
            "handraise-seat": this_terminal(),
        }
        if address is None:
            return headers
        headers["Host"] = address.authority
        headers["handraise-surface"] = "terminal"
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _connect(self, address: HubAddress | None, deadline: float | None) -> socket.socket:
        if address is not None:
            return _connection_to(address, deadline)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(deadline)
        try:
            connection.connect(self._socket)
        except OSError:
            connection.close()
            raise
        return connection


def _parts(address: str | None) -> HubAddress | None:
    """Raises ValueError if it isn't a valid address."""
    if address is None:
        return None
    from handraise.client.address import read_address

    return read_address(address)


def _connection_to(address: HubAddress, deadline: float | None) -> socket.socket:
    connection = socket.create_connection((address.host, address.port), deadline)
    if not address.is_secure:
        return connection
    import ssl

    return ssl.create_default_context().wrap_socket(connection, server_hostname=address.host)


def _with(path: str, query: Mapping[str, object]) -> str:
    present = {key: value for key, value in query.items() if value is not None}
    if not present:
        return path
    from urllib.parse import urlencode

    return f"{path}?{urlencode(present)}"


def _read(status: int, content: bytes) -> Any:  # noqa: ANN401 (JSON)
    try:
        result = json.loads(content or b"null")
    except ValueError:
        raise NoHub("The server there is not a Handraise hub.") from None
    if status >= 400:
        error = (result or {}).get("error", {})
        raise HubError(status, error.get("code", "error"), error.get("message", f"The hub returned status {status}."))
    return result
