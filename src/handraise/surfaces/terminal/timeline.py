"""The timeline: what a session says and does, as lines to print. Remembers only unfinished things. Pure.

Claude's text is indented by two columns; only Handraise writes to the first one. So no text can look like a card.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.model.actors import Person, is_me
from handraise.model.answers import Answer, Approve, Revise
from handraise.model.asks import Answered, Ask, Expired, Permission, Plan, Settlement, Withdrawn, was_completed
from handraise.model.items import (
    ActionChanged,
    ActionChecked,
    ActionDenied,
    ActionEnded,
    ActionStarted,
    DenialChanged,
    InstructionSettled,
    Item,
    Notice,
    Preview,
    Said,
    SaidTaken,
    SaidWithdrawn,
    SessionChanged,
    SessionEnded,
    SessionStarted,
    Text,
    TurnEnded,
    TurnStarted,
)
from handraise.model.tools import names_of
from handraise.model.usage import UsageLimit
from handraise.present.actions import doing, done, size_of_change
from handraise.present.denials import change_in_words
from handraise.present.evidence import evidence_of_call
from handraise.present.harmless import evidence, exactly, one_line, prose
from handraise.present.headlines import clipped, headline, title_of_plan
from handraise.present.outcomes import of_settlement
from handraise.present.states import ending_in_words
from handraise.surfaces.terminal import markdown
from handraise.surfaces.terminal.cards import evidence_rows
from handraise.surfaces.terminal.lines import BETWEEN, EMPTY, Line, Span, cut, fold, indent, line, width_of, wrap
from handraise.surfaces.terminal.markdown import Growing
from handraise.texts import clock, span, t

GUTTER: Span = ("", "  ")
_TAIL = 6
"""How many rows of an unfinished block are shown."""
_ASKS = names_of("question", "plan")
_LEVELS = {"info": "class:dim", "warning": "class:warning", "error": "class:danger", "alarm": "class:danger bold"}
"""How a notice of each level looks."""
_GLANCE = 60
_LEAST = 12
"""How many columns of a title are always shown."""
_SAID, _SAID_MOST = 8, 12
"""How many rows of a longer message are shown, and how many of it make one longer."""
_MOST_ROWS = 60
"""A denied call that takes more rows isn't shown, and can't be allowed from here."""


class RunningAction(Struct, frozen=True):
    """A running action."""

    title: str
    since: datetime
    parent: str | None
    tool: str
    is_ask: bool
    """Its card shows all of it."""
    checking: bool = False
    """Claude Code's automatic check takes long."""
    input: dict[str, Any] | None = None
    done: str = ""
    """The title once it has ended well."""
    size: str = ""
    """How large the change to a file is, if that is known better than from the input."""
    allowed: str = ""
    """Who allowed it, in a few words: shown with the action, in one line."""
    settled: tuple[Line, ...] = ()
    """The same as lines of their own, in case that it never ends."""


