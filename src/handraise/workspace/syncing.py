"""Reads and writes the files of a project: all of them or, where one cannot be changed, none. Keeps what was there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_ISREG

from handraise.workspace import merging
from handraise.workspace.merging import FILES, RECORD, Texts, Unmergeable
from handraise.workspace.wanted import ProjectFiles

BACKUP = ".before-handraise"
_LARGEST = 16 * 1024 * 1024
_NEW = 0o644


def sync(directory: str, wanted: ProjectFiles | None) -> list[str]:
    """Puts in what is wanted, or takes out what is ours; the names of the files that changed. Raises Unmergeable."""
    root = Path(os.path.realpath(directory))
    if not root.is_dir():
        raise Unmergeable(f"There is no directory {directory}.")
    backups = {name: f"{name}{BACKUP}" for name in FILES}
    before: Texts = {name: _read(root, name) for name in (*FILES, RECORD, *backups.values())}
    after = merging.synced(before, wanted) if wanted is not None else merging.removed(before)
    if wanted is None:
        after |= {name: _as_it_was(before[backups[name]], after[name]) for name in FILES}
    changed = [name for name in FILES if after[name] != before[name]]
    if wanted is None:
        # The record goes last, and the backups after it: whoever is interrupted can go on.
        order = {**{name: after[name] for name in changed}, RECORD: None, **dict.fromkeys(backups.values())}
    else:
        # The record is there first: what is ours is known however far we come.
        kept = {backups[name]: before[name] for name in changed if before[backups[name]] is None}
        order = {**kept, RECORD: after[RECORD], **{name: after[name] for name in changed}}
    _write_all(root, {name: text for name, text in order.items() if text != before[name]})
    if wanted is None:
        with suppress(OSError):  # somebody else keeps something there
            _target(root, RECORD).parent.rmdir()
    return changed


def _read(root: Path, name: str) -> str | None:
    path = root / name
    if not Path(os.path.realpath(path)).is_relative_to(root):
        raise Unmergeable(f"{name} leads out of the project, to {os.path.realpath(path)}. Nothing was changed.")
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            about = os.fstat(file.fileno())
            if not S_ISREG(about.st_mode) or about.st_size > _LARGEST:
                raise Unmergeable(f"{name} is not a file that can be merged. Nothing was changed.")
            return file.read().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise Unmergeable(f"{name} is not UTF-8; mend it first. Nothing was changed.") from error
    except OSError as error:
        raise Unmergeable(f"{name} cannot be read: {error.strerror}. Nothing was changed.") from error


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _as_it_was(kept: str | None, text: str | None) -> str | None:
    """The backup, where nothing but the layout is another."""
    return kept if merging.says_the_same(kept, text) else text


def _write_all(root: Path, texts: Texts) -> None:
    """Everything is written beside its place first, so that what can fail has failed before anything is changed."""
    try:
        with _prepared(root, texts) as prepared:
            for name, temporary in prepared.items():
                target = _target(root, name)
                if temporary is None:
                    target.unlink(missing_ok=True)
                else:
                    os.replace(temporary, target)
    except OSError as error:
        raise Unmergeable(f"{error.filename} cannot be written: {error.strerror}.") from error


@contextmanager
def _prepared(root: Path, texts: Texts) -> Iterator[dict[str, str | None]]:
    """For each file the one that is to take its place; None where it is to go."""
    prepared: dict[str, str | None] = {}
    made: list[Path] = []
    is_done = False
    try:
        for name, text in texts.items():
            target = _target(root, name)
            _check_writable(target, name)
            if not target.parent.is_dir():
                target.parent.mkdir()
                made.append(target.parent)
            prepared[name] = None if text is None else _beside(target, text)
        yield prepared
        is_done = True
    finally:
        for temporary in prepared.values():
            if temporary is not None:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
        for folder in made if not is_done else ():
            with suppress(OSError):
                folder.rmdir()


def _check_writable(target: Path, name: str) -> None:
    """We could replace a file that cannot be written; whoever made it so did not want that."""
    if target.exists() and not target.stat().st_mode & 0o200:
        raise Unmergeable(f"{name} is read-only; make it writable first (chmod u+w). Nothing was changed.")
    if not os.access(target.parent if target.parent.is_dir() else target.parent.parent, os.W_OK):
        raise Unmergeable(f"{target.parent} cannot be written. Nothing was changed.")


def _beside(target: Path, text: str) -> str:
    """A file with this text and the permissions of the one that it is to replace, safe on the disk."""
    mode = S_IMODE(target.stat().st_mode) if target.exists() else _NEW
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    with open(handle, "wb") as file:
        try:
            file.write(text.encode())
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.unlink(temporary)
            raise
    return temporary


def _target(root: Path, name: str) -> Path:
    """A link stays a link: it is the file behind it that is written, or removed."""
    return Path(os.path.realpath(root / name))
