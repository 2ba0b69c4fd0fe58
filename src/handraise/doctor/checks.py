"""The checks of `handraise doctor`, one function each. Shows no secret, and changes nothing itself."""

import asyncio
import errno
import fcntl
import os
import shlex
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from stat import S_IMODE, S_ISDIR
from typing import Literal

import msgspec
from msgspec import Struct

from handraise.api import tls
from handraise.claude import sandbox_support
from handraise.claude.command import environment
from handraise.claude.fifo import WANTED_SIZE
from handraise.claude.locate import ClaudeMissing, locate, version
from handraise.claude.sign_in import sign_in
from handraise.claude.versions import SAFE_SINCE, is_unsafe
from handraise.client.connection import HttpClient, RequestFailed
from handraise.config.settings import ClaudeSettings, SandboxSettings, WebSettings
from handraise.store.interface import StoreError
from handraise.store.sqlite.database import schema
from handraise.texts import t
from handraise.workspace.hook_entry import PATH, HookEntry
from handraise.workspace.json_texts import Unmergeable
from handraise.workspace.syncing import project_hook
from handraise.workspace.user_settings import user_hook

KERNEL = Path("/proc/sys/fs")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_PAGE = 4096
_MIB = 1024 * 1024
_GIB = 1024 * _MIB
_LITTLE_DISK = _GIB
_NO_DISK = 100 * _MIB
_FEW_WATCHES = 1024
_HUB_SECONDS = 3.0
"""How long a running hub has to say how it is."""
_LONGEST_SOCKET = 103 if sys.platform == "darwin" else 107
"""Bytes of a path that a socket can have."""

Verdict = Literal["ok", "warn", "fail"]


class _Me(Struct, frozen=True):
    hub_trouble: str = ""


class Finding(Struct, frozen=True):
    """The result of one check. `advice` is the next step; a check that passed needs none."""

    name: str
    verdict: Verdict
    sentence: str
    advice: str = ""


def gateway() -> Finding:
    """A hub that runs no sessions needs no Claude Code."""
    return Finding("claude", "ok", t("doctor.claude.gateway"))


async def check_claude(settings: ClaudeSettings) -> Finding:
    """Whether Claude Code starts, and is a version we tested."""
    try:
        path = locate(settings.path)
        found = await version(path)
    except ClaudeMissing as error:
        return Finding("claude", "fail", error.problem, error.advice)
    sentence = t("doctor.claude.found", version=found, path=path)
    if is_unsafe(found):
        unsafe = t("doctor.claude.unsafe", version=found, path=path, safe=SAFE_SINCE)
        plan = t("doctor.claude.plan_allowed" if settings.allow_unsafe_plan_mode else "doctor.claude.plan_refused")
        update = t("doctor.run", command=f"{shlex.quote(str(path))} update")
        return Finding("claude", "fail", f"{unsafe} {plan}", update)
    return Finding("claude", "ok", sentence)


async def check_sign_in(settings: ClaudeSettings, environ: Mapping[str, str], home: Path) -> Finding:
    """Whether the Claude Code that the hub would run is signed in, as it says itself; else by its files."""
    keys = [name for name in _KEYS if environ.get(name)]
    try:
        program = locate(settings.path)
    except ClaudeMissing:
        return check_login(settings, environ, home)
    passed = environment(environ, api_billing=settings.use_api_billing)
    state = await sign_in(program, passed)
    if state == "unknown" or (keys and settings.use_api_billing):
        return check_login(settings, environ, home)
    not_passed = f" {t('doctor.login.not_passed', name=keys[0])}" if keys else ""
    if state == "in":
        return Finding("login", "ok", t("doctor.login.signed_in") + not_passed)
    advice = t("doctor.login.run_or_key" if keys else "doctor.login.run", command=f"{_program(settings)} auth login")
    return Finding("login", "warn", t("doctor.login.says_no", path=program) + not_passed, advice)


