"""`handraise ps`: lists sessions; `--watch` keeps the list up to date. `table.py` makes the rows."""

import sys
from datetime import UTC, datetime

import click

from handraise.cli.client import HubClient, NoHub
from handraise.cli.places import json_option, state_folder, state_option
from handraise.cli.table import cut, in_colours, listing, table


@click.command()
@click.option("--watch", is_flag=True, help="Keep the list up to date. Press q to quit.")
@state_option
@json_option
def ps(state: str | None, as_json: bool, watch: bool) -> None:
    """List sessions, those that need you first.

    \b
    handraise ps
    handraise ps --watch
    handraise ps --json | jq -r 'select(.state == "needs you").id'
    """
    client = HubClient(state_folder(state))
    if watch:
        from handraise.cli.watching import can_watch, keep_showing

        if as_json or not can_watch():
            raise click.UsageError("--watch needs a terminal. In a script, use: handraise ps --json")
        sys.exit(keep_showing(client, lambda width, height: _picture(client, width, height)))
    for row in listing(client, as_json=as_json):
        click.echo(row)


def _picture(client: HubClient, width: int, height: int) -> list[str]:
    try:
        sessions = list(client.pages("/api/sessions", "sessions"))
        rows = table(sessions, datetime.now(UTC), width, coloured=in_colours())
    except NoHub as error:
        rows = [cut(f"{error} Retrying.", width)]
    room = height - 2
    more = [f"… {len(rows) - room + 1} more"] if len(rows) > room else []
    return [*rows[: room - len(more)], *more, "", click.style("q to quit", dim=True) if in_colours() else "q to quit"]
