"""Against hostile pages: which hosts are ours, which origins may change something. Pure."""

from collections.abc import Collection, Mapping
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
