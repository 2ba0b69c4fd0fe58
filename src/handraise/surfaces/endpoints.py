"""Where the hub may send something: to the public internet, never to a machine in its own network. Pure.

People name endpoints, so they are untrusted: none may become a way to reach what only the hub can reach.
"""

from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from handraise.model.addresses import is_public

_LONGEST = 2048


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
