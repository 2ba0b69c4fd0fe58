"""Where a message may go: a push service on the public internet, never a machine in the hub's own network. Pure.

Every viewer can name an endpoint, so it is untrusted: it must not become a way to reach what only the hub can reach.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from handraise.model.addresses import is_public
from handraise.model.devices import Unusable
from handraise.texts import t

_LONGEST = 2048


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
    """Raises Unusable. `private` is for tests and self-hosted push services: it also allows plain HTTP."""
    if len(address) > _LONGEST or not address.isascii() or not address.isprintable() or " " in address:
        raise Unusable(t("push.error.address"))
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise Unusable(t("push.error.address")) from error
    if parts.scheme != "https" and not (private and parts.scheme == "http"):
        raise Unusable(t("push.error.https"))
    if not host or "@" in parts.netloc or parts.fragment or port == 0:
        raise Unusable(t("push.error.address"))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(parts.scheme, host, port or _PORTS[parts.scheme], target)


def check_addresses(addresses: list[str], *, private: bool = False) -> None:
    """Raises Unusable unless all of them are public: a private one could be the one that is used."""
    if not addresses:
        raise Unusable(t("push.error.not_found"))
    if not private and not all(is_public(each) for each in addresses):
        raise Unusable(t("push.error.private"))
