"""Sends what is put into it: each chat at its own pace, cards before replies before progress.

Nothing is lost: what Telegram or the network fails to take goes again, after longer and longer pauses. A new message
that may have arrived although no answer came is not sent twice; its result is Doubtful.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from mimetypes import guess_type
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from handraise.surfaces.telegram.chat_queue import MOST_REFUSALS, ChatQueue, NotBefore, Queued
from handraise.surfaces.telegram.client import BotClient, BotError, BotRefused, BotUnreached, BotUpload
from handraise.surfaces.telegram.formatted import cut, plain
from handraise.surfaces.telegram.methods import call_for, read_result
from handraise.surfaces.telegram.outgoing import (
    ChatPlace,
    CreateTopic,
    Doubtful,
    Migrated,
    Outgoing,
    SendDraft,
    SendFile,
    SendResult,
    SendText,
    Sent,
    Undeliverable,
)
from handraise.surfaces.telegram.pacing import Pace, PaceLimits, Priority
from handraise.surfaces.telegram.refusals import Instead, Retry, Verdict, Wait, judge

log = logging.getLogger("handraise.telegram")

LONGEST_TOAST = 200
DRAFT_DEADLINE = 5.0
"""A draft that takes longer is outdated, and must not hold up a card."""
_UNNAMED_PAUSE = 5.0
_DROPPED = "dropped: too much progress was waiting"
_SHORTEST = 0.001
"""A wait that rounding makes too short to move the clock would be repeated without end."""


def wait_until(at: float, now: float, second: float) -> float:
    """How long to wait for a time of pacing, of which a second takes `second`; never too short to move a clock."""
    return max((at - now) * second, _SHORTEST)


class Outbox:
    """Entered with `async with`; what still waits at the end is cancelled.

    `second` is how long a second of pacing takes; shorter in tests.
    """

    def __init__(
        self,
        client: BotClient,
        limits: PaceLimits | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        second: float = 1.0,
    ) -> None:
        self.arrived: Callable[[int, int], None] = lambda _chat, _message: None
        """Called with the chat and the number of each new message."""
        self._client = client
        self._pace = Pace(limits)
        self._clock = clock
        self._second = second
        self._chats: dict[int, ChatQueue] = {}
        self._changed: dict[int, asyncio.Event] = {}
        self._futures: dict[int, asyncio.Future[SendResult]] = {}
        self._tickets = count(1)
        self._arrived = 0
        self._tasks = asyncio.TaskGroup()
        self._workers: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.cancel()
        try:
            await self._tasks.__aexit__(kind, error, trace)
        finally:
            for future in self._futures.values():
                future.cancel()

    @property
    def waiting(self) -> int:
        """How many messages wait for their turn."""
        return sum(map(len, self._chats.values()))

    def put(
        self, outgoing: Outgoing, *, priority: Priority, key: str = "", follows: bool = False
    ) -> "asyncio.Future[SendResult]":
        """Queues it. An edit or a draft with the same key that still waits is replaced by it, and gets its result.

        With `follows`, a new message for a group that became a supergroup goes to its new number.
        """
        ticket = next(self._tickets)
        future: asyncio.Future[SendResult] = asyncio.get_running_loop().create_future()
        self._futures[ticket] = future
        self._enqueue(Queued(outgoing, priority, key, [ticket], follows=follows))
        return future

    def withdraw(self, future: "asyncio.Future[SendResult]") -> bool:
        """Takes back what hasn't gone yet, and cancels its future. False if it is on its way, or done."""
        ticket = next((number for number, each in self._futures.items() if each is future), None)
        if ticket is None or not any(queue.withdraw(ticket) for queue in self._chats.values()):
            return False
        self._futures.pop(ticket).cancel()
        return True

    async def answer(self, callback_id: str, text: str = "", *, alert: bool = False) -> bool:
        """Acknowledges a press at once, never behind the queue. False if Telegram doesn't wait for it any more."""
        params: dict[str, str | bool] = {"callback_query_id": callback_id}
        if text:
            params["text"] = cut(plain(text), LONGEST_TOAST).text
        if alert:
            params["show_alert"] = True
        try:
            await self._client.call("answerCallbackQuery", params)
        except BotError as error:
            log.info("a press was not acknowledged: %s", error)
            return False
        return True

    def _enqueue(self, item: Queued) -> None:
        queue = self._open(item.outgoing.place.chat)
        if dropped := queue.put(item, self._now()):
            self._resolve(dropped, Undeliverable(_DROPPED))
        self._changed[queue.chat].set()

    def _now(self) -> float:
        return self._clock() / self._second

    def _open(self, chat: int) -> ChatQueue:
        if chat not in self._chats:
            self._chats[chat] = ChatQueue(chat)
            self._changed[chat] = asyncio.Event()
            worker = self._tasks.create_task(self._work(self._chats[chat], self._changed[chat]))
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)
        return self._chats[chat]

    async def _work(self, queue: ChatQueue, changed: asyncio.Event) -> None:
        """One chat, one call at a time, so that order is kept."""
        while True:
            changed.clear()
            match queue.next(self._pace, self._now()):
                case Queued() as item:
                    await self._deliver(queue, item)
                case NotBefore(at):
                    with suppress(TimeoutError):
                        async with asyncio.timeout(wait_until(at, self._now(), self._second)):
                            await changed.wait()
                case None:
                    await changed.wait()

    async def _deliver(self, queue: ChatQueue, item: Queued) -> None:
        if item.paced:
            self._pace.start(queue.chat, self._now())
        try:
            verdict = await self._try(item.outgoing)
        except Exception:  # outer boundary: one message's problem must not affect others
            log.exception("a message could not be sent")
            verdict = Undeliverable("internal error")
        if item.paced:
            self._pace.finish(queue.chat, self._now())
        self._settle(queue, item, verdict)

    async def _try(self, outgoing: Outgoing) -> Verdict:
        call = call_for(outgoing)
        files = {call.file: _upload(outgoing)} if isinstance(outgoing, SendFile) else None
        deadline = DRAFT_DEADLINE if isinstance(outgoing, SendDraft) else None
        try:
            result = await self._client.call(call.method, call.params, files, deadline=deadline)
        except BotRefused as refused:
            return judge(outgoing, refused.code, refused.description, refused.retry_after, refused.migrate_to)
        except BotUnreached as unreached:
            repeatable = unreached.certain or not isinstance(outgoing, SendText | SendFile | CreateTopic)
            return Retry(unreached.reason) if repeatable else Doubtful()
        return read_result(outgoing, result) or Doubtful()

    def _settle(self, queue: ChatQueue, item: Queued, verdict: Verdict) -> None:
        match verdict:
            case Retry(reason):
                self._retry(queue, item, reason)
            case Doubtful():
                queue.fail(self._now())
                self._resolve(item, verdict)
            case Wait(seconds):
                queue.succeed()
                self._hold(queue, item, _UNNAMED_PAUSE if seconds is None else seconds)
                queue.put_back(item)
            case Instead(outgoing):
                queue.succeed()
                log.warning("a message is sent again without what Telegram refused, such as its formatting")
                item.outgoing = outgoing
                queue.put_back(item)
            case Migrated(chat) if item.follows and isinstance(item.outgoing, SendText):
                queue.succeed()
                # Messages have other numbers there, so it refers to none.
                item.outgoing = replace(item.outgoing, place=ChatPlace(chat), reply_to=None)
                self._enqueue(item)
            case _:
                queue.succeed()
                self._arrived += isinstance(verdict, Sent)
                if isinstance(verdict, Sent) and isinstance(item.outgoing, SendText | SendFile):
                    self.arrived(queue.chat, verdict.message)
                self._resolve(item, verdict)

    def _hold(self, queue: ChatQueue, item: Queued, seconds: float) -> None:
        log.info("Telegram wants a pause of %s s in a chat", seconds)
        if isinstance(item.outgoing, SendDraft):
            queue.hold_drafts(self._now() + seconds)
        else:
            self._pace.hold(queue.chat, seconds, self._now())

    def _retry(self, queue: ChatQueue, item: Queued, reason: str) -> None:
        if isinstance(item.outgoing, SendDraft):
            # The next draft says more, and nothing waits for this one.
            queue.hold_drafts(self._now() + _UNNAMED_PAUSE)
            self._resolve(item, Undeliverable(reason))
            return
        queue.fail(self._now())
        item.failures += 1
        # Others arrive, so the server works, and this message is what it can't take.
        item.refusals += self._arrived > item.arrived_before and item.failures > 1
        item.arrived_before = self._arrived
        if item.refusals >= MOST_REFUSALS:
            self._resolve(item, Undeliverable(reason))
        else:
            queue.put_back(item)

    def _resolve(self, item: Queued, result: SendResult) -> None:
        for ticket in item.tickets:
            future = self._futures.pop(ticket)
            if not future.done():
                future.set_result(result)


def _upload(file: SendFile) -> BotUpload:
    return BotUpload(file.name, file.data, guess_type(file.name)[0] or "application/octet-stream")
