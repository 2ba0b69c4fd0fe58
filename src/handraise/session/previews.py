"""Partial text, merged so that a fast stream doesn't flood: at most 25 a second. Pure; time is an argument."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from handraise.model.items import Preview
from handraise.wire.frames import Assistant, Event, Frame, StreamEvent

INTERVAL = 0.04

Kind = Literal["text", "thinking"]


class Previews:
    """Takes stream events, returns previews when they are due. Stores nothing."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._speakers: dict[str | None, _Speaker] = {}
        self._next = float("-inf")

    def follow(self, received: Sequence[Frame]) -> list[Frame]:
        """Takes the stream events out of these frames and returns the others: nearly all are pieces of a block."""
        others: list[Frame] = []
        speakers = self._speakers
        for frame in received:
            if type(frame) is StreamEvent:
                event = frame.event
                if event.type != "content_block_delta":
                    self.add(frame)
                elif speaker := speakers.get(frame.parent_tool_use_id):
                    speaker.fresh.append(event)
            else:
                others.append(frame)
                if type(frame) is Assistant:
                    self.whole(frame.parent_tool_use_id)
        return others

    def add(self, streamed: StreamEvent) -> None:
        """Adds an event; sub-agents may write at the same time as Claude itself."""
        parent, event = streamed.parent_tool_use_id, streamed.event
        match event.type:
            case "content_block_delta":
                if parent in self._speakers:
                    self._speakers[parent].fresh.append(event)
            case "message_start":
                self._speakers[parent] = _Speaker(self._session, _message_id(event))
            case "message_stop":
                self._speakers.pop(parent, None)
            case _:
                pass

    def whole(self, parent: str | None) -> None:
        """A block is complete and stored: its pending preview is dropped."""
        if parent in self._speakers:
            self._speakers[parent] = _Speaker(self._session, self._speakers[parent].message)

    def due(self, now: float) -> list[Preview]:
        """The previews to show now; none if the last ones were shown just before."""
        if now < self._next:
            return []
        previews = [preview for parent, speaker in self._speakers.items() for preview in speaker.take(parent)]
        if previews:
            self._next = now + INTERVAL * len(previews)
        return previews

    def wait(self, now: float) -> float | None:
        """Seconds until something is due; None if nothing is pending."""
        held_back = any(speaker.fresh for speaker in self._speakers.values())
        return max(0.0, self._next - now) if held_back else None


class _Speaker:
    """One message that is being written. Events are decoded when they are shown, which most never are."""

    def __init__(self, session: str, message: str) -> None:
        self._session = session
        self.message = message
        self.fresh: list[Event] = []
        self._pieces: dict[int, tuple[Kind, list[str]]] = {}

    def take(self, parent: str | None) -> list[Preview]:
        changed: set[int] = set()
        for event in self.fresh:
            delta, index = event.delta, event.index
            if delta is None or index is None:
                continue
            kind: Kind = "thinking" if delta.thinking else "text"
            piece = delta.thinking or delta.text
            if piece:
                self._pieces.setdefault(index, (kind, []))[1].append(piece)
                changed.add(index)
        self.fresh.clear()
        return [
            Preview(self._session, self.message, index, self._pieces[index][0], "".join(self._pieces[index][1]), parent)
            for index in sorted(changed)
        ]


class _Named(Struct):
    id: str = ""


def _message_id(event: Event) -> str:
    try:
        return msgspec.json.decode(event.message, type=_Named).id
    except msgspec.DecodeError:
        return ""
