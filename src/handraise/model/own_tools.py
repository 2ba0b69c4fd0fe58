"""The tools with which an agent raises its hand: their names, their schemas, and how long `ask_user` may wait."""

from typing import Any

SERVER = "handraise"
"""The name of our MCP server, whichever way it is reached."""
ASK_USER = "ask_user"
APPROVAL_PROMPT = "approval_prompt"
ASK_USER_SECONDS = 300
ASK_USER_LEAST, ASK_USER_MOST = 30, 900

ASK_USER_TOOL: dict[str, Any] = {
    "name": ASK_USER,
    "description": (
        "Ask the user a question and wait for their response. Use this when you need clarification, a choice between "
        "options, or confirmation before proceeding."
    ),
    "inputSchema": {
        "type": "object",
        "required": ["question"],
        "properties": {
            "question": {"type": "string", "description": "The question to ask the user"},
            "options": {
                "type": "array",
                "description": "Optional list of choices for the user",
                "items": {
                    "type": "object",
                    "required": ["label"],
                    "properties": {
                        "label": {"type": "string", "description": "Short label for the option"},
                        "description": {
                            "type": "string",
                            "description": "Longer explanation of what this option means",
                        },
                    },
                },
            },
            "multiSelect": {
                "type": "boolean",
                "default": False,
                "description": "Whether the user can select multiple options",
            },
        },
    },
    # Asking changes nothing, so several questions may be open at once: Claude runs other tools one after the other.
    "annotations": {"title": "Ask the user", "readOnlyHint": True, "openWorldHint": False},
}

APPROVAL_PROMPT_TOOL: dict[str, Any] = {
    "name": APPROVAL_PROMPT,
    "description": (
        "Decides whether a tool may be used: a standing rule or a person answers. For Claude Code's "
        "--permission-prompt-tool; the result is one text block of JSON."
    ),
    "inputSchema": {
        "type": "object",
        "required": ["tool_name", "input"],
        "properties": {
            "tool_name": {"type": "string", "description": "The tool that is to be used"},
            "input": {"type": "object", "description": "What it is to be used with"},
            "tool_use_id": {"type": "string", "description": "The call as the conversation knows it"},
        },
    },
}


def qualified(tool: str) -> str:
    """The name Claude uses for one of our tools."""
    return f"mcp__{SERVER}__{tool}"
