"""Adds our entries to the files of a project, and removes them again. Pure: texts in, texts out.

Existing content stays. What was added is recorded, so that removing it removes nothing else.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.model.own_tools import ASK_USER, SERVER, qualified
from handraise.model.projects import Options
from handraise.texts import t

SECTION = f"""## Asking the person

When you need a decision, a clarification or a confirmation, call the tool `{qualified(ASK_USER)}` and wait for the \
answer. It reaches the person wherever they are. Ask one question at a time, and offer options where you can. If \
nobody answers in time, go on with your best judgement and say what you assumed.
"""
MCP = ".mcp.json"
SETTINGS = ".claude/settings.local.json"
NOTES = "CLAUDE.md"
RECORD = ".claude/handraise.json"
FILES = (MCP, SETTINGS, NOTES)
_BEGIN = "<!-- handraise: begin. Written by `handraise project sync`; changes in here are overwritten. -->\n"
_END = "<!-- handraise: end -->\n"
_MARK = re.compile(r"^<!-- handraise: (begin|end)\b[^\n]*-->[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


class ProjectFiles(Struct, frozen=True):
    """Our entries in the files; empty fields add nothing."""

    server: dict[str, Any] = {}
    mode: str | None = None
    allow: tuple[str, ...] = ()
    section: str = ""


def files_for(options: Options, state: str | None = None) -> ProjectFiles:
    """If `ask_user` is off, there is no server and no section."""
    if not options.ask_user_enabled:
        return ProjectFiles(mode=options.mode, allow=options.allowed_tools)
    where = ["--state", state] if state else []
    # Without `alwaysLoad` the model doesn't see the tool: it is hidden behind ToolSearch.
    server = {"command": SERVER, "args": ["mcp", *where], "alwaysLoad": True}
    return ProjectFiles(server, options.mode, (*options.allowed_tools, qualified(ASK_USER)), SECTION)


Texts = dict[str, str | None]
"""By file name; None for a file that doesn't exist."""


class Unmergeable(Exception):
    """A file can't be changed safely, so no file is. The text is a sentence."""


class Added(Struct, frozen=True):
    """What we added, and what was there before."""

    server: bool = False
    enabled: bool = False
    allow: tuple[str, ...] = ()
    mode: str | None = None
    mode_before: str | None = None
    made: tuple[str, ...] = ()
    """Files that didn't exist before."""
    opened: tuple[str, ...] = ()
    """Keys of lists and objects that didn't exist before: they are removed when they become empty."""


def synced(before: Mapping[str, str | None], wanted: ProjectFiles) -> Texts:
    """The files with our entries; doing it twice changes nothing more. Raises Unmergeable."""
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
    """The files without our entries; raises Unmergeable."""
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
    """Whether two JSON files differ only in layout."""
    try:
        return one is not None and other is not None and json.loads(one) == json.loads(other)
    except ValueError:
        return False


def _read(name: str, text: str | None) -> dict[str, Any]:
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


def _written(content: dict[str, Any], before: str | None) -> str | None:
    """The text as it was if nothing changed; otherwise with its own indentation and line endings."""
    if before is not None and before.strip() and json.loads(before) == content:
        return before
    if not content and (before is None or not before.strip()):
        return before
    text = json.dumps(content, indent=_indentation(before), ensure_ascii=False)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        # Half an emoji can be written in JSON, but not in a UTF-8 file.
        text = json.dumps(content, indent=_indentation(before))
    return _with_ends_of(before, f"{text}\n")


def _indentation(text: str | None) -> str:
    for line in (text or "").splitlines()[1:]:
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return blank
    return "  "


def _inside(content: dict[str, Any], key: str, name: str, kind: type[Any]) -> Any:  # noqa: ANN401 (JSON)
    found = content.get(key, kind())
    if not isinstance(found, kind):
        raise Unmergeable(t(f"error.sync.inside.{kind.__name__}", file=name, key=repr(key)))
    return found


def _with_server(content: dict[str, Any], wanted: ProjectFiles, added: Added) -> tuple[dict[str, Any], Added]:
    servers = _inside(content, "mcpServers", MCP, dict)
    if not wanted.server:
        return content, added
    if servers.get(SERVER, wanted.server) != wanted.server:
        raise Unmergeable(t("error.sync.server", file=MCP, server=repr(SERVER)))
    if SERVER in servers:
        return content, added
    added = replace(added, server=True, opened=(*added.opened, *_missing(content, "mcpServers")))
    return {**content, "mcpServers": {**servers, SERVER: wanted.server}}, added


