"""`handraise serve` and `handraise demo`."""

import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from handraise.cli.loop import run
from handraise.cli.places import state_folder, state_option


@click.command()
@click.option("--host", default=None, help="Where to listen; 127.0.0.1 unless set.")
@click.option("--port", type=int, default=None, help="8420 unless set.")
@state_option
@click.option("--stop-sessions", is_flag=True, help="End every Claude when the hub ends.")
@click.option("--verbose", is_flag=True, help="Say more.")
def serve(host: str | None, port: int | None, state: str | None, stop_sessions: bool, verbose: bool) -> None:
    """Run the hub: the page, the API and the sessions.

    Sessions live on when the hub ends, and are adopted by the next one.
    """
    from handraise.claude.environment import environment
    from handraise.claude.locate import ClaudeMissing, locate

    try:
        program = locate()
    except ClaudeMissing as error:
        raise click.ClickException(str(error)) from error
    _log(verbose)
    _run(
        state_folder(state),
        program,
        environment(os.environ),
        host or "127.0.0.1",
        8420 if port is None else port,
        stop_sessions,
    )


@click.command()
@click.option("--port", type=int, default=8420, help="8420 unless set.")
@click.option("--verbose", is_flag=True, help="Say more.")
def demo(port: int, verbose: bool) -> None:
    """Meet every kind of ask: the real Claude Code, a scripted model, no account, no network."""
    from handraise.demonstration import demonstrate

    _log(verbose)
    with tempfile.TemporaryDirectory(prefix="handraise-demo-") as folder:
        run(demonstrate(Path(folder), port, click.echo, lambda served: click.launch(served.link)))


def _run(state: Path, program: Path, environment: Mapping[str, str], host: str, port: int, stop_sessions: bool) -> None:
    from handraise.hub import HubRunning, StateExposed
    from handraise.serving import Exposed, Service, serving, until_told

    async def main() -> None:
        service = Service(state, program, environment, host, port)
        async with serving(service) as up:
            found = up.hub.crew.adoption
            click.echo(f"Handraise is up at {up.base}")
            if found.living or found.lost:
                click.echo(f"Adopted {len(found.living)} sessions; {len(found.lost)} were lost and can be resumed.")
            click.echo(f"Log in once with this link (good for ten minutes):\n  {up.link}")
            await until_told()
            if stop_sessions:
                await up.hub.crew.stop_all()

    try:
        run(main())
    except (HubRunning, StateExposed, Exposed) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{host}:{port} cannot be used: {error.strerror}.") from error


def _log(verbose: bool) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        stream=sys.stderr,
        format="%(levelname)s %(name)s %(message)s",
    )
