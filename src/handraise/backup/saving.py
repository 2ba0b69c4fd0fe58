"""Makes a backup: the database first, then the journals, so that a journal is never behind what the database knows.

What appears under its name is complete. A backup that is killed leaves a folder beside it, which the next one removes.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from stat import S_ISREG
from typing import IO

from msgspec import Struct

import handraise
from handraise.backup.archive import FORMAT, ArchiveWriter, BackupUnfit, Manifest, Progress, is_ours
from handraise.claude.folder import RunFolder
from handraise.claude.git_start import START
from handraise.hub.replacing import sync
from handraise.store.sqlite.database import schema
from handraise.store.sqlite.snapshot import copy_file, unfinished_sessions

DATABASE = "hub.db"
LEDGER = "telegram/telegram.db"
SETTINGS = "settings/handraise.toml"
_SINGLE = ("machine.json", "hook-offer-closed")
_FOLDERS = ("push", "telegram", "audit")
_RUN_FILES = ("launch.json", "out.ndjson", "err.log", "spill", "spill.begun")
_TAIL = 64 * 1024
_COMPANIONS = ("-wal", "-shm", "-journal")


class BackupSource(Struct, frozen=True):
    """What is saved. `database` is None if it is shared with other machines, and has its own backups."""

    state: Path
    machine: str
    """The name of this machine."""
    database: Path | None
    settings: Path
    named: Sequence[Path] = ()
    """Files that the settings name: keys, certificates, tokens and passwords."""
    claude: Path | None = None
    """Claude Code's own folder, with its conversations; None to leave them out."""
    all_journals: bool = False
    """Also those of sessions that have ended."""


class SavedBackup(Struct, frozen=True):
    """A backup that was made. `left_out` are files that the settings name, and that are elsewhere."""

    manifest: Manifest
    size: int
    left_out: tuple[Path, ...]


