"""Sessions in words: a list of them, one of them, and its permission mode. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from handraise.desk.interface import SessionSummary
from handraise.model.projects import Project
from handraise.model.sessions import Session, state_of
from handraise.present.headlines import clipped, one_line
from handraise.present.states import state_in_words
from handraise.surfaces.telegram.formatted import Formatted, bold, italic, join
from handraise.texts import t

MOST_LISTED = 10
_TITLE = 60
_LABEL = 40
_LAST_LINE = 200
_NAMED_MODES = ("default", "acceptEdits", "plan", "dontAsk", "auto", "manual", "bypassPermissions")


def title_of(session: Session) -> str:
    """The session's title for a sentence."""
    return short_title(session.title)


def short_title(title: str) -> str:
    """A title on one line, with nothing hidden."""
    return clipped(one_line(title), _TITLE) or t("sessions.untitled")


def mode_name(mode: str) -> str:
    """A permission mode in words; one that is unknown by its own name."""
    return t(f"telegram.session.mode.name.{mode}") if mode in _NAMED_MODES else one_line(mode)


def listed(summaries: Iterable[SessionSummary]) -> list[SessionSummary]:
    """Those worth listing: the ones that haven't ended first, then the latest."""
    latest = sorted(summaries, key=lambda each: each.session.changed_at, reverse=True)
    return sorted(latest, key=lambda each: each.session.ended is not None)[:MOST_LISTED]


def session_list(summaries: Sequence[SessionSummary], projects: Mapping[str, Project]) -> Formatted:
    """Two lines each, numbered like their buttons."""
    lines = [
        join("\n", (bold(f"{number}. {title_of(each.session)}"), _state_line(each, projects)))
        for number, each in enumerate(summaries, 1)
    ]
    return join("\n\n", lines)


def label_of(number: int, session: Session) -> str:
    """What the button of a listed session says."""
    return f"{number}. {clipped(title_of(session), _LABEL)}"


def described(summary: SessionSummary, projects: Mapping[str, Project]) -> Formatted:
    """One session, with the last thing that happened in it."""
    mode = t("telegram.session.mode.is", mode=mode_name(summary.session.mode))
    last = clipped(one_line(summary.last_line), _LAST_LINE)
    parts: list[Formatted | str] = [bold(title_of(summary.session)), _state_line(summary, projects), mode]
    return join("\n", [*parts, *([italic(last)] if last else []), t("telegram.session.reply_hint")])


def _state_line(summary: SessionSummary, projects: Mapping[str, Project]) -> str:
    session = summary.session
    project = projects.get(session.project or "")
    where = project.name if project else session.directory
    asks = t("telegram.session.open_asks", count=summary.open_asks) if summary.open_asks else ""
    state = state_in_words(state_of(session, 0) if summary.open_asks else state_of(session, summary.open_asks))
    return " · ".join(one_line(each) for each in (state, where, asks) if each)
