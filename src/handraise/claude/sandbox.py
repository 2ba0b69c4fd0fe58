"""The sandbox of one Claude: what it and its children can see and change. Decides; `namespaces` builds it.

Never includes the hub's own folder, its settings or another session.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from handraise.claude.launcher import private
from handraise.texts import t

_SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 (not ours: what every program may use)
_SERVICES = ("/run/dbus/system_bus_socket", "/run/systemd/private")
"""Sockets of services that start programs for any caller, outside the sandbox."""
_MACHINES = (
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/libvirt/libvirt-sock",
    "/run/lxd.socket",
    "/run/incus/unix.socket",
    "/run/snapd.socket",
)
_BROWSERS = (
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    "snap/firefox",
    "snap/chromium",
)
"""Where browsers keep cookies, including the one that signs the person in here."""


class SandboxUnfit(Exception):
    """No sandbox of this kind fits this directory. The text says why, and what to do."""


class SandboxContext(Struct, frozen=True):
    """What a hub hides from every Claude, and where the person's own files are."""

    hidden: tuple[str, ...] = ()
    """The hub's folder, settings, database and key."""
    home: str = ""
    claude_folder: str = ""
    """Where Claude keeps its settings and conversations."""
    runtime: tuple[str, ...] = ()
    """Folders where the person's own programs, and other Claudes, listen: each sandbox has its own."""
    agents: tuple[str, ...] = ()
    """Sockets in there that Claude may still use: the `ssh` and `gpg` agents."""
    mounts: str = ""
    """`/proc/self/mountinfo`."""


class Sandbox(Struct, frozen=True, kw_only=True):
    """What one Claude may access."""

    preset: str
    """One of SANDBOXES, except `off`."""
    directory: str
    writable: tuple[str, ...] = ()
    """Directories besides the project's own that it may write to."""


def sandbox_context(hidden: Iterable[Path | None], environment: Mapping[str, str]) -> SandboxContext:
    """As found on this machine now."""
    home = environment.get("HOME") or str(Path.home())
    user = os.geteuid()
    folder = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    runtime = [*_runtime(user, environment), os.path.join(folder, "sessions")]
    agent = environment.get("SSH_AUTH_SOCK")
    return SandboxContext(
        hidden=tuple(os.path.realpath(each) for each in hidden if each is not None),
        home=os.path.realpath(home),
        claude_folder=os.path.realpath(folder),
        runtime=tuple(sorted({os.path.realpath(each) for each in runtime if each})),
        agents=tuple(os.path.realpath(each) for each in (agent, f"/run/user/{user}/gnupg") if each),
        mounts=_mounts(),
    )


def prepare(known: SandboxContext) -> None:
    """Creates paths that must be hidden: Claude could create the missing ones itself."""
    for folder in (known.claude_folder, *known.runtime):
        with suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    with suppress(OSError), open(_settings(known), "x", opener=private) as file:
        file.write("{}\n")


def plan(sandbox: Sandbox, known: SandboxContext) -> dict[str, Any]:
    """What `namespaces` should build; raises SandboxUnfit."""
    directory = os.path.realpath(sandbox.directory)
    hidden = list(dict.fromkeys(alias for each in known.hidden for alias in aliases(each, known.mounts)))
    for each in hidden:
        if _is_inside(directory, each):
            raise SandboxUnfit(t("sessions.start.inside_hub", directory=directory, folder=each))
    strict = sandbox.preset in ("project", "sealed")
    if strict and _is_inside(known.home, directory):
        raise SandboxUnfit(t("sessions.start.contains_home", preset=repr(sandbox.preset), directory=directory))
    settings = _settings(known)
    layers = dict([("/", True), *_strict_layers(sandbox, directory, known)] if strict else [])
    layers[settings] = True
    covered = [
        *((each, (), False) for each in hidden),
        *((os.path.join(known.home, each), (), False) for each in _BROWSERS),
        *((each, _agents(sandbox, each, known), True) for each in known.runtime),
        *((os.path.realpath(each), (), False) for each in (*_SERVICES, *(_MACHINES if strict else ()))),
    ]
    return {
        "directory": sandbox.directory,
        "layers": sorted(layers.items(), key=lambda layer: layer[0].count("/") if layer[0] != "/" else 0),
        "pinned": sorted({above for each in (*hidden, settings) for above in renamable(each)}),
        "hidden": [each for each in covered if not _is_inside(directory, each[0])],
        "sealed": sandbox.preset == "sealed",
    }


def aliases(path: str, mounts: str) -> Iterator[str]:
    """Every path that leads to a folder: one file system may be mounted several times."""
    yield path
    table = [_mount(line.split()) for line in mounts.splitlines()]
    home = max((each for each in table if _is_inside(path, each.point)), key=lambda each: len(each.point), default=None)
    if home is None:
        return
    inner = os.path.normpath(f"{home.root}/{path[len(home.point.rstrip('/')) :]}")
    for each in table:
        if each.device == home.device and _is_inside(inner, each.root):
            alias = os.path.normpath(f"{each.point}/{inner[len(each.root.rstrip('/')) :]}")
            if alias != path and os.path.exists(alias) and os.path.samefile(alias, path):
                yield alias


def renamable(path: str) -> Iterator[str]:
    """The folders above it that we could rename, with everything in them, and replace."""
    above = Path(path).parents
    return (str(each) for each in above if str(each) != "/" and os.access(each.parent, os.W_OK))


def _settings(known: SandboxContext) -> str:
    """Claude's own settings for this user. Write access to them means hooks that allow everything."""
    return os.path.join(known.claude_folder, "settings.json")


def _runtime(user: int, environment: Mapping[str, str]) -> Iterator[str | None]:
    temporary = {"/tmp", environment.get("TMPDIR"), environment.get("CLAUDE_CODE_TMPDIR")}  # noqa: S108 (as Claude does)
    yield from (f"{each}/{name}" for each in temporary if each for name in ("cc-socks", f"cc-socks-{user}"))
    yield environment.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    yield f"{environment.get('TMUX_TMPDIR') or '/tmp'}/tmux-{user}"  # noqa: S108 (where tmux listens)
    yield f"/run/screen/S-{environment.get('USER') or 'root'}"


def _strict_layers(sandbox: Sandbox, directory: str, known: SandboxContext) -> Iterator[tuple[str, bool]]:
    for each in _SHARED:
        yield os.path.realpath(each), False
    yield known.home, True
    yield known.claude_folder, False
    for each in sandbox.writable:
        yield os.path.realpath(os.path.expanduser(each)), False
    yield directory, False


def _agents(sandbox: Sandbox, runtime: str, known: SandboxContext) -> Sequence[str]:
    return () if sandbox.preset == "sealed" else [each for each in known.agents if _is_inside(each, runtime)]


class _Mount(Struct, frozen=True):
    device: str
    root: str
    point: str


def _mount(words: Sequence[str]) -> _Mount:
    return _Mount(words[2], _unescaped(words[3]), _unescaped(words[4]))


def _unescaped(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word)


def _is_inside(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _mounts() -> str:
    try:
        return Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
    except OSError:
        return ""
