"""The progress of one session as one message: what Claude does, its last lines, and for how long. Pure."""

from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.model.actors import Person
from handraise.model.items import (
    ActionChanged,
    ActionDenied,
    ActionEnded,
    ActionStarted,
    AskOpened,
    AskSettled,
    DenialChanged,
    Item,
    Notice,
    Preview,
    Said,
    SaidTaken,
    SessionChanged,
    SessionEnded,
    SessionStarted,
    Text,
    TurnEnded,
    TurnStarted,
)
from handraise.model.names import reveal
from handraise.model.tools import names_of
from handraise.present.actions import doing
from handraise.present.headlines import clipped, one_line
from handraise.present.states import state_in_words
from handraise.surfaces.telegram.formatted import Formatted, bold, italic, join
from handraise.texts import span, t

OWN_SOURCE = "telegram"
_STEPS = 5
"""How many finished actions are shown."""
_RUNNING = 5
_STEP = 120
_TITLE = 80
_TAIL_LINES = 8
_TAIL = 800
_TAIL_READ = 20_000
"""Characters that are looked at, at every beat, of what may be a megabyte."""
_ASKS = names_of("question", "plan")
_AT_WORK = ("queued", "starting", "working")
_SERIOUS = ("error", "alarm")


class TurnOver(Struct, frozen=True):
    """A turn ended. `text` is Claude's answer, or the last thing it said."""

    cursor: int
    ended: TurnEnded
    text: str


class SessionOver(Struct, frozen=True):
    """The session ended. `cut_off`: in the middle of something."""

    cursor: int
    ended: SessionEnded
    cut_off: bool


class Alert(Struct, frozen=True):
    """Something went wrong that people should know of at once."""

    cursor: int
    notice: Notice


class CallDenied(Struct, frozen=True):
    """Claude Code denied a call without asking, and a person may allow it. `input` is None if it isn't known."""

    cursor: int
    denied: ActionDenied
    input: dict[str, Any] | None


class DenialOver(Struct, frozen=True):
    """A denied call was allowed, here or elsewhere, or can't be allowed any more."""

    cursor: int
    action: str


MessageOutcome = TurnOver | SessionOver | Alert | CallDenied
"""What is a message of its own."""
ProgressOutcome = MessageOutcome | DenialOver


class EditPace(Struct, frozen=True):
    """How often a message may change, in seconds: with news, and when only time has passed."""

    news: float
    time: float
    refresh: float | None = None
    """After this long it is sent again, even unchanged."""


PRIVATE = EditPace(3.0, 15.0)
GROUP = EditPace(6.0, 30.0)
DRAFT = EditPace(1.0, 10.0, 20.0)
"""Telegram removes a draft after 30 s."""
FIRST = 1.5
"""A turn that is over sooner has no progress message."""


class ProgressText(Struct, frozen=True):
    """What the message shows. `news` is the part that doesn't change with time alone."""

    content: Formatted
    news: str


class ShownProgress(Struct, frozen=True):
    """What it shows since when."""

    text: ProgressText
    at: datetime


class _Step(Struct, frozen=True):
    title: str
    tool: str
    is_ask: bool
    nested: bool
    input: dict[str, Any]


