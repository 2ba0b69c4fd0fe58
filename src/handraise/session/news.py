"""What a runner learns: from Claude, from people, from the store, and from itself."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from handraise.session.commands import AnswerAgain, Command, Fact, Wish
from handraise.wire.frames import Frame


class Wished(Struct, frozen=True):
    """Somebody wants something, and waits for `done`."""

    wish: Wish
    done: asyncio.Future[None]


class SayQueued(Struct, frozen=True):
    """A message is queued in the store."""


class Grown(Struct, frozen=True):
    """Claude wrote more."""


class Behind(Struct, frozen=True):
    """These frames follow from decisions that have to be read from the store first."""

    received: Sequence[Frame]


class Unwritten(Struct, frozen=True):
    """Claude has to read other lines before these."""

    wanted: Sequence[Command]
    lines: Sequence[bytes]


class PreviewsDue(Struct, frozen=True):
    """Partial text is pending."""


class Failed(Struct, frozen=True):
    """The session can't continue here: what was decided can't be stored, for example."""

    why: Exception


News = Grown | Behind | Unwritten | Fact | Wished | SayQueued | PreviewsDue | Failed | AnswerAgain
