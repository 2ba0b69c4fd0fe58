"""The path of a call: where it leads, and which globs it matches. Never touches a disk: links are resolved by a
function that is passed in."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from posixpath import isabs, join
from posixpath import normpath as _normpath

from handraise.policy.calls import FILE_TOOLS, READING_TOOLS, SEARCHING_TOOLS, Call
from handraise.policy.patterns import PathGlob, read_path

MAX_PATH = 4096
"""Longer paths are ignored: no file can have such a name."""

Resolve = Callable[[str], str]

_SECRETS = (
    "**/.env", "**/.env.*", "**/.envrc", "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore",
    "**/*.kdbx", "**/id_rsa*", "**/id_dsa*", "**/id_ecdsa*", "**/id_ed25519*", "**/.ssh/**", "**/.gnupg/**",
    "**/.aws/**", "**/.azure/**", "**/.kube/**", "**/.netrc", "**/.pgpass", "**/.npmrc", "**/.pypirc",
    "**/.git-credentials", "**/.git/config", "**/.docker/config.json", "**/credentials", "**/credentials.json",
    "**/secrets.*", "**/*.tfstate", "**/.htpasswd", "/proc/**", "/dev/**", "/etc/shadow*",
)  # fmt: skip
# They decide what runs later without asking: hooks, settings, start-up files.
_CONTROLS = (
    "**/.git/**", "**/.claude/**", "**/.mcp.json", "**/CLAUDE.md", "**/.handraise.toml", "**/.vscode/**", "**/.idea/**",
    "**/.husky/**", "**/.github/workflows/**", "**/.bashrc", "**/.bash_profile", "**/.profile", "**/.zshrc",
    "**/.zshenv", "**/.zprofile", "**/.gitconfig", "**/.gitmodules",
)  # fmt: skip

_KERNEL = ("/proc", "/sys", "/dev")
# Writing to these can write what Claude itself reads next, such as an answer.
_OPEN_FILES = (
    "/proc/**/fd/**", "/proc/**/fd", "/proc/**/mem", "/dev/fd/**", "/dev/fd", "/dev/stdin", "/dev/stdout",
    "/dev/stderr",
)  # fmt: skip


class ResolvedPath:
    """Where a call leads: as it is spelled, and with every link followed."""

    def __init__(self, call: Call, resolve: Resolve) -> None:
        self._tool = call.tool
        self.directory = resolve(normpath(call.directory))
        self.spelled = _spelled(call)
        self.path = None if self.spelled is None else resolve(self.spelled)

    @property
    def is_inside(self) -> bool:
        """Whether it is in the project, links followed."""
        return self.path is not None and is_below(self.path, self.directory)

    @cached_property
    def is_sensitive(self) -> bool:
        """Whether it holds secrets, or, for a tool that writes, decides what runs later."""
        globs = _SECRETS if self._tool in READING_TOOLS else _SECRETS + _CONTROLS
        return any(_fits_any(path.lower(), globs) for path in self._both)

    @cached_property
    def is_of_the_kernel(self) -> bool:
        """Whether it is part of the system rather than a file, by either of its names."""
        return any(is_below(path.lower(), each) for path in self._both for each in _KERNEL)

    @property
    def is_an_open_file(self) -> bool:
        """Whether it is an open file of a process, by either of its names, such as Claude's own stdin."""
        return self.is_of_the_kernel and any(_fits_any(path.lower(), _OPEN_FILES) for path in self._both)

    def is_covered_by(self, glob: str) -> bool:
        """Whether the glob of an allow rule covers it; a sensitive file must be named, not just covered by `**`."""
        if self.path is None or (self.is_sensitive and not glob.rsplit("/", 1)[-1].replace("*", "")):
            return False
        if self.is_of_the_kernel:
            return self.path == self.spelled == glob
        return fits_glob(self.path, glob, self.directory)

    def may_be_hit_by(self, glob: str) -> bool:
        """Whether the glob of a deny or ask rule could match it, by either of its names."""
        return not self._both or any(fits_glob(path, glob, self.directory) for path in self._both)

    def may_contain(self, glob: str) -> bool:
        """Whether a search from here could read what the glob names."""
        if self._tool not in SEARCHING_TOOLS or self.path is None:
            return False
        base = normpath(join(self.directory, glob.split("*")[0].rsplit("/", 1)[0] if "*" in glob else glob))
        return base != self.directory and is_below(base, self.path)

    @cached_property
    def _both(self) -> tuple[str, ...]:
        if self.path is None or self.spelled is None:
            return ()
        return (self.path,) if self.path == self.spelled else (self.path, self.spelled)


def fits_glob(path: str, glob: str, directory: str) -> bool:
    """`*` and `?` stay within a name, `**` spans directories; a relative glob means inside the directory only."""
    if isabs(glob):
        return _absolute(glob).fits(path)
    whole = normpath(join(directory, glob))
    if glob.startswith("~") or not (is_below(whole, directory) and is_below(path, directory)):
        return False
    # Only the glob has stars: one in the directory's own name is a letter.
    beginning = len(directory.rstrip("/"))
    return read_path(whole[beginning:]).fits(path[beginning:])


@lru_cache(maxsize=1024)
def _absolute(glob: str) -> PathGlob:
    """Cached: the same rules are matched against every call."""
    return read_path(normpath(glob))


def normpath(path: str) -> str:
    """Without `.`, `..` and doubled slashes, also at the front, where POSIX would keep two."""
    normal = _normpath(path)
    return f"/{normal.lstrip('/')}" if isabs(normal) else normal


def is_below(path: str, directory: str) -> bool:
    """Whether it is the directory or something in it; both are normal and absolute."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _spelled(call: Call) -> str | None:
    """The absolute path, or None where the input is unclear."""
    here = call.cwd or call.directory
    target = call.input.get(FILE_TOOLS.get(call.tool, ""))
    if target is None and call.tool in SEARCHING_TOOLS:
        target = here
    if not isinstance(target, str) or not target or len(target) > MAX_PATH or target.startswith("~") or "\0" in target:
        return None
    filter_ = call.input.get("pattern") if call.tool == "Glob" else call.input.get("glob")
    if isinstance(filter_, str) and call.tool in SEARCHING_TOOLS:
        if len(filter_) > MAX_PATH or isabs(filter_) or filter_.startswith("~") or ".." in filter_:
            return None
        # `Grep` for `.env` only is a look into `.env`.
        if _fits_any(f"/{filter_.lstrip('*/')}".lower(), _SECRETS):
            target = join(target, filter_.lstrip("*/"))
    return normpath(join(here, target))


def _fits_any(path: str, globs: Sequence[str]) -> bool:
    return any(read_path(_from_root(each)).fits(path) for each in globs)


@cache
def _from_root(glob: str) -> str:
    """Cached without a limit: only for the globs in this file."""
    return normpath(join("/", glob.lower()))
