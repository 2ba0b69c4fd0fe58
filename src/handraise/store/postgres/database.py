"""The schema of the shared database: migrates it, refuses what isn't ours, loads statements by name."""

import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from handraise.store.interface import StoreError, StoreNewer
from handraise.store.postgres.plain_text import storable
from handraise.texts import t

if TYPE_CHECKING:
    from handraise.store.postgres.connecting import Connection

OLDEST = 13
"""The oldest major version of PostgreSQL that is still supported by its makers, as of this schema."""
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


class Statement(Struct, frozen=True):
    """SQL with `$1`, `$2` and so on, and the names that they had."""

    text: str
    names: tuple[str, ...]

    def arguments(self, bindings: dict[str, Any]) -> list[Any]:
        """The values in their order, each storable as text."""
        return [storable(bindings[name]) for name in self.names]


def _read(sql: str) -> Statement:
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    text = _PARAMETER.sub(number, sql.strip())
    return Statement(text, tuple(names))


def _load() -> dict[str, Statement]:
    statements: dict[str, Statement] = {}
    for file in (resources.files(__package__) / "queries").iterdir():
        pieces = re.split(r"^-- name: (\w+)$", file.read_text("utf-8"), flags=re.MULTILINE)
        statements.update({name: _read(sql) for name, sql in zip(pieces[1::2], pieces[2::2], strict=True)})
    return statements


SQL = _load()

_LOOK = """
SELECT
    to_regnamespace('handraise') IS NOT NULL,
    to_regclass('handraise.migrations') IS NOT NULL,
    EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('handraise') AND relkind IN ('r', 'p')),
    EXISTS (
        SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE relkind IN ('r', 'p') AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
            AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
    ),
    current_setting('transaction_read_only') = 'on',
    pg_is_in_recovery()
"""


class FoundSchema(Struct, frozen=True):
    """What is in the database before we touch it."""

    schema: bool
    migrated: bool
    tables_in_schema: bool
    tables: bool
    read_only: bool
    standby: bool


async def schema(connection: "Connection") -> tuple[int, int]:
    """The schema version of the database (0 for none of ours), and the one this version migrates to."""
    found = await _look(connection)
    return await _version(connection) if found.migrated else 0, len(migrations())


async def prepare(connection: "Connection", where: str) -> None:
    """Brings the schema up to date, once, whichever hub comes first. Raises a StoreError if that can't be."""
    server = connection.get_server_version()
    if server.major < OLDEST:
        raise StoreError(
            t("error.postgres.old", where=where, found=server.major), t("error.postgres.upgrade", oldest=OLDEST)
        )
    found = await _look(connection)
    if found.read_only:
        raise read_only(where, standby=found.standby)
    _check_ours(found, where)
    if found.migrated and await _check_version(connection, where):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('handraise.migrations', 0))")
        found = await _look(connection)
        _check_ours(found, where)
        if not found.schema:
            await connection.execute("CREATE SCHEMA handraise")
        if not found.migrated:
            await connection.execute(
                "CREATE TABLE handraise.migrations"
                " (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp())"
            )
        version = await _version(connection)
        for number, migration in enumerate(migrations()[version:], version + 1):
            await connection.execute(migration)
            await connection.execute("INSERT INTO handraise.migrations (number) VALUES ($1)", number)


def read_only(where: str, *, standby: bool) -> StoreError:
    """For a server that accepts no writes."""
    advice = t("error.postgres.primary") if standby else t("error.postgres.allow_writes")
    return StoreError(t("error.postgres.read_only", where=where), advice)


def migrations() -> list[str]:
    """In the order of their numbers, which count from 1."""
    files = sorted((resources.files(__package__) / "migrations").iterdir(), key=lambda file: file.name)
    return [file.read_text("utf-8") for file in files]


async def _look(connection: "Connection") -> FoundSchema:
    row = await connection.fetchrow(_LOOK)
    assert row is not None  # noqa: S101 (a SELECT without FROM has one row)
    return FoundSchema(*row)


def _check_ours(found: FoundSchema, where: str) -> None:
    """An existing schema without tables was made for us; tables elsewhere belong to another program."""
    if found.migrated:
        return
    if found.tables_in_schema or (found.tables and not found.schema):
        raise StoreError(t("error.postgres.foreign", where=where), t("error.postgres.own_database"))


async def _check_version(connection: "Connection", where: str) -> bool:
    """Whether there is nothing to migrate."""
    version, known = await _version(connection), len(migrations())
    if version > known:
        raise StoreNewer(
            t("error.postgres.newer", where=where, found=version, known=known), t("error.postgres.install_newer")
        )
    return version == known


async def _version(connection: "Connection") -> int:
    found = await connection.fetchval("SELECT coalesce(max(number), 0) FROM handraise.migrations")
    return int(found)
