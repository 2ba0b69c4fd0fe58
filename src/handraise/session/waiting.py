"""What Claude waits for: each of its requests becomes an ask or is sent back, and gets one answer. Never awaits."""

from datetime import datetime
from hashlib import sha256
from typing import assert_never

import msgspec

from handraise.model import ids
from handraise.model.answers import Approve, Outline, Revise
from handraise.model.asks import Answered, Ask, Origin, Plan, Withdrawn
from handraise.model.items import Notice
from handraise.session import asking, replying
from handraise.session.asking import Malformed
from handraise.session.commands import Command, Deliver, Publish, Raise, Withdraw, Write
from handraise.session.cooldown import Cooldown
from handraise.session.memory import Memory, Pending
from handraise.wire.connection import Connection, LocalWireError
from handraise.wire.requests import CanUseTool, Elicitation, McpMessage, Request, UnknownRequest

STOPPING = "The session is being stopped, so nobody is asked any more."


class Waiting:
    """`memory.requests` is all that it keeps. The wire lets each answer through once, unless it is reopened."""

    def __init__(self, session: str, project: str | None, memory: Memory, wire: Connection) -> None:
        self._session = session
        self._project = project
        self._memory = memory
        self._wire = wire

    def begin(self, request_id: str, request: Request, now: datetime) -> list[Command]:
        """Claude wants something of us. The same request again is the same request."""
        if request_id in self._memory.requests:
            return []
        match request:
            case CanUseTool() | Elicitation():
                return self._ask(request_id, request, now)
            case McpMessage(server_name=server):
                return self._refuse(request_id, f"There is no MCP server called {server!r} here.")
            case UnknownRequest(subtype=subtype):
                return self._refuse(request_id, f"Handraise does not know how to answer {subtype!r}.")
            case _:
                assert_never(request)

    def answer(self, ask: Ask, now: datetime) -> list[Command]:
        """The line for an ask that was answered or has expired, perhaps again; nothing for what nobody waits for."""
        pending = self._memory.requests.get(ask.origin.reference)
        if pending is None or pending.ask != ask.id or isinstance(ask.settlement, Withdrawn | None):
            return []
        try:
            if pending.settled:
                self._wire.reopen(ask.origin.reference)
            line = replying.reply(self._wire, ask)
        except LocalWireError:
            return []
        if not pending.settled:
            pending.settled = True
            self._learn(ask, now)
        return [Write(line)] if line is not None else []

    def acknowledged(self, request_id: str) -> list[Command]:
        """Claude echoes our answer when it takes it up."""
        pending = self._memory.requests.get(request_id)
        if pending is None or not pending.settled:
            return []
        del self._memory.requests[request_id]
        return [Deliver(pending.ask)]

    def resulted(self, tool_use: str) -> list[Command]:
        """The tool that a request was about is done."""
        for request_id, pending in list(self._memory.requests.items()):
            if pending.tool_use == tool_use:
                del self._memory.requests[request_id]
                if pending.settled:
                    return [Deliver(pending.ask)]
                return [Withdraw(pending.ask, "Claude went on without an answer")]
        return []

    def cancelled(self, request_id: str) -> list[Command]:
        """Claude no longer wants the answer."""
        pending = self._memory.requests.pop(request_id, None)
        return [Withdraw(pending.ask, "the turn was interrupted")] if pending else []

    def withdraw_all(self, reason: str) -> list[Command]:
        """Nobody waits any more for what is open; what is answered may still be taken."""
        still_open = {key: each for key, each in self._memory.requests.items() if not each.settled}
        for key in still_open:
            del self._memory.requests[key]
        return [Withdraw(each.ask, reason) for each in still_open.values()]

    def _ask(self, request_id: str, request: CanUseTool | Elicitation, now: datetime) -> list[Command]:
        if self._memory.phase == "stopping":
            return self._send_back(request_id, request, STOPPING)
        try:
            body = asking.body_of(request)
        except Malformed as error:
            return self._send_back(request_id, request, str(error))
        if isinstance(body, Plan) and self._memory.cooldown.holds(now):
            return self._send_back(request_id, request, replying.COOLING)
        tool_use, agent, tool = None, None, "elicitation"
        if isinstance(request, CanUseTool):
            tool_use, agent, tool = request.tool_use_id, request.agent_id, request.tool_name
        ask = Ask(
            id=ask_id(self._session, request_id),
            session=self._session,
            project=self._project,
            body=body,
            tool=tool,
            agent=agent,
            origin=Origin(request_id, tool_use, msgspec.json.encode(request).decode()),
            opened_at=now,
        )
        self._memory.requests[request_id] = Pending(ask.id, tool_use)
        return [Raise(ask, self._memory.mode)]

    def _send_back(self, request_id: str, request: CanUseTool | Elicitation, reason: str) -> list[Command]:
        """Denied at once: nobody is asked, and Claude reads why."""
        try:
            if isinstance(request, Elicitation):
                line = self._wire.send_filled(request_id, "cancel")
            else:
                line = self._wire.send_deny(request_id, reason)
        except LocalWireError:  # taken back in the same breath
            return []
        return [Write(line), Publish(Notice("info", f"Sent back to Claude at once: {reason}", "sent back"))]

    def _refuse(self, request_id: str, reason: str) -> list[Command]:
        try:
            line = self._wire.send_refusal(request_id, reason)
        except LocalWireError:
            return []
        return [Write(line), Publish(Notice("warning", reason, "refused"))]

    def _learn(self, ask: Ask, now: datetime) -> None:
        match ask.settlement:
            case Answered(answer=Outline()):
                self._memory.cooldown = self._memory.cooldown.used(now)
            case Answered(answer=Approve() | Revise()):
                self._memory.cooldown = Cooldown()
            case _:
                pass


def ask_id(session: str, reference: str) -> str:
    """The same request of the same session always has the same id."""
    return ids.spell("a", sha256(f"{session}/{reference}".encode()).digest())
