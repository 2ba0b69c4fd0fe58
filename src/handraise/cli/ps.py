"""`handraise ps`: the sessions, what needs a person first; live with `--watch`. `table.py` is what it shows."""

import sys
from datetime import UTC, datetime

import click

from handraise.cli.client import HubClient, NoHub
from handraise.cli.places import json_option, state_folder, state_option
from handraise.cli.table import cut, in_colours, listing, table


@click.command()
@click.option("--watch", is_flag=True, help="Stay, and show every change; q leaves.")
@state_option
@json_option
def ps(state: str | None, as_json: bool, watch: bool) -> None:
    """List the sessions: what needs you first.

    \b
    handraise ps
    handraise ps --watch
    handraise ps --json | jq -r 'select(.state == "needs you").id'
    """
    client = HubClient(state_folder(state))
    if watch:
        from handraise.cli.watching import can_watch, keep_showing

        if as_json or not can_watch():
            raise click.UsageError("--watch draws on a terminal; for a script there is: handraise ps --json.")
        sys.exit(keep_showing(client, lambda width, height: _picture(client, width, height)))
    for row in listing(client, as_json=as_json):
        click.echo(row)


def _picture(client: HubClient, width: int, height: int) -> list[str]:
    try:
        sessions = list(client.pages("/api/sessions", "sessions"))
        rows = table(sessions, datetime.now(UTC), width, coloured=in_colours())
    except NoHub as error:
        rows = [cut(f"{error} Trying again.", width)]
    room = height - 2
    more = [f"… {len(rows) - room + 1} more"] if len(rows) > room else []
    return [*rows[: room - len(more)], *more, "", click.style("q leaves", dim=True) if in_colours() else "q leaves"]
