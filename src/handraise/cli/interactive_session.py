"""Follows a session or the inbox: chooses the surface for this terminal, and returns an exit code."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise import texts
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
    Waiting,
    Words,
)
from handraise.desk.remote import RemoteDesk
from handraise.model.asks import ask_as_json
from handraise.model.sessions import Session
from handraise.present.harmless import one_line
from handraise.surfaces.terminal.announcing import Announcements
from handraise.surfaces.terminal.session import TerminalSession
from handraise.surfaces.terminal.signals import told_by_signals
from handraise.surfaces.terminal.timeline import Timeline
from handraise.surfaces.terminal.unattended import Unattended, lines_of_ask

if TYPE_CHECKING:
    from handraise.surfaces.terminal.plain import Plain
    from handraise.surfaces.terminal.screen import Screen

_HISTORY = 60
"""How many earlier items are shown on attach."""


class SessionRequest(Struct, frozen=True):
    """The session to start, resume or fork."""

    words: Words | None
    project: str | None = None
    mode: str | None = None
    model: str | None = None
    resume: str | None = None
    fork: bool = False
    machine: str | None = None
    """A machine's name or ID, or `any`."""


class HubTarget(Struct, frozen=True):
    """The hub of this machine, or another one with its address and a token."""

    state: Path
    address: str | None = None
    token: str | None = None
    options: str = ""
    """The options with which a command finds the same hub again."""

    def desk(self) -> RemoteDesk:
        # With a pipe, nobody may be looking.
        is_attended = all(each is not None and each.isatty() for each in (sys.stdin, sys.stdout))
        if self.address is not None:
            return RemoteDesk(
                self.address, self.token, source="terminal", seat=this_terminal(), is_attended=is_attended
            )
        return RemoteDesk(self.state / "hub.sock", source="terminal", seat=this_terminal(), is_attended=is_attended)


class OutputOptions(Struct, frozen=True):
    """How to follow a session."""

    plain: bool = False
    as_json: bool = False
    patience: float | None = None
    detach: bool = False
    announce: Announcements = Announcements()
    quiet: bool = False
    """Whether to list only IDs."""
    finishes: bool = False
    """Whether leaving before the turn ends counts as a failure."""


def begin(hub: HubTarget, request: SessionRequest, output: OutputOptions) -> int:
    """Starts, resumes or forks a session, and follows it."""
    # Until the session is followed, Ctrl-C ends the command at any point.
    directory = Path(request.project) if request.project is not None else Path(here())
    is_named = request.machine is not None and request.project is not None
    if hub.address is None and not is_named and directory.is_dir():
        request = replace(request, project=str(directory.resolve()))
    try:
        return _perform(hub, _begin(hub, request, output))
    except KeyboardInterrupt as error:
        message = f"Interrupted. Run `handraise ps{hub.options}` to see if the session started."
        raise HubError(400, INTERRUPTED, message) from error


def join(hub: HubTarget, session: str, output: OutputOptions) -> int:
    """Follows an existing session."""
    return _perform(hub, _join(hub, session, output))


def clear_inbox(hub: HubTarget, output: OutputOptions, machine: str | None = None) -> int:
    """Follows the open requests of all sessions, or of a machine by ID; without a terminal, lists them."""
    listed = output.as_json or output.quiet or not sys.stdout.isatty()
    return _perform(hub, _list(hub, output, machine) if listed else _inbox(hub, output, machine))


@asynccontextmanager
async def _desk(hub: HubTarget) -> AsyncIterator[RemoteDesk]:
    """The desk of the hub. Everything shown from here on uses the hub's language."""
    async with hub.desk() as desk:
        # A newer hub may use a language that we don't have.
        with suppress(texts.UnknownLanguage):
            texts.use(desk.language)
        yield desk


async def _begin(hub: HubTarget, request: SessionRequest, output: OutputOptions) -> int:
    async with _desk(hub) as desk:
        cursor = await desk.newest()
        session = (await _started(desk, request)).session
        if output.detach:
            click.echo(msgspec.json.encode({"session": session.id}).decode() if output.as_json else session.id)
            return 0
        return await _stay(desk, session, cursor, replace(output, finishes=request.words is not None), hub)


async def _started(desk: Desk, request: SessionRequest) -> SessionSummary:
    if request.resume is not None and request.fork:
        if request.words is None:
            raise Refused("A fork needs a first message.")
        return await desk.fork(request.resume, request.words)
    if request.resume is not None:
        return await desk.resume(request.resume, request.words)
    return await desk.start(
        request.words or "",
        request.project or ".",
        mode=request.mode,
        model=request.model,
        machine=request.machine,
    )


async def _join(hub: HubTarget, session: str, output: OutputOptions) -> int:
    async with _desk(hub) as desk:
        found = (await desk.session(session)).session
        before = await desk.items(session, limit=_HISTORY)
        # From before the first of them: earlier and new items are one stream, and none appears twice.
        cursor = before[0].cursor - 1 if before else await desk.newest()
        return await _stay(desk, found, cursor, output, hub)


async def _inbox(hub: HubTarget, output: OutputOptions, machine: str | None) -> int:
    async with _desk(hub) as desk:
        return await _stay(desk, None, await desk.newest(), output, hub, machine)


