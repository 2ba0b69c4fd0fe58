"""Connections to the shared database: where it is, how to reach it, and when one has hung. Never shows a password."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

import asyncpg
from msgspec import Struct

from handraise.store.interface import StoreError
from handraise.store.postgres.database import read_only
from handraise.store.postgres.errors import explain
from handraise.texts import t

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection

CONNECT_SECONDS = 5.0
"""How long a server has to let us in."""

_CHECK = "SELECT pg_backend_pid(), current_setting('transaction_read_only') = 'on', pg_is_in_recovery()"


class DatabaseAddress(Struct, frozen=True):
    """The database that several machines share. `shown` is what people may read of it."""

    url: str
    shown: str
    password: str | None = None
    several: bool = False
    """Whether it names several servers, one of which is the primary."""

    def __repr__(self) -> str:
        return f"DatabaseAddress({self.shown!r})"


def read_address(url: str, password: str | None = None) -> DatabaseAddress:
    """Raises a StoreError that says what is wrong with the URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise StoreError(t("error.postgres.url_unreadable"), t("error.postgres.check_url")) from None
    if parts.scheme not in ("postgresql", "postgres"):
        raise StoreError(t("error.postgres.scheme"), t("error.postgres.check_url"))
    hosts = parts.netloc.rpartition("@")[2] or "localhost"
    database = parts.path.strip("/")
    return DatabaseAddress(url, f"{hosts}/{database}" if database else hosts, password, "," in hosts)


class Connecting:
    """Makes connections to one database.

    A pooler such as PgBouncer may give each transaction another server connection. Then nothing may be left prepared
    on one. `pooled` is whether there is one, known after the first connection.
    """

    def __init__(self, address: DatabaseAddress, *, patience: float, hang_seconds: float) -> None:
        """`patience` is how long a caller waits for a database that is away, in seconds.

        A connection whose server says nothing for `hang_seconds` counts as lost.
        """
        self.address = address
        self.patience = patience
        self.hang_seconds = hang_seconds
        self.pooled = False

    async def connect(self, name: str, *, seconds: float = CONNECT_SECONDS) -> Connection:
        """A connection that can be written to, known to the server as `name`. Raises a StoreError."""
        try:
            connection = await self._connect(name, seconds)
            pooled = await self._check(connection)
        except Exception as error:
            explained = self._explain(error)
            if explained is error:
                raise
            raise explained from None
        if pooled and not self.pooled:
            self.pooled = True
            connection.terminate()
            return await self.connect(name, seconds=seconds)
        return connection

    async def _connect(self, name: str, seconds: float) -> Connection:
        more: dict[str, Any] = {"password": self.address.password} if self.address.password is not None else {}
        if self.pooled:
            more["statement_cache_size"] = 0
        if self.address.several and "target_session_attrs" not in self.address.url:
            more["target_session_attrs"] = "read-write"
        return await asyncpg.connect(
            self.address.url, timeout=seconds, server_settings={"application_name": name}, **more
        )

    async def _check(self, connection: Connection) -> bool:
        """Whether there is a pooler: it makes up the process id that a client is told when it connects."""
        try:
            with watched(connection, CONNECT_SECONDS):
                row = await connection.fetchrow(_CHECK)
        except BaseException:
            connection.terminate()
            raise
        pid, is_read_only, standby = row if row is not None else (0, False, False)
        if is_read_only:
            connection.terminate()
            raise read_only(self.address.shown, standby=standby)
        return bool(pid != connection.get_server_pid())

    def _explain(self, error: BaseException) -> BaseException:
        """Errors about the URL may quote it, so they are not shown."""
        if isinstance(error, ValueError) and not isinstance(error, asyncpg.PostgresError | UnicodeError):
            return StoreError(t("error.postgres.url_unreadable"), t("error.postgres.check_url"))
        return explain(error, self.address.shown)


@contextmanager
def watched(connection: Connection, seconds: float) -> Iterator[None]:
    """Gives the connection up if this takes too long: whoever waits for it gets an error then.

    Cancelling would ask the server first, which may be what has hung.
    """
    handle = asyncio.get_running_loop().call_later(seconds, connection.terminate)
    try:
        yield
    finally:
        handle.cancel()
