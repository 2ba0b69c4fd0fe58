"""Short requests in the format of Claude Code 2.1.325."""

from collections.abc import Mapping, Sequence
from typing import Any

from handraise.demo import Request

TOOLS = [{"name": "Agent"}, {"name": "Bash"}]
REMINDER = "<system-reminder>\nAttribution for git commits.\n</system-reminder>\n"


def user(*blocks: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [_block(block) for block in blocks]}


def assistant(*blocks: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": [_block(block) for block in blocks]}


def tool_use(tool_use_id: str, name: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_use_id, "name": name, "input": {}}


def tool_result(tool_use_id: str, content: object, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error}


def image(base64: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64}}


def body(*messages: Mapping[str, Any], tools: Sequence[Mapping[str, Any]] = TOOLS, **fields: object) -> dict[str, Any]:
    return {"model": "claude-opus-5-5", "messages": list(messages), "tools": list(tools), "stream": True, **fields}


def request(*messages: Mapping[str, Any], agent: str = "", **fields: Any) -> Request:
    return Request(body(*messages, **fields), session="s1", agent=agent)


def _block(block: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "text", "text": block} if isinstance(block, str) else block
