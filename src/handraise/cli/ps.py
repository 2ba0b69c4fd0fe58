"""`handraise ps`: the sessions as a table, what needs a person first; live with `--watch`."""

import json
import shutil
import sys
import unicodedata
from datetime import UTC, datetime
from typing import Any

import click

from handraise.cli.neighbour import Neighbour, NoHub
from handraise.cli.places import json_option, state_folder, state_option

_ORDER = {"needs you": 0, "failed": 1, "lost": 1, "not moving": 1, "working": 2, "starting": 2, "queued": 3, "idle": 4}
_COLOURS = {"needs you": "yellow", "failed": "red", "lost": "red", "not moving": "red", "working": "green"}
_TITLE_AT = 54


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
    sessions = neighbour.get("/api/sessions")["sessions"]
    if as_json:
        for session in sessions:
            click.echo(json.dumps(session))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    for row in table(sessions, datetime.now(UTC), width):
        click.echo(row)


def table(sessions: list[dict[str, Any]], now: datetime, width: int) -> list[str]:
    """The sessions, a line each; a line that says how to begin where there are none."""
    if not sessions:
        return ['No sessions yet. Start one with: handraise run "…"']
    return [_row(each, now, width) for each in sorted(sessions, key=lambda each: _ORDER.get(each["state"], 5))]


def _picture(neighbour: Neighbour, width: int, height: int) -> list[str]:
    try:
        rows = table(neighbour.get("/api/sessions")["sessions"], datetime.now(UTC), width)
    except NoHub as error:
        rows = [str(error)]
    room = height - 2
    more = [f"… {len(rows) - room + 1} more"] if len(rows) > room else []
    return [*rows[: room - len(more)], *more, "", click.style("q leaves", dim=True)]


def _row(session: dict[str, Any], now: datetime, width: int) -> str:
    state = session["state"]
    asks = f"{session['open_asks']} open" if session["open_asks"] else ""
    age = _age(now - datetime.fromisoformat(session["changed_at"]))
    coloured = click.style(f"{state:<10}", fg=_COLOURS.get(state), bold=state == "needs you")
    head = f"{session['id']}  {coloured} {asks:<7} {age:>6} {session['cost_usd']:>8.4f} $  "
    taken = len(session["id"]) + _TITLE_AT - 14
    return head + _cut(_plain(session["title"]), max(10, width - taken))


def _age(span: Any) -> str:  # noqa: ANN401 (a timedelta)
    seconds = max(0, int(span.total_seconds()))
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name}"
    return f"{seconds} s"


def _cut(text: str, width: int) -> str:
    taken = 0
    for at, letter in enumerate(text):
        taken += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if taken > width:
            return text[: max(0, at - 1)] + "…"
    return text


def _plain(text: str) -> str:
    """Without anything that could move the cursor or colour the line."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)
