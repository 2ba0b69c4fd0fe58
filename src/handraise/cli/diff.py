"""`handraise diff`: what a session changed in its working tree, as a list or as a diff."""

import json
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import HubClient, HubError
from handraise.cli.finding import session_named
from handraise.cli.places import json_option, on_hub
from handraise.cli.table import harmless, in_colours

_PART = 5_000
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_NO_DIFF = {
    "binary": "Binary file, not shown.",
    "large": "Too large to show.",
    "link": "Symbolic link, not shown.",
    "secret": "May contain secrets, not shown.",
}
_NO_REVIEW = "This session's directory isn't a Git repository."
_OLDER_HUB = "This hub is too old to show files of another machine. Update it, or run this command there."


@click.command()
@click.argument("session", shell_complete=completion.sessions)
@click.argument("paths", nargs=-1)
@click.option("--stat", is_flag=True, help="Only list the files.")
@on_hub
@json_option
def diff(session: str, paths: tuple[str, ...], stat: bool, client: HubClient, as_json: bool) -> None:
    """Show what a session changed in its working tree since it started.

    With PATHS, only these files, relative to the session's directory. With --json, prints one file per line.

    \b
    handraise diff s_…
    handraise diff s_… --stat
    handraise diff s_… src/app.py | less
    """
    root = f"/api/sessions/{quote(session_named(client, session)['id'], safe='')}/changes"
    found = client.get(root)
    if found["source"] != "git":
        raise HubError(409, "refused", _NO_REVIEW if found["source"] == "none" else _OLDER_HUB)
    files = [each for each in found["files"] if not paths or each["path"] in paths]
    if missing := sorted({*paths} - {each["path"] for each in files}):
        raise click.UsageError(f"No changes in {', '.join(map(repr, missing))}.")
    coloured = sys.stdout.isatty() and in_colours()
    for each in files:
        if as_json:
            click.echo(json.dumps(each, ensure_ascii=False))
        elif stat:
            click.echo(_line(each))
        else:
            for line in _diff(client, root, each):
                click.echo(_coloured(line) if coloured else line)
    if found["more"] and not paths:
        click.echo(f"Only the first {len(found['files'])} files are listed.", err=True)


def _line(file: dict[str, Any]) -> str:
    lines = "" if file["added"] is None else f"  +{file['added']} -{file['gone']}"
    return f"{file['status']:<8}  {harmless(file['path'])}{lines}"


def _diff(client: HubClient, root: str, file: dict[str, Any]) -> Iterator[str]:
    path, status = file["path"], file["status"]
    yield f"--- {'/dev/null' if status == 'added' else f'a/{harmless(path)}'}"
    yield f"+++ {'/dev/null' if status == 'deleted' else f'b/{harmless(path)}'}"
    file_path = f"{root}/file?path={quote(path, safe='')}&limit={_PART}"
    shown = client.get(file_path)
    if shown["problem"]:
        yield _NO_DIFF.get(shown["problem"], "Not shown.")
        return
    first = 0
    while lines := shown["part"]["text"].split("\n")[:-1]:
        # The hub has marked hidden characters. Tabs are part of a diff.
        yield from ("\t".join(map(harmless, line.split("\t"))) for line in lines)
        first += len(lines)
        if first >= shown["part"]["lines"]:
            return
        shown = client.get(f"{file_path}&first={first}&digest={quote(shown['digest'])}")


def _coloured(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return click.style(line, bold=True)
    return click.style(line, fg=_COLOURS[line[0]]) if line[:1] in _COLOURS else line
