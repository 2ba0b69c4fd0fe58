"""What can be wrong with a database, each told in a sentence with the next step, and nothing is half done."""

import asyncio
import logging
import ssl
from pathlib import Path

import asyncpg
import pytest

from handraise.store.changes import OpenAsk
from handraise.store.interface import StoreAway, StoreBusy, StoreDamaged, StoreError, StoreFull, StoreNewer
from handraise.store.postgres.connecting import read_address
from handraise.store.postgres.database import SQL, migrations
from handraise.store.postgres.errors import explain
from handraise.store.postgres.store import PostgresStore
from postgres.cluster import PASSWORD, ROLE, SECRETIVE, Cluster, free_port
from postgres.proxy import Proxy
from store.examples import a_text, an_ask, texts_of


async def refusal(url: str, password: str | None = None) -> StoreError:
    with pytest.raises(StoreError) as raised:
        async with PostgresStore(url, password=password):
            pass
    return raised.value


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


@pytest.mark.parametrize("url", ["mysql://host/db", "hub.db", "", "postgresql://[half"])
async def test_a_wrong_url_is_told_with_an_example(url: str) -> None:
    with pytest.raises(StoreError, match="URL") as raised:
        PostgresStore(url)
    assert "postgresql://USER@HOST:PORT/DATABASE" in raised.value.advice


async def test_a_port_that_is_no_number_is_told_without_the_password() -> None:
    error = await refusal("postgresql://ana:very-secret@host:port/db")

    assert "URL is invalid" in error.problem
    assert "very-secret" not in str(error)


def test_the_address_that_people_see_has_no_password() -> None:
    address = read_address("postgresql://ana:very-secret@a:5432,b:5433/db?sslmode=require", "another-secret")

    assert address.shown == "a:5432,b:5433/db"
    assert "secret" not in repr(address)


async def test_a_server_that_is_not_there_can_be_tried_again() -> None:
    error = await refusal(f"postgresql://ana@127.0.0.1:{free_port()}/db")

    assert isinstance(error, StoreAway)
    assert "Can't reach the database 127.0.0.1" in error.problem


