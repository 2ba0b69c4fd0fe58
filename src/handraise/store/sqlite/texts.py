"""Long texts, stored once: a tool's input appears in its request, in the ask and in the feed. Never decides what to
delete.

A row with long string literals is stored as the pieces between them and the hashes of the literals. It starts with a
mark that no JSON starts with.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import apsw
from msgspec import json

from handraise.store.sqlite.database import SQL
from handraise.store.sqlite.rows import Row

MARK = b"\x01"
_WORTH_IT = 16 * 1024
_LONG = 4096
_LEVEL = 1
"""Compresses fast rather than well: the writer has other work."""
_COLUMNS = {"ask": (4, 8), "item": (3,)}
"""The position of body and request, or content, in a row as it is read."""


class Texts:
    """The long texts of one database, over one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def pack(self, whole: bytes, mentioned: int, used: list[bytes] | None = None) -> bytes:
        """A row's JSON as it is stored; the hashes of its texts are added to `used`."""
        if len(whole) < _WORTH_IT:
            return whole

        def keep(literal: bytes) -> bytes:
            hashed = blake2b(literal, digest_size=20).digest()
            bindings = {"hash": hashed, "content": zlib.compress(literal, _LEVEL), "mentioned": mentioned}
            self._connection.execute(SQL["keep_text"], bindings)
            if used is not None:
                used.append(hashed)
            return hashed

        return packed(whole, keep)

    def pack_ask(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row of an ask that is opened, with its long texts stored separately."""
        used: list[bytes] = []
        for column in ("body", "request"):
            whole = row[column]
            if isinstance(whole, str) and len(whole) >= _WORTH_IT:
                row[column] = self.pack(whole.encode(), row["mentioned"], used).decode()
        for hashed in used:
            self._connection.execute(SQL["use_text"], {"ask": row["id"], "hash": hashed})
        return row

    def whole_ask(self, row: Sequence[object]) -> tuple[object, ...]:
        return self._whole(row, _COLUMNS["ask"])

    def whole_item(self, row: Sequence[object]) -> tuple[object, ...]:
        return self._whole(row, _COLUMNS["item"])

    def _whole(self, row: Sequence[object], columns: tuple[int, ...]) -> tuple[object, ...]:
        if not any(_is_packed(row[column]) for column in columns):
            return tuple(row)
        return tuple(self._joined(cell) if at in columns else cell for at, cell in enumerate(row))

    def _joined(self, cell: object) -> object:
        match cell:
            case str() if _is_packed(cell):
                return unpacked(cell.encode(), self._find).decode()
            case bytes() if _is_packed(cell):
                return unpacked(cell, self._find)
            case _:
                return cell

    def _find(self, hashed: bytes) -> bytes:
        rows: list[Row] = self._connection.execute(SQL["text"], {"hash": hashed}).fetchall()
        if not rows:
            raise apsw.CorruptError("a long text is missing")
        return zlib.decompress(rows[0][0])


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


def _is_packed(cell: object) -> bool:
    match cell:
        case bytes():
            return cell.startswith(MARK)
        case str():
            return cell.startswith("\x01")
        case _:
            return False
