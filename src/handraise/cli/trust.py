"""`handraise trust`: decisions about directories with their own hooks, servers, permissions or helpers."""

import json
import os
from typing import Any
from urllib.parse import urlencode

import click

from handraise.cli.client import HubClient
from handraise.cli.places import json_option, state_folder, state_option
from handraise.cli.table import harmless

_LEVELS = {"exactly": "trusted", "without": "runs without", "never": "never"}


@click.group(invoke_without_command=True)
@click.pass_context
def trust(ctx: click.Context) -> None:
    """List and revoke which directories may use their own hooks, servers and permissions."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_all, state=None, as_json=False)


@trust.command("list")
@state_option
@json_option
def list_all(state: str | None, as_json: bool) -> None:
    """List decisions by directory."""
    found = HubClient(state_folder(state)).get("/api/trust")["trust"]
    for each in found:
        click.echo(json.dumps(each, ensure_ascii=False) if as_json else _line(each))
    if not found and not as_json:
        click.echo(
            "No decisions yet. You are asked when a session starts in a directory with its own hooks or servers."
        )


@trust.command()
@click.argument("directory", type=click.Path())
@state_option
def revoke(directory: str, state: str | None) -> None:
    """Revoke the decision about DIRECTORY. New sessions there ask again; running ones don't change."""
    query = urlencode({"directory": os.path.realpath(directory)})
    HubClient(state_folder(state)).delete(f"/api/trust?{query}")


def _line(decision: dict[str, Any]) -> str:
    at = decision["made_at"][:16].replace("T", " ")
    return harmless(f"{_LEVELS[decision['level']]:<12}  {decision['directory']}  · by {decision['made_by']} · {at} UTC")
