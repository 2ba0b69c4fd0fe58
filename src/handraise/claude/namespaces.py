"""Forks into new namespaces and builds the file system there from a plan. Runs in the launcher.

The new process is PID 1 of its namespace: everything started in it ends with it. It starts Claude, forwards SIGTERM,
and reaps orphans, which Claude itself would leave as zombies.
"""

from __future__ import annotations

import os

from handraise.claude import shielding, syscalls
from handraise.claude.syscalls import MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY, MS_REC, MS_REMOUNT, MS_SLAVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from handraise.claude.broker import Broker
else:
    import _signal as signal  # as in the launcher

_NEW = syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWNS | syscalls.CLONE_NEWPID
_BY_SIGNAL = 128
_SAFE = MS_NOSUID | MS_NODEV | MS_NOEXEC
_PROCESSES = 8192
"""How many processes may run inside at a time, threads included."""
_NUMBERED = (6, 14)
"""From this Linux version on, each PID namespace has its own `pid_max`; before that, the machine has one."""


class SetupFailed(Exception):
    """The sandbox could not be built. The text is the system's error."""


def launch(plan: Mapping[str, Any], record: Callable[[int], None], execute: Callable[[], None]) -> None:
    """Starts `execute` in the sandbox that `plan` describes, and returns when it is shielded.

    `record` is called before it starts, with the pid of the first process inside: a child of our own parent, which so
    learns how it exited.
    """
    mapped, may_build = os.pipe()
    built, has_built = os.pipe()
    recorded, may_begin = os.pipe()
    begun, has_begun = os.pipe()
    try:
        pid = syscalls.clone(_NEW | syscalls.CLONE_PARENT | signal.SIGCHLD)
    except OSError as error:
        raise SetupFailed(f"cannot create user namespaces ({error.strerror})") from error
    if pid == 0:
        for each in (may_build, built, may_begin, begun):
            os.close(each)
        _begin(plan, mapped, has_built, recorded, has_begun, execute)
    for each in (mapped, has_built, recorded, has_begun):
        os.close(each)
    try:
        _map_ids(pid)
        os.write(may_build, b"1")
        _expect(b"ready", built)
        record(pid)
        os.write(may_begin, b"1")
        _expect(b"begun", begun)
    except OSError as error:
        raise SetupFailed(str(error.strerror or error)) from error


def _expect(word: bytes, file: int) -> None:
    message = _read_all(file)
    if message != word:
        raise SetupFailed(message.decode(errors="replace") or "the process exited before it was ready")


def _begin(
    plan: Mapping[str, Any], mapped: int, has_built: int, recorded: int, has_begun: int, execute: Callable[[], None]
) -> None:
    """The first process inside. Exits if its launcher does so before it is recorded."""
    code = 127
    report = has_built
    try:
        if os.read(mapped, 1):
            broker = _broker() if plan["sealed"] else None
            build(plan)
            os.write(has_built, b"ready")
            os.close(has_built)
            report = has_begun
            if os.read(recorded, 1):
                child = _start(execute, broker)
                os.write(has_begun, b"begun")
                code = _tend(child, broker)
    except OSError as error:
        try:
            os.write(report, str(error.strerror or error).encode())
        except OSError:
            pass
    finally:
        os._exit(code)


def _broker() -> Broker:
    # Imported here: the other presets don't need it.
    from handraise.claude.broker import Broker  # noqa: PLC0415 (see above)

    return Broker()


def _start(execute: Callable[[], None], broker: Broker | None) -> int:
    """Starts Claude's own process, shielded. If exec fails, it reports why, and counts as started."""
    held, let_go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(let_go)
        if (broker is None or broker.seal()) and os.read(held, 1):
            execute()
        os._exit(127)
    if broker is not None:
        broker.listen(child)
    # A process that could trace this one could keep it from ending with Claude.
    syscalls.become_undumpable()
    signal.signal(signal.SIGTERM, lambda *_: _pass_on(child))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    shielding.hold(child)
    os.write(let_go, b"1")
    shielding.shield(child)
    return child


def _pass_on(child: int) -> None:
    try:
        os.kill(child, signal.SIGTERM)
    except ProcessLookupError:
        pass


def _tend(child: int, broker: Broker | None) -> int:
    """Reaps every process that exits until Claude does; returns its exit code as a shell would."""
    # Close Claude's stdin and output, the lock, and the pipe the launcher waits for.
    os.closerange(broker.keep() if broker else 0, os.sysconf("SC_OPEN_MAX"))
    syscalls.give_up_capabilities()
    if broker is not None:
        broker.serve_beside(child)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else _BY_SIGNAL - code


