"""A real PostgreSQL server in a temporary folder, for tests: started, killed, frozen and ended by its pid."""

import asyncio
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

import asyncpg

from handraise.store.postgres.store import PostgresStore

T = TypeVar("T")

HOW_TO_INSTALL = "PostgreSQL is not installed: run dev/postgres"
ROLE = "handraise"
"""Owns its databases and may do nothing else."""
SECRETIVE = "secretive"
"""A role that needs a password over TCP."""
PASSWORD = "correct horse"
SECONDS = 60
PORTS = (12_000, 32_000)
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "jit": "off",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "listen_addresses": "'127.0.0.1'",
    "deadlock_timeout": "50ms",
    # In its folder: a server that is killed leaves shared memory behind.
    "dynamic_shared_memory_type": "mmap",
}
ACCESS = f"""\
local all all trust
host all {SECRETIVE} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
host replication postgres 127.0.0.1/32 trust
"""
EMPTY = """\
DO $$
DECLARE
    each regclass;
BEGIN
    FOR each IN
        SELECT oid FROM pg_class WHERE relnamespace = 'handraise'::regnamespace AND relkind = 'r'
        AND relname NOT IN ('feed', 'migrations')
    LOOP
        EXECUTE format('DELETE FROM %s', each);
    END LOOP;
    UPDATE handraise.feed SET newest = 0, pruned = 0, audited = 0, rules = 0;
END $$
"""
"""Empties our tables, in one request."""


def programs() -> Path | None:
    """The folder of PostgreSQL's server programs, the newest version's."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    return Path(program).parent if program else None


def unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: arguments that start a program as somebody else."""
    if os.getuid() != 0:
        return {}
    names = {each.pw_name for each in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def free_port() -> int:
    """Below those that the kernel gives to outgoing connections: one of these could take it while a server is down.

    Even a connection to this very port could, which would then be connected to itself.
    """
    while True:
        port = random.randrange(*PORTS)
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


class Cluster:
    """Starts at once. `with` ends it and removes its folder."""

    def __init__(
        self, bin_folder: Path, *, inside: Path | None = None, template: Path | None = None, **settings: str
    ) -> None:
        """`inside` is where its folder is made; `template` is the data of a stopped cluster, to copy."""
        self._bin = bin_folder
        self._template = template
        self._names = count(1)
        self._thread = ThreadPoolExecutor(1)
        self._frozen: tuple[int, ...] = ()
        self.spare: list[str] = []
        """Empty databases with our schema."""
        self.folder = Path(mkdtemp(prefix="handraise-pg-", dir=inside or fast_folder()))
        self._give(self.folder)
        self.data = self.folder / "data"
        self.port = free_port()
        self._fill()
        chosen = {**SETTINGS, "port": str(self.port), "unix_socket_directories": f"'{self.folder}'", **settings}
        self._configure("".join(f"{key} = {value}\n" for key, value in chosen.items()))
        self.start()

    def _fill(self) -> None:
        if self._template:
            subprocess.run(["cp", "-a", self._template, self.data], check=True)
            return
        self._run("initdb", "-D", self.data, "-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust", "-N")
        self._write(self.data / "pg_hba.conf", ACCESS)

    def _configure(self, lines: str) -> None:
        self._write(self.data / "postgresql.auto.conf", lines)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_error: object) -> None:
        self.kill()
        self._thread.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, *, role: str = ROLE, port: int | None = None) -> str:
        """Over loopback; `port` is a proxy's."""
        return f"postgresql://{role}@127.0.0.1:{port or self.port}/{database}"

    def clear(self, database: str) -> None:
        """Ends its connections and empties our tables: much faster than a new database."""
        self.run(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
            " AND pid <> pg_backend_pid()",
            EMPTY,
            database=database,
        )

    def create(self, template: str = "template1") -> str:
        """A fresh database, and its name."""
        name = f"test_{next(self._names)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {ROLE}")
        return name

    def run(self, *statements: str, database: str = "postgres") -> list[Any]:
        """Executes each as the superuser, and returns the rows of the last."""

        async def work() -> list[Any]:
            connection = await self.connect(database)
            try:
                for statement in statements[:-1]:
                    await connection.execute(statement)
                return list(await connection.fetch(statements[-1]))
            finally:
                await connection.close()

        return self._apart(work)

    def prepare(self, database: str) -> None:
        """Brings its schema up to date."""

        async def work() -> None:
            async with PostgresStore(self.url(database)):
                pass

        self._apart(work)

    async def connect(self, database: str = "postgres") -> "asyncpg.Connection[Any]":
        """As the superuser."""
        return await asyncpg.connect(
            host=str(self.folder), port=self.port, user="postgres", database=database, ssl=False
        )

    def start(self) -> None:
        """Returns when it accepts connections."""
        self._server = self._thread.submit(self._spawn).result()
        deadline = time.monotonic() + SECONDS
        while not self._ready():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text(errors="replace"))
            time.sleep(0.02)

    def kill(self) -> None:
        """Every process at once, as when the machine loses power."""
        children = self._children()
        for pid in (self._server.pid, *children):
            _signal(pid, signal.SIGKILL)
        self._server.wait()
        deadline = time.monotonic() + SECONDS
        while any(_runs(pid) for pid in children) and time.monotonic() < deadline:
            time.sleep(0.01)

    def restart(self) -> None:
        """Killed and started again."""
        self.kill()
        self.start()

    def stop(self) -> None:
        """In an orderly way: sessions are ended, nothing is recovered later."""
        self._server.send_signal(signal.SIGINT)
        self._server.wait(SECONDS)

    def freeze(self) -> None:
        """Connections stay open, and nobody answers."""
        self._frozen = (self._server.pid, *self._children())
        for pid in self._frozen:
            _signal(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._frozen:
            _signal(pid, signal.SIGCONT)
        self._frozen = ()

    def pids(self) -> list[int]:
        """Its processes, the server itself first."""
        return [self._server.pid, *self._children()]

    def _spawn(self) -> "subprocess.Popen[bytes]":
        """On the cluster's own thread: the server ends with the thread that started it, however that ends."""
        # Not by a preexec_fn: Python code between fork and exec hangs if another thread held a lock at that moment.
        setpriv = shutil.which("setpriv")
        with_parent = [setpriv, "--pdeathsig", "QUIT"] if setpriv else []
        command = [*with_parent, str(self._bin / "postgres"), "-D", str(self.data)]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **unprivileged())

    def _ready(self) -> bool:
        try:
            self.run("SELECT 1")
        except (OSError, asyncpg.PostgresError):
            return False
        return True

    def _children(self) -> list[int]:
        listed = Path(f"/proc/{self._server.pid}/task/{self._server.pid}/children")
        return [int(pid) for pid in listed.read_text().split()] if listed.exists() else []

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._bin / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", **unprivileged())
        if done.returncode:
            raise RuntimeError(done.stderr)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        self._give(path)

    def _give(self, path: Path) -> None:
        owner = unprivileged()
        if owner:
            os.chown(path, owner["user"], owner["group"])

    def _apart(self, work: Callable[[], Awaitable[T]]) -> T:
        """Waits for work on a loop of its own, also where one is running already."""

        async def done() -> T:
            return await work()

        return self._thread.submit(lambda: asyncio.run(done())).result(SECONDS)


