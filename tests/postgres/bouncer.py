"""A real PgBouncer in front of a test's server, in any of its modes."""

import shutil
import socket
import subprocess
import time
from typing import Literal

import pytest

from postgres.cluster import ROLE, SECONDS, Cluster, free_port, unprivileged


class Bouncer:
    """Started and ended with `with`; skips the test where it isn't installed."""

    def __init__(self, cluster: Cluster, mode: Literal["session", "transaction"]) -> None:
        program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
        if program is None:
            pytest.skip("PgBouncer is not installed: run dev/postgres")
        self._program = program
        self._settings = cluster.folder / f"bouncer-{mode}.ini"
        self.port = free_port()
        users = cluster.folder / "users.txt"
        users.write_text(f'"{ROLE}" ""\n')
        self._settings.write_text(
            f"[databases]\n* = user={ROLE} host=127.0.0.1 port={cluster.port}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\npool_mode = {mode}\n"
            f"auth_type = any\nauth_file = {users}\nunix_socket_dir =\n"
            "max_client_conn = 100\ndefault_pool_size = 20\nlogfile =\n"
        )
        for path in (users, self._settings):
            path.chmod(0o644)

    def __enter__(self) -> "Bouncer":
        self._process = subprocess.Popen(
            [self._program, self._settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **unprivileged()
        )
        deadline = time.monotonic() + SECONDS
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("PgBouncer didn't start")
            time.sleep(0.02)
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.wait()

    def url(self, database: str) -> str:
        """The same database through this pooler."""
        return f"postgresql://{ROLE}@127.0.0.1:{self.port}/{database.rpartition('/')[2]}"

    def _listens(self) -> bool:
        with socket.socket() as found:
            return found.connect_ex(("127.0.0.1", self.port)) == 0
