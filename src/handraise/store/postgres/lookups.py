"""What one hub asks another, and the answers, through the database. Best effort: a lookup that is lost is asked again.

A lookup is a row that the hub of the machine takes, once. The answer comes in pieces, each deleted when it is read;
what nobody reads is deleted after a minute. Announcements are hints: where they don't arrive, both sides look for
themselves.
"""

import asyncio
import logging
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from secrets import token_hex
from typing import Any

from handraise.store.interface import MOST_ANSWER, StoreError, Unanswered
from handraise.store.postgres.connecting import Connection
from handraise.store.postgres.database import SQL
from handraise.store.postgres.previews import Use, channel_of
from handraise.store.postgres.writer import CHANNEL

TAKEN_WITHIN = 7.0
"""A hub that has not taken a lookup after so long won't: it is gone, hangs, or is of an older version."""
KEPT = 60.0
"""How long what nobody reads is kept."""
PIECE = 256 * 1024
_AT_ONCE = 4
_MOST_TAKEN = 64
_PIECES_AT_ONCE = 8
_LOOK_AGAIN = 5.0
_POLL_DEAF = 0.5
_WAIT = 1.0
_WAIT_DEAF = 0.2
_WITHDRAWING = 2.0
_AFTER_A_FAULT = 1.0

Serve = Callable[[bytes], Awaitable[bytes]]

log = logging.getLogger(__name__)


class LookupExchange:
    """One hub's end. `hears` says whether announcements arrive; `epoch` is that of the machine, once it was claimed."""

    def __init__(
        self, writer: str, machine: str, use: Use, hears: Callable[[], bool], epoch: Callable[[], int | None]
    ) -> None:
        self.serve: Serve | None = None
        """Answers what is asked of this machine; without it, nothing is taken."""
        self._writer = writer
        self._machine = machine
        self._use = use
        self._hears = hears
        self._epoch = epoch
        self._wake = asyncio.Event()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._in_hand: set[asyncio.Task[None]] = set()
        self._awaited: dict[str, asyncio.Event] = {}

    def hear_lookups(self, machine: str) -> None:
        """There may be some for this machine."""
        if machine in ("", self._machine):
            self._wake.set()

    def hear_pieces(self, lookup: str) -> None:
        """There may be some of this answer."""
        if lookup in self._awaited:
            self._awaited[lookup].set()

    async def ask(self, machine: str, question: bytes, seconds: float) -> bytes:
        """See `Store.look_up`."""
        lookup = token_hex(16)
        arrived = self._awaited[lookup] = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                asked = await self._rows(
                    "ask_lookup",
                    announce=(CHANNEL, f"l {machine}"),
                    id=lookup,
                    machine=machine,
                    asker=self._writer,
                    question=question,
                    microseconds=round(min(seconds, KEPT) * 1_000_000),
                )
                if not asked:
                    raise Unanswered("away")
                return await self._answer(lookup, arrived)
        except TimeoutError:
            await self._withdraw(lookup)
            raise Unanswered("silent") from None
        finally:
            del self._awaited[lookup]

    async def _withdraw(self, lookup: str) -> None:
        """Nobody waits for it any more. If the database is away, it is overdue in a moment."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_WITHDRAWING):
                await self._rows("withdraw_lookup", id=lookup)

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                try:
                    async with asyncio.timeout(_LOOK_AGAIN if self._hears() else _POLL_DEAF):
                        await self._wake.wait()
                except TimeoutError:
                    pass
                self._wake.clear()
                try:
                    await self._take_all(tasks)
                except StoreError:
                    await asyncio.sleep(_AFTER_A_FAULT)  # the database is away: whoever asked asks again
                except Exception:  # outer boundary: one bad row must not end all others
                    log.exception("lookups could not be read; trying again")
                    await asyncio.sleep(_AFTER_A_FAULT)

    async def _answer(self, lookup: str, arrived: asyncio.Event) -> bytes:
        whole = zlib.decompressobj()
        answer = bytearray()
        next_piece = 0
        given_up_at = _now() + TAKEN_WITHIN
        is_taken = False
        while True:
            pieces = await self._rows("take_pieces", lookup=lookup, before=next_piece + _PIECES_AT_ONCE)
            for number, is_last, content in pieces:
                if number != next_piece:
                    raise Unanswered("silent")  # one was deleted and never arrived: the connection broke
                next_piece += 1
                answer += _unpacked(whole, content, MOST_ANSWER - len(answer))
                if is_last and not whole.eof:
                    raise Unanswered("silent")
                if is_last:
                    return bytes(answer)
            if pieces:
                continue
            if not is_taken and _now() > given_up_at:
                if await self._rows("withdraw_lookup", id=lookup):
                    raise Unanswered("silent")
                is_taken = True
            try:
                async with asyncio.timeout(_WAIT if self._hears() else _WAIT_DEAF):
                    await arrived.wait()
            except TimeoutError:
                pass
            arrived.clear()

    async def _take_all(self, tasks: asyncio.TaskGroup) -> None:
        """Also removes what is overdue, in the whole database."""
        most = _MOST_TAKEN - len(self._in_hand) if self.serve is not None else 0
        rows = await self._rows("take_lookups", machine=self._machine, most=most, epoch=self._epoch())
        for lookup, asker, question, time_left in rows:
            task = tasks.create_task(self._respond(lookup, asker, bytes(question), time_left / 1_000_000))
            self._in_hand.add(task)
            task.add_done_callback(self._in_hand.discard)
        if len(rows) == most > 0:
            self._wake.set()

    async def _respond(self, lookup: str, asker: str, question: bytes, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds), self._room:
                if self.serve is not None:
                    await self._send(lookup, asker, await self.serve(question))
        except TimeoutError:
            log.warning("a lookup of another hub took longer than it waits")
        except StoreError as error:
            log.warning("a lookup of another hub could not be answered: %s", error)
        except Exception:  # outer boundary: one lookup must not affect the others
            log.exception("a lookup of another hub could not be answered")

    async def _send(self, lookup: str, asker: str, answer: bytes) -> None:
        if len(answer) > MOST_ANSWER:
            raise ValueError(f"an answer of {len(answer)} bytes is too long")
        packed = await asyncio.to_thread(zlib.compress, answer, 1)
        pieces = [packed[start : start + PIECE] for start in range(0, len(packed), PIECE)]
        for number, piece in enumerate(pieces):
            await self._rows(
                "add_piece",
                announce=(channel_of(asker), f"a {lookup}"),
                lookup=lookup,
                number=number,
                is_last=number == len(pieces) - 1,
                content=piece,
                microseconds=round(KEPT * 1_000_000),
            )

    async def _rows(self, statement: str, *, announce: tuple[str, str] | None = None, **bindings: object) -> list[Any]:
        prepared, notify = SQL[statement], SQL["notify"]

        async def work(connection: Connection) -> list[Any]:
            rows: list[Any] = await connection.fetch(prepared.text, *prepared.arguments(bindings))
            if announce is not None:
                hint = {"channels": [announce[0]], "payloads": [announce[1]]}
                await connection.execute(notify.text, *notify.arguments(hint))
            return rows

        return await self._use(work)


def _unpacked(whole: Any, content: bytes, room: int) -> bytes:  # noqa: ANN401 - zlib doesn't export its type
    try:
        text: bytes = whole.decompress(content, room + 1)
    except zlib.error:
        raise Unanswered("silent") from None
    if len(text) > room:
        raise Unanswered("silent")
    return text


def _now() -> float:
    return asyncio.get_running_loop().time()
