"""`handraise audit`: who answered what, when, from where, and what they were shown."""

import json
from collections.abc import Iterator
from typing import Any

import click

from handraise.cli.client import HubClient
from handraise.cli.places import json_option, on_hub
from handraise.cli.table import harmless

_PAGE = 1000


@click.command()
@click.option("-s", "--session", metavar="ID", help="Only this session.")
@click.option("--ask", metavar="ID", help="Only this request.")
@click.option("--by", metavar="NAME", help="Only by this person or rule.")
@click.option("--what", metavar="WHAT", help="Only this kind of entry: answered, refused, login, 'token made', …")
@click.option("-n", "--last", type=click.IntRange(min=1, max=1000), metavar="N", help="Only the last N entries.")
@on_hub
@json_option
def audit(client: HubClient, as_json: bool, last: int | None, **filters: str | None) -> None:
    """Show the audit log: who did what, and when. With --json, exports complete entries, one per line, oldest first."""
    for entry in _entries(client, filters) if last is None else _last(client, filters, last):
        click.echo(json.dumps(entry, ensure_ascii=False) if as_json else _line(entry))


def _entries(client: HubClient, filters: dict[str, str | None]) -> Iterator[dict[str, Any]]:
    after: int | None = 0
    while after is not None:
        page = client.get("/api/audit", after=after, limit=_PAGE, **filters)
        yield from page["entries"]
        after = page["next"]


def _last(client: HubClient, filters: dict[str, str | None], count: int) -> list[dict[str, Any]]:
    newest: list[dict[str, Any]] = client.get("/api/audit", limit=count, order="newest", **filters)["entries"]
    return newest[::-1]


def _line(entry: dict[str, Any]) -> str:
    about = entry["ask"] or entry["session"] or entry["rule"] or entry["detail"].get("name", "")
    detail = entry["detail"].get("answer") or entry["detail"].get("reason") or entry["detail"].get("tried") or ""
    outcome = detail if isinstance(detail, str) else json.dumps(detail, ensure_ascii=False)
    times = entry["detail"].get("times")
    more = f"({times} more)" if times else ""
    words = [
        entry["at"][:19],
        f"{entry['what']:<15}",
        entry["by"]["name"],
        f"({entry['source']})",
        about,
        outcome,
        more,
    ]
    return harmless(" ".join(word for word in words if word))
