"""`handraise trust`: what was decided about directories that bring hooks, servers, permissions or helpers."""

import json
import os
from typing import Any
from urllib.parse import urlencode

import click

from handraise.cli.client import HubClient
from handraise.cli.places import json_option, state_folder, state_option
from handraise.cli.plain import plain

_LEVELS = {"exactly": "trusted", "without": "runs without", "never": "never"}


@click.group(invoke_without_command=True)
@click.pass_context
def trust(ctx: click.Context) -> None:
    """List and revoke trust in directories: whether what they bring is used."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_all, state=None, as_json=False)


@trust.command("list")
@state_option
@json_option
def list_all(state: str | None, as_json: bool) -> None:
    """List what was decided, by directory."""
    found = HubClient(state_folder(state)).get("/api/trust")["trust"]
    for each in found:
        click.echo(json.dumps(each, ensure_ascii=False) if as_json else _line(each))
    if not found and not as_json:
        click.echo("Nothing decided yet. You are asked when a session starts in a directory that brings something.")


@trust.command()
@click.argument("directory", type=click.Path())
@state_option
def revoke(directory: str, state: str | None) -> None:
    """Forget what was decided about DIRECTORY. New sessions there ask again; running ones stay as they are."""
    named = urlencode({"directory": os.path.realpath(directory)})
    HubClient(state_folder(state)).delete(f"/api/trust?{named}")


def _line(decided: dict[str, Any]) -> str:
    at = decided["made_at"][:16].replace("T", " ")
    return plain(f"{_LEVELS[decided['level']]:<12}  {decided['directory']}  · by {decided['made_by']} · {at} UTC")
