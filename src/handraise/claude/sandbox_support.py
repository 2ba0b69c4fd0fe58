"""Checks once whether this machine can sandbox Claude, with a program that does nothing."""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec import Struct

from handraise.claude import launcher, sandbox
from handraise.texts import t

_DEADLINE = 10.0
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")
_MOST = Path("/proc/sys/user/max_user_namespaces")
_found: dict[int, "SandboxSupport"] = {}


class SandboxSupport(Struct, frozen=True):
    """The result of trying. `missing` says why there is no sandbox, `advice` what to do about it."""

    missing: str = ""
    advice: str = ""


async def look() -> SandboxSupport:
    """Checked once per process and user."""
    user = os.geteuid()
    if user not in _found:
        try:
            _found[user] = await _try()
        except OSError as error:
            _found[user] = SandboxSupport(t("sessions.sandbox.failed", why=error.strerror), advice())
    return _found[user]


async def _try() -> SandboxSupport:
    if sys.platform != "linux":
        return SandboxSupport(t("sessions.sandbox.no_namespaces"), t("sessions.sandbox.linux"))
    with tempfile.TemporaryDirectory() as folder:
        grounds = sandbox.sandbox_context([Path(folder)], os.environ)
        # The folder is hidden inside the sandbox: the program gets everything it needs before that.
        plan = sandbox.plan(sandbox.Sandbox(preset="open", directory="/"), grounds)
        order = {"command": ["/bin/true"], "directory": "/", "sandbox": plan}
        _write(Path(folder, "launch.json"), order)
        tried = await asyncio.create_subprocess_exec(
            sys.executable, *launcher.WORDS, folder,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            async with asyncio.timeout(_DEADLINE):
                _, errors = await tried.communicate()
        except TimeoutError:
            tried.kill()
            await tried.wait()
            return SandboxSupport(t("sessions.sandbox.slow", seconds=f"{_DEADLINE:g}"), advice())
        _reap(Path(folder, "launch.json"))
    if tried.returncode == 0:
        return SandboxSupport()
    reason = errors.decode(errors="replace").strip().rpartition("could not create the sandbox: ")[2]
    reason = reason or t("sessions.sandbox.status", status=tried.returncode)
    return SandboxSupport(t("sessions.sandbox.refused", why=reason), advice())


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


def _write(file: Path, order: dict[str, Any]) -> None:
    file.write_text(json.dumps(order))


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
