"""The content blocks of a message. One that we do not know is an UnknownBlock, never an error."""

from typing import Any

from msgspec import Raw, Struct


class TextBlock(Struct, frozen=True, tag_field="type", tag="text"):
    """Words."""

    text: str


class ThinkingBlock(Struct, frozen=True, tag_field="type", tag="thinking"):
    """Thoughts."""

    thinking: str


class ToolUse(Struct, frozen=True, tag_field="type", tag="tool_use"):
    """A tool is called. `input` stays encoded until it is needed."""

    id: str
    name: str
    input: Raw = Raw(b"{}")


class ServerToolUse(Struct, frozen=True, tag_field="type", tag="server_tool_use"):
    """A tool that runs at the model's side is called."""

    id: str
    name: str
    input: Raw = Raw(b"{}")


class ImageBlock(Struct, frozen=True, tag_field="type", tag="image"):
    """A picture, as it was written."""

    source: Raw = Raw(b"{}")


class UnknownBlock(Struct, frozen=True):
    """A block that we do not know, whole."""

    type: str
    fields: dict[str, Any]


class ToolResult(Struct, frozen=True, tag_field="type", tag="tool_result"):
    """What a tool gave back: text, or blocks."""

    tool_use_id: str
    content: str | list[Raw] | None = None
    is_error: bool | None = None


Known = TextBlock | ThinkingBlock | ToolUse | ServerToolUse | ImageBlock | ToolResult
Block = Known | UnknownBlock
