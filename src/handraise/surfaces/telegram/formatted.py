"""Formatted text as Telegram wants it: plain text, and entities by UTF-16 offsets. Pure."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

LONGEST = 4096
"""The most UTF-16 units in a message."""
LONGEST_CAPTION = 1024
MOST_ENTITIES = 100
"""Telegram ignores those after this many."""
ELLIPSIS = "…"
_SHOWN = re.compile(r"\S")
_LONGEST_CLUSTER = 32
_CODE = frozenset({"code", "pre"})
_QUOTES = frozenset({"blockquote", "expandable_blockquote"})


class Entity(Struct, frozen=True, omit_defaults=True):
    """How a stretch of text looks. Offsets and lengths count UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str = ""
    language: str = ""

    @property
    def end(self) -> int:
        """Where it ends: the first unit that it no longer covers."""
        return self.offset + self.length


class Formatted(Struct, frozen=True):
    """A text and its entities, in order: by offset, and the outer before the inner."""

    text: str
    entities: tuple[Entity, ...] = ()

    def __add__(self, other: "Formatted | str") -> "Formatted":
        return join("", (self, other))

    def __radd__(self, other: str) -> "Formatted":
        return join("", (other, self))

    @property
    def units(self) -> int:
        """How long it is for Telegram."""
        return units(self.text)


EMPTY = Formatted("")


def units(text: str) -> int:
    """How long a text is for Telegram: in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def plain(content: Formatted | str) -> Formatted:
    """The text without any formatting."""
    return Formatted(content) if isinstance(content, str) else Formatted(content.text)


def bold(content: Formatted | str) -> Formatted:
    """Bold, but for code in it: Telegram doesn't combine the two."""
    return _wrap(content, "bold", _CODE | {"bold"})


def italic(content: Formatted | str) -> Formatted:
    """Italic, but for code in it."""
    return _wrap(content, "italic", _CODE | {"italic"})


def strike(content: Formatted | str) -> Formatted:
    """Struck through, but for code in it."""
    return _wrap(content, "strikethrough", _CODE | {"strikethrough"})


def code(text: str) -> Formatted:
    """Code within a line. A tap copies it."""
    return _wrap(text, "code")


def pre(text: str, language: str = "") -> Formatted:
    """A block of code."""
    return _wrap(text, "pre", language=language)


def link(content: Formatted | str, url: str) -> Formatted:
    """Text that opens a URL, but for code and links in it."""
    return _wrap(content, "text_link", _CODE | {"text_link"}, url=url)


def quote(content: Formatted | str, *, expandable: bool = False) -> Formatted:
    """A quote. Telegram doesn't nest quotes, so those in it become part of it."""
    inner = _formatted(content)
    flat = replace(inner, entities=tuple(each for each in inner.entities if each.type not in _QUOTES))
    return _wrap(flat, "expandable_blockquote" if expandable else "blockquote")


def join(between: Formatted | str, parts: Iterable[Formatted | str]) -> Formatted:
    """The parts one after another, with `between` between them."""
    texts: list[str] = []
    entities: list[Entity] = []
    at = 0
    for number, part in enumerate(parts):
        for each in (_formatted(between), _formatted(part)) if number else (_formatted(part),):
            texts.append(each.text)
            entities += [replace(entity, offset=entity.offset + at) for entity in each.entities]
            at += each.units
    return Formatted("".join(texts), tuple(entities))


def split(content: Formatted, limit: int = LONGEST) -> list[Formatted]:
    """Parts that fit into a message each, ended at a paragraph, a line or a word where possible.

    Nothing is left out but blanks at the ends of parts, so blank text has none. An entity that crosses an end is closed
    there and goes on in the next part: code stays code.
    """
    return [clip(content, begin, end) for begin, end in _Splitter(content, limit).parts()]


def cut(content: Formatted, limit: int) -> Formatted:
    """At most `limit` units of it, at least 3; an ellipsis says that there is more."""
    if content.units <= limit:
        return content
    splitter = _Splitter(content, limit - units(ELLIPSIS))
    end = splitter.word_end()
    return clip(content, 0, len(content.text[:end].rstrip())) + ELLIPSIS


def clip(content: Formatted, begin: int, end: int) -> Formatted:
    """A stretch of it, by characters; what crosses an end is closed there."""
    text = content.text[begin:end]
    first = units(content.text[:begin])
    return Formatted(text, tuple(_clipped(content.entities, first, first + units(text))))


def _formatted(content: Formatted | str) -> Formatted:
    return Formatted(content) if isinstance(content, str) else content


def _wrap(
    content: Formatted | str, kind: str, unmixed: frozenset[str] = frozenset(), *, url: str = "", language: str = ""
) -> Formatted:
    """Covers the content, but for what has a kind that can't be mixed with this one."""
    inner = _formatted(content)
    covers = [
        Entity(kind, begin, end - begin, url, language)
        for begin, end in _gaps(inner.units, [each for each in inner.entities if each.type in unmixed])
    ]
    # The sort is stable: of two that cover the same, the new one stays the outer one.
    ordered = sorted([*covers, *inner.entities], key=lambda each: (each.offset, -each.length))
    return Formatted(inner.text, tuple(ordered))


