"""Where a request comes from: the other end, or what a proxy that we trust says of it. Pure."""

from collections.abc import Collection, Sequence
from ipaddress import IPv6Address, IPv6Network, ip_address

HEADER = "x-forwarded-for"
_ONE_CLIENT = 64
"""How many bits of an IPv6 address tell one client from another; the rest is its own to choose."""


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
        said = _plain(hop)
        if said is None:
            break
        nearest = said
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


def _plain(told: str) -> str | None:
    """Without port and brackets; None if it is no IP address."""
    text = told.strip()
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
