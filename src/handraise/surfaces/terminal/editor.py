"""The person's own editor, on a private temporary file. At most one at a time."""

import asyncio
import contextlib
import os
import shlex
import tempfile
from asyncio.subprocess import Process
from pathlib import Path

from handraise.texts import t

_GRACE = 2.0
"""How long an editor may take to exit when asked to."""


class EditorFailed(Exception):
    """The edit doesn't count. The text says why."""


class Editor:
    """`$VISUAL`, or `$EDITOR`, or vi, in the terminal with this file descriptor."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._process: Process | None = None
        self._closed = asyncio.Event()
        self._closed.set()

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    async def edit(self, text: str, suffix: str) -> str:
        """The edited text. Raises EditorFailed if the editor can't start, or reports a failure."""
        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        self._closed.clear()
        try:
            with tempfile.TemporaryDirectory(prefix="handraise-") as folder:
                file = Path(folder) / f"edit{suffix}"
                # As bytes: unedited parts stay as they are, carriage returns included.
                file.write_bytes(text.encode(errors="surrogatepass"))
                await self._run(command, file)
                return _read(file)
        finally:
            self._closed.set()

    async def close(self) -> None:
        """Ends the editor, if one is open: the terminal must be restored before leaving it."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                async with asyncio.timeout(_GRACE):
                    await self._closed.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
        await self._closed.wait()

    async def _run(self, command: str, file: Path) -> None:
        try:
            words = [*shlex.split(command), str(file)]
            self._process = await asyncio.create_subprocess_exec(*words, stdin=self._terminal)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise EditorFailed(t("terminal.edit.not_started", command=command, reason=why)) from error
        try:
            code = await self._process.wait()
        finally:
            self._process = None
        if code != 0:
            raise EditorFailed(t("terminal.edit.failed"))


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode(errors="surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise EditorFailed(t("terminal.edit.not_text")) from error