def build(plan: Mapping[str, Any]) -> None:
    """Builds everything this process and its children will see, and drops every other right."""
    syscalls.mount("none", "/", None, MS_REC | MS_SLAVE)
    for path, read_only in plan["layers"]:
        if path != "/":
            _bind(path)
        _set(path, read_only=read_only)
    syscalls.mount("proc", "/proc", "proc", _SAFE)
    _limit_processes()
    _own_terminals()
    for path in plan["pinned"]:
        _bind(path)
    for path, visible, writable in plan["hidden"]:
        _hide(path, visible, writable=writable)
    os.chdir(plan["directory"])
    _drop_capabilities()


def _bind(path: str) -> None:
    """Makes it a mount, so that neither it nor a directory above it can be renamed."""
    try:
        syscalls.mount(path, path, None, MS_BIND | MS_REC)
    except FileNotFoundError:
        pass


def _set(path: str, *, read_only: bool) -> None:
    try:
        syscalls.set_read_only(path, read_only=read_only, below=True)
    except FileNotFoundError:
        pass
    except PermissionError:
        # Something below it was already read-only, and stays so.
        syscalls.set_read_only(path, read_only=read_only, below=False)


def _limit_processes() -> None:
    """A fork bomb inside must not use up the machine's process IDs."""
    try:
        release = tuple(int(each) for each in os.uname().release.replace("-", ".").split(".")[:2])
        if release >= _NUMBERED:
            with open("/proc/sys/kernel/pid_max", "w") as file:
                file.write(str(_PROCESSES))
    except (OSError, ValueError):
        pass


def _own_terminals() -> None:
    """Its own terminals: the person's can't be read or written."""
    if not os.path.isdir("/dev/pts"):
        return
    syscalls.mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    if not os.path.islink("/dev/ptmx"):
        syscalls.mount("/dev/pts/ptmx", "/dev/ptmx", None, MS_BIND)


def _hide(path: str, visible: Sequence[str], *, writable: bool) -> None:
    """Replaces it with an empty folder or file; `visible` parts remain."""
    if not os.path.isdir(path):
        if os.path.lexists(path):
            syscalls.mount("/dev/null", path, None, MS_BIND)
        return
    opened = {each: os.open(each, os.O_PATH | os.O_CLOEXEC) for each in visible if os.path.exists(each)}
    syscalls.mount("none", path, "tmpfs", _SAFE, "mode=0700,size=1m")
    for each, source in opened.items():
        if os.path.isdir(f"/proc/self/fd/{source}"):
            os.makedirs(each, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(each), exist_ok=True)
            os.close(os.open(each, os.O_CREAT | os.O_WRONLY, 0o600))
        syscalls.mount(f"/proc/self/fd/{source}", each, None, MS_BIND)
        os.close(source)
    if not writable:
        syscalls.mount("none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | _SAFE)


def _drop_capabilities() -> None:
    """Drops what could undo the sandbox or trace Claude. Users other than root lose the rest with the next exec."""
    every = range(syscalls.LAST_CAPABILITY)
    for number in every if os.geteuid() else (syscalls.CAP_SYS_ADMIN, syscalls.CAP_SYS_PTRACE):
        if not syscalls.drop_capability(number):
            break


def _map_ids(pid: int) -> None:
    """Maps IDs to themselves: all of ours if allowed, otherwise only our own."""
    own = {"uid": os.geteuid(), "gid": os.getegid()}
    try:
        for kind in own:
            _write(pid, f"{kind}_map", "".join(f"{first} {first} {count}\n" for first, count in _ranges(kind)))
    except PermissionError:
        _write(pid, "setgroups", "deny")
        for kind, number in own.items():
            try:
                _write(pid, f"{kind}_map", f"{number} {number} 1\n")
            except PermissionError:
                pass


def _ranges(kind: str) -> Iterable[tuple[str, str]]:
    with open(f"/proc/self/{kind}_map") as file:
        for line in file:
            first, _, count = line.split()
            yield first, count


def _write(pid: int, name: str, text: str) -> None:
    with open(f"/proc/{pid}/{name}", "w") as file:
        file.write(text)


def _read_all(file: int) -> bytes:
    content = b""
    while chunk := os.read(file, 4096):
        content += chunk
    return content
