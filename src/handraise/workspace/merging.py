"""Adds our entries to the files of a project, and removes them again. Pure: texts in, texts out.

Existing content stays. What was added is recorded, so that removing it removes nothing else.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.model.own_tools import ASK_USER, SERVER, qualified
from handraise.model.projects import Options
from handraise.texts import t
from handraise.workspace.hook_entry import HookEntry, find_hook, with_hook, without_hook
from handraise.workspace.json_texts import Unmergeable, closed, inside, missing, read_json, with_ends_of, written_json

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
    hook: HookEntry | None = None


def files_for(options: Options, state: str | None = None, hook: HookEntry | None = None) -> ProjectFiles:
    """If `ask_user` is off, there is no server and no section."""
    if not options.ask_user_enabled:
        return ProjectFiles(mode=options.mode, allow=options.allowed_tools, hook=hook)
    where = ["--state", state] if state else []
    # Without `alwaysLoad` the model doesn't see the tool: it is hidden behind ToolSearch.
    server = {"command": SERVER, "args": ["mcp", *where], "alwaysLoad": True}
    return ProjectFiles(server, options.mode, (*options.allowed_tools, qualified(ASK_USER)), SECTION, hook)


Texts = dict[str, str | None]
"""By file name; None for a file that doesn't exist."""


class Added(Struct, frozen=True):
    """What we added, and what was there before."""

    server: bool = False
    enabled: bool = False
    allow: tuple[str, ...] = ()
    mode: str | None = None
    mode_before: str | None = None
    hook: str = ""
    """The address in our hook. Its secret is not recorded."""
    made: tuple[str, ...] = ()
    """Files that didn't exist before."""
    opened: tuple[str, ...] = ()
    """Keys of lists and objects that didn't exist before: they are removed when they become empty."""


def synced(before: Mapping[str, str | None], wanted: ProjectFiles) -> Texts:
    """The files with our entries; doing it twice changes nothing more. Raises Unmergeable."""
    plain = removed(before)
    made = tuple(name for name in FILES if plain[name] is None)
    servers, added = _with_server(read_json(MCP, plain[MCP]), wanted, Added())
    settings, added = _with_settings(read_json(SETTINGS, plain[SETTINGS]), wanted, added)
    after: Texts = {
        MCP: written_json(servers, plain[MCP]),
        SETTINGS: written_json(settings, plain[SETTINGS]),
        NOTES: _with_section(before.get(NOTES), plain[NOTES], wanted.section),
    }
    record = replace(added, made=tuple(name for name in made if after[name] is not None))
    return {**after, RECORD: None if record == Added() and not wanted.section else _record(record)}


def hook_in(before: Mapping[str, str | None]) -> HookEntry | None:
    """Our hook as it stands in the settings; raises Unmergeable."""
    address = _added(before.get(RECORD)).hook
    return find_hook(read_json(SETTINGS, before.get(SETTINGS)), address, SETTINGS) if address else None


def removed(before: Mapping[str, str | None]) -> Texts:
    """The files without our entries; raises Unmergeable."""
    added = _added(before.get(RECORD))
    servers = _without_server(read_json(MCP, before.get(MCP)), added)
    settings = _without_settings(read_json(SETTINGS, before.get(SETTINGS)), added)
    after: Texts = {
        MCP: written_json(servers, before.get(MCP)),
        SETTINGS: written_json(settings, before.get(SETTINGS)),
        NOTES: _without_section(before.get(NOTES), is_ours=NOTES in added.made),
        RECORD: None,
    }
    for name in added.made:
        if (after.get(name) or "").strip() in ("", "{}"):
            after[name] = None
    return after


def _with_server(content: dict[str, Any], wanted: ProjectFiles, added: Added) -> tuple[dict[str, Any], Added]:
    servers = inside(content, "mcpServers", MCP, dict)
    if not wanted.server:
        return content, added
    if servers.get(SERVER, wanted.server) != wanted.server:
        raise Unmergeable(t("error.sync.server", file=MCP, server=repr(SERVER)))
    if SERVER in servers:
        return content, added
    added = replace(added, server=True, opened=(*added.opened, *missing(content, "mcpServers")))
    return {**content, "mcpServers": {**servers, SERVER: wanted.server}}, added


def _without_server(content: dict[str, Any], added: Added) -> dict[str, Any]:
    servers = inside(content, "mcpServers", MCP, dict)
    if not added.server or SERVER not in servers:
        return content
    rest = {name: each for name, each in servers.items() if name != SERVER}
    return closed(content, "mcpServers", rest, added.opened)


def _with_settings(content: dict[str, Any], wanted: ProjectFiles, added: Added) -> tuple[dict[str, Any], Added]:
    permissions = dict(inside(content, "permissions", SETTINGS, dict))
    allowed = list(inside(permissions, "allow", SETTINGS, list))
    absent = tuple(tool for tool in wanted.allow if tool not in allowed)
    opened = missing(content, "permissions", "enabledMcpjsonServers") + missing(permissions, "allow")
    added = replace(added, opened=(*added.opened, *opened))
    if absent:
        permissions["allow"] = [*allowed, *absent]
    if wanted.mode is not None and permissions.get("defaultMode") != wanted.mode:
        before = permissions.get("defaultMode")
        added = replace(added, mode=wanted.mode, mode_before=before if isinstance(before, str) else None)
        permissions["defaultMode"] = wanted.mode
    if permissions:
        content = {**content, "permissions": permissions}
    enabled = list(inside(content, "enabledMcpjsonServers", SETTINGS, list))
    if wanted.server and SERVER not in enabled:
        # Otherwise Claude asks, in every project, whether to use the server in `.mcp.json`.
        content = {**content, "enabledMcpjsonServers": [*enabled, SERVER]}
        added = replace(added, enabled=True)
    if wanted.hook is not None:
        content, opened = with_hook(content, wanted.hook, SETTINGS)
        added = replace(added, hook=wanted.hook.url, opened=(*added.opened, *opened))
    return content, replace(added, allow=absent)


def _without_settings(content: dict[str, Any], added: Added) -> dict[str, Any]:
    if added.hook:
        content = without_hook(content, added.hook, SETTINGS, added.opened)
    if not (added.allow or added.mode or added.enabled):
        return content
    permissions = dict(inside(content, "permissions", SETTINGS, dict))
    allowed = [tool for tool in inside(permissions, "allow", SETTINGS, list) if tool not in added.allow]
    if added.allow:
        permissions = closed(permissions, "allow", allowed, added.opened)
    if added.mode is not None and permissions.get("defaultMode") == added.mode:
        permissions["defaultMode"] = added.mode_before  # in its old place among the keys
        if added.mode_before is None:
            del permissions["defaultMode"]
    if "permissions" in content:
        content = closed(content, "permissions", permissions, added.opened)
    if added.enabled:
        servers = [name for name in inside(content, "enabledMcpjsonServers", SETTINGS, list) if name != SERVER]
        content = closed(content, "enabledMcpjsonServers", servers, added.opened)
    return content


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
    return plain + with_ends_of(plain, f"\n{ours}") if plain else ours


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


def _record(added: Added) -> str:
    return msgspec.json.format(msgspec.json.encode(added), indent=2).decode() + "\n"


def _added(text: str | None) -> Added:
    if text is None:
        return Added()
    try:
        return msgspec.json.decode(text, type=Added)
    except msgspec.DecodeError as error:
        raise Unmergeable(t("error.sync.record", file=RECORD, error=error)) from error
