"""`handraise serve` and `handraise demo`."""

import asyncio
import gc
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handraise.cli.errors import PORT_TAKEN
from handraise.cli.places import state_folder, state_option

if TYPE_CHECKING:
    from handraise.claude.sandbox_support import SandboxSupport
    from handraise.serving.serve import RunningHub, ServeConfig

_FILES = 65_536
_TURN = 0.0005
"""How long a thread may keep others from the interpreter, in seconds."""


@click.command()
@click.option("--host", default=None, help="Address to listen on (default: [web] host, or 127.0.0.1).")
@click.option(
    "-p",
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    help="Port (default: [web] port, or 8420); 0 picks a free one.",
)
@state_option
@click.option(
    "--database",
    metavar="URL",
    help="sqlite:///PATH, or postgresql://USER@HOST/NAME to share it with other machines (default: [store] database, or"
    " hub.db in the hub's folder).",
)
@click.option("--stop-sessions", is_flag=True, help="Stop all sessions when the hub stops.")
@click.option("--no-link", is_flag=True, help="Don't print a sign-in link. Get one with: handraise token link")
@click.option("--background", is_flag=True, hidden=True, help="A command started it in the background.")
@click.option("-v", "--verbose", is_flag=True, help="Log more, on stderr.")
def serve(
    host: str | None,
    port: int | None,
    state: str | None,
    database: str | None,
    stop_sessions: bool,
    no_link: bool,
    background: bool,  # noqa: ARG001 (only its name matters, for `handraise hub`)
    verbose: bool,
) -> None:
    """Run the hub: web page, API and sessions.

    Sessions keep running when the hub stops. The next hub reattaches them.
    """
    from handraise.claude import sandbox_support

    with sandbox_support.begun():  # beside what is imported next, and takes longest
        from handraise.cli.hub_settings import service as read_service
        from handraise.serving import logs

        logs.configure(sys.stderr, verbose=verbose)
        folder = state_folder(state)
        with _in_words(folder):
            service = read_service(os.environ, folder, host, port, database)
        _run(service, stop_sessions=stop_sessions, link=not no_link)


@click.command()
@click.option(
    "-p", "--port", type=click.IntRange(0, 65535), default=8420, help="Port (default: 8420); 0 picks a free one."
)
@click.option("-v", "--verbose", is_flag=True, help="Log more, on stderr.")
def demo(port: int, verbose: bool) -> None:
    """Try every kind of request: real Claude Code, scripted model, no account, no network."""
    from handraise.serving import logs
    from handraise.serving.demo import demonstrate

    logs.configure(sys.stderr, verbose=verbose)
    with tempfile.TemporaryDirectory(prefix="handraise-demo-") as folder, _in_words(Path(folder)):
        run(demonstrate(Path(folder), port, click.echo, show, private=sys.stdout.isatty()))


def run(main: Coroutine[object, object, None]) -> None:
    """Runs it on uvloop if that is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def show(link: str, environ: Mapping[str, str] = os.environ) -> None:
    """Opens the link in the person's browser, if there is one, and doesn't wait for it."""
    if sys.platform == "darwin":
        opener = "open"
    elif environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        opener = "xdg-open"
    else:
        # A text browser would take over this terminal.
        return
    with suppress(OSError):
        subprocess.Popen(
            [opener, link],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


class _PortTaken(click.ClickException):
    exit_code = PORT_TAKEN


def _run(service: "ServeConfig", *, stop_sessions: bool, link: bool) -> None:
    from handraise.serving.serve import serving, signals

    async def main() -> None:
        # Before anything is open: a hub that is stopped right after it is up still ends cleanly.
        with signals() as stopping:
            async with serving(service) as up:
                if service.telegram_trouble:
                    click.echo(f"Warning: no Telegram bot. {service.telegram_trouble}")
                gc.freeze()  # what is loaded stays: collecting it over and over would cause pauses
                gc.enable()  # `entry.py` disabled it for the start
                # The store's writer needs the interpreter for each statement. By default, a busy loop keeps it 5 ms.
                sys.setswitchinterval(_TURN)
                await _attend(up, stopping, stop_sessions=stop_sessions, link=link)

    _raise_limit_of_files()
    with _in_words(service.state):
        run(main())


@contextmanager
def _in_words(state: Path) -> Iterator[None]:
    """Turns what keeps a hub from starting into an error of the command."""
    from handraise.api.server import CannotListen, PortTaken
    from handraise.api.tls import CertificateUnfit
    from handraise.claude.locate import ClaudeMissing
    from handraise.config.tables import SettingsRefused
    from handraise.hub.hub import HubRunning, StateExposed, StateUnreachable
    from handraise.hub.lease import MachineRunning
    from handraise.serving.serve import Exposed, where
    from handraise.store.interface import StoreError

    try:
        yield
    except HubRunning as error:
        there = where(state)
        raise click.ClickException(f"{error}{f' It is at {there}.' if there else ''}") from error
    except PortTaken as error:
        raise _PortTaken(str(error)) from error
    except (
        ClaudeMissing,
        SettingsRefused,
        StateExposed,
        StateUnreachable,
        MachineRunning,
        Exposed,
        CertificateUnfit,
        CannotListen,
        StoreError,
    ) as error:
        raise click.ClickException(str(error)) from error


def no_sandbox(wall: "SandboxSupport") -> list[str]:
    """A warning, if Claude can't be kept away from the hub's own files."""
    if not wall.missing:
        return []
    return [f"Warning: no sandbox. Claude's tools can reach the hub's files. {wall.missing}", f"  {wall.advice}"]


def _raise_limit_of_files() -> None:
    """Many systems allow 1024 open files by default; every client and every session needs some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # some systems have an unpublished limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _reattached(living: int, lost: int) -> list[str]:
    """What became of the sessions of an earlier hub."""
    lines = [f"Reattached {living} {'session' if living == 1 else 'sessions'}"] if living else []
    if lost:
        lines.append(f"Lost {lost} {'session' if lost == 1 else 'sessions'}. Resume with: handraise run --resume ID")
    return lines


async def _warn_of_unsafe(up: "RunningHub") -> None:
    from handraise.claude.versions import SAFE_SINCE

    version = await up.hub.pool.starter.find_unsafe_version()
    if version:
        warning = f"Claude Code {version} is unsafe: commands can run without permission."
        click.echo(f"Warning: {warning} Update to {SAFE_SINCE} or later.")


async def _attend(up: "RunningHub", stopping: asyncio.Event, *, stop_sessions: bool, link: bool) -> None:
    sessions = up.hub.pool.adoption
    click.echo(f"Handraise is up at {up.base}")
    for line in no_sandbox(up.hub.wall):
        click.echo(line)
    for line in _reattached(len(sessions.living), len(sessions.lost)):
        click.echo(line)
    if up.offers_hook:
        click.echo("To answer Claude sessions you start yourself here, too: handraise project sync (or --user)")
    if link and sys.stdout.isatty():
        click.echo(f"Open this link to sign in. It works once and expires in 10 minutes:\n  {await up.new_link()}")
    else:
        # The output may end up in a log that others can read.
        click.echo("To sign in, run `handraise token link` in a terminal.")
    async with asyncio.TaskGroup() as tasks:
        # The hub doesn't wait for Claude to say its version.
        warning = tasks.create_task(_warn_of_unsafe(up))
        await stopping.wait()
        warning.cancel()
    if stop_sessions:
        await up.hub.pool.stop_all()
