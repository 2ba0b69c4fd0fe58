"""The images in the results of tools, read from the journal. Never keeps them, and never reads more than one line."""

import asyncio
import mmap
import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

LONGEST_LINE = 64 * 1024 * 1024
_ACTION = re.compile(r"[\w-]{1,200}")
_MOST_MENTIONS = 64
"""In how many lines a tool call is looked for: its request and its checks mention it, too."""


class _ResultMessage(Struct):
    content: str | list[Any] = ""


class _JournalLine(Struct):
    message: _ResultMessage | None = None
    type: str = ""


_LINE = msgspec.json.Decoder(_JournalLine)


class ToolPictures:
    """Finds images by the tool call that returned them."""

    def __init__(self, sessions: Path) -> None:
        self._sessions = sessions

    async def find(self, session: str, action: str, number: int) -> dict[str, Any] | None:
        """The block of an image, as Claude Code wrote it; None if its journal is gone."""
        if not _ACTION.fullmatch(action):
            return None
        return await asyncio.to_thread(self._find, session, action, number)

    def _find(self, session: str, action: str, number: int) -> dict[str, Any] | None:
        for journal in self._journals(session):
            pictures = _in_journal(journal, action)
            if pictures is not None:
                return pictures[number] if number < len(pictures) else None
        return None

    def _journals(self, session: str) -> list[Path]:
        """The latest run first."""
        try:
            runs = [each for each in (self._sessions / session).iterdir() if each.name.isdigit()]
        except OSError:
            return []
        return [each / "out.ndjson" for each in sorted(runs, key=lambda run: -int(run.name))]


def _in_journal(journal: Path, action: str) -> list[dict[str, Any]] | None:
    try:
        with open(journal, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return _in_text(text, f'"tool_use_id":"{action}"'.encode())
    except (OSError, ValueError):  # gone, or empty
        return None


def _in_text(text: mmap.mmap, needle: bytes) -> list[dict[str, Any]] | None:
    at = text.find(needle)
    for _ in range(_MOST_MENTIONS):
        if at < 0:
            return None
        start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
        end = len(text) if end < 0 else end
        found = _in_line(text[start:end], needle) if end - start <= LONGEST_LINE else None
        if found is not None:
            return found
        at = text.find(needle, end)
    return None


def _in_line(line: bytes, needle: bytes) -> list[dict[str, Any]] | None:
    """The images of the tool's result, if this line has that; what isn't a result is None."""
    try:
        read = _LINE.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    blocks = read.message.content if read.type == "user" and read.message is not None else ""
    for block in blocks if isinstance(blocks, list) else ():
        is_result = isinstance(block, dict) and block.get("type") == "tool_result"
        if is_result and f'"tool_use_id":"{block.get("tool_use_id")}"'.encode() == needle:
            pieces = block.get("content")
            return [
                each
                for each in (pieces if isinstance(pieces, list) else ())
                if isinstance(each, dict) and each.get("type") == "image"
            ]
    return None
