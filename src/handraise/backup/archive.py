"""The file of a backup: a zip whose last entry is a manifest with the size and checksum of each other entry.

A reader trusts nothing in it: names must be ones that we write, sizes and checksums must match, and nothing is read
beyond what the manifest says. Never writes anything but its own file.
"""

import errno
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import msgspec
from msgspec import Struct

FORMAT = 1
MANIFEST = "manifest.json"
Progress = Callable[[str, int, int], None]
"""What is done now, and how much of how much."""
_LARGEST_MANIFEST = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
_LEVEL = 1
"""The fastest: others take up to twice as long, and save a tenth."""
_SUM = re.compile(r"[0-9a-f]{64}")
_PLAIN = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}"
_CONVERSATION = r"[0-9A-Za-z-]{1,100}"
_NAMES = re.compile(
    "hub\\.db|machine\\.json|hook-offer-closed"
    f"|(?:push|telegram|audit|settings)/{_PLAIN}"
    f"|sessions/{_PLAIN}/[0-9]{{1,9}}/(?:out\\.ndjson|err\\.log|launch\\.json|spill|spill\\.begun)"
    f"|sessions/{_PLAIN}/start\\.json"
    # Claude Code names a project's folder after its path, with a hyphen for anything else than letters and digits.
    f"|claude/[A-Za-z0-9_.-]{{1,255}}/{_CONVERSATION}(?:\\.jsonl|(?:/{_PLAIN}){{1,3}})"
)


# What `zipfile` raises about content that isn't what it should be.
_MALFORMED = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OverflowError,
    IndexError,
    RuntimeError,
)


class BackupUnfit(Exception):
    """A backup that can't be made, or a file that can't be restored, in a sentence with the next step."""


class ArchivedFile(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry: its name, size and SHA-256."""

    name: str
    size: int
    sha256: str


class Manifest(Struct, frozen=True):
    """What a backup has, and where it comes from. `schema` is None if the database isn't in it."""

    format: int
    version: str
    """Of Handraise."""
    made_at: str
    machine: str
    """The name of the machine."""
    schema: int | None
    sessions: int
    """How many sessions are in it that hadn't ended."""
    files: tuple[ArchivedFile, ...]


def is_ours(name: str) -> bool:
    """Whether a backup may have an entry with this name. Such a name never leaves its folder."""
    return _NAMES.fullmatch(name) is not None and not any(part in ("", ".", "..") for part in name.split("/"))


class ArchiveWriter:
    """Writes entries one after the other. It is complete once `close` returns."""

    def __init__(self, file: IO[bytes], progress: Progress) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self._progress = progress
        self.files: list[ArchivedFile] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # While its file is open, whatever happened: it would try again, and complain, when it is collected.
        with suppress(*_MALFORMED, OSError):
            self._zip.close()

    def add(self, name: str, source: IO[bytes], size: int) -> None:
        """At most `size` bytes: a journal grows while it is read."""
        if not is_ours(name):
            raise BackupUnfit(f"A backup can't have a file called {name!r}.")
        digest = sha256()
        done = 0
        with self._zip.open(name, "w", force_zip64=True) as target:
            while done < size and (chunk := source.read(min(_CHUNK, size - done))):
                target.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                self._progress(name, done, size)
        self.files.append(ArchivedFile(name, done, digest.hexdigest()))

    def close(self, manifest: Manifest) -> None:
        with self._zip.open(MANIFEST, "w") as target:
            target.write(msgspec.json.encode(manifest))
        self._zip.close()


class Archive:
    """An opened backup whose manifest fits its entries. Raises BackupUnfit."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        try:
            self._zip = zipfile.ZipFile(self.path)
        except _MALFORMED as error:
            raise self._no_backup() from error
        except OSError as error:
            if _is_malformed(error):
                raise self._no_backup() from error
            raise BackupUnfit(f"Can't read {self.path}: {error.strerror}.") from error
        try:
            self.manifest = self._read_manifest()
        except BaseException:
            self._zip.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    @property
    def size(self) -> int:
        """Of everything in it, in bytes."""
        return sum(each.size for each in self.manifest.files)

    def has(self, name: str) -> bool:
        return any(each.name == name for each in self.manifest.files)

    def extract(self, file: ArchivedFile, target: IO[bytes], progress: Progress) -> None:
        """Writes an entry to a file, and checks it on the way."""
        digest = sha256()
        done = 0
        with self._damage(), self._zip.open(file.name) as source:
            while chunk := source.read(_CHUNK):
                done += len(chunk)
                if done > file.size:
                    raise _damaged(self.path)
                target.write(chunk)
                digest.update(chunk)
                progress(file.name, done, file.size)
        if done != file.size or digest.hexdigest() != file.sha256:
            raise _damaged(self.path)

    def read(self, name: str, most: int) -> bytes:
        """A small entry as a whole, checked."""
        [file] = [each for each in self.manifest.files if each.name == name]
        with self._damage(), self._zip.open(name) as source:
            content = source.read(most + 1)
        if len(content) != file.size or sha256(content).hexdigest() != file.sha256:
            raise _damaged(self.path)
        return content

    def _no_backup(self) -> BackupUnfit:
        return BackupUnfit(f"{self.path} isn't a backup, or is incomplete. Use another backup.")

    def _read_manifest(self) -> Manifest:
        entries = self._zip.namelist()
        if MANIFEST not in entries:
            raise BackupUnfit(f"{self.path} isn't a backup of Handraise. Use another file.")
        with self._damage():
            if self._zip.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
                raise _damaged(self.path)
            with self._zip.open(MANIFEST) as source:
                content = source.read(_LARGEST_MANIFEST)
        try:
            if msgspec.json.decode(content, type=_AnyManifest).format > FORMAT:
                raise BackupUnfit(f"{self.path} was made by a newer version of Handraise. Install that version first.")
            manifest = msgspec.json.decode(content, type=Manifest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _damaged(self.path) from error
        self._compare(manifest, entries)
        return manifest

    def _compare(self, manifest: Manifest, entries: list[str]) -> None:
        names = [each.name for each in manifest.files]
        for name in names:
            if not is_ours(name):
                raise BackupUnfit(
                    f"{self.path} has a file that no backup has: {name[:200]!r}. Don't restore it; someone may have"
                    " changed it."
                )
        if sorted([*names, MANIFEST]) != sorted(entries) or len({*names}) != len(names):
            raise _damaged(self.path)
        if any(each.size < 0 or not _SUM.fullmatch(each.sha256) for each in manifest.files):
            raise _damaged(self.path)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (*_MALFORMED, KeyError, EOFError) as error:
            raise _damaged(self.path) from error
        except OSError as error:
            if _is_malformed(error):
                raise _damaged(self.path) from error
            raise


def _is_malformed(error: OSError) -> bool:
    """Whether an offset in the file makes no sense, rather than that the file can't be read."""
    return error.errno in (None, errno.EINVAL, errno.EOVERFLOW)


class _AnyManifest(Struct, frozen=True):
    format: int


def _damaged(path: Path) -> BackupUnfit:
    return BackupUnfit(f"{path} is damaged: its content doesn't match its checksums. Use another backup.")