class Timeline(Struct):
    """Takes items and partial text, returns lines, each once."""

    working: bool = False
    queued: bool = False
    """It waits for other sessions, not for Claude."""
    since: datetime | None = None
    """When the current turn started, if that was seen."""
    mode: str = ""
    cost_usd: float = 0.0
    usage: tuple[UsageLimit, ...] = ()
    title: str = ""
    directory: str = ""
    terminal: str = ""
    """The machine where a person runs it in a terminal; empty if the hub runs it."""
    dialog: str = ""
    """What waits in that terminal and can be answered only there."""
    failed: str = ""
    ended: SessionEnded | None = None
    turns: int = 0
    interrupted: bool = False
    """A person ended the last turn."""
    cut_off: bool = False
    """The session ended in the middle of something."""
    doing: dict[str, RunningAction] = field(default_factory=dict)
    denied: dict[str, str] = field(default_factory=dict)
    """What Claude Code denied, by action: its title. The number of each is its place."""
    allowable: set[str] = field(default_factory=set)
    """The denied actions of which everything was shown."""
    waiting: dict[str, str] = field(default_factory=dict)
    """What was sent to Claude and not received yet."""
    refused: set[str] = field(default_factory=set)
    """Actions that were denied: a line of their own has said so."""
    _growing: dict[tuple[str, int], Growing] = field(default_factory=dict)
    _tail: tuple[tuple[str, int], str] | None = None
    _speaker: str | None = None
    """The action of the sub-agent that wrote the last text."""

    def receive(self, item: Item, width: int) -> list[Line]:
        """The lines that an item adds."""
        content = item.read()
        match content:
            case Text():
                return self._text(content, width)
            case ActionStarted(action=action, parent=parent, tool=tool):
                titles = doing(tool, content.title), done(tool, content.title)
                self.doing[action] = RunningAction(
                    titles[0], item.at, parent, tool, tool in _ASKS, input=content.input, done=titles[1]
                )
                return []
            case ActionChanged():
                return self._edited(content)
            case ActionChecked(action=action, checking=checking):
                if action in self.doing:
                    self.doing[action] = replace(self.doing[action], checking=checking)
                return []
            case ActionDenied():
                return self._denied(content, width)
            case DenialChanged():
                return self._denial(content, width)
            case ActionEnded():
                return self._ended(content, item.at, width)
            case TurnStarted():
                self.working, self.since = True, item.at
                return []
            case TurnEnded():
                return self._turn(content, width)
            case Said():
                self.waiting[content.say] = content.text
                return _said(content, width)
            case SaidTaken(say=say):
                self.waiting.pop(say, None)
                return []
            case SaidWithdrawn(say=say):
                withdrawn = self.waiting.pop(say, None)
                return [] if withdrawn is None else [line(("class:dim", t("terminal.timeline.taken_back")))]
            case InstructionSettled(state="refused", reason=reason):
                return wrap(line(("class:warning", t("terminal.timeline.undone", reason=one_line(reason)))), width, 2)
            case SessionStarted(mode=mode, title=title) | SessionChanged(mode=mode, title=title):
                self.mode, self.title = mode, title
                return self._changed(content)
            case SessionEnded():
                return self._end(content, width)
            case Notice(level=level, text=text):
                shown = one_line(text)
                marked = t("terminal.timeline.alarm", text=shown) if level == "alarm" else f"! {shown}"
                return wrap(line((_LEVELS[level], marked)), width, 2)
            case _:
                return []

    def preview(self, partial: Preview, width: int) -> list[Line]:
        """The blocks that partial text closed; the rest is in `tail`."""
        if partial.kind != "text" or partial.parent is not None:
            return []
        place = (partial.message, partial.index)
        growing = self._growing.setdefault(place, Growing())
        closed = growing.grow(partial.text)
        self._tail = (place, growing.open_end(partial.text))
        return [made for block in closed for made in _words(block, width)]

    def tail(self, width: int) -> list[Line]:
        """The end of the block that is being written."""
        if self._tail is None or not self._tail[1].strip():
            return []
        rows = [row for each in prose(self._tail[1]).strip("\n").split("\n") for row in wrap(line(each), width - 2)]
        return indent([line(("class:dim", "".join(text for _, text in row))) for row in rows[-_TAIL:]], GUTTER)

    def under_way(self, now: datetime, width: int) -> list[Line]:
        """One line for each running action."""
        lines = []
        for action in (each for each in self.doing.values() if not each.is_ask):
            inside, title = "  " if action.parent else "", self._short(action.title)
            checking = t("terminal.timeline.checking") if action.checking else ""
            facts = f"{_duration(action.since, now)}{checking}{_brief(action)}"
            lines.append(_action(("class:accent", "◌ "), inside + title, facts, width))
        return lines

    def forget_partial(self) -> None:
        """After a gap: partial text is sent again from its beginning."""
        self._tail = None

    def _text(self, content: Text, width: int) -> list[Line]:
        if content.parent is not None:
            return self._nested(content, content.parent, width)
        self._speaker = None
        growing, self._tail = Growing(), None
        for place in sorted(place for place in self._growing if place[0] == content.message):
            if content.text.startswith(self._growing[place].closed):
                growing = self._growing.pop(place)
                break
        rest = growing.finish(_with_breaks(content.text) if content.own is True else content.text)
        return _words(rest, width) if rest.strip() else []

    def _nested(self, content: Text, parent: str, width: int) -> list[Line]:
        """What a sub-agent writes, below the title of its action."""
        begun, margin = self.doing.get(parent), ("class:dim", "  ┆ ")
        named = begun is not None and self._speaker != parent
        head = [line(("class:dim", self._short(begun.title)))] if begun is not None and named else []
        self._speaker = parent
        return indent([*(cut(each, width - 4) for each in head), *markdown.render(content.text, width - 4)], margin)

    def _edited(self, content: ActionChanged) -> list[Line]:
        """What runs isn't what Claude asked for: the line says what does, and who edited it."""
        begun = self.doing.get(content.action)
        if begun is not None:
            titles = [
                t("card.doing.edited", title=named(begun.tool, content.title), name=content.by.name)
                for named in (doing, done)
            ]
            self.doing[content.action] = replace(begun, title=titles[0], done=titles[1])
        return []

    def allow(self, action: str | None, brief: str, settled: Sequence[Line], size: str = "") -> bool:
        """Shows who allowed a running action together with the action; False if it doesn't run.

        `size` is that of the change that was shown: it knows the file as it was before.
        """
        begun = self.doing.get(action) if action is not None else None
        if action is None or begun is None or begun.is_ask or not brief:
            return False
        self.doing[action] = replace(begun, allowed=one_line(brief), settled=tuple(settled), size=size)
        return True

    def refuse(self, action: str | None) -> None:
        """It won't run, and a line has said so: what Claude hears about it adds nothing."""
        if action is not None and action in self.doing:
            del self.doing[action]
            self.refused.add(action)

    def unfinished(self) -> list[Line]:
        """Who allowed what, for actions whose end isn't seen; once."""
        lines = [row for each in self.doing.values() for row in each.settled]
        self.doing = {name: replace(each, settled=()) for name, each in self.doing.items()}
        return lines

    def _denied(self, content: ActionDenied, width: int) -> list[Line]:
        """A line that names it and its number, the reason, and how to allow it if that is possible."""
        begun = self.doing.pop(content.action, None)
        title = begun.title if begun is not None else doing(content.tool, content.title)
        self.denied[content.action] = title
        number, inside = len(self.denied), "  " if content.parent else ""
        first = cut(line(("class:danger", f"✗ {number}. "), inside, self._short(title)), width)
        rows = wrap(line(GUTTER, ("class:warning", one_line(content.reason))), width, 2)
        if content.allowable_until is None:
            return [first, *rows]
        known = begun.input if begun is not None else None
        shown = _call(content.tool, known, content.dangers, width) if known is not None else []
        hint = t("terminal.timeline.allow_elsewhere")
        if 0 < len(shown) <= _MOST_ROWS:
            self.allowable.add(content.action)
            rows += shown
            hint = t("terminal.timeline.allow_hint", number=number, time=clock(content.allowable_until.astimezone()))
        return [first, *rows, *wrap(line(GUTTER, ("class:dim", hint)), width, 2)]

    def _denial(self, content: DenialChanged, width: int) -> list[Line]:
        if content.action not in self.denied:
            return []
        number = list(self.denied).index(content.action) + 1
        text = t("terminal.timeline.denial", number=number, text=one_line(change_in_words(content)))
        return wrap(line(("class:dim", f"· {text}")), width, 2)

    def denied_number(self, number: int) -> str | None:
        """The denied action with this number, if everything that it would do was shown."""
        action = list(self.denied)[number - 1] if 0 < number <= len(self.denied) else None
        return action if action in self.allowable else None

    def _ended(self, content: ActionEnded, at: datetime, width: int) -> list[Line]:
        begun = self.doing.pop(content.action, None)
        if (begun is not None and begun.is_ask) or content.action in self.denied or content.action in self.refused:
            return []
        inside = "  " if content.parent else ""
        duration = _duration(begun.since, at) if begun is not None else ""
        mark = ("class:good", "✓ ") if content.ok else ("class:danger", "✗ ")
        title, size, brief = content.title, "", ""
        if begun is not None:
            title, brief = begun.done if content.ok else begun.title, _brief(begun)
            size = begun.size or size_of_change(begun.tool, begun.input or {}) if content.ok else ""
        facts = f"{f'{BETWEEN}{size}' if size else ''}{duration}{brief}"
        first = _action(mark, inside + self._short(title), facts, width)
        if content.ok:
            return [first]
        output = [each for each in evidence(content.output).split("\n") if each.strip()][:3]
        return [first, *(cut(line(GUTTER, ("class:dim", f"  {each}")), width) for each in output)]

    def _short(self, title: str) -> str:
        """Paths inside the session's directory are shown relative to it."""
        shown = exactly(title)
        return shown.replace(f"{self.directory}/", "") if self.directory not in ("", "/") else shown

    def _turn(self, content: TurnEnded, width: int) -> list[Line]:
        self.working, self.since, self._tail = False, None, None
        self.turns += 1
        unfinished = self.unfinished()
        self.doing.clear()
        self.refused.clear()
        self._growing.clear()
        self.failed = (content.error or t("terminal.timeline.turn_failed")) if content.is_error else ""
        self.interrupted = content.interrupted
        seconds = content.duration_ms / 1000
        cost = t("terminal.timeline.turn", seconds=f"{seconds:.1f}", cost=f"{content.cost_usd:.4f}")
        summary = line(("class:dim", cost))
        if not content.is_error:
            return [*unfinished, EMPTY, cut(summary, width)]
        failed = wrap(line(("class:danger", f"✗ {one_line(self.failed)}")), width, 2)
        return [*unfinished, EMPTY, *failed, cut(summary, width)]

    def _changed(self, content: SessionStarted | SessionChanged) -> list[Line]:
        if isinstance(content, SessionStarted):
            self.ended, self.queued, self.cut_off, self.terminal = None, False, False, content.terminal
            return []
        self.working, self.cost_usd, self.usage = content.phase == "working", content.cost_usd, content.usage
        self.queued, self.dialog = content.phase == "queued", content.dialog
        return [line(("class:dim", f"· {one_line(content.note)}"))] if content.note else []

    def _end(self, content: SessionEnded, width: int) -> list[Line]:
        self.cut_off = self.working or bool(self.waiting)
        self.ended, self.working, self._tail, self.dialog = content, False, None, ""
        unfinished = self.unfinished()
        self.doing.clear()
        style = "class:danger" if content.how in ("failed", "lost") else "class:dim"
        return [*unfinished, *wrap(line((style, _ending(content))), width, 2)]


