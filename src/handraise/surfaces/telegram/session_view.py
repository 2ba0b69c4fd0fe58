"""One session as it is shown in one place: its progress message, then its answer, each exactly as far as it got."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from typing import assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.model.items import Item, Preview
from handraise.present.headlines import one_line
from handraise.surfaces.telegram import progress as pacing
from handraise.surfaces.telegram.files import read_mentioned
from handraise.surfaces.telegram.final import AnswerFile, final_answer
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    Button,
    ChatPlace,
    CloseTopic,
    CreateTopic,
    DeleteMessage,
    Doubtful,
    EditText,
    Gone,
    Keyboard,
    Migrated,
    Outgoing,
    RenameTopic,
    ReopenTopic,
    SendDraft,
    SendFile,
    SendResult,
    SendText,
    Sent,
    Undeliverable,
)
from handraise.surfaces.telegram.progress import Alert, Progress, ProgressOutcome, SessionOver, ShownProgress
from handraise.surfaces.telegram.session_side import Priority, SessionLink, SessionTools
from handraise.texts import t

INTERRUPT = "session.interrupt"
"""What the button below a progress message does."""
_MOST_MESSAGES = 100
_RETRY_BEATS = 5
_OUT_OF_REACH = 3600.0
"""After this many seconds, a chat that the bot can't write to is tried again."""
_NO_TOPIC = "thread not found"
"""In Telegram's reason, if the topic was deleted."""
_NO_DRAFTS = ("not found", "bad request")
"""How Telegram's reason begins if a server or a chat has no drafts. Too many of them would be a 429, which waits."""

log = logging.getLogger("handraise.telegram")


class LinkDetail(Struct, frozen=True, omit_defaults=True):
    """What else a link remembers."""

    messages: tuple[int, ...] = ()
    """The session's last messages in this place, for replies."""
    used_at: datetime | None = None
    """When a person last wrote to the session from here."""
    private: bool = False
    parts: int = 0
    """How many messages of the next answer have arrived."""
    album: str = ""
    """The album that people are sending to it."""
    stop: str = ""
    """The button that interrupts it."""
    topic: str = ""
    """The name of the session's own topic; empty if it has none."""
    is_closed: bool = False
    """Whether that topic was closed."""
    wants_topic: bool = False
    reply_to: int | None = None
    """The message that started it."""


