"""What is sent with asks and actions for people to read: made when sent, in the hub's language, and never stored."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.desk.interface import Desk, NotFound
from handraise.model.asks import Ask, ask_as_json, ask_from_json, read_settlement
from handraise.model.items import AskOpened, AskSettled, Item
from handraise.present.actions import size_of_change, traits_of
from handraise.present.cards import Card, card_of
from handraise.present.diffs import EXCERPT, DiffLines, DiffPart
from handraise.present.excerpts import cut_action, cut_ask
from handraise.present.outcomes import of_settlement

_STARTED = b'{"type":"action.started"'
_OPENED = b'{"type":"ask.opened"'
_SETTLED = b'{"type":"ask.settled"'
"""How the contents of items start that get something added; all others are sent as they are."""
_CHANGED = b'{"type":"action.changed"'
_BEGUN = b'{"type":"session.started"'
"""How the start of a session starts: it says where the session works."""
_MOST_KNOWN = 4096
_MOST_DIFFS = 4
"""How many long diffs are kept split into lines, while people read them."""
_TOGETHER = 50
"""How many cards are made before other tasks get a turn."""


class _ToolUsed(Struct, frozen=True):
    """All that has to be read of an action: its input may be large."""

    tool: str


class _CallMade(Struct, frozen=True):
    """What a change to a file is measured by."""

    input: dict[str, Any]


_TOOL_USED = msgspec.json.Decoder(_ToolUsed)
_CALL_MADE = msgspec.json.Decoder(_CallMade)


class _SessionBegun(Struct, frozen=True):
    """All that has to be read of a session's start."""

    directory: str


class _NamesAsk(Struct, frozen=True):
    """All that has to be read of a settlement to find its ask."""

    ask: str


class _NotInMemory(Exception):
    """Something has to be read from the store first."""


_SESSION_BEGUN = msgspec.json.Decoder(_SessionBegun)
_SETTLED_ASK = msgspec.json.Decoder(_NamesAsk)


