"""One session as it is shown in one place: its progress message, then its answer, each exactly as far as it got."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from handraise.model.items import Item, Preview
from handraise.present.headlines import clipped, one_line
from handraise.surfaces.telegram.files import read_mentioned
from handraise.surfaces.telegram.final import AnswerFile, FinalAnswer, final_answer
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.link_record import LinkRecord
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    Button,
    ChatPlace,
    CloseTopic,
    CreateTopic,
    Doubtful,
    Keyboard,
    Migrated,
    Outgoing,
    RemoveButtons,
    RenameTopic,
    ReopenTopic,
    SendFile,
    SendResult,
    SendText,
    Sent,
    Undeliverable,
)
from handraise.surfaces.telegram.progress import (
    Alert,
    CallDenied,
    DenialOver,
    MessageOutcome,
    Progress,
    ProgressOutcome,
    SessionOver,
)
from handraise.surfaces.telegram.progress_message import ProgressMessage
from handraise.surfaces.telegram.refusals import is_topic_gone, without_quotes
from handraise.surfaces.telegram.session_side import SessionLink, SessionTools
from handraise.texts import t

ALLOW = "session.allow"
"""What the button below a denied call does."""
_RETRY_BEATS = 5
_LAST_WAIT = 3.0
"""How long a hub that stops waits for Telegram to confirm what was sent, in seconds."""
_MOST_NAMED = 10
_LONGEST_NAME = 100

log = logging.getLogger("handraise.telegram")


class SessionView:
    """`run` works until there is nothing to show. `moved` is called with the place where it was before."""

    def __init__(
        self,
        tools: SessionTools,
        link: SessionLink,
        *,
        beat: float,
        moved: Callable[["SessionView", ChatPlace], Awaitable[None]],
        is_muted: Callable[[ChatPlace], bool],
    ) -> None:
        self.record = LinkRecord(tools.ledger, link)
        self.progress = Progress()
        self.changed = asyncio.Event()
        self.message = ProgressMessage(tools, self.record, self.progress, self.changed.set)
        self.seen = 0
        """The newest item that was received."""
        self.catching_up = False
        self.is_running = False
        self._tools = tools
        self._beat = beat
        self._moved = moved
        self._is_muted = is_muted
        self._outcomes: deque[ProgressOutcome] = deque()
        self._later: list[Item] = []
        self._delivering: asyncio.Future[SendResult] | None = None
        """A message of an answer that is being sent."""

    @property
    def session(self) -> str:
        return self.record.session

    @property
    def place(self) -> ChatPlace:
        return self.record.place

    @property
    def is_muted(self) -> bool:
        return self.record.link.mute or self._is_muted(self.place)

    @property
    def has_work(self) -> bool:
        return bool(self._outcomes) or self.progress.is_open or self.message.exists or self.record.detail.wants_topic

    def receive(self, item: Item) -> None:
        """The next item. What comes while older ones are being read waits for them."""
        if self.catching_up:
            self._later.append(item)
        elif item.cursor > self.seen:
            self._take(item)
            self.changed.set()

    def catch_up(self, items: list[Item]) -> None:
        """Older items, before those that came in the meantime."""
        for item in (*items, *self._later):
            if item.cursor > self.seen:
                self._take(item)
        self._later.clear()
        self.catching_up = False
        self.changed.set()

    def preview(self, preview: Preview) -> None:
        self.progress.preview(preview)

    async def run(self) -> None:
        """Shows everything, then returns."""
        try:
            while self.has_work:
                try:
                    await self._step()
                except Exception:  # outer boundary: one session's problem must not affect others
                    log.exception("a session could not be shown; trying again", extra={"session": self.session})
                    await asyncio.sleep(_RETRY_BEATS * self._beat)
        except asyncio.CancelledError:
            await self._record_late()
            raise
        finally:
            self.is_running = False

    def _take(self, item: Item) -> None:
        self.seen = item.cursor
        was_open = self.progress.is_open
        outcome = self.progress.receive(item)
        if self.progress.is_open and not was_open:
            self.message.begin()
        if outcome is not None and item.cursor > self.record.link.cursor:
            self._outcomes.append(outcome)

    async def _step(self) -> None:
        self.changed.clear()
        await self._arrange_place()
        if self._outcomes:
            await self._deliver(self._outcomes[0])
            self._outcomes.popleft()
        elif self.message.exists and (self.is_muted or not self.progress.is_open):
            await self.message.remove()
        elif self.progress.is_open:
            await self._show_progress()

    async def _show_progress(self) -> None:
        is_quiet = self.message.gave_up or self.is_muted
        trouble = None if is_quiet else await self.message.show(self._tools.clock())
        if trouble is not None:
            await self._recover(trouble)
        with suppress(TimeoutError):
            async with asyncio.timeout(None if is_quiet else self._beat):
                await self.changed.wait()

    async def _deliver(self, outcome: ProgressOutcome) -> None:
        if isinstance(outcome, DenialOver):
            await self._remove_button(outcome.action)
        elif not self._mutes(outcome):
            await self._report(outcome)
        await self.record.finish(outcome.cursor)
        if isinstance(outcome, SessionOver) and self.record.detail.topic and not self.progress.is_open:
            await self.record.remember(is_closed=True)
            self._put(CloseTopic(self.place))

    async def _report(self, outcome: MessageOutcome) -> None:
        """Message by message, so that after a restart none is sent again."""
        answer = await asyncio.to_thread(final_answer, outcome, self.progress.title)
        files = [*answer.files, *await self._mentioned(answer.mentions)]
        messages: list[Formatted | AnswerFile] = [*answer.parts, *files]
        silent = answer.silent or self._tools.people.is_silent(self._tools.clock())
        keyboard = await self._keyboard(outcome, answer)
        for number, content in enumerate(messages[self.record.detail.parts :], self.record.detail.parts + 1):
            below = keyboard if number == len(messages) else ()
            sent = await self._send_surely(content, below, silent=silent)
            await self.record.advance(sent, answer.allows if below else "")

    async def _remove_button(self, action: str) -> None:
        """Someone allowed the call, here or elsewhere, or nobody can any more."""
        allowing = dict(self.record.detail.allowing)
        message = allowing.pop(action, None)
        if message is not None:
            self._put(RemoveButtons(self.place, message))
            await self.record.remember(allowing=allowing)

    async def _keyboard(self, outcome: ProgressOutcome, answer: FinalAnswer) -> Keyboard:
        """The button that allows a denied call, while that is possible."""
        until = outcome.denied.allowable_until if isinstance(outcome, CallDenied) and answer.allows else None
        if until is None or until <= self._tools.clock():
            return ()
        data = await self._tools.bind(self.place, ALLOW, f"{answer.allows} {self.session}")
        return ((Button(t("telegram.session.button.allow"), data),),)

    def _mutes(self, outcome: ProgressOutcome) -> bool:
        """An alarm is always heard."""
        match outcome:
            case SessionOver(ended=ended) if ended.alarm:
                return False
            case Alert(notice=notice) if notice.level == "alarm":
                return False
            case _:
                return self.is_muted

    async def _mentioned(self, paths: tuple[str, ...]) -> Sequence[Formatted | AnswerFile]:
        if not paths:
            return []
        session = (await self._tools.reading.session(self.session)).session
        if session.machine not in ("", self._tools.machine):
            # The same path on this machine is another file, which nobody meant.
            names = ", ".join(clipped(one_line(each), _LONGEST_NAME) for each in paths[:_MOST_NAMED])
            return [Formatted(t("telegram.session.file.elsewhere", count=len(paths), names=names))]
        return await asyncio.to_thread(read_mentioned, session.directory, paths)

    async def _send_surely(self, content: Formatted | AnswerFile, keyboard: Keyboard, *, silent: bool) -> int:
        """Until it has arrived, or Telegram refuses it for good; returns its number, or 0."""
        while True:
            self._delivering = self._tools.outbox.put(self._message(content, keyboard, silent=silent), priority="reply")
            result = await asyncio.shield(self._delivering)
            self._delivering = None
            match result:
                case Sent(message=number):
                    self._tools.reach.regain(self.place.chat)
                    return number
                case Doubtful():
                    # It is better to read an answer twice than never.
                    await asyncio.sleep(_RETRY_BEATS * self._beat)
                case Undeliverable(reason=reason) if not self._has_lost_topic(reason):
                    log.warning(
                        "Telegram refused an answer: %s", without_quotes(reason), extra={"session": self.session}
                    )
                    if isinstance(content, AnswerFile):
                        sentence = t("telegram.session.file.not_sent", name=content.name)
                        note = SendText(self.place, Formatted(sentence), silent=True)
                        self._tools.outbox.put(note, priority="reply", follows=True)
                    return 0
                case _:
                    await self._recover(result)

    async def _record_late(self) -> None:
        """The hub stops: what is on its way is still recorded, so that it isn't sent again; what isn't stays here."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WAIT):
                if self._delivering is not None and not self._tools.outbox.withdraw(self._delivering):
                    result = await self._delivering
                    if isinstance(result, Sent):
                        await self.record.advance(result.message)
                await self.message.record_late()
        # A write that was under way may have been cancelled with everything else.
        await self.record.save()

    def _message(self, content: Formatted | AnswerFile, keyboard: Keyboard, *, silent: bool) -> SendText | SendFile:
        if isinstance(content, AnswerFile):
            return SendFile(self.place, content.name, content.data, photo=content.photo, silent=silent)
        return SendText(self.place, content, keyboard, reply_to=self.record.detail.reply_to, silent=silent)

    async def _recover(self, result: SendResult) -> None:
        match result:
            case Migrated(chat=chat):
                await self._move(ChatPlace(chat))
            case Undeliverable(reason=reason) | Blocked(reason=reason) if self._has_lost_topic(reason):
                await self._move(ChatPlace(self.place.chat))
            case Undeliverable(reason=reason):
                log.warning(
                    "Telegram refused a session's progress: %s", without_quotes(reason), extra={"session": self.session}
                )
                self.message.gave_up = True
            case Blocked(reason=reason):
                self._tools.reach.lose(self.place.chat, reason)
                await self._tools.reach.until_back(self.place.chat)
            case _:
                pass

    def _has_lost_topic(self, reason: str) -> bool:
        return self.place.topic is not None and is_topic_gone(reason)

    async def _arrange_place(self) -> None:
        """The group may have a new number, and the session may want a topic of its own."""
        place = self._tools.people.now_at(self.place)
        if place != self.place:
            await self._move(place)
        if self.record.detail.wants_topic:
            await self._create_topic()
        if self.record.detail.topic:
            await self._follow_session()

    async def _move(self, place: ChatPlace) -> None:
        before = self.place
        await self.record.move(place)
        await self._moved(self, before)

    async def _create_topic(self) -> None:
        title = self.progress.title or t("sessions.untitled")
        result = await self._tools.outbox.put(CreateTopic(ChatPlace(self.place.chat), title), priority="reply")
        if isinstance(result, Sent) and result.topic is not None:
            await self._move(ChatPlace(self.place.chat, result.topic))
            await self.record.remember(topic=title, wants_topic=False, reply_to=None)
            self.message.begin()
        elif isinstance(result, Migrated):
            await self._move(ChatPlace(result.chat))
        else:
            log.warning("a topic could not be created", extra={"session": self.session})
            await self.record.remember(wants_topic=False)

    async def _follow_session(self) -> None:
        """The session's own topic has its title, and is open while the session is."""
        title, detail = self.progress.title, self.record.detail
        if title and title != detail.topic:
            await self.record.remember(topic=title)
            self._put(RenameTopic(self.place, title))
        if detail.is_closed and self.progress.is_open:
            await self.record.remember(is_closed=False)
            self._put(ReopenTopic(self.place))

    def _put(self, outgoing: Outgoing) -> None:
        self._tools.outbox.put(outgoing, priority="progress")
