"""The search: which items of a timeline contain all words of a query, and the lines to show of them. Pure.

A query is plain text: nothing in it is a pattern. Upper and lower case are the same.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from handraise.model.actors import Person
from handraise.model.items import (
    ActionEnded,
    ActionStarted,
    AskOpened,
    Content,
    Item,
    Notice,
    Said,
    Text,
    Thinking,
)
from handraise.model.names import reveal
from handraise.model.plain_line import plain_line
from handraise.model.tools import tool_named

LONGEST = 200
MOST_WORDS = 6
_BEFORE, _AFTER = 60, 140
_MOST_TEXT = 100_000
_RUN = re.compile(r"[A-Za-z0-9]+")
_PREFIXES = tuple(
    f'{{"type":"{each}"'.encode()
    for each in ("said", "text", "thinking", "action.started", "action.ended", "ask.opened", "notice")
)
"""How the contents of items start that are searched; all others aren't read."""

_WRITTEN = ("said", "text", "thinking", "request")
"""What may be Markdown."""
FoundKind = Literal["said", "text", "thinking", "action", "output", "request", "notice"]


_BY: dict[str, tuple[FoundKind, ...]] = {
    "people": ("said",),
    "claude": ("text", "thinking", "action", "request"),
    "tools": ("output",),
}


class SearchFilter(Struct, frozen=True):
    """Where to look, besides the words. `project` is an ID or a directory, `state` a session's state or `running`."""

    project: str | None = None
    state: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    by: str | None = None
    """`people`, `claude` or `tools`; anything else is a person's name."""


NO_FILTER = SearchFilter()


class Query(Struct, frozen=True):
    """The words, in lower case. Without words, nothing is found."""

    words: tuple[str, ...]
    sessions: frozenset[str] | None = None
    """Only in these; None: in all."""
    since: datetime | None = None
    until: datetime | None = None
    by: str | None = None

    @property
    def runs(self) -> tuple[str, ...]:
        """For each word, letters and digits that stand like this in the JSON of every item that contains it."""
        return tuple(max(_RUN.findall(word), key=len, default="") for word in self.words)

    def covers(self, item: Item) -> bool:
        """Whether the item is where it should be looked for."""
        if self.sessions is not None and item.session not in self.sessions:
            return False
        return (self.since is None or item.at >= self.since) and (self.until is None or item.at < self.until)

    def is_by(self, kind: FoundKind, content: Content) -> bool:
        """Whether it comes from whom it should come from."""
        if self.by is None or self.by in _BY:
            return self.by is None or kind in _BY[self.by]
        return isinstance(content, Said) and isinstance(content.by, Person) and content.by.name == self.by

    def fits(self, text: str) -> bool:
        """Whether a text contains every word."""
        lowered = text.lower()
        return bool(self.words) and all(word in lowered for word in self.words)


class SearchHit(Struct, frozen=True):
    """An item that was found. `text` is on one line around the first match, with nothing hidden in it."""

    cursor: int
    session: str | None
    at: datetime
    kind: FoundKind
    text: str


class SearchPage(Struct, frozen=True):
    """Newest first. `next` is where to continue; None if everything was searched."""

    found: tuple[SearchHit, ...]
    next: int | None = None


def read_query(text: str) -> Query:
    """The words of what a person typed; what is too long is cut."""
    return Query(tuple(dict.fromkeys(text[:LONGEST].lower().split()))[:MOST_WORDS])


def find_in(item: Item, query: Query) -> SearchHit | None:
    """What was found in an item; None if it doesn't contain every word."""
    if not item.content.startswith(_PREFIXES) or not query.covers(item):
        return None
    content = item.read()
    searched = _searched(content)
    if searched is None or not query.fits(searched[1]) or not query.is_by(searched[0], content):
        return None
    kind, text = searched
    plain = "\n".join(map(plain_line, text.split("\n"))) if kind in _WRITTEN else text
    return SearchHit(item.cursor, item.session, item.at, kind, _snippet(plain if query.fits(plain) else text, query))


def find_in_all(items: Iterable[Item], query: Query) -> list[SearchHit]:
    """What was found in each of these that contains every word."""
    return [found for item in items if (found := find_in(item, query)) is not None]


def _searched(content: Content) -> tuple[FoundKind, str] | None:
    match content:
        case Said(text=text):
            return "said", text
        case Text(text=text):
            return "text", text
        case Thinking(text=text):
            return "thinking", text
        case Notice(text=text):
            return "notice", text
        case ActionStarted(tool=tool) if tool_named(tool).kind in ("question", "plan"):
            return None  # its request is found
        case ActionStarted(title=title, input=fields):
            return "action", "\n".join((title, *_texts(fields)))[:_MOST_TEXT]
        case ActionEnded(output=output):
            return "output", output
        case AskOpened(ask=ask) if ask.get("kind") == "permission" and ask.get("tool_use"):
            return None  # its action is found
        case AskOpened(ask=ask):
            return "request", "\n".join(_texts(ask.get("body")))[:_MOST_TEXT]
        case _:
            return None


def _texts(value: object) -> Iterator[str]:
    """Every text in a value, in its order; not the names of fields."""
    waiting: list[Any] = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case Mapping() as fields:
                waiting += reversed(list(fields.values()))
            case list() | tuple() as several:
                waiting += reversed(several)


def _snippet(text: str, query: Query) -> str:
    lowered = text.lower()
    # Lower case may be longer than upper case, in a few languages: then the beginning is shown.
    at = min(lowered.find(word) for word in query.words) if len(lowered) == len(text) else 0
    start, end = max(0, at - _BEFORE), at + _AFTER
    line = " ".join(reveal(text[start:end]).split())
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"
