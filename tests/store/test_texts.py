"""Long texts are stored once, come back unchanged, and are deleted with the last row that uses them."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from handraise.model.asks import Permission
from handraise.store.changes import OpenAsk, Prune, PublishItems, SettleAsk
from handraise.store.packing import packed, unpacked
from handraise.store.sqlite.store import SqliteStore
from store.examples import NOON, a_text, an_ask, withdrawn

LONG = "".join(f'line {number} says "so" \\ {number * 7919 % 10007}\n' for number in range(20_000))


def pieces(text: str) -> tuple[bytes, dict[bytes, bytes]]:
    record: dict[bytes, bytes] = {}

    def keep(literal: bytes) -> bytes:
        name = len(record).to_bytes(20, "big")
        record[name] = literal
        return name

    return packed(text.encode(), keep), record


values = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=50)
    | st.builds(lambda x, n: x * n, st.text(min_size=1, max_size=9), st.integers(500, 3000)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)


@given(values)
def test_whatever_is_packed_comes_back_byte_for_byte(value: object) -> None:
    whole = json.encode(value)
    row, record = pieces(whole.decode())

    assert unpacked(row, record.__getitem__) == whole if record else row == whole


@pytest.mark.parametrize("odd", ['{"a": "' + "x" * 9000, '"' + "\\" * 9001, "no json at all " * 2000, '"\\"' * 5000])
def test_what_is_no_json_comes_back_too(odd: str) -> None:
    row, record = pieces(odd)

    assert (unpacked(row, record.__getitem__) if record else row) == odd.encode()


def an_ask_with(text: str, name: str) -> OpenAsk:
    return OpenAsk(an_ask(name, body=Permission("Write", {"file_path": "/f", "content": text}, diff=text)))


async def test_a_text_that_stands_in_many_rows_is_kept_once(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "hub.db") as store:
        for number in range(5):
            await store.apply([an_ask_with(LONG, f"a_{number}")])
        assert await store.size() < len(LONG)
        for each in await store.asks():
            assert each.body == Permission("Write", {"file_path": "/f", "content": LONG}, diff=LONG)
        item = (await store.items(after=0))[0]
        assert json.decode(item.content)["ask"]["body"]["input"]["content"] == LONG
        applied = await store.apply([SettleAsk("a_1", withdrawn())])
        assert applied.took == (True,)


async def test_a_text_goes_with_the_last_row_that_has_it(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with SqliteStore(path) as store:
        await store.apply([an_ask_with(LONG, "a_open"), an_ask_with(LONG + "!", "a_done")])
        await store.apply([SettleAsk("a_done", withdrawn()), PublishItems(None, NOON, a_text("x" * 50_000).content)])
        await store.apply([Prune((await store.cursors())[1])])
        assert [each.id for each in await store.asks()] == ["a_open"]
        open_ask = await store.ask("a_open")
        assert open_ask is not None
        assert isinstance(open_ask.body, Permission)
        assert open_ask.body.input["content"] == LONG
        assert _count(path) == 1

        await store.apply([SettleAsk("a_open", withdrawn())])
        await store.apply([Prune((await store.cursors())[1])])
        assert _count(path) == 0


def _count(path: Path) -> int:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows: list[Any] = connection.execute("SELECT count(*) FROM texts").fetchall()
        return int(rows[0][0])
    finally:
        connection.close()
