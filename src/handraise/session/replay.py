"""Rebuilds a session's timeline from its journal alone. Never makes up what a journal doesn't hold: who answered,
by which rule, and messages that Claude never received. Pure."""

import re
from datetime import UTC, datetime

from handraise.model.actors import Person
from handraise.model.asks import Withdrawn
from handraise.model.items import AskDelivered, Content, Item, Said, SaidTaken
from handraise.session.commands import Command, Deliver, FrameReceived, Publish, Raise, Take, Withdraw
from handraise.session.machine import SessionLimits, SessionMachine
from handraise.session.memory import Memory
from handraise.store.contents import encode, opened, settled
from handraise.wire.connection import Connection, Received
from handraise.wire.frames import Frame, ImageBlock, TextBlock, User

SOMEBODY = Person("somebody")
SOURCE = "journal"
_WHEN = re.compile(rb'"timestamp":"([^"]{10,40})"')


class Replay:
    """Takes chunks of a journal, returns the items, numbered from 1."""

    def __init__(self, session: str, since: datetime, offset: int = 0) -> None:
        self._session = session
        self._now = since
        self._cursor = 0
        self._memory = Memory()
        self._wire = Connection(offset)
        self._machine = SessionMachine(session, None, self._memory, self._wire, SessionLimits())

    def receive(self, chunk: bytes) -> list[Item]:
        """The items of the lines that this chunk completes."""
        if not self._wire.offset:
            self._now = _when(chunk) or self._now  # what comes before the first timestamp was not later
        return [item for each in self._wire.receive(chunk) for item in self._hear(each)]

    def receive_end(self) -> list[Item]:
        """The journal has ended: an incomplete last line becomes a notice."""
        return [item for each in self._wire.receive_end() for item in self._hear(each)]

    def _hear(self, received: Received) -> list[Item]:
        self._now = _when(received.text) or self._now
        contents = _say_in(received.frame)
        for command in self._machine.observe(FrameReceived(received.frame), self._now):
            contents += self._contents(command)
        return [self._item(content) for content in contents]

    def _contents(self, command: Command) -> list[Content]:
        match command:
            case Publish(content=content):
                return [content]
            case Raise(ask=ask):
                # The answer is not in the journal: it shows only that Claude continued.
                self._memory.requests[ask.origin.reference].settled = True
                return [opened(ask)]
            case Withdraw(ask=ask_id, reason=reason):
                return [settled(ask_id, Withdrawn(reason, self._now))]
            case Deliver(ask=ask_id):
                return [AskDelivered(ask_id)]
            case Take(say=say):
                return [SaidTaken(say)]
            case _:
                return []

    def _item(self, content: Content) -> Item:
        self._cursor += 1
        return Item(self._cursor, self._session, self._now, encode(content))


def _say_in(frame: Frame) -> list[Content]:
    """A person's message is in the journal as Claude's echo."""
    match frame:
        case User(is_replay=True, uuid=str() as say, message=message):
            if isinstance(message.content, str):
                return [Said(say, message.content, 0, SOMEBODY, SOURCE)]
            text = "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
            images = sum(isinstance(block, ImageBlock) for block in message.content)
            return [Said(say, text, images, SOMEBODY, SOURCE)]
        case _:
            return []


def _when(line: bytes) -> datetime | None:
    found = _WHEN.search(line)
    try:
        when = datetime.fromisoformat(found[1].decode()) if found else None
    except ValueError:
        return None
    return when if when is None or when.tzinfo else when.replace(tzinfo=UTC)
