"""Puts what is ours into the files of a project, and takes it out again. Pure: texts in, texts out.

Whatever is there stays. What was added is written down, so that taking it out takes nothing else.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.model.own_tools import SERVER
from handraise.workspace.wanted import ProjectFiles

MCP = ".mcp.json"
SETTINGS = ".claude/settings.local.json"
NOTES = "CLAUDE.md"
RECORD = ".claude/handraise.json"
FILES = (MCP, SETTINGS, NOTES)

_BEGIN = "<!-- handraise: begin. Written by `handraise project sync`; changes in here are overwritten. -->\n"
_END = "<!-- handraise: end -->\n"
_MARK = re.compile(r"^<!-- handraise: (begin|end)\b[^\n]*-->[ \t]*(?:\r?\n|\Z)", re.MULTILINE)

Texts = dict[str, str | None]
"""By the file's name; None where there is none."""


class Unmergeable(Exception):
    """A file is not as we can change it; every file is left alone. The text is a sentence."""


class Added(Struct, frozen=True):
    """What we have put in, and what was there instead."""

    server: bool = False
    enabled: bool = False
    allow: tuple[str, ...] = ()
    mode: str | None = None
    mode_before: str | None = None
    made: tuple[str, ...] = ()
    """Files that were not there before."""
    opened: tuple[str, ...] = ()
    """Keys of lists and objects that were not there before: empty, they go with what was in them."""


def synced(before: Mapping[str, str | None], wanted: ProjectFiles) -> Texts:
    """The files as they are to be; twice is the same as once. Raises Unmergeable."""
    plain = removed(before)
    made = tuple(name for name in FILES if plain[name] is None)
    servers, added = _with_server(_read(MCP, plain[MCP]), wanted, Added())
    settings, added = _with_settings(_read(SETTINGS, plain[SETTINGS]), wanted, added)
    after: Texts = {
        MCP: _written(servers, plain[MCP]),
        SETTINGS: _written(settings, plain[SETTINGS]),
        NOTES: _with_section(before.get(NOTES), plain[NOTES], wanted.section),
    }
    record = replace(added, made=tuple(name for name in made if after[name] is not None))
    return {**after, RECORD: None if record == Added() and not wanted.section else _record(record)}


def removed(before: Mapping[str, str | None]) -> Texts:
    """The files without what is ours; raises Unmergeable."""
    added = _added(before.get(RECORD))
    servers = _without_server(_read(MCP, before.get(MCP)), added)
    settings = _without_settings(_read(SETTINGS, before.get(SETTINGS)), added)
    after: Texts = {
        MCP: _written(servers, before.get(MCP)),
        SETTINGS: _written(settings, before.get(SETTINGS)),
        NOTES: _without_section(before.get(NOTES), is_ours=NOTES in added.made),
        RECORD: None,
    }
    for name in added.made:
        if (after.get(name) or "").strip() in ("", "{}"):
            after[name] = None
    return after


def says_the_same(one: str | None, other: str | None) -> bool:
    """Whether two files differ in nothing but their layout."""
    try:
        return one is not None and other is not None and json.loads(one) == json.loads(other)
    except ValueError:
        return False


