"""Follows one session or the inbox. Passes a person's actions to the desk; the feed does the rest."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Self, assert_never

from handraise.desk.interface import Conflict, Desk, DeskError, TooLate, Unreached, Waiting
from handraise.model.answers import Answer
from handraise.model.asks import Ask
from handraise.model.sessions import Session
from handraise.present.harmless import one_line
from handraise.surfaces.terminal import dialogue
from handraise.surfaces.terminal.dialogue import Edit, Effect, PutAside, Send
from handraise.surfaces.terminal.editor import EditorFailed
from handraise.surfaces.terminal.feed_reader import FeedReader
from handraise.surfaces.terminal.hand import Hand, Pressed
from handraise.surfaces.terminal.help import help_lines
from handraise.surfaces.terminal.lines import line, wrap
from handraise.surfaces.terminal.terminal_io import TerminalIO
from handraise.surfaces.terminal.timeline import unsent_text
from handraise.surfaces.terminal.view import ViewState
from handraise.texts import t

_ALLOW = re.compile(r"/allow +([0-9]{1,4})")
TWICE = timedelta(seconds=3)
"""Two Ctrl-C within this time leave."""


class TerminalSession:
    """One person at one terminal, while it is entered: follows the feed until `leaving` is set or it is left."""

    def __init__(
        self,
        desk: Desk,
        io: TerminalIO,
        clock: Callable[[], datetime],
        session: Session | None,
        cursor: int,
        *,
        machine: str | None = None,
    ) -> None:
        """Without a session, the open asks of all of them; or of those on a machine, by its ID."""
        self.view = ViewState(session, machine=machine)
        self.hand = Hand(self.view.stack, speaks=self.view.speaks)
        self.leaving = asyncio.Event()
        self.changed = asyncio.Event()
        """Set after each change, for code that waits for a condition."""
        self.interrupted = False
        """Whether Ctrl-C was the reason to leave."""
        self.refused: DeskError | None = None
        """Why the hub no longer accepts us."""
        self._desk = desk
        self._io = io
        self._clock = clock
        self._following = FeedReader(desk, io, clock, self.view, cursor, self._refresh)
        self._stopped_at: datetime | None = None
        self._group = asyncio.TaskGroup()
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._start(self._follow())
        self._start(self._following.watch_machines())
        return self

    async def __aexit__(self, *_raised: object) -> None:
        for task in self._running:
            task.cancel()
        # The error isn't passed to the task group, which would wrap it in an exception group.
        await self._group.__aexit__(None, None, None)

    async def _follow(self) -> None:
        try:
            await self._following.follow()
        except DeskError as error:
            # The token was revoked, or the session no longer exists.
            self.refused = error
            self.leaving.set()

    def press(self, key: str, *, pasted: bool = False) -> str:
        """A key for the card on top. Returns what belongs to the line to Claude instead."""
        pressed = self.hand.press(key, self._clock(), self._io.size, pasted=pasted)
        return self._came_of(pressed)

    def confirm(self, *, pasted: bool = False) -> None:
        """Enter, at the end of a text for the card on top."""
        self._came_of(self.hand.confirm(self._clock(), pasted=pasted))

    def choose(self, keys: list[str]) -> None:
        """The keys that a typed line stands for."""
        self._came_of(self.hand.choose(keys, self._clock()))

    def tick(self) -> None:
        """Time passed: a held key takes effect if no word followed."""
        self._came_of(self.hand.due(self._clock()))

    def _came_of(self, pressed: Pressed) -> str:
        current = self.view.stack.current
        if current is not None:
            self._perform(current.ask, pressed.effect)
        if pressed.helps:
            self.help()
        self._refresh()
        return pressed.typed

    def help(self) -> None:
        """Prints the keys."""
        self._io.show(help_lines())

    def write(self, text: str) -> None:
        """The text for the card on top."""
        if self.view.stack.current is not None:
            self.view.stack.put(dialogue.write(self.view.stack.current, text), self._clock())

    def look_aside(self) -> None:
        """Switches between the card and the line to Claude."""
        if self.view.stack.top is not None and (self.view.speaks or self.view.stack.aside):
            self.view.stack.put_aside(not self.view.stack.aside)
            if not self.view.stack.aside:
                self.hand.turn_to_card()
        self._refresh()

    def postpone(self) -> None:
        """Esc, before keys count."""
        if not self.view.speaks:
            self.view.stack.turn(1)
            self._refresh()
        else:
            self.look_aside()

    def say(self, text: str) -> None:
        """Sends a message to Claude, during a turn or between two."""
        session, allowed = self.view.session if self.view.speaks else None, _ALLOW.fullmatch(text.strip())
        if session is not None and allowed is not None:
            self._allow(session.id, int(allowed[1]))
        elif text.strip() and session is not None:
            self._start(self._say(session.id, text))

    def _allow(self, session: str, number: int) -> None:
        """A denied call by its number, as it was shown: never "the last one", which may have changed meanwhile."""
        action = self.view.timeline.denied_number(number)
        if action is None:
            self._tell("class:warning", t("terminal.stay.no_denied", number=number))
        else:
            self._start(self._allow_denied(session, action, number))

    def stop(self) -> None:
        """Ctrl-C: ends the turn; a second one leaves."""
        now = self._clock()
        if self._stopped_at is not None and now - self._stopped_at < TWICE:
            self.interrupted = True
            self.leaving.set()
            return
        self._stopped_at = now
        if self.view.session is not None and self.view.speaks and self.view.timeline.working:
            self._tell("class:warning", t("terminal.stay.interrupting"))
            self._start(self._interrupt(self.view.session.id))
        else:
            self._tell("class:dim", t("terminal.stay.leave"))

    def _perform(self, ask: Ask, effect: Effect | None) -> None:
        match effect:
            case None:
                pass
            case PutAside():
                self.postpone()
            case Edit(text=text, suffix=suffix):
                self._start(self._edit(ask.id, text, suffix))
            case Send(answer=answer):
                self._start(self._answer(ask, answer))
            case _:
                assert_never(effect)

    async def _edit(self, ask: str, text: str, suffix: str) -> None:
        try:
            written = await self._io.edit(text, suffix)
        except EditorFailed as error:
            self._not_sent(ask, str(error))
            self._refresh()
            return
        found = self.view.stack.find(ask)
        if found is not None:
            self.view.stack.put(dialogue.edited(found, written), self._clock())
        elif written != text:
            self._keep_edited(written)
        self._refresh()

    def _keep_edited(self, written: str) -> None:
        if self.view.speaks:
            self._io.keep(written)
            self._tell("class:warning", t("terminal.stay.answered_meanwhile"))
        else:
            self._io.show(unsent_text(written, self._io.size[0]))

    async def _answer(self, ask: Ask, answer: Answer) -> None:
        """The card stays until the feed removes it; on any error, nothing counts that was not confirmed."""
        try:
            settled = await self._desk.answer(ask.id, answer, ask.digest)
            if settled.late:
                self._tell("class:warning", t("terminal.stay.late"))
        except (Conflict, TooLate) as error:
            if error.ask.state == "open":
                self.view.stack.begin_again(error.ask, self._clock())
            else:
                self._io.show(self._following.settle(error.ask))
        except Unreached:
            self._not_sent(ask.id, t("terminal.stay.not_answered"))
        except DeskError as error:
            self._not_sent(ask.id, str(error))
        self._refresh()

    def _not_sent(self, ask: str, why: str) -> None:
        found = self.view.stack.find(ask)
        if found is not None:
            self.view.stack.put(dialogue.not_sent(found, why), self._clock())

    async def _say(self, session: str, text: str) -> None:
        try:
            if self.view.timeline.ended is not None:
                await self._desk.resume(session, text)
            else:
                await self._desk.say(session, text)
        except Waiting as error:
            self._tell("class:warning", one_line(str(error)))
        except Unreached:
            self._tell("class:warning", t("terminal.stay.not_said"))
            self._io.keep(text)
        except DeskError as error:
            self._tell("class:warning", one_line(str(error)))
            self._io.keep(text)

    async def _allow_denied(self, session: str, action: str, number: int) -> None:
        try:
            await self._desk.allow_denied(session, action)
        except Unreached:
            self._tell("class:warning", t("terminal.stay.not_allowed", number=number))
        except DeskError as error:
            self._tell("class:warning", one_line(str(error)))

    async def _interrupt(self, session: str) -> None:
        try:
            await self._desk.interrupt(session)
        except Unreached:
            self._tell("class:warning", t("terminal.stay.not_interrupted"))
        except DeskError as error:
            self._tell("class:warning", one_line(str(error)))

    def _tell(self, style: str, text: str) -> None:
        width, _ = self._io.size
        self._io.show(wrap(line((style, text)), width, 2))

    def _refresh(self) -> None:
        self.hand.speaks = self.view.speaks
        self.changed.set()
        self._io.refresh()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