def save(source: BackupSource, target: Path, now: datetime, progress: Progress, *, replacing: bool) -> SavedBackup:
    """Raises BackupUnfit, a StoreError or OSError; then there is no new file."""
    if not replacing and os.path.lexists(target):
        raise BackupUnfit(f"{target} already exists. Choose another name, or use --force to replace it.")
    if not target.parent.is_dir():
        raise BackupUnfit(f"There is no folder {target.parent}. Create it first.")
    if not source.state.is_dir():
        raise BackupUnfit(f"There is nothing to back up in {source.state}. Use --state to name another folder.")
    with _draft_folder(target) as drafts:
        draft = drafts / "backup"
        with open(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w+b") as file:
            with ArchiveWriter(file, progress) as writer:
                version, unfinished = _add_database(source, drafts, writer, progress)
                sessions = _add_runs(source, unfinished, writer)
                _add_state(source, drafts, writer, progress)
                left_out = _add_settings(source, writer)
                _add_conversations(source, writer)
                at = now.isoformat(timespec="seconds")
                manifest = Manifest(
                    FORMAT, handraise.__version__, at, source.machine, version, sessions, tuple(writer.files)
                )
                writer.close(manifest)
            file.flush()
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        _publish(draft, target, replacing=replacing)
    sync(target.parent)
    return SavedBackup(manifest, size, left_out)


@contextmanager
def _draft_folder(target: Path) -> Iterator[Path]:
    """A private folder beside the backup, for what isn't complete. One backup at a time has it."""
    folder = target.with_name(f".{target.name}.partial")
    folder.mkdir(mode=0o700, exist_ok=True)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupUnfit(f"Another backup to {target} is running. Wait until it has finished.") from None
        if os.fstat(opened).st_uid != os.geteuid():
            raise BackupUnfit(f"{folder} belongs to another user. Choose another folder for the backup.")
        os.fchmod(opened, 0o700)
        for each in folder.iterdir():
            each.unlink()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(opened)


def _publish(draft: Path, target: Path, *, replacing: bool) -> None:
    if replacing:
        draft.replace(target)
        return
    try:
        os.link(draft, target)  # unlike a rename, this never replaces anything
    except FileExistsError:
        raise BackupUnfit(f"{target} already exists. Choose another name, or use --force to replace it.") from None
    except OSError:
        draft.rename(target)  # some filesystems have no links


def _add_database(
    source: BackupSource, drafts: Path, writer: ArchiveWriter, progress: Progress
) -> tuple[int | None, dict[str, int] | None]:
    """The version of its schema, and the sessions that haven't ended: both None if the database isn't ours to save."""
    if source.database is None:
        return None, None
    if not source.database.is_file():
        raise BackupUnfit(f"There is no database at {source.database}. Use --state to name another folder.")
    copy = drafts / DATABASE
    copy_file(source.database, copy, lambda done, total: progress("copying the database", done, total))
    version, _ = schema(copy)
    unfinished = unfinished_sessions(copy)
    _add(writer, DATABASE, copy)
    copy.unlink()
    return version, unfinished


def _add_runs(source: BackupSource, unfinished: dict[str, int] | None, writer: ArchiveWriter) -> int:
    """The folders of processes, and where each session started.

    Without a database of our own, a session is needed while its Claude runs.
    """
    needed = set()
    for folder in sorted((source.state / "sessions").glob("*/*")):
        session, run = folder.parent.name, folder.name
        if run == START:
            _add(writer, f"sessions/{session}/{START}", folder)
            continue
        if unfinished is None:
            record = RunFolder(folder).record()
            is_needed = record is not None and record.identity.lives()
        else:
            is_needed = str(unfinished.get(session)) == run
        if is_needed:
            needed.add(session)
        if is_needed or source.all_journals:
            for each in _RUN_FILES:
                _add(writer, f"sessions/{session}/{run}/{each}", folder / each)
    return len(needed if unfinished is None else unfinished)


def _add_state(source: BackupSource, drafts: Path, writer: ArchiveWriter, progress: Progress) -> None:
    for name in _SINGLE:
        _add(writer, name, source.state / name)
    for folder in _FOLDERS:
        for path in sorted((source.state / folder).glob("*")):
            name = f"{folder}/{path.name}"
            if name == LEDGER:
                copy = drafts / path.name
                copy_file(path, copy, lambda done, total: progress("copying Telegram's ledger", done, total))
                _add(writer, name, copy)
                copy.unlink()
            elif is_ours(name) and not path.name.endswith((".lock", *_COMPANIONS)):
                _add(writer, name, path)


def _add_settings(source: BackupSource, writer: ArchiveWriter) -> tuple[Path, ...]:
    _add(writer, SETTINGS, source.settings, is_link_fine=True)
    left_out = []
    for path in dict.fromkeys(source.named):
        name = f"settings/{path.name}"
        if path.parent == source.settings.parent and is_ours(name) and name != SETTINGS:
            _add(writer, name, path, is_link_fine=True)
        elif path.exists():
            left_out.append(path)
    return tuple(left_out)


def _add_conversations(source: BackupSource, writer: ArchiveWriter) -> None:
    """What Claude Code itself needs to resume. Its file is named after the conversation."""
    if source.claude is None:
        return
    found = (RunFolder(each).record() for each in (source.state / "sessions").glob("*/*"))
    conversations = {record.session_id for record in found if record is not None}
    projects = source.claude / "projects"
    for path in sorted(projects.glob("*/*.jsonl")):
        if path.stem in conversations:
            _add(writer, f"claude/{path.parent.name}/{path.name}", path, whole_lines=True)
            for more in sorted(path.with_suffix("").rglob("*")):
                name = f"claude/{more.relative_to(projects)}"
                if is_ours(name):
                    _add(writer, name, more)


def _add(
    writer: ArchiveWriter, name: str, path: Path, *, is_link_fine: bool = False, whole_lines: bool = False
) -> None:
    """A regular file as it is now. One that is missing, goes away meanwhile, or isn't named as ours, is left out."""
    if not is_ours(name):
        return
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if is_link_fine else os.O_NOFOLLOW))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
            return
        raise
    if not S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return
    with open(opened, "rb") as file:
        writer.add(name, file, _end_of_lines(file) if whole_lines else os.fstat(opened).st_size)


def _end_of_lines(file: IO[bytes]) -> int:
    """Where the last complete line ends: someone may be writing the next one."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = file.seek(max(0, end - _TAIL))
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    file.seek(0)
    return end
