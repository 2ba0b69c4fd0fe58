"""Reads and writes the files of a project: all of them or, if one can't be changed, none. Backs them up first."""

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_ISREG

from handraise.texts import t
from handraise.workspace import merging
from handraise.workspace.git_exclude import check_untracked, exclude
from handraise.workspace.hook_entry import HookEntry
from handraise.workspace.json_texts import Unmergeable, says_the_same
from handraise.workspace.merging import FILES, RECORD, SETTINGS, ProjectFiles, Texts

BACKUP = ".before-handraise"
_LARGEST = 16 * 1024 * 1024
_NEW = 0o644
_OWNER, _EVERYONE = 0o600, 0o7777


def sync(directory: str, wanted: ProjectFiles | None) -> list[str]:
    """Adds our entries, or removes them if `wanted` is None; returns the changed files. Raises Unmergeable."""
    root = Path(os.path.realpath(directory))
    if not root.is_dir():
        raise Unmergeable(t("error.no_directory", directory=directory))
    backups = {name: f"{name}{BACKUP}" for name in FILES}
    before: Texts = {name: read_text(root, name) for name in (*FILES, RECORD, *backups.values())}
    plain = merging.removed(before)
    after = merging.synced(before, wanted) if wanted is not None else plain
    secret = Path(os.path.realpath(root / SETTINGS))
    if wanted is not None and wanted.hook is not None:
        check_untracked(secret)
        exclude(secret, remove=False)
    if wanted is None:
        after |= {name: _as_it_was(before[backups[name]], after[name]) for name in FILES}
    changed = [name for name in FILES if after[name] != before[name]]
    if wanted is None:
        # The record goes last, and the backups after it: an interrupted run can be repeated.
        order = {**{name: after[name] for name in changed}, RECORD: None, **dict.fromkeys(backups.values())}
    else:
        # The record comes first: our entries are known even if the run is interrupted.
        # A backup never has our own entries, one of which is a secret.
        saved = {backups[name]: plain[name] for name in changed if before[backups[name]] is None}
        order = {**saved, RECORD: after[RECORD], **{name: after[name] for name in changed}}
    private = (SETTINGS,) if wanted is not None and wanted.hook is not None else ()
    write_all(root, {name: text for name, text in order.items() if text != before[name]}, private)
    if wanted is None:
        exclude(secret, remove=True)
        with suppress(OSError):  # other files are still there
            _target(root, RECORD).parent.rmdir()
    return changed


def project_hook(directory: str) -> HookEntry | None:
    """Our hook as it stands in a project's settings; raises Unmergeable."""
    root = Path(os.path.realpath(directory))
    return merging.hook_in({name: read_text(root, name) for name in (SETTINGS, RECORD)})


def read_text(root: Path, name: str) -> str | None:
    """The text of a file; None if there is none. Raises Unmergeable."""
    path = root / name
    if not Path(os.path.realpath(path)).is_relative_to(root):
        raise Unmergeable(t("error.sync.link", file=name, target=os.path.realpath(path)))
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            about = os.fstat(file.fileno())
            if not S_ISREG(about.st_mode) or about.st_size > _LARGEST:
                raise Unmergeable(t("error.sync.kind", file=name))
            return file.read().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise Unmergeable(t("error.sync.utf8", file=name)) from error
    except OSError as error:
        raise Unmergeable(t("error.sync.read", file=name, why=error.strerror)) from error


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _as_it_was(backup: str | None, text: str | None) -> str | None:
    """The backup, if only the layout differs."""
    return backup if says_the_same(backup, text) else text


def write_all(root: Path, texts: Texts, private: Collection[str] = ()) -> None:
    """Writes temporary files first, so that whatever can fail fails before anything is changed.

    Private files can be read by their owner only. Raises Unmergeable.
    """
    try:
        with _prepared(root, texts, private) as prepared:
            for name, temporary in prepared.items():
                target = _target(root, name)
                if temporary is None:
                    target.unlink(missing_ok=True)
                else:
                    os.replace(temporary, target)
    except OSError as error:
        raise Unmergeable(t("error.sync.write", file=error.filename, why=error.strerror)) from error


@contextmanager
def _prepared(root: Path, texts: Texts, private: Collection[str]) -> Iterator[dict[str, str | None]]:
    """The temporary file that replaces each file; None for a file to remove."""
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
            prepared[name] = None if text is None else _beside(target, text, _OWNER if name in private else _EVERYONE)
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
    """A read-only file could be replaced, but the person who made it read-only didn't want that."""
    if target.exists() and not target.stat().st_mode & 0o200:
        raise Unmergeable(t("error.sync.read_only", file=name))
    if not os.access(target.parent if target.parent.is_dir() else target.parent.parent, os.W_OK):
        raise Unmergeable(t("error.sync.folder", folder=target.parent))


def _beside(target: Path, text: str, most: int) -> str:
    """A file with this text and the permissions of the one it replaces, at most these, synced to disk."""
    mode = (S_IMODE(target.stat().st_mode) if target.exists() else _NEW) & most
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
    """A link stays a link: its target is written or removed."""
    return Path(os.path.realpath(root / name))
