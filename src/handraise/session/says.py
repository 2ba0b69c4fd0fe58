"""Messages to Claude: received, unfinished, or dropped unread. Never awaits."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from handraise.inbox import guidance
from handraise.model.actors import Person
from handraise.model.asks import Answered, Ask
from handraise.model.items import Notice
from handraise.model.sessions import Say
from handraise.session.commands import Command, Publish, Return, Take
from handraise.session.memory import Memory
from handraise.texts import t

# Claude writes its transcript a moment after it echoes a message: up to 0.1 s was seen.
_WRITTEN_DOWN = timedelta(seconds=2)


class SayTracker:
    """Its only state is `memory`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def received(self, say: str, now: datetime) -> list[Command]:
        """Claude echoes a message when it receives it."""
        self._memory.opening = self._memory.opening or say
        self._memory.unfinished[say] = now
        return [Take(say)]

    def became(self, say: str, state: str) -> list[Command]:
        """What Claude reports about a line. Some finish without an echo: refused by a hook, or a command."""
        if say in self._memory.unfinished or say in self._memory.finished:
            return []
        match state:
            case "completed":
                return [Take(say)]
            case "cancelled" | "refused":
                return [Publish(Notice("warning", t("sessions.notice.dropped"), "not taken"))]
            case _:  # what is discarded waits for the next process, like everything no process received
                return []

    def turn_ended(self) -> None:
        """Its messages are finished, however the turn ended."""
        self._memory.finished = list(self._memory.unfinished)
        self._memory.unfinished.clear()

    def cut_off(self, now: datetime) -> list[Command]:
        """Claude was killed: what it received just before may not be in its transcript.

        Sent again with the same id, it is only echoed if Claude had started to answer it.
        """
        return [Return(say) for say, received in self._memory.unfinished.items() if now - received < _WRITTEN_DOWN]

    def forgotten(self) -> list[Command]:
        """Claude lost the conversation: what it had not finished must be sent again."""
        return [Return(say) for say in self._memory.unfinished]


def messages_again(memory: Memory, says: Sequence[Say], asks: Sequence[Ask], now: datetime) -> list[Say]:
    """Besides the queued `says`: the opening message, and what people answered in the turn that was cut off."""
    # If the opening message itself was not finished, it is queued, and sent again as it was.
    opening = [say for say in says if say.id == memory.opening and say.taken_at is not None]
    return [*(guidance.reminder_say(say, memory.turn, now) for say in opening), *_answers(memory, says, asks)]


def _answers(memory: Memory, says: Sequence[Say], asks: Sequence[Ask]) -> list[Say]:
    cut_off = [say.at for say in says if say.id in memory.unfinished]
    if not cut_off:
        return []
    answered = [
        (ask, ask.settlement) for ask in asks if guidance.concerns_claude(ask) and ask.opened_at >= min(cut_off)
    ]
    return [
        guidance.missed_say(ask, settled)
        for ask, settled in answered
        if isinstance(settled, Answered) and isinstance(settled.by, Person)
    ]
