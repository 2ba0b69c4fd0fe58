"""The message that shows a session's progress: a draft in a private chat, elsewhere a message that is edited."""

from asyncio import Future
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import assert_never

from handraise.present.headlines import one_line
from handraise.surfaces.telegram import progress as pacing
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.link_record import LinkRecord
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    Button,
    DeleteMessage,
    Doubtful,
    EditText,
    Gone,
    Keyboard,
    Migrated,
    Outgoing,
    SendDraft,
    SendResult,
    SendText,
    Sent,
    Undeliverable,
)
from handraise.surfaces.telegram.progress import Progress, ShownProgress
from handraise.surfaces.telegram.session_side import SessionTools
from handraise.texts import t

INTERRUPT = "session.interrupt"
"""What the button below it does."""
_NO_DRAFTS = ("not found", "bad request")
"""How Telegram's reason begins if a server or a chat has no drafts. Too many of them would be a 429, which waits."""

Trouble = Blocked | Migrated | Undeliverable


class ProgressMessage:
    """At most one at a time. After a restart, the one that is there goes on. `changed`: call `show` again."""

    def __init__(
        self, tools: SessionTools, record: LinkRecord, progress: Progress, changed: Callable[[], None]
    ) -> None:
        self.gave_up = False
        """Someone deleted it, so this turn has none."""
        self._tools = tools
        self._record = record
        self._progress = progress
        self._changed = changed
        self._shown: ShownProgress | None = None
        self._sending: Future[SendResult] | None = None
        self._drafts = True

    @property
    def draft(self) -> int:
        """The number of its draft, the same after a restart."""
        return int.from_bytes(sha256(self._record.session.encode()).digest()[:4]) % (2**31 - 1) + 1

    @property
    def exists(self) -> bool:
        return self._record.link.progress is not None or self._sending is not None

    def begin(self) -> None:
        """Something new has started."""
        self._shown, self.gave_up = None, False

    async def show(self, now: datetime) -> Trouble | None:
        """Changes it if that is due. Returns what its chat must recover from."""
        if self._sending is not None:
            if not self._sending.done():
                return None
            sending, self._sending = self._sending, None
            trouble = await self._record_result(sending.result())
            if trouble is not None or self.gave_up:
                return trouble
        text = self._progress.show(now)
        is_first = self._shown is None and self._record.link.progress is None
        if pacing.is_due(self._pace(), self._shown, text, now) and not (is_first and not self._is_worth_it(now)):
            self._sending = await self._send(text.content)
            # Its number is saved as soon as it is known: a hub that is killed finds the message again.
            self._sending.add_done_callback(lambda _: self._changed())
            self._shown = ShownProgress(text, now)
        return None

    async def remove(self) -> None:
        """After the answer it is of no use. One that is still on its way is removed as well."""
        await self.record_late()
        self._shown = None
        number = self._record.link.progress
        if number is None:
            return
        place = self._record.place
        result = await self._put(DeleteMessage(place, number))
        if not isinstance(result, Sent):
            # Telegram lets a bot delete its messages for two days; it can change them later, too.
            closed = Formatted(t("telegram.session.closed", title=one_line(self._progress.title)))
            await self._put(EditText(place, number, closed), self._key)
        await self._record.save(progress=None)

    async def record_late(self) -> None:
        """What hasn't gone yet is taken back; what is on its way is waited for."""
        if self._sending is not None:
            sending, self._sending = self._sending, None
            if not self._tools.outbox.withdraw(sending):
                await self._record_result(await sending)

    def _is_worth_it(self, now: datetime) -> bool:
        """A session that was just started is shown at once, so that people see it. A draft costs nothing."""
        is_new = self._record.link.cursor == 0
        return self._uses_draft or is_new or pacing.is_worth_starting(self._progress.since, now)

    def _pace(self) -> pacing.EditPace:
        if self._uses_draft:
            return pacing.DRAFT
        return pacing.PRIVATE if self._record.detail.private else pacing.GROUP

    @property
    def _uses_draft(self) -> bool:
        return self._drafts and self._record.detail.private and self._record.link.progress is None

    async def _send(self, content: Formatted) -> Future[SendResult]:
        place, number = self._record.place, self._record.link.progress
        if self._uses_draft:
            return self._put(SendDraft(place, self.draft, content, can_stop=True), self._key)
        if number is None:
            reply_to = self._record.detail.reply_to
            return self._put(SendText(place, content, await self._keyboard(), reply_to, silent=True))
        return self._put(EditText(place, number, content, await self._keyboard()), self._key)

    async def _record_result(self, result: SendResult) -> Trouble | None:
        match result:
            case Sent(message=number):
                if number and self._record.link.progress is None:
                    await self._record.save(progress=number)
                    await self._record.add_message(number)
            case Undeliverable(reason=reason) if self._uses_draft:
                self._drafts = not reason.lower().startswith(_NO_DRAFTS)
                self._shown = None
            case Gone():
                self.gave_up = True
                await self._record.save(progress=None)
            case Blocked() | Migrated() | Undeliverable():
                self._shown = None
                return result
            case Doubtful():
                # It may be there, but without its number it can't be changed.
                self.gave_up = self._record.link.progress is None
            case _:
                assert_never(result)
        return None

    async def _keyboard(self) -> Keyboard:
        data = await self._tools.bind(self._record.place, INTERRUPT, self._record.session)
        return ((Button(t("telegram.session.button.interrupt"), data),),)

    @property
    def _key(self) -> str:
        return f"progress {self._record.session} {self._record.place.topic}"

    def _put(self, outgoing: Outgoing, key: str = "") -> Future[SendResult]:
        return self._tools.outbox.put(outgoing, priority="progress", key=key)
