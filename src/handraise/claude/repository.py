"""Reads the files that Claude Code would act on in a directory, within limits. Runs and follows nothing in them."""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from handraise.texts import t

_LARGEST = 256 * 1024
_MOST_BYTES = 2 * 1024 * 1024
_MOST_FILES = 400
_DEEPEST = 6
_HASHED = 64 * 1024 * 1024
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
_FOLDERS = ("agents", "commands", "skills", "workflows", "hooks")
_SERVERS = ".mcp.json"
_INSTRUCTIONS = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")


class Found(Struct, frozen=True):
    """A file. `text` is None if it can't be shown; `problem` says why."""

    path: str
    """Relative to the directory, or absolute if it is outside."""
    place: str
    """The directory it belongs to, which decides its kind."""
    inside: str
    """Its path in that place."""
    text: str | None
    digest: str = ""
    problem: str = ""


class Repository(Struct, frozen=True):
    """Everything found in and around a directory."""

    directory: str
    files: tuple[Found, ...] = ()
    instructions: tuple[str, ...] = ()
    """Instruction files that Claude doesn't read by itself in an untrusted directory."""
    problems: tuple[str, ...] = ()


def read(directory: str, more: Sequence[str] = (), home: str = "") -> Repository:
    """What Claude Code would find when started in `directory`, with the `more` directories added."""
    reading = _Reading(directory)
    for place, names in _places(directory, more, os.path.realpath(home) if home else ""):
        for name in names:
            if name.endswith("/"):
                reading.take_folder(place, name.rstrip("/"))
            else:
                reading.take(place, name)
    return Repository(directory, tuple(reading.files), tuple(_instructions(directory)), tuple(reading.problems))


def read_scripts(directory: str, names: Sequence[str]) -> list[Found]:
    """The named files that exist inside the directory. Long or binary ones are only named."""
    reading = _Reading(directory)
    for path in dict.fromkeys(os.path.normpath(os.path.join(directory, name)) for name in names):
        if path.startswith(f"{directory}/") and os.path.isfile(path) and len(reading.files) < _MOST_FILES:
            reading.take(directory, os.path.relpath(path, directory), names_only=True)
    return reading.files


def own_servers(home: str, config: str = "") -> str | None:
    """The person's own file of MCP servers, if it names any: it is theirs in any directory."""
    path = os.path.join(config or home, ".claude.json")
    try:
        # Claude refuses to start with a file it can't read.
        with open(path, encoding="utf-8") as file:
            servers = json.load(file).get("mcpServers")
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
    return path if isinstance(servers, dict) and servers else None


class _Reading:
    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._bytes = 0
        self.files: list[Found] = []
        self.problems: list[str] = []

    def take(self, place: str, inside: str, *, names_only: bool = False) -> None:
        path = os.path.join(place, inside)
        shown = self._shown(path)
        try:
            opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self._unshown(shown, place, inside, t("why.trust.unread", path=shown, why=error.strerror))
            return
        with os.fdopen(opened, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                return
            if not stat.S_ISREG(status.st_mode):
                self._unshown(shown, place, inside, t("why.trust.irregular", path=shown))
                return
            data = file.read(_LARGEST + 1)
            whole = len(data) <= _LARGEST and self._bytes + len(data) <= _MOST_BYTES
            text = _text(data) if whole else None
            if text is None and names_only and status.st_size <= _HASHED:
                self._name(shown, place, inside, data, file.read(_HASHED))
            elif text is None:
                problem = "why.trust.not_text" if whole else "why.trust.too_large"
                self._unshown(shown, place, inside, t(problem, path=shown))
            else:
                self._bytes += len(data)
                self.files.append(Found(shown, place, inside, text, sha256(data).hexdigest()))

    def take_folder(self, place: str, folder: str) -> None:
        for inside in self._below(place, folder, _DEEPEST):
            if len(self.files) >= _MOST_FILES:
                self.problems.append(t("why.trust.too_many", most=_MOST_FILES))
                return
            # Files next to a skill, and scripts, may be anything; what Claude Code itself reads is text.
            self.take(place, inside, names_only=not inside.endswith((".md", ".json")))

    def _below(self, place: str, folder: str, levels: int) -> Iterator[str]:
        try:
            names = sorted(os.listdir(os.path.join(place, folder)))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            shown = self._shown(os.path.join(place, folder))
            self.problems.append(t("why.trust.unread", path=shown, why=error.strerror))
            return
        for name in names:
            inside = f"{folder}/{name}"
            if not os.path.isdir(os.path.join(place, inside)):
                yield inside
            elif levels:
                yield from self._below(place, inside, levels - 1)
            else:
                self.problems.append(t("why.trust.nested", path=self._shown(os.path.join(place, inside))))

    def _name(self, shown: str, place: str, inside: str, begin: bytes, rest: bytes) -> None:
        digest = sha256(begin + rest).hexdigest()
        note = f"{len(begin) + len(rest):,} bytes, not shown. SHA-256 {digest}"
        self.files.append(Found(shown, place, inside, note, digest))

    def _unshown(self, shown: str, place: str, inside: str, problem: str) -> None:
        self.files.append(Found(shown, place, inside, None, problem=problem))

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self._directory) if path.startswith(f"{self._directory}/") else path


def _places(directory: str, more: Sequence[str], home: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each place where Claude Code looks, and what it looks for there; seen in 2.1.325."""
    folders = tuple(f".claude/{each}/" for each in _FOLDERS)
    # The person's own folder is theirs; only local settings of the directory are not.
    yield directory, (*_SETTINGS[1:], _SERVERS) if directory == home else (*_SETTINGS, _SERVERS, *folders)
    for above in Path(directory).parents:
        place = str(above)
        yield place, (_SERVERS,) if place == home else (_SERVERS, *folders)
    main = _main_checkout(directory)
    if main is not None and main != directory:
        yield main, (*_SETTINGS, *folders)
    for added in more:
        place = os.path.realpath(added)
        if place not in (directory, home):
            yield place, (*_SETTINGS, *folders)


def _main_checkout(directory: str) -> str | None:
    """The repository of a git worktree: Claude Code looks there too."""
    for place in (directory, *map(str, Path(directory).parents)):
        pointer = os.path.join(place, ".git")
        if os.path.isdir(pointer):
            return place
        try:
            with open(pointer, encoding="utf-8", opener=_without_waiting) as file:
                words = file.read(4096)
        except (OSError, UnicodeDecodeError):
            continue
        git = os.path.join(place, words.removeprefix("gitdir:").strip())
        head, found, _ = os.path.realpath(git).partition("/.git/worktrees/")
        return head if found else place
    return None


def _instructions(directory: str) -> Iterator[str]:
    """Outermost first. Claude reads the directory's own by itself, except `CLAUDE.local.md`."""
    for place in reversed((directory, *map(str, Path(directory).parents))):
        for name in _INSTRUCTIONS if place != directory else _INSTRUCTIONS[2:]:
            path = os.path.join(place, name)
            if os.path.isfile(path):
                yield path


def _text(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
