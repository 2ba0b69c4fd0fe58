"""The buttons about sessions. Each was bound to its session when it was sent."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from handraise.desk.interface import DeskError, SessionSummary
from handraise.model.tokens import Role
from handraise.surfaces.telegram import session_texts
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.incoming import IncomingPress
from handraise.surfaces.telegram.outgoing import ChatPlace, Keyboard, SendResult, Sent
from handraise.surfaces.telegram.people import Member
from handraise.surfaces.telegram.progress_message import INTERRUPT
from handraise.surfaces.telegram.session_acts import KEEP, RESUME, STOP, SessionActs, check_role
from handraise.surfaces.telegram.session_commands import MODE, PICK
from handraise.surfaces.telegram.session_view import SessionView
from handraise.surfaces.telegram.session_views import opened_link
from handraise.texts import t

ASK_STOP = "session.ask_stop"
_PROMPT = 0.7
"""Seconds: what takes longer is confirmed before it is done."""

_Handler = Callable[[Member, IncomingPress], Awaitable[str]]


class SessionPresses:
    """Each press is answered with a sentence at once."""

    def __init__(self, acts: SessionActs) -> None:
        self._acts = acts
        self._handlers: dict[str, tuple[Role, _Handler]] = {
            PICK: ("viewer", self._press_pick),
            INTERRUPT: ("approver", self._press_interrupt),
            ASK_STOP: ("admin", self._press_ask_stop),
            STOP: ("admin", self._press_stop),
            KEEP: ("viewer", self._press_keep),
            RESUME: ("admin", self._press_resume),
            MODE: ("admin", self._press_mode),
        }

    async def press(self, member: Member, press: IncomingPress) -> str:
        """What happened, or why it can't."""
        if press.act not in self._handlers:
            return t("telegram.session.no_button")
        role, handler = self._handlers[press.act]
        try:
            check_role(member, role)
            return await handler(member, press)
        except DeskError as error:
            return str(error)

    async def _press_pick(self, _member: Member, press: IncomingPress) -> str:
        """Opens a session here: its progress is shown from now on, and messages without a reply go to it."""
        summary = await self._acts.tools.reading.session(press.argument)
        view = await self._open(press, summary)
        content = session_texts.described(summary, await self._acts.projects())
        sending = self._acts.send(press.place, content, await self._controls(press.place, summary))
        self._acts.views.spawn(self._record_message(view, sending))
        return t("telegram.session.opened", title=session_texts.title_of(summary.session))

    async def _open(self, press: IncomingPress, summary: SessionSummary) -> SessionView:
        tools, views = self._acts.tools, self._acts.views
        view = await views.open(opened_link(summary.session.id, press.place, await tools.reading.newest()))
        await view.record.remember(used_at=tools.clock())
        return view

    @staticmethod
    async def _record_message(view: SessionView, sending: "asyncio.Future[SendResult]") -> None:
        result = await sending
        if isinstance(result, Sent):
            await view.record.add_message(result.message)

    async def _controls(self, place: ChatPlace, summary: SessionSummary) -> Keyboard:
        session = summary.session
        if session.ended is not None:
            return ((await self._acts.button(place, t("telegram.session.button.resume"), RESUME, session.id),),)
        stop = await self._acts.button(place, t("telegram.session.button.ask_stop"), ASK_STOP, session.id)
        if session.phase != "working":
            return ((stop,),)
        return ((await self._acts.button(place, t("telegram.session.button.interrupt"), INTERRUPT, session.id), stop),)

    async def _press_interrupt(self, member: Member, press: IncomingPress) -> str:
        sentence = t("telegram.session.interrupting_now")
        return await self._promptly(press.place, self._acts.interrupt(member, press.argument), sentence)

    async def _press_ask_stop(self, _member: Member, press: IncomingPress) -> str:
        await self._acts.ask_to_stop(press.place, await self._acts.tools.reading.session(press.argument))
        return t("telegram.session.press_again")

    async def _press_stop(self, member: Member, press: IncomingPress) -> str:
        summary = await self._acts.tools.reading.session(press.argument)
        sentence = t("telegram.session.stopping", title=session_texts.title_of(summary.session))
        stopping = self._acts.tools.desk_of(member).stop(press.argument)
        answer = await self._promptly(press.place, stopping, sentence)
        self._acts.edit(press, answer)
        return answer

    async def _press_keep(self, _member: Member, press: IncomingPress) -> str:
        summary = await self._acts.tools.reading.session(press.argument)
        sentence = t("telegram.session.kept_running", title=session_texts.title_of(summary.session))
        self._acts.edit(press, sentence)
        return sentence

    async def _press_resume(self, member: Member, press: IncomingPress) -> str:
        summary = await self._acts.tools.reading.session(press.argument)
        await self._open(press, summary)
        sentence = t("telegram.session.resuming", title=session_texts.title_of(summary.session))
        answer = await self._promptly(press.place, self._do_resume(member, press.argument), sentence)
        self._acts.edit(press, answer)
        return answer

    async def _do_resume(self, member: Member, session: str) -> None:
        await self._acts.tools.desk_of(member).resume(session)

    async def _press_mode(self, member: Member, press: IncomingPress) -> str:
        mode, _, session = press.argument.partition(" ")
        changing = self._acts.tools.desk_of(member).change_mode(session, mode)
        sentence = t("telegram.session.mode.changed", mode=session_texts.mode_name(mode))
        answer = await self._promptly(press.place, changing, sentence)
        self._acts.edit(press, answer)
        return answer

    async def _promptly(self, place: ChatPlace, doing: Coroutine[Any, Any, None], sentence: str) -> str:
        """The sentence, or why it can't be done; if that takes long, the reason follows as a message."""
        finished = asyncio.Event()
        problems: list[str] = []

        async def carry_out() -> None:
            try:
                await doing
            except DeskError as error:
                problems.append(str(error))
            if finished.is_set() and problems:
                self._acts.send(place, Formatted(problems[0]))
            finished.set()

        self._acts.views.spawn(carry_out())
        try:
            async with asyncio.timeout(_PROMPT):
                await finished.wait()
        except TimeoutError:
            finished.set()
        return problems[0] if problems else sentence
