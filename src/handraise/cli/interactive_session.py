"""Takes a seat at the hub's desk: chooses the front for this terminal, stays, and says how it ended as an exit code."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.cli.client import INTERRUPTED, HubError, NoHub
from handraise.cli.errors import BY_SIGNAL, FAILED
from handraise.cli.places import here
from handraise.cli.terminal import this_terminal
from handraise.desk.interface import (
    Conflict,
    Desk,
    DeskError,
    NotFound,
    NotLetIn,
    Refused,
    SessionSummary,
    TooLate,
    Unreached,
    Words,
)
from handraise.desk.remote import RemoteDesk
from handraise.model.asks import ask_as_json
from handraise.model.sessions import Session
from handraise.surfaces.terminal.session import TerminalSession
from handraise.surfaces.terminal.signals import told_by_signals
from handraise.surfaces.terminal.timeline import Timeline
from handraise.surfaces.terminal.unattended import Unattended, told

if TYPE_CHECKING:
    from handraise.surfaces.terminal.plain import Plain
    from handraise.surfaces.terminal.screen import Screen

_HISTORY = 60
"""How many items of what happened before are shown to somebody who joins."""


class SessionRequest(Struct, frozen=True):
    """The session to start, or to go on with."""

    words: Words | None
    project: str | None = None
    mode: str | None = None
    model: str | None = None
    resume: str | None = None
    fork: bool = False


class HubTarget(Struct, frozen=True):
    """The hub of this machine, or another one by its address and a token."""

    state: Path
    address: str | None = None
    token: str | None = None
    options: str = ""
    """What a command needs to find the same hub again."""

    def desk(self) -> RemoteDesk:
        if self.address is not None:
            return RemoteDesk(self.address, self.token, source="terminal", seat=this_terminal())
        return RemoteDesk(self.state / "hub.sock", source="terminal", seat=this_terminal())


class OutputOptions(Struct, frozen=True):
    """How to stay."""

    plain: bool = False
    as_json: bool = False
    patience: float | None = None
    detach: bool = False
    finishes: bool = False
    """Whether leaving before a turn has ended counts as a failure."""


def begin(where: HubTarget, wanted: SessionRequest, manner: OutputOptions) -> int:
    """Starts, resumes or forks a session, and stays with it."""
    # As long as nobody stays, Ctrl-C ends the command, wherever it is.
    named = Path(wanted.project) if wanted.project is not None else Path(here())
    if where.address is None and named.is_dir():
        wanted = replace(wanted, project=str(named.resolve()))
    try:
        return _perform(where, _begin(where, wanted, manner))
    except KeyboardInterrupt as error:
        told = f"Interrupted. Run `handraise ps{where.options}` to see if the session was started."
        raise HubError(400, INTERRUPTED, told) from error


def join(where: HubTarget, session: str, manner: OutputOptions) -> int:
    """Stays with a session that is there."""
    return _perform(where, _join(where, session, manner))


def clear_inbox(where: HubTarget, manner: OutputOptions) -> int:
    """Stays with the open asks of all sessions; without a terminal, lists them."""
    listed = manner.as_json or not sys.stdout.isatty()
    return _perform(where, _list(where, manner) if listed else _inbox(where, manner))


async def _begin(where: HubTarget, wanted: SessionRequest, manner: OutputOptions) -> int:
    async with where.desk() as desk:
        cursor = await desk.newest()
        session = (await _started(desk, wanted)).session
        if manner.detach:
            click.echo(session.id)
            return 0
        return await _stay(desk, session, cursor, replace(manner, finishes=wanted.words is not None), where)


async def _started(desk: Desk, wanted: SessionRequest) -> SessionSummary:
    if wanted.resume is not None and wanted.fork:
        if wanted.words is None:
            raise Refused("A fork needs a message.")
        return await desk.fork(wanted.resume, wanted.words)
    if wanted.resume is not None:
        return await desk.resume(wanted.resume, wanted.words)
    return await desk.start(wanted.words or "", wanted.project or ".", mode=wanted.mode, model=wanted.model)


async def _join(where: HubTarget, session: str, manner: OutputOptions) -> int:
    async with where.desk() as desk:
        found = (await desk.session(session)).session
        before = await desk.items(session, limit=_HISTORY)
        # The first of them is followed, too: what was before and what comes are one stream, and nothing is in it twice.
        cursor = before[0].cursor - 1 if before else await desk.newest()
        return await _stay(desk, found, cursor, manner, where)


async def _inbox(where: HubTarget, manner: OutputOptions) -> int:
    async with where.desk() as desk:
        return await _stay(desk, None, await desk.newest(), manner, where)


async def _list(where: HubTarget, manner: OutputOptions) -> int:
    async with where.desk() as desk:
        asks = await desk.asks()
    for ask in asks:
        for row in [msgspec.json.encode(ask_as_json(ask)).decode()] if manner.as_json else told(ask, where.options):
            click.echo(row)
    if not asks and not manner.as_json:
        click.echo("Nothing needs you.")
    return 0


async def _stay(desk: Desk, session: Session | None, cursor: int, manner: OutputOptions, where: HubTarget) -> int:
    io = _front(manner, where)
    stay = TerminalSession(desk, io, _now, session, cursor)
    # One Ctrl-C too many, while it is being left, must not swallow how to come back.
    with told_by_signals(stay.leaving.set, io.interrupt) as caught:
        async with stay:
            await io.run(stay)
        if stay.refused is not None:
            raise stay.refused
        by_signal = caught.number if stay.leaving.is_set() else None
        number = by_signal or (signal.SIGINT if stay.interrupted else None)
        if session is None:
            return 0 if number is None else BY_SIGNAL + number
        code = _leave(io, stay.view.timeline, f"{shlex.quote(session.id)}{where.options}", manner)
        return code if number is None else BY_SIGNAL + number


def _front(manner: OutputOptions, where: HubTarget) -> "Screen | Plain | Unattended":
    keyboard = None if manner.as_json else _keyboard()
    if keyboard is None:
        return Unattended(as_json=manner.as_json, patience=manner.patience, options=where.options)
    if manner.plain or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        from handraise.surfaces.terminal.plain import Plain

        return Plain(_now, keyboard)
    from handraise.surfaces.terminal.screen import Screen

    return Screen(_now)


def _leave(io: "Screen | Plain | Unattended", timeline: Timeline, session: str, manner: OutputOptions) -> int:
    back = f"handraise attach {session}"
    if isinstance(io, Unattended) and io.gave_up == "queued":
        drop = f"handraise stop {session}"
        click.echo(
            f"Still queued after {manner.patience:g} s. Come back with: {back}, or drop it with: {drop}", err=True
        )
        return FAILED
    if isinstance(io, Unattended) and io.gave_up:
        click.echo(
            f"Nobody answered within {manner.patience:g} s. The ask stays open; come back with: {back}", err=True
        )
        return FAILED
    unread = io.unread if isinstance(io, Unattended) else None
    if unread is not None and not isinstance(unread, BrokenPipeError):
        click.echo(f"handraise: Nothing more can be printed: {unread.strerror}.", err=True)
    if timeline.ended is None and not manner.as_json:
        click.echo(f"The session goes on without you. Come back with: {back}", err=True)
    elif not manner.as_json:
        click.echo(f'The session has ended. Go on with: handraise run --resume {session} "…"', err=True)
    return FAILED if unread is not None else code_of(timeline, finishes=manner.finishes)


def code_of(timeline: Timeline, *, finishes: bool) -> int:
    """What a session that was stayed with ends the command with; `finishes` where a turn was to be seen to its end."""
    if timeline.interrupted:
        return BY_SIGNAL + signal.SIGINT
    if timeline.failed or timeline.cut_off:
        return FAILED
    if timeline.ended is not None and timeline.ended.how in ("failed", "lost"):
        return FAILED
    unfinished = timeline.working or timeline.queued or timeline.waiting or not timeline.turns
    return FAILED if finishes and unfinished else 0


def _now() -> datetime:
    return datetime.now(UTC)


def _keyboard() -> int | None:
    """Where somebody types who sees what is printed: stdin, or where that is a pipe the terminal itself."""
    if not sys.stdout.isatty():
        return None
    if sys.stdin is not None and sys.stdin.isatty():
        return sys.stdin.fileno()
    try:
        return os.open(os.ttyname(sys.stdout.fileno()), os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return None


def _perform(where: HubTarget, work: Coroutine[None, None, int]) -> int:
    """The desk's errors as the commands tell them."""
    try:
        return asyncio.run(work)
    except Unreached as error:
        raise NoHub(str(error) if where.address is None else f"No hub answers at {where.address}.") from error
    except (Refused, Conflict, TooLate) as error:
        raise HubError(409, error.code, str(error)) from error
    except NotFound as error:
        raise HubError(404, error.code, f"{error} See what there is with: handraise ps") from error
    except NotLetIn as error:
        raise HubError(403, error.code, f"{error} A token goes into $HANDRAISE_TOKEN.") from error
    except DeskError as error:
        raise HubError(400, error.code, str(error)) from error
