"""Which IP addresses are on the public internet. Pure.

An address that a person names must not become a way to reach what only the hub can reach.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_TRANSLATED = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address is on the public internet, even inside an IPv6 address."""
    read = _read(address)
    return read is not None and read.is_global and not read.is_multicast and not read.is_reserved


def is_loopback(address: str) -> bool:
    """Whether an IP address is this machine's own, even inside an IPv6 address."""
    read = _read(address)
    return read is not None and read.is_loopback


def _read(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return _unwrapped(ip_address(address.partition("%")[0]))
    except ValueError:
        return None


def _unwrapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 one stands for, if any."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
