"""`handraise ps`: the sessions, what needs a person first; live with `--watch`. `table.py` is what it shows."""

import sys
from datetime import UTC, datetime

import click

from handraise.cli.neighbour import Neighbour, NoHub
from handraise.cli.places import json_option, state_folder, state_option
from handraise.cli.table import listing, table


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
    neighbour = Neighbour(state_folder(state))
    if watch and not as_json and sys.stdout.isatty():
        from handraise.cli.watching import keep_showing

        keep_showing(neighbour, lambda width, height: _picture(neighbour, width, height))
        return
    for row in listing(neighbour, as_json=as_json):
        click.echo(row)


def _picture(neighbour: Neighbour, width: int, height: int) -> list[str]:
    try:
        rows = table(neighbour.get("/api/sessions")["sessions"], datetime.now(UTC), width, coloured=True)
    except NoHub as error:
        rows = [str(error)]
    room = height - 2
    more = [f"… {len(rows) - room + 1} more"] if len(rows) > room else []
    return [*rows[: room - len(more)], *more, "", click.style("q leaves", dim=True)]
