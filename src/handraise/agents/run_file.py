"""The file in `ASK_USER_CONFIG`: how one run of an agent reaches the hub. Every field is checked.

Uses only the standard library, like the relay.
"""

import json
import os
import stat

from handraise.model.own_tools import ASK_USER_LEAST, ASK_USER_MOST, ASK_USER_SECONDS

VARIABLE = "ASK_USER_CONFIG"
_HOSTS = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "[::1]": "::1"}
_LARGEST = 65536
_PORT = 5
"""How many digits a port has."""
_HEX = frozenset("0123456789abcdef")


class BadRunFile(Exception):
    """The file can't be used. The text is a sentence that says why."""


class Run:
    """What the file says."""

    __slots__ = ("host", "port", "project", "socket", "stream_token", "timeout", "user")

    def __init__(
        self,
        host: str,
        port: int,
        stream_token: str,
        user: int,
        project: str,
        timeout: int,
        socket: str | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.stream_token = stream_token
        self.user = user
        self.project = project
        self.timeout = timeout
        self.socket = socket
        """Beyond the specification: the hub's own socket, which nobody else can listen on. Used before the address."""


def load(path: str) -> Run:
    """Reads the file if nobody else can; raises BadRunFile."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise BadRunFile(f"{VARIABLE} names {path}, which is not a file.")
            if about.st_uid != os.getuid():
                raise BadRunFile(f"{path} belongs to another user. Make it your own.")
            if stat.S_IMODE(about.st_mode) & 0o077:
                raise BadRunFile(f"Other users can read {path}. Make it private: chmod 600 {path}")
            text = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a valid path"
        raise BadRunFile(f"{VARIABLE} names {path!r}, which cannot be read: {reason}.") from error
    if len(text) > _LARGEST:
        raise BadRunFile(f"{path} is too large for a run's configuration.")
    return read(text)


def read(text: bytes) -> Run:
    """Parses the text; raises BadRunFile. Unknown fields are ignored: the file may be shared with others."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRunFile("The run's configuration is not JSON.") from error
    if not isinstance(fields, dict):
        raise BadRunFile("The run's configuration is not a JSON object.")
    socket = _socket(fields.get("socket"))
    host, port = _address(fields.get("apiUrl"), is_spare=socket is not None)
    if not isinstance(fields.get("csrfToken", ""), str):
        raise BadRunFile("csrfToken must be text.")
    return Run(
        host,
        port,
        _stream_token(fields.get("streamToken")),
        _number("userId", fields.get("userId")),
        _project(fields.get("projectId")),
        _timeout(fields.get("timeout", ASK_USER_SECONDS)),
        socket,
    )


def is_stream_token(value: object) -> bool:
    """Whether a value has the form of a UUID."""
    if not isinstance(value, str):
        return False
    parts = value.lower().split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and _HEX.issuperset("".join(parts))


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _socket(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not os.path.isabs(value) or "\0" in value):
        raise BadRunFile("socket must be an absolute path.")
    return value


def _address(url: object, *, is_spare: bool) -> tuple[str, int]:
    """The hub's address. A spare one isn't used, and may be one that only others can speak to."""
    schemes = ("http://", "https://") if is_spare else ("http://",)
    if not isinstance(url, str) or not url.startswith(schemes):
        raise BadRunFile("apiUrl must be an address, for example http://127.0.0.1:8420.")
    place, _, path = url.partition("://")[2].partition("/")
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    if not colon:
        host, port = place, "80"
    if host.lower() not in _HOSTS or path:
        raise BadRunFile(f"apiUrl must name this machine (127.0.0.1, localhost or [::1]), not {url!r}.")
    if not port.isascii() or not port.isdigit() or len(port) > _PORT or not 0 < int(port) < 65536:
        raise BadRunFile(f"apiUrl has no valid port: {url!r}.")
    return _HOSTS[host.lower()], int(port)


def _stream_token(value: object) -> str:
    if not is_stream_token(value):
        raise BadRunFile("streamToken must be a UUID.")
    return str(value)


def _number(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRunFile(f"{name} must be a whole number.")
    return value


def _project(value: object) -> str:
    if isinstance(value, str) and value:
        return value
    return str(_number("projectId", value))


def _timeout(value: object) -> int:
    seconds = _number("timeout", value)
    if not ASK_USER_LEAST <= seconds <= ASK_USER_MOST:
        raise BadRunFile(f"timeout must be from {ASK_USER_LEAST} to {ASK_USER_MOST} seconds.")
    return seconds
