"""What the bot must remember over a restart, in one SQLite file: one thread writes, one reads; SQL in `ledger.sql`."""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import apsw
import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from handraise.surfaces.telegram.buttons import BoundButton
from handraise.surfaces.telegram.deliveries import Delivery, known_messages
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.session_side import SessionLink

OFFSET = "offset"
"""The mark up to which Telegram was told that we have its updates."""
CURSOR = "cursor"
"""The mark up to which the feed was read."""
KEPT_UPDATES = 2000
"""How many finished updates are remembered, so that none is handled twice."""
KEPT_FOR = timedelta(days=90)
"""How long buttons and closed cards are remembered, so that a late press is told the truth."""
_VERSION = 1
_BUSY_MS = 5000
_NEW, _BEGUN, _DONE = 0, 1, 2

T = TypeVar("T")


def _load() -> dict[str, str]:
    text = (resources.files(__package__) / "ledger.sql").read_text("utf-8")
    pieces = re.split(r"^-- name: (\w+)$", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


_SQL = _load()


class LedgerLost(Exception):
    """The file can't be used. The text says why, without what is in it."""


class StoredUpdate(Struct, frozen=True):
    """An update that isn't finished. `is_begun`: the hub stopped while it handled it."""

    number: int
    content: bytes
    is_begun: bool = False


_DELIVERIES = msgspec.json.Decoder(Delivery)
"""Made while it is imported: several threads use it."""


class LedgerContents(Struct, frozen=True):
    """What is needed at the start."""

    offset: int
    cursor: int | None
    recent: frozenset[int]
    """The numbers of the updates that were received lately."""
    unfinished: tuple[StoredUpdate, ...]
    private: dict[int, int]
    moved: dict[ChatPlace, ChatPlace]
    deliveries: tuple[Delivery, ...]
    """Those that aren't closed."""


class Ledger:
    """Entered with `async with`; raises LedgerLost. Every change is on the disk when its call returns."""

    def __init__(self, file: Path, clock: Callable[[], datetime]) -> None:
        self._file = file
        self._clock = clock
        self._writer = ThreadPoolExecutor(1, "telegram-writer")
        self._reader = ThreadPoolExecutor(1, "telegram-reader")
        self._writing: apsw.Connection | None = None
        self._reading: apsw.Connection | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._open)
        except BaseException:
            await self._shut()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.shield(self._shut())

    async def load(self) -> LedgerContents:
        return await self._run(self._load_contents)

    async def receive(self, updates: Sequence[tuple[int, bytes]], offset: int) -> None:
        """Saves updates before Telegram is told that we have them."""
        rows = [{"number": number, "content": content, "state": _NEW} for number, content in updates]
        await self._write([("receive_update", row) for row in rows] + [_mark(OFFSET, offset)])

    async def begin(self, update: int) -> None:
        """From here on, it is unknown whether it took effect."""
        await self._write([("begin_update", {"number": update})])

    async def finish(self, update: int) -> None:
        """It is never handled again; what it contained is forgotten."""
        await self._write([("finish_update", {"number": update})])

    async def save_cursor(self, cursor: int) -> None:
        await self._write([_mark(CURSOR, cursor)])

    async def save_private_chat(self, member: int, chat: int) -> None:
        await self._write([("save_private_chat", {"member": member, "chat": chat})])

    async def save_move(self, place: ChatPlace, to: ChatPlace) -> None:
        """Sessions that are shown there follow."""
        row = {**_place(place), "to_chat": to.chat, "to_topic": to.topic or 0}
        await self._write([("save_move", row), ("move_links", row)])

    async def delivery(self, ask: str, place: ChatPlace) -> Delivery | None:
        rows = await self._read("delivery", {"ask": ask, **_place(place)})
        return _DELIVERIES.decode(rows[0][0]) if rows else None

    async def deliveries_of(self, ask: str) -> list[Delivery]:
        return [_DELIVERIES.decode(row[0]) for row in await self._read("deliveries_of", {"ask": ask})]

    async def card_at(self, chat: int, message: int) -> tuple[str, ChatPlace] | None:
        """The ask that a message belongs to, and where its card is."""
        rows = await self._read("card_at", {"chat": chat, "message": message})
        return (rows[0][0], ChatPlace(chat, rows[0][1] or None)) if rows else None

    async def save_delivery(self, delivery: Delivery, buttons: Iterable[tuple[str, BoundButton]] = ()) -> None:
        """The delivery, and new buttons with their ids."""
        at = _microseconds(self._clock())
        row = {
            "ask": delivery.ask,
            **_place(delivery.place),
            "is_closed": delivery.is_closed,
            "at": at,
            "content": msgspec.json.encode(delivery),
        }
        messages = [
            ("save_message", {"message": number, "ask": delivery.ask, **_place(delivery.place), "at": at})
            for number in known_messages(delivery)
        ]
        await self._write([("save_delivery", row), *messages, *(_button(name, each, at) for name, each in buttons)])

    async def drop_delivery(self, ask: str, place: ChatPlace) -> None:
        await self._write([("drop_delivery", {"ask": ask, **_place(place)})])

    async def save_buttons(self, buttons: Iterable[tuple[str, BoundButton]]) -> None:
        at = _microseconds(self._clock())
        await self._write([_button(name, each, at) for name, each in buttons])

    async def button(self, name: str) -> BoundButton | None:
        rows = await self._read("button", {"id": name})
        if not rows:
            return None
        ask, digest, chat, topic, member, revision, act, argument = rows[0]
        return BoundButton(ask, digest, ChatPlace(chat, topic or None), member, revision, act, argument)

    async def same_buttons(self, buttons: Sequence[BoundButton]) -> list[str | None]:
        """The ids of buttons that are bound to exactly this."""
        return await self._run(lambda: [self._same(each) for each in buttons])

    async def links(self) -> list[SessionLink]:
        return [
            SessionLink(session, ChatPlace(chat, topic or None), progress, cursor, bool(mute), started_by, detail)
            for session, chat, topic, progress, cursor, mute, started_by, detail in await self._read("session_links")
        ]

    async def save_link(self, link: SessionLink) -> None:
        row = asdict(link)
        del row["place"]
        await self._write([("save_link", {**row, **_place(link.place)})])

    async def drop_link(self, session: str, place: ChatPlace) -> None:
        await self._write([("drop_link", {"session": session, **_place(place)})])

    async def prune(self) -> None:
        """Forgets what is too old for anyone to press."""
        before = {"before": _microseconds(self._clock() - KEPT_FOR)}
        await self._write(
            [
                ("prune_deliveries", before),
                ("prune_messages", before),
                ("prune_buttons", before),
                ("prune_updates", {"most": KEPT_UPDATES}),
            ]
        )

    def _opened(self, connection: apsw.Connection | None) -> apsw.Connection:
        if connection is None:
            raise LedgerLost(f"{self._file} is closed")
        return connection

    def _open(self) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._writing = self._connect()
            self._writing.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
            self._migrate(self._writing)
            self._reading = self._connect()
            self._reading.execute("PRAGMA query_only = ON")
        except OSError as error:
            raise LedgerLost(f"{self._file} can't be opened: {error.strerror}") from error

    def _migrate(self, connection: apsw.Connection) -> None:
        version = int(connection.pragma("user_version"))
        if version > _VERSION:
            raise LedgerLost(f"{self._file} was written by a newer version of Handraise")
        if version < _VERSION:
            with connection:
                connection.execute(_SQL["schema"]).fetchall()
                connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._file), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(_BUSY_MS)
        return connection

    async def _shut(self) -> None:
        """After everything that was begun."""
        reading, writing, self._reading, self._writing = self._reading, self._writing, None, None
        for thread, connection in ((self._reader, reading), (self._writer, writing)):
            if connection is not None:
                await asyncio.get_running_loop().run_in_executor(thread, connection.close)
            thread.shutdown(wait=False)

    def _load_contents(self) -> LedgerContents:
        marks = dict(self._rows("marks"))
        return LedgerContents(
            marks.get(OFFSET, 0),
            marks.get(CURSOR),
            frozenset(number for (number,) in self._rows("recent_updates")),
            tuple(
                StoredUpdate(number, content, state == _BEGUN)
                for number, content, state in self._rows("unfinished_updates")
            ),
            dict(self._rows("private_chats")),
            {
                ChatPlace(chat, topic or None): ChatPlace(to_chat, to_topic or None)
                for chat, topic, to_chat, to_topic in self._rows("moves")
            },
            tuple(_DELIVERIES.decode(content) for (content,) in self._rows("open_deliveries")),
        )

    def _same(self, button: BoundButton) -> str | None:
        rows = self._rows("same_button", _button("", button, 0)[1])
        return rows[0][0] if rows else None

    def _rows(self, statement: str, bindings: dict[str, Any] | None = None) -> list[Any]:
        return self._opened(self._writing).execute(_SQL[statement], bindings or {}).fetchall()

    async def _read(self, statement: str, bindings: dict[str, Any] | None = None) -> list[Any]:
        """Beside whatever is being written: a press never waits for the disk."""
        reading = self._opened(self._reading)
        return await self._run(lambda: reading.execute(_SQL[statement], bindings or {}).fetchall(), self._reader)

    async def _write(self, statements: Sequence[tuple[str, dict[str, Any]]]) -> None:
        writing = self._opened(self._writing)
        await self._run(lambda: _transact(writing, statements))

    async def _run(self, work: Callable[[], T], thread: ThreadPoolExecutor | None = None) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread or self._writer, self._explained, work)

    def _explained(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (apsw.Error, msgspec.MsgspecError) as error:
            raise LedgerLost(f"{self._file} can't be used: {type(error).__name__}") from error


def _transact(connection: apsw.Connection, statements: Sequence[tuple[str, dict[str, Any]]]) -> None:
    with connection:
        for statement, bindings in statements:
            connection.execute(_SQL[statement], bindings)


def _mark(name: str, value: int) -> tuple[str, dict[str, Any]]:
    return "save_mark", {"name": name, "value": value}


def _place(place: ChatPlace) -> dict[str, Any]:
    return {"chat": place.chat, "topic": place.topic or 0}


def _button(name: str, button: BoundButton, at: int) -> tuple[str, dict[str, Any]]:
    row = asdict(button)
    del row["place"]
    return "save_button", {"id": name, **row, **_place(button.place), "at": at}


def _microseconds(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)
