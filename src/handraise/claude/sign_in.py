"""Asks Claude Code itself whether it is signed in, with `claude auth status`."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

SignIn = Literal["in", "out", "unknown"]
_MOST = 64 * 1024


class _AuthStatus(msgspec.Struct):
    logged_in: bool = msgspec.field(name="loggedIn")


async def sign_in(program: Path, environment: Mapping[str, str], *, deadline: float = 10.0) -> SignIn:
    """Whether this program is signed in, in the environment that it would run in.

    Unknown if it doesn't say: an older version, a program that doesn't start, or one that takes too long.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *("auth", "status"),
            # Not a project: nothing of its settings counts here.
            cwd=os.sep,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return "unknown"
    try:
        async with asyncio.timeout(deadline):
            output, _ = await process.communicate()
    except TimeoutError:
        return "unknown"
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        return "in" if msgspec.json.decode(output[:_MOST], type=_AuthStatus).logged_in else "out"
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "unknown"
