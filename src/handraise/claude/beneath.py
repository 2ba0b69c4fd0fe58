"""Files inside a directory, reached without following a single link: for reading, replacing and removing."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

FORBIDDEN = frozenset({"", ".", "..", ".git"})


class NotBeneath(Exception):
    """The path leads elsewhere, through a link, or to something that isn't a regular file."""


def check(path: str) -> list[str]:
    """The names in a relative path; raises NotBeneath."""
    names = path.split("/")
    if "\0" in path or any(name.lower() in FORBIDDEN for name in names):
        raise NotBeneath(path)
    return names


def read(top: str, path: str, most: int) -> bytes | None:
    """Up to `most` + 1 bytes of a regular file; None if there is no such file. Raises NotBeneath."""
    with _parent(top, path) as (folder, name):
        if folder is None:
            return None
        try:
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NotBeneath(path) from error
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NotBeneath(path)
            return file.read(most + 1)


def remove(top: str, path: str) -> None:
    """Removes a regular file, and directories that this leaves empty; raises NotBeneath."""
    with _parent(top, path) as (folder, name):
        if folder is None:
            return
        try:
            if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise NotBeneath(path)
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise NotBeneath(path) from error
    above = path.rpartition("/")[0]
    while above:
        with suppress(OSError, NotBeneath), _parent(top, above) as (folder, name):
            if folder is None:
                return
            os.rmdir(name, dir_fd=folder)
            above = above.rpartition("/")[0]
            continue
        return


def replace(top: str, path: str, content: bytes, *, executable: bool, token: str) -> None:
    """Puts a regular file there, whole or not at all, and directories that are missing; raises NotBeneath."""
    with _parent(top, path, make=True) as (folder, name):
        if folder is None:
            raise NotBeneath(path)
        mode = 0o755 if executable else 0o644
        with suppress(FileNotFoundError):
            before = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(before.st_mode):
                raise NotBeneath(path)
            mode = (stat.S_IMODE(before.st_mode) & ~0o111) | (0o111 & mode if executable else 0)
        draft = f".handraise-{token}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(draft, flags, 0o600, dir_fd=folder), "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), mode)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise NotBeneath(path) from error


@contextmanager
def _parent(top: str, path: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
    """The directory that a path is in, open, and its last name. None if a directory on the way doesn't exist."""
    *folders, name = check(path)
    opened = [_folder(top, None, path)]
    try:
        for each in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(each, 0o777, dir_fd=opened[-1])
            try:
                opened.append(_folder(each, opened[-1], path))
            except FileNotFoundError:
                yield None, name
                return
        yield opened[-1], name
    finally:
        for folder in opened:
            os.close(folder)


def _folder(name: str, within: int | None, path: str) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=within)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotBeneath(path) from error
