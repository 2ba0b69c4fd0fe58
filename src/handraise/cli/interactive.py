"""`handraise run`, `attach` and `inbox`: stay with what Claude does, in the terminal."""

import base64
import mimetypes
import os
import select
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handraise.cli import completion
from handraise.cli.client import INTERRUPTED, HubClient, HubError
from handraise.cli.places import address_in, hub_option, piped, state_folder, state_option

if TYPE_CHECKING:
    from handraise.cli.interactive_session import HubTarget

_SILENCE = 5.0
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

patience_option = click.option(
    "--patience",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Without a terminal: how long to wait for an answer, or in the queue.",
)
plain_option = click.option("--plain", is_flag=True, help="Numbered choices and typed lines; nothing is drawn.")


@click.command()
@click.argument("text", required=False)
@click.option(
    "--project",
    metavar="NAME",
    shell_complete=completion.projects,
    help="A project's name, id or directory; this directory unless set.",
)
@click.option("--mode", metavar="M", help="The permission mode: default, acceptEdits, plan, …")
@click.option("--model", metavar="M", help="The model, by Claude's own name for it.")
@click.option(
    "--image", "images", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A picture to show."
)
@click.option("--resume", metavar="ID", shell_complete=completion.sessions, help="Go on with a session that has ended.")
@click.option("--fork", is_flag=True, help="With --resume: begin a new session from there.")
@click.option("--detach", is_flag=True, help="Only start it, and print its id.")
@click.option("--json", "as_json", is_flag=True, help="Every item as one JSON object a line.")
@patience_option
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
    from handraise.cli.interactive_session import OutputOptions, SessionRequest, begin

    manner = OutputOptions(plain, given.pop("as_json"), given.pop("patience"), given.pop("detach"))
    if given["fork"] and not given["resume"]:
        raise click.UsageError("--fork needs --resume ID: the session to begin from.")
    wanted = SessionRequest(_words(text, given.pop("images"), resuming=given["resume"] is not None), **given)
    if hub is None:
        _ensure_hub(state_folder(state), quiet=manner.as_json)
    elif wanted.project is None and wanted.resume is None:
        raise click.UsageError("Another machine has other directories: name one of its projects with --project.")
    sys.exit(begin(_where(state, hub), wanted, manner))


@click.command()
@click.argument("session", shell_complete=completion.sessions)
@click.option("--json", "as_json", is_flag=True, help="Every item as one JSON object a line.")
@patience_option
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
    from handraise.cli.interactive_session import OutputOptions, join

    sys.exit(join(_where(state, hub), session, OutputOptions(plain, as_json, patience)))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Only list what is open, one JSON object a line.")
@plain_option
@hub_option
@state_option
def inbox(state: str | None, hub: str | None, plain: bool, as_json: bool) -> None:
    """Answer whatever is open, from all sessions.

    What comes later arrives by itself. Without a terminal it lists what is open, and how it can be answered.

    \b
    handraise inbox
    handraise inbox --plain
    handraise inbox --json | jq -r 'select(.kind == "permission").id'
    """
    from handraise.cli.interactive_session import OutputOptions, clear_inbox

    sys.exit(clear_inbox(_where(state, hub), OutputOptions(plain, as_json)))


def _where(state: str | None, hub: str | None) -> "HubTarget":
    from handraise.cli.interactive_session import HubTarget

    address_in(hub)
    options = f" --hub {shlex.quote(hub)}" if hub else f" --state {shlex.quote(state)}" if state else ""
    return HubTarget(state_folder(state), hub, os.environ.get("HANDRAISE_TOKEN"), options)


def _words(text: str | None, images: tuple[str, ...], *, resuming: bool) -> str | tuple[dict[str, Any], ...] | None:
    """The text, what came through a pipe, and the pictures; None where a resumed session needs nothing said."""
    piped = "" if sys.stdin is None or sys.stdin.isatty() else _piped(waited=text is None)
    told = "\n\n".join(each for each in (text, piped) if each and each.strip())
    pictures = tuple(_picture(Path(each)) for each in images)
    if pictures:
        return (*([{"type": "text", "text": told}] if told else []), *pictures)
    if told:
        return told
    if resuming:
        return None
    raise click.UsageError('Say what Claude should do: handraise run "…", or pipe it in.')


def _piped(*, waited: bool) -> str:
    """What comes through the pipe. One that nobody writes to or closes, as scripts inherit them, holds nothing up."""
    ready, _, _ = select.select([sys.stdin], [], [], _SILENCE)
    if not ready:
        told = "waiting for it" if waited else "going on without it"
        click.echo(
            f"Nothing came through the pipe for {_SILENCE:g} s; {told}. </dev/null says that nothing will.", err=True
        )
    return piped() if ready or waited else ""


def _picture(path: Path) -> dict[str, Any]:
    kind, _ = mimetypes.guess_type(path.name)
    if kind not in _PICTURES:
        raise click.UsageError(f"{path} is no picture that Claude reads: PNG, JPEG, GIF or WebP.")
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(path.read_bytes()).decode()}
    return {"type": "image", "source": source}


def _ensure_hub(state: Path, *, quiet: bool) -> None:
    from handraise.cli.background import LOG, start_hub

    if HubClient(state).is_there():
        return
    if not quiet:
        click.echo(f"No hub runs here; starting one in the background (its log: {state / LOG}).", err=True)
    try:
        start_hub(state)
    except KeyboardInterrupt as error:
        raise HubError(400, INTERRUPTED, "Interrupted. The hub goes on starting; no session was started.") from error
