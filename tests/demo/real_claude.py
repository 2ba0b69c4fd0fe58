"""Runs the real Claude Code against the scripted model, with its own home."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import claude_agent_sdk

from handraise.demo import environment

CLAUDE = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
LINE_LIMIT = 16 * 1024 * 1024
PATIENCE = 60

Frame = Mapping[str, Any]


async def run_claude(url: str, home: Path, prompt: str, *options: str) -> list[Frame]:
    """Runs one `claude -p` to its end; returns its output."""
    options = ("-p", "--output-format", "stream-json", "--verbose", *options, prompt)
    # With a pipe as stdin, `-p` first waits three seconds for input.
    async with _started(url, home, *options, stdin=asyncio.subprocess.DEVNULL) as claude:
        text, _ = await claude.communicate()
    return [json.loads(line) for line in text.splitlines()]


class ClaudeTalk:
    """A running Claude that asks us for permission."""

    def __init__(self, claude: asyncio.subprocess.Process) -> None:
        self._claude = claude

    def say(self, text: str) -> None:
        self._write({"type": "user", "message": {"role": "user", "content": text}})

    def allow(self, ask: Frame, **changed: object) -> None:
        self._answer(ask, {"behavior": "allow", "updatedInput": {**ask["request"]["input"], **changed}})

    def deny(self, ask: Frame, message: str) -> None:
        self._answer(ask, {"behavior": "deny", "message": message})

    def interrupt(self) -> None:
        self._write({"type": "control_request", "request_id": "ours-1", "request": {"subtype": "interrupt"}})

    def hang_up(self) -> None:
        assert self._claude.stdin
        self._claude.stdin.close()

    async def frames(self) -> AsyncIterator[Frame]:
        assert self._claude.stdout
        async for line in self._claude.stdout:
            yield json.loads(line)

    def _answer(self, ask: Frame, response: Frame) -> None:
        envelope = {"subtype": "success", "request_id": ask["request_id"], "response": response}
        self._write({"type": "control_response", "response": envelope})

    def _write(self, frame: Frame) -> None:
        assert self._claude.stdin
        self._claude.stdin.write(json.dumps(frame).encode() + b"\n")


@asynccontextmanager
async def talk_with_claude(url: str, home: Path, *options: str) -> AsyncIterator[ClaudeTalk]:
    stream_json = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    async with _started(url, home, *stream_json, "--permission-prompt-tool", "stdio", *options) as claude:
        yield ClaudeTalk(claude)


@asynccontextmanager
async def _started(
    url: str, home: Path, *options: str, stdin: int = asyncio.subprocess.PIPE
) -> AsyncIterator[asyncio.subprocess.Process]:
    claude = await asyncio.create_subprocess_exec(
        CLAUDE,
        *options,
        cwd=home,
        env=environment(url, str(home)),
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE_LIMIT,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            yield claude
            await claude.wait()
    finally:
        if claude.returncode is None:
            claude.kill()
            await claude.wait()


def blocks(frames: list[Frame], kind: str) -> list[Frame]:
    """The main loop's content blocks of one kind."""
    return [
        block
        for frame in frames
        if frame["type"] == "assistant" and not frame.get("parent_tool_use_id")
        for block in frame["message"]["content"]
        if block["type"] == kind
    ]


def texts(frames: list[Frame]) -> list[str]:
    return [block["text"] for block in blocks(frames, "text")]


def result(frames: list[Frame]) -> Frame:
    return next(frame for frame in frames if frame["type"] == "result")
