"""Reads the feed: passes every change to the view and the terminal, and reconnects after losing the hub.

The feed is the only truth: a card is removed when the feed says so, no matter who answered.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from handraise.desk.interface import CutOff, Desk, DeskError, Follower, LostPlace, NotFound, Unreached
from handraise.model.actors import is_me
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Answered, Ask, Expired, Permission, Settlement
from handraise.model.items import AskOpened, AskSettled, Item, MachineChanged, Preview
from handraise.model.sessions import Session
from handraise.present.actions import size_of_change
from handraise.present.harmless import one_line
from handraise.present.outcomes import of_settlement
from handraise.surfaces.terminal.dialogue import Dialogue
from handraise.surfaces.terminal.lines import Line, line, wrap
from handraise.surfaces.terminal.terminal_io import TerminalIO
from handraise.surfaces.terminal.timeline import settled_line, unsent_text
from handraise.surfaces.terminal.view import ViewState
from handraise.texts import t

_AGAIN = (0.2, 0.5, 1.0, 2.0)
"""How long to wait before each attempt to reach the hub; the last value repeats."""
_MACHINES = 5.0
"""How often to ask whether a session's machine is online, in seconds."""


class FeedReader:
    """`changed` is called after each change of the view."""

    def __init__(
        self,
        desk: Desk,
        io: TerminalIO,
        clock: Callable[[], datetime],
        view: ViewState,
        cursor: int,
        changed: Callable[[], None],
    ) -> None:
        self._desk = desk
        self._io = io
        self._clock = clock
        self._view = view
        self._cursor = cursor
        self._changed = changed
        self._folded: dict[str, Settlement] = {}

    async def follow(self) -> None:
        """Never returns; waits for a lost hub. Raises DeskError if retrying would not help."""
        tries = 0
        while True:
            try:
                async with self._desk.follow(self._cursor, self._session) as follower:
                    await self._look()
                    self._connect()
                    tries = 0
                    await self._receive_all(follower)
            except CutOff as error:
                self._cursor = error.cursor
                continue
            except LostPlace as error:
                self._cursor = error.newest
                self._tell("class:warning", t("terminal.feed.pruned"))
                continue
            except Unreached:
                pass
            self._lose()
            await asyncio.sleep(_AGAIN[min(tries, len(_AGAIN) - 1)])
            tries += 1

    async def watch_machines(self) -> None:
        """Never returns. The feed of one session doesn't say that its machine went away, so this asks for it."""
        while True:
            await asyncio.sleep(_MACHINES)
            session = self._view.session
            if session is not None and session.machine not in ("", self._view.own) and self._view.connected:
                with contextlib.suppress(DeskError):
                    await self._read_machines()

    def settle(self, ask: Ask) -> list[Line]:
        """Removes the card of a settled ask, and returns the line it leaves behind."""
        gone = self._view.stack.remove(ask.id)
        if ask.settlement is None or (gone is None and self._view.session is None):
            return []
        return self._fold(ask, ask.settlement, gone)

    @property
    def _session(self) -> str | None:
        return self._view.session.id if self._view.session is not None else None

    async def _receive_all(self, follower: Follower) -> None:
        async for news in follower:
            if isinstance(news, Preview):
                self._preview(news)
            else:
                await self._receive(news)
            self._changed()

    def _preview(self, partial: Preview) -> None:
        if self._view.session is not None:
            width, _ = self._io.size
            self._io.show(self._view.timeline.preview(partial, width))

    async def _receive(self, news: Sequence[Item]) -> None:
        width, _ = self._io.size
        lines: list[Line] = []
        self._io.take(news)
        for item in news:
            # A newer hub may send what we don't know.
            with contextlib.suppress(msgspec.ValidationError):
                if self._view.session is not None:
                    lines += self._view.timeline.receive(item, width)
                lines += await self._receive_ask(item)
            self._cursor = item.cursor
        self._io.show(lines)

    async def _receive_ask(self, item: Item) -> list[Line]:
        content = item.read()
        if item.session is not None:
            self._view.hear(item.session, content)
        try:
            match content:
                case MachineChanged():
                    await self._read_machines()
                case AskOpened(ask=opened):
                    await self._open(await self._desk.ask(str(opened["id"])))
                case AskSettled(ask=name):
                    return self.settle(await self._desk.ask(name))
                case _:
                    pass
        except NotFound:
            # The feed still names it, but the store has removed it.
            pass
        return []

    async def _look(self) -> None:
        """Reads the open asks: before the first change, and after each gap."""
        await self._read_machines()
        open_asks = await self._desk.asks(state="open", session=self._session)
        asks = [ask for ask in open_asks if self._view.shows(ask)]
        if self._view.session is None:
            for each in await self._desk.sessions():
                self._know(each.session)
        for gone in self._view.stack.keep_only({ask.id for ask in asks}):
            settled = await self._desk.ask(gone.ask.id)
            if settled.settlement is not None:
                self._io.show(self._fold(settled, settled.settlement, gone))
        for ask in asks:
            await self._open(ask)
        self._view.looked = True

    async def _read_machines(self) -> None:
        try:
            found = await self._desk.machines()
        except NotFound:
            # An older hub has only its own.
            return
        was_away = self._is_away()
        self._view.machines = {each.machine.id: each.machine for each in found}
        self._view.own = next((each.machine.id for each in found if each.here), "")
        if self._is_away() and not was_away:
            self._tell("class:warning", t("terminal.machine.away", name=self._machine_name()))
        elif was_away and not self._is_away():
            self._tell("class:dim", t("terminal.machine.back", name=self._machine_name()))
        self._changed()

    def _is_away(self) -> bool:
        """Whether the session that is followed is on a machine that is away."""
        machine = self._view.machine_of(self._view.session) if self._view.session is not None else None
        return machine is not None and machine.away_since is not None

    def _machine_name(self) -> str:
        machine = self._view.machine_of(self._view.session) if self._view.session is not None else None
        return one_line(machine.name) if machine is not None else ""

    def _know(self, session: Session) -> None:
        self._view.know(session.id, session.title, session.phase, session.directory, session.dialog)

    async def _open(self, ask: Ask) -> None:
        if not self._view.shows(ask):
            return
        if self._view.session is None and ask.session and ask.session not in self._view.titles:
            self._know((await self._desk.session(ask.session)).session)
        if self._view.stack.add(ask, self._clock(), self._view.directory_of(ask)):
            self._io.call(ask)
            self._changed()

    def _fold(self, ask: Ask, settlement: Settlement, gone: Dialogue | None) -> list[Line]:
        """The line that a card leaves behind, once. Unsent text stays with the person."""
        if self._folded.get(ask.id) == settlement:
            return []
        self._folded[ask.id] = settlement
        width, _ = self._io.size
        text = settled_line(ask, settlement, self._desk.person, self._view.directory_of(ask))
        lines = wrap(line(("class:accent", f"{_mark(settlement)} "), text), width, 2)
        if isinstance(ask.body, Permission):
            lines = self._beside_action(ask, ask.body, settlement, lines)
        unsent = gone.unsent if gone is not None and not gone.sending else ""
        if unsent and self._view.speaks:
            self._io.keep(unsent)
            lines += wrap(line(("class:warning", t("terminal.feed.unsent"))), width, 2)
        elif unsent:
            lines += unsent_text(unsent, width)
        return lines

    def _beside_action(self, ask: Ask, body: Permission, settlement: Settlement, lines: list[Line]) -> list[Line]:
        """The lines about a permission, unless its action says the same: an action and its outcome are one line."""
        action, timeline = ask.origin.tool_use, self._view.timeline
        match settlement:
            case Answered(answer=Allow(input=changed), by=by) if self._io.live:
                outcome = of_settlement(ask, settlement, self._view.directory_of(ask))
                brief = outcome.yours_brief if is_me(by, self._desk.person) else outcome.brief
                size = size_of_change(body.tool, body.input, body.diff) if body.diff and changed is None else ""
                return [] if timeline.allow(action, brief, lines, size) else lines
            case Answered(answer=Deny()) | Expired(late=None):
                timeline.refuse(action)
            case _:
                pass
        return lines

    def _connect(self) -> None:
        if not self._view.connected:
            self._tell("class:dim", t("terminal.feed.back"))
        self._view.connected = True
        self._changed()

    def _lose(self) -> None:
        if self._view.connected:
            self._tell("class:warning", t("terminal.feed.lost"))
        self._view.connected = False
        self._view.timeline.forget_partial()
        self._changed()

    def _tell(self, style: str, text: str) -> None:
        width, _ = self._io.size
        self._io.show(wrap(line((style, text)), width, 2))


def _mark(settlement: Settlement) -> str:
    match settlement:
        case Answered(answer=Deny()):
            return "✗"
        case Answered():
            return "✓"
        case _:
            return "–"
