"""Finds the CLI: a configured path, then PATH, then the one inside the claude-agent-sdk package."""

import asyncio
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

_HOW = (
    "Install Claude Code (npm install -g @anthropic-ai/claude-code), or the copy that comes with Handraise "
    "(pip install 'handraise[claude]'), or set its path in [claude] path."
)


class ClaudeMissing(Exception):
    """Claude Code is missing. The text says how to install it."""


def locate(configured: str | None = None) -> Path:
    """The CLI's path, absolute, since it is started from another directory; raises ClaudeMissing."""
    if configured:
        path = Path(configured).expanduser().absolute()
        if not path.is_file():
            raise ClaudeMissing(f"There is no Claude Code at {path}, the configured path. {_HOW}")
        if not os.access(path, os.X_OK):
            raise ClaudeMissing(f"{path}, the configured path, isn't executable. {_HOW}")
        return path
    found = shutil.which("claude")
    if found:
        return Path(found).absolute()
    bundled = _bundled()
    if bundled:
        return bundled
    raise ClaudeMissing(f"Claude Code was not found. {_HOW}")


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
        raise ClaudeMissing(f"{claude} doesn't start: {error.strerror}. {_HOW}") from error
    try:
        async with asyncio.timeout(deadline):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise ClaudeMissing(f"{claude} --version did not answer within {deadline:g} s. {_HOW}") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    number = re.match(rb"\d+\.\d+\.\d+[\w.+-]*", output.strip())
    if process.returncode or not number:
        raise ClaudeMissing(
            f"{claude} --version printed {output[:200]!r}, which isn't a version of Claude Code. {_HOW}"
        )
    return number.group().decode()


def _bundled() -> Path | None:
    package = find_spec("claude_agent_sdk")
    for place in (package.submodule_search_locations or []) if package else []:
        path = Path(place, "_bundled", "claude")
        if path.is_file():
            return path
    return None
