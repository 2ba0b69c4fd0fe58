"""`handraise serve` and `handraise demo`."""

import asyncio
import gc
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handraise.cli.browser import show
from handraise.cli.errors import PORT_TAKEN
from handraise.cli.loop import run
from handraise.cli.places import state_folder, state_option

if TYPE_CHECKING:
    from handraise.claude.sandbox_support import SandboxSupport
    from handraise.serving.serve import RunningHub, ServeConfig

_FILES = 65_536


@click.command()
@click.option("--host", default=None, help="Where to listen; [web] host, else 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), default=None, help="[web] port, else 8420; 0 takes a free one.")
@state_option
@click.option("--database", metavar="URL", help="[store] database, else hub.db in the hub's folder: sqlite:///PATH.")
@click.option("--stop-sessions", is_flag=True, help="End every Claude when the hub ends.")
@click.option("--no-link", is_flag=True, help="Don't print a sign-in link. `handraise token link` makes one.")
@click.option("--verbose", is_flag=True, help="Say more, on stderr.")
def serve(
    host: str | None,
    port: int | None,
    state: str | None,
    database: str | None,
    stop_sessions: bool,
    no_link: bool,
    verbose: bool,
) -> None:
    """Run the hub: the page, the API and the sessions.

    Sessions live on when the hub ends, and are adopted by the next one.
    """
    from handraise.cli.hub_settings import service as wanted
    from handraise.serving import logs

    logs.configure(sys.stderr, verbose=verbose)
    folder = state_folder(state)
    with _in_words(folder):
        service = wanted(os.environ, folder, host, port, database)
    _run(service, stop_sessions=stop_sessions, link=not no_link)


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8420, help="8420 unless set; 0 takes a free one.")
@click.option("--verbose", is_flag=True, help="Say more, on stderr.")
def demo(port: int, verbose: bool) -> None:
    """Meet every kind of ask: the real Claude Code, a scripted model, no account, no network."""
    from handraise.serving import logs
    from handraise.serving.demo import demonstrate

    logs.configure(sys.stderr, verbose=verbose)
    with tempfile.TemporaryDirectory(prefix="handraise-demo-") as folder, _in_words(Path(folder)):
        run(demonstrate(Path(folder), port, click.echo, show, private=sys.stdout.isatty()))


class _PortTaken(click.ClickException):
    exit_code = PORT_TAKEN


def _run(service: "ServeConfig", *, stop_sessions: bool, link: bool) -> None:
    from handraise.serving.serve import serving, signals

    async def main() -> None:
        # Before anything is open: whoever stops a hub that has just said it is up finds it ending cleanly.
        with signals() as told:
            async with serving(service) as up:
                gc.freeze()  # what was loaded stays: looking through it again and again would hold everybody up
                await _attend(up, told, stop_sessions=stop_sessions, link=link)

    _raise_limit_of_files()
    with _in_words(service.state):
        run(main())


@contextmanager
def _in_words(state: Path) -> Iterator[None]:
    """What keeps a hub from coming up, as a command tells it."""
    from handraise.api.server import CannotListen, PortTaken
    from handraise.api.tls import CertificateUnfit
    from handraise.claude.locate import ClaudeMissing
    from handraise.config.tables import SettingsRefused
    from handraise.hub.hub import HubRunning, StateExposed, StateUnreachable
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
        Exposed,
        CertificateUnfit,
        CannotListen,
        StoreError,
    ) as error:
        raise click.ClickException(str(error)) from error


def no_sandbox(wall: "SandboxSupport") -> list[str]:
    """What a person is told where Claudes cannot be kept from the hub's own files."""
    if not wall.missing:
        return []
    return [f"Warning: no sandbox. Claude's tools can reach the hub's files. {wall.missing}", f"  {wall.advice}"]


def _raise_limit_of_files() -> None:
    """Many systems let a process open 1024 files unless it asks for more; each client and each session takes some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # some systems have a limit that they do not tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _attend(up: "RunningHub", told: asyncio.Event, *, stop_sessions: bool, link: bool) -> None:
    found = up.hub.pool.adoption
    click.echo(f"Handraise is up at {up.base}")
    for line in no_sandbox(up.hub.wall):
        click.echo(line)
    if found.living or found.lost:
        click.echo(f"Adopted {len(found.living)} sessions; {len(found.lost)} were lost and can be resumed.")
    if link and sys.stdout.isatty():
        click.echo(f"Open this link to sign in. It works once, within ten minutes:\n  {await up.new_link()}")
    else:
        # What is printed here may be kept in a file, where others find it.
        click.echo("To sign in, run `handraise token link` in a terminal.")
    await told.wait()
    if stop_sessions:
        await up.hub.pool.stop_all()
