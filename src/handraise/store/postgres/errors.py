"""What went wrong with the database, as a sentence with the next step. Never quotes a password."""

import ssl

import asyncpg
from msgspec import MsgspecError

from handraise.store.interface import (
    StoreAway,
    StoreBusy,
    StoreConflict,
    StoreDamaged,
    StoreError,
    StoreFull,
)
from handraise.store.postgres.database import read_only
from handraise.texts import t

LOST = (
    OSError,
    TimeoutError,
    EOFError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""What a connection that ends raises. A primary that became a standby counts: another one is the primary now."""


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone, rather than the statement wrong."""
    return isinstance(error, LOST) and not isinstance(error, asyncpg.DataError)


def explain(error: BaseException, where: str) -> BaseException:
    """The error as a StoreError. Others than the database's are bugs and stay as they are."""
    match error:
        case StoreError():
            return error
        case asyncpg.DiskFullError():
            return StoreFull(t("error.postgres.full", where=where), t("error.store.free_space"))
        case asyncpg.UniqueViolationError():
            return _conflict(error)
        case asyncpg.DeadlockDetectedError() | asyncpg.SerializationError() | asyncpg.LockNotAvailableError():
            return StoreBusy(t("error.postgres.busy", where=where), t("error.postgres.again"))
        case asyncpg.TooManyConnectionsError():
            return StoreAway(t("error.postgres.connections", where=where), t("error.postgres.more_connections"))
        case asyncpg.InvalidPasswordError() | asyncpg.InvalidAuthorizationSpecificationError():
            return StoreError(t("error.postgres.password", where=where), t("error.postgres.check_password"))
        case asyncpg.InvalidCatalogNameError():
            return StoreError(t("error.postgres.unknown", where=where), t("error.postgres.create"))
        case asyncpg.InsufficientPrivilegeError():
            problem = t("error.postgres.rights", where=where, error=_first_line(error))
            return StoreError(problem, t("error.postgres.grant"))
        case asyncpg.ReadOnlySQLTransactionError():
            return read_only(where, standby=True)
        case asyncpg.DataCorruptedError() | asyncpg.IndexCorruptedError() | MsgspecError():
            return damaged(error, where)
        case _ if is_tls(error):
            problem = t("error.postgres.tls", where=where, error=_first_line(error))
            return StoreError(problem, t("error.postgres.check_tls"))
        case _ if is_lost(error):
            problem = t("error.postgres.away", where=where, error=_first_line(error))
            return StoreAway(problem, t("error.postgres.check_server"))
        case asyncpg.PostgresError():
            return StoreError(t("error.postgres.failed", where=where, error=_first_line(error)))
        case _:
            return error


def damaged(error: BaseException, where: str) -> StoreDamaged:
    """For a row that can't be read."""
    return StoreDamaged(t("error.postgres.damaged", where=where, error=_first_line(error)), t("error.postgres.restore"))


def is_tls(error: BaseException) -> bool:
    """Whether encryption is the problem. asyncpg says in words that a server doesn't offer it."""
    refused = isinstance(error, ConnectionError) and "SSL" in str(error)
    return isinstance(error, ssl.SSLError | ssl.CertificateError) or refused


def _conflict(error: asyncpg.UniqueViolationError) -> StoreConflict:
    match error.constraint_name:
        case "places_by_path":
            return StoreConflict(t("error.store.directory_taken"))
        case "projects_by_name":
            return StoreConflict(t("error.store.name_taken"), t("error.store.other_name"))
        case "machines_by_name":
            return StoreConflict(t("error.store.machine_name_taken"), t("error.store.other_name"))
        case name:
            return StoreConflict(t("error.store.exists", what=name))


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