def _gaps(length: int, covered: Iterable[Entity]) -> Iterator[tuple[int, int]]:
    """The stretches that none of these covers."""
    begin = 0
    for each in covered:
        if each.offset > begin:
            yield begin, each.offset
        begin = max(begin, each.end)
    if length > begin:
        yield begin, length


def _clipped(entities: Iterable[Entity], begin: int, end: int) -> Iterator[Entity]:
    for each in entities:
        first, last = max(each.offset, begin), min(each.end, end)
        if last > first:
            yield replace(each, offset=first - begin, length=last - first)


class _Splitter:
    """Finds where the parts of a text begin and end, in characters."""

    def __init__(self, content: Formatted, limit: int) -> None:
        self._text = content.text
        self._limit = limit
        self._offsets = list(accumulate((1 + (letter > "\uffff") for letter in content.text), initial=0))
        self._entities = content.entities
        self._code = [
            (bisect_left(self._offsets, each.offset), bisect_left(self._offsets, each.end))
            for each in content.entities
            if each.type in _CODE
        ]
        self._code_starts = [begin for begin, _ in self._code]

    def parts(self) -> Iterator[tuple[int, int]]:
        end = 0
        while (begin := self._begin(end)) < len(self._text):
            end = self._end(begin)
            shown = self._text[begin:end].rstrip()
            if shown.strip():
                yield begin, begin + len(shown)

    def word_end(self) -> int:
        """Where the first part ends if it is filled as far as possible, but for a word that doesn't fit."""
        furthest = self._furthest(0)
        blank = max(self._text.rfind(each, furthest * 3 // 4, furthest + 1) for each in " \n")
        return blank if blank > 0 else self._whole_letters(0, furthest)

    def _begin(self, after: int) -> int:
        """Skips blanks, but for the indentation of code."""
        found = _SHOWN.search(self._text, after)
        if found is None:
            return len(self._text)
        if inside := self._code_at(found.start()):
            return max(after, inside[0], self._text.rfind("\n", after, found.start()) + 1)
        return found.start()

    def _end(self, begin: int) -> int:
        furthest = self._furthest(begin)
        if furthest >= len(self._text):
            return furthest
        half = begin + max(1, (furthest - begin) // 2)
        inside = self._code_broken_at(furthest)
        if inside and inside[0] > begin + (furthest - begin) // 4 and self._fits(*inside):
            return inside[0]
        for mark, least, breaks_code in (
            ("\n\n", half, False),
            ("\n", half, False),
            ("\n", half, True),
            (" ", half, False),
            ("\n", begin + 1, True),
            (" ", begin + 1, True),
        ):
            if end := self._last(mark, least, furthest, breaks_code):
                return end
        return self._whole_letters(begin, furthest)

    def _furthest(self, begin: int) -> int:
        """Where a part must end: it is full, or has as many entities as Telegram shows."""
        furthest = max(begin + 1, bisect_right(self._offsets, self._offsets[begin] + self._limit) - 1)
        first = self._offsets[begin]
        shown = [each.offset for each in self._entities if each.end > first][: MOST_ENTITIES + 1]
        if len(shown) > MOST_ENTITIES and shown[-1] > first:
            furthest = min(furthest, bisect_left(self._offsets, shown[-1]))
        return furthest

    def _last(self, mark: str, least: int, furthest: int, breaks_code: bool) -> int:
        """The last such mark that a part can end before; 0 if there is none."""
        end = self._text.rfind(mark, least, furthest + len(mark))
        while end > 0 and not breaks_code and (inside := self._code_broken_at(end)):
            end = self._text.rfind(mark, least, inside[0] + len(mark))
        return max(end, 0)

    def _code_at(self, at: int) -> tuple[int, int] | None:
        """The code that this character is part of."""
        number = bisect_right(self._code_starts, at) - 1
        if number >= 0 and self._code[number][0] <= at < self._code[number][1]:
            return self._code[number]
        return None

    def _code_broken_at(self, at: int) -> tuple[int, int] | None:
        """The code that an end before this character would break."""
        inside = self._code_at(at)
        return inside if inside and inside[0] < at else None

    def _fits(self, begin: int, end: int) -> bool:
        return self._offsets[end] - self._offsets[begin] <= self._limit

    def _whole_letters(self, begin: int, furthest: int) -> int:
        """Not between a letter and its accent, or within an emoji, unless that is longer than any."""
        for end in range(furthest, max(begin, furthest - _LONGEST_CLUSTER), -1):
            if not _belongs(self._text, end):
                return end
        return furthest


def _belongs(text: str, at: int) -> bool:
    """Whether this character belongs to the one before it."""
    if not 0 < at < len(text):
        return False
    before, letter = text[at - 1], text[at]
    if before == "\u200d" or letter == "\u200d" or "\U0001f3fb" <= letter <= "\U0001f3ff":
        return True
    if _is_flag_half(before) and _is_flag_half(letter):
        run = len(text[:at]) - len(text[:at].rstrip(_FLAG_HALVES))
        return run % 2 == 1
    return unicodedata.category(letter) in ("Mn", "Me", "Mc")


_FLAG_HALVES = "".join(chr(each) for each in range(0x1F1E6, 0x1F200))


def _is_flag_half(letter: str) -> bool:
    return letter in _FLAG_HALVES
