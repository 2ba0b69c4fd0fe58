"""What is sent of a title, a text and a link: nothing hidden, nothing too long, nothing that ends a line. Pure."""

import re
from urllib.parse import urlsplit

from handraise.model.names import reveal

_LONGEST_LINK = 2000
_BREAKS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")


def line_of(text: str, most: int) -> str:
    """One line of at most so many bytes."""
    return cut(reveal(" ".join(text[: most * 4].split())), most)


def text_of(text: str, most: int) -> str:
    """Lines of at most so many bytes in all. Hidden characters are marked."""
    return cut(reveal(_BREAKS.sub("\n", text[: most * 4])).strip(), most)


def link_of(link: str) -> str:
    """The link if it is one that can be opened on any phone, or nothing."""
    if len(link) > _LONGEST_LINK or not link.isascii() or not link.isprintable() or set(link) & set(' "<>\\^`{|}'):
        return ""
    try:
        parts = urlsplit(link)
        return link if parts.scheme in ("http", "https") and parts.hostname else ""
    except ValueError:
        return ""


def cut(text: str, most: int) -> str:
    """The text in at most so many bytes of UTF-8, with `…` if something is missing. No character is cut in two."""
    encoded = text.encode()
    if len(encoded) <= most:
        return text
    return encoded[: max(most - len("…".encode()), 0)].decode(errors="ignore") + "…"
