"""What the doctor looks at, each in a function that is told where to look. Reads no secret, and changes nothing."""

import fcntl
import os
import re
import shlex
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from stat import S_IMODE

from handraise.api import tls
from handraise.claude import sandbox_support
from handraise.claude.fifo import WANTED_SIZE
from handraise.claude.locate import ClaudeMissing, locate, version
from handraise.config.settings import ClaudeSettings, SandboxSettings, WebSettings
from handraise.doctor.findings import Finding
from handraise.store.interface import StoreError
from handraise.store.sqlite.database import schema

OLDEST_TRIED = (2, 1, 197)
KERNEL = Path("/proc/sys/fs")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_PAGE = 4096
_MIB = 1024 * 1024
_LITTLE_DISK = 1024 * _MIB
_NO_DISK = 100 * _MIB
_FEW_WATCHES = 1024


async def check_claude(settings: ClaudeSettings) -> Finding:
    """Whether there is a CLI that starts, and one that was tried."""
    try:
        path = locate(settings.path)
        found = await version(path)
    except ClaudeMissing as error:
        sentence, _, advice = str(error).partition(". ")
        return Finding("claude", "fail", f"{sentence.rstrip('.')}.", advice)
    sentence = f"Claude Code {found} is at {path}."
    if tuple(int(number) for number in re.findall(r"\d+", found)[:3]) < OLDEST_TRIED:
        oldest = ".".join(map(str, OLDEST_TRIED))
        return Finding("claude", "warn", f"{sentence} The oldest one tried is {oldest}.", "Run: claude update")
    return Finding("claude", "ok", sentence)


def check_login(settings: ClaudeSettings, environ: Mapping[str, str], home: Path) -> Finding:
    """Whether somebody logged in, by which files and variables there are; none of them is read."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    keys = [name for name in _KEYS if environ.get(name)]
    if keys and settings.use_api_billing:
        return Finding("login", "ok", f"{keys[0]} is set and goes to Claude, as [claude] use_api_billing wants it.")
    kept_back = f" {keys[0]} is set, and is kept from Claude." if keys else ""
    if (folder / ".credentials.json").exists() or environ.get("CLAUDE_CODE_OAUTH_TOKEN"):
        return Finding("login", "ok", f"Claude Code has a login.{kept_back}")
    advice = f"Run `{_program(settings)} auth login` in a terminal"
    advice += ", or let the key pay with [claude] use_api_billing = true." if keys else "."
    if (home / ".claude.json").exists() or (folder / ".claude.json").exists():
        # On macOS the login is in the keychain, where we do not look.
        return Finding("login", "warn", f"Claude Code was used here; its login cannot be seen.{kept_back}", advice)
    return Finding("login", "warn", f"There is no login of Claude Code in {folder}.{kept_back}", advice)


def _program(settings: ClaudeSettings) -> str:
    try:
        return shlex.quote(str(locate(settings.path)))
    except ClaudeMissing:
        return "claude"


def running_hub(state: Path) -> str | None:
    """The process of the hub that holds this state folder; None if no hub does."""
    try:
        lock = os.open(state / "hub.lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Shared, and given back at once: nothing but a hub that starts in this very moment could notice.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.read(lock, 100).decode(errors="replace").strip()
    finally:
        os.close(lock)
    return None


def check_hub(state: Path, process: str | None) -> Finding:
    """Whether a hub runs, and where."""
    if process is None:
        return Finding("hub", "ok", "No hub runs.")
    return Finding("hub", "ok", f"A hub runs (process {process}){_address(state)}.")


def check_port(settings: WebSettings, *, hub_runs: bool) -> Finding:
    """Whether the hub can listen where it should."""
    place = f"{settings.host}:{settings.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        if hub_runs:
            return Finding("port", "ok", f"{place} is taken, as it should be while a hub runs.")
        advice = "End what listens there, or choose another [web] port."
        return Finding("port", "fail", f"The hub cannot listen on {place}: {error.strerror}.", advice)
    return Finding("port", "ok", f"{place} is free.")


def check_exposure(settings: WebSettings) -> Finding:
    """Whether others could read along."""
    if settings.tls_cert is not None and settings.tls_key is not None:
        try:
            tls.load(Path(settings.tls_cert).expanduser(), Path(settings.tls_key).expanduser())
        except tls.CertificateUnfit as error:
            return Finding("tls", "fail", str(error), "Correct [web] tls_cert and tls_key.")
        return Finding("tls", "ok", "The hub does TLS by itself.")
    if settings.host in _LOOPBACK:
        return Finding("tls", "ok", "Only this machine can reach the hub.")
    if settings.behind_proxy:
        return Finding("tls", "ok", "A proxy does TLS, as [web] behind_proxy states.")
    advice = "Set [web] tls_cert and tls_key, or state with behind_proxy = true that a proxy does it."
    return Finding("tls", "fail", f"On {settings.host}, without TLS, others could read along.", advice)


def check_state(state: Path) -> Finding:
    """Whether the state folder is ours alone."""
    return _check_private("state", state, "Choose another --state.")


def check_database_folder(database: Path) -> Finding:
    """The same for the folder of a database that lies somewhere else."""
    return _check_private("store", database.parent, "Choose another [store] database.")


def _check_private(name: str, folder: Path, other: str) -> Finding:
    try:
        status = folder.stat()
    except FileNotFoundError:
        return Finding(name, "ok", f"{folder} is made when a hub starts.")
    except OSError as error:
        return Finding(name, "fail", f"{folder} cannot be reached: {error.strerror}.", other)
    if status.st_uid != os.geteuid():
        return Finding(name, "fail", f"{folder} belongs to somebody else.", other)
    if status.st_mode & 0o077:
        return Finding(name, "fail", f"Others can look into {folder}.", f"Run: chmod 700 {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(name, "fail", f"{folder} cannot be written.", f"Run: chmod 700 {folder}")
    return Finding(name, "ok", f"{folder} is yours alone.")


def free_bytes(folder: Path) -> int:
    """How much room is left where a folder is, or will be."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return shutil.disk_usage(there).free


