"""What a Claude that remembers nothing of a conversation is told of it, so that nothing a person said is lost. Pure."""

from collections.abc import Sequence
from datetime import datetime

from handraise.inbox import guidance
from handraise.model.actors import Person
from handraise.model.asks import Answered, Ask
from handraise.model.says import Say
from handraise.session.memory import Memory


def said_anew(memory: Memory, says: Sequence[Say], asks: Sequence[Ask], now: datetime) -> list[Say]:
    """Beside those of `says` that wait: how it all began, and what people answered in the turn that was cut off."""
    # Where the opening itself was not finished, it waits, and is said again as it was.
    opening = [say for say in says if say.id == memory.opening and say.taken_at is not None]
    return [*(guidance.reminder_say(say, memory.turn, now) for say in opening), *_answers(memory, says, asks)]


def _answers(memory: Memory, says: Sequence[Say], asks: Sequence[Ask]) -> list[Say]:
    cut_off = [say.at for say in says if say.id in memory.unfinished]
    if not cut_off:
        return []
    answered = [(ask, ask.settlement) for ask in asks if ask.kind != "trust" and ask.opened_at >= min(cut_off)]
    return [
        guidance.missed_say(ask, settled)
        for ask, settled in answered
        if isinstance(settled, Answered) and isinstance(settled.by, Person)
    ]
