"""Finds a message by its key and fills in its values, in the language of this process; English plurals are built
in."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from handraise.texts import pseudo
from handraise.texts.catalogue import ENGLISH, Catalogue, Message

_ENGLISH = ("en", pseudo.LANGUAGE)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def is_english(language: str) -> bool:
    """Whether it counts and formats dates like English."""
    return language in _ENGLISH


def category(language: str, count: int) -> str:
    """`one`, `few`, `other` and so on, in CLDR's terms."""
    if is_english(language):
        return "one" if count == 1 else "other"
    from handraise.texts import locales  # noqa: PLC0415 (start-up: 200 ms, all of Babel)

    return locales.category(language, count)


class MissingText(LookupError):
    """A key or a value of a text is missing; raised only in strict mode."""


class _State:
    catalogue = Catalogue(ENGLISH)
    strict = False


def t(key: str, /, **values: object) -> str:
    """The message of this key; `count` selects its plural form. An unknown key is returned itself."""
    message = _State.catalogue.message(key)
    if message is None:
        return _missing(f"There is no text {key!r}.", key)
    form = _form(message, values)
    return _PLACEHOLDER.sub(lambda found: _value(key, found, values), form) if "{" in form else form


def use(language: str) -> None:
    """Sets the language of this process. Raises UnknownLanguage."""
    if language != _State.catalogue.language:
        _State.catalogue = Catalogue(language)


def language() -> str:
    """The language of this process."""
    return _State.catalogue.language


def whole() -> dict[str, Any]:
    """The whole catalogue in the language of this process."""
    return _State.catalogue.whole()


@contextmanager
def using(other: str | Catalogue) -> Iterator[None]:
    """Another language or catalogue for a while: for tests."""
    before = _State.catalogue
    _State.catalogue = Catalogue(other) if isinstance(other, str) else other
    try:
        yield
    finally:
        _State.catalogue = before


def strictly(wanted: bool = True) -> None:
    """Makes a missing text an error: for tests."""
    _State.strict = wanted


def _form(message: Message, values: Mapping[str, object]) -> str:
    if isinstance(message, str):
        return message
    count = values.get("count")
    form = category(language(), count) if isinstance(count, int) else "other"
    return message.get(form, message["other"])


def _value(key: str, found: re.Match[str], values: Mapping[str, object]) -> str:
    if found[1] not in values:
        return _missing(f"The text {key!r} needs a value for {found[0]}.", found[0])
    return str(values[found[1]])


def _missing(why: str, instead: str) -> str:
    if _State.strict:
        raise MissingText(why)
    return instead
