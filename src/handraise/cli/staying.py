"""`handraise run`, `attach` and `inbox`: stay with what Claude does, in the terminal."""

import base64
import mimetypes
import os
import sys
from pathlib import Path
from typing import Any

import click

from handraise.cli.neighbour import Failed, Neighbour, NoHub
from handraise.cli.places import state_folder, state_option

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

hub_option = click.option(
    "--hub", metavar="URL", envvar="HANDRAISE_HUB", help="Another machine's hub; its token is in $HANDRAISE_TOKEN."
)
plain_option = click.option("--plain", is_flag=True, help="Numbered choices and typed lines; nothing is drawn.")


@click.command()
@click.argument("text", required=False)
@click.option("--project", metavar="NAME", help="A project's name, id or directory; this directory unless set.")
@click.option("--mode", metavar="M", help="The permission mode: default, acceptEdits, plan, …")
@click.option("--model", metavar="M", help="The model, by Claude's own name for it.")
@click.option(
    "--image", "images", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A picture to show."
)
@click.option("--resume", metavar="ID", help="Go on with a session that has ended.")
@click.option("--fork", is_flag=True, help="With --resume: begin a new session from there.")
@click.option("--detach", is_flag=True, help="Only start it, and print its id.")
@click.option("--json", "as_json", is_flag=True, help="Every item as one JSON object a line.")
@click.option("--patience", type=float, metavar="SECONDS", help="Without a terminal: how long to wait for an answer.")
@plain_option
@hub_option
@state_option
def run(text: str | None, state: str | None, hub: str | None, plain: bool, **given: Any) -> None:  # noqa: ANN401 (click's own)
    """Start a session in this directory and stay with it.

    Ctrl-C interrupts the turn, twice leaves; Ctrl-D leaves at once. The session goes on.
    What you type is said to Claude, during a turn too. Starts a hub if none runs.

    \b
    handraise run "Add a health endpoint, with a test"
    git diff | handraise run "Review this"
    handraise run --mode plan --image screenshot.png "Build this page"
    handraise run --resume s_… "And now the documentation"
    handraise run --json --patience 600 "Update the changelog" > items.ndjson
    """
    from handraise.cli.seat import Manner, Wanted, Where, begin

    manner = Manner(plain, given.pop("as_json"), given.pop("patience"), given.pop("detach"))
    if given["fork"] and not given["resume"]:
        raise click.UsageError("--fork needs --resume ID: the session to begin from.")
    wanted = Wanted(_words(text, given.pop("images"), resuming=given["resume"] is not None), **given)
    if hub is None:
        _ensure_hub(state_folder(state), quiet=manner.as_json)
    elif wanted.project is None and wanted.resume is None:
        raise click.UsageError("Another machine has other directories: name one of its projects with --project.")
    sys.exit(begin(Where(state_folder(state), hub, os.environ.get("HANDRAISE_TOKEN")), wanted, manner))


def _sessions(ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """For the shell: the sessions whose id begins like this."""
    try:
        found = Neighbour(state_folder(ctx.params.get("state"))).get("/api/sessions")["sessions"]
    except (NoHub, Failed):
        return []
    return [each["id"] for each in found if each["id"].startswith(begun)]


@click.command()
@click.argument("session", shell_complete=_sessions)
@click.option("--json", "as_json", is_flag=True, help="Every item as one JSON object a line.")
@click.option("--patience", type=float, metavar="SECONDS", help="Without a terminal: how long to wait for an answer.")
@plain_option
@hub_option
@state_option
def attach(
    session: str, state: str | None, hub: str | None, as_json: bool, patience: float | None, plain: bool
) -> None:
    """Join a session: what it did last, and what comes.

    \b
    handraise attach s_…
    """
    from handraise.cli.seat import Manner, Where, join

    where = Where(state_folder(state), hub, os.environ.get("HANDRAISE_TOKEN"))
    sys.exit(join(where, session, Manner(plain, as_json, patience)))


@click.command()
@plain_option
@hub_option
@state_option
def inbox(state: str | None, hub: str | None, plain: bool) -> None:
    """Answer whatever is open, from all sessions; what comes later arrives by itself.

    \b
    handraise inbox
    handraise inbox --plain
    """
    from handraise.cli.seat import Manner, Where, clear_inbox

    sys.exit(clear_inbox(Where(state_folder(state), hub, os.environ.get("HANDRAISE_TOKEN")), Manner(plain)))


def _words(text: str | None, images: tuple[str, ...], *, resuming: bool) -> str | tuple[dict[str, Any], ...] | None:
    """The text, what came through a pipe, and the pictures; None where a resumed session needs nothing said."""
    piped = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
    told = "\n\n".join(each for each in (text, piped) if each and each.strip())
    pictures = tuple(_picture(Path(each)) for each in images)
    if pictures:
        return (*([{"type": "text", "text": told}] if told else []), *pictures)
    if told:
        return told
    if resuming:
        return None
    raise click.UsageError('Say what Claude should do: handraise run "…", or pipe it in.')


def _picture(path: Path) -> dict[str, Any]:
    kind, _ = mimetypes.guess_type(path.name)
    if kind not in _PICTURES:
        raise click.UsageError(f"{path} is no picture that Claude reads: PNG, JPEG, GIF or WebP.")
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(path.read_bytes()).decode()}
    return {"type": "image", "source": source}


def _ensure_hub(state: Path, *, quiet: bool) -> None:
    from handraise.cli.background import LOG, start_hub

    if Neighbour(state).is_there():
        return
    if not quiet:
        click.echo(f"No hub runs here; starting one in the background (its log: {state / LOG}).", err=True)
    start_hub(state)
