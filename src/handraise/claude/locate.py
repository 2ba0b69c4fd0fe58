"""Finds the CLI: a configured path, then PATH, then the one inside the claude-agent-sdk package."""

import asyncio
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from handraise.texts import t

INSTALL = "npm install -g @anthropic-ai/claude-code"
BUNDLED = "pip install 'handraise[claude]'"


class ClaudeMissing(Exception):
    """Claude Code is missing. The text says how to install it; `problem` and `advice` are its two halves."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.advice = t("doctor.claude.install", install=INSTALL, bundled=BUNDLED)
        super().__init__(f"{problem} {self.advice}")


def locate(configured: str | None = None) -> Path:
    """The CLI's path, absolute, since it is started from another directory; raises ClaudeMissing."""
    if configured:
        path = Path(configured).expanduser().absolute()
        if not path.is_file():
            raise ClaudeMissing(t("doctor.claude.not_there", path=path))
        if not os.access(path, os.X_OK):
            raise ClaudeMissing(t("doctor.claude.not_executable", path=path))
        return path
    found = shutil.which("claude")
    if found:
        return Path(found).absolute()
    bundled = _bundled()
    if bundled:
        return bundled
    raise ClaudeMissing(t("doctor.claude.not_found"))


async def version(claude: Path, *, deadline: float = 20) -> str:
    """The CLI's version, for example `2.1.325`; raises ClaudeMissing if it prints none."""
    try:
        process = await asyncio.create_subprocess_exec(
            claude,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        raise ClaudeMissing(t("doctor.claude.not_started", path=claude, why=error.strerror)) from error
    try:
        async with asyncio.timeout(deadline):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise ClaudeMissing(t("doctor.claude.slow", path=claude, seconds=f"{deadline:g}")) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    number = re.match(rb"\d+\.\d+\.\d+[\w.+-]*", output.strip())
    if process.returncode or not number:
        raise ClaudeMissing(t("doctor.claude.no_version", path=claude, output=repr(output[:200])))
    return number.group().decode()


def _bundled() -> Path | None:
    package = find_spec("claude_agent_sdk")
    for place in (package.submodule_search_locations or []) if package else []:
        path = Path(place, "_bundled", "claude")
        if path.is_file():
            return path
    return None
