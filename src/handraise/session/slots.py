"""The slots that sessions run in: which idle one makes room for a queued one, and what that waits for. Pure."""

from collections.abc import Mapping, Sequence

from handraise.model.items import Notice
from handraise.model.sessions import Session

_NAMED = 3
_TITLE = 40


class SlotTracker:
    """Changes in progress, so that no session is parked for nothing."""

    def __init__(self) -> None:
        self._making: dict[str, str] = {}
        """The session being parked, and for which one."""
        self._unwilling: set[str] = set()
        """Idle, but not to be parked until it has worked and become idle again."""
        self._notified: set[str] = set()

    def is_being_made_for(self, queued: str) -> bool:
        return queued in self._making.values()

    def give_up(self, rivals: Sequence[Session], queued: str) -> str | None:
        """The session that has been idle the longest; it counts as being parked from here on."""
        willing = [
            each
            for each in rivals
            if each.phase == "idle" and each.id not in self._making and each.id not in self._unwilling
        ]
        if not willing:
            return None
        chosen = min(willing, key=lambda each: each.changed_at).id
        self._making[chosen] = queued
        return chosen

    def refused(self, session: str) -> None:
        """It can't be parked now."""
        self._making.pop(session, None)
        self._unwilling.add(session)

    def rested(self, session: str) -> None:
        """It has become idle."""
        self._unwilling.discard(session)

    def left(self, session: str) -> None:
        """Its Claude has exited."""
        self._making.pop(session, None)
        self._unwilling.discard(session)

    def assigned(self, session: str) -> None:
        """It was queued, and now runs."""
        self._notified.discard(session)
        self._making = {each: queued for each, queued in self._making.items() if queued != session}

    def is_news(self, queued: str) -> bool:
        """Whether a queued session has not yet reported what it waits for."""
        is_news = queued not in self._notified
        self._notified.add(queued)
        return is_news


def behind(busy: Sequence[Session], open_asks: Mapping[str, int], project: str | None = None) -> Notice:
    """What a session is queued behind, and how to make room; `project` is the one whose own limit is reached."""
    count = f"{len(busy)} session{'' if len(busy) == 1 else 's'}{f' in {project}' if project else ''}"
    # Sessions that wait for a person first: an answer makes room without ending anything.
    ordered = sorted(busy, key=lambda each: (not open_asks.get(each.id), each.created_at))
    named = [f"“{_short(each.title)}” ({each.id}, {_doing(each, open_asks)})" for each in ordered[:_NAMED]]
    more = [f"{len(busy) - _NAMED} more"] if len(busy) > _NAMED else []
    answer = "answer with “handraise inbox”, or " if any(open_asks.get(each.id) for each in busy) else ""
    stop = f"stop one with “handraise stop {ordered[0].id}”" if ordered else "raise the limit"
    return Notice(
        "info", f"Queued behind {count}: {', '.join([*named, *more])}. To make room, {answer}{stop}.", "queued"
    )


def _doing(session: Session, open_asks: Mapping[str, int]) -> str:
    return "waiting for your answer" if open_asks.get(session.id) else session.phase


def _short(title: str) -> str:
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
