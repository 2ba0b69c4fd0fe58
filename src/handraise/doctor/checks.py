"""The checks of `handraise doctor`, one function each. Shows no secret, and changes nothing."""

import fcntl
import os
import re
import shlex
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from stat import S_IMODE
from typing import Literal

from msgspec import Struct

from handraise.api import tls
from handraise.claude import sandbox_support
from handraise.claude.fifo import WANTED_SIZE
from handraise.claude.locate import ClaudeMissing, locate, version
from handraise.config.settings import ClaudeSettings, SandboxSettings, WebSettings
from handraise.store.interface import StoreError
from handraise.store.sqlite.database import schema
from handraise.workspace.hook_entry import PATH
from handraise.workspace.json_texts import Unmergeable
from handraise.workspace.syncing import project_hook
from handraise.workspace.user_settings import user_hook

OLDEST_TRIED = (2, 1, 197)
KERNEL = Path("/proc/sys/fs")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_PAGE = 4096
_MIB = 1024 * 1024
_GIB = 1024 * _MIB
_LITTLE_DISK = _GIB
_NO_DISK = 100 * _MIB
_FEW_WATCHES = 1024

Verdict = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True):
    """The result of one check. `advice` is the next step; a check that passed needs none."""

    name: str
    verdict: Verdict
    sentence: str
    advice: str = ""


async def check_claude(settings: ClaudeSettings) -> Finding:
    """Whether Claude Code starts, and is a version we tested."""
    try:
        path = locate(settings.path)
        found = await version(path)
    except ClaudeMissing as error:
        sentence, _, advice = str(error).partition(". ")
        return Finding("claude", "fail", f"{sentence.rstrip('.')}.", advice)
    sentence = f"Claude Code {found} at {path}."
    if tuple(int(number) for number in re.findall(r"\d+", found)[:3]) < OLDEST_TRIED:
        oldest = ".".join(map(str, OLDEST_TRIED))
        return Finding("claude", "warn", f"{sentence} The oldest tested version is {oldest}.", "Run: claude update")
    return Finding("claude", "ok", sentence)


def check_login(settings: ClaudeSettings, environ: Mapping[str, str], home: Path) -> Finding:
    """Whether Claude Code is signed in, by which files and variables exist; none of them is read."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    keys = [name for name in _KEYS if environ.get(name)]
    if keys and settings.use_api_billing:
        return Finding("login", "ok", f"{keys[0]} is set and passed to Claude (use_api_billing).")
    not_passed = f" {keys[0]} is set, but not passed to Claude." if keys else ""
    if (folder / ".credentials.json").exists() or environ.get("CLAUDE_CODE_OAUTH_TOKEN"):
        return Finding("login", "ok", f"Claude Code is signed in.{not_passed}")
    advice = f"Run `{_program(settings)} auth login` in a terminal"
    advice += ", or use the key: set [claude] use_api_billing = true." if keys else "."
    if (home / ".claude.json").exists() or (folder / ".claude.json").exists():
        # On macOS the sign-in is in the keychain, which we don't read.
        return Finding(
            "login", "warn", f"Claude Code was used here, but its sign-in can't be checked.{not_passed}", advice
        )
    return Finding("login", "warn", f"Claude Code isn't signed in (no credentials in {folder}).{not_passed}", advice)


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


def check_hub(state: Path, process: str | None) -> Finding:
    """Whether a hub is running, and where."""
    if process is None:
        return Finding("hub", "ok", "No hub is running.")
    return Finding("hub", "ok", f"A hub is running{_address(state)} (process {process}).")


def check_hooks(state: Path, process: str | None, folder: Path, project: Path | None) -> Finding:
    """Whether Claudes in terminals find the running hub, by the user's settings and those of a project."""
    address = _address(state).removeprefix(" at ") if process is not None else ""
    try:
        found = [user_hook(folder), project_hook(str(project)) if project is not None else None]
    except Unmergeable as error:
        return Finding("hooks", "warn", f"Can't read Claude's settings: {error}", "Fix the file.")
    urls = sorted({hook.url for hook in found if hook is not None})
    if not urls:
        return Finding("hooks", "ok", "Claude in a terminal doesn't ask here. To change that: handraise project sync")
    wrong = [url for url in urls if address and url != f"{address}{PATH}"]
    if wrong:
        what = f"Claude in a terminal calls {wrong[0]}, but the hub is at {address}."
        return Finding("hooks", "warn", what, "Run handraise project sync again, or set the [web] port back.")
    return Finding("hooks", "ok", f"Claude in a terminal asks here: {', '.join(urls)}.")


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
            return Finding("port", "ok", f"{address} is in use by the running hub.")
        advice = "Stop the program that uses it, or set another [web] port."
        return Finding("port", "fail", f"Can't listen on {address}: {error.strerror}.", advice)
    return Finding("port", "ok", f"{address} is free.")


def check_exposure(settings: WebSettings) -> Finding:
    """Whether others could read the traffic."""
    if settings.tls_cert is not None and settings.tls_key is not None:
        try:
            tls.load(Path(settings.tls_cert).expanduser(), Path(settings.tls_key).expanduser())
        except tls.CertificateUnfit as error:
            return Finding("tls", "fail", str(error), "Fix [web] tls_cert and tls_key.")
        return Finding("tls", "ok", "The hub uses TLS.")
    if settings.host in _LOOPBACK:
        return Finding("tls", "ok", "Only this machine can reach the hub.")
    if settings.behind_proxy:
        return Finding("tls", "ok", "A proxy handles TLS ([web] behind_proxy).")
    advice = "Set [web] tls_cert and tls_key, or behind_proxy = true if a proxy handles TLS."
    return Finding("tls", "fail", f"{settings.host} without TLS: others on the network could read the traffic.", advice)


