"""Puts what is ours into the files of a project, and takes it out again. Pure: texts in, texts out.

Whatever is there stays. What was added is written down, so that taking it out takes nothing else.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.model.tools import SERVER
from handraise.workspace.wanted import Wanted

MCP = ".mcp.json"
SETTINGS = ".claude/settings.local.json"
NOTES = "CLAUDE.md"
RECORD = ".claude/handraise.json"
FILES = (MCP, SETTINGS, NOTES)

_BEGIN = "<!-- handraise: begin. Written by `handraise project sync`; changes in here are overwritten. -->\n"
_END = "<!-- handraise: end -->\n"

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


def synced(before: Mapping[str, str | None], wanted: Wanted) -> Texts:
    """The files as they are to be; twice is the same as once. Raises Unmergeable."""
    plain = removed(before)
    made = tuple(name for name in FILES if plain[name] is None)
    servers, added = _with_server(_read(MCP, plain[MCP]), wanted, Added())
    settings, added = _with_settings(_read(SETTINGS, plain[SETTINGS]), wanted, added)
    after: Texts = {
        MCP: _written(servers, plain[MCP]),
        SETTINGS: _written(settings, plain[SETTINGS]),
        NOTES: _with_section(plain[NOTES], wanted.section),
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
        NOTES: _without_section(before.get(NOTES)),
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
        told = json.loads(text)
    except ValueError as error:
        raise Unmergeable(f"{name} is not JSON ({error}); mend it first. Nothing was changed.") from error
    if not isinstance(told, dict):
        raise Unmergeable(f"{name} does not hold a JSON object; mend it first. Nothing was changed.")
    return told


def _written(told: dict[str, Any], before: str | None) -> str | None:
    """As it was where nothing has changed; else with the indentation that it had."""
    if before is not None and before.strip() and json.loads(before) == told:
        return before
    if not told and (before is None or not before.strip()):
        return before
    return json.dumps(told, indent=_indentation(before), ensure_ascii=False) + "\n"


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


def _with_server(told: dict[str, Any], wanted: Wanted, added: Added) -> tuple[dict[str, Any], Added]:
    servers = _inside(told, "mcpServers", MCP, dict)
    if not wanted.server:
        return told, added
    if servers.get(SERVER, wanted.server) != wanted.server:
        raise Unmergeable(f"{MCP} has a server called {SERVER!r} that is not ours; rename it. Nothing was changed.")
    if SERVER in servers:
        return told, added
    return {**told, "mcpServers": {**servers, SERVER: wanted.server}}, replace(added, server=True)


def _without_server(told: dict[str, Any], added: Added) -> dict[str, Any]:
    servers = _inside(told, "mcpServers", MCP, dict)
    if not added.server or SERVER not in servers:
        return told
    rest = {name: each for name, each in servers.items() if name != SERVER}
    return _with_or_without(told, "mcpServers", rest)


def _with_settings(told: dict[str, Any], wanted: Wanted, added: Added) -> tuple[dict[str, Any], Added]:
    permissions = dict(_inside(told, "permissions", SETTINGS, dict))
    allowed = list(_inside(permissions, "allow", SETTINGS, list))
    missing = tuple(tool for tool in wanted.allow if tool not in allowed)
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
        permissions = _with_or_without(permissions, "allow", allowed)
    if added.mode is not None and permissions.get("defaultMode") == added.mode:
        permissions = _with_or_without(permissions, "defaultMode", added.mode_before)
    if "permissions" in told:
        told = _with_or_without(told, "permissions", permissions)
    if added.enabled:
        servers = [name for name in _inside(told, "enabledMcpjsonServers", SETTINGS, list) if name != SERVER]
        told = _with_or_without(told, "enabledMcpjsonServers", servers)
    return told


def _with_or_without(told: dict[str, Any], key: str, value: object) -> dict[str, Any]:
    if value:
        return {**told, key: value}
    return {name: each for name, each in told.items() if name != key}


def _with_section(text: str | None, section: str) -> str | None:
    if not section:
        return text
    return f"{text}\n{_BEGIN}{section}{_END}" if text else f"{_BEGIN}{section}{_END}"


def _without_section(text: str | None) -> str | None:
    """Exactly what was added is taken out, with the newline before it."""
    if text is None or _BEGIN not in text:
        return text
    before, _, rest = text.partition(_BEGIN)
    _, found, after = rest.partition(_END)
    if not found:
        raise Unmergeable(f"{NOTES} has the beginning of our section and not its end; mend it first.")
    return before.removesuffix("\n") + after


def _record(added: Added) -> str:
    return msgspec.json.format(msgspec.json.encode(added), indent=2).decode() + "\n"


def _added(text: str | None) -> Added:
    if text is None:
        return Added()
    try:
        return msgspec.json.decode(text, type=Added)
    except msgspec.DecodeError as error:
        raise Unmergeable(f"{RECORD} cannot be read ({error}); remove it. Nothing was changed.") from error
