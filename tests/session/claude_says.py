"""Lines in Claude's format, and a session machine to receive them: chunks in, commands out."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from handraise.model.actors import Person
from handraise.model.answers import Answer
from handraise.model.asks import Answered, Ask, Expired, Settlement
from handraise.model.items import Content
from handraise.session.commands import (
    AskWasSettled,
    Command,
    Fact,
    FrameReceived,
    ProcessStarted,
    Publish,
    Raise,
    Wish,
    Write,
)
from handraise.session.machine import SessionLimits, SessionMachine
from handraise.session.memory import Memory
from handraise.wire.connection import Connection

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ANA = Person("ana")
TEMPER = SessionLimits(move=30, idle=600)
T = TypeVar("T", bound=Command)
C = TypeVar("C", bound=Content)

Line = dict[str, Any]

QUESTION: dict[str, Any] = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def init(**fields: Any) -> Line:
    return {"type": "system", "subtype": "init", "permissionMode": "default", "model": "opus", **fields}


def status(mode: str) -> Line:
    return {"type": "system", "subtype": "status", "status": None, "permissionMode": mode}


def text(words: str, message: str = "m_1", parent: str | None = None) -> Line:
    return assistant({"type": "text", "text": words}, message=message, parent=parent)


def assistant(*blocks: Any, message: str = "m_1", parent: str | None = None) -> Line:
    return {
        "type": "assistant",
        "message": {"id": message, "content": list(blocks)},
        "parent_tool_use_id": parent,
    }


def tool_use(tool: str, use: str = "t_1", /, parent: str | None = None, **outcome: Any) -> Line:
    return assistant({"type": "tool_use", "id": use, "name": tool, "input": outcome}, parent=parent)


def tool_result(use: str = "t_1", content: Any = "done", *, is_error: bool = False, parent: str | None = None) -> Line:
    block = {"type": "tool_result", "tool_use_id": use, "content": content, "is_error": is_error}
    return {"type": "user", "message": {"content": [block]}, "parent_tool_use_id": parent}


def replayed(say: str) -> Line:
    return {"type": "user", "message": {"content": "…"}, "uuid": say, "isReplay": True}


def became(say: str, state: str) -> Line:
    return {"type": "command_lifecycle", "command_uuid": say, "state": state}


def result(**fields: Any) -> Line:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", **fields}


def request(request_id: str, tool: str, outcome: Any, use: str | None = "t_1", **fields: Any) -> Line:
    asked = {"subtype": "can_use_tool", "tool_name": tool, "input": outcome, "tool_use_id": use, **fields}
    return {"type": "control_request", "request_id": request_id, "request": asked}


def bash(request_id: str = "r_1", command: str = "ls", use: str | None = "t_1", **fields: Any) -> Line:
    return request(request_id, "Bash", {"command": command}, use, **fields)


def question(request_id: str = "r_1", *questions: Any) -> Line:
    return request(request_id, "AskUserQuestion", {"questions": list(questions) or [QUESTION]})


def plan(request_id: str = "r_1", words: str = "1. Do it.") -> Line:
    return request(request_id, "ExitPlanMode", {"plan": words})


def form(request_id: str = "r_1", **fields: Any) -> Line:
    asked = {"subtype": "elicitation", "mcp_server_name": "post", "message": "Where to?", "mode": "form"}
    schema = {"type": "object", "properties": {"street": {"type": "string"}}, "required": ["street"]}
    inside = {**asked, "requested_schema": schema, **fields}
    return {"type": "control_request", "request_id": request_id, "request": inside}


def link(request_id: str = "r_1", **fields: Any) -> Line:
    """An MCP server wants a link visited."""
    visited = {"url": "https://login.example.com/", "elicitation_id": "e_1", **fields}
    return form(request_id, mode="url", requested_schema=None, **visited)


def completed(elicitation: Any = "e_1", server: Any = "post") -> Line:
    """The server says that a link was completed."""
    inside = {"mcp_server_name": server, "elicitation_id": elicitation}
    return {"type": "system", "subtype": "elicitation_complete", **inside}


def dialog(request_id: str = "r_1", kind: Any = "refusal_fallback_prompt", payload: Any = None) -> Line:
    """Claude Code itself asks."""
    refusal = {"originalModel": "claude-fable-5", "fallbackModel": "claude-opus-4-8", "apiRefusalCategory": "cyber"}
    inside = {"subtype": "request_user_dialog", "dialog_kind": kind, "payload": refusal if payload is None else payload}
    return {"type": "control_request", "request_id": request_id, "request": inside}


def mcp_message(request_id: str, **message: Any) -> Line:
    inside = {"subtype": "mcp_message", "server_name": "handraise", "message": {"jsonrpc": "2.0", **message}}
    return {"type": "control_request", "request_id": request_id, "request": inside}


def ask_user(request_id: str = "r_1", **arguments: Any) -> Line:
    called = {"name": "ask_user", "arguments": arguments, "_meta": {"claudecode/toolUseId": "t_1"}}
    return mcp_message(request_id, id=1, method="tools/call", params=called)


def cancel(request_id: str = "r_1") -> Line:
    return {"type": "control_cancel_request", "request_id": request_id}


def acknowledged(request_id: str, subtype: str = "success", **fields: Any) -> Line:
    return {"type": "control_response", "response": {"subtype": subtype, "request_id": request_id, **fields}}


HELLO = acknowledged("handraise-hello")


class Talk:
    """A machine, its wire, and the asks it raised."""

    def __init__(self, memory: Memory | None = None, *, limits: SessionLimits = TEMPER) -> None:
        self.memory = memory or Memory(version="2.1.325")
        self.wire = Connection(0, self.memory.requests)
        self.machine = SessionMachine("s_1", "p_1", self.memory, self.wire, limits)
        self.asks: dict[str, Ask] = {}
        self.now = NOON

    def later(self, seconds: float) -> "Talk":
        self.now += timedelta(seconds=seconds)
        return self

    def hear(self, *lines: Line) -> list[Command]:
        """All of the lines in one chunk, as a busy journal delivers them."""
        chunk = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        received = self.wire.receive(chunk)
        return [command for each in received for command in self.observe(FrameReceived(each.frame))]

    def observe(self, fact: Fact) -> list[Command]:
        commands = self.machine.observe(fact, self.now)
        for ask in (each.ask for each in commands if isinstance(each, Raise)):
            self.asks[ask.origin.reference] = ask
        return commands

    def wish(self, wish: Wish) -> list[Command]:
        return self.machine.wish(wish)

    def settle(self, request_id: str, settlement: Settlement | None) -> list[Command]:
        self.asks[request_id] = replace(self.asks[request_id], settlement=settlement)
        return self.observe(AskWasSettled(self.asks[request_id]))

    def answer(self, request_id: str, answer: Answer) -> list[Command]:
        return self.settle(request_id, Answered(answer, ANA, "web", self.now))

    def expire(self, request_id: str) -> list[Command]:
        return self.settle(request_id, Expired(self.now))


def starting() -> Talk:
    talk = Talk()
    talk.observe(ProcessStarted())
    return talk


def idle(limits: SessionLimits = TEMPER) -> Talk:
    talk = Talk(limits=limits)
    talk.observe(ProcessStarted())
    talk.hear(HELLO)
    return talk


def working(limits: SessionLimits = TEMPER) -> Talk:
    talk = idle(limits)
    talk.hear(init())
    return talk


def written(commands: Sequence[Command]) -> list[Any]:
    """What was written, parsed; each must be one line."""
    lines = [each.line for each in commands if isinstance(each, Write)]
    for line in lines:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
    return [msgspec.json.decode(line) for line in lines]


def responses(commands: Sequence[Command]) -> list[Any]:
    """The contents of our answers to Claude's requests."""
    return [line["response"]["response"] for line in written(commands) if line["type"] == "control_response"]


def of(kind: type[T], commands: Sequence[Command]) -> list[T]:
    return [each for each in commands if isinstance(each, kind)]


def published(kind: type[C], commands: Sequence[Command]) -> list[C]:
    return [each.content for each in commands if isinstance(each, Publish) and isinstance(each.content, kind)]
