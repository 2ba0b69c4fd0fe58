"""Decides what one session does next. Never awaits, never looks at a clock."""

from datetime import datetime
from hashlib import sha256
from typing import assert_never

import msgspec
from msgspec import Struct

from handraise.model import ids
from handraise.model.answers import Approve, Deny, Outline, Revise
from handraise.model.asks import Answered, Ask, Origin, Plan, Withdrawn
from handraise.model.items import Notice, SessionEnded, TurnStarted
from handraise.model.sessions import Ended, Ending
from handraise.session import asking, replying, translate
from handraise.session.asking import Malformed
from handraise.session.commands import (
    AnswerAgain,
    Changed,
    Command,
    Deliver,
    Publish,
    Raise,
    Take,
    Terminate,
    WakeMe,
    Withdraw,
    Write,
)
from handraise.session.cooldown import Cooldown
from handraise.session.facts import (
    Began,
    ChangeMode,
    ChangeModel,
    Fact,
    Gone,
    Heard,
    Interrupt,
    Settled,
    Speak,
    Stop,
    Wish,
    Woke,
)
from handraise.session.memory import Memory, Pending
from handraise.wire import frames
from handraise.wire.blocks import TextBlock, ToolResult
from handraise.wire.connection import Connection, WasCancelled
from handraise.wire.requests import CanUseTool, Elicitation, McpMessage, UnknownRequest

_HELLO = "handraise-hello"
_BYE = "handraise-bye"
_TEXT_KEPT = 64 * 1024


class Refused(Exception):
    """The session cannot do that now. The text is a sentence for the person."""


class Temper(Struct, frozen=True):
    """How patient a session is with Claude, in seconds; None is for ever."""

    move: float = 30.0
    idle: float | None = None


