"""`handraise trust`: decisions about directories with their own hooks, servers, permissions or helpers."""

import json
import os
from typing import Any
from urllib.parse import urlencode

import click

from handraise.cli import completion
from handraise.cli.client import HubClient
from handraise.cli.places import ListGroup, json_option, on_hub
from handraise.cli.table import harmless, machines

_LEVELS = {"exactly": "trusted", "without": "runs without", "never": "never"}


@click.group(cls=ListGroup)
def trust() -> None:
    """List and revoke which directories may use their own hooks, servers and permissions."""


@trust.command("list")
@on_hub
@json_option
def list_all(client: HubClient, as_json: bool) -> None:
    """List decisions by directory."""
    found = client.get("/api/trust")["trust"]
    names = {} if as_json else machines(client, found)
    for each in found:
        click.echo(json.dumps(each, ensure_ascii=False) if as_json else _line(each, names.get(each["machine"], "")))
    if not found and not as_json:
        click.echo(
            "No decisions yet. You are asked when a session starts in a directory with its own hooks or servers."
        )


@trust.command()
@click.argument("directory", type=click.Path())
@click.option(
    "--machine", metavar="NAME", shell_complete=completion.machines, help="On this machine (default: the hub's own)."
)
@on_hub
def revoke(directory: str, machine: str | None, client: HubClient) -> None:
    """Revoke the decision about DIRECTORY. New sessions there ask again; running ones don't change."""
    there = {"directory": directory, "machine": machine} if machine else {"directory": os.path.realpath(directory)}
    query = urlencode(there)
    client.delete(f"/api/trust?{query}")


def _line(decision: dict[str, Any], machine: str) -> str:
    where = f" on {machine}" if machine else ""
    at = decision["made_at"][:16].replace("T", " ")
    return harmless(
        f"{_LEVELS[decision['level']]:<12}  {decision['directory']}{where}  · by {decision['made_by']} · {at} UTC"
    )