def check_disk(state: Path, free: int) -> Finding:
    """Whether there is room for journals and history."""
    sentence = f"{free // _MIB:,} MiB are free where {state} is."
    advice = "Free some space: what Claude says is written there."
    if free < _NO_DISK:
        return Finding("disk", "fail", sentence, advice)
    if free < _LITTLE_DISK:
        return Finding("disk", "warn", sentence, advice)
    return Finding("disk", "ok", sentence)


def check_database(file: Path) -> Finding:
    """Whether the database opens, and is not newer than we are."""
    if not file.exists():
        return Finding("database", "ok", "There is none yet; a hub makes it.")
    try:
        found, known = schema(file)
    except StoreError as error:
        sentence, _, advice = str(error).partition(". ")
        return Finding("database", "fail", f"{sentence.rstrip('.')}.", advice)
    if found > known:
        advice = "Install the newer Handraise again, or choose another --state."
        return Finding("database", "fail", f"Its schema is {found}; this Handraise knows {known}.", advice)
    later = "" if found == known else f"; it becomes {known} when a hub starts"
    return Finding("database", "ok", f"It opens; its schema is {found}{later}.")


def check_pipes(parallel: int, kernel: Path = KERNEL) -> Finding:
    """Whether every session can have a pipe that takes a long line at once."""
    largest = _number(kernel / "pipe-max-size")
    pages = _number(kernel / "pipe-user-pages-soft")
    if largest is None:
        return Finding("pipes", "ok", "This system has no limit that could be read.")
    if largest < WANTED_SIZE:
        advice = f"Run: sysctl fs.pipe-max-size={WANTED_SIZE}"
        return Finding("pipes", "warn", f"A pipe holds {largest} bytes at most: long lines take a detour.", advice)
    if pages and pages * _PAGE < parallel * WANTED_SIZE:
        advice = f"Run: sysctl fs.pipe-user-pages-soft={parallel * WANTED_SIZE // _PAGE}"
        sentence = f"Only {pages * _PAGE // WANTED_SIZE} of {parallel} sessions can have a large pipe."
        return Finding("pipes", "warn", sentence, advice)
    return Finding("pipes", "ok", f"A pipe holds up to {largest // 1024} KiB.")


def check_inotify(kernel: Path = KERNEL) -> Finding:
    """Whether the hub can be told when a journal grows."""
    instances = _number(kernel / "inotify" / "max_user_instances")
    watches = _number(kernel / "inotify" / "max_user_watches")
    if instances is None or watches is None:
        return Finding("inotify", "ok", "There is no inotify here; journals are looked at again and again.")
    if instances < 1 or watches < _FEW_WATCHES:
        advice = "Run: sysctl fs.inotify.max_user_instances=128 fs.inotify.max_user_watches=65536"
        return Finding("inotify", "warn", f"You may have {instances} instances and {watches} watches.", advice)
    return Finding("inotify", "ok", f"You may have {instances} instances and {watches} watches.")


async def check_sandbox(settings: SandboxSettings) -> Finding:
    """Whether Claudes can be kept from the hub's own files, and are."""
    found = await sandbox_support.look()
    if found.missing:
        return Finding(
            "sandbox", "warn", f"No sandbox: Claude's tools can reach the hub's files. {found.missing}", found.advice
        )
    if settings.preset == "off":
        return Finding(
            "sandbox", "warn", "Off: Claude's tools can reach the hub's files.", 'Set [sandbox] preset = "open".'
        )
    return Finding("sandbox", "ok", f"Claude runs in a sandbox ({settings.preset}).")


def check_secrets(file: Path, *, has_token: bool) -> Finding | None:
    """Whether others can read a token in the settings file."""
    if not has_token or not file.exists() or not S_IMODE(file.stat().st_mode) & 0o044:
        return None
    return Finding("secrets", "warn", f"Others can read the token in {file}.", f"Run: chmod 600 {file}")


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
