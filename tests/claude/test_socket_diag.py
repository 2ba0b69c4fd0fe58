"""The kernel's answer about one connection: the same as its tables in /proc."""

import os
import socket
import sys

import pytest

from handraise.claude.socket_diag import find_owner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


@pytest.mark.parametrize(
    ("listens", "host"), [("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "::ffff:127.0.0.1"), ("::1", "::1")]
)
def test_a_socket_has_a_user_and_an_inode_until_it_is_closed(listens: str, host: str) -> None:
    family = socket.AF_INET6 if ":" in listens else socket.AF_INET
    with socket.create_server((listens, 0), family=family) as listener:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as client:
            client.connect((host, listener.getsockname()[1]))
            accepted, peer = listener.accept()
            ends = (peer[0], peer[1]), accepted.getsockname()[:2]
            try:
                found = find_owner(*ends)
            except OSError:
                pytest.skip("this system doesn't let us ask")
            assert found == (os.geteuid(), os.fstat(client.fileno()).st_ino)
            assert find_owner(ends[1], ends[0]) == (os.geteuid(), os.fstat(accepted.fileno()).st_ino)
        closed = find_owner(*ends)
        assert closed is None or closed.inode == 0
        accepted.close()


def test_a_listener_is_not_a_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        try:
            assert find_owner(listener.getsockname(), ("127.0.0.1", 7)) is None
        except OSError:
            pytest.skip("this system doesn't let us ask")
