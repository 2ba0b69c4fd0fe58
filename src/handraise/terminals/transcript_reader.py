"""The lines of a transcript as a session's timeline. Pure; remembers only actions in progress and the title."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from handraise.model.actors import Person
from handraise.model.items import Content, Said, SaidTaken
from handraise.session.translate import Action, translate
from handraise.wire import frames
from handraise.wire.decode import decode

SOURCE = "terminal"
_TITLE = 80


class TranscriptReader:
    """What happens in one terminal."""

    def __init__(self, person: Person, title: str = "") -> None:
        self._person = person
        self._under_way: dict[str, Action] = {}
        self.title = title
        """What the person called it, or how they began."""

    def read(self, lines: Iterable[bytes]) -> list[Content]:
        """The contents of further lines. What isn't part of a conversation, or can't be read, is passed over."""
        return [content for line in lines for content in self._read(line)]

    def _read(self, line: bytes) -> list[Content]:
        try:
            entry = _LINES.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            return []
        if entry.type == "custom-title" and entry.title:
            self.title = " ".join(entry.title.split())[:_TITLE]
        if entry.type not in ("assistant", "user") or entry.is_meta or entry.is_sidechain:
            return []
        if entry.type == "user" and _text(entry.message) is not None:
            return self._said(entry, _text(entry.message) or "")
        shown = [frame for frame in decode(line + b"\n") if isinstance(frame, frames.Assistant | frames.User)]
        return [content for frame in shown for content in translate(frame, self._under_way)]

    def _said(self, entry: "_Line", text: str) -> list[Content]:
        if not entry.uuid or not text.strip():
            return []
        if not self.title:
            self.title = " ".join(text.split())[:_TITLE]
        return [Said(entry.uuid, text, 0, self._person, SOURCE), SaidTaken(entry.uuid)]


class _Line(Struct):
    type: str = ""
    uuid: str = ""
    is_meta: bool = msgspec.field(name="isMeta", default=False)
    is_sidechain: bool = msgspec.field(name="isSidechain", default=False)
    title: str = msgspec.field(name="customTitle", default="")
    message: Any = None


_LINES = msgspec.json.Decoder(_Line)
"""Made while it is imported: several threads use it."""


def _text(message: object) -> str | None:
    """The text of a person's message; None for anything else, such as the result of a tool."""
    match message:
        case {"content": str(text)}:
            return text
        case {"content": [{"type": "text", "text": str(text)}, *_]}:
            return text
        case _:
            return None