def check_login(settings: ClaudeSettings, environ: Mapping[str, str], home: Path) -> Finding:
    """Whether Claude Code is signed in, by which files and variables exist; none of them is read."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    keys = [name for name in _KEYS if environ.get(name)]
    if keys and settings.use_api_billing:
        return Finding("login", "ok", t("doctor.login.key", name=keys[0]))
    not_passed = f" {t('doctor.login.not_passed', name=keys[0])}" if keys else ""
    if (folder / ".credentials.json").exists() or environ.get("CLAUDE_CODE_OAUTH_TOKEN"):
        return Finding("login", "ok", t("doctor.login.signed_in") + not_passed)
    key = "doctor.login.run_or_key" if keys else "doctor.login.run"
    advice = t(key, command=f"{_program(settings)} auth login")
    if (home / ".claude.json").exists() or (folder / ".claude.json").exists():
        # On macOS the sign-in is in the keychain, which we don't read.
        return Finding("login", "warn", t("doctor.login.unknown") + not_passed, advice)
    return Finding("login", "warn", t("doctor.login.signed_out", folder=folder) + not_passed, advice)


def _program(settings: ClaudeSettings) -> str:
    try:
        return shlex.quote(str(locate(settings.path)))
    except ClaudeMissing:
        return "claude"


def running_hub(state: Path) -> str | None:
    """The process ID of the hub that uses this state folder; None if no hub does."""
    try:
        lock = os.open(state / "hub.lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Shared, and released at once: only a hub that starts at this very moment could notice.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.read(lock, 100).decode(errors="replace").strip()
    finally:
        os.close(lock)
    return None


async def trouble_of_hub(state: Path) -> str:
    """What the running hub says is wrong with it, such as that it lost its machine; empty if nothing, or no answer."""
    try:
        async with asyncio.timeout(_HUB_SECONDS), HttpClient(state / "hub.sock", {}) as http:
            response = await http.request("GET", "/api/me")
            return str(msgspec.json.decode(response.body, type=_Me).hub_trouble)
    except (RequestFailed, TimeoutError, OSError, msgspec.MsgspecError):
        return ""


def check_hub(state: Path, process: str | None, trouble: str = "") -> Finding:
    """Whether a hub is running, and where; and what is wrong with it."""
    if process is None:
        return Finding("hub", "ok", t("doctor.hub.none"))
    if trouble:
        return Finding("hub", "fail", trouble)
    address = _address(state)
    if address is None:
        return Finding("hub", "ok", t("doctor.hub.runs", process=process))
    return Finding("hub", "ok", t("doctor.hub.runs_at", address=address, process=process))


def check_hooks(state: Path, process: str | None, folder: Path, project: Path | None) -> Finding:
    """Whether Claudes in terminals find the running hub, by the user's settings and those of a project."""
    address = _address(state) if process is not None else None
    try:
        hooks = _hooks(folder, project)
    except Unmergeable as error:
        return Finding("hooks", "warn", t("doctor.hooks.unreadable", error=error), t("doctor.hooks.fix"))
    urls = sorted({hook.url for hook in hooks if hook is not None})
    if not urls:
        return Finding("hooks", "ok", t("doctor.hooks.none"))
    wrong = [url for url in urls if address is not None and url != f"{address}{PATH}"]
    if wrong:
        elsewhere = t("doctor.hooks.elsewhere", url=wrong[0], address=address)
        is_users = hooks[0] is not None and hooks[0].url == wrong[0]
        command = "handraise project sync --user" if is_users else "handraise project sync"
        return Finding("hooks", "warn", elsewhere, t("doctor.hooks.sync", command=command))
    return Finding("hooks", "ok", t("doctor.hooks.found", urls=", ".join(urls)))


