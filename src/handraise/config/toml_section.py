"""Changes values in one section of a TOML text, and keeps everything else as it is, comments too. Pure."""

import json
import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"\s*\[")


class SectionUnfit(Exception):
    """The section is written in a way that can't be changed safely."""


def with_values(text: str, section: str, changes: Mapping[str, object]) -> str:
    """The text with these values in a section; None removes a key. Raises SectionUnfit."""
    wanted = _wanted(tomllib.loads(text), section, changes)
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    start = _find(lines, rf"\s*\[\s*{re.escape(section)}\s*\]\s*(#.*)?")
    if start is None:
        lines = [*lines, *([""] if lines else []), f"[{section}]", *assignments(changes)]
    else:
        stop = next((at for at in range(start + 1, len(lines)) if _HEADER.match(lines[at])), len(lines))
        lines[start + 1 : stop] = _changed(lines[start + 1 : stop], changes)
    changed = end.join([*lines, ""])
    try:
        result = tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        result = {}
    if result != wanted:
        raise SectionUnfit(f"[{section}] is written in a way that can't be changed safely")
    return changed


def assignments(values: Mapping[str, object]) -> list[str]:
    """A line for each value that is set."""
    return [f"{name} = {_written(value)}" for name, value in values.items() if value is not None]


def _wanted(table: dict[str, Any], section: str, changes: Mapping[str, object]) -> dict[str, Any]:
    wanted = deepcopy(table)
    inner = wanted.setdefault(section, {})
    if not isinstance(inner, dict):
        raise SectionUnfit(f"{section} isn't a section")
    for name, value in changes.items():
        if value is None:
            inner.pop(name, None)
        else:
            inner[name] = value
    return wanted


def _find(lines: list[str], pattern: str) -> int | None:
    return next((at for at, line in enumerate(lines) if re.fullmatch(pattern, line)), None)


def _changed(lines: list[str], changes: Mapping[str, object]) -> list[str]:
    """The lines of the section; what isn't there yet comes after the last value."""
    changed, new = list(lines), []
    for name, value in changes.items():
        at = _find(changed, rf"\s*{re.escape(name)}\s*=.*")
        if at is None:
            new += assignments({name: value})
        elif value is None:
            del changed[at]
        else:
            changed[at] = f"{name} = {_written(value)}{_comment(changed[at])}"
    last = max(
        (at for at, line in enumerate(changed) if line.strip() and not line.lstrip().startswith("#")), default=-1
    )
    return [*changed[: last + 1], *new, *changed[last + 1 :]]


def _comment(line: str) -> str:
    """What follows the value, with the blanks before it."""
    value = _parsed(line)
    for sign in re.finditer(r"\s*#", line):
        if value and _parsed(line[: sign.start()]) == value:
            return line[sign.start() :]
    return ""


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None


def _written(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            pairs = [
                f"{name if _BARE.fullmatch(name) else _written(name)} = {_written(of)}" for name, of in value.items()
            ]
            return f"{{{', '.join(pairs)}}}"
        case _:
            return json.dumps(str(value), ensure_ascii=False)
