"""The usage of a program: the options known to be safe, and how each takes its value. Never
guesses: an option that is not listed, or a word that could become one, is not covered."""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from handraise.policy.shell_words import Word


class Value(Enum):
    """How an option takes a value: not at all, always, or only joined (`--color=auto`)."""

    NONE = ""
    NEEDED = "="
    JOINED = "[=]"


class Standing(Enum):
    """What "always" offers for a usage: any covered words, exactly this command, or nothing."""

    OPEN = "+"
    EXACT = "="
    NEVER = ""


_BELOW = r"(?!(?:.*/)?\.\.(?:/|$))"
OPERANDS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(expression, re.DOTALL)
    for name, expression in {
        "any": r"(?!-.).*",
        # Inside the directory; `@file` is read for further options by many, and `+` is an option of some.
        "inside": rf"(?![-/~@+]){_BELOW}.*",
        "rev": rf"(?![-/~]){_BELOW}.*",
        "remote": r"\w[\w.-]*",
        "ref": r"\w[\w./@^~-]*",
        "name": r"\w[\w.:@-]*",
        "target": r"[\w.%][\w./%:-]*",
        "format": r"\+.*",
        # `host:file` is on another machine.
        "here": r"[^-:][^:]*|-",
        "nothing": r"(?!)",
    }.items()
}
_BUNDLE = re.compile(r"-[^-=].*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d+[A-Za-z]?")


class Usage(Struct, frozen=True):
    """`operands` says what each position accepts, the last one for all that follow; `after` is the usage after `--`."""

    standing: Standing
    options: Mapping[str, tuple[Value, tuple[str, ...]]]
    operands: tuple[str, ...]
    is_free: bool = False
    """`**`: no argument can make it write, run or set anything."""
    is_exact_only: bool = False
    """`!`: no words are covered."""
    after: "Usage | None" = None

    def covers(self, words: Sequence[Word]) -> bool:
        """Whether every word is listed, or a value or operand that can't be mistaken for something else."""
        if self.is_free or self.is_exact_only:
            return self.is_free
        place, waiting, ended = 0, None, False
        for at, word in enumerate(words):
            if waiting is not None:
                if not _is_value(word, waiting):
                    return False
                waiting = None
            elif word.literal and word.text == "--" and not ended:
                if self.after is not None:
                    return self.after.covers(words[at + 1 :])
                ended = True
            elif word.literal and word.text.startswith("-") and len(word.text) > 1:
                found = None if ended else self._option(word.text)
                if found is None:
                    return False
                waiting = found if found != _COMPLETE else None
            elif self._is_operand(word, place):
                place += 1
            else:
                return False
        return True

    def _option(self, text: str) -> tuple[str, ...] | None:
        """Which values the next word may have, `_COMPLETE` where no value follows, None for an unknown option."""
        name, joined, value = text.partition("=")
        kind, choices = self.options.get(name, (None, ()))
        if kind is not None and not joined:
            return (choices or _ANYTHING) if kind is Value.NEEDED else _COMPLETE
        if kind is Value.NEEDED or kind is Value.JOINED:
            return _COMPLETE if _is_among(value, choices) else None
        return self._bundle(text) if kind is None and _BUNDLE.fullmatch(text) else None

    def _bundle(self, text: str) -> tuple[str, ...] | None:
        """`-la`, `-n5`, `-5`: each letter is an option, and what follows one that takes a value is the value."""
        if "-#" in self.options and text[1:].isdigit():
            return _COMPLETE
        for at, letter in enumerate(text[1:], 2):
            kind, choices = self.options.get(f"-{letter}", (None, ()))
            if kind is None:
                return None
            if kind is not Value.NONE:
                rest = text[at:]
                if not rest:
                    return (choices or _ANYTHING) if kind is Value.NEEDED else _COMPLETE
                return _COMPLETE if _is_among(rest, choices) else None
        return _COMPLETE

    def _is_operand(self, word: Word, place: int) -> bool:
        if not self.operands:
            return False
        if not word.literal and not _is_name_with_stars(word):
            return False
        return bool(OPERANDS[self.operands[min(place, len(self.operands) - 1)]].fullmatch(word.text))


_COMPLETE: tuple[str, ...] = ("",)
_ANYTHING: tuple[str, ...] = ("*",)


@lru_cache(maxsize=1024)
def read_usage(text: str) -> Usage:
    """Words: `+` or `=` for what is offered, `**` or `!`, `-n=` for an option with a value, `--color[=]` for one whose
    value is joined, `-f=a|b` for values by name, `@inside` for operands, and `--` before what may follow that."""
    before, _, after = f" {text} ".partition(" -- ")
    words = before.split()
    options: dict[str, tuple[Value, tuple[str, ...]]] = {}
    for word in words:
        name, equals, choices = word.partition("=")
        if not word.startswith("-"):
            continue
        if name.endswith("["):
            options[name[:-1]] = (Value.JOINED, ())
        else:
            options[name] = (Value.NEEDED if equals else Value.NONE, tuple(choices.split("|")) if choices else ())
    return Usage(
        standing=Standing(words[0]) if words[:1] in (["+"], ["="]) else Standing.NEVER,
        options=options,
        operands=tuple(each[1:] for each in words if each.startswith("@")),
        is_free="**" in words,
        is_exact_only="!" in words,
        after=read_usage(after) if after.strip() else None,
    )


def _is_value(word: Word, choices: tuple[str, ...]) -> bool:
    """Whether the next word is a value. A word that begins like an option isn't accepted as one."""
    if choices != _ANYTHING:
        return word.literal and _is_among(word.text, choices)
    if not word.literal:
        return word.is_one
    return not word.text.startswith("-") or bool(_NUMBER.fullmatch(word.text))


def _is_among(value: str, choices: tuple[str, ...]) -> bool:
    if not choices:
        return True
    return value in choices or any(each[0] == "@" and OPERANDS[each[1:]].fullmatch(value) for each in choices)


def _is_name_with_stars(word: Word) -> bool:
    """A glob that begins like a file's name cannot become an option; an expansion can become anything."""
    return word.text[0] not in "-*?[{'\"" and not any(each in word.text for each in "$`<>(")
