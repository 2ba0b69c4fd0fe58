"""What was said to Claude: what it took up, what it has not finished, what it dropped unread. Never awaits."""

from datetime import datetime, timedelta

from handraise.model.items import Notice
from handraise.session.commands import Command, Publish, Return, Take
from handraise.session.memory import Memory

# Claude writes its transcript down a moment after it has echoed what it took up: 0.1 s was seen.
_WRITTEN_DOWN = timedelta(seconds=2)
_DROPPED = "Claude dropped something that was said before it had read it. It waits, and is said to the next process."


class SayTracker:
    """`memory` is all that it keeps."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def taken(self, say: str, now: datetime) -> list[Command]:
        """Claude echoes what it takes up."""
        self._memory.opening = self._memory.opening or say
        self._memory.unfinished[say] = now
        return [Take(say)]

    def became(self, say: str, state: str) -> list[Command]:
        """What Claude tells of a line. Some are done with and never echoed: a hook refused it, or it was a command."""
        if say in self._memory.unfinished or say in self._memory.finished:
            return []
        match state:
            case "completed":
                return [Take(say)]
            case "cancelled" | "refused":
                return [Publish(Notice("warning", _DROPPED, "not taken"))]
            case _:  # what is discarded waits for the next process, like all that no process took
                return []

    def turn_ended(self) -> None:
        """What belonged to it is finished, however it ended."""
        self._memory.finished = list(self._memory.unfinished)
        self._memory.unfinished.clear()

    def cut_off(self, now: datetime) -> list[Command]:
        """Claude was killed: what it took up just before may not be in its transcript.

        Said again under the same id, it is only echoed where Claude had begun to answer it.
        """
        return [Return(say) for say, taken in self._memory.unfinished.items() if now - taken < _WRITTEN_DOWN]

    def forgotten(self) -> list[Command]:
        """Claude remembers nothing of the conversation: what it had not finished is to be said again."""
        return [Return(say) for say in self._memory.unfinished]
