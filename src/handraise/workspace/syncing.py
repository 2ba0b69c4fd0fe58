"""Reads and writes the files of a project: all of them or, where one cannot be changed, none. Keeps what was there."""

import os
import tempfile
from pathlib import Path

from handraise.workspace import merging
from handraise.workspace.merging import FILES, RECORD, Texts, Unmergeable
from handraise.workspace.wanted import Wanted

BACKUP = ".before-handraise"


def sync(directory: str, wanted: Wanted | None) -> list[str]:
    """Puts in what is wanted, or takes out what is ours; the names of the files that changed. Raises Unmergeable."""
    root = Path(directory)
    before: Texts = {name: _read(root / name) for name in (*FILES, RECORD)}
    after = merging.synced(before, wanted) if wanted is not None else merging.removed(before)
    if wanted is None:
        after |= {name: _as_it_was(root / name, after[name]) for name in FILES}
    changed = [name for name in FILES if after[name] != before[name]]
    try:
        for name in changed:
            _back_up(root / name, before[name], is_going=wanted is None)
            _write(root / name, after[name])
        _write(root / RECORD, after[RECORD])
        for name in FILES if wanted is None else ():
            (root / f"{name}{BACKUP}").unlink(missing_ok=True)
    except OSError as error:
        raise Unmergeable(f"{error.filename} cannot be written: {error.strerror}.") from error
    return changed


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise Unmergeable(f"{path} is not UTF-8; mend it first. Nothing was changed.") from error
    except OSError as error:
        raise Unmergeable(f"{path} cannot be read: {error.strerror}. Nothing was changed.") from error


def _as_it_was(path: Path, text: str | None) -> str | None:
    """The backup, where nothing but the layout is another."""
    kept = _read(path.with_name(f"{path.name}{BACKUP}"))
    return kept if merging.says_the_same(kept, text) else text


def _back_up(path: Path, text: str | None, *, is_going: bool) -> None:
    """The file as it was before we came; later changes do not overwrite it."""
    backup = path.with_name(f"{path.name}{BACKUP}")
    if text is not None and not is_going and not backup.exists():
        _write(backup, text)


def _write(path: Path, text: str | None) -> None:
    """The whole file or nothing, with the permissions that it had; a link stays a link."""
    if text is None:
        path.unlink(missing_ok=True)
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "wb") as file:
            file.write(text.encode())
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
