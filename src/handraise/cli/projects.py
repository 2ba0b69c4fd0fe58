"""`handraise project`: directories, their options, and the files that connect a Claude you run yourself to the hub."""

import json
import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from handraise.cli import completion
from handraise.cli.client import HubClient, HubError
from handraise.cli.finding import project_named
from handraise.cli.places import confirm, here, json_option, on_hub, yes_option
from handraise.cli.table import harmless

_LISTS = ("allowed_tools", "add_dirs")
_TEXTS = ("mode", "model", "append_system_prompt", "sandbox")
_NUMBERS = (
    "ask_user_timeout",
    "parallel",
    "cost_limit_usd",
    *(f"patience.{kind}" for kind in ("question", "permission", "plan", "form", "trust")),
)
_SWITCHES = ("ask_user_enabled",)
_RULES = "rules"
_COMMA = re.compile(r",(?![^(]*\))")
"""Separates list items, but not inside parentheses: `Bash(a,b)` is one."""
KEYS = (*_TEXTS, *_LISTS, *_SWITCHES, *_NUMBERS, _RULES)
"""Every option that can be set, as written on the command line."""


@click.group()
def project() -> None:
    """Add, list, change, remove and sync projects."""


@project.command()
@click.argument("path", type=click.Path(file_okay=False))
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("-n", "--name", help="Name (default: the directory's name).")
@on_hub
@json_option
def add(path: str, settings: tuple[str, ...], name: str | None, client: HubClient, as_json: bool) -> None:
    """Add a directory as a project. For one that another machine has already, use `place`.

    \b
    handraise project add . ask_user_timeout=600 mode=plan
    """
    body = {"path": _directory(client, path), "name": name, "options": _changed({}, settings)}
    _show([client.post("/api/projects", body)], as_json)


@project.command("list")
@on_hub
@json_option
def list_all(client: HubClient, as_json: bool) -> None:
    """List projects with their options."""
    found = client.get("/api/projects")["projects"]
    names: dict[str, str] = {}
    if not as_json and any(each.get("elsewhere") for each in found):
        names = {each["id"]: each["name"] for each in client.get("/api/machines")["machines"]}
    _show(found, as_json, names)
    if not found and not as_json:
        click.echo(f"No projects yet. Add one with: handraise project add DIRECTORY{client.options}", err=True)


@project.command("set")
@click.argument("project", shell_complete=completion.projects)
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("-n", "--name", help="New name.")
@on_hub
@json_option
def change(project: str, settings: tuple[str, ...], name: str | None, client: HubClient, as_json: bool) -> None:
    """Change a project's options. `KEY=` resets one to the settings.

    Rules are a JSON list, or a JSON or TOML file (with [[rule]]).

    \b
    handraise project set shop model=opus rules='[{"decision": "deny", "command": "git push *"}]'
    handraise project set shop rules=@rules.toml
    """
    if not settings and name is None:
        raise click.UsageError("What changes? Use KEY=VALUE, or --name.")
    found = project_named(client, project)
    body = {"name": name, "options": _changed(found["options"], settings)}
    _show([client.patch(f"/api/projects/{found['id']}", body)], as_json)


@project.command()
@click.argument("project", shell_complete=completion.projects)
@click.argument("path", required=False)
@click.option(
    "--machine", metavar="NAME", shell_complete=completion.machines, help="On this machine (default: the hub's own)."
)
@click.option("--remove", is_flag=True, help="The project has no directory there any more.")
@on_hub
@json_option
def place(project: str, path: str | None, machine: str | None, remove: bool, client: HubClient, as_json: bool) -> None:
    """Say where a project is: its directory on one machine.

    \b
    handraise project place shop .
    handraise project place shop /srv/shop --machine build-2
    """
    if (path is None) != remove:
        raise click.UsageError("Use PATH for its directory, or --remove.")
    found = project_named(client, project)
    there = path if path is None or machine else _directory(client, path)
    body = {"path": there or "", "machine": machine}
    _show([client.patch(f"/api/projects/{found['id']}", body)], as_json)


@project.command()
@click.argument("project", shell_complete=completion.projects)
@yes_option
@on_hub
def remove(project: str, yes: bool, client: HubClient) -> None:
    """Remove a project and its rules. The directory and its sessions stay.

    \b
    handraise project remove shop
    """
    found = project_named(client, project)
    rules = [each for each in client.get("/api/rules")["rules"] if each["project"] == found["id"]]
    note = f" Its {len(rules)} {'rule is' if len(rules) == 1 else 'rules are'} revoked." if rules else ""
    name = harmless(found["name"])
    confirm(f"Remove the project {name}?{note}", yes=yes)
    client.delete(f"/api/projects/{found['id']}")
    click.echo(f"Removed the project {name}.{note} The directory stays.")


