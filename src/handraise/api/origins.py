"""Where a request comes from: its host, its origin and its address, proxies included. Pure."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})

HEADERS: dict[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Sent with every response."""

HEADER = "x-forwarded-for"
_REMEMBERED = 1024
"""How many addresses are kept parsed: a client sends many requests."""
_ONE_CLIENT = 64
"""How many bits of an IPv6 address identify a client, which can choose the rest itself."""


def host_is_ours(host: str | None, allowed: Collection[str]) -> bool:
    """Whether a Host header names us: a foreign name that points at us (DNS rebinding) doesn't."""
    if not host:
        return False
    name = _name(host)
    return name in _LOOPBACK or name in allowed or host.lower() in allowed


def origin_is_ours(origin: str | None, host: str | None, allowed: Collection[str], *, secure: bool = False) -> bool:
    """Whether a page of this origin may change something: it came from this very host, or from an allowed one.

    A proxy may have replaced the Host that the page came from; allowed origins are known by name. A `secure` hub
    trusts no page served without TLS: others could have changed it.
    """
    try:
        parts = urlsplit(origin or "")
    except ValueError:
        return False
    where = parts.netloc.lower()
    if parts.scheme not in ("http", "https") or not host_is_ours(where, allowed):
        return False
    if secure and parts.scheme == "http" and _name(where) not in _LOOPBACK:
        return False
    return where == (host or "").lower() or where in allowed


def may_change(
    method: str, headers: Mapping[str, str], *, by_cookie: bool, allowed: Collection[str], secure: bool = False
) -> bool:
    """A change needs our own origin if a browser sends one, and always if a cookie authenticates it."""
    if method in ("GET", "HEAD", "OPTIONS"):
        return True
    origin = headers.get("origin")
    if origin is None:
        return not by_cookie
    return origin_is_ours(origin, headers.get("host"), allowed, secure=secure)


def _name(host: str) -> str:
    """Without its port; unchanged if it has none."""
    lowered = host.lower()
    name, colon, port = lowered.rpartition(":")
    is_port = port == "" or (port.isascii() and port.isdigit())
    return name if colon and is_port and (name.endswith("]") or ":" not in name) else lowered


def address_of(peer: str, forwarded: Sequence[str], trusted: Collection[str]) -> str:
    """The nearest address that isn't our proxy; `forwarded` are the headers, in order.

    Every proxy appends the address it got the request from. Everything left of the first untrusted address was written
    by that client, and is ignored.
    """
    nearest = spelled(peer)
    hops = [hop for header in forwarded for hop in header.split(",")]
    for hop in reversed(hops):
        if nearest not in trusted:
            break
        address = _plain(hop)
        if address is None:
            break
        nearest = address
    return nearest


@lru_cache(_REMEMBERED)
def spelled(address: str) -> str:
    """An IP address in canonical form; anything else unchanged."""
    return _plain(address) or address


@lru_cache(_REMEMBERED)
def client_of(address: str) -> str:
    """The same for all addresses that one client can have."""
    plain = _plain(address)
    if plain is None or not isinstance(ip_address(plain), IPv6Address):
        return address
    return str(IPv6Network((plain, _ONE_CLIENT), strict=False))


def _plain(address: str) -> str | None:
    """Without port and brackets; None if it isn't an IP address."""
    text = address.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text)
    except ValueError:
        return None
    inside = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(inside or found)
