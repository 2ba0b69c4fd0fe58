"""How a row's JSON is stored without its long texts: the pieces between them, and the hashes of the texts. Pure.

Such a row starts with a mark that no JSON starts with.
"""

import zlib
from collections.abc import Callable, Iterator
from hashlib import blake2b

from msgspec import json

MARK = b"\x01"
WORTH_IT = 16 * 1024
"""A shorter row is stored as it is."""
_LONG = 4096
_LEVEL = 1
"""Compresses fast rather than well: the writer has other work."""


def hash_of_text(literal: bytes) -> bytes:
    """What a text is stored under."""
    return blake2b(literal, digest_size=20).digest()


def compressed(literal: bytes) -> bytes:
    """A text as it is stored."""
    return zlib.compress(literal, _LEVEL)


def packed(whole: bytes, keep: Callable[[bytes], bytes]) -> bytes:
    """The row without its long literals, each passed to `keep` for a hash; unchanged if it has none."""
    pieces: list[str] = []
    at = 0
    for start, end in _literals(whole):
        pieces += [whole[at:start].decode(), keep(whole[start:end]).hex()]
        at = end
    return MARK + json.encode([*pieces, whole[at:].decode()]) if pieces else whole


def unpacked(packed: bytes, find: Callable[[bytes], bytes]) -> bytes:
    """The original row."""
    pieces = json.decode(packed[len(MARK) :], type=list[str])
    return b"".join(find(bytes.fromhex(each)) if at % 2 else each.encode() for at, each in enumerate(pieces))


def hashes_in(packed: bytes) -> list[bytes]:
    """The hashes of its texts."""
    return [bytes.fromhex(each) for each in json.decode(packed[len(MARK) :], type=list[str])[1::2]]


def is_packed(cell: object) -> bool:
    """Whether a cell is stored in pieces."""
    match cell:
        case bytes():
            return cell.startswith(MARK)
        case str():
            return cell.startswith("\x01")
        case _:
            return False


def _literals(whole: bytes) -> Iterator[tuple[int, int]]:
    """The contents of long string literals; may find none if the text isn't JSON."""
    opens = whole.find(b'"')
    while opens >= 0:
        closes = _closing(whole, opens + 1)
        if closes < 0:
            return
        if closes - opens > _LONG:
            yield opens + 1, closes
        opens = whole.find(b'"', closes + 1)


def _closing(whole: bytes, start: int) -> int:
    at = whole.find(b'"', start)
    while at >= 0 and _is_escaped(whole, at, start):
        at = whole.find(b'"', at + 1)
    return at


def _is_escaped(whole: bytes, at: int, start: int) -> bool:
    slashes = at
    while slashes > start and whole[slashes - 1] == 0x5C:
        slashes -= 1
    return (at - slashes) % 2 == 1
