"""Runs foreign code in a thread that can use the network and little else.

Python's audit events show what the code is about to do: where it connects to, which file it opens, which program it
starts. What isn't allowed fails with NotAllowed. This keeps honest code from being misled by a URL; hostile code could
get around it.
"""

import mimetypes
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

from handraise.model.addresses import is_public

_PROGRAMS = frozenset(
    ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn", "pty.spawn")
)
_SENDING = frozenset(("socket.bind", "socket.sendto", "socket.sendmsg"))
_CHANGES = frozenset(("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_READABLE = (
    sys.prefix,
    sys.base_prefix,
    "/usr/share/zoneinfo",
    "/etc/localtime",
    *(str(each) for each in mimetypes.knownfiles),
)
Limit = Literal["private", "local"]


class NotAllowed(PermissionError):
    """Confined code tried something else than to reach a server that it may reach."""


class Confinement:
    """What one call may do, and what it did. `private` also allows machines that aren't on the public internet."""

    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._handles: list[socket.socket] = []
        self._abandoned = False
        self.limit: Limit | None = None
        """What it ran into."""

    @property
    def has_connected(self) -> bool:
        """Whether anything may have been sent."""
        return bool(self._handles)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """For the thread that it is entered in, and no other."""
        _install()
        _current.confinement = self
        try:
            yield
        finally:
            _current.confinement = None

    def abandon(self) -> None:
        """From another thread: ends whatever its connections wait for, and allows no more."""
        self._abandoned = True
        for each in self._handles:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def consider(self, event: str, args: tuple[Any, ...]) -> None:
        """Raises NotAllowed."""
        if event == "socket.connect":
            self._connect(*args)
        elif event == "open":
            self._open(*args)
        elif event in _PROGRAMS or event in _SENDING or event in _CHANGES:
            self._refuse("local")

    def _connect(self, connection: socket.socket, address: object) -> None:
        if not isinstance(address, tuple) or connection.family not in (socket.AF_INET, socket.AF_INET6):
            self._refuse("local")
        elif not self._private and not is_public(str(address[0])):
            self._refuse("private")
        elif self._abandoned:
            raise NotAllowed
        else:
            self._handles.append(socket.socket(fileno=os.dup(connection.fileno())))

    def _open(self, path: object, _: object, flags: int) -> None:
        if isinstance(path, int) or path == os.devnull:
            return
        if flags & _WRITING or not _is_readable(path):
            self._refuse("local")

    def _refuse(self, limit: Limit) -> None:
        self.limit = limit
        raise NotAllowed


def _is_readable(path: object) -> bool:
    """Whether it belongs to Python or describes the system. Links lead to where they lead."""
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    real = os.path.realpath(os.fsdecode(path))
    return any(real == each or real.startswith(each.rstrip(os.sep) + os.sep) for each in _READABLE)


class _Current(threading.local):
    confinement: Confinement | None = None


_current = _Current()
_installed = threading.Event()
_installing = threading.Lock()


def _audit(event: str, args: tuple[Any, ...]) -> None:
    confinement = _current.confinement
    if confinement is not None:
        confinement.consider(event, args)


def _install() -> None:
    """Once, and only when something is confined: an audit hook can't be removed, and each event costs a little."""
    with _installing:
        if not _installed.is_set():
            sys.addaudithook(_audit)
            _installed.set()
