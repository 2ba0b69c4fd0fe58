"""Staying: with one session, or with the inbox. Carries news to the front, and what a person does to the desk.

The desk's feed is the only truth: an answer given here takes its card away when the feed says so, like everybody's.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Self, assert_never

from handraise.desk.interface import (
    Conflict,
    CutOff,
    Desk,
    DeskError,
    Follower,
    LostPlace,
    Partial,
    Refused,
    TooLate,
    Unreached,
)
from handraise.model.answers import Answer
from handraise.model.asks import Ask, Settlement
from handraise.model.items import AskOpened, AskSettled, Item
from handraise.model.sessions import Session
from handraise.surfaces.terminal import cards, dialogue, words
from handraise.surfaces.terminal.cards import Frame
from handraise.surfaces.terminal.dialogue import Dialogue, Edit, Effect, PutAside, Send
from handraise.surfaces.terminal.front import Front
from handraise.surfaces.terminal.harmless import one_line
from handraise.surfaces.terminal.lines import Line, cut, line, wrap
from handraise.surfaces.terminal.timeline import Timeline
from handraise.surfaces.terminal.tray import Tray

TWICE = timedelta(seconds=3)
"""Two Ctrl-C within this time leave."""
_AGAIN = (0.2, 0.5, 1.0, 2.0)
"""How long to wait before each next try to reach the hub; the last one again and again."""


class Stay:
    """One person at one terminal, while it is entered: it follows the feed, until `leaving` is set or it is left."""

    def __init__(
        self, desk: Desk, front: Front, clock: Callable[[], datetime], session: Session | None, cursor: int
    ) -> None:
        self.desk = desk
        self.session = session
        self.timeline = Timeline()
        self.tray = Tray()
        self.cursor = cursor
        self.connected = True
        self.looked = False
        self.working = 0
        """How many sessions work, for an empty inbox."""
        self.leaving = asyncio.Event()
        self.changed = asyncio.Event()
        """Set after each change, for those who wait for something to become true."""
        self._front = front
        self._clock = clock
        self._titles: dict[str, str] = {}
        self._stopped_at: datetime | None = None
        self._group = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()
        if session is not None:
            self.timeline.title, self.timeline.mode = session.title, session.mode
            self.timeline.directory = session.directory
            self.timeline.cost_usd = session.cost_usd
            self.timeline.working = session.phase == "working"

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._start(self._follow())
        return self

    async def __aexit__(self, *_raised: object) -> None:
        for task in self._running:
            task.cancel()
        # The group is not told what was raised, or it would wrap that in a group of its own.
        await self._group.__aexit__(None, None, None)

    async def _follow(self) -> None:
        """A hub that went away is waited for."""
        tries = 0
        while not self.leaving.is_set():
            try:
                async with self.desk.follow(self.cursor, self.session.id if self.session else None) as follower:
                    await self._look()
                    self._connect()
                    tries = 0
                    await self._receive_all(follower)
            except CutOff as error:
                self.cursor = error.cursor
                continue
            except LostPlace as error:
                self.cursor = error.newest
                self._tell("class:warning", "Some of what happened meanwhile is no longer kept; this is how it stands.")
                continue
            except Unreached:
                pass
            self._lose()
            await asyncio.sleep(_AGAIN[min(tries, len(_AGAIN) - 1)])
            tries += 1

    def live(self, now: datetime) -> list[Line]:
        """What is shown for now: the end of what is being said, what is being done, and the card on top."""
        width, height = self._front.size
        current = self.tray.current
        above = [*self.timeline.tail(width), *self.timeline.under_way(now, width)[-3:], *self._state(width)]
        if current is None:
            return [*above, *self._aside(width)]
        most = max(6, height - 2)
        title = self._titles.get(current.ask.session or "", "") if self.session is None else ""
        frame = Frame(width, most, now, title, self.tray.place, self.tray.is_ready(now))
        shown = cards.card(current, frame)
        room = most - len(shown)
        return [*above[-room:], *shown] if room > 0 else shown

    def press(self, key: str) -> None:
        """A key, while a card is on top."""
        now = self._clock()
        current = self.tray.current
        if current is not None and self.tray.is_ready(now):
            match key:
                case "j" | "k" if current.writing is None and current.reading is None:
                    self.tray.turn(1 if key == "j" else -1, now)
                case "v" if current.writing is None and current.reading is None:
                    self.tray.put(cards.read(current, "open", *self._front.size))
                case _ if current.reading is not None:
                    self.tray.put(cards.read(current, key, *self._front.size))
                case _:
                    self._perform(current.ask, self.tray.press(key, now))
        self._refresh()

    def write(self, text: str) -> None:
        """The line that is being written for the card on top."""
        if self.tray.current is not None:
            self.tray.put(dialogue.write(self.tray.current, text))

    def look_aside(self) -> None:
        """Between the card and the line for Claude, and back."""
        if self.tray.top is not None and (self.session is not None or self.tray.aside):
            self.tray.put_aside(not self.tray.aside, self._clock())
        self._refresh()

    def say(self, text: str) -> None:
        """Said to Claude, during a turn or between two."""
        if text.strip() and self.session is not None:
            self._start(self._say(self.session.id, text))

    def stop(self) -> None:
        """Ctrl-C: ends the turn; a second one leaves."""
        now = self._clock()
        if self._stopped_at is not None and now - self._stopped_at < TWICE:
            self.leaving.set()
            return
        self._stopped_at = now
        if self.session is not None and self.timeline.working:
            self._tell("class:warning", "Interrupting the turn. Ctrl-C again leaves; the session stays.")
            self._start(self._interrupt(self.session.id))
        else:
            self._tell("class:dim", "Ctrl-C again, or Ctrl-D, leaves.")

    async def _receive_all(self, follower: Follower) -> None:
        async for news in follower:
            await self._receive(news)
            if self.leaving.is_set():
                return

    async def _receive(self, news: Sequence[Item] | Partial) -> None:
        width, _ = self._front.size
        if isinstance(news, Partial):
            if self.session is not None:
                self._front.show(self.timeline.preview(news, width))
            self._refresh()
            return
        lines: list[Line] = []
        self._front.take(news)
        for item in news:
            if self.session is not None:
                lines += self.timeline.receive(item, width)
            lines += await self._receive_ask(item)
            self.cursor = item.cursor
        self._front.show(lines)
        self._refresh()

    async def _receive_ask(self, item: Item) -> list[Line]:
        match item.read():
            case AskOpened(ask=told):
                await self._open(await self.desk.ask(str(told["id"])))
                return []
            case AskSettled(ask=name):
                return self._settle(await self.desk.ask(name))
            case _:
                return []

    async def _look(self) -> None:
        """Reads which asks are open: before the first news, and after each gap."""
        asks = await self.desk.asks(state="open", session=self.session.id if self.session else None)
        for gone in self.tray.keep_only({ask.id for ask in asks}, self._clock()):
            settled = await self.desk.ask(gone.ask.id)
            if settled.settlement is not None:
                self._front.show(self._fold(settled, settled.settlement, gone))
        for ask in asks:
            await self._open(ask)
        if self.session is None:
            seen = await self.desk.sessions()
            self._titles = {each.session.id: each.session.title for each in seen}
            self.working = sum(each.session.phase == "working" for each in seen)
        self.looked = True

    async def _open(self, ask: Ask) -> None:
        if self.session is None and ask.session and ask.session not in self._titles:
            self._titles[ask.session] = (await self.desk.session(ask.session)).session.title
        if self.tray.add(ask, self._clock()):
            self._front.call(ask)
            self._refresh()

    def _settle(self, ask: Ask) -> list[Line]:
        gone = self.tray.remove(ask.id, self._clock())
        if ask.settlement is None or (gone is None and self.session is None):
            return []
        return self._fold(ask, ask.settlement, gone)

    def _fold(self, ask: Ask, settlement: Settlement, gone: Dialogue | None) -> list[Line]:
        """The line that a card leaves behind. What was written and not sent stays with the person."""
        width, _ = self._front.size
        told = words.settled(ask, settlement, self.desk.person.name, self.desk.source)
        mark = "✓" if ask.state == "answered" else "–"
        lines = wrap(line(("class:accent", f"{mark} "), told), width, 2)
        unsent = gone.unsent if gone is not None and not gone.sending else ""
        if unsent:
            self._front.keep(unsent)
            lines += wrap(line(("class:warning", "  What you had written was not sent; it is kept.")), width, 2)
        return lines

    def _perform(self, ask: Ask, effect: Effect | None) -> None:
        match effect:
            case None:
                pass
            case PutAside() if self.session is None:
                self.tray.turn(1, self._clock())
            case PutAside():
                self.look_aside()
            case Edit(text=text, suffix=suffix):
                self._start(self._edit(ask.id, text, suffix))
            case Send(answer=answer):
                self._start(self._answer(ask, answer))
            case _:
                assert_never(effect)

    async def _edit(self, ask: str, text: str, suffix: str) -> None:
        written = await self._front.edit(text, suffix)
        found = self.tray.find(ask)
        if found is not None:
            self.tray.put(dialogue.edited(found, written))
        elif written is not None and written != text:
            self._front.keep(written)
            self._tell("class:warning", "Somebody was first while you edited; your text was not sent, and is kept.")
        self._refresh()

    async def _answer(self, ask: Ask, answer: Answer) -> None:
        """The card stays until the feed takes it away; whatever went wrong, nothing counts that was not confirmed."""
        try:
            given = await self.desk.answer(ask.id, answer, ask.digest)
            if given.late:
                self._tell("class:warning", "Too late for the request itself; it was said to Claude as guidance.")
        except (Conflict, TooLate) as error:
            if error.ask.state == "open":
                self.tray.begin_again(error.ask)
            else:
                self._front.show(self._settle(error.ask))
        except Unreached:
            self._not_sent(ask.id, "The hub did not respond, so nothing was answered. Choose again to try again.")
        except DeskError as error:
            self._not_sent(ask.id, str(error))
        self._refresh()

    def _not_sent(self, ask: str, why: str) -> None:
        found = self.tray.find(ask)
        if found is not None:
            self.tray.put(dialogue.not_sent(found, why))

    async def _say(self, session: str, text: str) -> None:
        try:
            if self.timeline.ended is not None:
                await self.desk.resume(session, text)
            else:
                await self.desk.say(session, text)
        except Unreached:
            self._tell("class:warning", "The hub did not respond, so nothing was said. Your text is kept.")
            self._front.keep(text)
        except DeskError as error:
            self._tell("class:warning", one_line(str(error)))
            self._front.keep(text)

    async def _interrupt(self, session: str) -> None:
        try:
            await self.desk.interrupt(session)
        except Unreached:
            self._tell("class:warning", "The hub did not respond; the turn was not interrupted.")
        except Refused as error:
            self._tell("class:dim", one_line(str(error)))

    def _connect(self) -> None:
        if not self.connected:
            self._tell("class:dim", "· The hub is back.")
        self.connected = True
        self._refresh()

    def _lose(self) -> None:
        if self.connected:
            self._tell("class:warning", "! The hub went away. Nothing is lost: trying to reach it again.")
        self.connected = False
        self.timeline.forget_partial()
        self._refresh()

    def _state(self, width: int) -> list[Line]:
        if not self.connected:
            return [line(("class:warning", "! No connection to the hub; what you choose here cannot be sent yet."))]
        if self.session is None and self.looked and self.tray.top is None:
            busy = f"{self.working} session{' is' if self.working == 1 else 's are'} working"
            told = f"Nothing needs you. {busy if self.working else 'Nothing is working'}. Ctrl-D leaves."
            return [cut(line(("class:dim", told)), width)]
        return []

    def _aside(self, width: int) -> list[Line]:
        return [
            cut(line(("class:accent bold", "✋ "), words.sentence(ask), ("class:dim", " · Tab answers")), width)
            for ask in self.tray.waiting
        ]

    def _tell(self, style: str, text: str) -> None:
        width, _ = self._front.size
        self._front.show(wrap(line((style, text)), width, 2))

    def _refresh(self) -> None:
        self.changed.set()
        self._front.refresh()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
