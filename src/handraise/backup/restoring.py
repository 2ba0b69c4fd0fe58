"""Restores a backup into a state folder that no hub uses: everything is unpacked and checked before anything changes.

What was there before is moved aside, not deleted. Claudes that still run here keep their folders, so the next hub
reattaches them. Never overwrites settings or conversations.
"""

import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from handraise.backup.archive import Archive, ArchivedFile, BackupUnfit, Progress
from handraise.backup.saving import DATABASE, SETTINGS
from handraise.claude.folder import RunFolder
from handraise.hub.replacing import PLAN, Renaming, replace_state, sync
from handraise.store.sqlite.database import schema
from handraise.store.sqlite.snapshot import check_file, unfinished_sessions

STAGING = "restoring"
ASIDE = "before-restore-"
_OF_PROCESSES = ("locks", "runs")
"""What running processes hold or were given: it stays, whatever is restored."""
_OURS = ("hub.lock", "hub.sock", "address", STAGING, PLAN, *_OF_PROCESSES)
_COMPANIONS = ("", "-wal", "-shm", "-journal")
_SPARE = 64 * 1024 * 1024
_LARGEST_SETTINGS = 1024 * 1024


class RestoreTarget(Struct, frozen=True):
    """Where a backup goes. `database` is None if it is shared with other machines."""

    state: Path
    database: Path | None
    settings: Path
    claude: Path | None


class RestoredState(Struct, frozen=True):
    """What was restored, and where the earlier state is; None if there was none."""

    aside: Path | None
    reattached: int
    """How many Claudes still run."""
    lost: int
    """How many sessions were running when the backup was made, and aren't any more."""
    settings: tuple[Path, ...]
    other_settings: Path | None
    """Where the settings of the backup are, if there are others in their place."""
    conversations: int


def settings_in(archive: Archive) -> str | None:
    """The settings file of a backup; None if it has none. Raises BackupUnfit."""
    if not archive.has(SETTINGS):
        return None
    try:
        return archive.read(SETTINGS, _LARGEST_SETTINGS).decode()
    except UnicodeDecodeError as error:
        raise BackupUnfit(f"The settings in {archive.path} aren't valid UTF-8. Use another backup.") from error


def has_state(state: Path) -> bool:
    """Whether a folder has anything that a restore would move aside."""
    return any(True for _ in _old(state))


def restore(archive: Archive, target: RestoreTarget, now: datetime, progress: Progress) -> RestoredState:
    """The caller holds the locks of the folder and the database. Raises BackupUnfit, a StoreError or OSError; before
    the last moment, nothing has changed.
    """
    _check_schema(archive, target)
    _check_room(archive, target.state)
    staging = target.state / STAGING
    _remove(staging)
    staging.mkdir(mode=0o700)
    try:
        running = _running(target.state)
        for file in archive.manifest.files:
            if not _is_of(file, running):
                _unpack(archive, file, staging, progress)
        unfinished = _check_database(staging, target)
        _check_running(running, unfinished)
        _detach(staging)
        aside = _replace(target, staging, running, now)
        placed, other = _place_settings(target, staging, aside, now)
        conversations = _place_conversations(target, staging)
    finally:
        # Once the plan exists, what it hasn't moved yet is needed.
        if not (target.state / PLAN).exists():
            _remove(staging)
    lost = 0 if unfinished is None else sum(1 for each in unfinished.items() if (each[0], str(each[1])) not in running)
    return RestoredState(aside, len(running), lost, placed, other, conversations)


def _check_schema(archive: Archive, target: RestoreTarget) -> None:
    manifest, has = archive.manifest, archive.has(DATABASE)
    if has is not (manifest.schema is not None):
        raise BackupUnfit(f"{archive.path} is damaged: its database is missing. Use another backup.")
    if has and target.database is None:
        raise BackupUnfit(
            f"{archive.path} has an SQLite database, but the settings here name PostgreSQL. Remove [store] database"
            " from the settings, restore, and copy the database with: handraise store copy FROM TO"
        )
    if not has and target.database is not None:
        raise BackupUnfit(
            f"{archive.path} has no database: it comes from a machine that uses PostgreSQL. Set [store] database to"
            " that database first."
        )


def _check_room(archive: Archive, state: Path) -> None:
    room = os.statvfs(state)
    free = room.f_bavail * room.f_frsize
    if archive.size + _SPARE > free:
        needed = (archive.size + _SPARE) / 1024**2
        raise BackupUnfit(
            f"The backup needs {needed:,.0f} MiB in {state}, and {free / 1024**2:,.0f} MiB are free. Make room first."
        )


def _running(state: Path) -> set[tuple[str, str]]:
    """Sessions whose Claude still runs, with the number of their process."""
    found = set()
    for folder in (state / "sessions").glob("*/*"):
        record = RunFolder(folder).record()
        if record is not None and record.identity.lives():
            found.add((folder.parent.name, folder.name))
    return found


def _is_of(file: ArchivedFile, running: set[tuple[str, str]]) -> bool:
    """Whether it belongs to a Claude that still runs: its own folder has the same and more."""
    parts = file.name.split("/")
    return parts[0] == "sessions" and (parts[1], parts[2]) in running


def _unpack(archive: Archive, file: ArchivedFile, staging: Path, progress: Progress) -> None:
    path = staging / file.name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as opened:
        archive.extract(file, opened, progress)
        opened.flush()
        os.fsync(opened.fileno())