def _hooks(folder: Path, project: Path | None) -> tuple[HookEntry | None, HookEntry | None]:
    """The user's, and the project's. In the home directory, both would be in the same files."""
    if project is None or os.path.realpath(project / ".claude") != os.path.realpath(folder):
        return user_hook(folder), project_hook(str(project)) if project is not None else None
    try:
        return user_hook(folder), None
    except Unmergeable:
        return None, project_hook(str(project))


def check_port(settings: WebSettings, *, hub_runs: bool) -> Finding:
    """Whether the hub can listen on its port."""
    address = f"{settings.host}:{settings.port}"
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(target)
    except OSError as error:
        if hub_runs:
            return Finding("port", "ok", t("doctor.port.by_hub", address=address))
        failed = t("doctor.port.failed", address=address, why=error.strerror)
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            return Finding("port", "fail", failed, t("doctor.port.other_host"))
        if error.errno == errno.EACCES:
            return Finding("port", "fail", failed, t("doctor.port.other_port"))
        return Finding("port", "fail", failed, t("doctor.port.advice"))
    return Finding("port", "ok", t("doctor.port.free", address=address))


def check_exposure(settings: WebSettings) -> Finding:
    """Whether others could read the traffic."""
    if settings.tls_cert is not None and settings.tls_key is not None:
        try:
            tls.load(Path(settings.tls_cert).expanduser(), Path(settings.tls_key).expanduser())
        except tls.CertificateUnfit as error:
            return Finding("tls", "fail", str(error), t("doctor.tls.fix"))
        return Finding("tls", "ok", t("doctor.tls.on"))
    if settings.host in _LOOPBACK:
        return Finding("tls", "ok", t("doctor.tls.local"))
    if settings.behind_proxy:
        return Finding("tls", "ok", t("doctor.tls.proxy"))
    return Finding("tls", "fail", t("doctor.tls.off", host=settings.host), t("doctor.tls.advice"))


def check_state(state: Path) -> Finding:
    """Whether only this user can read the state folder, and the hub's socket fits into its path."""
    socket_path = state.absolute() / "hub.sock"
    excess = len(os.fsencode(socket_path)) - _LONGEST_SOCKET
    if excess > 0:
        return Finding("state", "fail", t("doctor.folder.long", folder=state, count=excess), t("doctor.folder.shorter"))
    return _check_private("state", state, t("doctor.folder.other_state"))


def check_database_folder(database: Path) -> Finding:
    """The same for the folder of a database elsewhere."""
    return _check_private("store", database.parent, t("doctor.folder.other_database"))


def _check_private(name: str, folder: Path, other: str) -> Finding:
    try:
        status = folder.stat()
    except FileNotFoundError:
        return Finding(name, "ok", t("doctor.folder.later", folder=folder))
    except OSError as error:
        return Finding(name, "fail", t("doctor.folder.failed", folder=folder, why=error.strerror), other)
    if not S_ISDIR(status.st_mode):
        return Finding(name, "fail", t("doctor.folder.not_folder", folder=folder), other)
    if status.st_uid != os.geteuid():
        return Finding(name, "fail", t("doctor.folder.foreign", folder=folder), other)
    run = t("doctor.run", command=f"chmod 700 {shlex.quote(str(folder))}")
    if status.st_mode & 0o077:
        return Finding(name, "fail", t("doctor.folder.open", folder=folder), run)
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(name, "fail", t("doctor.folder.read_only", folder=folder), run)
    return Finding(name, "ok", t("doctor.folder.private", folder=folder))


