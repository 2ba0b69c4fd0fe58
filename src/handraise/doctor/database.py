"""The checks of a shared database. Each ends in time, none changes anything, and no password is shown."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from secrets import token_hex

from handraise.config.database import SharedDatabase
from handraise.doctor.checks import Finding
from handraise.store.interface import StoreError
from handraise.store.postgres.connecting import Connecting, Connection, read_address, watched
from handraise.store.postgres.database import check, schema
from handraise.store.postgres.errors import explain
from handraise.texts import t

_NAME = "database"
_APPLICATION = "handraise doctor"
_SECONDS = 5.0
_HEARING_SECONDS = 3.0
_MOST_SKEW = 5.0
_LOCAL_HOSTS = ("", "localhost", "127.0.0.1", "::1")
_CHECKED = "verify-full"
_RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
_ROLE = """
SELECT current_user::text, current_database()::text, rolsuper,
    has_database_privilege(current_database(), 'CREATE'), to_regnamespace('handraise') IS NOT NULL
FROM pg_roles WHERE rolname = current_user
"""
_TABLES = """
SELECT relname::text, has_table_privilege(pg_class.oid, 'SELECT'), has_table_privilege(pg_class.oid, 'INSERT'),
    has_table_privilege(pg_class.oid, 'UPDATE'), has_table_privilege(pg_class.oid, 'DELETE'),
    pg_has_role(relowner, 'USAGE')
