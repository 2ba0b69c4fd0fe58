"""`handraise search`: finds words in all sessions, or in one."""

import json
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import click

from handraise.cli import completion
from handraise.cli.client import HubClient
from handraise.cli.finding import session_named
from handraise.cli.places import json_option, on_hub
from handraise.cli.table import cut, harmless, in_colours, width_of

_KINDS = {
    "said": "message",
    "text": "Claude",
    "thinking": "thinking",
    "action": "action",
    "output": "output",
    "request": "request",
    "notice": "notice",
}
_PAGE = 50
_NARROW = 60
"""With fewer columns, the text stands below its time and kind."""
_ENDLESS = 10_000
_BOLD, _DIM = "1", "2"


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("-s", "--session", metavar="SESSION", shell_complete=completion.sessions, help="Only in this session.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1, max=1000),
    default=20,
    show_default=True,
    metavar="N",
    help="The N newest results.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only the IDs of sessions, each once.")
@click.option("--wide", is_flag=True, help="Cut nothing off.")
@on_hub
@json_option
def search(
    words: tuple[str, ...],
    client: HubClient,
    session: str | None,
    limit: int,
    quiet: bool,
    wide: bool,
    as_json: bool,
) -> None:
    """Search all sessions: messages, Claude's text, commands, files, output and requests.

    Finds what contains every word, newest first. Exits with 1 if nothing is found, like grep.

    \b
    handraise search database migration
    handraise search --session s_… "npm test"
    handraise search --quiet timeout | head -1 | xargs handraise attach
    handraise search --json timeout | jq -r .text
    """
    if as_json + quiet + wide > 1:
        raise click.UsageError("Use one of --json, --quiet and --wide.")
    within = None if session is None else session_named(client, session)["id"]
    query = " ".join(words)
    found = list(_found(client, query, within, limit + 1))
    shown = found[:limit]
    if as_json:
        rows = [json.dumps(each) for each in shown]
    elif quiet:
        rows = list(dict.fromkeys(each["session"] for each in shown if each["session"]))
    else:
        rows = _listed(client, shown, query.lower().split(), wide=wide)
    for row in rows:
        click.echo(row)
    if not found:
        click.echo("Nothing found. Every word has to be in the same message, command, output or request.", err=True)
        sys.exit(1)
    if len(found) > limit and not as_json and not quiet:
        click.echo(f"\nThe {limit} newest results are shown. Use -n for more.", err=True)


def _found(client: HubClient, query: str, session: str | None, most: int) -> Iterator[dict[str, Any]]:
    before: int | None = None
    while most > 0:
        page = client.get("/api/search", q=query, session=session, before=before, limit=min(most, _PAGE))
        yield from page["found"][:most]
        most -= len(page["found"])
        before = page["next"]
        if before is None:
            return


def _listed(client: HubClient, found: list[dict[str, Any]], words: list[str], *, wide: bool) -> list[str]:
    """By session, the one with the newest result first: its ID, as `show` and `attach` take it, and its title."""
    terminal = sys.stdout.isatty()
    width = _ENDLESS if wide or not terminal else os.get_terminal_size(sys.stdout.fileno()).columns or _ENDLESS
    coloured = terminal and in_colours()
    titles = {each["id"]: each["title"] for each in client.pages("/api/sessions", "sessions")} if found else {}
    rows: list[str] = []
    for identity in dict.fromkeys(each["session"] for each in found):
        title = harmless(titles.get(identity, "")) if identity else "Requests from external agents"
        head = f"{identity}  {title}".rstrip() if identity else title
        rows += [*([""] if rows else []), _painted(cut(head, width), _BOLD, coloured)]
        for each in found:
            if each["session"] == identity:
                rows += _hit(each, words, width, coloured)
    return rows


def _hit(hit: dict[str, Any], words: list[str], width: int, coloured: bool) -> list[str]:
    facts = f"  {_time(hit['at'])}  {_KINDS.get(hit['kind'], hit['kind']):<8}"
    text = harmless(hit["text"])
    if width < _NARROW:
        below = _marked(cut(text, width - 4), words, coloured)
        return [_painted(cut(facts.rstrip(), width), _DIM, coloured), f"    {below}"]
    room = width - width_of(facts) - 2
    return [f"{_painted(facts, _DIM, coloured)}  {_marked(cut(text, room), words, coloured)}"]


def _marked(text: str, words: list[str], coloured: bool) -> str:
    if not coloured:
        return text
    pattern = "|".join(re.escape(each) for each in sorted(words, key=len, reverse=True))
    return re.sub(pattern, lambda found: _painted(found[0], _BOLD, coloured), text, flags=re.IGNORECASE)


def _time(text: str) -> str:
    """In this terminal's time zone, with the year if it is another one."""
    at, now = datetime.fromisoformat(text).astimezone(), datetime.now(UTC).astimezone()
    return at.strftime("%b %d %H:%M" if at.year == now.year else "%b %d %Y")


def _painted(text: str, style: str, coloured: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if coloured and text else text
