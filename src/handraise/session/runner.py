"""Performs what one session machine decides, and nothing else. The effects of a frame are stored with its offset.

Claude's next frame is handled while the effects of the last one are being stored. Lines for Claude are written before
their effects are stored, and everything is stored in the order in which it was decided.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from msgspec.structs import replace

from handraise.claude.claude import Claude
from handraise.claude.journal import JournalLost
from handraise.claude.process import Identity
from handraise.feed import Feed
from handraise.inbox.considering import Surroundings
from handraise.inbox.inbox import Inbox
from handraise.model.actors import TheHub
from handraise.model.asks import Ask, Expired
from handraise.model.items import Notice, SaidWithdrawn
from handraise.model.sessions import Checkpoint, Session
from handraise.session import abilities, commands, denials, reconciling, records
from handraise.session.backlog import Decision
from handraise.session.commands import Command, Fact, Wish
from handraise.session.machine import SessionMachine, WishRefused
from handraise.session.news import Behind, Failed, Grown, News, PreviewsDue, SayQueued, Unwritten, Wished
from handraise.session.preparing import Preparations
from handraise.session.previews import Previews
from handraise.session.writers import DecisionWriter, DurableWriter, StdinWriter
from handraise.store.changes import Advance, Applied, Change, PublishItems
from handraise.store.interface import Store, StoreError, StoreFenced
from handraise.store.waiting import insist
from handraise.texts import t
from handraise.wire.frames import Frame, ToolProgress

_AHEAD = 32
"""How many chunks of the journal may be queued; they are read together. The rest stays in the journal."""
_WITHDRAWN = b'{"type":"said.withdrawn"'
_SHORT = 32 * 1024
"""A longer piece of the journal is handled together with what comes after it."""
_PROOF = 3.0
"""Seconds for the database to say whether this hub still has its machine, before an alarm counts."""

log = logging.getLogger("handraise.session")


class Runner:
    """One session with one Claude process. `run` returns when that is gone; if cancelled, it leaves Claude running."""

    def __init__(
        self,
        session: Session,
        machine: SessionMachine,
        claude: Claude,
        *,
        store: Store,
        inbox: Inbox,
        feed: Feed,
        surroundings: Callable[[Session], Surroundings],
        clock: Callable[[], datetime],
        rested: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`rested` is called when the session has become idle."""
        self.session = session
        self._machine = machine
        self._claude = claude
        self._store = store
        self._inbox = inbox
        self._feed = feed
        self._surroundings = surroundings
        self._clock = clock
        self._rested = rested
        # Unbounded: those who report a settlement or a wish can't wait. The journal's share is bounded by `_room`.
        self._queue: asyncio.Queue[News] = asyncio.Queue()
        self._chunks: list[bytes] = []
        self._room = asyncio.Semaphore(_AHEAD)
        self._timers: dict[object, asyncio.TimerHandle] = {}
        self._previews = Previews(session.id)
        self._spoken: set[str] = set()
        self._preparations = Preparations(inbox, self._around)
        self._reread: set[str] = set()
        """Asks whose decision was read from the store; its news may still be queued."""
        self._writing = StdinWriter(claude, self._end_half_line)
        self._keeper = DurableWriter(session.id, store, self._end_unkept)
        self._storing = DecisionWriter(self._keeper, self._stored, lambda why: self._queue.put_nowait(Failed(why)))
        self._is_waiting = False
        """Everything is done, and news is awaited."""
        self.ending: asyncio.Task[None] | None = None
        """Claude is being ended, though the store can't save that."""
        self._left = False
        self.was_cut_off = False
        """Claude got half a line, and can continue only in another process."""

    @property
    def identity(self) -> Identity:
        """The Claude process."""
        return self._claude.process.identity

    @property
    def has_ended(self) -> bool:
        """Whether Claude's process is gone, though its children may still be running."""
        return self._machine.memory.is_over

    @property
    def is_signed_out(self) -> bool:
        """Whether Claude could not reach the model because it isn't signed in; it may not notice a later sign-in."""
        return self._machine.memory.signed_out

    @property
    def offset(self) -> int:
        """How far the journal was read, including lines without effect that are not stored yet."""
        return self._machine.wire.offset

    async def run(self) -> None:
        try:
            # Entered before the store is read, so that no answer is missed in between.
            with self._inbox.listening(self._ask_settled, self.session.id):
                await self._run()
        finally:
            for timer in self._timers.values():
                timer.cancel()
            self._left = True
            self._refuse_the_rest()

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            reading = tasks.create_task(self._read())
            try:
                await self._perform_stored(self._observe([commands.ProcessStarted()]))
                await self._answer_again()
                await self._speak()
                while not self.has_ended:
                    await self._take(await self._next())
                await self._storing.all_stored()
            finally:
                await self._storing.stop()
            reading.cancel()

    async def wish(self, wish: Wish) -> None:
        """Returns when it was done or written to Claude; raises WishRefused."""
        if self._left:
            raise self._too_late()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if isinstance(wish, commands.Stop):
            self._writing.hurry()
            self._keeper.stop(done)
        self._queue.put_nowait(Wished(wish, done))
        await done

    def listen(self) -> None:
        """A message is queued in the store."""
        self._queue.put_nowait(SayQueued())

    async def _read(self) -> None:
        fault = ""
        try:
            async for chunk in self._claude.follow(self._machine.wire.offset):
                if self._is_free and len(chunk) <= _SHORT:
                    self._hear_now(chunk)
                    continue
                await self._room.acquire()
                if not self._chunks:
                    self._queue.put_nowait(Grown())
                self._chunks.append(chunk)
        except JournalLost as error:
            # A Claude that nobody follows would work unsupervised.
            fault = t("sessions.ended.unheard", why=error)
            log.warning("session %s: %s", self.session.id, fault)
            await self._claude.stop()
        if self.was_cut_off:
            fault = t("sessions.ended.cut_off")
        gone = commands.ProcessEnded(self._claude.process.exit_code, self._claude.folder.last_errors(), fault)
        self._queue.put_nowait(gone)

    def _ask_settled(self, ask: Ask) -> None:
        """An ask of ours was settled; if it had expired, the late answer is queued in the store as a message."""
        late = isinstance(ask.settlement, Expired) and ask.settlement.late is not None
        if self._is_free and not late and ask.id not in self._reread:
            self._do_now(lambda: self._observe([commands.AskWasSettled(ask)]))
        else:
            self._queue.put_nowait(SayQueued() if late else commands.AskWasSettled(ask))

    @property
    def _is_free(self) -> bool:
        """Nothing is under way, so that news can be handled where it arrives: waking a task for it takes longer."""
        return self._is_waiting and self._queue.empty() and not self._storing.is_behind

    def _hear_now(self, chunk: bytes) -> None:
        received = self._machine.wire.receive_frames(chunk)
        if self._machine.is_behind(received):
            self._queue.put_nowait(Behind(received))
            return
        self._do_now(lambda: self._observe(self._facts_in(received)))
        if self._storing.is_idle:
            self._show_previews()

    def _do_now(self, decide: Callable[[], list[Command]]) -> None:
        """Decides and performs without waiting; what has to wait is queued, before everything that comes later."""
        try:
            wanted = decide()
            if any(isinstance(each, commands.Alarm) for each in wanted):
                self._queue.put_nowait(Unwritten(wanted, _lines(wanted)))
                return
            unwritten = self._writing.write_now(_lines(wanted))
            if unwritten:
                self._queue.put_nowait(Unwritten(wanted, unwritten))
            elif wanted:
                self._have_stored(wanted)
        except Exception as error:  # whoever brought the news has nothing to do with it
            self._queue.put_nowait(Failed(error))

    async def _next(self) -> News:
        self._is_waiting = True
        try:
            return await self._queue.get()
        finally:
            self._is_waiting = False

    async def _take(self, news: News) -> None:
        # What was decided already doesn't wait: an alarm ends Claude even if the store is slow.
        if self._storing.is_behind and not isinstance(news, Unwritten):
            await self._storing.all_stored()
        match news:
            case Grown():
                await self._hear()
            case Behind(received):
                await self._perform([*self._observe(await self._decisions()), *self._observe(self._facts_in(received))])
            case Unwritten(wanted, lines):
                await self._perform(wanted, lines)
            case Wished(wish, done):
                await self._grant(wish, done)
            case SayQueued():
                await self._speak()
            case PreviewsDue():
                self._show_previews()
            case commands.AnswerAgain():
                await self._answer_again()
            case Failed(why):
                raise why
            case commands.AskWasSettled(ask) if ask.id in self._reread:
                self._reread.remove(ask.id)  # written already
            case commands.ProcessEnded():
                rest = [each.frame for each in self._machine.wire.receive_end()]
                await self._absorb([*self._facts_in(rest), news])
            case _:
                await self._absorb([news])

    async def _hear(self) -> None:
        """Handles everything that is queued and stores it in one commit, so that a slow session catches up."""
        chunks, self._chunks = self._chunks, []
        wanted: list[Command] = []
        for number, chunk in enumerate(chunks):
            if number:
                await asyncio.sleep(0)  # gives the other sessions a turn, while this one's machine waits for us
            self._room.release()
            received = self._machine.wire.receive_frames(chunk)
            if self._machine.is_behind(received):
                wanted += self._observe(await self._decisions())
            wanted += self._observe(self._facts_in(received))
        await self._perform(wanted)
        if self._storing.is_idle:
            self._show_previews()

    def _facts_in(self, received: Sequence[Frame]) -> list[Fact]:
        others = self._previews.follow(received)
        if self._machine.memory.unmoved:
            return [commands.FrameReceived(frame) for frame in received]
        # Block pieces and heartbeats come by the thousand, and only show that Claude is active.
        return [commands.FrameReceived(frame) for frame in others if type(frame) is not ToolProgress]

    async def _grant(self, wish: Wish, done: asyncio.Future[None]) -> None:
        try:
            await self._storing.all_stored()
            if isinstance(wish, commands.Park):
                await self._check_silence()
            await self._perform_stored(self._machine.wish(wish))
            await self._storing.all_stored()
        except WishRefused as refused:
            if not done.done():
                done.set_exception(refused)
        except StoreFenced as fenced:
            if not done.done():
                done.set_exception(WishRefused(str(fenced)))
            raise
        except BaseException:
            done.cancel()
            raise
        if not done.done():
            done.set_result(None)

    async def _perform_stored(self, wanted: Sequence[Command]) -> None:
        """Stores what we want from Claude before it obeys: otherwise the next hub would raise an alarm."""
        if any(isinstance(each, commands.Write) for each in wanted):
            self._have_stored([])
            await self._storing.all_stored()
        await self._perform(wanted)

    async def _check_silence(self) -> None:
        if await self._keeper.read(lambda: self._store.says(self.session.id)):
            raise WishRefused(t("sessions.refused.not_received"))

    async def _speak(self) -> None:
        """Writes every message that Claude has not received, once; a later process writes it again."""
        waiting = await self._keeper.read(lambda: self._store.says(self.session.id))
        for say in sorted(waiting, key=lambda say: not isinstance(say.by, TheHub)):  # what Claude must know comes first
            if say.id not in self._spoken:
                self._spoken.add(say.id)
                with suppress(WishRefused):
                    await self._perform(self._machine.wish(commands.Speak(say)))

    async def _answer_again(self) -> None:
        """Writes every decision that Claude has not confirmed, possibly again."""
        await self._absorb(await self._decisions())

    async def _decisions(self) -> list[Fact]:
        """Those that Claude has not confirmed."""
        unconfirmed = await self._keeper.read(lambda: self._store.asks(session=self.session.id, undelivered=True))
        self._reread.update(ask.id for ask in unconfirmed)
        return [commands.AskWasSettled(ask) for ask in unconfirmed]

    async def _absorb(self, observed: Sequence[Fact]) -> None:
        await self._perform(self._observe(observed))

    def _observe(self, observed: Sequence[Fact]) -> list[Command]:
        now = self._clock()
        wanted: list[Command] = []
        for fact in observed:
            self._prepare()  # what comes next may be the denial of a call that was checked
            for command in self._machine.observe(fact, now):
                if isinstance(command, commands.Consult):
                    # From memory, and answered before anything is stored: Claude waits at every call.
                    objection = self._inbox.objects(command.ask, self._around(command.mode))
                    wanted += self._machine.observe(commands.RulesConsulted(command.ask, objection), now)
                    self._preparations.add(command)
                else:
                    wanted.append(command)
        return wanted

    async def _perform(self, wanted: Sequence[Command], lines: Sequence[bytes] | None = None) -> None:
        """Writes what Claude waits for, and has the rest stored. `lines` are those that are not written yet."""
        if not wanted:
            return
        if any(isinstance(each, commands.Alarm) for each in wanted):
            await self._check_held()
            self._kill()
        await self._writing.write(_lines(wanted) if lines is None else lines)
        self._have_stored(wanted)

    def _have_stored(self, wanted: Sequence[Command]) -> None:
        """Has this stored after everything before it, together with the machine's memory as it is now."""
        self._prepare()
        raised = [self._considered(each) for each in wanted if isinstance(each, commands.Raise)]
        before = self.session.phase
        changes = self._changes(wanted, raised)
        rests = before != "idle" and self.session.phase == "idle"
        self._storing.add(Decision(wanted, changes, self._advance(), rests))

    async def _check_held(self) -> None:
        """Raises StoreFenced if another hub has taken this session over.

        To a hub that was stopped meanwhile, what the other one allowed looks like a bypass. If the database doesn't
        answer soon, the alarm counts.
        """
        if not self._store.shared:
            return
        try:
            async with asyncio.timeout(_PROOF):
                await insist(lambda: self._store.beat(self._clock()), log)
        except StoreFenced:
            raise
        except (StoreError, TimeoutError) as error:
            log.warning("session %s: an alarm counts without the database: %s", self.session.id, error)

    async def _check_withdrawn(self, wanted: Sequence[Command], applied: Applied) -> None:
        """Says so if Claude received a message that somebody took back at the same moment."""
        received = {each.say for each in wanted if isinstance(each, commands.Take)}
        if not received or all(applied.took):
            return
        latest = await self._keeper.read(lambda: self._store.items(session=self.session.id))
        contents = [item.read() for item in latest if item.content.startswith(_WITHDRAWN)]
        if any(isinstance(each, SaidWithdrawn) and each.say in received for each in contents):
            notice = Notice("warning", t("sessions.notice.withdrawn_too_late"), "not withdrawn")
            await self._keeper.keep([PublishItems(self.session.id, self._clock(), notice)])

    def _prepare(self) -> None:
        for found in self._preparations.make():
            self._machine.observe(found, self._clock())

    def _considered(self, raised: commands.Raise) -> Ask:
        prepared = self._preparations.take(raised.ask.origin.tool_use)
        ask = self._inbox.consider(raised.ask, self._around(raised.mode), prepared)
        return denials.settled_by(ask, raised.approval, self._clock())

    def _changes(self, wanted: Sequence[Command], raised: Sequence[Ask]) -> list[Change]:
        now = self._clock()
        changes = records.changes(self.session.id, wanted, raised, now)
        for command in wanted:
            if isinstance(command, commands.Learn):
                changes += abilities.saved(command.abilities, self._store.machine, self.session.directory)
        if any(isinstance(each, commands.Changed) for each in wanted):
            # Once, and last: this is the machine's memory after the whole batch.
            self.session = records.as_remembered(self.session, self._machine.memory, now)
            changes += records.changed(self.session)
        return changes

    def _advance(self) -> Advance:
        offset, memory = self._machine.wire.offset, self._machine.memory.dump()
        return Advance(Checkpoint(self.session.id, self.session.run, offset, memory))

    async def _stored(self, stored: Decision, applied: Applied) -> None:
        await self._check_withdrawn(stored.commands, applied)
        self._claude.taken_in(stored.advance.checkpoint.offset)
        for command in stored.commands:
            self._follow_up(command)
        if stored.rests and self.session.phase == "idle":
            self._rested(self.session.id)
        self._show_previews()

    def _follow_up(self, command: Command) -> None:
        match command:
            case commands.WakeMe(timer, None):
                self._forget(timer)
            case commands.WakeMe(timer, float() | int() as seconds):
                self._later(timer, seconds, commands.TimerFired(timer))
            case commands.AllowRetry():
                self.listen()
            case commands.AnswerAgain():
                self._queue.put_nowait(command)
            case commands.Terminate(farewell):
                self._tasks.create_task(self._claude.stop(farewell))
            case commands.Publish(Notice(text=text, about=reconciling.DIFFERS)):
                log.warning("session %s: %s", self.session.id, text)
            case _:
                pass

    def _end_half_line(self) -> None:
        if not self.was_cut_off:
            self.was_cut_off = True
            self._tasks.create_task(self._claude.stop())

    def _around(self, mode: str) -> Surroundings:
        return self._surroundings(replace(self.session, mode=mode))

    def _kill(self) -> None:
        """Without asking, and before anything is stored."""
        self._writing.hurry()
        self.ending = self._tasks.create_task(self._claude.stop(patience=0))

    def _end_unkept(self) -> None:
        if self.ending is None:
            self.ending = self._tasks.create_task(self._claude.stop(self._machine.farewell))

    def _later(self, name: object, seconds: float, news: News) -> None:
        self._forget(name)
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, self._queue.put_nowait, news)

    def _forget(self, name: object) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def _show_previews(self) -> None:
        now = asyncio.get_running_loop().time()
        for preview in self._previews.due(now):
            self._feed.preview(preview)
        wait = self._previews.wait(now)
        if wait is not None:
            self._later("previews", wait, PreviewsDue())

    def _refuse_the_rest(self) -> None:
        while not self._queue.empty():
            news = self._queue.get_nowait()
            if isinstance(news, Wished) and not news.done.done():
                news.done.set_exception(self._too_late())

    def _too_late(self) -> WishRefused:
        if self.has_ended and self.session.ended is not None:
            return WishRefused(t("sessions.refused.ended"))
        if self.has_ended:
            return WishRefused(t("sessions.refused.between"))
        return WishRefused(t("sessions.refused.closing"))


def _lines(wanted: Sequence[Command]) -> list[bytes]:
    return [each.line for each in wanted if isinstance(each, commands.Write)]