FROM pg_class WHERE relnamespace = to_regnamespace('handraise') AND relkind = 'r' AND relname <> 'migrations'
ORDER BY relname
"""
_TLS = "SELECT coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false), inet_server_addr() IS NULL"


async def check_shared(shared: SharedDatabase, password: str | None) -> list[Finding]:
    """Every finding, up to the first that makes the rest impossible."""
    findings = [Finding(_NAME, "warn", t("doctor.database.in_url"), t("doctor.database.use_file"))]
    findings = findings if shared.has_password else []
    connecting = Connecting(read_address(shared.url, password), patience=_SECONDS, hang_seconds=_SECONDS)
    try:
        connection = await connecting.connect(_APPLICATION, seconds=_SECONDS)
    except StoreError as error:
        return [*findings, Finding(_NAME, "fail", error.problem, error.advice)]
    examination = _Examination(connecting, connection, shared)
    try:
        for step in examination.steps():
            findings.append(await examination.take(step))
    except StoreError as error:
        findings.append(Finding(_NAME, "fail", error.problem, error.advice))
    finally:
        connection.terminate()
    return findings


class _Examination:
    """One connection, and what is asked over it."""

    def __init__(self, connecting: Connecting, connection: Connection, shared: SharedDatabase) -> None:
        self._connecting = connecting
        self._connection = connection
        self._shared = shared
        self._where = connecting.address.shown

    def steps(self) -> tuple[Callable[[], Awaitable[Finding]], ...]:
        return (self._server, self._schema, self._rights, self._hearing, self._clock, self._tls)

    async def take(self, step: Callable[[], Awaitable[Finding]]) -> Finding:
        """Raises a StoreError if the database doesn't answer in time."""
        with self._explained(), watched(self._connection, _SECONDS):
            return await step()

    async def _server(self) -> Finding:
        found = str(await self._connection.fetchval("SHOW server_version")).partition(" ")[0]
        key = "doctor.database.connected_pooled" if self._connecting.pooled else "doctor.database.connected"
        return Finding(_NAME, "ok", t(key, where=self._where, version=found))

    async def _schema(self) -> Finding:
        is_current = await check(self._connection, self._where)
        found, known = await schema(self._connection)
        if is_current:
            return Finding(_NAME, "ok", t("doctor.database.shared_current", found=found))
        if found == 0:
            return Finding(_NAME, "ok", t("doctor.database.shared_none"))
        return Finding(_NAME, "ok", t("doctor.database.shared_old", found=found, known=known))

    async def _rights(self) -> Finding:
        row = await self._connection.fetchrow(_ROLE)
        role, database, is_superuser, may_create, has_schema = row or ("", "", False, False, False)
        tables = await self._connection.fetch(_TABLES) if has_schema else []
        if not tables and not may_create and not await self._may_fill(has_schema=has_schema):
            advice = t("doctor.database.grant_create", database=database, role=role)
            return Finding(_NAME, "fail", t("doctor.database.no_create", role=role), advice)
        lacking = [
            f"{right} {name}" for name, *has, _ in tables for right, may in zip(_RIGHTS, has, strict=True) if not may
        ]
        if lacking:
            missing = t("doctor.database.missing_rights", role=role, tables=", ".join(lacking))
            return Finding(_NAME, "fail", missing, t("doctor.database.grant_tables", role=role))
        found, known = await schema(self._connection)
        if 0 < found < known and not all(row[-1] for row in tables):
            other = t("doctor.database.not_owner", role=role)
            return Finding(_NAME, "fail", other, t("doctor.database.migrate_once"))
        if is_superuser:
            return Finding(_NAME, "warn", t("doctor.database.superuser", role=role), t("doctor.database.own_role"))
        return Finding(_NAME, "ok", t("doctor.database.rights", role=role))

    async def _may_fill(self, *, has_schema: bool) -> bool:
        """Whether an empty schema was made for this role."""
        return has_schema and bool(
            await self._connection.fetchval("SELECT has_schema_privilege('handraise', 'CREATE, USAGE')")
        )

    async def _hearing(self) -> Finding:
        """A probe from a second connection: on one, even a pooler that swallows notifications may pass it on."""
        channel, heard = f"handraise_doctor_{token_hex(4)}", asyncio.Event()
        await self._connection.add_listener(channel, lambda *_: heard.set())
        other = await self._connecting.connect(_APPLICATION, seconds=_SECONDS)
        began = time.monotonic()
        try:
            with watched(other, _SECONDS):
                await other.execute("SELECT pg_notify($1, '')", channel)
            async with asyncio.timeout(_HEARING_SECONDS):
                await heard.wait()
        except TimeoutError:
            return Finding(_NAME, "warn", t("doctor.database.deaf"), t("doctor.database.session_mode"))
        finally:
            other.terminate()
        took = f"{1000 * (time.monotonic() - began):.0f} ms"
        return Finding(_NAME, "ok", t("doctor.database.listens", duration=took))

    async def _clock(self) -> Finding:
        before = datetime.now(UTC)
        there: datetime = await self._connection.fetchval("SELECT clock_timestamp()")
        after = datetime.now(UTC)
        # It was read at some moment in between.
        ahead, behind = (before - there).total_seconds(), (there - after).total_seconds()
        apart = max(ahead, behind, 0.0)
        if apart > _MOST_SKEW:
            skewed = t("doctor.database.skewed", duration=f"{apart:.0f} s")
            return Finding(_NAME, "warn", skewed, t("doctor.database.set_clock"))
        return Finding(_NAME, "ok", t("doctor.database.clock", duration=f"{apart + 1:.0f} s"))

    async def _tls(self) -> Finding:
        row = await self._connection.fetchrow(_TLS)
        encrypted, by_socket = row or (False, False)
        if self._connecting.pooled:
            return Finding(_NAME, "ok", t("doctor.database.pooler_tls"))
        if by_socket or self._shared.host in _LOCAL_HOSTS:
            return Finding(_NAME, "ok", t("doctor.database.local"))
        advice = t("doctor.database.verify_full")
        if not encrypted:
            return Finding(_NAME, "warn", t("doctor.database.plain"), advice)
        if self._shared.sslmode != _CHECKED:
            return Finding(_NAME, "warn", t("doctor.database.unchecked", mode=self._shared.sslmode), advice)
        return Finding(_NAME, "ok", t("doctor.database.encrypted"))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            explained = explain(error, self._where)
            if explained is error:
                raise
            raise explained from error
