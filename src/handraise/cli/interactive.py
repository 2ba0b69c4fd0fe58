"""`handraise run`, `attach` and `inbox`: follow Claude in the terminal."""

import base64
import mimetypes
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handraise.cli import completion
from handraise.cli.client import INTERRUPTED, HubClient, HubError
from handraise.cli.finding import session_named
from handraise.cli.picking import pick
from handraise.cli.places import MODES, chosen_hub, hub_option, options_of, piped, state_option

if TYPE_CHECKING:
    from handraise.cli.interactive_session import HubTarget
    from handraise.surfaces.terminal.announcing import Announcements

_SILENCE = 5.0
_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

patience_option = click.option(
    "--patience",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Without a terminal: how long to wait for an answer or in the queue.",
)
plain_option = click.option(
    "--plain", is_flag=True, help="Numbered choices and plain lines, without drawing on the screen."
)
notify_option = click.option(
    "--notify/--no-notify", default=None, help="Desktop notifications for new requests (default: the settings)."
)


@click.command()
@click.argument("text", required=False)
@click.option(
    "-p",
    "--project",
    metavar="NAME",
    shell_complete=completion.projects,
    help="A project's name, ID or directory (default: this directory).",
)
@click.option(
    "--machine",
    metavar="NAME",
    shell_complete=completion.machines_or_any,
    help="Where to run it: a machine's name, or `any` for the least busy one that has the project "
    "(default: this machine).",
)
@click.option("--mode", type=click.Choice(MODES), help="Permission mode.")
@click.option("-m", "--model", metavar="M", help="Model, as Claude Code names it.")
@click.option(
    "-i", "--image", "images", multiple=True, type=click.Path(exists=True, dir_okay=False), help="Attach an image."
)
@click.option(
    "-r",
    "--resume",
    metavar="SESSION",
    shell_complete=completion.sessions,
    help="Resume a session that has ended: its ID, a prefix of it, or its title.",
)
@click.option("--fork", is_flag=True, help="With --resume: fork a new session from it.")
@click.option("-d", "--detach", is_flag=True, help="Start the session, print its ID and exit.")
@click.option("--json", "as_json", is_flag=True, help="Print every item as one JSON object per line.")
@patience_option
@plain_option
@notify_option
@hub_option
@state_option
def run(
    text: str | None,
    state: str | None,
    hub: str | None,
    plain: bool,
    notify: bool | None,
    **options: Any,  # noqa: ANN401 (click's own)
) -> None:
    """Start a session in this directory and follow it.

    Ctrl-C interrupts the turn; press it twice, or Ctrl-D, to leave. The session keeps running.
    What you type is sent to Claude, during a turn too. Starts a hub if none is running.

    \b
    handraise run "Add a health endpoint, with a test"
    git diff | handraise run "Review this"
    handraise run --mode plan --image screenshot.png "Build this page"
    handraise run --machine build-2 --project shop "Run the long tests"
    handraise run --resume s_… "And now the documentation"
    handraise run --json --patience 600 "Update the changelog" > items.ndjson
    """
    from msgspec.structs import replace

    from handraise.cli.interactive_session import OutputOptions, SessionRequest, begin

    output = OutputOptions(
        plain, options.pop("as_json"), options.pop("patience"), options.pop("detach"), _announcements(notify)
    )
    if options["fork"] and not options["resume"]:
        raise click.UsageError("--fork needs --resume ID: the session to fork.")
    if options["machine"] and options["resume"]:
        raise click.UsageError("A session stays on its machine. Leave out --machine.")
    target = _target(state, hub)
    if target.address is not None and options["project"] is None and options["resume"] is None:
        raise click.UsageError(
            f"Sessions at {target.address} run in that hub's projects. Use --project NAME, or --hub local to run it"
            " here."
        )
    request = SessionRequest(_words(text, options.pop("images"), resuming=options["resume"] is not None), **options)
    if request.words is None and not output.detach and not sys.stdin.isatty():
        raise click.UsageError(
            'What should Claude do next? Use: handraise run --resume ID "…", or --detach to resume without a message.'
        )
    if target.address is None:
        _ensure_hub(target.state, quiet=output.as_json)
    if request.resume is not None:
        request = replace(request, resume=session_named(_client(target), request.resume)["id"])
    sys.exit(begin(target, request, output))


