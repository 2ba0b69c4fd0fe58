"""Parses a hub's address. Sans-IO."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, urlsplit


class HubAddress(NamedTuple):
    """`authority` is for the Host header; `path` goes before the path of each request."""

    host: str
    port: int
    is_secure: bool
    authority: str
    path: str


def read_address(address: str) -> HubAddress:
    """Raises ValueError if it isn't the address of a web server. Drops a user name and password."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("not the address of a web server")
    is_secure = parts.scheme == "https"
    authority = parts.netloc.rpartition("@")[2]
    if not authority.isascii():
        authority = authority.encode("idna").decode()
    path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
    return HubAddress(parts.hostname, parts.port or (443 if is_secure else 80), is_secure, authority, path)
