"""Claude's command line and environment. Pure; people's messages are never on the command line."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_BILLING = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_OURS = ("HANDRAISE_TELEGRAM_TOKEN", "HANDRAISE_STORE_DATABASE", "HANDRAISE_TOKEN", "HANDRAISE_HUB")
# Set by Claude Code for its own children: a Claude that sees them believes it runs inside another one.
_NESTED = (
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_PID",
)

_WATCHED = "project_settings|local_settings|skills"
_BLOCK = {"type": "command", "command": "exit 2"}


def environment(
    ours: Mapping[str, str], *, api_billing: bool = False, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Ours without our secrets or anything that would bill an API account without asking; no colors; `more` on top."""
    stripped = (*_NESTED, *_OURS, *(() if api_billing else _BILLING))
    passed = {name: value for name, value in ours.items() if name not in stripped}
    return {**passed, "FORCE_COLOR": "0", **(more or {})}


class Launch(Struct, frozen=True, kw_only=True):
    """How to start one process of Claude."""

    directory: str
    session_id: str
    resume: bool = False
    """Continues the conversation `session_id`; otherwise starts one with that ID."""
    fork_of: str | None = None
    """Starts `session_id` with the messages of another conversation."""
    mode: str | None = None
    model: str | None = None
    mcp_servers: Mapping[str, Mapping[str, Any]] = {}
    allowed_tools: tuple[str, ...] = ()
    append_system_prompt: str | None = None
    add_dirs: tuple[str, ...] = ()
    partial_messages: bool = True
    trusted: bool = False
    """Whether a person trusts what the directory brings. If not, its settings and servers are ignored."""
    keeps_hooks: bool = False
    """Keeps hooks on even if the directory turns them off: our guard is one."""
    mcp_files: tuple[str, ...] = ()
    """The person's own servers, where Claude doesn't find them by itself."""


def command_line(claude: str, launch: Launch) -> list[str]:
    """Joins every flag and its value with `=`, so that no value can be mistaken for a flag."""
    words = [
        claude,
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--verbose",
        "--permission-prompt-tool=stdio",
        "--replay-user-messages",
    ]
    if launch.partial_messages:
        words.append("--include-partial-messages")
    if launch.fork_of:
        words += [f"--resume={launch.fork_of}", "--fork-session", f"--session-id={launch.session_id}"]
    elif launch.resume:
        words.append(f"--resume={launch.session_id}")
    else:
        words.append(f"--session-id={launch.session_id}")
    if launch.mode:
        words.append(f"--permission-mode={launch.mode}")
    if launch.model:
        words.append(f"--model={launch.model}")
    if launch.mcp_servers:
        words.append(f"--mcp-config={json.dumps({'mcpServers': launch.mcp_servers})}")
    if launch.allowed_tools:
        words.append(f"--allowedTools={','.join(launch.allowed_tools)}")
    if launch.append_system_prompt:
        words.append(f"--append-system-prompt={launch.append_system_prompt}")
    words += [f"--add-dir={each}" for each in launch.add_dirs]
    words += _guarded(launch) if launch.trusted else _alone(launch)
    return words


def _alone(launch: Launch) -> list[str]:
    """Uses nothing of the directory. Adding it makes Claude read its `CLAUDE.md`, and allows nothing more."""
    servers = [f"--mcp-config={each}" for each in launch.mcp_files]
    return ["--setting-sources=user", "--strict-mcp-config", *servers, f"--add-dir={launch.directory}"]


def _guarded(launch: Launch) -> list[str]:
    """Uses trusted files as they were shown: exit code 2 blocks later changes in this process."""
    guard: dict[str, Any] = {"hooks": {"ConfigChange": [{"matcher": _WATCHED, "hooks": [_BLOCK]}]}}
    if launch.keeps_hooks:
        guard["disableAllHooks"] = False
    return [f"--settings={json.dumps(guard)}"]