@project.command()
@click.argument("project", required=False, shell_complete=completion.projects)
@click.option("-a", "--all", "everywhere", is_flag=True, help="All projects.")
@click.option("--user", is_flag=True, help="Only the hook, in your own settings: for all your projects.")
@click.option("--remove", is_flag=True, help="Remove Handraise's entries.")
@on_hub
@json_option
def sync(project: str | None, everywhere: bool, user: bool, remove: bool, client: HubClient, as_json: bool) -> None:
    """Write .mcp.json, .claude/settings.local.json and a section of CLAUDE.md, for Claude sessions you start yourself.

    With it, Claude in a terminal asks here too: questions, permissions and plans. The first answer counts.

    Existing content stays and is backed up. --remove undoes it. Without PROJECT, syncs this directory's project.
    """
    if user:
        if project is not None or everywhere:
            raise click.UsageError("--user applies to all projects. Leave out PROJECT and --all.")
        done = client.post("/api/sync", {"remove": remove})
        click.echo(json.dumps(done) if as_json else ", ".join(done["changed"]) or "no changes")
        return
    projects = client.get("/api/projects")["projects"] if everywhere else [project_named(client, project or here())]
    failed: list[HubError] = []
    for each in projects:
        try:
            done = client.post(f"/api/projects/{each['id']}/sync", {"remove": remove})
        except HubError as error:
            # The others don't wait until this one is fixed.
            failed.append(HubError(error.status, error.code, f"{each['name']}: {error}"))
            continue
        changed = ", ".join(done["changed"]) or "no changes"
        click.echo(json.dumps(done) if as_json else f"{each['name']}: {changed}")
    if failed:
        raise HubError(failed[0].status, failed[0].code, "\n".join(str(each) for each in failed))


def _directory(client: HubClient, path: str) -> str:
    """The whole path of a directory; raises UsageError if this machine's hub won't find it."""
    if client.is_elsewhere:
        if not path.startswith("/"):
            raise click.UsageError("The directory is on the hub's machine. Use its absolute path.")
        return path
    found = os.path.realpath(os.path.expanduser(path))
    if not os.path.isdir(found):
        raise click.UsageError(f"There is no directory {path!r}.")
    return found


def _changed(options: dict[str, Any], settings: tuple[str, ...]) -> dict[str, Any]:
    """The options, changed by these settings."""
    changed = {**options, "patience": dict(options.get("patience", {}))}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise click.UsageError(f"{setting!r} isn't KEY=VALUE.")
        if key not in KEYS:
            raise click.UsageError(f"There is no option {key}. Did you mean {_nearest(key)}?")
        kind, _, inner = key.partition(".")
        place, name = (changed["patience"], inner) if inner else (changed, kind)
        if text:
            place[name] = _value(key, text)
        else:
            place.pop(name, None)
    return changed


def _value(key: str, text: str) -> object:
    if key in _LISTS:
        return [each.strip() for each in _COMMA.split(text) if each.strip()]
    if key in _TEXTS:
        return text
    if key == _RULES:
        return _rules(text)
    try:
        return json.loads(text, parse_constant=int)
    except ValueError:
        what = "true or false" if key in _SWITCHES else "a number"
        raise click.UsageError(f"{key} must be {what}, not {text!r}.") from None


def _rules(text: str) -> object:
    """A JSON list, or the content of a file; the hub checks the rules themselves."""
    content = text
    if text.startswith("@"):
        try:
            content = Path(text[1:]).expanduser().read_text()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise click.UsageError(f"Can't read {text[1:]}: {why}.") from None
    try:
        return json.loads(content)
    except ValueError:
        if not text.startswith("@"):
            raise click.UsageError(f"rules must be a JSON list or @FILE, not {text!r}.") from None
    return _from_toml(content, text[1:])


def _from_toml(text: str, file: str) -> object:
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise click.UsageError(f"{file} is neither JSON nor TOML: {error}.") from None
    if set(table) != {"rule"}:
        raise click.UsageError(f"{file} must contain only [[rule]] tables.")
    # TOML dates become text, as in JSON.
    return json.loads(json.dumps(table["rule"], default=lambda each: each.isoformat()))


def _nearest(key: str) -> str:
    return get_close_matches(key, KEYS, 1, cutoff=0.0)[0]


def _show(projects: list[dict[str, Any]], as_json: bool, machines: Mapping[str, str] = MappingProxyType({})) -> None:
    for each in projects:
        if as_json:
            click.echo(json.dumps(each))
            continue
        click.echo(f"{each['id']}  {each['name']}  {each['path']}".rstrip())
        for there in each.get("elsewhere", []):
            click.echo(f"    on {harmless(machines.get(there['machine'], there['machine']))}: {there['path']}")
        for key, value in _flat(each["options"]):
            click.echo(f"    {key} = {json.dumps(value, ensure_ascii=False)}")


def _flat(options: dict[str, Any]) -> list[tuple[str, object]]:
    patience = [(f"patience.{kind}", value) for kind, value in options.get("patience", {}).items() if value is not None]
    rest = [(key, value) for key, value in options.items() if key != "patience" and value not in (None, [], ())]
    return [*rest, *patience]
