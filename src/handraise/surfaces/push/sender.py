"""Sends one device what is due, one message at a time, and remembers the outcome.

A failing push service is left alone for longer and longer. Meanwhile at most one message per open ask is pending, so
nothing piles up.
"""

import asyncio
import logging
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from handraise.desk.gate import NotificationGate
from handraise.desk.interface import Desk, NotFound, Refused
from handraise.desk.machine_names import MachineNames
from handraise.model.asks import Ask
from handraise.model.devices import Device
from handraise.model.tokens import Role, may
from handraise.surfaces.push import due, notices
from handraise.surfaces.push.device_log import DeviceBook, DeviceState
from handraise.surfaces.push.due import (
    LONGEST_LIFE,
    TRIES,
    Announce,
    AskStates,
    Failures,
    PushAction,
    Show,
    TakeBack,
    WaitUntil,
)
from handraise.surfaces.push.messages import Accepted, EndpointGone, Outcome, PushMessage, Rejected, RetryLater
from handraise.texts import t

if TYPE_CHECKING:
    from handraise.surfaces.push.client import WebPushClient

log = logging.getLogger("handraise.push")

_LONGEST_SLEEP = 30.0
"""The clock may be set, or the machine may sleep: what is due is checked again after this long."""
_AFTER_A_FAULT = 5.0
_CHANNEL = "push"
_ENDING_LIFE = 12 * 3600


