"""Our hook in Claude Code's settings: it carries requests of a Claude that people run themselves to the hub. Pure.

Only `PermissionRequest`: Claude Code shows an error on the screen when any other hook finds no hub, and waits for it.
"""

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

from handraise.workspace.json_texts import closed, inside, missing

EVENT = "PermissionRequest"
PATH = "/hooks/claude"
"""The route that it calls."""
_BEARER = "Bearer "
_TIMEOUT = 24 * 3600
"""How long Claude Code keeps the connection, in seconds. Then only the terminal can answer.

It is also the only limit for a hub that hangs: Claude Code has no other for a connection that is open and silent."""


class HookEntry(Struct, frozen=True):
    """Where the hub is, and the secret that lets the hook in."""

    url: str
    secret: str

    def as_json(self) -> dict[str, Any]:
        headers = {"Authorization": f"{_BEARER}{self.secret}"}
        return {"type": "http", "url": self.url, "timeout": _TIMEOUT, "headers": headers}


def with_hook(content: dict[str, Any], hook: HookEntry, name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Settings with our hook, and the keys that weren't there before; raises Unmergeable."""
    hooks = inside(content, "hooks", name, dict)
    groups = inside(hooks, EVENT, name, list)
    opened = (*missing(content, "hooks"), *missing(hooks, EVENT))
    return {**content, "hooks": {**hooks, EVENT: [*groups, {"hooks": [hook.as_json()]}]}}, opened


def without_hook(content: dict[str, Any], url: str, name: str, opened: Collection[str]) -> dict[str, Any]:
    """Settings without the hook to this address that we added; raises Unmergeable."""
    hooks = inside(content, "hooks", name, dict)
    groups = inside(hooks, EVENT, name, list)
    rest = [each for each in groups if _ours(each, url) is None]
    if len(rest) == len(groups):
        return content
    return closed(content, "hooks", closed(hooks, EVENT, rest, opened), opened)


def find_hook(content: dict[str, Any], url: str, name: str) -> HookEntry | None:
    """Our hook as it stands in the settings; raises Unmergeable."""
    groups = inside(inside(content, "hooks", name, dict), EVENT, name, list)
    return next(_found(groups, url), None)


def _found(groups: list[Any], url: str) -> Iterator[HookEntry]:
    for group in groups:
        match _ours(group, url):
            case {"headers": {"Authorization": str(value)}} if value.startswith(_BEARER):
                yield HookEntry(url, value.removeprefix(_BEARER))


def _ours(group: object, url: str) -> dict[str, Any] | None:
    match group:
        case {"hooks": [dict() as hook]} if (hook.get("type"), hook.get("url")) == ("http", url):
            return dict(hook)
        case _:
            return None
