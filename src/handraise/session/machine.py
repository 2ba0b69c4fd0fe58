"""Decides what one session does next. Never awaits, never looks at a clock."""

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from handraise.claude import versions
from handraise.model.actors import Person
from handraise.model.items import Notice, SessionEnded, TurnStarted
from handraise.session import ending, phases, titles, translate
from handraise.session.abilities import abilities_in
from handraise.session.commands import (
    Alarm,
    AllowDenied,
    AnswerAgain,
    AskWasSettled,
    Changed,
    ChangeMode,
    ChangeModel,
    Command,
    DangersFound,
    Fact,
    FrameReceived,
    Interrupt,
    Learn,
    Park,
    ProcessEnded,
    ProcessStarted,
    Publish,
    Rename,
    RulesConsulted,
    Speak,
    Stop,
    Terminate,
    Timer,
    TimerFired,
    WakeMe,
    Wish,
    Write,
)
from handraise.session.denials import Denials, NotAllowable
from handraise.session.ending import found_nothing, how_it_ended
from handraise.session.guard import BYE, HELLO, Guard
from handraise.session.memory import Memory
from handraise.session.pending import PendingRequests
from handraise.session.phases import Event
from handraise.session.reconciling import ABILITIES, INITIALIZE, Reconciliation
from handraise.session.says import SayTracker
from handraise.session.usage import context_limit, limits_after, tokens_in
from handraise.texts import t
from handraise.wire import frames
from handraise.wire.connection import Connection
from handraise.wire.frames import TextBlock, ToolResult

_HOOKS = {"PreToolUse": [{"matcher": None, "hookCallbackIds": ["handraise"], "timeout": 2_000_000}]}
"""Makes Claude have us check every call. It waits three weeks, then denies; a longer timeout would overflow."""
_TEXT_KEPT = 64 * 1024
PLAN = "plan"


class WishRefused(Exception):
    """The session can't do that now. The text is a sentence for the person."""


class SessionLimits(Struct, frozen=True):
    """How long a session waits for Claude, in seconds, its cost limit, and its modes; None means no limit."""

    move: float = 30.0
    idle: float | None = None
    cost_usd: float | None = None
    """A session that costs more is stopped when its turn ends."""
    unsafe_plan: bool = False
    """Allows plan mode in versions of Claude Code that are unsafe."""

    def refusal_of(self, mode: str, version: str) -> str | None:
        """Why this version may not be in this mode, as a sentence; None if it may."""
        if mode != PLAN or self.unsafe_plan or not versions.is_unsafe(version):
            return None
        known = version or t("sessions.unsafe.unknown")
        return t("sessions.refused.unsafe_plan", version=known, safe=versions.SAFE_SINCE)


