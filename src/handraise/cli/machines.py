"""`handraise machines`: the machines that share this hub's inbox."""

import json
import os
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import HubClient
from handraise.cli.places import ListGroup, json_option, on_hub, options_of, state_folder, state_option, yes_option
from handraise.cli.table import harmless, width_of
from handraise.client.logins import HubChoice

_ALONE = "Only this machine so far. Others join with: handraise serve --database postgresql://…"


@click.group(cls=ListGroup)
def machines() -> None:
    """List, rename and forget the machines that share this inbox.

    \b
    handraise machines
    handraise machines rename build-2 builder
    handraise ps --machine builder
    """


@machines.command("list")
@on_hub
@json_option
def list_all(client: HubClient, as_json: bool) -> None:
    """List machines: online or away, version, sessions, open requests, and how many sessions run at once."""
    found = client.get("/api/machines")["machines"]
    for row in [json.dumps(each) for each in found] if as_json else _table(found):
        click.echo(row)
    if len(found) < 2 and not as_json:
        click.echo(_ALONE, err=True)


@machines.command()
@click.argument("machine", shell_complete=completion.machines)
@click.argument("name")
@on_hub
def rename(machine: str, name: str, client: HubClient) -> None:
    """Change the name of MACHINE to NAME."""
    client.patch(_path(machine), {"name": name})


@machines.command()
@click.argument("machine", shell_complete=completion.machines)
@yes_option
@on_hub
def forget(machine: str, yes: bool, client: HubClient) -> None:
    """Forget MACHINE, which is away for good and has no sessions that haven't ended.

    If it comes back, it joins again.
    """
    if not yes:
        click.confirm(f"Forget {machine}?", abort=True)
    client.delete(_path(machine))


@machines.command("new-identity")
@click.option("-y", "--yes", is_flag=True, help="Don't ask for confirmation.")
@state_option
def new_identity(yes: bool, state: str | None) -> None:
    """Make a copied state directory a machine of its own.

    For the copy, with its hub stopped. Sessions stay with the machine that the directory was copied from, which keeps
    its identity. Needed only if hubs share a database.
    """
    from handraise.hub.hub import HubRunning, StateUnreachable, locked
    from handraise.hub.machine_file import FILE, MachineFile, MachineUnreadable

    folder = state_folder(state)
    serve = f"handraise serve{options_of(HubChoice(str(folder)), state)}"
    if not (folder / FILE).exists():
        raise click.ClickException(f"{folder} has no identity yet. Its first hub makes one: {serve}")
    if not yes:
        click.confirm(f"{folder} becomes a new machine, and doesn't continue any session. Continue?", abort=True)
    try:
        with locked(folder / "hub.lock", folder):
            file = MachineFile(folder, os.urandom)
            before = file.id
            file.renew(os.urandom)
    except (HubRunning, StateUnreachable, MachineUnreadable) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{folder} is now machine {file.id} (before: {before}). Start its hub: {serve}")


def _path(machine: str) -> str:
    return f"/api/machines/{quote(machine, safe='')}"


def _table(found: list[dict[str, Any]]) -> list[str]:
    rows = [
        [
            harmless(each["name"]),
            _state(each),
            harmless(each["version"]),
            _count(each["sessions"], "session"),
            f"{each['open_asks']} open" if each["open_asks"] else "",
            f"{each['limit']} at once" if each["limit"] else "gateway",
            "(this hub)" if each["here"] else "",
        ]
        for each in found
    ]
    wide = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(_fill(cell, width) for cell, width in zip(row, wide, strict=True) if width).rstrip() for row in rows
    ]


def _fill(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def _state(machine: dict[str, Any]) -> str:
    away = machine["away_since"]
    return f"away since {away[:16].replace('T', ' ')} UTC" if away else "online"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
