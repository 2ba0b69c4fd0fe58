"""Confined code: it reaches servers that it may reach, and nothing else."""

import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from handraise.channels.confined import Confinement, NotAllowed


def confined(work: Callable[[], object], *, private: bool = False) -> Confinement:
    confinement = Confinement(private=private)
    with confinement.entered():
        work()
    return confinement


def test_it_starts_no_program_and_touches_no_file(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("secret")
    attempts: list[Callable[[], object]] = [
        lambda: subprocess.run(["true"], check=False),
        lambda: os.system("true"),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        own.read_text,
        lambda: own.write_text("x"),
        lambda: (tmp_path / "new").write_text("x"),
        lambda: Path("/etc/passwd").read_text(),
        own.unlink,
        lambda: own.rename(tmp_path / "other"),
        (tmp_path / "folder").mkdir,
    ]
    for attempt in attempts:
        confinement = Confinement(private=True)
        with confinement.entered(), pytest.raises(NotAllowed):
            attempt()
        assert confinement.limit == "local"
    assert own.read_text() == "secret"
    assert list(tmp_path.iterdir()) == [own]


def test_python_may_read_its_own_files() -> None:
    confined(lambda: Path(os.__file__).read_bytes())


def test_it_connects_to_no_private_address_unless_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with pytest.raises(NotAllowed):
            confined(lambda: socket.create_connection(address))
        made = confined(lambda: socket.create_connection(address).close(), private=True)
        assert made.has_connected
        made.abandon()


@pytest.mark.parametrize("private", [True, False])
def test_it_uses_no_socket_of_this_machine_and_no_datagrams(tmp_path: Path, private: bool) -> None:
    with socket.socket(socket.AF_UNIX) as local, pytest.raises(NotAllowed):
        confined(lambda: local.connect(str(tmp_path / "hub.sock")), private=private)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, pytest.raises(NotAllowed):
        confined(lambda: datagrams.sendto(b"x", ("127.0.0.1", 9)), private=private)


def test_other_threads_are_free_and_so_is_this_one_afterwards(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("secret")
    found: list[str] = []
    with Confinement(private=False).entered():
        thread = threading.Thread(target=lambda: found.append(own.read_text()))
        thread.start()
        thread.join()
    assert found == [own.read_text()]


def test_what_is_abandoned_ends_and_connects_no_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        confinement = Confinement(private=True)
        with confinement.entered():
            connection = socket.create_connection(server.getsockname())
            confinement.abandon()
            assert connection.recv(1) == b""
            with pytest.raises(NotAllowed):
                socket.create_connection(server.getsockname())
        connection.close()
