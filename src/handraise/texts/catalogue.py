"""The catalogue: every message of one language, read from its folder, area by area, when first needed.

A message is a text with `{name}` placeholders, or one text per plural category. English fills in what a translation
leaves out.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from handraise.texts import pseudo

ENGLISH = "en"
FOLDER = Path(__file__).parent

Message = str | Mapping[str, str]
"""A text, or its plural forms by category."""


class UnknownLanguage(ValueError):
    """There is no catalogue for this language."""

    def __init__(self, language: str) -> None:
        super().__init__(f"There is no translation for {language!r}. Available: {', '.join(languages())}.")
        self.language = language


class Catalogue:
    """The messages of one language; English fills the gaps."""

    def __init__(self, language: str, folder: Path = FOLDER) -> None:
        if language not in languages(folder):
            raise UnknownLanguage(language)
        self.language = language
        self._folder = folder
        self._messages: dict[str, dict[str, Message]] = {}

    def message(self, key: str) -> Message | None:
        """The message of a key such as `card.permission.run`; None if there is none."""
        name = key.partition(".")[0]
        if name not in self._messages:
            self._messages[name] = dict(flat(self.area(name), f"{name}."))
        return self._messages[name].get(key)

    def area(self, name: str) -> dict[str, Any]:
        """One area, nested as in its file."""
        if self.language == pseudo.LANGUAGE:
            return pseudo.area(_read(self._folder, ENGLISH, name))
        english = _read(self._folder, ENGLISH, name)
        return english if self.language == ENGLISH else _over(english, _read(self._folder, self.language, name))

    def whole(self) -> dict[str, Any]:
        """Every area by its name."""
        return {path.stem: self.area(path.stem) for path in sorted((self._folder / ENGLISH).glob("*.json"))}


def languages(folder: Path = FOLDER) -> tuple[str, ...]:
    """English first, then every other language with a folder, and the pseudo-locale."""
    others = sorted(path.name for path in folder.iterdir() if any(path.glob("*.json")) and path.name != ENGLISH)
    return (ENGLISH, *others, pseudo.LANGUAGE)


def is_plural(value: object) -> bool:
    """Whether an object in a catalogue is a message with plural forms."""
    return isinstance(value, Mapping) and isinstance(value.get("other"), str)


def flat(area: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Message]]:
    """Every message with its key."""
    for name, value in area.items():
        if isinstance(value, str) or is_plural(value):
            yield before + name, value
        else:
            yield from flat(value, f"{before}{name}.")


@cache
def _read(folder: Path, language: str, name: str) -> dict[str, Any]:
    try:
        area: dict[str, Any] = msgspec.json.decode((folder / language / f"{name}.json").read_bytes(), type=dict)
    except FileNotFoundError:
        return {}
    return area


def _over(english: Mapping[str, Any], translated: Mapping[str, Any]) -> dict[str, Any]:
    """The translation, with English filling the gaps."""
    whole = dict(english)
    for name, value in translated.items():
        inner = english.get(name)
        nested = isinstance(value, Mapping) and isinstance(inner, Mapping) and not is_plural(value)
        whole[name] = _over(inner, value) if nested and isinstance(inner, Mapping) else value
    return whole
