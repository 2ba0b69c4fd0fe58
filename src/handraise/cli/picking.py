"""Which session is meant when none was named: the running one, or the one a person picks from a list."""

import os
import sys
from datetime import UTC, datetime
from typing import Any

import click

from handraise.cli.client import HubClient, HubError
from handraise.cli.table import cut, harmless, table

_LISTED = 9
_WIDTH = 80


def pick(client: HubClient, *, interactive: bool) -> dict[str, Any]:
    """The only one that runs; else one that a person picks; else the one that changed last. Raises HubError."""
    sessions = list(client.pages("/api/sessions", "sessions"))
    if not sessions:
        raise HubError(404, "not_found", f'No sessions yet. Start one with: handraise run{client.options} "…"')
    sessions.sort(key=lambda each: str(each["changed_at"]), reverse=True)
    running = [each for each in sessions if each["phase"] != "ended"]
    if len(running) == 1:
        return running[0]
    offered = (running or sessions)[:_LISTED]
    if len(offered) == 1 or not (interactive and sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo(f"Following {offered[0]['id']}: {cut(harmless(offered[0]['title']), 60)}", err=True)
        return offered[0]
    return _asked(client, offered, len(running or sessions))


def _asked(client: HubClient, offered: list[dict[str, Any]], total: int) -> dict[str, Any]:
    # In the table's own order: those that need a person first.
    width = os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH
    rows = table(offered, datetime.now(UTC), width - 4, coloured=False)
    by_row = {row: next(each for each in offered if row.startswith(f"{each['id']} ")) for row in rows}
    for number, row in enumerate(rows, 1):
        click.echo(f"{number:>2}  {row}", err=True)
    if total > len(offered):
        click.echo(f"    … and {total - len(offered)} more: handraise ps{client.options}", err=True)
    number = click.prompt("Which session?", type=click.IntRange(1, len(rows)), default=1, err=True)
    return by_row[rows[number - 1]]
