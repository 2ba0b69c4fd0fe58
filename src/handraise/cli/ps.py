"""`handraise ps`: lists sessions; `--watch` keeps the list up to date. `table.py` makes the rows."""

import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

from handraise.cli import completion
from handraise.cli.client import HubClient, NoHub
from handraise.cli.finding import project_named
from handraise.cli.places import json_option, on_hub
from handraise.cli.table import cut, harmless, in_colours, machines, shown, table

Sessions = list[dict[str, Any]]

_FIELD = re.compile(r"\{([^{}]*)\}")
_ESCAPES = {r"\t": "\t", r"\n": "\n", r"\\": "\\"}
_ESCAPE = re.compile(r"\\[tn\\]")


@click.command()
@click.option("-w", "--watch", is_flag=True, help="Keep the list up to date. Press q to quit.")
@click.option("-r", "--running", is_flag=True, help="Only sessions that haven't ended.")
@click.option("--needs-you", is_flag=True, help="Only sessions that wait for a person.")
@click.option("-p", "--project", metavar="NAME", shell_complete=completion.projects, help="Only in this project.")
@click.option("--machine", metavar="NAME", shell_complete=completion.machines, help="Only on this machine.")
@click.option("-s", "--search", metavar="TEXT", help="Only with this text in the title, directory or ID.")
@click.option("-n", "--last", type=click.IntRange(min=1), metavar="N", help="Only the N that changed last.")
@click.option("-q", "--quiet", is_flag=True, help="Print only IDs.")
@click.option("--wide", is_flag=True, help="Every column, and nothing cut off.")
@click.option("--narrow", is_flag=True, help="Only ID, state and title.")
@click.option(
    "--format", "template", metavar="TEXT", help="Print each session like this, for example '{id}\\t{title}'."
)
@on_hub
@json_option
def ps(
    client: HubClient,
    as_json: bool,
    watch: bool,
    quiet: bool,
    wide: bool,
    narrow: bool,
    template: str | None,
    **filters: Any,  # noqa: ANN401 (click's own)
) -> None:
    """List sessions, those that need you first.

    \b
    handraise ps
    handraise ps --watch --needs-you
    handraise ps --project shop --running
    handraise ps --format '{id}\t{state}\t{title}'
    handraise ps --json | jq -r 'select(.state == "needs you").id'
    """
    if sum(map(bool, (as_json, quiet, template, wide, narrow))) > 1:
        raise click.UsageError("Use one of --json, --quiet, --format, --wide and --narrow.")
    looked_up = _Filter(client, **filters)
    if watch:
        from handraise.cli.watching import can_watch, keep_showing

        if as_json or quiet or template or not can_watch():
            raise click.UsageError("--watch needs a terminal. In a script, use: handraise ps --json")
        sys.exit(keep_showing(client, lambda width, height: _picture(client, width, height, looked_up, narrow=narrow)))
    sessions = looked_up.sessions()
    if not sessions and looked_up.narrows and not (as_json or quiet or template):
        click.echo(f"No session matches. List all with: handraise ps{client.options}", err=True)
        return
    for row in _rows(client, sessions, as_json=as_json, quiet=quiet, template=template, wide=wide, narrow=narrow):
        click.echo(row)


class _Filter:
    """Which sessions are wanted."""

    def __init__(
        self,
        client: HubClient,
        running: bool,
        needs_you: bool,
        project: str | None,
        machine: str | None,
        search: str | None,
        last: int | None,
    ) -> None:
        self._client = client
        self._last = last
        self._query = {
            "project": None if project is None else project_named(client, project)["id"],
            "machine": None if machine is None else client.machine(machine),
            "q": search,
        }
        self._wanted: list[Callable[[dict[str, Any]], bool]] = []
        if running:
            self._wanted.append(lambda each: each["ended"] is None and each["phase"] != "ended")
        if needs_you:
            self._wanted.append(lambda each: bool(each["open_asks"] or each.get("dialog")))
        self.narrows = bool(self._wanted or last or any(self._query.values()))

    def sessions(self) -> Sessions:
        found = list(self._client.pages("/api/sessions", "sessions", **self._query))
        found = [each for each in found if all(wanted(each) for wanted in self._wanted)]
        if self._last is None:
            return found
        return sorted(found, key=lambda each: str(each["changed_at"]), reverse=True)[: self._last]


def _rows(
    client: HubClient,
    sessions: Sessions,
    *,
    as_json: bool,
    quiet: bool,
    template: str | None,
    wide: bool,
    narrow: bool,
) -> list[str]:
    if as_json:
        return [json.dumps(each) for each in sessions]
    if quiet:
        return [each["id"] for each in sessions]
    if template is not None:
        return [formatted(template, each) for each in sessions]
    return shown(client, sessions, wide=wide, narrow=narrow)


def formatted(template: str, session: dict[str, Any]) -> str:
    """The template with the session's fields; raises UsageError. A field's text never ends a line."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in session:
            raise click.UsageError(f"There is no field {{{name}}}. Use one of: {', '.join(sorted(session))}.")
        field = session[name]
        text = field if isinstance(field, str) else "" if field is None else json.dumps(field, ensure_ascii=False)
        return harmless(text)

    return _FIELD.sub(value, _ESCAPE.sub(lambda found: _ESCAPES[found[0]], template))


def _picture(client: HubClient, width: int, height: int, wanted: _Filter, *, narrow: bool) -> list[str]:
    try:
        sessions = wanted.sessions()
        names = machines(client, sessions)
        rows = table(
            sessions,
            datetime.now(UTC),
            width,
            coloured=in_colours(),
            machines=names,
            headers=bool(sessions),
            narrow=narrow,
        )
        if not sessions and wanted.narrows:
            rows = ["No session matches."]
    except NoHub as error:
        rows = [cut(f"{error} Retrying.", width)]
    room = height - 2
    more = [f"… {len(rows) - room + 1} more"] if len(rows) > room else []
    return [*rows[: room - len(more)], *more, "", click.style("q to quit", dim=True) if in_colours() else "q to quit"]
