"""Long texts, stored once: a tool's input appears in its request, in the ask and in the feed. Never decides what to
delete.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import apsw

from handraise.store.packing import WORTH_IT, compressed, hash_of_text, is_packed, packed, unpacked
from handraise.store.rows import Row
from handraise.store.sqlite.database import SQL

_COLUMNS = {"ask": (4, 8), "item": (3,)}
"""The position of body and request, or content, in a row as it is read."""


class Texts:
    """The long texts of one database, over one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def pack(self, whole: bytes, mentioned: int, used: list[bytes] | None = None) -> bytes:
        """A row's JSON as it is stored; the hashes of its texts are added to `used`."""
        if len(whole) < WORTH_IT:
            return whole

        def keep(literal: bytes) -> bytes:
            hashed = hash_of_text(literal)
            bindings = {"hash": hashed, "content": compressed(literal), "mentioned": mentioned}
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
            if isinstance(whole, str) and len(whole) >= WORTH_IT:
                row[column] = self.pack(whole.encode(), row["mentioned"], used).decode()
        for hashed in used:
            self._connection.execute(SQL["use_text"], {"ask": row["id"], "hash": hashed})
        return row

    def whole_ask(self, row: Sequence[object]) -> tuple[object, ...]:
        return self._whole(row, _COLUMNS["ask"])

    def whole_item(self, row: Sequence[object]) -> tuple[object, ...]:
        return self._whole(row, _COLUMNS["item"])

    def _whole(self, row: Sequence[object], columns: tuple[int, ...]) -> tuple[object, ...]:
        if not any(is_packed(row[column]) for column in columns):
            return tuple(row)
        return tuple(self._joined(cell) if at in columns else cell for at, cell in enumerate(row))

    def _joined(self, cell: object) -> object:
        match cell:
            case str() if is_packed(cell):
                return unpacked(cell.encode(), self._find).decode()
            case bytes() if is_packed(cell):
                return unpacked(cell, self._find)
            case _:
                return cell

    def _find(self, hashed: bytes) -> bytes:
        rows: list[Row] = self._connection.execute(SQL["text"], {"hash": hashed}).fetchall()
        if not rows:
            raise apsw.CorruptError("a long text is missing")
        return zlib.decompress(rows[0][0])