def free_bytes(folder: Path) -> int:
    """How many bytes are free where a folder is, or will be."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return shutil.disk_usage(there).free


def check_disk(state: Path, free: int) -> Finding:
    """Whether there is disk space for journals and history."""
    sentence = t("doctor.disk.free", folder=state, size=_size(free))
    advice = t("doctor.disk.advice")
    if free < _NO_DISK:
        return Finding("disk", "fail", sentence, advice)
    if free < _LITTLE_DISK:
        return Finding("disk", "warn", sentence, advice)
    return Finding("disk", "ok", sentence)


def _size(count: int) -> str:
    return f"{count / _GIB:,.1f} GiB" if count >= _GIB else f"{count // _MIB} MiB"


def check_database(file: Path) -> Finding:
    """Whether the database opens, and isn't newer than this version."""
    if not file.exists():
        return Finding("database", "ok", t("doctor.database.none"))
    try:
        found, known = schema(file)
    except StoreError as error:
        return Finding("database", "fail", error.problem, error.advice)
    if found > known:
        newer = t("doctor.database.newer", found=found, known=known)
        return Finding("database", "fail", newer, t("doctor.database.advice"))
    if found != known:
        return Finding("database", "ok", t("doctor.database.migrates", found=found, known=known))
    return Finding("database", "ok", t("doctor.database.opens", found=found))


def check_pipes(parallel: int, kernel: Path = KERNEL) -> Finding:
    """Whether every session can have a pipe that holds a long line."""
    largest = _number(kernel / "pipe-max-size")
    pages = _number(kernel / "pipe-user-pages-soft")
    if largest is None:
        return Finding("pipes", "ok", t("doctor.pipes.no_limit"))
    if largest < WANTED_SIZE:
        advice = t("doctor.run", command=f"sudo sysctl fs.pipe-max-size={WANTED_SIZE}")
        return Finding("pipes", "warn", t("doctor.pipes.small", bytes=f"{largest:,}"), advice)
    if pages and pages * _PAGE < parallel * WANTED_SIZE:
        advice = t("doctor.run", command=f"sudo sysctl fs.pipe-user-pages-soft={parallel * WANTED_SIZE // _PAGE}")
        few = t("doctor.pipes.few", large=pages * _PAGE // WANTED_SIZE, count=parallel)
        return Finding("pipes", "warn", few, advice)
    return Finding("pipes", "ok", t("doctor.pipes.large", size=f"{largest // 1024:,} KiB"))


def check_inotify(kernel: Path = KERNEL) -> Finding:
    """Whether the kernel can notify the hub when a journal grows."""
    instances = _number(kernel / "inotify" / "max_user_instances")
    watches = _number(kernel / "inotify" / "max_user_watches")
    if instances is None or watches is None:
        return Finding("inotify", "ok", t("doctor.inotify.none"))
    sentence = t("doctor.inotify.limits", instances=f"{instances:,}", watches=f"{watches:,}")
    if instances < 1 or watches < _FEW_WATCHES:
        more = "sudo sysctl fs.inotify.max_user_instances=128 fs.inotify.max_user_watches=65536"
        return Finding("inotify", "warn", sentence, t("doctor.run", command=more))
    return Finding("inotify", "ok", sentence)


async def check_sandbox(settings: SandboxSettings) -> Finding:
    """Whether Claude is kept away from the hub's own files."""
    found = await sandbox_support.look()
    if found.missing:
        return Finding("sandbox", "warn", t("doctor.sandbox.none", why=found.missing), found.advice)
    if settings.preset == "off":
        return Finding("sandbox", "warn", t("doctor.sandbox.off"), t("doctor.sandbox.advice"))
    return Finding("sandbox", "ok", t("doctor.sandbox.on", preset=settings.preset))


def check_secrets(file: Path, *, has_token: bool, has_password: bool = False) -> Finding | None:
    """Whether other users can read a token, or the database's password, in the settings file."""
    if not (has_token or has_password) or not file.exists() or not S_IMODE(file.stat().st_mode) & 0o044:
        return None
    run = t("doctor.run", command=f"chmod 600 {shlex.quote(str(file))}")
    readable = t("doctor.token_readable", file=file) if has_token else t("doctor.password_readable", file=file)
    return Finding("secrets", "warn", readable, run)


def _address(state: Path) -> str | None:
    try:
        return (state / "address").read_text().strip()
    except OSError:
        return None


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
