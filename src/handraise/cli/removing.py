"""`handraise rm` and `handraise prune`: delete sessions that have ended. Never ends one that runs."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import HubClient, HubError
from handraise.cli.finding import session_named
from handraise.cli.places import confirm, on_hub, yes_option
from handraise.cli.table import cut, harmless

_LISTED = 10
_TITLE = 60


@click.command()
@click.argument("sessions", nargs=-1, required=True, shell_complete=completion.sessions)
@yes_option
@on_hub
def rm(sessions: tuple[str, ...], yes: bool, client: HubClient) -> None:
    """Remove sessions that have ended.

    Deletes their timelines, requests and journals. The audit log stays, and so does what Claude Code itself saved. A
    session that runs is refused: stop it first.

    \b
    handraise rm s_…
    handraise rm $(handraise ps -q --search experiment)
    """
    found = {each["id"]: each for each in (session_named(client, name) for name in sessions)}
    living = [each for each in found.values() if each["phase"] != "ended"]
    if living:
        rows = "\n".join(_row(each) for each in living)
        raise HubError(409, "not_ended", f"Nothing was removed. These haven't ended; stop them first:\n{rows}")
    _remove(client, list(found.values()), yes=yes)


@click.command()
@click.option(
    "--days", type=click.FloatRange(min=0), default=30, metavar="N", help="Ended at least N days ago (default: 30)."
)
@yes_option
@on_hub
def prune(days: float, yes: bool, client: HubClient) -> None:
    """Remove all sessions that ended a while ago.

    Old items are removed by themselves ([store] keep_days); this also removes the sessions from lists.

    \b
    handraise prune --days 7
    """
    before = datetime.now(UTC) - timedelta(days=days)
    found = [
        each
        for each in client.pages("/api/sessions", "sessions", state="ended")
        if each["phase"] == "ended" and datetime.fromisoformat(each["changed_at"]) <= before
    ]
    online = {"", *(each["id"] for each in client.get("/api/machines")["machines"] if not each["away_since"])}
    away = [each for each in found if each.get("machine", "") not in online]
    found = [each for each in found if each not in away]
    if away:
        click.echo(f"Left out {len(away)} on machines that are away.", err=True)
    if not found:
        click.echo("Nothing to remove.")
        return
    _remove(client, found, yes=yes)


def _remove(client: HubClient, sessions: list[dict[str, Any]], *, yes: bool) -> None:
    count = f"{len(sessions)} {'session' if len(sessions) == 1 else 'sessions'}"
    if not yes:
        for each in sessions[:_LISTED]:
            click.echo(_row(each), err=True)
        if len(sessions) > _LISTED:
            click.echo(f"  … and {len(sessions) - _LISTED} more", err=True)
    confirm(f"Remove {count}? This can't be undone.", yes=yes)
    for each in sessions:
        client.delete(f"/api/sessions/{quote(each['id'], safe='')}")
    click.echo(f"Removed {count}.")


def _row(session: dict[str, Any]) -> str:
    return f"  {session['id']}  {session['state']}  {cut(harmless(session['title']), _TITLE)}"
