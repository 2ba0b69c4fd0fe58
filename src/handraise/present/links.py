"""The link of an MCP server as people see it: its host set apart, and opened only if nobody can misread it. Pure.

A browser reads an address more generously than any parser of ours. So only an address that leaves no room for two
readings can be opened; every other one is shown as text.
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote

from msgspec import Struct

from handraise.model.names import has_hidden_exactly, reveal_exactly
from handraise.present.headlines import quoted
from handraise.texts import t

_LONGEST = 8192
_PORTS = 65_535
_WEB = re.compile(r"(https?)://([^/?#\\@]+)((?:[/?#].*)?)", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{1,5}))?")
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ASCII = "".join(chr(code) for code in range(0x21, 0x7F))
_HERE = ("localhost", "127.0.0.1", "[::1]")


class CardLink(Struct, frozen=True):
    """An address in three parts. Without `href` it can't be opened; `cautions` are sentences about it."""

    before: str
    host: str
    """With its port. Letters that only look like others are in their ASCII spelling."""
    after: str
    href: str = ""
    cautions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.before}{self.host}{self.after}"


def link_of(url: str) -> CardLink:
    """The link for people; hidden characters are marked."""
    found = _WEB.fullmatch(url)
    if found is None or len(url) > _LONGEST or has_hidden_exactly(url) or any(each.isspace() for each in url):
        return _text_only(url)
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    named = _HOST.fullmatch(authority)
    host = _ascii_host(named[1]) if named else None
    if named is None or host is None or (named[2] and not 0 < int(named[2]) <= _PORTS):
        return _text_only(url)
    place = f"{host}:{int(named[2])}" if named[2] else host
    href = f"{scheme}://{place}{quote(rest or '/', safe=_ASCII)}"
    return CardLink(f"{scheme}://", place, rest, href, tuple(_cautions(scheme, host)))


def _text_only(url: str) -> CardLink:
    # A browser skips line breaks and tabs in an address, so they hide something too.
    marked = reveal_exactly(url).replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")
    return CardLink("", "", marked, cautions=(t("card.link.not_web"),))


def _ascii_host(host: str) -> str | None:
    """As a browser would ask for it; None if browsers may disagree."""
    lowered = host.lower()
    if lowered.startswith("["):
        return _ipv6(lowered)
    if not lowered.isascii():
        try:
            spelled = lowered.encode("idna").decode("ascii")
            # What can't be spelled back the same way is spelled differently by different browsers.
            if spelled.encode("ascii").decode("idna") != lowered:
                return None
        except UnicodeError:
            return None
        lowered = spelled
    if not _NAME.fullmatch(lowered):
        return None
    if _NUMBER.fullmatch(lowered.rstrip(".").rpartition(".")[2]):
        return _ipv4(lowered)
    return lowered


def _ipv6(host: str) -> str | None:
    try:
        return f"[{IPv6Address(host[1:-1])}]"
    except AddressValueError:
        return None


def _ipv4(host: str) -> str | None:
    """A number in any other spelling, such as `0x7f.1`, hides where it leads."""
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        return None


def _cautions(scheme: str, host: str) -> list[str]:
    cautions = []
    if any(label.startswith("xn--") for label in host.split(".")):
        cautions.append(t("card.link.foreign", host=quoted(_unicode_host(host))))
    if scheme == "http" and host not in _HERE:
        cautions.append(t("card.link.plain"))
    return cautions


def _unicode_host(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return host
