"""Checks once whether this machine can sandbox Claude, with a program that does nothing."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from handraise.claude import launcher, sandbox
from handraise.texts import t

_DEADLINE = 10.0
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")
_MOST = Path("/proc/sys/user/max_user_namespaces")
_found: dict[int, "SandboxSupport"] = {}
_trials: dict[int, "_Trial"] = {}
"""Checks that were begun, and not asked for yet."""


class SandboxSupport(Struct, frozen=True):
    """The result of trying. `missing` says why there is no sandbox, `advice` what to do about it."""

    missing: str = ""
    advice: str = ""


@contextmanager
def begun() -> Iterator[None]:
    """Starts the check ahead of `look`, which then finds it done: it takes as long as a tenth of a hub's start."""
    user = os.geteuid()
    if sys.platform == "linux" and user not in _found:
        with suppress(OSError):  # `look` tries again, and says why
            _trials[user] = _Trial()
    try:
        yield
    finally:
        trial = _trials.pop(user, None)
        if trial is not None:
            trial.abandon()


async def look() -> SandboxSupport:
    """Checked once per process and user."""
    user = os.geteuid()
    if user not in _found:
        try:
            _found[user] = await _try(user)
        except OSError as error:
            _found[user] = SandboxSupport(t("sessions.sandbox.failed", why=error.strerror), advice())
    return _found[user]


async def _try(user: int) -> SandboxSupport:
    if sys.platform != "linux":
        return SandboxSupport(t("sessions.sandbox.no_namespaces"), t("sessions.sandbox.linux"))
    trial = _trials.pop(user, None) or _Trial()
    status, errors = await trial.result()
    if status is None:
        return SandboxSupport(t("sessions.sandbox.slow", seconds=f"{_DEADLINE:g}"), advice())
    if status == 0:
        return SandboxSupport()
    reason = errors.decode(errors="replace").strip().rpartition("could not create the sandbox: ")[2]
    reason = reason or t("sessions.sandbox.status", status=status)
    return SandboxSupport(t("sessions.sandbox.refused", why=reason), advice())


class _Trial:
    """A program that does nothing, in a sandbox, and the folder with its order. Runs on its own until it is asked."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._order = Path(self._folder.name, "launch.json")
        try:
            self._program = self._start(self._folder.name)
        except OSError:
            self._folder.cleanup()
            raise

    def _start(self, folder: str) -> subprocess.Popen[bytes]:
        grounds = sandbox.sandbox_context([Path(folder)], os.environ)
        # The folder is hidden inside the sandbox: the program gets everything it needs before that.
        plan = sandbox.plan(sandbox.Sandbox(preset="open", directory="/"), grounds)
        self._order.write_text(json.dumps({"command": ["/bin/true"], "directory": "/", "sandbox": plan}))
        return subprocess.Popen(
            [sys.executable, *launcher.WORDS, folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    async def result(self) -> tuple[int | None, bytes]:
        """Its exit status, and what it wrote; no status if it took too long."""
        try:
            # In a thread: before there is a loop, nothing could watch the program for it.
            _, errors = await asyncio.to_thread(self._program.communicate, timeout=_DEADLINE)
        except subprocess.TimeoutExpired:
            self.abandon()
            return None, b""
        else:
            _reap(self._order)
            return self._program.returncode, errors
        finally:
            self._end()

    def abandon(self) -> None:
        """Ends it without a result."""
        self._end()
        if self._program.stderr is not None:
            self._program.stderr.close()

    def _end(self) -> None:
        if self._program.poll() is None:
            self._program.kill()
        self._program.wait()
        self._folder.cleanup()


def advice() -> str:
    """How to let users create namespaces here."""
    if _number(_APPARMOR):
        return t("sessions.sandbox.apparmor", command="sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
    if _number(_CLONE) == 0:
        return t("sessions.sandbox.allow", command="sysctl -w kernel.unprivileged_userns_clone=1")
    if _number(_MOST) == 0:
        return t("sessions.sandbox.allow", command="sysctl -w user.max_user_namespaces=10000")
    options = "--security-opt seccomp=unconfined --security-opt systempaths=unconfined"
    return t("sessions.sandbox.container", options=options)


def _reap(record: Path) -> None:
    """The program became our child."""
    pid = json.loads(record.read_bytes()).get("pid")
    if pid is not None:
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