class Standby(Cluster):
    """A streaming replica of another server, made with pg_basebackup. The primary can wait for it at each commit."""

    def __init__(self, primary: Cluster, *, synchronous: bool) -> None:
        self._primary = primary
        super().__init__(primary._bin, cluster_name="standby")
        if synchronous:
            primary.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            primary.run("SELECT pg_reload_conf()")
        state = "sync" if synchronous else "async"
        deadline = time.monotonic() + SECONDS
        while primary.run("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'") != [(state,)]:
            if time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text(errors="replace"))
            time.sleep(0.02)

    def __enter__(self) -> "Standby":
        return self

    def stop_following(self) -> None:
        """What the primary commits from now on never gets here."""
        self.run("ALTER SYSTEM SET primary_conninfo = ''")
        self.run("SELECT pg_reload_conf()")
        deadline = time.monotonic() + SECONDS
        while self.run("SELECT 1 FROM pg_stat_wal_receiver"):
            if time.monotonic() > deadline:
                raise RuntimeError("the standby still follows")
            time.sleep(0.02)

    def promote(self) -> None:
        """From now on it accepts writes."""
        self.run("SELECT pg_promote()")

    def _fill(self) -> None:
        # -R writes where the primary is; the backup itself needs no lasting slot.
        where = ("-h", "127.0.0.1", "-p", self._primary.port, "-U", "postgres")
        self._run("pg_basebackup", *where, "-D", self.data, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")

    def _configure(self, lines: str) -> None:
        file = self.data / "postgresql.auto.conf"
        self._write(file, file.read_text() + lines)


def fast_folder() -> str:
    """In memory where there is room: a test needs no disk."""
    memory = "/dev/shm"
    roomy = os.path.isdir(memory) and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**31
    return memory if roomy else "/tmp"


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