class DeviceSender:
    """One device. `role_of` returns its owner's role; if that is None, nothing more is sent, and it is `gone`.

    `may_send`: whether this hub may send now; if not, another one may do it.
    """

    def __init__(
        self,
        page: DeviceState,
        book: DeviceBook,
        scene: AskStates,
        desk: Desk,
        client: Callable[[], Awaitable["WebPushClient"]],
        role_of: Callable[[Device], Awaitable[Role | None]],
        clock: Callable[[], datetime],
        gone: Callable[[DeviceState], None],
        may_send: Callable[[], bool] = lambda: True,
        gate: NotificationGate | None = None,
    ) -> None:
        self.page = page
        self.changed = asyncio.Event()
        self._book = book
        self._scene = scene
        self._desk = desk
        self._names = MachineNames(desk)
        self._client = client
        self._role_of = role_of
        self._clock = clock
        self._gone = gone
        self._may_send = may_send
        self._gate = gate
        self._failures: dict[str, Failures] = {}
        self._ended = False

    async def go(self) -> None:
        """Runs until the device is gone."""
        while not self._ended:
            try:
                await self._go_once()
            except Exception:  # outer boundary: one device's problem must not affect others
                log.exception("sending to a device failed; trying again")
                await asyncio.sleep(_AFTER_A_FAULT)

    async def carry(self, message: PushMessage) -> Outcome:
        """Sends something immediately, and records the outcome."""
        outcome: Outcome
        try:
            outcome = await (await self._client()).carry(self.page.device, message)
        except Refused as error:
            outcome = RetryLater(str(error))
        match outcome:
            case Accepted():
                self._note(None)
            case RetryLater(why=why) | Rejected(why=why):
                log.warning("a message was not accepted: %s", why, extra={"device": self.page.device.id})
                self._note(why)
            case EndpointGone():
                await self._end("its push service does not know it any more")
            case _:
                assert_never(outcome)
        return outcome

    async def _go_once(self) -> None:
        self.changed.clear()
        opens_at = self._opens_at if self._gate is not None else None
        action = due.next_action(self.page, self._scene, self._failures, self._clock(), opens_at)
        match action:
            case None | WaitUntil():
                await self._rest(action)
            case _ if not self._may_send():
                await self._rest(None)
            case _:
                role = await self._role_of(self.page.device)
                if role is None:
                    await self._end("its owner no longer has access")
                else:
                    await self._run(action, role)

    def _opens_at(self, ask: Ask) -> datetime | None:
        return None if self._gate is None else self._gate.opens_at(ask, _CHANNEL, self.page.device.person)

    def _report(self, ask: Ask, trouble: str | None = None) -> None:
        if self._gate is not None:
            self._gate.report_sent(ask, _CHANNEL, self.page.device.person, self.page.device.label, trouble)

    async def _rest(self, wait: WaitUntil | None) -> None:
        seconds = _LONGEST_SLEEP
        if wait is None:
            self._failures = {about: each for about, each in self._failures.items() if about in self._scene.open}
        else:
            seconds = min(max((wait.until - self._clock()).total_seconds(), 0.0), seconds)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.changed.wait()

    async def _run(self, action: PushAction, role: Role) -> None:
        message = await self._letter(action, role)
        if message is None:
            return
        if isinstance(action, Show):
            # Before it is sent: after a crash in between, we know what may have to be removed.
            self.page.doubtful[action.ask.id] = self._clock()
            await self._book.save()
        else:
            await self._book.refresh()
        if not self._is_wanted(action):
            return
        outcome = await self.carry(message)
        if not self._ended:
            self._settle(action, outcome)
            await self._book.save()

    def _is_wanted(self, action: PushAction) -> bool:
        """Whether it still is to be sent, and from here: another hub may have removed the device, or sent it."""
        if self.page.device.id not in self._book.ledger.pages:
            self._ended = True
            return False
        return self._may_send() and not (isinstance(action, Show) and action.ask.id in self.page.shown)

    async def _letter(self, action: PushAction, role: Role) -> PushMessage | None:
        """None if it is too late for it."""
        device, waiting, now = self.page.device.id, len(self._scene.open), self._clock()
        match action:
            case Show(ask=ask):
                where = await self._where(ask)
                if ask.id not in self._scene.open:
                    return None
                notice = notices.of_ask(ask, where, device, waiting, may_answer=may(role, "approver"))
                return PushMessage(notices.encode(notice), topic(ask.id), due.life_of(ask, now), "high")
            case TakeBack(ask=ask_id):
                settled = await self._settled(ask_id, device, waiting)
                return PushMessage(notices.encode(settled), topic(ask_id), LONGEST_LIFE)
            case Announce(ending=ending):
                session = (await self._desk.session(ending.session)).session
                title = await self._names.titled(session.title, session.machine)
                ended = notices.of_ended(ending, title, device)
                return PushMessage(
                    notices.encode(ended), topic(ending.session), _ENDING_LIFE, "high" if ending.alarm else "normal"
                )
            case _:
                assert_never(action)

    async def _settled(self, ask_id: str, device: str, waiting: int) -> notices.SettledNotice:
        try:
            ask = await self._desk.ask(ask_id)
        except NotFound:
            return notices.SettledNotice(device, ask_id, "", "", waiting)
        return notices.of_settled(ask, await self._where(ask), device, waiting)

    async def _where(self, ask: Ask) -> notices.NoticeContext:
        if ask.session is None:
            return notices.NoticeContext(t("push.agent", name=ask.agent) if ask.agent else t("push.external"))
        session = (await self._desk.session(ask.session)).session
        return notices.NoticeContext(await self._names.titled(session.title, session.machine), session.directory)

    def _settle(self, action: PushAction, outcome: Outcome) -> None:
        """Records the outcome. An action that can't be done is dropped after a while."""
        about, now = due.name_of(action), self._clock()
        if isinstance(outcome, RetryLater):
            failed = self._failures.setdefault(about, Failures())
            failed.count += 1
            failed.not_before = now + timedelta(seconds=due.pause_after(failed.count, outcome.pause))
            if failed.count < TRIES:
                return
        match action:
            case Show(ask=ask) if isinstance(outcome, Accepted):
                self.page.doubtful.pop(ask.id, None)
                self.page.shown[ask.id] = now
                self._report(ask)
            case Show(ask=ask):
                self._failures[about] = Failures(TRIES)
                self._report(ask, self.page.device.trouble or "")
                if isinstance(outcome, Rejected):
                    self.page.doubtful.pop(ask.id, None)
            case TakeBack(ask=ask_id):
                self.page.forget(ask_id)
            case Announce(ending=ending):
                self.page.endings = [each for each in self.page.endings if each != ending]
            case _:
                assert_never(action)
        if isinstance(outcome, Accepted):
            self._failures.pop(about, None)

    def _note(self, trouble: str | None) -> None:
        sent = self._clock() if trouble is None else self.page.device.last_sent_at
        self.page.device = replace(self.page.device, trouble=trouble, last_sent_at=sent)

    async def _end(self, why: str) -> None:
        log.info("a device was removed: %s", why, extra={"device": self.page.device.id})
        self._ended = True
        self._gone(self.page)
        await self._book.save()


def topic(about: str) -> str:
    """What a push service may know: equal for equal subjects, and nothing else."""
    return urlsafe_b64encode(sha256(about.encode()).digest())[:32].decode()