def _check_database(staging: Path, target: RestoreTarget) -> dict[str, int] | None:
    """The sessions that the backup knows as running; None without a database."""
    if target.database is None:
        return None
    found, known = schema(staging / DATABASE)
    if found > known:
        raise BackupUnfit(
            f"The backup's database has schema version {found}, and this version of Handraise knows {known}. Install"
            " the version that made the backup, or a newer one."
        )
    check_file(staging / DATABASE)
    return unfinished_sessions(staging / DATABASE)


def _check_running(running: set[tuple[str, str]], unfinished: dict[str, int] | None) -> None:
    """A Claude that nobody follows would wait for answers that never come."""
    if unfinished is None:
        return
    unknown = sorted(session for session, run in running if str(unfinished.get(session)) != run)
    if unknown:
        raise BackupUnfit(
            f"Still running, and not in this backup: {', '.join(unknown)}. Start the hub, stop them with `handraise"
            " stop ID`, and try again."
        )


def _detach(staging: Path) -> None:
    """No process is what these records say: a copy of the state must not signal the Claudes of the original."""
    for path in (staging / "sessions").glob("*/*/launch.json"):
        try:
            record = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
        except (msgspec.DecodeError, RecursionError):
            path.unlink()  # killed while it was written: nothing was launched
            continue
        path.write_bytes(msgspec.json.encode({**record, "boot": "restored"}))
        sync(path)


def _replace(target: RestoreTarget, staging: Path, running: set[tuple[str, str]], now: datetime) -> Path | None:
    state = target.state
    stamp = f"{now:%Y%m%dT%H%M%S}"
    aside = _free(state / f"{ASIDE}{stamp}")
    old = sorted(_old(state))
    steps = [Renaming(str(state / name), str(aside / name)) for name in old]
    new = [each.name for each in sorted(staging.iterdir()) if each.name not in ("settings", "claude", *_OURS)]
    if target.database is not None and target.database != state / DATABASE:
        draft = _beside(target.database, staging / DATABASE)
        old_database = _free(target.database.with_name(f"{target.database.name}.{ASIDE}{stamp}"))
        for ending in _COMPANIONS:
            file = Path(f"{target.database}{ending}")
            if file.exists():
                steps.append(Renaming(str(file), f"{old_database}{ending}"))
        steps.append(Renaming(str(draft), str(target.database)))
        new.remove(DATABASE)
    steps += [Renaming(str(staging / name), str(state / name)) for name in new]
    for session, run in sorted(running):
        part = Path("sessions") / session / run
        steps.append(Renaming(str(aside / part), str(state / part)))
    _sync_folders(staging)
    replace_state(state, steps)
    return aside if old else None


def _old(state: Path) -> Iterator[str]:
    for each in state.iterdir():
        if each.name not in _OURS and not each.name.startswith(ASIDE):
            yield each.name


def _free(path: Path) -> Path:
    """This path, or one with a number behind it if it is taken."""
    number = 1
    found = path
    while os.path.lexists(found):
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found


def _beside(database: Path, staged: Path) -> Path:
    """A copy on the database's own filesystem, so that it can be renamed."""
    draft = database.with_name(f"{database.name}.{STAGING}")
    draft.unlink(missing_ok=True)
    with (
        open(staged, "rb") as source,
        open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as copy,
    ):
        shutil.copyfileobj(source, copy)
        copy.flush()
        os.fsync(copy.fileno())
    return draft


def _place_settings(
    target: RestoreTarget, staging: Path, aside: Path | None, now: datetime
) -> tuple[tuple[Path, ...], Path | None]:
    """Where there are none. Otherwise those of the backup are kept for the person to compare."""
    folder = staging / "settings"
    if not folder.is_dir():
        return (), None
    files = [(each, _place_of(each, target)) for each in sorted(folder.iterdir())]
    if all(_is_same(each, place) for each, place in files):
        return (), None
    if any(os.path.lexists(place) for _, place in files):
        other = _free((aside or target.state / f"{ASIDE}{now:%Y%m%dT%H%M%S}") / "settings-of-the-backup")
        other.parent.mkdir(mode=0o700, exist_ok=True)
        folder.rename(other)
        return (), other
    for each, place in files:
        _copy_new(each, place)
    return tuple(place for _, place in files), None


def _place_of(file: Path, target: RestoreTarget) -> Path:
    return target.settings if f"settings/{file.name}" == SETTINGS else target.settings.parent / file.name


def _is_same(file: Path, place: Path) -> bool:
    try:
        return place.read_bytes() == file.read_bytes()
    except OSError:
        return False


def _place_conversations(target: RestoreTarget, staging: Path) -> int:
    """Those that Claude Code doesn't have. Returns how many."""
    if target.claude is None or not (staging / "claude").is_dir():
        return 0
    placed = 0
    for path in sorted((staging / "claude").rglob("*")):
        if path.is_file():
            place = target.claude / "projects" / path.relative_to(staging / "claude")
            if not os.path.lexists(place):
                _copy_new(path, place)
                placed += path.suffix == ".jsonl" and len(path.relative_to(staging / "claude").parts) == 2
    return placed


def _copy_new(source: Path, place: Path) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as copy:
        copy.write(source.read_bytes())
        copy.flush()
        os.fsync(copy.fileno())


def _sync_folders(folder: Path) -> None:
    for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        sync(each)


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)
