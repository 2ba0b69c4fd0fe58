"""Asks the kernel about one TCP connection (sock_diag(7)), since the tables in /proc list all of them. Linux only."""

import socket
import struct
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

Address = tuple[str, int]

_NETLINK_SOCK_DIAG = 4
_BY_FAMILY, _ERROR, _REQUEST = 20, 2, 1
_HEADER = struct.Struct("=IHHII")
_WANTED = struct.Struct("=BBBxI")
_ENDS = struct.Struct("!HH16s16s")
_REST = struct.Struct("=I8s")
_REPLY = struct.Struct("=BBBB48sIIIII")
_ANY_STATE, _ANY_COOKIE = 0xFFFFFFFF, b"\xff" * 8
_MOST = 4096


class SocketOwner(NamedTuple):
    """Whose socket it is. The inode is 0 once its process has closed it."""

    user: int
    inode: int


def find_owner(local: Address, remote: Address) -> SocketOwner | None:
    """The socket of this machine with these ends; None if there is none. Raises OSError if the kernel doesn't say."""
    family, ends = _ends(local, remote)
    wanted = _WANTED.pack(family, socket.IPPROTO_TCP, 0, _ANY_STATE) + ends + _REST.pack(0, _ANY_COOKIE)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1)
        kernel.send(_HEADER.pack(_HEADER.size + len(wanted), _BY_FAMILY, _REQUEST, 0, 0) + wanted)
        reply = kernel.recv(_MOST)
    kind = _HEADER.unpack_from(reply)[1]
    if kind == _ERROR or len(reply) < _HEADER.size + _REPLY.size:
        return None
    *_, found, _, _, _, user, inode = _REPLY.unpack_from(reply, _HEADER.size)
    # A listener with the same port is no answer.
    return SocketOwner(user, inode) if found[:4] == ends[:4] else None


def _ends(local: Address, remote: Address) -> tuple[int, bytes]:
    packed = [_packed(each[0]) for each in (local, remote)]
    family = socket.AF_INET6 if any(len(each) > 4 for each in packed) else socket.AF_INET
    first, second = (each.ljust(16, b"\0") for each in packed)
    return family, _ENDS.pack(local[1], remote[1], first, second)


def _packed(address: str) -> bytes:
    found = ip_address(address)
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return found.packed