async def test_a_wrong_password_is_told_and_appears_in_no_log(
    cluster: Cluster, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = cluster.url(name_of(database), role=SECRETIVE)
    error = await refusal(url, password="very-secret")

    assert "rejected the user name or password" in error.problem
    assert "very-secret" not in f"{error} {caplog.text}"


async def test_the_right_password_works_from_the_argument_and_from_a_file(
    cluster: Cluster, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cluster.run(f"GRANT USAGE ON SCHEMA handraise TO {SECRETIVE}", database=name_of(database))
    cluster.run(
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA handraise TO {SECRETIVE}",
        database=name_of(database),
    )
    url = cluster.url(name_of(database), role=SECRETIVE)
    async with PostgresStore(url, password=PASSWORD) as store:
        await store.apply([a_text("by a role that owns nothing"), OpenAsk(an_ask())])

    passwords = tmp_path / "pgpass"
    passwords.touch(0o600)
    passwords.write_text(f"127.0.0.1:*:*:{SECRETIVE}:{PASSWORD}\n")
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    async with PostgresStore(url) as store:
        assert texts_of(await store.items()) == ["by a role that owns nothing"]


async def test_a_database_that_is_not_there_is_told(cluster: Cluster) -> None:
    error = await refusal(cluster.url("nowhere"))

    assert "There is no database" in error.problem
    assert "createdb" in error.advice


async def test_a_role_that_may_not_create_anything_is_told_what_it_needs(cluster: Cluster) -> None:
    name = cluster.create()
    cluster.run("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    error = await refusal(cluster.url(name, role="guest"))

    assert "isn't allowed" in error.problem
    assert "schema called handraise" in error.advice


async def test_a_database_of_another_program_is_refused_and_left_alone(cluster: Cluster) -> None:
    name = cluster.create()
    cluster.run("CREATE TABLE customers (id int)", database=name)
    error = await refusal(cluster.url(name))

    assert "belongs to another program" in error.problem
    assert cluster.run("SELECT to_regnamespace('handraise')", database=name)[0][0] is None


async def test_an_empty_schema_that_was_made_for_us_is_used_beside_another_program(cluster: Cluster) -> None:
    name = cluster.create()
    cluster.run("CREATE TABLE customers (id int)", f"CREATE SCHEMA handraise AUTHORIZATION {ROLE}", database=name)

    async with PostgresStore(cluster.url(name)) as store:
        assert (await store.apply([a_text()])).took == (True,)


async def test_a_schema_of_a_newer_version_is_refused_and_left_alone(cluster: Cluster, empty_database: str) -> None:
    async with PostgresStore(empty_database):
        pass
    cluster.run("INSERT INTO handraise.migrations (number) VALUES (1000)", database=name_of(empty_database))
    error = await refusal(empty_database)

    assert isinstance(error, StoreNewer)
    assert "schema 1000" in error.problem


async def test_hubs_that_start_at_once_make_the_schema_once(cluster: Cluster, empty_database: str) -> None:
    async def start(number: int) -> None:
        async with PostgresStore(empty_database, f"m_{number}") as store:
            await store.apply([a_text(str(number))])

    await asyncio.gather(*(start(number) for number in range(4)))

    made = cluster.run("SELECT number FROM handraise.migrations ORDER BY number", database=name_of(empty_database))
    assert [row[0] for row in made] == list(range(1, len(migrations()) + 1))


async def test_a_database_that_is_read_only_is_told_at_the_start(cluster: Cluster) -> None:
    name = cluster.create()
    cluster.run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    error = await refusal(cluster.url(name))

    assert "read-only" in error.problem
    assert "default_transaction_read_only" in error.advice


async def test_a_server_that_is_too_old_is_told(cluster: Cluster) -> None:
    version = cluster.run("SHOW server_version_num")[0][0][:2]
    async with Proxy(cluster.port) as proxy:
        proxy.replaced = (f"server_version\x00{version}".encode(), b"server_version\x0012")
        error = await refusal(cluster.url(cluster.create(), port=proxy.port))

    assert "PostgreSQL 12, which is too old" in error.problem


async def test_a_server_without_encryption_is_told(database: str) -> None:
    error = await refusal(f"{database}?sslmode=require")

    assert "Can't encrypt the connection" in error.problem
    assert "sslmode" in error.advice


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (asyncpg.DiskFullError("no space left"), StoreFull, "disk of the database"),
        (asyncpg.DeadlockDetectedError("deadlock"), StoreBusy, "too busy"),
        (asyncpg.TooManyConnectionsError("too many"), StoreAway, "no free connection"),
        (asyncpg.CannotConnectNowError("starting up"), StoreAway, "starting up"),
        (asyncpg.DataCorruptedError("bad page"), StoreDamaged, "bad page"),
        (ssl.SSLCertVerificationError("self-signed"), StoreError, "self-signed"),
        (asyncpg.UndefinedTableError("no such table"), StoreError, "no such table"),
    ],
)
def test_what_else_goes_wrong_is_told(error: Exception, kind: type[StoreError], words: str) -> None:
    explained = explain(error, "host/db")

    assert type(explained) is kind
    assert words in str(explained)


def test_a_bug_of_ours_stays_one() -> None:
    bug = KeyError("name")

    assert explain(bug, "host/db") is bug


async def test_a_row_that_nobody_can_read_is_damage(cluster: Cluster, database: str) -> None:
    async with PostgresStore(database) as store:
        await store.apply([OpenAsk(an_ask())])
        cluster.run("UPDATE handraise.asks SET body = '{'", database=name_of(database))

        with pytest.raises(StoreDamaged):
            await store.ask("a_1")


def test_every_statement_names_our_schema() -> None:
    """Nobody's search_path decides which tables are meant."""
    unqualified = [name for name, each in SQL.items() if " FROM " in each.text and "handraise." not in each.text]

    assert sorted(unqualified) == ["end_lost_connections", "notify"]
