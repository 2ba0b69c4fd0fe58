"""Lines in Claude's real format, one for every frame of the wire, and the recordings if there are any."""

import json
from pathlib import Path
from typing import Any

RECORDINGS = sorted((Path(__file__).parent.parent / "recordings").glob("*.ndjson"))
SESSION = "ac440566-0684-433a-ba7a-9a30f9486654"
USAGE = {"input_tokens": 12791, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def line(**fields: Any) -> bytes:
    """One line without its newline, as Claude writes it: no spaces, and only necessary escapes."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def full_line(**fields: Any) -> bytes:
    """A line with the fields that nearly every one has, after the others."""
    return line(**fields, session_id=SESSION, uuid="a6664cb5-041b-44c0-81a9-e65dfa42d424")


def assistant(*content: Any, **more: Any) -> bytes:
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5"}
    message |= {"content": list(content), "stop_reason": None, "usage": USAGE}
    return full_line(type="assistant", message=message, parent_tool_use_id=None, **more)


def user(content: Any, **more: Any) -> bytes:
    return full_line(type="user", message={"role": "user", "content": content}, parent_tool_use_id=None, **more)


def event(**fields: Any) -> bytes:
    return full_line(type="stream_event", event=fields, parent_tool_use_id=None)


def request(request_id: str, **fields: Any) -> bytes:
    return line(type="control_request", request_id=request_id, request=fields)


ALL = {
    "init": full_line(
        type="system",
        subtype="init",
        cwd="/work",
        tools=["Bash", "Read"],
        mcp_servers=[{"name": "handraise", "status": "connected"}],
        model="claude-opus-5-5",
        permissionMode="plan",
        slash_commands=["compact"],
        claude_code_version="2.1.325",
    ),
    "status": full_line(type="system", subtype="status", status="requesting", permissionMode="acceptEdits"),
    "task": full_line(
        type="system",
        subtype="task_started",
        task_id="t1",
        tool_use_id="toolu_1",
        description="Look around",
        task_type="local_agent",
    ),
    "task progress": full_line(type="system", subtype="task_progress", task_id="t1", last_tool_name="Read", usage={}),
    "task update": full_line(type="system", subtype="task_updated", task_id="t1", patch={"status": "completed"}),
    "task end": full_line(type="system", subtype="task_notification", task_id="t1", status="completed", summary="Done"),
    "retry": full_line(
        type="system", subtype="api_retry", attempt=1, max_retries=10, retry_delay_ms=512.5, error_status=529, error="x"
    ),
    "lifecycle": full_line(type="command_lifecycle", command_uuid="6c5a", state="queued"),
    "text": assistant({"type": "text", "text": "Grüße, “you” 🎈"}),
    "thinking": assistant({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
    "tool use": assistant({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls\n-l"}}),
    "server tool use": assistant({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
    "sub-agent": assistant({"type": "text", "text": "I am one"}, agent_id="a1", error="rate_limit"),
    "tool result": user([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "total 0", "is_error": False}]),
    "tool result in blocks": user(
        [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "total 0"}]}]
    ),
    "image": user([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}}]),
    "replay": user("go", isReplay=True),
    "synthetic": user("[Request interrupted by user]", isSynthetic=True),
    "message start": event(type="message_start", message={"id": "msg_1", "content": [], "usage": USAGE}),
    "block start": event(type="content_block_start", index=0, content_block={"type": "text", "text": ""}),
    "text delta": event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "Grü"}),
    "thinking delta": event(type="content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "H"}),
    "json delta": event(type="content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": '{"c'}),
    "message delta": event(type="message_delta", delta={"stop_reason": "end_turn"}, usage=USAGE),
    "message stop": event(type="message_stop"),
    "progress": full_line(type="tool_progress", tool_use_id="toolu_1", tool_name="Bash", elapsed_time_seconds=30.1),
    "rate limit": full_line(type="rate_limit_event", rate_limit_info={"status": "allowed", "resetsAt": 1794779380}),
    # 2.1.325 puts the type late.
    "result": line(
        duration_api_ms=323,
        session_id=SESSION,
        total_cost_usd=0.19835999999999998,
        usage=USAGE,
        modelUsage={"claude-opus-5-5": {"inputTokens": 45440}},
        permission_denials=[{"tool_name": "Bash"}],
        type="result",
        subtype="success",
        is_error=False,
        duration_ms=1523,
        num_turns=3,
        result="Done.",
    ),
    "failed": full_line(
        type="result", subtype="error_during_execution", is_error=True, errors=["No conversation found"]
    ),
    "permission": request(
        "r-1",
        subtype="can_use_tool",
        tool_name="Bash",
        display_name="Bash",
        input={"command": "ls", "description": "Lists"},
        description="Lists",
        permission_suggestions=[{"type": "addRules", "rules": [{"toolName": "Bash"}], "destination": "session"}],
        blocked_path="/etc",
        decision_reason="outside",
        tool_use_id="toolu_1",
        agent_id="a1",
    ),
    "question": request("r-2", subtype="can_use_tool", tool_name="AskUserQuestion", input={"questions": [QUESTION]}),
    "form": request(
        "r-3",
        subtype="elicitation",
        mcp_server_name="forms",
        message="Who?",
        mode="form",
        requested_schema={"type": "object", "properties": {"name": {"type": "string"}}},
    ),
    "mcp": request("r-4", subtype="mcp_message", server_name="handraise", message={"jsonrpc": "2.0", "id": 1}),
    "hook": request(
        "r-5",
        subtype="hook_callback",
        callback_id="h1",
        input={
            "hook_event_name": "PreToolUse",
            "tool_name": "Read",
            "tool_input": {"file_path": "/a"},
            "tool_use_id": "t",
        },
    ),
    "unknown hook": request("r-6", subtype="hook_callback", callback_id=1),
    "cancel": line(type="control_cancel_request", request_id="r-2"),
    "acknowledged": line(
        type="control_response", response={"subtype": "success", "request_id": "ours-1", "response": {"mode": "plan"}}
    ),
    "refused": line(type="control_response", response={"subtype": "error", "request_id": "ours-2", "error": "no"}),
    "unknown": full_line(type="weather_report", subtype="sunny", degrees=21),
    "unknown system": full_line(type="system", subtype="thinking_tokens", estimated_tokens=52),
    "unknown block": assistant({"type": "hologram", "depth": 3}, {"type": "text", "text": "beside it"}),
}

ODD = {
    "noise": b"[SandboxDebug] starting \xe2\x80\xa6",
    "broken": b'{"type":"user","message":{"content":"half',
    "two at once": b'{"type":"user"}{"type":"user"}',
    "blank": b"",
    "white": b" \t\r",
    "no object": b"[1, 2]",
    "bare": b"null",
    "no type": b'{"a":1}',
    "odd type": b'{"type":["x"]}',
    "bad bytes": b'{"type":"user","message":{"content":"caf\xe9"}}',
    "bad bytes, broken": b'{"type":"user","mess\xff',
    "half a pair": rb'{"type":"user","message":{"content":"cut \ud83d"}}',
    "half a pair in raw": rb'{"type":"control_request","request_id":"r-9","request":{"subtype":"can_use_tool",'
    rb'"tool_name":"Write","input":{"content":"\uDE00 cut"}}}',
    "whole pair": rb'{"type":"user","message":{"content":"\ud83d\ude00"}}',
    "deep": b'{"type":"user","message":' + b"[" * 100_000,
    "deep and whole": b'{"type":"x","y":' + b"[" * 3000 + b"]" * 3000 + b"}",
    "huge number": b'{"type":"result","num_turns":' + b"9" * 5000 + b"}",
    "large number": b'{"type":"result","num_turns":123456789012345678901234567890}',
    "beyond floats": b'{"type":"result","total_cost_usd":1e999}',
    "not a number": b'{"type":"result","total_cost_usd":NaN}',
    "twice a key": b'{"type":"user","type":"result","is_error":true,"is_error":false}',
    "byte order mark": b'\xef\xbb\xbf{"type":"result"}',
    "nul": b"\0\0\0\0",
}

EVERYTHING = [*ALL.values(), *ODD.values()]
STREAM = b"".join(each + b"\n" for each in EVERYTHING)


def streams() -> dict[str, bytes]:
    """The corpus and the recordings."""
    return {"corpus": STREAM} | {path.name: path.read_bytes() for path in RECORDINGS}
