"""Finds what a person names: a session by ID, prefix or title, a request by ID or prefix, a project by anything.

Never guesses: several matches are an error that lists them.
"""

import os
import shlex
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from handraise.cli.client import USAGE, HubClient, HubError
from handraise.cli.table import cut, harmless

_SHORTEST = 3
"""A shorter text is no prefix of an ID, unless it starts with the ID's letter."""
_LISTED = 10
_TITLE = 60


def session_named(client: HubClient, name: str) -> dict[str, Any]:
    """The session with this ID, this prefix of an ID, or this title; raises HubError."""
    exact = _exact(client, "/api/sessions", name)
    if exact is not None:
        return exact
    sessions = list(client.pages("/api/sessions", "sessions"))
    wanted = name.casefold()
    # What looks like an ID is one: no title can take its place.
    titles = [] if name.startswith("s_") else [(each, str(each["title"]).casefold()) for each in sessions]
    found = [each for each, title in titles if title == wanted]
    found = found or [each for each in sessions if _begins(each["id"], name)]
    found = found or [each for each, title in titles if wanted and title.startswith(wanted)]
    if not found:
        raise HubError(404, "not_found", f"There is no session {name!r}. List them with: handraise ps{client.options}")
    return _only(found, name, "sessions", lambda each: each["title"])


def ask_named(client: HubClient, name: str) -> dict[str, Any]:
    """The request with this ID, or the only open one whose ID starts with it; raises HubError."""
    exact = _exact(client, "/api/asks", name)
    if exact is not None:
        return exact
    found = [each for each in client.pages("/api/asks", "asks", state="open") if _begins(each["id"], name)]
    if not found:
        raise HubError(
            404, "not_found", f"There is no open request {name!r}. List them with: handraise inbox{client.options}"
        )
    return _only(found, name, "open requests", lambda each: each["card"]["headline"])


def exactly(client: HubClient, path: str, name: str, noun: str) -> dict[str, Any]:
    """The one with this very ID, for commands that allow something: what a prefix matches may have changed."""
    found = _exact(client, path, name)
    if found is None:
        raise HubError(404, "not_found", f"There is no {noun} {name}. Here, the whole ID is needed.")
    return found


def project_scope(client: HubClient, named: str) -> str:
    """What the hub finds the project by: its ID, or the whole path of a directory."""
    found = project_among(client.get("/api/projects")["projects"], named, local=not client.is_elsewhere)
    if found is not None:
        return str(found["id"])
    looks_like_path = named.startswith((".", "~", "/")) or os.sep in named or os.path.isdir(named)
    return os.path.realpath(os.path.expanduser(named)) if looks_like_path and not client.is_elsewhere else named


def project_named(client: HubClient, named: str) -> dict[str, Any]:
    """The project with this ID, name or directory; raises HubError with how to add it."""
    found = project_among(client.get("/api/projects")["projects"], named, local=not client.is_elsewhere)
    if found is None:
        word, options = shlex.quote(named), client.options
        raise HubError(
            404,
            USAGE,
            f"There is no project {named!r}. List them with: handraise project list{options}\n"
            f"Add a directory with: handraise project add {word if os.path.isdir(named) else 'DIRECTORY'}{options}",
        )
    return found


def project_among(projects: list[dict[str, Any]], named: str, *, local: bool) -> dict[str, Any] | None:
    """By ID and name first: a directory of the same name doesn't hide a project."""
    for key in ("id", "name", "path"):
        for each in projects:
            if each[key] == named:
                return each
    path = os.path.realpath(os.path.expanduser(named))
    return next((each for each in projects if local and named and each["path"] == path), None)


def _exact(client: HubClient, path: str, name: str) -> dict[str, Any] | None:
    if not name.strip():
        return None
    try:
        found: dict[str, Any] = client.get(f"{path}/{quote(name, safe='')}")
    except HubError as error:
        if error.status not in (404, 405):
            raise
        return None
    return found if found.get("id") == name else None


def _begins(identity: str, prefix: str) -> bool:
    letter, _, rest = identity.partition("_")
    return (len(prefix) > len(letter) + 1 and identity.startswith(prefix)) or (
        len(prefix) >= _SHORTEST and rest.startswith(prefix)
    )


def _only(
    found: list[dict[str, Any]], name: str, nouns: str, words: Callable[[dict[str, Any]], object]
) -> dict[str, Any]:
    if len(found) == 1:
        return found[0]
    rows = [f"  {each['id']}  {cut(harmless(str(words(each))), _TITLE)}" for each in found[:_LISTED]]
    more = [f"  … and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
    lines = [f"{name!r} matches {len(found)} {nouns}. Use more of the ID:", *rows, *more]
    raise HubError(409, USAGE, "\n".join(lines))