def _read(name: str, text: str | None) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}
    try:
        told = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refuse)
        json.dumps(told, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise Unmergeable(f"{name} is not JSON ({error}); mend it first. Nothing was changed.") from error
    if not isinstance(told, dict):
        raise Unmergeable(f"{name} does not hold a JSON object; mend it first. Nothing was changed.")
    return told


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two that have the same key one would be lost."""
    told = dict(pairs)
    if len(told) != len(pairs):
        raise ValueError("a key stands in it twice")
    return told


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _written(told: dict[str, Any], before: str | None) -> str | None:
    """As it was where nothing has changed; else with the indentation and the ends of line that it had."""
    if before is not None and before.strip() and json.loads(before) == told:
        return before
    if not told and (before is None or not before.strip()):
        return before
    text = json.dumps(told, indent=_indentation(before), ensure_ascii=False)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        # Half an emoji can be written in JSON, and in no file.
        text = json.dumps(told, indent=_indentation(before))
    return _with_ends_of(before, f"{text}\n")


def _indentation(text: str | None) -> str:
    for line in (text or "").splitlines()[1:]:
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return blank
    return "  "


def _inside(told: dict[str, Any], key: str, name: str, kind: type[Any]) -> Any:  # noqa: ANN401 (JSON)
    found = told.get(key, kind())
    if not isinstance(found, kind):
        what = "an object" if kind is dict else "a list"
        raise Unmergeable(f"{name}: {key!r} is not {what}; mend it first. Nothing was changed.")
    return found


def _with_server(told: dict[str, Any], wanted: ProjectFiles, added: Added) -> tuple[dict[str, Any], Added]:
    servers = _inside(told, "mcpServers", MCP, dict)
    if not wanted.server:
        return told, added
    if servers.get(SERVER, wanted.server) != wanted.server:
        raise Unmergeable(f"{MCP} has a server called {SERVER!r} that is not ours; rename it. Nothing was changed.")
    if SERVER in servers:
        return told, added
    added = replace(added, server=True, opened=(*added.opened, *_missing(told, "mcpServers")))
    return {**told, "mcpServers": {**servers, SERVER: wanted.server}}, added


def _without_server(told: dict[str, Any], added: Added) -> dict[str, Any]:
    servers = _inside(told, "mcpServers", MCP, dict)
    if not added.server or SERVER not in servers:
        return told
    rest = {name: each for name, each in servers.items() if name != SERVER}
    return _closed(told, "mcpServers", rest, added)


def _with_settings(told: dict[str, Any], wanted: ProjectFiles, added: Added) -> tuple[dict[str, Any], Added]:
    permissions = dict(_inside(told, "permissions", SETTINGS, dict))
    allowed = list(_inside(permissions, "allow", SETTINGS, list))
    missing = tuple(tool for tool in wanted.allow if tool not in allowed)
    opened = _missing(told, "permissions", "enabledMcpjsonServers") + _missing(permissions, "allow")
    added = replace(added, opened=(*added.opened, *opened))
    if missing:
        permissions["allow"] = [*allowed, *missing]
    if wanted.mode is not None and permissions.get("defaultMode") != wanted.mode:
        before = permissions.get("defaultMode")
        added = replace(added, mode=wanted.mode, mode_before=before if isinstance(before, str) else None)
        permissions["defaultMode"] = wanted.mode
    if permissions:
        told = {**told, "permissions": permissions}
    enabled = list(_inside(told, "enabledMcpjsonServers", SETTINGS, list))
    if wanted.server and SERVER not in enabled:
        # Otherwise Claude asks, in every project, whether the server of `.mcp.json` may be used.
        told = {**told, "enabledMcpjsonServers": [*enabled, SERVER]}
        added = replace(added, enabled=True)
    return told, replace(added, allow=missing)


def _without_settings(told: dict[str, Any], added: Added) -> dict[str, Any]:
    if not (added.allow or added.mode or added.enabled):
        return told
    permissions = dict(_inside(told, "permissions", SETTINGS, dict))
    allowed = [tool for tool in _inside(permissions, "allow", SETTINGS, list) if tool not in added.allow]
    if added.allow:
        permissions = _closed(permissions, "allow", allowed, added)
    if added.mode is not None and permissions.get("defaultMode") == added.mode:
        permissions["defaultMode"] = added.mode_before  # in its old place among the keys
        if added.mode_before is None:
            del permissions["defaultMode"]
    if "permissions" in told:
        told = _closed(told, "permissions", permissions, added)
    if added.enabled:
        servers = [name for name in _inside(told, "enabledMcpjsonServers", SETTINGS, list) if name != SERVER]
        told = _closed(told, "enabledMcpjsonServers", servers, added)
    return told


def _missing(told: dict[str, Any], *keys: str) -> tuple[str, ...]:
    return tuple(key for key in keys if key not in told)


def _closed(told: dict[str, Any], key: str, rest: object, added: Added) -> dict[str, Any]:
    """With what is left of a list or an object, or without it where nothing is left and we had opened it."""
    if rest or (key in told and key not in added.opened):
        return {**told, key: rest}
    return {name: each for name, each in told.items() if name != key}


class _Section(NamedTuple):
    """Where ours begins and ends, and how its lines do."""

    start: int
    end: int
    newline: str


def _with_section(text: str | None, plain: str | None, section: str) -> str | None:
    """Where it was, if it was there before; otherwise at the end."""
    if not section:
        return plain
    ours = f"{_BEGIN}{section}{_END}"
    found = _find_section(text)
    if text is not None and found is not None:
        return text[: found.start] + ours.replace("\n", found.newline) + text[found.end :]
    return plain + _with_ends_of(plain, f"\n{ours}") if plain else ours


def _without_section(text: str | None, *, is_ours: bool) -> str | None:
    """Exactly what was added is taken out, with the newline before it where the file was there before us."""
    found = _find_section(text)
    if text is None or found is None:
        return text
    before = text[: found.start]
    return (before if is_ours else before.removesuffix(found.newline)) + text[found.end :]


def _find_section(text: str | None) -> _Section | None:
    """Raises Unmergeable unless its marks are as we have set them."""
    marks = list(_MARK.finditer(text or ""))
    if not marks:
        return None
    if [mark[1] for mark in marks] != ["begin", "end"]:
        found = ", ".join(mark[1] for mark in marks)
        raise Unmergeable(
            f"{NOTES} has the marks of our section in disorder ({found}, and not: begin, end);"
            " mend it first. Nothing was changed."
        )
    return _Section(marks[0].start(), marks[1].end(), "\r\n" if marks[0][0].endswith("\r\n") else "\n")


def _with_ends_of(text: str | None, written: str) -> str:
    return written.replace("\n", "\r\n") if "\r\n" in (text or "") else written


def _record(added: Added) -> str:
    return msgspec.json.format(msgspec.json.encode(added), indent=2).decode() + "\n"


def _added(text: str | None) -> Added:
    if text is None:
        return Added()
    try:
        return msgspec.json.decode(text, type=Added)
    except msgspec.DecodeError as error:
        raise Unmergeable(f"{RECORD} cannot be read ({error}); remove it. Nothing was changed.") from error
