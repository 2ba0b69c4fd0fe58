"""`handraise ps`: lists sessions; `--watch` keeps the list up to date. `table.py` makes the rows."""

import sys
from datetime import UTC, datetime

import click

from handraise.cli import completion
from handraise.cli.client import HubClient, NoHub
from handraise.cli.places import json_option, state_folder, state_option
from handraise.cli.table import cut, in_colours, listing, machines, table


@click.command()
@click.option("--watch", is_flag=True, help="Keep the list up to date. Press q to quit.")
@click.option("--machine", metavar="NAME", shell_complete=completion.machines, help="Only sessions on this machine.")
@state_option
@json_option
def ps(state: str | None, as_json: bool, watch: bool, machine: str | None) -> None:
    """List sessions, those that need you first.

    \b
    handraise ps
    handraise ps --watch
    handraise ps --machine build-2
    handraise ps --json | jq -r 'select(.state == "needs you").id'
    """
    client = HubClient(state_folder(state))
    wanted = None if machine is None else client.machine(machine)
    if watch:
        from handraise.cli.watching import can_watch, keep_showing

        if as_json or not can_watch():
            raise click.UsageError("--watch needs a terminal. In a script, use: handraise ps --json")
        sys.exit(keep_showing(client, lambda width, height: _picture(client, width, height, wanted)))
    for row in listing(client, as_json=as_json, machine=wanted):
        click.echo(row)


def _picture(client: HubClient, width: int, height: int, machine: str | None) -> list[str]:
    try:
        sessions = list(client.pages("/api/sessions", "sessions", machine=machine))
        names = machines(client, sessions)
        rows = table(sessions, datetime.now(UTC), width, coloured=in_colours(), machines=names)
    except NoHub as error:
        rows = [cut(f"{error} Retrying.", width)]
    room = height - 2
    more = [f"… {len(rows) - room + 1} more"] if len(rows) > room else []
    return [*rows[: room - len(more)], *more, "", click.style("q to quit", dim=True) if in_colours() else "q to quit"]
