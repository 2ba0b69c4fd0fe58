"""The environment for Claude. Pure."""

from collections.abc import Mapping

_BILLING = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_OURS = ("HANDRAISE_TELEGRAM_TOKEN",)
# Set by Claude Code for its own children: a Claude that finds them believes it runs inside another one.
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


def environment(
    ours: Mapping[str, str], *, api_billing: bool = False, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Ours without our secrets and what would bill an API account unasked; no colours; `more` on top."""
    stripped = (*_NESTED, *_OURS, *(() if api_billing else _BILLING))
    kept = {name: value for name, value in ours.items() if name not in stripped}
    return {**kept, "FORCE_COLOR": "0", **(more or {})}