def _action(mark: Span, title: str, facts: str, width: int) -> Line:
    """On one row: a long title is cut, what happened is not."""
    room = max(_LEAST, width - width_of(mark[1]) - width_of(facts))
    return cut((mark, *cut(line(title), room), ("class:dim", facts)), width)


def _brief(action: RunningAction) -> str:
    return f"{BETWEEN}{action.allowed}" if action.allowed else ""


def _duration(since: datetime, until: datetime) -> str:
    """How long something took, if that is worth showing."""
    length = until - since
    return f"{BETWEEN}{span(length)}" if length.total_seconds() >= 1 else ""


def _with_breaks(text: str) -> str:
    """Markdown that keeps its line breaks."""
    return "\n".join(f"{row}  " if row.strip() else row for row in text.split("\n"))


def _words(block: str, width: int) -> list[Line]:
    return [EMPTY, *indent(markdown.render(block, width - 2), GUTTER)]


def _said(content: Said, width: int) -> list[Line]:
    text = content.text
    if content.images:
        text = t("terminal.timeline.with_images", text=text, count=content.images)
    rows = evidence(text).strip("\n").split("\n")
    # What came through a pipe can be a whole file: its beginning is enough to recognize it.
    made: list[Line] = []
    whole = 0
    for each in rows[: _SAID_MOST + 1]:
        made += fold(line(("bold", each)), width - 2)
        whole += len(made) <= _SAID
    if len(made) > _SAID_MOST:
        more = t("terminal.timeline.said_more", count=len(rows) - whole)
        made = [*made[:_SAID], line(("class:dim", more))]
    return [
        EMPTY,
        *((("class:accent" if at == 0 else "", "› " if at == 0 else "  "), *each) for at, each in enumerate(made)),
    ]


