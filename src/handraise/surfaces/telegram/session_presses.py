"""The buttons about sessions. Each was bound to its session when it was sent."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from handraise.desk.interface import DeskError, SessionSummary
from handraise.model.intent import Act, attend
from handraise.model.tokens import Role
from handraise.surfaces.telegram import session_texts
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.incoming import IncomingPress
from handraise.surfaces.telegram.outgoing import ChatPlace, Keyboard, SendResult, Sent
from handraise.surfaces.telegram.people import Member
from handraise.surfaces.telegram.progress_message import INTERRUPT
from handraise.surfaces.telegram.session_acts import KEEP, RESUME, STOP, SessionActs, check_role
from handraise.surfaces.telegram.session_commands import MODE, PICK
from handraise.surfaces.telegram.session_view import ALLOW, SessionView
from handraise.surfaces.telegram.session_views import opened_link
from handraise.texts import t

ASK_STOP = "session.ask_stop"
ALLOW_ONCE = "session.allow_once"
KEEP_DENIED = "session.keep_denied"
_MOST_QUESTIONS = 100
_PROMPT = 0.7
"""Seconds: what takes longer is confirmed before it is done."""

_Handler = Callable[[Member, IncomingPress], Awaitable[str]]


class SessionPresses:
    """Each press is answered with a sentence at once."""

    def __init__(self, acts: SessionActs) -> None:
        self._acts = acts
        self._asked_at: dict[str, datetime | None] = {}
        """When each question whether to allow a call arrived; None if it has not."""
        self._handlers: dict[str, tuple[Role, _Handler]] = {
            PICK: ("viewer", self._press_pick),
            INTERRUPT: ("approver", self._press_interrupt),
            ASK_STOP: ("admin", self._press_ask_stop),
            STOP: ("admin", self._press_stop),
            KEEP: ("viewer", self._press_keep),
            RESUME: ("admin", self._press_resume),
            MODE: ("admin", self._press_mode),
            ALLOW: ("approver", self._press_allow),
            ALLOW_ONCE: ("approver", self._press_allow_once),
            KEEP_DENIED: ("viewer", self._press_keep_denied),
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
        summary = await self._acts.session_at(press.place, press.argument)
        view = await self._open(press, summary)
        content = session_texts.described(summary, await self._acts.projects())
        sending = self._acts.send(press.place, content, await self._controls(press.place, summary))
        self._acts.views.spawn(partial(self._record_message, view, sending))
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
        await self._acts.session_at(press.place, press.argument)
        sentence = t("telegram.session.interrupting_now")
        return await self._promptly(press.place, partial(self._acts.interrupt, member, press.argument), sentence)

    async def _press_ask_stop(self, _member: Member, press: IncomingPress) -> str:
        await self._acts.ask_to_stop(press.place, await self._acts.session_at(press.place, press.argument))
        return t("telegram.session.press_again")

    async def _press_stop(self, member: Member, press: IncomingPress) -> str:
        summary = await self._acts.session_at(press.place, press.argument)
        sentence = t("telegram.session.stopping", title=session_texts.title_of(summary.session))
        stopping = partial(self._acts.tools.desk_of(member).stop, press.argument)
        answer = await self._promptly(press.place, stopping, sentence)
        self._acts.edit(press, answer)
        return answer

    async def _press_keep(self, _member: Member, press: IncomingPress) -> str:
        summary = await self._acts.session_at(press.place, press.argument)
        sentence = t("telegram.session.kept_running", title=session_texts.title_of(summary.session))
        self._acts.edit(press, sentence)
        return sentence

    async def _press_resume(self, member: Member, press: IncomingPress) -> str:
        summary = await self._acts.session_at(press.place, press.argument)
        await self._open(press, summary)
        resuming = partial(self._acts.tools.desk_of(member).resume, press.argument)
        sentence = t("telegram.session.resuming", title=session_texts.title_of(summary.session))
        answer = await self._promptly(press.place, resuming, sentence)
        self._acts.edit(press, answer)
        return answer

    async def _press_mode(self, member: Member, press: IncomingPress) -> str:
        mode, _, session = press.argument.partition(" ")
        await self._acts.session_at(press.place, session)
        changing = partial(self._acts.tools.desk_of(member).change_mode, session, mode)
        sentence = t("telegram.session.mode.changed", mode=session_texts.mode_name(mode))
        answer = await self._promptly(press.place, changing, sentence)
        self._acts.edit(press, answer)
        return answer

    async def _press_allow(self, member: Member, press: IncomingPress) -> str:
        """Asks once more: this allows something, and the message above it may have moved under the thumb."""
        action, _, session = press.argument.partition(" ")
        await self._acts.session_at(press.place, session)
        question = f"{member.number} {press.update} {action} {session}"
        once = await self._acts.button(press.place, t("telegram.session.button.allow_once"), ALLOW_ONCE, question)
        keep = await self._acts.button(press.place, t("telegram.session.button.keep_denied"), KEEP_DENIED, question)
        text = Formatted(t("telegram.session.ask_allow", name=member.person.name))
        self._asked_at[question] = None
        if len(self._asked_at) > _MOST_QUESTIONS:
            del self._asked_at[next(iter(self._asked_at))]
        sending = self._acts.send(press.place, text, ((keep,), (once,)), reply_to=press.message)
        self._acts.views.spawn(partial(self._note_arrival, question, sending))
        return t("telegram.session.press_again")

    async def _note_arrival(self, question: str, sending: "asyncio.Future[SendResult]") -> None:
        await sending
        if question in self._asked_at:
            self._asked_at[question] = self._acts.tools.clock()

    async def _press_allow_once(self, member: Member, press: IncomingPress) -> str:
        asked, _, action, session = press.argument.split(" ", 3)
        await self._acts.session_at(press.place, session)
        if asked != str(member.number):
            # Two presses are two looks of one person.
            return t("telegram.session.allow_yourself")
        if not self._is_meant(press.argument):
            return t("telegram.press.early")
        allowing = partial(self._acts.tools.desk_of(member).allow_denied, session, action)
        answer = await self._promptly(press.place, allowing, t("card.denial.allowed", who=member.person.name))
        self._asked_at.pop(press.argument, None)
        self._acts.edit(press, answer)
        return answer

    def _is_meant(self, question: str) -> bool:
        """Whether the question was there for a moment. One from before a restart was."""
        if question not in self._asked_at:
            return True
        arrived = self._asked_at[question]
        if arrived is None:
            return False
        attention = attend("telegram", _milliseconds(arrived), seen=True)
        return attention.judge(Act("grant", _milliseconds(self._acts.tools.clock()))) == "meant"

    async def _press_keep_denied(self, _member: Member, press: IncomingPress) -> str:
        self._asked_at.pop(press.argument, None)
        sentence = t("telegram.session.kept_denied")
        self._acts.edit(press, sentence)
        return sentence

    async def _promptly(self, place: ChatPlace, doing: Callable[[], Awaitable[object]], sentence: str) -> str:
        """The sentence, or why it can't be done; if that takes long, the reason follows as a message."""
        act = _PromptAct(doing, lambda problem: self._acts.send(place, Formatted(problem)))
        self._acts.views.spawn(act.run)
        return await act.problem_soon() or sentence


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


class _PromptAct:
    """Something that a press started. `late` gets the problem if nobody waits for it any more."""

    def __init__(self, doing: Callable[[], Awaitable[object]], late: Callable[[str], object]) -> None:
        self._doing = doing
        self._late = late
        self._finished = asyncio.Event()
        self._problem = ""
        self._is_late = False

    async def run(self) -> None:
        try:
            await self._doing()
        except DeskError as error:
            self._problem = str(error)
        except Exception:  # outer boundary: the person must not believe that it worked
            self._problem = t("telegram.session.failed")
            raise
        finally:
            self._finished.set()
            if self._is_late and self._problem:
                self._late(self._problem)

    async def problem_soon(self) -> str:
        """Empty if it worked, or takes long."""
        try:
            async with asyncio.timeout(_PROMPT):
                await self._finished.wait()
        except TimeoutError:
            self._is_late = True
        return self._problem
