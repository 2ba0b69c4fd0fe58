"""Claude's open requests: each becomes an ask or is denied, and gets one answer. Never awaits."""

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, NamedTuple, assert_never

import msgspec
from msgspec.structs import replace

from handraise.inbox.considering import Objection
from handraise.model import ids, own_tools
from handraise.model.answers import Allow, Approve, Outline, Revise
from handraise.model.asks import Answered, Ask, Body, Origin, Permission, Plan, Withdrawn, is_dialog, is_link
from handraise.model.inputs import MalformedInput, read_ask_user
from handraise.model.items import ActionChanged, Notice
from handraise.present.actions import name_action
from handraise.present.headlines import one_line
from handraise.session import replies, requests
from handraise.session.commands import Command, Complete, Consult, Deliver, Publish, Raise, Withdraw, Write
from handraise.session.denials import REASON, Denials
from handraise.session.dialogs import DECLARED
from handraise.session.memory import Cooldown, Memory, Pending, Verdict
from handraise.texts import t
from handraise.wire import mcp
from handraise.wire.connection import Connection, LocalWireError
from handraise.wire.frames import (
    CanUseTool,
    Elicitation,
    HookCallback,
    McpMessage,
    Request,
    ToolCall,
    UnknownRequest,
    UserDialog,
)

STOPPING = "The session is being stopped. Nobody can be asked now."
_ENTER_PLAN = "EnterPlanMode"
_NAMED = 100
_UNDER_WAY = 1000
"""How many calls are remembered; some never get a result."""