async def _list(hub: HubTarget, output: OutputOptions, machine: str | None) -> int:
    async with _desk(hub) as desk:
        asks = [ask for ask in await desk.asks() if machine in (None, ask.machine)]
        sessions = [each.session for each in await desk.sessions()]
        elsewhere = [each for each in sessions if each.dialog and machine in (None, each.machine)]
        places = {} if output.as_json or output.quiet else await _places(desk)
    for ask in asks:
        if output.quiet:
            click.echo(ask.id)
            continue
        if output.as_json:
            click.echo(msgspec.json.encode(ask_as_json(ask)).decode())
            continue
        for row in lines_of_ask(ask, hub.options, places.get(ask.machine, "")):
            click.echo(row)
    if not output.as_json and not output.quiet:
        for session in elsewhere:
            click.echo(f"✋ {one_line(session.dialog)} ({one_line(session.title)})")
        if not asks and not elsewhere:
            click.echo("Nothing needs you.")
    return 0


async def _places(desk: Desk) -> dict[str, str]:
    """The names of machines by ID, if there are several."""
    try:
        found = await desk.machines()
    except NotFound:
        return {}  # an older hub has only its own
    if len(found) < 2:
        return {}
    return {each.machine.id: each.machine.name + (" (away)" if each.machine.away_since else "") for each in found}


async def _stay(
    desk: Desk,
    session: Session | None,
    cursor: int,
    output: OutputOptions,
    hub: HubTarget,
    machine: str | None = None,
) -> int:
    io = _surface(output, hub)
    stay = TerminalSession(desk, io, _now, session, cursor, machine=machine)
    # An extra Ctrl-C while leaving must not hide how to come back.
    with told_by_signals(stay.leaving.set, io.interrupt) as caught:
        async with stay:
            await io.run(stay)
        if stay.refused is not None:
            raise stay.refused
        by_signal = caught.number if stay.leaving.is_set() else None
        number = by_signal or (signal.SIGINT if stay.interrupted else None)
        if session is None:
            return 0 if number is None else BY_SIGNAL + number
        code = _leave(io, stay.view.timeline, f"{shlex.quote(session.id)}{hub.options}", output)
        return code if number is None else BY_SIGNAL + number


def _surface(output: OutputOptions, hub: HubTarget) -> "Screen | Plain | Unattended":
    keyboard = None if output.as_json else _keyboard()
    if keyboard is None:
        return Unattended(as_json=output.as_json, patience=output.patience, options=hub.options)
    if output.plain or os.environ.get("TERM", "dumb") == "dumb":
        from handraise.surfaces.terminal.plain import Plain

        return Plain(_now, keyboard, output.announce)
    from handraise.surfaces.terminal.screen import Screen

    return Screen(_now, output.announce)


def _leave(io: "Screen | Plain | Unattended", timeline: Timeline, session: str, output: OutputOptions) -> int:
    back = f"handraise attach {session}"
    if isinstance(io, Unattended) and io.gave_up == "queued":
        cancel = f"handraise stop {session}"
        click.echo(
            f"Still queued after {output.patience:g} s. Follow it with: {back}, or cancel it with: {cancel}", err=True
        )
        return FAILED
    if isinstance(io, Unattended) and io.gave_up:
        click.echo(
            f"Nobody answered within {output.patience:g} s. The request stays open. Come back with: {back}", err=True
        )
        return FAILED
    unread = io.unread if isinstance(io, Unattended) else None
    if unread is not None and not isinstance(unread, BrokenPipeError):
        click.echo(f"handraise: Can't write the output: {unread.strerror}.", err=True)
    if timeline.ended is None and not output.as_json:
        click.echo(f"The session keeps running. Come back with: {back}", err=True)
    elif not output.as_json:
        click.echo(f'The session has ended. Resume it with: handraise run --resume {session} "…"', err=True)
    return FAILED if unread is not None else code_of(timeline, finishes=output.finishes)


def code_of(timeline: Timeline, *, finishes: bool) -> int:
    """The exit code after following a session; `finishes` if the command was to wait for the end of the turn."""
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
    """Where a person at this terminal types: stdin, or the terminal itself if stdin is a pipe."""
    if not sys.stdout.isatty():
        return None
    if sys.stdin is not None and sys.stdin.isatty():
        return sys.stdin.fileno()
    try:
        return os.open(os.ttyname(sys.stdout.fileno()), os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return None


def _perform(hub: HubTarget, work: Coroutine[None, None, int]) -> int:
    """Runs it, and turns the desk's errors into those of commands."""
    try:
        return asyncio.run(work)
    except Unreached as error:
        raise NoHub(str(error) if hub.address is None else f"Can't reach a hub at {hub.address}.") from error
    except Waiting as error:
        click.echo(str(error), err=True)
        return 0
    except (Refused, Conflict, TooLate) as error:
        raise HubError(409, error.code, str(error)) from error
    except NotFound as error:
        raise HubError(404, error.code, str(error)) from error
    except NotLetIn as error:
        raise HubError(
            403, error.code, f"{error} Sign in with: handraise login {hub.address}, or put a token in $HANDRAISE_TOKEN."
        ) from error
    except DeskError as error:
        raise HubError(400, error.code, str(error)) from error
