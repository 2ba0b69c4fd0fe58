"""The slots that sessions run in: which idle one makes room for a queued one, and what that waits for. Pure."""

from collections.abc import Mapping, Sequence

from handraise.model.items import Notice
from handraise.model.sessions import Session
from handraise.texts import t

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
    # Sessions that wait for a person first: an answer makes room without ending anything.
    ordered = sorted(busy, key=lambda each: (not open_asks.get(each.id), each.created_at))
    named = [_named(each, open_asks) for each in ordered[:_NAMED]]
    more = [t("sessions.queued.more", count=len(busy) - _NAMED)] if len(busy) > _NAMED else []
    names, way = ", ".join([*named, *more]), _way_out(ordered, open_asks)
    if project is None:
        return Notice("info", t("sessions.queued.behind", count=len(busy), names=names, way=way), "queued")
    text = t("sessions.queued.behind_in", count=len(busy), project=project, names=names, way=way)
    return Notice("info", text, "queued")


def _named(session: Session, open_asks: Mapping[str, int]) -> str:
    doing = _doing(session, open_asks)
    return t("sessions.queued.named", title=_short(session.title), session=session.id, doing=doing)


def _way_out(ordered: Sequence[Session], open_asks: Mapping[str, int]) -> str:
    if not ordered:
        return t("sessions.queued.raise")
    stop = f"handraise stop {ordered[0].id}"
    if open_asks.get(ordered[0].id):
        return t("sessions.queued.answer", inbox="handraise inbox", stop=stop)
    return t("sessions.queued.stop", stop=stop)


def _doing(session: Session, open_asks: Mapping[str, int]) -> str:
    return t("sessions.queued.waiting" if open_asks.get(session.id) else f"sessions.phase.{session.phase}")


def _short(title: str) -> str:
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