class PendingRequests:
    """Its only state is `memory.requests`. The wire accepts one answer per request, unless it is reopened."""

    def __init__(
        self,
        session: str,
        project: str | None,
        memory: Memory,
        wire: Connection,
        denials: Denials,
        check_plan_mode: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`check_plan_mode` says why Claude may not enter plan mode by itself, if it may not."""
        self._check_plan_mode = check_plan_mode
        self._session = session
        self._denials = denials
        self._project = project
        self._memory = memory
        self._wire = wire

    def begin(self, request_id: str, request: Request, now: datetime) -> list[Command]:
        """A request from Claude. A repeated request is the same request."""
        if request_id in self._memory.requests:
            return []
        match request:
            case UserDialog(dialog_kind=kind) if kind not in DECLARED:
                return self._leave_alone(kind)
            case CanUseTool() | Elicitation() | UserDialog():
                return self._ask(request_id, request, now)
            case McpMessage(server_name=own_tools.SERVER):
                return self._serve(request_id, request, now)
            case McpMessage(server_name=server):
                notice = t("sessions.notice.no_server", server=repr(server))
                return self._refuse(request_id, f"There is no MCP server called {server!r} here.", notice)
            case HookCallback(input=call):
                return self._check(request_id, request, call, now)
            case UnknownRequest(subtype=replies.HOOK):
                # Claude reads an error as no objection.
                return self._object(request_id, "", "deny", "The call could not be read, so it was not checked.")
            case UnknownRequest(subtype="request_user_dialog"):
                return self._leave_alone("")
            case UnknownRequest(subtype=subtype):
                notice = t("sessions.notice.unknown_request", type=repr(subtype))
                return self._refuse(request_id, f"Handraise can't answer requests of type {subtype!r}.", notice)
            case _:
                assert_never(request)

    def ruled(self, ask: Ask, objection: Objection | None) -> list[Command]:
        """The rules were consulted about a call. If none objects, it is answered without involving anyone."""
        request_id, use = ask.origin.reference, ask.origin.tool_use or ""
        if objection is not None and objection.decision == "deny":
            self._judge(use, "deny")
            self._memory.requests[request_id] = Pending(ask.id, ask.origin.tool_use)
            return [Raise(ask, self._memory.mode)]
        if self._denials.claims(use, ask.opened_at):
            return self._object(request_id, use, "ask", REASON)
        if objection is not None:
            return self._object(request_id, use, "ask", objection.message)
        self._judge(use, "unopposed")
        try:
            return [Write(self._wire.send_unopposed(request_id))]
        except LocalWireError:  # cancelled at the same moment
            return []

    def answer(self, ask: Ask, now: datetime) -> list[Command]:
        """The line for an ask that was answered or has expired, possibly again; nothing if nobody waits for it."""
        pending = self._memory.requests.get(ask.origin.reference)
        if pending is None or pending.ask != ask.id or isinstance(ask.settlement, Withdrawn | None):
            return []
        try:
            self._wire.reopen(ask.origin.reference)  # it may have been written before, but not received
            line = replies.reply(self._wire, ask)
        except LocalWireError:
            return []
        if not pending.settled:
            pending.settled = True
            self._learn(ask, pending, now)
            changed = self._edited(ask, pending)
        else:
            changed = []
        return [Write(line), *changed] if line is not None else []

    def completed(self, server: str, elicitation: str) -> list[Command]:
        """A link was completed on its website. Early, late, or for a link that nobody asked about, it means nothing."""
        link = (server, elicitation)
        return [Complete(each.ask) for each in self._memory.requests.values() if each.link == link and not each.settled]

    def acknowledged(self, request_id: str) -> list[Command]:
        """Claude echoes our answer when it receives it."""
        pending = self._memory.requests.get(request_id)
        if pending is None or not pending.settled:
            return []
        del self._memory.requests[request_id]
        return [Deliver(pending.ask)]

    def resulted(self, tool_use: str) -> list[Command]:
        """The tool of a request has finished."""
        for request_id, pending in list(self._memory.requests.items()):
            if pending.tool_use == tool_use:
                del self._memory.requests[request_id]
                if pending.settled:
                    return [Deliver(pending.ask)]
                return [Withdraw(pending.ask, t("sessions.withdrawn.continued"))]
        return []

    def cancelled(self, request_id: str) -> list[Command]:
        """Claude cancelled a request."""
        pending = self._memory.requests.pop(request_id, None)
        if pending is None:
            return []
        reason = t("sessions.withdrawn.dialog" if pending.dialog else "sessions.withdrawn.interrupted")
        return [Withdraw(pending.ask, reason)]

    def withdraw_all(self, reason: str) -> list[Command]:
        """Nobody waits for open requests any more; answers may still be received."""
        still_open = {key: each for key, each in self._memory.requests.items() if not each.settled}
        for key in still_open:
            del self._memory.requests[key]
        return [Withdraw(each.ask, reason) for each in still_open.values()]

    def _ask(self, request_id: str, request: CanUseTool | Elicitation | UserDialog, now: datetime) -> list[Command]:
        if self._memory.is_ending:
            return self._send_back(request_id, request, STOPPING)
        try:
            body = requests.body_of(request)
        except MalformedInput as error:
            return self._send_back(request_id, request, str(error))
        if isinstance(body, Plan) and self._memory.cooldown.holds(now):
            return self._send_back(request_id, request, replies.COOLING)
        if isinstance(request, Elicitation):
            has_id = is_link(body) and request.elicitation_id
            link = (request.mcp_server_name, str(request.elicitation_id)) if has_id else None
            return self._raise(request_id, body, "elicitation", _RequestContext(request, link=link), now)
        if isinstance(request, UserDialog):
            return self._raise(request_id, body, request.dialog_kind, _RequestContext(request), now)
        context = _RequestContext(
            request, request.tool_use_id, agent=self._agent(request.tool_use_id, request.agent_id)
        )
        return self._raise(request_id, body, request.tool_name, context, now)

    def _agent(self, use: str | None, agent: str | None) -> str | None:
        """The sub-agent that makes a call, as Claude describes it."""
        if not agent:
            return None
        call = self._memory.actions.get(use or "")
        above = self._memory.actions.get(call.parent or "") if call is not None else None
        return (above.named if above is not None else "") or t("sessions.sub_agent")

    def _raise(
        self, request_id: str, body: Body, tool: str, context: "_RequestContext", now: datetime
    ) -> list[Command]:
        ask = self._draft(request_id, body, tool, context, now)
        permission = isinstance(context.request, CanUseTool)
        self._memory.requests[request_id] = Pending(
            ask.id,
            context.tool_use,
            call=context.call,
            is_permission=permission,
            link=context.link,
            dialog=is_dialog(body),
        )
        approval, published = self._denials.retried(context.tool_use, body, now)
        return [*published, Raise(ask, self._memory.mode, approval)]

    def _draft(self, request_id: str, body: Body, tool: str, context: "_RequestContext", now: datetime) -> Ask:
        return Ask(
            id=ask_id(self._session, request_id),
            session=self._session,
            project=self._project,
            body=body,
            tool=tool,
            agent=context.agent,
            origin=Origin(request_id, context.tool_use, msgspec.json.encode(context.request).decode()),
            opened_at=now,
        )

    def _check(self, request_id: str, request: HookCallback, call: ToolCall, now: datetime) -> list[Command]:
        """Claude is about to use a tool, possibly without asking."""
        self._memory.is_checked = True
        if self._memory.alarm:
            return self._object(request_id, call.tool_use_id, "deny", STOPPING)
        try:
            body = requests.call_of(call)
        except MalformedInput as error:
            return self._object(request_id, call.tool_use_id, "deny", str(error))
        refusal = self._check_plan_mode() if call.tool_name == _ENTER_PLAN else None
        if refusal:
            return self._object(request_id, call.tool_use_id, "deny", refusal)
        self._denials.note(call.tool_use_id, body.tool, body.input, call.cwd)
        context = _RequestContext(request, call.tool_use_id or None, agent=self._agent(call.tool_use_id, call.agent_id))
        return [Consult(self._draft(request_id, body, call.tool_name, context, now), self._memory.mode)]

    def _object(self, request_id: str, use: str, decision: Literal["deny", "ask"], reason: str) -> list[Command]:
        self._judge(use, decision)
        try:
            return [Write(self._wire.send_objection(request_id, decision, reason))]
        except LocalWireError:  # cancelled at the same moment
            return []

    def _judge(self, use: str, verdict: Verdict) -> None:
        calls = self._memory.calls
        calls[use] = verdict
        if len(calls) > _UNDER_WAY:
            del calls[next(iter(calls))]

    def _serve(self, request_id: str, request: McpMessage, now: datetime) -> list[Command]:
        """Claude talks to our own MCP server."""
        message = mcp.read(request.message)
        match message:
            case mcp.CallTool(name=own_tools.ASK_USER) if self._memory.is_ending:
                return self._reply(request_id, mcp.tool_result(message.id, STOPPING, is_error=True))
            case mcp.CallTool(name=own_tools.ASK_USER):
                try:
                    body = read_ask_user(message.arguments)
                except MalformedInput as error:
                    return self._reply(request_id, mcp.tool_result(message.id, str(error), is_error=True))
                context = _RequestContext(request, message.tool_use_id, message.id)
                return self._raise(request_id, body, own_tools.ASK_USER, context, now)
            case mcp.Cancelled(call_id):
                return [*self._take_back(call_id), *self._reply(request_id, requests.reply(message))]
            case _:
                return self._reply(request_id, requests.reply(message))

    def _take_back(self, call_id: mcp.RequestId) -> list[Command]:
        """Claude cancelled a call; nothing else on the control channel says so."""
        for request_id, pending in self._memory.requests.items():
            if pending.call == call_id:
                self._wire.receive_cancel(request_id)
                return self.cancelled(request_id)
        return []

    def _reply(self, request_id: str, message: dict[str, Any]) -> list[Command]:
        try:
            return [Write(self._wire.send_mcp(request_id, message))]
        except LocalWireError:  # cancelled at the same moment
            return []

    def _leave_alone(self, kind: str) -> list[Command]:
        """An answer would count as a person's, and an error as none. Claude Code closes it by itself."""
        text = t("sessions.notice.unknown_dialog", kind=one_line(kind)[:_NAMED])
        return [Publish(Notice("warning", text, "dialog"))]

    def _send_back(self, request_id: str, request: CanUseTool | Elicitation | UserDialog, reason: str) -> list[Command]:
        """Denies immediately: nobody is asked, and Claude reads why."""
        try:
            if isinstance(request, Elicitation):
                line = self._wire.send_filled(request_id, "cancel")
            elif isinstance(request, UserDialog):
                line = self._wire.send_dialog(request_id, None)
            else:
                line = self._wire.send_deny(request_id, reason)
        except LocalWireError:  # cancelled at the same moment
            return []
        return [Write(line), Publish(Notice("info", t("sessions.notice.sent_back", reason=reason), "sent back"))]

    def _refuse(self, request_id: str, reason: str, notice: str) -> list[Command]:
        """Claude reads the reason, and people the notice."""
        try:
            line = self._wire.send_refusal(request_id, reason)
        except LocalWireError:
            return []
        return [Write(line), Publish(Notice("warning", notice, "refused"))]

    def _edited(self, ask: Ask, pending: Pending) -> list[Command]:
        """The input that runs instead of Claude's, if a person edited it."""
        match ask.body, ask.settlement:
            case Permission(tool=tool), Answered(answer=Allow(input=dict() as edited), by=by) if pending.tool_use:
                _, title = name_action(tool, edited)
                begun = self._memory.actions.get(pending.tool_use)
                if begun is not None:
                    self._memory.actions[pending.tool_use] = replace(begun, title=title)
                return [Publish(ActionChanged(pending.tool_use, title, edited, by))]
            case _:
                return []

    def _learn(self, ask: Ask, pending: Pending, now: datetime) -> None:
        if pending.tool_use in self._memory.calls and pending.call is None:
            self._memory.calls[pending.tool_use] = "allow" if replies.allows(ask.settlement) else "deny"
        self._memory.granted += replies.modes(ask)
        match ask.settlement:
            case Answered(answer=Outline()):
                self._memory.cooldown = self._memory.cooldown.used(now)
            case Answered(answer=Approve() | Revise()):
                self._memory.cooldown = Cooldown()
            case _:
                pass


class _RequestContext(NamedTuple):
    """What we keep of a request to answer it later."""

    request: CanUseTool | Elicitation | UserDialog | McpMessage | HookCallback
    tool_use: str | None = None
    call: mcp.RequestId | None = None
    agent: str | None = None
    link: tuple[str, str] | None = None


def ask_id(session: str, reference: str) -> str:
    """The same request of the same session always has the same id."""
    return ids.spell("a", sha256(f"{session}/{reference}".encode()).digest())