class SessionView:
    """`run` works until there is nothing to show; `wake` says that there is. `place` changes with the chat's number."""

    def __init__(
        self,
        tools: SessionTools,
        link: SessionLink,
        *,
        beat: float,
        moved: Callable[["SessionView", ChatPlace], Awaitable[None]],
        is_muted: Callable[[ChatPlace], bool],
    ) -> None:
        self.link = link
        self.progress = Progress()
        self.seen = 0
        """The newest item that was received."""
        self.catching_up = False
        self.changed = asyncio.Event()
        self.is_running = False
        self._tools = tools
        self._beat = beat
        self._moved = moved
        self._is_muted = is_muted
        self._outcomes: deque[ProgressOutcome] = deque()
        self._later: list[Item] = []
        self._shown: ShownProgress | None = None
        self._sending: asyncio.Future[SendResult] | None = None
        self._gave_up = False
        """Someone deleted the progress message, so this turn has none."""
        self._drafts = True
        self._back = asyncio.Event()

    @property
    def session(self) -> str:
        return self.link.session

    @property
    def place(self) -> ChatPlace:
        return self.link.place

    @property
    def detail(self) -> LinkDetail:
        return msgspec.json.decode(self.link.detail, type=LinkDetail) if self.link.detail else LinkDetail()

    @property
    def draft(self) -> int:
        """The number of its draft, the same after a restart."""
        return int.from_bytes(sha256(self.session.encode()).digest()[:4]) % (2**31 - 1) + 1

    @property
    def has_work(self) -> bool:
        wants_closing = not self.progress.is_open and self.link.progress is not None
        return bool(self._outcomes) or self.progress.is_open or wants_closing or self.detail.wants_topic

    async def remember(self, **fields: object) -> None:
        """Changes the link's details, durably."""
        await self.save(detail=msgspec.json.encode(replace(self.detail, **fields)).decode())

    async def add_message(self, number: int) -> None:
        """A message of the session, so that replies to it find the session."""
        if number and number not in self.detail.messages:
            await self.remember(messages=(*self.detail.messages, number)[-_MOST_MESSAGES:])

    async def save(self, **fields: object) -> None:
        self.link = replace(self.link, **fields)
        await self._tools.ledger.save_link(self.link)

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

    def regain(self) -> None:
        """Something came from the chat: it can be written to again."""
        self._back.set()

    async def run(self) -> None:
        """Shows everything, then returns."""
        try:
            while self.has_work:
                try:
                    await self._step()
                except Exception:  # outer boundary: one session's problem must not affect others
                    log.exception("a session could not be shown; trying again", extra={"session": self.session})
                    await asyncio.sleep(_RETRY_BEATS * self._beat)
        finally:
            self.is_running = False

    def _take(self, item: Item) -> None:
        self.seen = item.cursor
        was_open = self.progress.is_open
        outcome = self.progress.receive(item)
        if self.progress.is_open and not was_open:
            self._shown, self._gave_up = None, False
        if outcome is not None and item.cursor > self.link.cursor:
            self._outcomes.append(outcome)

    async def _step(self) -> None:
        self.changed.clear()
        place = self._tools.people.now_at(self.place)
        if place != self.place:
            await self._move(place)
        if self.detail.wants_topic:
            await self._create_topic()
        if self.detail.topic:
            await self._follow_session()
        if self._outcomes:
            await self._deliver(self._outcomes[0])
            self._outcomes.popleft()
        elif not self.progress.is_open:
            await self._remove_progress()
        else:
            await self._show_progress()
            with suppress(TimeoutError):
                async with asyncio.timeout(None if self._is_quiet else self._beat):
                    await self.changed.wait()

    async def _deliver(self, outcome: ProgressOutcome) -> None:
        """Message by message, so that after a restart none is sent again."""
        if not self._mutes(outcome):
            answer = final_answer(outcome, self.progress.title)
            files = [*answer.files, *await self._mentioned(answer.mentions)]
            messages: list[Formatted | AnswerFile] = [*answer.parts, *files]
            silent = answer.silent or self._tools.people.is_silent(self._tools.clock())
            for content in messages[self.detail.parts :]:
                number = await self._send_surely(content, silent=silent)
                messages_here = (*self.detail.messages, *([number] if number else []))
                await self.remember(parts=self.detail.parts + 1, messages=messages_here[-_MOST_MESSAGES:])
        detail = msgspec.json.encode(replace(self.detail, parts=0, reply_to=None)).decode()
        await self.save(cursor=outcome.cursor, detail=detail)
        if not self.progress.is_open:
            await self._remove_progress()
        if isinstance(outcome, SessionOver) and self.detail.topic and not self.progress.is_open:
            await self.remember(is_closed=True)
            self._put(CloseTopic(self.place))

    def _mutes(self, outcome: ProgressOutcome) -> bool:
        """An alarm is always heard."""
        match outcome:
            case SessionOver(ended=ended) if ended.alarm:
                return False
            case Alert(notice=notice) if notice.level == "alarm":
                return False
            case _:
                return self.is_muted

    @property
    def is_muted(self) -> bool:
        return self.link.mute or self._is_muted(self.place)

    @property
    def _is_quiet(self) -> bool:
        return self._gave_up or self.is_muted

    async def _mentioned(self, paths: tuple[str, ...]) -> list[AnswerFile]:
        if not paths:
            return []
        summary = await self._tools.reading.session(self.session)
        return await asyncio.to_thread(read_mentioned, summary.session.directory, paths)

    async def _send_surely(self, content: Formatted | AnswerFile, *, silent: bool) -> int:
        """Until it has arrived, or Telegram refuses it for good; returns its number, or 0."""
        while True:
            result = await self._put(self._message(content, silent=silent), "reply")
            match result:
                case Sent(message=number):
                    return number
                case Doubtful():
                    # It is better to read an answer twice than never.
                    await asyncio.sleep(_RETRY_BEATS * self._beat)
                case Undeliverable(reason=reason) if not self._has_lost_topic(reason):
                    log.warning("Telegram refused an answer: %s", reason, extra={"session": self.session})
                    return 0
                case _:
                    await self._recover(result)

    def _message(self, content: Formatted | AnswerFile, *, silent: bool) -> SendText | SendFile:
        if isinstance(content, AnswerFile):
            return SendFile(self.place, content.name, content.data, photo=content.photo, silent=silent)
        return SendText(self.place, content, reply_to=self.detail.reply_to, silent=silent)

    async def _recover(self, result: SendResult) -> None:
        match result:
            case Migrated(chat=chat):
                await self._move(ChatPlace(chat))
            case Undeliverable(reason=reason) | Blocked(reason=reason) if self._has_lost_topic(reason):
                await self._move(ChatPlace(self.place.chat))
            case Blocked(reason=reason):
                log.warning("the bot can't write to a chat: %s", reason, extra={"chat": self.place.chat})
                self._back.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_OUT_OF_REACH):
                        await self._back.wait()
            case _:
                pass

    def _has_lost_topic(self, reason: str) -> bool:
        return self.place.topic is not None and _NO_TOPIC in reason

    async def _move(self, place: ChatPlace) -> None:
        """The session is shown elsewhere from here on; its messages stay where they are."""
        before = self.place
        fields = {"topic": ""} if place.topic is None else {}
        detail = msgspec.json.encode(replace(self.detail, messages=(), **fields)).decode()
        await self.save(place=place, progress=None, detail=detail)
        await self._tools.ledger.drop_link(self.session, before)
        self._shown = None
        await self._moved(self, before)

    async def _create_topic(self) -> None:
        title = self.progress.title or t("sessions.untitled")
        result = await self._put(CreateTopic(ChatPlace(self.place.chat), title), "reply")
        if isinstance(result, Sent) and result.topic is not None:
            await self._move(ChatPlace(self.place.chat, result.topic))
            await self.remember(topic=title, wants_topic=False, reply_to=None)
        elif isinstance(result, Migrated):
            await self._move(ChatPlace(result.chat))
        else:
            log.warning("a topic could not be created", extra={"session": self.session})
            await self.remember(wants_topic=False)

    async def _follow_session(self) -> None:
        """The session's own topic has its title, and is open while the session is."""
        title = self.progress.title
        if title and title != self.detail.topic:
            await self.remember(topic=title)
            self._put(RenameTopic(self.place, title))
        if self.detail.is_closed and self.progress.is_open:
            await self.remember(is_closed=False)
            self._put(ReopenTopic(self.place))

    async def _show_progress(self) -> None:
        now = self._tools.clock()
        if self._is_quiet:
            return
        if self._sending is not None:
            if not self._sending.done():
                return
            await self._shown_as(self._sending.result())
            self._sending = None
        text = self.progress.show(now)
        if not pacing.is_due(self._pace(), self._shown, text, now):
            return
        if self._shown is None and self.link.progress is None and not self._is_worth_showing(now):
            return
        self._sending = await self._put_progress(text.content)
        self._shown = ShownProgress(text, now)

    def _is_worth_showing(self, now: datetime) -> bool:
        """A session that was just started is shown at once, so that people see it. A draft costs nothing."""
        return (
            self._uses_draft or self.detail.reply_to is not None or pacing.is_worth_starting(self.progress.since, now)
        )

    def _pace(self) -> pacing.EditPace:
        if self._uses_draft:
            return pacing.DRAFT
        return pacing.PRIVATE if self.detail.private else pacing.GROUP

    @property
    def _uses_draft(self) -> bool:
        return self._drafts and self.detail.private and self.link.progress is None

    async def _put_progress(self, content: Formatted) -> "asyncio.Future[SendResult]":
        if self._uses_draft:
            return self._put(SendDraft(self.place, self.draft, content, can_stop=True), "progress", self._key)
        if self.link.progress is None:
            first = SendText(self.place, content, await self._keyboard(), self.detail.reply_to, silent=True)
            return self._put(first, "progress")
        edit = EditText(self.place, self.link.progress, content, await self._keyboard())
        return self._put(edit, "progress", self._key)

    async def _shown_as(self, result: SendResult) -> None:
        match result:
            case Sent(message=number):
                if number and self.link.progress is None:
                    await self.save(progress=number)
                    await self.add_message(number)
            case Undeliverable(reason=reason) if self._uses_draft:
                self._drafts = not reason.lower().startswith(_NO_DRAFTS)
                self._shown = None
            case Gone():
                self._gave_up = True
                await self.save(progress=None)
            case Undeliverable(reason=reason) if self._has_lost_topic(reason):
                await self._recover(result)
            case Migrated() | Blocked():
                await self._recover(result)
                self._shown = None
            case Doubtful() | Undeliverable():
                self._gave_up = self.link.progress is None
            case _:
                assert_never(result)

    async def _keyboard(self) -> Keyboard:
        if not self.detail.stop:
            await self.remember(stop=await self._tools.bind(self.place, INTERRUPT, self.session))
        return ((Button(t("telegram.session.button.interrupt"), self.detail.stop),),)

    async def _remove_progress(self) -> None:
        """After the answer, the progress message is of no use. One that was still on its way is removed as well."""
        if self._sending is not None:
            result, self._sending = await self._sending, None
            await self._shown_as(result)
        number = self.link.progress
        self._shown = None
        if number is None:
            return
        result = await self._put(DeleteMessage(self.place, number), "progress")
        if not isinstance(result, Sent):
            # Telegram lets a bot delete its messages for two days; it can change them later, too.
            closed = Formatted(t("telegram.session.closed", title=one_line(self.progress.title)))
            await self._put(EditText(self.place, number, closed), "progress", self._key)
        await self.save(progress=None)

    @property
    def _key(self) -> str:
        return f"progress {self.session} {self.place.topic}"

    def _put(self, outgoing: Outgoing, priority: Priority = "progress", key: str = "") -> "asyncio.Future[SendResult]":
        return self._tools.outbox.put(outgoing, priority=priority, key=key)
