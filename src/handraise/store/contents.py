"""The feed contents for each change, the same for every store. Never decides whether the change took effect."""

from collections.abc import Sequence

from msgspec import json

from handraise.model.asks import Ask, Settlement, ask_as_json, settlement_as_json
from handraise.model.instructions import Instruction
from handraise.model.items import (
    ActionStarted,
    AskOpened,
    AskSettled,
    Content,
    InstructionGiven,
    InstructionSettled,
    MachineChanged,
    Said,
    Text,
)
from handraise.model.machines import Machine, machine_as_json
from handraise.model.plain_line import first_plain_line
from handraise.model.sessions import Say

_LONGEST_LINE = 160


def encode(content: Content) -> bytes:
    """The bytes shared by every follower."""
    return json.encode(content)


def opened(ask: Ask) -> AskOpened:
    """The whole ask."""
    return AskOpened(ask_as_json(ask))


def settled(ask: str, settlement: Settlement) -> AskSettled:
    """How the ask ended."""
    return AskSettled(ask, settlement_as_json(settlement))


def said(say: Say) -> Said:
    """A person's message: the text of its blocks, and the number of its images."""
    if isinstance(say.content, str):
        return Said(say.id, say.content, 0, say.by, say.source)
    texts = [str(block.get("text", "")) for block in say.content if block.get("type") == "text"]
    images = sum(block.get("type") == "image" for block in say.content)
    return Said(say.id, "\n".join(texts), images, say.by, say.source)


def given(wanted: Instruction) -> InstructionGiven:
    """What a person wants of a session elsewhere, without its words: those come when they are sent."""
    return InstructionGiven(wanted.id, wanted.kind, wanted.value, wanted.machine, wanted.by, wanted.source)


def carried_out(wanted: Instruction) -> InstructionSettled:
    """What became of it."""
    return InstructionSettled(wanted.id, wanted.state, wanted.reason, wanted.result)


def machine_changed(machine: Machine, *, forgotten: bool = False) -> MachineChanged:
    """The whole machine."""
    return MachineChanged(machine_as_json(machine), forgotten)


def last_line(published: Sequence[Content]) -> str | None:
    """The last activity among a session's items. Most of them are never looked at: the last one has it."""
    lines = map(line_of, reversed(published))
    return next((line for line in lines if line is not None), None)


def line_of(content: Content) -> str | None:
    """A session's last activity in one line, if this item shows it: Claude's own, not that of sub-agents."""
    match content:
        case Text(text=text, parent=None) | ActionStarted(title=text, parent=None):
            return first_plain_line(text)[:_LONGEST_LINE] or None
        case _:
            return None
