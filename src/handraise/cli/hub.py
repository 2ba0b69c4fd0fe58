"""`handraise hub`: the hub on this machine: whether it runs, its log, stopping and restarting it."""

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import click

from handraise.cli.background import BACKGROUND, LOG, start_hub
from handraise.cli.client import HubClient, HubError, NoHub
from handraise.cli.places import confirm, json_option, options_of, state_folder, state_option, yes_option
from handraise.cli.table import harmless
from handraise.client.logins import HubChoice

_ENDS_WITHIN = 30.0
_LOCAL_PEERPID = 0x002
_TAIL = 256 * 1024
_POLL = 0.3


@click.group()
def hub() -> None:
    """Show, stop and restart this machine's hub, and read its log."""


@hub.command()
@state_option
@json_option
def status(state: str | None, as_json: bool) -> None:
    """Say whether a hub is running, where, and what it is doing. Exits with 3 if none is running."""
    with closing(_Running(state)) as running:
        _show(running, as_json=as_json)


def _show(running: "_Running", *, as_json: bool) -> None:
    facts = {
        "address": running.address,
        "version": running.client.get("/api/health")["version"],
        "pid": running.pid,
        "state": str(running.folder),
        "background": running.in_background,
        "log": str(running.folder / LOG) if running.in_background else None,
        **running.sessions(),
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    click.echo(f"The hub is running at {facts['address']}")
    how = (
        "started by a command, in the background" if running.in_background else "started in a terminal or as a service"
    )
    for name, text in (
        ("Version", facts["version"]),
        ("Process", f"{facts['pid']} ({how})"),
        ("State", facts["state"]),
        ("Log", facts["log"] or "where you started it"),
        ("Sessions", f"{facts['running']} running, {facts['waiting']} waiting for you"),
    ):
        click.echo(f"  {name + ':':<10} {text}")


@hub.command()
@yes_option
@state_option
def stop(yes: bool, state: str | None) -> None:
    """Stop the hub. Sessions keep running, and the next hub reattaches them."""
    with closing(_Running(state)) as running:
        _confirm(running, "Stop the hub?", yes=yes)
        running.end()
    click.echo("The hub has stopped.")


@hub.command()
@yes_option
@state_option
def restart(yes: bool, state: str | None) -> None:
    """Restart a hub that runs in the background, for example after an update."""
    with closing(_Running(state)) as running:
        _restart(running, yes=yes)
    with closing(_Running(state)) as again:
        click.echo(f"The hub is running at {again.address}")


def _restart(running: "_Running", *, yes: bool) -> None:
    if not running.in_background:
        raise HubError(
            409,
            "not_ours",
            "This hub wasn't started by a command in the background. Restart it where you started it.",
        )
    _confirm(running, "Restart the hub?", yes=yes)
    running.end()
    start_hub(running.folder)


@hub.command()
@click.option("-f", "--follow", is_flag=True, help="Keep printing what is added. Ctrl-C to quit.")
@click.option("-n", "--lines", type=click.IntRange(min=1), default=100, help="How many lines (default: 100).")
@state_option
def logs(follow: bool, lines: int, state: str | None) -> None:
    """Show the log of a hub that a command started in the background."""
    file = state_folder(state) / LOG
    try:
        log = file.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        raise NoHub(
            f"There is no {file}. A hub that you start with `handraise serve` writes to its own terminal."
        ) from None
    with log:
        log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL))
        for row in log.read().decode(errors="replace").splitlines()[-lines:]:
            click.echo(harmless(row))
        while follow:
            added = log.read().decode(errors="replace")
            for row in added.splitlines():
                click.echo(harmless(row))
            sys.stdout.flush()
            time.sleep(_POLL)


class _Running:
    """The hub that uses this state folder; raises NoHub if there is none."""

    def __init__(self, state: str | None) -> None:
        self.folder = state_folder(state)
        self.client = HubClient(self.folder, options=options_of(HubChoice(str(self.folder)), state))
        missing = f"No hub is running in {self.folder}. Start one with: handraise serve{self.client.options}"
        if not self.client.is_there():
            raise NoHub(missing)
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._connection.connect(str(self.folder / "hub.sock"))
        except OSError as error:
            self.close()
            raise NoHub(missing) from error
        self.pid = _peer(self._connection)
        self._arguments = _arguments(self.pid)

    def close(self) -> None:
        self._connection.close()

    @property
    def address(self) -> str:
        with suppress(OSError):
            return (self.folder / "address").read_text().strip()
        return "an unknown address"

    @property
    def in_background(self) -> bool:
        return BACKGROUND in self._arguments

    @property
    def ends_sessions(self) -> bool:
        return "--stop-sessions" in self._arguments or "demo" in self._arguments

    def sessions(self) -> dict[str, int]:
        found = list(self.client.pages("/api/sessions", "sessions"))
        ours = [each for each in found if each["phase"] != "ended" and not each.get("terminal")]
        own = self.client.own_machine()
        ours = [each for each in ours if each.get("machine", "") in ("", own)]
        waiting = len(list(self.client.pages("/api/asks", "asks", state="open")))
        return {"running": len(ours), "waiting": waiting}

    def end(self) -> None:
        """Ends this very process and waits for it; raises HubError."""
        # While our connection is open the number can't have gone to another process.
        watch = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        try:
            try:
                if watch is not None:
                    signal.pidfd_send_signal(watch, signal.SIGTERM)
                else:
                    os.kill(self.pid, signal.SIGTERM)
            except PermissionError:
                raise HubError(403, "not_ours", f"The hub (process {self.pid}) belongs to another user.") from None
            except ProcessLookupError:
                return
            self._connection.close()
            if not self._has_ended(watch):
                raise HubError(
                    409, "still_running", f"The hub (process {self.pid}) is still stopping. Try again later."
                )
        finally:
            if watch is not None:
                os.close(watch)

    def _has_ended(self, watch: int | None) -> bool:
        if watch is not None:
            return bool(select.select([watch], [], [], _ENDS_WITHIN)[0])
        deadline = time.monotonic() + _ENDS_WITHIN
        while time.monotonic() < deadline:
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.05)
        return False


def _confirm(running: _Running, question: str, *, yes: bool) -> None:
    """Says what it means for sessions, and asks, if there are any."""
    counts = running.sessions()
    if not counts["running"] and not counts["waiting"]:
        return
    sessions = _count(counts["running"], "session is running", "sessions are running")
    waits = _count(counts["waiting"], "request waits for you", "requests wait for you")
    click.echo(f"{sessions}, and {waits}." if counts["waiting"] else f"{sessions}.", err=True)
    if running.ends_sessions:
        click.echo("This hub ends its sessions when it stops (--stop-sessions), also those that wait.", err=True)
    else:
        click.echo("Sessions keep running. Nothing can be answered until the hub is back.", err=True)
    confirm(question, yes=yes)


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _peer(connection: socket.socket) -> int:
    """The process that listens at the other end: the kernel says so, so no file can be out of date."""
    if sys.platform == "darwin":
        return int(connection.getsockopt(0, _LOCAL_PEERPID))
    pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def _arguments(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        command = ["/bin/ps", "-o", "args=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