class Machine:
    """Facts are absorbed in every phase; wishes may be refused. `memory` is all that has to survive."""

    def __init__(self, session: str, project: str | None, memory: Memory, wire: Connection, temper: Temper) -> None:
        self.session = session
        self.project = project
        self.memory = memory
        self.wire = wire
        self.temper = temper

    def observe(self, fact: Fact, now: datetime) -> list[Command]:
        """What follows from something that happened. Never raises."""
        before = self.memory.public()
        commands = self._observe(fact, now)
        if self.memory.public() != before:
            commands.append(Changed())
        return commands

    def wish(self, wish: Wish) -> list[Command]:
        """What follows from something that a person wants; raises Refused."""
        if self.memory.phase == "ended":
            raise Refused("The session has ended; resume it first.")
        if self.memory.phase == "stopping":
            raise Refused("The session is being stopped.")
        match wish:
            case Speak(say):
                content = say.content if isinstance(say.content, str) else list(say.content)
                return [Write(self.wire.send_say(content, say.id)), WakeMe("idle", None)]
            case Interrupt():
                if self.memory.phase != "working" and not self.memory.requests:
                    raise Refused("There is nothing to interrupt: Claude is idle.")
                return [self._want("interrupt", "")]
            case ChangeMode(mode):
                return [self._want("set_permission_mode", mode, mode=mode)]
            case ChangeModel(model):
                return [self._want("set_model", model, model=model)]
            case Stop(reason):
                return self._stop(reason)
            case _:
                assert_never(wish)

    def _observe(self, fact: Fact, now: datetime) -> list[Command]:
        if self.memory.phase == "ended":
            return []
        match fact:
            case Began():
                return self._began()
            case Heard(frame):
                return self._moved() + self._heard(frame, now)
            case Settled(ask):
                return self._settled(ask, now)
            case Woke(timer):
                return self._not_moved() if timer == "move" else self._idled()
            case Gone(exit_code, errors):
                return self._gone(exit_code, errors, now)
            case _:
                assert_never(fact)

    def _began(self) -> list[Command]:
        if self.memory.phase == "stopping":
            return [Terminate(self.wire.send_farewell(_BYE))]
        if self.memory.greeted:
            return [WakeMe("idle", self.temper.idle if self.memory.phase == "idle" else None)]
        return [Write(self.wire.send_request(_HELLO, "initialize", hooks=None))]

    def _heard(self, frame: frames.Frame, now: datetime) -> list[Command]:
        memory = self.memory
        contents = translate.translate(frame, memory.actions)
        commands: list[Command] = [Publish(content) for content in contents]
        match frame:
            case frames.Init(mode=mode, model=model):
                memory.mode, memory.model = mode, model or memory.model
                commands += self._turn_begins()
            case frames.Status(mode=str() as mode):
                memory.mode = mode
            case frames.Assistant(message=message, parent_tool_use_id=None):
                texts = [block.text for block in message.content if isinstance(block, TextBlock)]
                memory.last_text = "".join(texts)[:_TEXT_KEPT] or memory.last_text
            case frames.User(is_replay=True, uuid=str() as say):
                commands.append(Take(say))
            case frames.User(message=told) if not isinstance(told.content, str):
                for block in told.content:
                    if isinstance(block, ToolResult):
                        commands += self._resulted(block.tool_use_id)
            case frames.Result():
                commands += self._turn_ends(frame)
            case frames.ControlRequest(request_id, request):
                commands += self._requested(request_id, request, now)
            case frames.ControlCancel(request_id):
                commands += self._cancelled(request_id)
            case frames.ControlResponse(response):
                commands += self._acknowledged(response)
            case _:
                pass
        return commands

    def _turn_begins(self) -> list[Command]:
        if self.memory.phase == "stopping":
            return []
        self.memory.phase = "working"
        self.memory.turn += 1
        self.memory.last_text = ""
        return [Publish(TurnStarted(self.memory.turn)), WakeMe("idle", None)]

    def _turn_ends(self, result: frames.Result) -> list[Command]:
        memory = self.memory
        ended = translate.turn_ended(result, memory.turn, memory.last_text, memory.cost_run)
        memory.cost_run = max(memory.cost_run, result.total_cost_usd)
        memory.last_error = ended.error or ""
        if memory.phase != "stopping":
            memory.phase = "idle"
        return [Publish(ended), WakeMe("idle", self.temper.idle)]

    def _requested(
        self, request_id: str, request: CanUseTool | Elicitation | McpMessage | UnknownRequest, now: datetime
    ) -> list[Command]:
        if request_id in self.memory.requests:
            return []
        match request:
            case CanUseTool() | Elicitation():
                return self._asked(request_id, request, now)
            case McpMessage(server_name=server):
                return self._refuse(request_id, f"There is no MCP server called {server!r} here.")
            case UnknownRequest(subtype=subtype):
                return self._refuse(request_id, f"Handraise does not know how to answer {subtype!r}.")
            case _:
                assert_never(request)

    def _asked(self, request_id: str, request: CanUseTool | Elicitation, now: datetime) -> list[Command]:
        try:
            body = asking.body_of(request)
        except Malformed as error:
            return self._send_back(request_id, request, str(error))
        if isinstance(body, Plan) and self.memory.cooldown.holds(now):
            return self._send_back(request_id, request, replying.COOLING)
        tool_use, agent, tool = None, None, "elicitation"
        if isinstance(request, CanUseTool):
            tool_use, agent, tool = request.tool_use_id, request.agent_id, request.tool_name
        ask = Ask(
            id=ask_id(self.session, request_id),
            session=self.session,
            project=self.project,
            body=body,
            tool=tool,
            agent=agent,
            origin=Origin(request_id, tool_use, msgspec.json.encode(request).decode()),
            opened_at=now,
        )
        self.memory.requests[request_id] = Pending(ask.id, tool_use)
        return [Raise(ask)]

    def _send_back(self, request_id: str, request: CanUseTool | Elicitation, reason: str) -> list[Command]:
        """Denied at once: nobody is asked, and Claude reads why."""
        if isinstance(request, Elicitation):
            line = self.wire.send_filled(request_id, "cancel")
        else:
            line = self.wire.send_deny(request_id, reason)
        return [Write(line), Publish(Notice("info", f"Sent back to Claude at once: {reason}", "sent back"))]

    def _refuse(self, request_id: str, reason: str) -> list[Command]:
        return [Write(self.wire.send_refusal(request_id, reason)), Publish(Notice("warning", reason, "refused"))]

    def _settled(self, ask: Ask, now: datetime) -> list[Command]:
        pending = self.memory.requests.get(ask.origin.reference)
        if pending is None or pending.ask != ask.id:
            return []
        if isinstance(ask.settlement, Withdrawn) or ask.settlement is None:
            return []
        if pending.settled:
            try:
                self.wire.reopen(ask.origin.reference)
            except WasCancelled:
                return []
        else:
            pending.settled = True
            self._learn(ask, now)
        line = replying.reply(self.wire, ask)
        self.memory.unmoved = True
        return [Write(line), WakeMe("move", self.temper.move)] if line else []

    def _learn(self, ask: Ask, now: datetime) -> None:
        match ask.settlement:
            case Answered(answer=Outline()):
                self.memory.cooldown = self.memory.cooldown.used(now)
            case Answered(answer=Approve() | Revise() | Deny()) if isinstance(ask.body, Plan):
                self.memory.cooldown = Cooldown()
            case _:
                pass

    def _resulted(self, tool_use: str) -> list[Command]:
        for request_id, pending in list(self.memory.requests.items()):
            if pending.tool_use == tool_use:
                del self.memory.requests[request_id]
                if pending.settled:
                    return [Deliver(pending.ask)]
                return [Withdraw(pending.ask, "Claude went on without an answer")]
        return []

    def _acknowledged(self, response: frames.Acknowledged) -> list[Command]:
        if response.request_id == _HELLO:
            self.memory.greeted = True
            if self.memory.phase == "starting":
                self.memory.phase = "idle"
            return [WakeMe("idle", self.temper.idle)]
        pending = self.memory.requests.get(response.request_id)
        if pending is not None and pending.settled:
            # Claude echoes our answer when it takes it up.
            del self.memory.requests[response.request_id]
            return [Deliver(pending.ask)]
        what, value = self.memory.wants.pop(response.request_id, ("", ""))
        if what and response.subtype != "success":
            return [Publish(Notice("error", f"Claude refused {what} {value}: {response.error or 'no reason'}", what))]
        if what == "set_permission_mode":
            self.memory.mode = value
        elif what == "set_model":
            self.memory.model = value
        return []

    def _cancelled(self, request_id: str) -> list[Command]:
        pending = self.memory.requests.pop(request_id, None)
        return [Withdraw(pending.ask, "the turn was interrupted")] if pending else []

    def _moved(self) -> list[Command]:
        if not self.memory.unmoved:
            return []
        self.memory.unmoved = self.memory.stuck = False
        return [WakeMe("move", None)]

    def _not_moved(self) -> list[Command]:
        if not self.memory.unmoved:
            return []
        told: list[Command] = []
        if not self.memory.stuck:
            self.memory.stuck = True
            text = f"Answered, and Claude has not moved for {self.temper.move:g} s. The answer is written again."
            told.append(Publish(Notice("warning", text, "not moving")))
        return [*told, AnswerAgain(), WakeMe("move", self.temper.move)]

    def _idled(self) -> list[Command]:
        # An open ask is not idleness: somebody thinks.
        if self.memory.phase != "idle" or self.memory.requests:
            return []
        return self._stop("it was idle for long; resume it to go on")

    def _want(self, subtype: str, value: str, **fields: object) -> Command:
        self.memory.wants_made += 1
        request_id = f"handraise-{self.memory.wants_made}"
        self.memory.wants[request_id] = (subtype, value)
        return Write(self.wire.send_request(request_id, subtype, **fields))

    def _stop(self, reason: str) -> list[Command]:
        self.memory.phase = "stopping"
        self.memory.stop_reason = reason
        withdrawn = self._withdraw_all(reason)
        return [*withdrawn, Changed(), WakeMe("idle", None), Terminate(self.wire.send_farewell(_BYE))]

    def _withdraw_all(self, reason: str) -> list[Command]:
        open_ones = {key: each for key, each in self.memory.requests.items() if not each.settled}
        for key in open_ones:
            del self.memory.requests[key]
        return [Withdraw(each.ask, reason) for each in open_ones.values()]

    def _gone(self, exit_code: int | None, errors: str, now: datetime) -> list[Command]:
        how, reason = self._how_it_ended(exit_code, errors)
        commands = self._withdraw_all(f"Claude is gone: {reason}")
        lost = [each for each in self.memory.requests.values() if each.settled]
        if lost:
            text = "Claude ended before it took an answer. The answer is passed on when the session is resumed."
            commands.append(Publish(Notice("warning", text, "not delivered")))
        self.memory.requests.clear()
        self.memory.phase = "ended"
        self.memory.stuck = self.memory.unmoved = False
        self.memory.ended = Ended(how, reason, now, exit_code)
        timers: list[Command] = [WakeMe("move", None), WakeMe("idle", None)]
        return [*commands, *timers, Publish(SessionEnded(how, reason, exit_code))]

    def _how_it_ended(self, exit_code: int | None, errors: str) -> tuple[Ending, str]:
        if self.memory.stop_reason is not None:
            return "stopped", self.memory.stop_reason
        if exit_code == 0:
            return "finished", "Claude ended by itself"
        if exit_code is None or exit_code < 0:
            signal = f" (signal {-exit_code})" if exit_code else ""
            return "lost", f"Claude was killed, or the machine was restarted{signal}"
        last = errors.strip().splitlines()
        return "failed", self.memory.last_error or (last[-1] if last else f"Claude ended with exit code {exit_code}")


def ask_id(session: str, reference: str) -> str:
    """The same request of the same session always has the same id."""
    return ids.spell("a", sha256(f"{session}/{reference}".encode()).digest())
