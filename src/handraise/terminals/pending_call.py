"""The call that a Claude in a terminal has not finished, as its transcript says. Pure."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from handraise.model.tools import tool_named
from handraise.present.actions import doing, name_action
from handraise.present.headlines import one_line


class PendingCall:
    """Reads a transcript, and names the call that Claude waits for, if it is clear which one that is."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}

    @property
    def title(self) -> str:
        """On one line; empty if no call is open, or several are: the files don't say which of them has the dialog."""
        return next(iter(self._open.values())) if len(self._open) == 1 else ""

    def read(self, lines: Iterable[bytes]) -> None:
        """Further lines, each complete. What isn't understood is passed over."""
        for line in lines:
            try:
                entry = _LINES.decode(line)
            except (msgspec.MsgspecError, RecursionError):
                continue
            if entry.type in ("assistant", "user") and not entry.is_sidechain and entry.message is not None:
                self._enter(entry.type, entry.message.content)

    def _enter(self, kind: str, content: object) -> None:
        blocks = content if isinstance(content, list) else [{"type": "text"}]
        for block in blocks:
            match block:
                case {"type": "tool_use", "id": str(call), "name": str(tool), "input": dict(fields)}:
                    self._open[call] = _title(tool, fields)
                case {"type": "tool_result", "tool_use_id": str(call)}:
                    self._open.pop(call, None)
                case {"type": "text"} if kind == "user":
                    # A new message: what an earlier process left unfinished is over.
                    self._open.clear()
                case _:
                    pass


class _CallMessage(Struct):
    content: Any = None


class _CallLine(Struct):
    type: str = ""
    is_sidechain: bool = msgspec.field(name="isSidechain", default=False)
    message: _CallMessage | None = None


_LINES = msgspec.json.Decoder(_CallLine)
"""Made while it is imported: several threads use it."""


def _title(tool: str, fields: dict[str, Any]) -> str:
    """Empty for a sub-agent: what it asks for is in another file."""
    if tool_named(tool).kind == "agent":
        return ""
    return one_line(doing(tool, name_action(tool, fields)[1]))
