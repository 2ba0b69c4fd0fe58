"""A session's title: from its first message, or as Claude calls it. Pure."""

from typing import Any

from handraise.model.names import BadName, check_name
from handraise.model.plain_line import first_plain_line
from handraise.texts import t

_LONGEST = 80

Words = str | tuple[dict[str, Any], ...]
"""Text, or blocks of the Messages API."""


def of_message(content: Words) -> str:
    """The first line of the text, without Markdown."""
    return _short(first_plain_line(text_of(content)) or t("sessions.untitled"))


def of_claude(title: str) -> str:
    """Claude's own title, under the same conditions as a person's; empty if it can't be used."""
    try:
        return _short(check_name(" ".join(title.split()), "title"))
    except BadName:
        return ""


def text_of(content: Words) -> str:
    """All of the text."""
    return content if isinstance(content, str) else " ".join(str(block.get("text", "")) for block in content)


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