class AskCards:
    """Adds cards to asks. Remembers where sessions work, which never changes, and the asks of the last commit."""

    def __init__(self) -> None:
        self._committed: dict[str, Ask] = {}
        self._foreseen: dict[str, tuple[Ask, Card, bytes]] = {}
        self._directories: OrderedDict[str, str | None] = OrderedDict()
        self._diffs: OrderedDict[tuple[str, int], DiffLines] = OrderedDict()

    async def ask(self, ask: Ask, desk: Desk, *, cut: bool = False) -> dict[str, Any]:
        """An ask as the API shows it, with its card. `cut`: with excerpts of its longest texts."""
        shown, card = ask_as_json(ask), card_of(ask, await self._directory(ask, desk))
        return self._excerpt(shown, card) if cut else {**shown, "card": card}

    async def asks(self, asks: Sequence[Ask], desk: Desk, *, cut: bool = False) -> list[dict[str, Any]]:
        """Many of them, without blocking other tasks."""
        shown = []
        for number, ask in enumerate(asks, 1):
            shown.append(await self.ask(ask, desk, cut=cut))
            if number % _TOGETHER == 0:
                await asyncio.sleep(0)
        return shown

    async def part(self, name: str, number: int, first: int, limit: int, desk: Desk) -> DiffPart | None:
        """Lines of a diff in an ask's evidence; None if there is no such diff. An ask's body never changes."""
        lines = self._diffs.get((name, number))
        if lines is None:
            ask = await desk.ask(name)
            evidence = card_of(ask, await self._directory(ask, desk)).evidence
            if number >= len(evidence) or evidence[number].kind != "diff":
                return None
            lines = self._keep(name, number, evidence[number].text)
        return lines.part(first, limit)

    def _keep(self, name: str, number: int, text: str) -> DiffLines:
        lines = self._diffs[name, number] = DiffLines(text)
        if len(self._diffs) > _MOST_DIFFS:
            self._diffs.popitem(last=False)
        return lines

    def foresee(self, asks: Sequence[Ask]) -> None:
        """Makes the cards of asks that are about to be committed, while the disk is written. They may never come."""
        for ask in asks:
            if ask.settlement is None and (ask.session is None or ask.session in self._directories):
                card = card_of(ask, self._known_directory(ask))
                self._foreseen[ask.id] = ask, card, msgspec.json.encode(card)

    def hear(self, asks: Sequence[Ask]) -> None:
        """The asks of a commit, before its items: nothing has to be read for those."""
        self._committed = {ask.id: ask for ask in asks}
        known = [(ask, self._foreseen.get(ask.id)) for ask in asks]
        self._foreseen = {ask.id: card for ask, card in known if card is not None and card[0] is ask}

    async def item(self, item: Item, desk: Desk, *, cut: bool = False) -> bytes:
        """An item as the API shows it: an ask has its card, a settlement its outcome, an action its tool's traits."""
        shown = self.item_now(item, cut=cut)
        if shown is not None:
            return shown
        try:
            ask = await self._ask_of(item, desk)
            await self._directory(ask, desk)
        except (msgspec.ValidationError, KeyError, NotFound):
            # An older hub stored it in another shape, or its ask was removed: send it as it is.
            return item.as_json()
        return self._shown(item, ask, cut=cut)

    def item_now(self, item: Item, *, cut: bool = False) -> bytes | None:
        """The same from memory; None if something has to be read from the store for it."""
        try:
            return self._shown(item, None, cut=cut)
        except _NotInMemory:
            return None

    def _shown(self, item: Item, ask: Ask | None, *, cut: bool) -> bytes:
        """Raises _NotInMemory, unless the item's ask is given and its directory known."""
        if item.content.startswith(_BEGUN):
            self._learn(item)
        if not item.content.startswith((_STARTED, _OPENED, _SETTLED, _CHANGED)):
            return item.as_json()
        try:
            long = cut and len(item.content) > EXCERPT
            if item.content.startswith(_STARTED):
                # What it says about the size of a change is about all of it.
                item = replace(item, content=_with_traits(item.content))
            if long:
                item = replace(item, content=self._cut(item))
            added = item.content if item.content.startswith(_STARTED) else self._added(item, ask)
        except (msgspec.ValidationError, KeyError):
            # An older hub stored it in another shape: send it as it is.
            return item.as_json()
        return replace(item, content=added).as_json()

    def _learn(self, item: Item) -> None:
        if item.session is not None:
            with suppress(msgspec.ValidationError):
                self._remember(item.session, _SESSION_BEGUN.decode(item.content).directory)

    async def _ask_of(self, item: Item, desk: Desk) -> Ask:
        if item.content.startswith(_SETTLED):
            return await desk.ask(_SETTLED_ASK.decode(item.content).ask)
        return ask_from_json(msgspec.json.decode(item.content)["ask"])

    async def items(self, items: Sequence[Item], desk: Desk, *, cut: bool = False) -> list[bytes]:
        """A page of items."""
        return [await self.item(item, desk, cut=cut) for item in items]

    def _cut(self, item: Item) -> bytes:
        content = msgspec.json.decode(item.content)
        if not item.content.startswith(_OPENED):
            return msgspec.json.encode(cut_action(content) if "input" in content else content)
        return msgspec.json.encode({**content, "ask": self._excerpt(content["ask"], self._card(content["ask"])[0])})

    def _excerpt(self, shown: dict[str, Any], card: Card) -> dict[str, Any]:
        """The rest of an open ask's diff is likely to be read soon."""
        cut = cut_ask(shown, card)
        if cut.get("cut") and shown["state"] == "open":
            for number, each in enumerate(card.evidence):
                if each.kind == "diff" and (shown["id"], number) not in self._diffs:
                    self._keep(shown["id"], number, each.text)
        return cut

    def _added(self, item: Item, ask: Ask | None) -> bytes:
        match item.read():
            case AskOpened(ask={"card": _}):
                return item.content
            case AskOpened(ask=fields):
                # The ask is the last field of such contents: its card goes before both closing braces.
                return b'%s,"card":%s}}' % (item.content[:-2], self._card(fields)[1])
            case AskSettled(ask=name, settlement=fields):
                ask = ask or self._committed.get(name)
                if ask is None:
                    raise _NotInMemory
                settlement = read_settlement(ask.kind, msgspec.json.encode(fields))
                outcome = of_settlement(ask, settlement, self._known_directory(ask))
                return b'%s,"outcome":%s}' % (item.content[:-1], msgspec.json.encode(outcome))
            case _:
                return item.content

    def _card(self, fields: dict[str, Any]) -> tuple[Card, bytes]:
        """The card of an ask as it was opened: someone may have answered since. Raises _NotInMemory."""
        foreseen = self._foreseen.get(fields["id"])
        if foreseen is not None:
            return foreseen[1:]
        ask = ask_from_json(fields)
        card = card_of(ask, self._known_directory(ask))
        return card, msgspec.json.encode(card)

    def _known_directory(self, ask: Ask) -> str | None:
        """See `_directory`; raises _NotInMemory."""
        if ask.session is not None and ask.session not in self._directories:
            raise _NotInMemory
        return self._directories[ask.session] if ask.session is not None else None

    async def _directory(self, ask: Ask, desk: Desk) -> str | None:
        """Where the ask's session works; None for an external agent."""
        if ask.session is not None and ask.session not in self._directories:
            try:
                found: str | None = (await desk.session(ask.session)).session.directory
            except NotFound:
                found = None
            self._remember(ask.session, found)
        return self._known_directory(ask)

    def _remember(self, session: str, directory: str | None) -> None:
        self._directories[session] = directory
        if len(self._directories) > _MOST_KNOWN:
            self._directories.popitem(last=False)


def _with_traits(content: bytes) -> bytes:
    tool = _TOOL_USED.decode(content).tool
    traits = traits_of(tool)
    size = size_of_change(tool, _CALL_MADE.decode(content).input) if traits.change else ""
    return b'%s,"traits":%s,"size":%s}' % (content[:-1], msgspec.json.encode(traits), msgspec.json.encode(size))