def _without_server(content: dict[str, Any], added: Added) -> dict[str, Any]:
    servers = _inside(content, "mcpServers", MCP, dict)
    if not added.server or SERVER not in servers:
        return content
    rest = {name: each for name, each in servers.items() if name != SERVER}
    return _closed(content, "mcpServers", rest, added)


def _with_settings(content: dict[str, Any], wanted: ProjectFiles, added: Added) -> tuple[dict[str, Any], Added]:
    permissions = dict(_inside(content, "permissions", SETTINGS, dict))
    allowed = list(_inside(permissions, "allow", SETTINGS, list))
    missing = tuple(tool for tool in wanted.allow if tool not in allowed)
    opened = _missing(content, "permissions", "enabledMcpjsonServers") + _missing(permissions, "allow")
    added = replace(added, opened=(*added.opened, *opened))
    if missing:
        permissions["allow"] = [*allowed, *missing]
    if wanted.mode is not None and permissions.get("defaultMode") != wanted.mode:
        before = permissions.get("defaultMode")
        added = replace(added, mode=wanted.mode, mode_before=before if isinstance(before, str) else None)
        permissions["defaultMode"] = wanted.mode
    if permissions:
        content = {**content, "permissions": permissions}
    enabled = list(_inside(content, "enabledMcpjsonServers", SETTINGS, list))
    if wanted.server and SERVER not in enabled:
        # Otherwise Claude asks, in every project, whether to use the server in `.mcp.json`.
        content = {**content, "enabledMcpjsonServers": [*enabled, SERVER]}
        added = replace(added, enabled=True)
    return content, replace(added, allow=missing)


def _without_settings(content: dict[str, Any], added: Added) -> dict[str, Any]:
    if not (added.allow or added.mode or added.enabled):
        return content
    permissions = dict(_inside(content, "permissions", SETTINGS, dict))
    allowed = [tool for tool in _inside(permissions, "allow", SETTINGS, list) if tool not in added.allow]
    if added.allow:
        permissions = _closed(permissions, "allow", allowed, added)
    if added.mode is not None and permissions.get("defaultMode") == added.mode:
        permissions["defaultMode"] = added.mode_before  # in its old place among the keys
        if added.mode_before is None:
            del permissions["defaultMode"]
    if "permissions" in content:
        content = _closed(content, "permissions", permissions, added)
    if added.enabled:
        servers = [name for name in _inside(content, "enabledMcpjsonServers", SETTINGS, list) if name != SERVER]
        content = _closed(content, "enabledMcpjsonServers", servers, added)
    return content


def _missing(content: dict[str, Any], *keys: str) -> tuple[str, ...]:
    return tuple(key for key in keys if key not in content)


def _closed(content: dict[str, Any], key: str, rest: object, added: Added) -> dict[str, Any]:
    """With the rest of a list or an object, or without it if nothing is left and we had added it."""
    if rest or (key in content and key not in added.opened):
        return {**content, key: rest}
    return {name: each for name, each in content.items() if name != key}


class _Section(NamedTuple):
    """Where our section begins and ends, and its line ending."""

    start: int
    end: int
    newline: str


def _with_section(text: str | None, plain: str | None, section: str) -> str | None:
    """With our section, where it was before or at the end."""
    if not section:
        return plain
    ours = f"{_BEGIN}{section}{_END}"
    found = _find_section(text)
    if text is not None and found is not None:
        return text[: found.start] + ours.replace("\n", found.newline) + text[found.end :]
    return plain + _with_ends_of(plain, f"\n{ours}") if plain else ours


def _without_section(text: str | None, *, is_ours: bool) -> str | None:
    """Removes exactly what was added, with the newline before it if the file existed before."""
    found = _find_section(text)
    if text is None or found is None:
        return text
    before = text[: found.start]
    return (before if is_ours else before.removesuffix(found.newline)) + text[found.end :]


def _find_section(text: str | None) -> _Section | None:
    """Our section; raises Unmergeable unless its markers are complete and in order."""
    marks = list(_MARK.finditer(text or ""))
    if not marks:
        return None
    if [mark[1] for mark in marks] != ["begin", "end"]:
        found = ", ".join(mark[1] for mark in marks)
        raise Unmergeable(t("error.sync.markers", file=NOTES, found=found))
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
        raise Unmergeable(t("error.sync.record", file=RECORD, error=error)) from error
