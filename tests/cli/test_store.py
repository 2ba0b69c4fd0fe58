"""`handraise store copy` as a person types it."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner, Result

from handraise.cli.main import main
from handraise.hub.hub import locked
from handraise.model.machines import Machine
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from postgres.cluster import PASSWORD, SECRETIVE, Cluster
from store.examples import a_text
from store.test_copying import HERE, contents, everything, filled


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir(mode=0o700)
    return tmp_path / "state" / "hub.db"


def typed(*words: object, **variables: str) -> Result:
    return CliRunner().invoke(main, ["store", "copy", *map(str, words)], env=variables)


async def test_a_file_is_copied_to_a_database_and_back(file: Path, empty_database: str) -> None:
    await filled(SqliteStore(file, HERE), everything())
    done = await _typed(file, empty_database)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Copied and compared ")
    back = file.parent / "back.db"
    done = await _typed(empty_database, f"sqlite://{back}")
    assert done.exit_code == 0, done.output
    assert await contents(SqliteStore(back, HERE)) == await contents(PostgresStore(empty_database, HERE))


async def test_nothing_is_copied_while_a_hub_uses_the_file_or_the_database(file: Path, database: str) -> None:
    await filled(SqliteStore(file, HERE), everything())
    for lock in ("hub.lock", "hub.db.lock"):
        with locked(file.with_name(lock), file):
            done = await _typed(file, database)
        assert (done.exit_code, "A hub is already running on" in done.output) == (1, True)
    async with PostgresStore(database, "m_1") as store:
        now = datetime.now(UTC)
        await store.claim(Machine("m_1", "build-2", "0.1.0", 4, now, now))
        done = await _typed(database, file.parent / "copy.db")
    assert done.exit_code == 1
    assert "in use by build-2. Stop the hubs there." in done.output
    assert not (file.parent / "copy.db").exists()


async def test_a_target_with_something_in_it_is_left_alone(file: Path, database: str) -> None:
    await filled(SqliteStore(file, HERE), everything())
    await filled(PostgresStore(database, HERE), [[a_text()]])
    done = await _typed(file, database)
    assert done.exit_code == 1
    assert "isn't empty" in done.output
    done = await _typed(database, file)
    assert (done.exit_code, "already exists" in done.output) == (1, True)


def test_wrong_words_are_wrong_usage(file: Path) -> None:
    secret = "postgresql://ana:hunter2@db.example/hub"
    for words, reason in (
        ([file], "Missing argument 'TO'"),
        ([file, file], "are the same database"),
        ([file, "mysql://db/hub"], "TO: mysql isn't supported"),
        ([file, "postgresql://db/hub?sslmode=on"], "TO: sslmode in the PostgreSQL URL must be one of"),
        ([secret, file], "FROM: other users can see a password on the command line"),
        ([file.parent / "", "postgresql://db/hub"], "There is no database"),
    ):
        done = typed(*words)
        assert done.exit_code in (1, 2)
        assert reason in done.output
        assert "hunter2" not in done.output
    assert not file.exists()


def test_the_password_of_the_settings_is_for_their_server_only(file: Path, cluster: Cluster, tmp_path: Path) -> None:
    name = cluster.create()
    cluster.run(f"ALTER DATABASE {name} OWNER TO {SECRETIVE}")
    url = cluster.url(name, role=SECRETIVE)
    settings = tmp_path / "handraise.toml"
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    (tmp_path / "password").chmod(0o600)
    settings.write_text(f'[store]\ndatabase = "{url}"\npassword_file = "password"\n')
    settings.chmod(0o600)
    none = str(tmp_path / "none")
    subprocess.run([sys.executable, "-c", _FILL, file, "m_here"], check=True)

    refused = typed(file, url, PGPASSFILE=none)
    assert refused.exit_code == 1
    assert "rejected the user name or password" in refused.output
    copied = typed(file, url, HANDRAISE_CONFIG=str(settings), PGPASSFILE=none)
    assert copied.exit_code == 0, copied.output
    elsewhere = url.replace(SECRETIVE, "handraise")
    settings.write_text(f'[store]\ndatabase = "{elsewhere}"\npassword_file = "password"\n')
    assert typed(url, file.parent / "x.db", HANDRAISE_CONFIG=str(settings), PGPASSFILE=none).exit_code == 1


def test_a_terminal_sees_progress_and_a_line_at_the_end(file: Path, empty_database: str) -> None:
    subprocess.run([sys.executable, "-c", _FILL, file, "m_here"], check=True)
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "handraise", "store", "copy", str(file), empty_database],
        timeout=60,
        encoding="utf-8",
        env={**os.environ, "TERM": "xterm"},
    )
    terminal.expect(r"items: 300 of 300 \(100 %\)")
    terminal.expect(r"Copied and compared [\d,]+ rows")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


_FILL = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from handraise.model.items import Text
from handraise.store.changes import PublishItems
from handraise.store.sqlite.store import SqliteStore

async def fill():
    async with SqliteStore(Path(sys.argv[1]), sys.argv[2]) as store:
        await store.apply([PublishItems(None, datetime.now(UTC), Text("x", "m")) for _ in range(300)])

asyncio.run(fill())
"""


async def _typed(*words: object) -> Result:
    import asyncio

    return await asyncio.to_thread(typed, *words)
