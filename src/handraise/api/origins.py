"""Where a request comes from: its host, its origin and its address, proxies included. Pure."""

from collections.abc import Collection, Mapping, Sequence
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
"""On every answer."""

HEADER = "x-forwarded-for"
_ONE_CLIENT = 64
"""How many bits of an IPv6 address tell one client from another; the rest is its own to choose."""


def host_is_ours(host: str | None, allowed: Collection[str]) -> bool:
    """Whether a Host header names us: a name that somebody pointed at us (DNS rebinding) does not."""
    if not host:
        return False
    name = _name(host)
    return name in _LOOPBACK or name in allowed or host.lower() in allowed


def origin_is_ours(origin: str | None, host: str | None, allowed: Collection[str], *, secure: bool = False) -> bool:
    """Whether a page of this origin may change something: one that came from this very host, or from an allowed one.

    A proxy may have put another Host in place of the one that the page came from; the allowed ones are known by name.
    A hub that is `secure` trusts no page that came in the clear, where others could have written it.
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
    """A change needs our own origin where a browser sends one, and always where a cookie speaks for somebody."""
    if method in ("GET", "HEAD", "OPTIONS"):
        return True
    origin = headers.get("origin")
    if origin is None:
        return not by_cookie
    return origin_is_ours(origin, headers.get("host"), allowed, secure=secure)


def _name(host: str) -> str:
    """Without its port; as it is, if that is none."""
    lowered = host.lower()
    name, colon, port = lowered.rpartition(":")
    is_port = port == "" or (port.isascii() and port.isdigit())
    return name if colon and is_port and (name.endswith("]") or ":" not in name) else lowered


def address_of(peer: str, forwarded: Sequence[str], trusted: Collection[str]) -> str:
    """The nearest address that is no proxy of ours; `forwarded` are the headers, in their order.

    Every proxy adds to the right whom it heard from. So what stands to the left of the first stranger is the stranger's
    own word, and counts for nothing.
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


def spelled(address: str) -> str:
    """An IP address in its one spelling; whatever else it is stays as it is."""
    return _plain(address) or address


def client_of(address: str) -> str:
    """The same for all addresses that one client can have."""
    plain = _plain(address)
    if plain is None or not isinstance(ip_address(plain), IPv6Address):
        return address
    return str(IPv6Network((plain, _ONE_CLIENT), strict=False))


def _plain(address: str) -> str | None:
    """Without port and brackets; None if it is no IP address."""
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
