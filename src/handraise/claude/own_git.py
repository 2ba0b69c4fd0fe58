"""Git with a folder of our own as `GIT_DIR`. The repository is hostile: none of its settings are ever used.

The folder has our settings, and finds a repository's objects as alternates. So no hook, filter, textconv, external
diff, fsmonitor or alias of the repository exists for Git, whatever `.git/config` and `.gitattributes` say; nor does
anything of the person's settings, the system's, or the hub's environment.
"""

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

_PIECE = 64 * 1024
_SETTINGS = """[core]
\trepositoryformatversion = {version}
\tbare = false
\tfsmonitor = false
\tuntrackedCache = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
[extensions]
{format}[protocol]
\tallow = never
"""
_ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": os.devnull,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # Partial clones and nested repositories could want to fetch something.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
}
"""All of it: nothing comes from the hub's own environment."""


class GitFailed(Exception):
    """Git isn't there, took too long, or can't read the repository. The text is for the log."""


class GitOutput(Struct, frozen=True):
    """What Git printed. `code` is None if it was ended because it took too long or printed too much."""

    text: bytes
    code: int | None


class OwnGit:
    """Runs Git for the working tree at `top`. `folder` is ours, and nobody else's."""

    def __init__(self, folder: Path, top: str) -> None:
        self.folder = folder
        self._top = top

    def prepare(self, objects: str = "", *, is_sha256: bool = False) -> None:
        """As little as Git accepts as a repository: what is in it is ours each time. Raises OSError."""
        for each in ("objects/info", "refs", "info"):
            (self.folder / each).mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = _SETTINGS.format(version=int(is_sha256), format="\tobjectFormat = sha256\n" if is_sha256 else "")
        self._put("config", settings)
        self._put("HEAD", "ref: refs/heads/none\n")
        self._put("objects/info/alternates", f"{objects}\n" if objects else "")

    async def run(self, *words: str, seconds: float, most: int) -> GitOutput:
        """Ends it after so long, or when it has printed that many bytes; raises GitFailed if it can't run."""
        program = shutil.which("git")
        if program is None:
            raise GitFailed("there is no git")
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                "--no-pager",
                "--literal-pathspecs",
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=self._top,
                env={**_ENVIRONMENT, "GIT_DIR": str(self.folder), "GIT_WORK_TREE": self._top},
                start_new_session=True,
            )
        except OSError as error:
            raise GitFailed(f"git can't run in {self._top}") from error
        return await _read(process, seconds, most)

    def _put(self, name: str, text: str) -> None:
        """Another Git may be reading it: it is replaced whole, and only if it differs."""
        file = self.folder / name
        with suppress(OSError, ValueError):
            if file.read_text() == text:
                return
        new = file.with_name(f"{file.name}.{os.urandom(4).hex()}")
        new.write_text(text)
        new.replace(file)


async def _read(process: asyncio.subprocess.Process, seconds: float, most: int) -> GitOutput:
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while process.stdout is not None and (piece := await process.stdout.read(_PIECE)):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    return GitOutput(b"".join(pieces), None)
            return GitOutput(b"".join(pieces), await process.wait())
    except TimeoutError:
        return GitOutput(b"".join(pieces), None)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