def check_state(state: Path) -> Finding:
    """Whether only this user can read the state folder."""
    return _check_private("state", state, "Use --state to choose another folder.")


def check_database_folder(database: Path) -> Finding:
    """The same for the folder of a database elsewhere."""
    return _check_private("store", database.parent, "Set another [store] database.")


def _check_private(name: str, folder: Path, other: str) -> Finding:
    try:
        status = folder.stat()
    except FileNotFoundError:
        return Finding(name, "ok", f"{folder} will be created when a hub starts.")
    except OSError as error:
        return Finding(name, "fail", f"Can't access {folder}: {error.strerror}.", other)
    if status.st_uid != os.geteuid():
        return Finding(name, "fail", f"{folder} belongs to another user.", other)
    if status.st_mode & 0o077:
        return Finding(name, "fail", f"Other users can access {folder}.", f"Run: chmod 700 {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(name, "fail", f"{folder} isn't writable.", f"Run: chmod 700 {folder}")
    return Finding(name, "ok", f"{folder} is private to you.")


def free_bytes(folder: Path) -> int:
    """How many bytes are free where a folder is, or will be."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return shutil.disk_usage(there).free


def check_disk(state: Path, free: int) -> Finding:
    """Whether there is disk space for journals and history."""
    sentence = f"{state}: {_size(free)} free"
    advice = "Free up some space. Sessions are recorded there."
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
        return Finding("database", "ok", "No database yet. The hub will create it.")
    try:
        found, known = schema(file)
    except StoreError as error:
        sentence, _, advice = str(error).partition(". ")
        return Finding("database", "fail", f"{sentence.rstrip('.')}.", advice)
    if found > known:
        advice = "Install the newer Handraise again, or use --state to choose another folder."
        return Finding(
            "database", "fail", f"The database has schema {found}; this version of Handraise supports {known}.", advice
        )
    later = "" if found == known else f"; will be migrated to {known} when a hub starts"
    return Finding("database", "ok", f"The database opens (schema {found}{later}).")


def check_pipes(parallel: int, kernel: Path = KERNEL) -> Finding:
    """Whether every session can have a pipe that holds a long line."""
    largest = _number(kernel / "pipe-max-size")
    pages = _number(kernel / "pipe-user-pages-soft")
    if largest is None:
        return Finding("pipes", "ok", "No readable limit on this system.")
    if largest < WANTED_SIZE:
        advice = f"Run: sysctl fs.pipe-max-size={WANTED_SIZE}"
        return Finding("pipes", "warn", f"Pipes hold only {largest:,} bytes, so long lines are slower.", advice)
    if pages and pages * _PAGE < parallel * WANTED_SIZE:
        advice = f"Run: sysctl fs.pipe-user-pages-soft={parallel * WANTED_SIZE // _PAGE}"
        sentence = f"Only {pages * _PAGE // WANTED_SIZE} of {parallel} sessions can have large pipes."
        return Finding("pipes", "warn", sentence, advice)
    return Finding("pipes", "ok", f"Pipes hold up to {largest // 1024:,} KiB.")


def check_inotify(kernel: Path = KERNEL) -> Finding:
    """Whether the kernel can notify the hub when a journal grows."""
    instances = _number(kernel / "inotify" / "max_user_instances")
    watches = _number(kernel / "inotify" / "max_user_watches")
    if instances is None or watches is None:
        return Finding("inotify", "ok", "No inotify on this system; journals are polled.")
    if instances < 1 or watches < _FEW_WATCHES:
        advice = "Run: sysctl fs.inotify.max_user_instances=128 fs.inotify.max_user_watches=65536"
        return Finding("inotify", "warn", f"Limits: {instances:,} instances, {watches:,} watches.", advice)
    return Finding("inotify", "ok", f"Limits: {instances:,} instances, {watches:,} watches.")


async def check_sandbox(settings: SandboxSettings) -> Finding:
    """Whether Claude is kept away from the hub's own files."""
    found = await sandbox_support.look()
    if found.missing:
        return Finding(
            "sandbox", "warn", f"No sandbox: Claude's tools can access the hub's files. {found.missing}", found.advice
        )
    if settings.preset == "off":
        return Finding(
            "sandbox",
            "warn",
            "The sandbox is off: Claude's tools can access the hub's files.",
            'Set [sandbox] preset = "open".',
        )
    return Finding("sandbox", "ok", f"Claude runs in a sandbox ({settings.preset}).")


def check_secrets(file: Path, *, has_token: bool) -> Finding | None:
    """Whether other users can read a token in the settings file."""
    if not has_token or not file.exists() or not S_IMODE(file.stat().st_mode) & 0o044:
        return None
    return Finding("secrets", "warn", f"Other users can read the token in {file}.", f"Run: chmod 600 {file}")


def _address(state: Path) -> str:
    try:
        return f" at {(state / 'address').read_text().strip()}"
    except OSError:
        return ""


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
