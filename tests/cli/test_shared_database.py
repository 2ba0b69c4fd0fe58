"""`handraise serve` on a shared database: what is wrong with it is one sentence, and nothing is half done."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from handraise.cli.hub_settings import service
from handraise.config.database import SharedDatabase, shared_database
from handraise.config.tables import SettingsRefused
from handraise.doctor.database import check_shared
from handraise.hub.hub import locked
from handraise.model.machines import Machine
from handraise.store.interface import StoreFull
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.copying import SqliteSource
from handraise.store.sqlite.store import SqliteStore
from postgres.cluster import PASSWORD, ROLE, SECRETIVE, Cluster, free_port, unprivileged
from postgres.proxy import Proxy
from store.examples import a_text, texts_of
from store.test_copying import HERE, copied, filled, to_postgres

EACH = """
import json, sys
from click.testing import CliRunner
from handraise.cli.main import main
for words in json.load(sys.stdin):
    done = CliRunner().invoke(main, words)
    print(json.dumps([done.exit_code, done.output]), flush=True)
"""
NO_CLAUDE = {"HANDRAISE_LIMITS_PARALLEL": "0", "HANDRAISE_CLAUDE_PATH": "/nowhere/claude"}


def served(state: Path, *urls: str, **variables: str) -> list[tuple[int, str]]:
    """How serving each of them ended, in one process that imports everything once."""
    options = ("--port", "0", "--state", str(state), "--verbose")
    return entered(*(["serve", *options, "--database", url] for url in urls), **variables)


def entered(*words: list[str], **variables: str) -> list[tuple[int, str]]:
    """How each of these commands ended."""
    done = subprocess.run(
        [sys.executable, "-c", EACH],
        input=json.dumps(words),
        capture_output=True,
        text=True,
        env={**os.environ, **NO_CLAUDE, **variables},
        timeout=120,
        check=True,
    )
    assert PASSWORD not in done.stderr
    return [(code, output) for code, output in map(json.loads, done.stdout.splitlines())]


def test_every_wrong_database_is_a_sentence_and_nothing_is_changed(tmp_path: Path, cluster: Cluster) -> None:
    foreign, quiet, closed = (cluster.create() for _ in range(3))
    cluster.run("CREATE TABLE customers (id int)", database=foreign)
    cluster.run(f"ALTER DATABASE {quiet} SET default_transaction_read_only = on")
    cases = {
        "mysql://db/hub": "Error: --database: mysql isn't supported. Use sqlite:///",
        "postgresql://db/hub?sslmode=always": "Error: --database: sslmode in the PostgreSQL URL must be one of",
        f"postgresql://ana@127.0.0.1:{free_port()}/hub": "Error: Can't reach the database 127.0.0.1",
        cluster.url("nowhere"): "Error: There is no database 127.0.0.1",
        cluster.url(closed, role=SECRETIVE): "rejected the user name or password",
        cluster.url(closed, role=f"{SECRETIVE}:hunter2"): "other users can see a password on the command line",
        cluster.url(foreign): "belongs to another program",
        cluster.url(quiet): "is read-only",
    }
    wrong = tmp_path / "password"
    wrong.write_text("hunter2")
    wrong.chmod(0o600)
    results = served(tmp_path / "state", *cases, HANDRAISE_STORE_PASSWORD_FILE=str(wrong))

    for (code, output), sentence in zip(results, cases.values(), strict=True):
        assert code == 1
        assert sentence in output
        assert "hunter2" not in output
        assert "Traceback" not in output
        assert output.rstrip().endswith((".", ")", "database", "handraise)")), output
    for name in (foreign, quiet, closed):
        assert cluster.run("SELECT to_regnamespace('handraise')", database=name)[0][0] is None


def test_a_gateway_runs_without_claude_code_and_with_the_password_from_a_file(tmp_path: Path, cluster: Cluster) -> None:
    name = cluster.create()
    cluster.run(f"ALTER DATABASE {name} OWNER TO {SECRETIVE}")
    password = tmp_path / "password"
    password.write_text(f"{PASSWORD}\n")
    password.chmod(0o600)
    hub = subprocess.Popen(
        [sys.executable, "-m", "handraise", "serve", "--port", "0", "--state", str(tmp_path / "state"),
         "--database", cluster.url(name, role=SECRETIVE), "--verbose"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **NO_CLAUDE, "HANDRAISE_STORE_PASSWORD_FILE": str(password)},
    )  # fmt: skip
    try:
        assert hub.stdout is not None
        lines = [hub.stdout.readline()]
        deadline = time.monotonic() + 60
        while "To sign in" not in lines[-1] and hub.poll() is None and time.monotonic() < deadline:
            lines.append(hub.stdout.readline())
        listed = Path(f"/proc/{hub.pid}/cmdline").read_text()
        hub.send_signal(signal.SIGTERM)
        rest, _ = hub.communicate(timeout=60)
    finally:
        if hub.poll() is None:
            hub.kill()
    output = "".join([*lines, rest])
    assert "Handraise is up at http://127.0.0.1:" in output
    assert PASSWORD not in output + listed
    assert hub.returncode == 0, output


async def test_a_copied_state_directory_gets_an_identity_of_its_own(tmp_path: Path, database: str) -> None:
    state = tmp_path / "copy"
    state.mkdir(mode=0o700)
    (state / "machine.json").write_text('{"id": "m_0123456789abcdef"}')
    at = datetime.now(UTC)
    async with PostgresStore(database, "m_0123456789abcdef") as first:
        await first.claim(Machine("m_0123456789abcdef", "laptop", "1.0.0", 8, at, at))
        beating = asyncio.create_task(_beat(first))
        serving, renewing = await asyncio.to_thread(
            entered,
            ["serve", "--port", "0", "--state", str(state), "--database", database],
            ["machines", "new-identity", "--state", str(state), "--yes"],
            **NO_CLAUDE,
        )
        beating.cancel()
        assert serving[0] == 1
        assert "Another hub is running as this machine (laptop)" in serving[1]
        assert "handraise machines new-identity" in serving[1]
        assert (renewing[0], "(before: m_0123456789abcdef)" in renewing[1]) == (0, True), renewing
        made = json.loads((state / "machine.json").read_text())["id"]
        assert f"is now machine {made}" in renewing[1]
        assert made != "m_0123456789abcdef"
        await first.beat(at)  # nobody took it over


async def _beat(store: PostgresStore) -> None:
    while True:
        await store.beat(datetime.now(UTC))
        await asyncio.sleep(0.1)


def test_an_identity_is_renewed_only_if_there_is_one_and_no_hub_uses_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    words = ["machines", "new-identity", "--state", str(state), "--yes"]
    ((code, output),) = entered(words)
    assert (code, "has no identity yet" in output) == (1, True)
    (state / "machine.json").write_text("{")
    with locked(state / "hub.lock", state):
        ((code, output),) = entered(words)
    assert (code, "A hub is already running" in output) == (1, True)
    ((code, output),) = entered(words)
    assert (code, "Restore it from a backup" in output) == (1, True)
    assert (state / "machine.json").read_text() == "{"


def test_a_gateway_needs_a_shared_database(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match=r"parallel = 0 makes this hub a gateway.*postgresql://"):
        service({**NO_CLAUDE}, tmp_path, None, None)


def test_claude_sees_neither_the_database_nor_its_password(tmp_path: Path) -> None:
    passwords = tmp_path / "pgpass"
    passwords.touch(0o600)
    (tmp_path / "password").write_text("hunter2")
    (tmp_path / "password").chmod(0o600)
    environ = {
        "HANDRAISE_STORE_DATABASE": "postgresql://ana@db.example/hub",
        "HANDRAISE_STORE_PASSWORD_FILE": str(tmp_path / "password"),
        "HANDRAISE_MACHINE_NAME": "build-2",
        "PGPASSFILE": str(passwords),
        "PGPASSWORD": "hunter2",
        "PATH": "/usr/bin:/bin",
    }
    made = service(environ, tmp_path / "state", None, None)

    assert made.environment.keys() & {"HANDRAISE_STORE_DATABASE", "PGPASSWORD", "PGPASSFILE"} == set()
    assert {passwords, tmp_path / "password"} <= {*made.hidden}
    assert (made.database, made.machine_name) == (None, "build-2")
    assert made.store is not None
    assert made.store("m_1").machine == "m_1"
    assert "hunter2" not in repr(made)

    alone = service({"PATH": "/usr/bin:/bin", "PGPASSWORD": "theirs"}, tmp_path / "state", None, None)
    assert alone.environment["PGPASSWORD"] == "theirs"


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [("hunter2", 0o644, "Other users can access"), ("", 0o600, "in one line"), ("hunter2\nmore", 0o600, "in one line")],
)
def test_an_unfit_password_file_is_refused_without_its_content(
    tmp_path: Path, content: str, mode: int, reason: str
) -> None:
    (tmp_path / "password").write_text(content)
    (tmp_path / "password").chmod(mode)
    environ = {
        "HANDRAISE_STORE_DATABASE": "postgresql://ana@db.example/hub",
        "HANDRAISE_STORE_PASSWORD_FILE": str(tmp_path / "password"),
    }
    with pytest.raises(SettingsRefused, match=reason) as refused:
        service(environ, tmp_path / "state", None, None)
    assert "hunter2" not in str(refused.value)
    (tmp_path / "password").unlink()
    with pytest.raises(SettingsRefused, match=r"No such file.*Fix \[store\] password_file"):
        service(environ, tmp_path / "state", None, None)


def test_without_the_extra_the_command_to_install_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "asyncpg.py").write_text("raise ModuleNotFoundError('No module', name='asyncpg')\n")
    [(code, output)] = served(tmp_path / "state", "postgresql://ana@db.example/hub", PYTHONPATH=str(tmp_path))
    assert (code, output) == (1, "Error: PostgreSQL needs: pip install 'handraise[postgres]'\n")


@pytest.fixture
def small_disk(tmp_path: Path, cluster: Cluster) -> Iterator[Any]:
    """The name of a database on a disk of its own with little room, and a way to make that larger."""
    folder = cluster.folder / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "small", folder], check=False).returncode:
        pytest.skip("a small disk can be made by root only")
    try:
        if owner := unprivileged():
            os.chown(folder, owner["user"], owner["group"])
        cluster.run(f"CREATE TABLESPACE small LOCATION '{folder}'")
        cluster.run(f"CREATE DATABASE on_small TEMPLATE template0 OWNER {ROLE} TABLESPACE small")
        yield (
            cluster.url("on_small"),
            lambda size: subprocess.run(["mount", "-o", f"remount,size={size}m", folder], check=True),
        )
        cluster.run("DROP DATABASE on_small WITH (FORCE)", "DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


async def test_a_full_disk_is_said_loses_nothing_and_can_be_repaired(
    tmp_path: Path, cluster: Cluster, small_disk: Any
) -> None:
    url, enlarge = small_disk
    await filled(SqliteStore(tmp_path / "hub.db", HERE), [[a_text(os.urandom(200_000).hex())] for _ in range(60)])
    with pytest.raises(StoreFull, match=r"disk of the database .* is full"):
        await copied(SqliteSource(tmp_path / "hub.db"), to_postgres(url))
    enlarge(14)
    cluster.run("VACUUM", database="on_small")  # as the server does by itself, later

    async with PostgresStore(url, HERE) as store:
        assert await store.cursors() == (0, 0)
        stored, full = 0, None
        while full is None and stored < 200:
            try:
                await store.apply([a_text(f"{stored} {os.urandom(100_000).hex()}")])
                stored += 1
            except StoreFull as error:
                full = error
        assert full is not None
        assert "is full. Free some space." in str(full)
        items = texts_of(await store.items(after=0, limit=1000))
        assert [int(text.split()[0]) for text in items] == list(range(stored))
        assert stored > 0

        enlarge(64)
        await store.apply([a_text("there is room again")])
        assert (await store.cursors())[1] == stored + 1


async def test_an_old_server_is_said_and_nothing_is_created_there(cluster: Cluster) -> None:
    """Only one version is installed here, so a proxy makes it say another one."""
    name = cluster.create()
    real = cluster.run("SHOW server_version")[0][0].partition(".")[0].encode()
    async with Proxy(cluster.port) as proxy:
        proxy.replaced = b"server_version\0" + real, b"server_version\0" + b"12"
        url = cluster.url(name, port=proxy.port)
        found = await check_shared(_shared(url), None)
    assert (found[-1].verdict, "is PostgreSQL 12, which is too old" in found[-1].sentence) == ("fail", True)
    assert found[-1].advice == "Upgrade it to PostgreSQL 13 or newer."
    assert cluster.run("SELECT to_regnamespace('handraise')", database=name)[0][0] is None


def _shared(url: str) -> SharedDatabase:
    found = shared_database(url)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("sslmode=verify-full", "sslmode=verify-full needs the certificate of the authority"),
        ("sslmode=verify-ca", "or put the certificate at"),
        (
            "sslmode=verify-full&sslrootcert=/none/ca.pem",
            "sslrootcert in the database URL: there is no file /none/ca.pem",
        ),
        ("sslcert=/none/c.pem", "sslcert in the database URL: there is no file /none/c.pem"),
        ("ssl_min_protocol_version=3", "must be one of TLSv1.2, TLSv1.3"),
    ],
)
def test_a_certificate_that_is_missing_is_named(
    tmp_path: Path, query: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SettingsRefused) as refused:
        service(NO_CLAUDE, tmp_path / "state", None, None, f"postgresql://ana@db.example/hub?{query}")
    assert sentence in str(refused.value)