def _ending(content: SessionEnded) -> str:
    return t("terminal.timeline.ended", how=ending_in_words(content.how), reason=one_line(content.reason))


def unsent_text(text: str, width: int) -> list[Line]:
    """Text that nobody can send any more: shown, since there is no composer that could keep it."""
    rows = [row for each in evidence(text).strip("\n").split("\n") for row in fold(line(each), width - 4)]
    return [line(GUTTER, ("class:warning", t("terminal.feed.unsent_text"))), *indent(rows, ("class:dim", "    "))]


def settled_line(ask: Ask, settlement: Settlement, me: Person, directory: str | None = None) -> str:
    """How an ask really ended, on one line; "You" for what was done from this very terminal."""
    outcome = of_settlement(ask, settlement, directory)
    match settlement:
        case Answered(answer=answer, at=at) if was_completed(ask, settlement):
            text = _about(ask, answer, outcome.text, directory)
            return t("terminal.feed.ended", outcome=text, time=clock(at.astimezone()))
        case (
            Answered(answer=answer, by=by, source=source, at=at)
            | Expired(late=Answered(answer=answer, by=by, source=source, at=at))
        ):
            text = _about(ask, answer, outcome.yours if is_me(by, me) else outcome.text, directory)
            time = clock(at.astimezone())
            line = t("terminal.feed.settled", outcome=text, source=one_line(source), time=time)
            return line if isinstance(settlement, Answered) else t("terminal.feed.guidance", outcome=line)
        case Expired(at=at) | Withdrawn(at=at):
            text = t("terminal.feed.about", outcome=one_line(outcome.text), about=_glance(ask, directory))
            return t("terminal.feed.ended", outcome=text, time=clock(at.astimezone()))
        case _:
            assert_never(settlement)


def _about(ask: Ask, answer: Answer, outcome: str, directory: str | None) -> str:
    """Adds the subject to an outcome that doesn't name it."""
    text = one_line(outcome)
    match ask.body, answer:
        case Permission(), _:
            return text
        case Plan(plan=plan), Approve() | Revise() if title_of_plan(plan):
            return text
        case _:
            pass
    return t("terminal.feed.about", outcome=text, about=_glance(ask, directory))


def _glance(ask: Ask, directory: str | None) -> str:
    return clipped(one_line(headline(ask, directory)), _GLANCE)


def _call(tool: str, fields: dict[str, Any], dangers: Sequence[str], width: int) -> list[Line]:
    """Everything that a call would do."""
    shown = (evidence_rows(each, width - 2) for each in evidence_of_call(tool, fields, dangers))
    return indent([row for rows in shown for row in rows], GUTTER)
