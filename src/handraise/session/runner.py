"""Performs what one session machine decides, and nothing else. What a frame leads to is stored with its offset."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

import msgspec
from msgspec.structs import replace

from handraise.claude.claude import Claude
from handraise.claude.fifo import ChildGone
from handraise.claude.process import Identity
from handraise.feed import Feed, Preview
from handraise.inbox.considering import Surroundings
from handraise.inbox.inbox import Inbox
from handraise.model.asks import Ask, Expired, Withdrawn
from handraise.model.items import SessionChanged
from handraise.model.sessions import Place, Session
from handraise.session import commands, facts
from handraise.session.commands import Command
from handraise.session.facts import Fact, Wish
from handraise.session.machine import Machine, Refused
from handraise.session.previews import INTERVAL, Previews
from handraise.store.changes import (
    Advance,
    Change,
    DeliverAsk,
    OpenAsk,
    Publish,
    SaveSession,
    SettleAsk,
    TakeSay,
)
from handraise.store.interface import Store, StoreClosed, StoreError
from handraise.wire.frames import Frame, StreamEvent

_AHEAD = 2
"""How many chunks of the journal may wait to be taken in; the journal itself holds the rest."""
_AGAIN = 1.0
_WRITE_DEADLINE = 60.0

log = logging.getLogger("handraise.session")


@dataclass(frozen=True, slots=True)
class _Wished:
    wish: Wish
    done: asyncio.Future[None]


@dataclass(frozen=True, slots=True)
class _CatchUp:
    """Something waits in the store that Claude has not shown to have taken."""


@dataclass(frozen=True, slots=True)
class _ShowPreviews:
    """Partial text was held back to be joined."""


News = bytes | Fact | _Wished | _CatchUp | _ShowPreviews


class Runner:
    """One session with one process of Claude. `run` returns when that is gone; cancelled, it leaves Claude as it is."""

    def __init__(
        self,
        session: Session,
        machine: Machine,
        claude: Claude,
        *,
        store: Store,
        inbox: Inbox,
        feed: Feed,
        surroundings: Callable[[Session], Surroundings],
        clock: Callable[[], datetime],
    ) -> None:
        self.session = session
        self._machine = machine
        self._claude = claude
        self._store = store
        self._inbox = inbox
        self._feed = feed
        self._surroundings = surroundings
        self._clock = clock
        # Unbounded: whoever tells of a settlement or a wish cannot wait. The journal's share is bounded by `_room`.
        self._queue: asyncio.Queue[News] = asyncio.Queue()
        self._room = asyncio.Semaphore(_AHEAD)
        self._timers: dict[object, asyncio.TimerHandle] = {}
        self._previews: dict[str | None, Previews] = {}

    @property
    def identity(self) -> Identity:
        """The process of Claude."""
        return self._claude.process.identity

    async def run(self) -> None:
        self._inbox.tell(self.session.id, self._told)
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                reading = tasks.create_task(self._read())
                await self._absorb([facts.Began()])
                await self._catch_up()
                while self._machine.memory.phase != "ended":
                    await self._take(await self._queue.get())
                reading.cancel()
        finally:
            self._inbox.tell_no_more(self.session.id)
            for timer in self._timers.values():
                timer.cancel()
            self._refuse_the_rest()

    async def wish(self, wish: Wish) -> None:
        """Returns when it was done or written to Claude; raises Refused."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(_Wished(wish, done))
        await done

    async def _read(self) -> None:
        async for chunk in self._claude.follow(self._machine.wire.offset):
            await self._room.acquire()
            self._queue.put_nowait(chunk)
        self._queue.put_nowait(facts.Gone(self._claude.process.exit_code, self._claude.folder.last_errors()))

    def _told(self, ask: Ask) -> None:
        """An ask of ours was settled; if it had expired before, what was said of it waits in the store."""
        late = isinstance(ask.settlement, Expired) and ask.settlement.late is not None
        self._queue.put_nowait(_CatchUp() if late else facts.Settled(ask))

    async def _take(self, news: News) -> None:
        match news:
            case bytes():
                self._room.release()
                received = self._machine.wire.receive(news)
                await self._absorb(self._heard([each.frame for each in received]))
                self._show_previews()
            case _Wished(wish, done):
                await self._grant(wish, done)
            case _CatchUp():
                await self._catch_up()
            case _ShowPreviews():
                self._show_previews()
            case facts.Gone():
                rest = [each.frame for each in self._machine.wire.receive_end()]
                await self._absorb([*self._heard(rest), news])
            case _:
                await self._absorb([news])

    def _heard(self, received: Sequence[Frame]) -> list[Fact]:
        heard: list[Fact] = []
        for frame in received:
            if isinstance(frame, StreamEvent):
                self._preview(frame)
                # They come by the thousand, and say nothing else than that Claude moves.
                if not self._machine.memory.unmoved:
                    continue
            heard.append(facts.Heard(frame))
        return heard

    async def _grant(self, wish: Wish, done: asyncio.Future[None]) -> None:
        try:
            await self._perform(self._machine.wish(wish))
        except Refused as refused:
            if not done.done():
                done.set_exception(refused)
        except BaseException:
            done.cancel()
            raise
        if not done.done():
            done.set_result(None)

    async def _catch_up(self) -> None:
        """Whatever was decided or said and Claude has not shown to have taken is written, perhaps again."""
        await self._answer_again()
        for say in await self._store.says(self.session.id):
            with suppress(Refused):
                await self._perform(self._machine.wish(facts.Speak(say)))

    async def _answer_again(self) -> None:
        unconfirmed = await self._store.asks(session=self.session.id, undelivered=True)
        await self._absorb([facts.Settled(ask) for ask in unconfirmed])

    async def _absorb(self, observed: Sequence[Fact]) -> None:
        now = self._clock()
        await self._perform([command for fact in observed for command in self._machine.observe(fact, now)])

    async def _perform(self, wanted: Sequence[Command]) -> None:
        if not wanted:
            return
        await self._write(wanted)
        raised = [
            self._inbox.consider(each.ask, self._surroundings(self.session))
            for each in wanted
            if isinstance(each, commands.Raise)
        ]
        await self._keep(self._changes(wanted, iter(raised)))
        for ask in raised:
            self._inbox.opened(ask)
        for command in wanted:
            self._follow_up(command)
        by_rule = [facts.Settled(ask) for ask in raised if ask.settlement is not None]
        await self._absorb(by_rule)
        if any(isinstance(each, commands.AnswerAgain) for each in wanted):
            await self._answer_again()

    async def _write(self, wanted: Sequence[Command]) -> None:
        try:
            async with asyncio.timeout(_WRITE_DEADLINE):
                for command in wanted:
                    if isinstance(command, commands.Write):
                        await self._claude.write(command.line)
        except ChildGone:
            log.info("session %s: Claude is gone before a line was written", self.session.id)
        except TimeoutError:
            log.warning("session %s: Claude does not read; it is tried again", self.session.id)
            self._later("write", _AGAIN, _CatchUp())

    def _changes(self, wanted: Sequence[Command], raised: Iterator[Ask]) -> list[Change]:
        now = self._clock()
        session = self.session.id
        changes: list[Change] = []
        for command in wanted:
            match command:
                case commands.Raise():
                    changes.append(OpenAsk(next(raised)))
                case commands.Withdraw(ask, reason):
                    changes.append(SettleAsk(ask, Withdrawn(reason, now)))
                case commands.Deliver(ask):
                    changes.append(DeliverAsk(ask, now))
                case commands.Take(say):
                    changes.append(TakeSay(say, now))
                case commands.Publish(content):
                    changes.append(Publish(session, now, content))
                case commands.Changed(note):
                    changes += self._changed(note, now)
                case commands.Write() | commands.WakeMe() | commands.AnswerAgain() | commands.Terminate():
                    pass
                case _:
                    assert_never(command)
        return [
            *changes,
            Advance(Place(session, self.session.run, self._machine.wire.offset, self._machine.memory.dump())),
        ]

    def _changed(self, note: str, now: datetime) -> list[Change]:
        memory = self._machine.memory
        self.session = replace(
            self.session,
            phase=memory.phase,
            mode=memory.mode,
            model=memory.model,
            cost_usd=memory.cost_usd,
            changed_at=now,
            ended=memory.ended,
            stuck_since=(self.session.stuck_since or now) if memory.stuck else None,
        )
        content = SessionChanged(memory.phase, memory.mode, memory.model, self.session.title, memory.cost_usd, note)
        return [SaveSession(self.session), Publish(self.session.id, now, content)]

    async def _keep(self, changes: Sequence[Change]) -> None:
        """Claude waits as long as the store cannot keep what it said."""
        while True:
            try:
                await self._store.apply(changes)
            except StoreClosed:
                raise
            except StoreError as error:
                log.warning("session %s is held up: %s", self.session.id, error)
                await asyncio.sleep(_AGAIN)
            else:
                return

    def _follow_up(self, command: Command) -> None:
        match command:
            case commands.Withdraw(ask):
                self._inbox.closed(ask)
            case commands.WakeMe(timer, None):
                self._forget(timer)
            case commands.WakeMe(timer, float() | int() as seconds):
                self._later(timer, seconds, facts.Woke(timer))
            case commands.Terminate(farewell):
                self._tasks.create_task(self._claude.stop(farewell))
            case _:
                pass

    def _later(self, name: object, seconds: float, news: News) -> None:
        self._forget(name)
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, self._queue.put_nowait, news)

    def _forget(self, name: object) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def _preview(self, frame: StreamEvent) -> None:
        previews = self._previews.setdefault(frame.parent_tool_use_id, Previews())
        if frame.event.type == "message_start":
            previews.begin(msgspec.json.decode(frame.event.message, type=_Named).id)
        elif frame.event.type == "message_stop":
            self._previews.pop(frame.parent_tool_use_id, None)
        else:
            previews.add(frame.event)

    def _show_previews(self) -> None:
        now = asyncio.get_running_loop().time()
        for parent, previews in self._previews.items():
            for part in previews.due(now):
                self._feed.preview(Preview(self.session.id, part.message, part.index, part.kind, part.text, parent))
            if previews.waiting:
                self._later("previews", INTERVAL, _ShowPreviews())

    def _refuse_the_rest(self) -> None:
        while not self._queue.empty():
            news = self._queue.get_nowait()
            if isinstance(news, _Wished) and not news.done.done():
                news.done.set_exception(Refused("The session has ended; resume it first."))


class _Named(msgspec.Struct):
    id: str = ""