@click.command()
@click.argument("session", required=False, shell_complete=completion.sessions)
@click.option("--json", "as_json", is_flag=True, help="Print every item as one JSON object per line.")
@patience_option
@plain_option
@notify_option
@hub_option
@state_option
def attach(
    session: str | None,
    state: str | None,
    hub: str | None,
    as_json: bool,
    patience: float | None,
    plain: bool,
    notify: bool | None,
) -> None:
    """Follow a session from its latest output.

    SESSION is an ID, a prefix of one, or a title. Without it, follows the session that is running, or lets you choose
    if there are several.

    \b
    handraise attach
    handraise attach s_…
    handraise attach "Fix the tests"
    """
    from handraise.cli.interactive_session import OutputOptions, join

    target = _target(state, hub)
    client = _client(target)
    found = pick(client, interactive=not as_json) if session is None else session_named(client, session)
    sys.exit(join(target, found["id"], OutputOptions(plain, as_json, patience, announce=_announcements(notify))))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="List open requests, one JSON object per line.")
@click.option("-q", "--quiet", is_flag=True, help="List only the IDs of open requests.")
@click.option("--machine", metavar="NAME", shell_complete=completion.machines, help="Only requests from this machine.")
@plain_option
@notify_option
@hub_option
@state_option
def inbox(
    state: str | None,
    hub: str | None,
    plain: bool,
    as_json: bool,
    quiet: bool,
    machine: str | None,
    notify: bool | None,
) -> None:
    """Answer open requests from all sessions.

    New requests appear as they arrive. Without a terminal, lists open requests and how to answer them.

    \b
    handraise inbox
    handraise inbox --plain
    handraise inbox --machine build-2
    handraise inbox --json | jq -r 'select(.kind == "permission").id'
    """
    from handraise.cli.interactive_session import OutputOptions, clear_inbox

    if as_json and quiet:
        raise click.UsageError("Use one of --json and --quiet.")
    target = _target(state, hub)
    only = None if machine is None else _client(target).machine(machine)
    sys.exit(clear_inbox(target, OutputOptions(plain, as_json, announce=_announcements(notify), quiet=quiet), only))


def _announcements(notify: bool | None) -> "Announcements":
    """What the settings of this machine and the option say. Settings that can't be read don't keep anyone out."""
    from handraise.config.files import load_layers
    from handraise.config.reading import read_layers
    from handraise.config.settings import TerminalSettings
    from handraise.config.tables import SettingsRefused
    from handraise.surfaces.terminal.announcing import Announcements, announcements

    if sys.stdout is None or not sys.stdout.isatty():
        return Announcements()
    try:
        found = read_layers(load_layers(os.environ)).terminal
    except SettingsRefused as error:
        click.echo(f"handraise: {error} Using defaults for [terminal].", err=True)
        found = TerminalSettings()
    wanted = found.notifications
    if notify is not None:
        wanted = "off" if not notify else wanted if wanted != "off" else "on"
    return announcements(found.title, wanted, os.environ)


def _target(state: str | None, hub: str | None) -> "HubTarget":
    from handraise.cli.interactive_session import HubTarget

    chosen = chosen_hub(state, hub)
    return HubTarget(Path(chosen.state), chosen.address, chosen.token, options_of(chosen, state))


def _client(target: "HubTarget") -> HubClient:
    return HubClient(target.state, target.address, target.token, target.options)


def _words(text: str | None, images: tuple[str, ...], *, resuming: bool) -> str | tuple[dict[str, Any], ...] | None:
    """The text, what came through a pipe, and the images; None for a resumed session without a message."""
    piped = "" if sys.stdin is None or sys.stdin.isatty() else _piped(waited=text is None)
    message = "\n\n".join(each for each in (text, piped) if each and each.strip())
    blocks = tuple(_image(Path(each)) for each in images)
    if blocks:
        return (*([{"type": "text", "text": message}] if message else []), *blocks)
    if message:
        return message
    if resuming:
        return None
    raise click.UsageError('What should Claude do? Use: handraise run "…", or pipe text in.')


def _piped(*, waited: bool) -> str:
    """All of stdin. A pipe that nobody writes to or closes, as scripts inherit them, doesn't block the command."""
    ready, _, _ = select.select([sys.stdin], [], [], _SILENCE)
    if not ready:
        what_next = "still waiting" if waited else "continuing"
        click.echo(f"No input on stdin after {_SILENCE:g} s; {what_next}. Use </dev/null if none is coming.", err=True)
    return piped() if ready or waited else ""


def _image(path: Path) -> dict[str, Any]:
    kind, _ = mimetypes.guess_type(path.name)
    if kind not in _IMAGE_TYPES:
        raise click.UsageError(f"{path} isn't an image Claude can read. Use PNG, JPEG, GIF or WebP.")
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(path.read_bytes()).decode()}
    return {"type": "image", "source": source}


def _ensure_hub(state: Path, *, quiet: bool) -> None:
    from handraise.cli.background import LOG, start_hub

    if HubClient(state).is_there():
        return
    if not quiet:
        click.echo(f"No hub is running. Starting one in the background (log: {state / LOG}).", err=True)
    try:
        start_hub(state)
    except KeyboardInterrupt as error:
        raise HubError(400, INTERRUPTED, "Interrupted. The hub is still starting; no session was started.") from error