class Progress(Struct):
    """Receives everything that happens in one session. `is_open` while there is something to show."""

    title: str = ""
    directory: str = ""
    is_open: bool = False
    since: datetime | None = None
    """When this stretch of work started."""
    phase: str = ""
    note: str = ""
    interrupting: bool = False
    """Someone pressed Stop, and the turn isn't over yet."""
    _running: dict[str, _Step] = field(default_factory=dict)
    _finished: list[str] = field(default_factory=list)
    _text: str = ""
    _queued: dict[str, str] = field(default_factory=dict)
    _asks: set[str] = field(default_factory=set)

    def receive(self, item: Item) -> ProgressOutcome | None:
        """What an item ends or reports; None if it only changes what is shown."""
        content = item.read()
        match content:
            case TurnEnded():
                return self._turn_over(content, item.cursor)
            case SessionEnded():
                return self._session_over(content, item.cursor)
            case Notice(level=level, text=text):
                self.note = one_line(text)
                return Alert(item.cursor, content) if level in _SERIOUS else None
            case ActionDenied():
                return self._denied(content, item.cursor)
            case DenialChanged(action=action):
                return DenialOver(item.cursor, action)
            case TurnStarted():
                self._open(item.at)
                self.phase = "working"
            case SessionStarted(title=title) | SessionChanged(title=title):
                self.title = title
                self._changed(content, item.at)
            case Said() | SaidTaken() | AskOpened() | AskSettled():
                self._people(content, item.at)
            case _:
                self._claude(content)
        return None

    def preview(self, partial: Preview) -> None:
        """Text that Claude is writing."""
        if partial.kind == "text" and partial.parent is None:
            self._text = partial.text

    def show(self, now: datetime) -> ProgressText:
        """The message as it should be now."""
        body = self._body()
        state = self._state()
        elapsed = span(now - self.since) if self.since else ""
        status = " · ".join(each for each in (state, elapsed) if each)
        head = join("\n", (bold(clipped(one_line(self.title), _TITLE) or t("sessions.untitled")), italic(status)))
        parts = [head, *(Formatted(part) for part in body)]
        return ProgressText(join("\n\n", parts), "\n".join((self.title, state, *body)))

    def _claude(self, content: object) -> None:
        match content:
            case Text(parent=None, text=text):
                self._text = text
            case ActionStarted(action=action, tool=tool, parent=parent):
                title = doing(tool, content.title)
                self._running[action] = _Step(title, tool, tool in _ASKS, parent is not None, content.input)
            case ActionChanged(action=action, title=title) if action in self._running:
                step = self._running[action]
                edited = t("card.doing.edited", title=doing(step.tool, title), name=content.by.name)
                self._running[action] = replace(step, title=edited)
            case ActionEnded(action=action, ok=ok):
                step_ended = self._running.pop(action, None)
                if step_ended is not None and not step_ended.is_ask:
                    self._finish("✓" if ok else "✗", step_ended.title)
            case _:
                pass

    def _denied(self, denied: ActionDenied, cursor: int) -> CallDenied | None:
        step = self._running.pop(denied.action, None)
        title = doing(denied.tool, denied.title)
        self._finish("✗", t("telegram.session.denied", title=title, reason=denied.reason))
        if denied.allowable_until is None:
            return None
        return CallDenied(cursor, denied, step.input if step is not None else None)

    def _people(self, content: Said | SaidTaken | AskOpened | AskSettled, at: datetime) -> None:
        match content:
            case Said(say=say, text=text, by=by, source=source):
                self._open(at)
                self._queued[say] = text
                if source != OWN_SOURCE and isinstance(by, Person):
                    self._finish("›", t("telegram.session.from", name=by.name, source=source, text=text))
            case SaidTaken(say=say):
                self._queued.pop(say, None)
            case AskOpened(ask=ask):
                if ask.get("settlement") is None:
                    self._asks.add(str(ask.get("id", "")))
            case AskSettled(ask=name):
                self._asks.discard(name)

    def _changed(self, content: SessionStarted | SessionChanged, at: datetime) -> None:
        if isinstance(content, SessionStarted):
            self.directory = content.directory
            return
        self.phase = content.phase
        if content.phase in _AT_WORK:
            self._open(at)
        if content.note or content.phase != "queued":
            self.note = one_line(content.note)

    def _open(self, at: datetime) -> None:
        if not self.is_open:
            self.is_open, self.since = True, at
            self._finished.clear()
            self._text, self.note = "", ""

    def _turn_over(self, ended: TurnEnded, cursor: int) -> TurnOver:
        text = ended.result if ended.result.strip() else self._text
        self._close()
        return TurnOver(cursor, ended, text)

    def _session_over(self, ended: SessionEnded, cursor: int) -> SessionOver:
        cut_off = self.is_open
        self._close()
        self._queued.clear()
        self._asks.clear()
        self.phase = "ended"
        return SessionOver(cursor, ended, cut_off)

    def _close(self) -> None:
        self.is_open, self.since, self.interrupting = False, None, False
        self._running.clear()
        self._finished.clear()
        self._text, self.note = "", ""

    def _finish(self, mark: str, title: str) -> None:
        self._finished.append(f"{mark} {self._short(title)}")
        del self._finished[:-_STEPS]

    def _short(self, title: str) -> str:
        """On one line; paths inside the session's directory are relative to it."""
        shown = one_line(title)
        if self.directory not in ("", "/"):
            shown = shown.replace(f"{self.directory}/", "")
        return clipped(shown, _STEP)

    def _state(self) -> str:
        if self.interrupting:
            return t("telegram.session.interrupting")
        return state_in_words("needs you" if self._asks else self.phase or "starting")

    def _body(self) -> list[str]:
        running = [each for each in self._running.values() if not each.is_ask]
        steps = [*self._finished, *(f"◌ {self._short(each.title)}" for each in running[-_RUNNING:])]
        if len(running) > _RUNNING:
            steps.append(t("telegram.session.more_running", count=len(running) - _RUNNING))
        # Before Claude runs, the message that started it is no news.
        waiting = len(self._queued) if self.phase == "working" else 0
        queued = t("telegram.session.queued", count=waiting) if waiting else ""
        return [part for part in ("\n".join(steps), _tail(self._text), self.note, queued) if part]


def is_due(pace: EditPace, shown: ShownProgress | None, text: ProgressText, now: datetime) -> bool:
    """Whether the message should change now: paced, and only if there is something to change."""
    if shown is None:
        return True
    age = (now - shown.at).total_seconds()
    if pace.refresh is not None and age >= pace.refresh:
        return True
    if age < pace.news or text.content == shown.text.content:
        return False
    return text.news != shown.text.news or age >= pace.time


def is_worth_starting(since: datetime | None, now: datetime) -> bool:
    """Whether the work takes long enough for a message of its own."""
    return since is None or now - since >= timedelta(seconds=FIRST)


def _tail(text: str) -> str:
    """The end of what Claude writes."""
    end = text.rstrip()[-_TAIL_READ:]
    lines = [line.rstrip() for line in reveal(end.replace("\r\n", "\n")).strip().split("\n")]
    tail = "\n".join(lines[-_TAIL_LINES:])
    if len(tail) > _TAIL:
        tail = tail[-_TAIL:]
        return f"…{tail}"
    return f"…\n{tail}" if len(lines) > _TAIL_LINES else tail
