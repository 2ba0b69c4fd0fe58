"""JSON files of other programs: read strictly, changed without losing anything, written in their own layout. Pure."""

import json
from collections.abc import Collection
from typing import Any

from handraise.texts import t


class Unmergeable(Exception):
    """A file can't be changed safely, so no file is. The text is a sentence."""


def read_json(name: str, text: str | None) -> dict[str, Any]:
    """The object in a file; raises Unmergeable."""
    if text is None or not text.strip():
        return {}
    try:
        content = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refuse)
        json.dumps(content, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise Unmergeable(t("error.sync.json", file=name, error=error)) from error
    if not isinstance(content, dict):
        raise Unmergeable(t("error.sync.no_object", file=name))
    return content


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses repeated keys: one of their values would be lost."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError(t("error.sync.twins"))
    return content


def _refuse(constant: str) -> None:
    raise ValueError(t("error.sync.constant", constant=constant))


def written_json(content: dict[str, Any], before: str | None) -> str | None:
    """The text as it was if nothing changed; otherwise with its own indentation and line endings."""
    if before is not None and before.strip() and json.loads(before) == content:
        return before
    if not content and (before is None or not before.strip()):
        return before
    text = json.dumps(content, indent=_indentation(before), ensure_ascii=False)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        # Half an emoji can be written in JSON, but not in a UTF-8 file.
        text = json.dumps(content, indent=_indentation(before))
    return with_ends_of(before, f"{text}\n")


def _indentation(text: str | None) -> str:
    for line in (text or "").splitlines()[1:]:
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return blank
    return "  "


def inside(content: dict[str, Any], key: str, name: str, kind: type[Any]) -> Any:  # noqa: ANN401 (JSON)
    """The list or object at a key, empty if there is none; raises Unmergeable."""
    found = content.get(key, kind())
    if not isinstance(found, kind):
        raise Unmergeable(t(f"error.sync.inside.{kind.__name__}", file=name, key=repr(key)))
    return found


def missing(content: dict[str, Any], *keys: str) -> tuple[str, ...]:
    """Which of these keys aren't there."""
    return tuple(key for key in keys if key not in content)


def closed(content: dict[str, Any], key: str, rest: object, opened: Collection[str]) -> dict[str, Any]:
    """With the rest of a list or an object, or without it if nothing is left and we had opened it."""
    if rest or (key in content and key not in opened):
        return {**content, key: rest}
    return {name: each for name, each in content.items() if name != key}


def says_the_same(one: str | None, other: str | None) -> bool:
    """Whether two JSON files differ only in layout."""
    try:
        return one is not None and other is not None and json.loads(one) == json.loads(other)
    except ValueError:
        return False


def with_ends_of(text: str | None, written: str) -> str:
    """With the line endings of another text."""
    return written.replace("\n", "\r\n") if "\r\n" in (text or "") else written
