"""Unfinished blocks of text on their way between machines. Best effort: any of them may be lost.

A hub announces which sessions it follows; the hub that runs one sends it the newest state of each block, in pieces
that fit into a notification. Nothing of it is stored.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator

from msgspec import MsgspecError, Struct, json

from handraise.model.items import Preview
from handraise.store.interface import StoreError
from handraise.store.postgres.writer import CHANNEL

Notify = Callable[[list[tuple[str, str]]], Awaitable[None]]
"""Sends messages to channels."""

_PACE = 0.05
"""The shortest time between two notifications, in seconds."""
_ANNOUNCE_EVERY = 10.0
_WANTED_FOR = 30.0
_PIECE = 7000
"""Bytes. A notification must be shorter than 8,000."""
_MOST_PIECES = 40
_MOST_NAMED = 300


def channel_of(writer: str) -> str:
    """Where a hub receives previews."""
    return f"handraise_{writer}"


class _Wanted(Struct, frozen=True):
    sessions: frozenset[str]
    until: float


class PreviewExchange:
    """One hub's end: what others want of it, what it wants of others."""

    def __init__(self, writer: str, notify: Notify, show: Callable[[Preview], None]) -> None:
        self._writer = writer
        self._notify = notify
        self._show = show
        self._mine: frozenset[str] = frozenset()
        self._wanted: dict[str, _Wanted] = {}
        self._waiting: dict[tuple[str, str, int, str | None], Preview] = {}
        self._pieces: dict[str, tuple[str, list[str]]] = {}
        self._wake = asyncio.Event()
        self._announce = False
        self._sent = 0

    def want(self, sessions: Collection[str]) -> None:
        """See `Store.want_previews`."""
        if frozenset(sessions) != self._mine:
            self._mine = frozenset(sessions)
            self._announce = True
            self._wake.set()

    def offer(self, preview: Preview) -> None:
        """See `Store.preview`."""
        if any(self._receivers(preview.session)):
            self._waiting[preview.session, preview.message, preview.index, preview.parent] = preview
            self._wake.set()

    def hear_wish(self, words: str) -> None:
        """Another hub's announcement: its identity, and the sessions that it follows."""
        writer, *sessions = words.split()
        if writer != self._writer:
            self._wanted[writer] = _Wanted(frozenset(sessions), _now() + _WANTED_FOR)

    def hear_piece(self, words: str) -> None:
        """A piece of a preview: who sent it, its number, which piece of how many, and the text."""
        writer, number, place, text = words.split(" ", 3)
        at, _, count = place.partition("/")
        known, pieces = self._pieces.get(writer, ("", []))
        if known != number or int(at) != len(pieces) + 1:
            pieces = []
        if int(at) != len(pieces) + 1:
            return  # one was lost
        pieces.append(text)
        self._pieces[writer] = number, pieces
        if len(pieces) == int(count):
            del self._pieces[writer]
            try:
                self._show(json.decode("".join(pieces), type=Preview))
            except MsgspecError:
                pass  # of another version

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                async with asyncio.timeout(_ANNOUNCE_EVERY if self._mine else None):
                    await self._wake.wait()
            except TimeoutError:
                self._announce = True
            self._wake.clear()
            messages = [*self._wishes(), *self._previews()]
            try:
                if messages:
                    await self._notify(messages)
            except StoreError:
                pass  # the next one may get through
            await asyncio.sleep(_PACE)

    def _wishes(self) -> Iterator[tuple[str, str]]:
        if self._announce:
            self._announce = False
            yield CHANNEL, " ".join(["w", self._writer, *sorted(self._mine)[:_MOST_NAMED]])

    def _previews(self) -> Iterator[tuple[str, str]]:
        waiting, self._waiting = self._waiting, {}
        for preview in waiting.values():
            pieces = list(_cut(json.encode(preview)))
            if len(pieces) > _MOST_PIECES:
                continue
            self._sent += 1
            for receiver in self._receivers(preview.session):
                for at, piece in enumerate(pieces, 1):
                    yield channel_of(receiver), f"p {self._writer} {self._sent} {at}/{len(pieces)} {piece}"

    def _receivers(self, session: str) -> Iterator[str]:
        now = _now()
        for writer, wanted in tuple(self._wanted.items()):
            if wanted.until < now:
                del self._wanted[writer]
            elif session in wanted.sessions:
                yield writer


def _cut(whole: bytes) -> Iterator[str]:
    """Never within a character."""
    at = 0
    while at < len(whole):
        end = min(at + _PIECE, len(whole))
        while end < len(whole) and whole[end] & 0xC0 == 0x80:
            end -= 1
        yield whole[at:end].decode()
        at = end


def _now() -> float:
    return asyncio.get_running_loop().time()
