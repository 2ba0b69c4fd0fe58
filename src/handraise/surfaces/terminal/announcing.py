"""The terminal's title, and desktop notifications: sequences that a terminal obeys.

Foreign text in them is on one line, printable and short. A notification has none.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from handraise.present.harmless import one_line
from handraise.surfaces.terminal.lines import BETWEEN, cut, line, text_of
from handraise.surfaces.terminal.view import ViewState
from handraise.texts import t

Protocol = Literal["osc9", "osc777"]

TOGETHER = 0.3
"""Requests that arrive within this many seconds are one notification."""
_TITLE = 60
_PUSH_TITLE, _POP_TITLE = "\x1b[22;0t", "\x1b[23;0t"
# A terminal that can't restore its title shows its own default instead of an old state of ours.
_NO_TITLE = "\x1b]0;\x07"
_WITHOUT = ("linux", "dumb")
"""Terminals that have no title and no notifications, by the beginning of `$TERM`."""
_BY_777 = ("VTE_VERSION",)
_TERMS_777 = ("rxvt", "foot")


class Announcements(Struct, frozen=True):
    """What this person wants to hear, in a way that their terminal understands."""

    title: bool = False
    notifications: Protocol | None = None


def announcements(title: bool, notifications: str, environment: Mapping[str, str]) -> Announcements:
    """`notifications`: off, on, or a sequence by name. `on` chooses the sequence that this terminal knows."""
    term = environment.get("TERM", "dumb")
    if term.startswith(_WITHOUT):
        return Announcements()
    known: Protocol = "osc9"
    if term.startswith(_TERMS_777) or any(environment.get(each) for each in _BY_777):
        known = "osc777"
    match notifications:
        case "on":
            return Announcements(title, known)
        case "osc9" | "osc777":
            return Announcements(title, notifications)
        case _:
            return Announcements(title)


def title_of(view: ViewState) -> str:
    """How many requests are open, and the session that is followed."""
    count = len(view.stack.waiting)
    state = t("terminal.announce.waiting", count=count) if count else t("terminal.announce.quiet")
    name = one_line(view.timeline.title or view.session.title) if view.session is not None else ""
    return BETWEEN.join(each for each in (state, name) if each)


def title(text: str) -> str:
    """Sets the title of window and tab."""
    return f"\x1b]0;{_harmless(text)}\x07"


def notification(count: int, protocol: Protocol) -> str:
    """A notification that so many requests are open, and nothing else about them."""
    text = _harmless(t("terminal.announce.notice", count=count))
    return f"\x1b]9;{text}\x07" if protocol == "osc9" else f"\x1b]777;notify;Handraise;{text}\x07"


class Announcer:
    """Writes them to a terminal, and restores its title."""

    def __init__(self, wanted: Announcements, write: Callable[[str], None]) -> None:
        self._wanted = wanted
        self._write = write
        self._shown: str | None = None

    def show(self, text: str) -> None:
        """The title, if it has changed."""
        if not self._wanted.title or text == self._shown:
            return
        self._write((_PUSH_TITLE if self._shown is None else "") + title(text))
        self._shown = text

    def restore(self) -> None:
        """The title that the terminal had before."""
        if self._shown is not None:
            self._write(_NO_TITLE + _POP_TITLE)
            self._shown = None

    def notify(self, count: int) -> None:
        """That a person is needed."""
        if count and self._wanted.notifications is not None:
            self._write(notification(count, self._wanted.notifications))


def _harmless(text: str) -> str:
    # A semicolon separates the fields of a notification.
    shown = "".join(letter for letter in one_line(text).replace(";", ",") if letter.isprintable())
    return text_of(cut(line(shown), _TITLE))
