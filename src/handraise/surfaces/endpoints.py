"""Where the hub may send something: to the public internet, never to a machine in its own network. Pure.

People name endpoints, so they are untrusted: none may become a way to reach what only the hub can reach.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

_LONGEST = 2048
_TRANSLATED = IPv6Network("64:ff9b::/96")


class BadEndpoint(Exception):
    """Nothing may be sent there. Each surface has its own sentence for the reason."""

    def __init__(self, reason: Literal["address", "https", "not_found", "private"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Endpoint(NamedTuple):
    """A parsed endpoint. `target` is its path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def name(self) -> str:
        """As in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


_PORTS = {"https": 443, "http": 80}


def read_endpoint(address: str, *, private: bool = False) -> Endpoint:
    """Raises BadEndpoint. `private` is for tests and services in the own network: it also allows plain HTTP."""
    if len(address) > _LONGEST or not address.isascii() or not address.isprintable() or " " in address:
        raise BadEndpoint("address")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadEndpoint("address") from error
    if parts.scheme != "https" and not (private and parts.scheme == "http"):
        raise BadEndpoint("https")
    if not host or "@" in parts.netloc or parts.fragment or port == 0:
        raise BadEndpoint("address")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(parts.scheme, host, port or _PORTS[parts.scheme], target)


def check_addresses(addresses: list[str], *, private: bool = False) -> None:
    """Raises BadEndpoint unless all of them are public: a private one could be the one that is used."""
    if not addresses:
        raise BadEndpoint("not_found")
    if not private and not all(is_public(each) for each in addresses):
        raise BadEndpoint("private")


def is_public(address: str) -> bool:
    """Whether an IP address is on the public internet, even inside an IPv6 address."""
    try:
        read = _unwrapped(ip_address(address.partition("%")[0]))
    except ValueError:
        return False
    return read.is_global and not read.is_multicast and not read.is_reserved


def _unwrapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 one stands for, if any."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