class SessionMachine:
    """Facts are accepted in every phase; wishes may be refused. `memory` is all that must survive."""

    def __init__(
        self,
        session: str,
        project: str | None,
        memory: Memory,
        wire: Connection,
        limits: SessionLimits,
        program: str = "claude",
    ) -> None:
        self.memory = memory
        self.wire = wire
        self.limits = limits
        self._program = program
        self._denials = Denials(session, memory)
        self._waiting = PendingRequests(session, project, memory, wire, self._denials, self._check_plan_mode)
        self._reconciliation = Reconciliation(memory, wire, self._waiting)
        self._saying = SayTracker(memory)
        self._guard = Guard(memory, wire)
        self._public = memory.public()

    @property
    def farewell(self) -> bytes:
        """The line that asks Claude to exit."""
        return self.wire.send_farewell(BYE)

    def observe(self, fact: Fact, now: datetime) -> list[Command]:
        """The commands that follow from a fact. Never raises."""
        return self._and_changed(self._observe(fact, now))

    def wish(self, wish: Wish) -> list[Command]:
        """The commands that follow from a person's wish; raises WishRefused."""
        return self._and_changed(self._wish(wish))

    def _and_changed(self, commands: list[Command]) -> list[Command]:
        before, self._public = self._public, self.memory.public()
        return commands if self._public == before else [*commands, Changed()]

    def is_behind(self, received: Sequence[frames.Frame]) -> bool:
        """Whether these frames follow from decisions that were not reported to us: ask the store for them first."""
        return bool(self.memory.requests) and any(self._guard.is_ahead(each) for each in received)

    def _observe(self, fact: Fact, now: datetime) -> list[Command]:
        if self.memory.is_over:
            return []
        match fact:
            case FrameReceived(frame):
                wrong = None if self.memory.alarm else self._guard.notice(frame)
                return self._moved() + (self._around_us(frame, wrong) if wrong else self._receive(frame, now))
            case RulesConsulted(ask, objection):
                return self._waiting.ruled(ask, objection)
            case DangersFound(use, dangers):
                self._denials.warn(use, dangers)
                return []
            case ProcessStarted():
                return self._began()
            case AskWasSettled(ask):
                written = self._waiting.answer(ask, now)
                self.memory.unmoved = self.memory.unmoved or bool(written)
                return [*written, WakeMe("move", self.limits.move)] if written else []
            case TimerFired(timer):
                return self._timed(timer, now)
            case ProcessEnded(exit_code, errors, fault):
                return self._gone(exit_code, errors, now, fault)
            case _:
                assert_never(fact)

    def _wish(self, wish: Wish) -> list[Command]:
        if isinstance(wish, Rename):
            self.memory.title, self.memory.renamed = wish.title, True
            return []
        if self.memory.phase == "ended":
            raise WishRefused(t("sessions.refused.ended"))
        if self.memory.phase == "queued":
            raise WishRefused(t("sessions.refused.not_running"))
        if self.memory.phase == "stopping":
            raise WishRefused(t("sessions.refused.stopping"))
        if self.memory.phase == "parking" and not isinstance(wish, Stop):
            raise WishRefused(t("sessions.refused.parking"))
        match wish:
            case Speak() if self._is_spent:
                raise WishRefused(t("sessions.refused.cost", reason=self._spent))
            case Speak(say):
                if isinstance(say.by, Person):
                    self.memory.cooldown = self.memory.cooldown.replied(say.at)
                content = say.content if isinstance(say.content, str) else list(say.content)
                return [Write(self.wire.send_say(content, say.id)), WakeMe("idle", self.limits.idle)]
            case Interrupt():
                if self.memory.phase != "working" and not self.memory.requests:
                    raise WishRefused(t("sessions.refused.idle"))
                return [self._want("interrupt", "")]
            case ChangeMode(mode) if refusal := self.limits.refusal_of(mode, self.memory.version):
                raise WishRefused(refusal)
            case ChangeMode(mode):
                self.memory.granted.append(mode)
                return [self._want("set_permission_mode", mode, mode=mode)]
            case ChangeModel(model):
                return [self._want("set_model", model, model=model)]
            case AllowDenied() if self._is_spent:
                raise WishRefused(t("sessions.refused.cost", reason=self._spent))
            case AllowDenied():
                try:
                    return self._denials.allow(wish)
                except NotAllowable as error:
                    raise WishRefused(str(error)) from error
            case Stop(reason, by):
                self.memory.stopped_by = by
                return self._stop(reason)
            case Park():
                return self._park()
            case _:
                assert_never(wish)

    def _began(self) -> list[Command]:
        if self.memory.is_ending:
            return [Terminate(self.farewell)]
        if self.memory.greeted:
            # What was denied before this hub started may be over by now.
            overdue = [WakeMe("denied", 0.0)] if self.memory.denied else []
            idle = WakeMe("idle", self.limits.idle if self.memory.phase == "idle" else None)
            return [self._reconciliation.begin(), *overdue, idle]
        self.memory.says_it_waits = False
        return [Write(self.wire.send_request(HELLO, INITIALIZE, hooks=_HOOKS, **ABILITIES))]

    def _receive(self, frame: frames.Frame, now: datetime) -> list[Command]:
        memory = self.memory
        commands: list[Command] = [Publish(content) for content in translate.translate(frame, memory.actions)]
        match frame:
            case frames.Lifecycle(command_uuid=say, state=state):
                commands += self._saying.became(say, state)
            case frames.ApiRetry() | frames.Assistant(parent_tool_use_id=None) if translate.is_refused(frame):
                commands = self._refused_sign_in(frame, commands)
            case frames.Assistant(message=message, parent_tool_use_id=None):
                memory.signed_out = False
                texts = [block.text for block in message.content if isinstance(block, TextBlock)]
                memory.last_text = "".join(texts)[:_TEXT_KEPT] or memory.last_text
                memory.context = tokens_in(message.usage) or memory.context
            case frames.User(is_replay=True, uuid=str() as say):
                commands += self._saying.received(say, now)
            case frames.User(message=user_message) if not isinstance(user_message.content, str):
                for block in user_message.content:
                    if isinstance(block, ToolResult):
                        commands += self._waiting.resulted(block.tool_use_id)
                        commands += self._denials.resulted(block.tool_use_id)
            case frames.Init(mode=mode, model=model, session_id=claude_id):
                memory.mode, memory.model, memory.key_source = mode, model or memory.model, frame.key_source
                memory.version = frame.version or memory.version
                self._called(claude_id)
                commands += self._turn_begins()
            case frames.Status(mode=str() as mode):
                memory.mode = mode
            case frames.RateLimit(rate_limit_info=report):
                memory.usage = limits_after(report, memory.usage)
            case frames.StateChanged(state=state):
                commands += self._reconciliation.claimed(state)
            case frames.PermissionDenied():
                commands += self._denials.denied(frame, now)
            case frames.TitleChanged(title=title) if not memory.renamed:
                memory.title = titles.of_claude(title) or memory.title
            case frames.Result():
                commands += self._turn_ends(frame)
            case frames.ControlRequest(request_id, request):
                commands += self._waiting.begin(request_id, request, now)
            case frames.ElicitationComplete(server, elicitation):
                commands += self._waiting.completed(server, elicitation)
            case frames.ControlCancel(request_id):
                commands += self._waiting.cancelled(request_id)
            case frames.ControlResponse(response):
                commands += self._waiting.acknowledged(response.request_id) or self._acknowledged(response, now)
            case _:
                pass
        return commands

    def _around_us(self, frame: frames.Frame, wrong: str) -> list[Command]:
        """Stops the session immediately. What Claude did is still published."""
        memory = self.memory
        published: list[Command] = [Publish(content) for content in translate.translate(frame, memory.actions)]
        memory.alarm = wrong
        self._enter("stop")
        alarm = Publish(Notice("alarm", t("sessions.alarm.stopped", wrong=wrong), "alarm"))
        over = [*self._waiting.withdraw_all(wrong), *self._denials.end_all()]
        return [Alarm(wrong), *published, alarm, *over, WakeMe("idle", None)]

    def _check_plan_mode(self) -> str | None:
        return self.limits.refusal_of(PLAN, self.memory.version)

    def _called(self, claude_id: str) -> None:
        """Claude's name for the conversation: `/clear` starts another one, and that is the one to resume."""
        memory = self.memory
        if memory.claude_id and claude_id != memory.claude_id:
            memory.opening = ""
        memory.claude_id = claude_id or memory.claude_id

    def _turn_begins(self) -> list[Command]:
        self._enter("turn began")
        if self.memory.is_ending:
            return []
        self.memory.turn += 1
        self.memory.last_text = self.memory.missing = ""
        self.memory.signed_out = False
        return [Publish(TurnStarted(self.memory.turn)), WakeMe("idle", None)]

    def _turn_ends(self, result: frames.Result) -> list[Command]:
        memory = self.memory
        memory.context_limit = context_limit(result.model_usage, memory.model) or memory.context_limit
        ended = translate.turn_ended(result, memory.turn, memory.last_text, memory.cost_run)
        ended = replace(ended, context=memory.context, context_limit=memory.context_limit)
        if memory.signed_out and result.is_error and not ended.interrupted:
            own = ended.error or ended.result
            ended = replace(ended, error=translate.advice(self._program, memory.key_source, own), result="")
        memory.cost_run = max(memory.cost_run, result.total_cost_usd)
        memory.last_error = ended.error or ""
        self._enter("turn ended")
        if memory.phase == "starting":
            memory.failed_to_begin = result.is_error
            return []  # no turn has started: it says why Claude is about to exit
        self._saying.turn_ended()
        commands: list[Command] = [Publish(ended), WakeMe("idle", self.limits.idle)]
        if not self._is_spent or memory.is_ending:
            return commands
        return [*commands, *self._stop(self._spent)]

    def _refused_sign_in(self, frame: frames.Frame, commands: list[Command]) -> list[Command]:
        """Claude may retry for minutes: tell people what to do at the first attempt; otherwise when the turn ends."""
        is_news, self.memory.signed_out = not self.memory.signed_out, True
        if not is_news or not isinstance(frame, frames.ApiRetry):
            return commands
        return [Publish(Notice("error", translate.advice(self._program, self.memory.key_source), "sign-in")), *commands]

    def _want(self, subtype: str, value: str, **fields: object) -> Command:
        self.memory.wants_made += 1
        request_id = f"handraise-{self.memory.wants_made}"
        self.memory.wants[request_id] = (subtype, value)
        return Write(self.wire.send_request(request_id, subtype, **fields))

    def _acknowledged(self, response: frames.Acknowledged, now: datetime) -> list[Command]:
        if response.request_id == HELLO:
            return [*_learned(response), *self._greeted()]
        what, value = self.memory.wants.pop(response.request_id, ("", ""))
        if what == INITIALIZE:
            return [*_learned(response), *self._reconciliation.compare(response, now)]
        if what and response.subtype != "success":
            error = response.error or t("sessions.notice.no_reason")
            text = t("sessions.notice.wish_refused", what=what, value=value, error=error)
            return [Publish(Notice("error", text, what))]
        if what == "set_permission_mode":
            self.memory.mode = value
        elif what == "set_model":
            self.memory.model = value
        return []

    def _greeted(self) -> list[Command]:
        self.memory.greeted = True
        if self.memory.phase != "starting":
            return []
        if self._is_spent:
            return self._stop(self._spent)
        self._enter("greeted")
        return [WakeMe("idle", self.limits.idle)]

    @property
    def _is_spent(self) -> bool:
        return ending.is_spent(self.memory.cost_usd, self.limits.cost_usd)

    @property
    def _spent(self) -> str:
        return ending.reason(self.memory.cost_usd, self.limits.cost_usd)

    def _timed(self, timer: Timer, now: datetime) -> list[Command]:
        match timer:
            case "move":
                return self._not_moved()
            case "idle":
                return self._idled()
            case "denied":
                return self._denials.expire(now)
            case "unknown wait":
                return self._reconciliation.question()
            case _:
                assert_never(timer)

    def _moved(self) -> list[Command]:
        if not self.memory.unmoved:
            return []
        self.memory.unmoved = self.memory.stuck = False
        return [WakeMe("move", None)]

    def _not_moved(self) -> list[Command]:
        if not self.memory.unmoved:
            return []
        notices: list[Command] = []
        if not self.memory.stuck:
            self.memory.stuck = True
            text = t("sessions.notice.not_moving", seconds=f"{self.limits.move:g}")
            notices.append(Publish(Notice("warning", text, "not moving")))
        return [*notices, AnswerAgain(), WakeMe("move", self.limits.move)]

    def _idled(self) -> list[Command]:
        if self.memory.phase != "idle":
            return []
        # An open ask or a background task means that it isn't idle.
        if self.memory.requests or self.memory.has_background:
            return [WakeMe("idle", self.limits.idle)]
        return self._stop(t("sessions.ended.idle"))

    def _stop(self, reason: str) -> list[Command]:
        ends = [] if self.memory.is_ending else [Terminate(self.farewell)]
        self._enter("stop")
        self.memory.stop_reason = reason
        withdrawn = [*self._waiting.withdraw_all(reason), *self._denials.end_all()]
        return [*withdrawn, WakeMe("idle", None), *ends]

    def _park(self) -> list[Command]:
        if self.memory.phase != "idle" or self.memory.requests or self.memory.has_background:
            raise WishRefused(t("sessions.refused.not_idle"))
        self._enter("park")
        over = self._denials.end_all()
        return [*over, WakeMe("idle", None), Terminate(self.farewell)]

    def _gone(self, exit_code: int | None, errors: str, now: datetime, fault: str) -> list[Command]:
        memory = self.memory
        if not fault and found_nothing(memory):
            return self._start_over()
        self._enter("failed" if fault else "exited")
        if memory.phase == "parked":
            return [WakeMe("move", None), WakeMe("idle", None)]
        ended = how_it_ended(memory, exit_code, errors, now, fault)
        commands = self._waiting.withdraw_all(t("sessions.withdrawn.exited", reason=ended.reason))
        commands += self._denials.end_all()
        if memory.requests:
            commands.append(Publish(Notice("warning", t("sessions.notice.not_delivered"), "not delivered")))
        if ended.how in ("lost", "failed"):
            commands += self._saying.cut_off(now)
        memory.requests.clear()
        memory.ended = ended
        memory.stuck = memory.unmoved = False
        timers: list[Command] = [WakeMe("move", None), WakeMe("idle", None)]
        return [*commands, *timers, Publish(SessionEnded(ended.how, ended.reason, exit_code, ended.by, ended.alarm))]

    def _start_over(self) -> list[Command]:
        memory = self.memory
        memory.missing = "fork" if memory.way == "fork" else "resume"
        self._enter("no conversation")
        text = t("sessions.notice.starts_over")
        withdrawn = [*self._waiting.withdraw_all(text), *self._denials.end_all()]
        memory.requests.clear()
        memory.stuck = memory.unmoved = False
        return [*withdrawn, Publish(Notice("warning", text, "starts over")), *self._saying.forgotten()]

    def _enter(self, event: Event) -> None:
        self.memory.phase = phases.after(self.memory.phase, event)


def _learned(response: frames.Acknowledged) -> list[Command]:
    """What Claude offers, from its answer to `initialize`."""
    offered = abilities_in(response.response)
    return [Learn(offered)] if offered is not None else []
