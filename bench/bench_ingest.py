"""Frames per second from a child to typed frames: our journal and wire against claude-agent-sdk on the same stream.

In the reader's own CPU time, so that a busy machine changes little.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, query
from claude_agent_sdk._internal.message_parser import parse_message
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

import figures
from handraise.claude.journal import follow
from handraise.claude.watch import watch
from handraise.wire.connection import Connection
from stream import stream

FRAMES = 100_000
ROUNDS = 5
TARGET = 5.0


async def ours(source: Path, folder: Path) -> int:
    """A child writes its journal; we follow and decode it."""
    journal = folder / "out.ndjson"
    journal.write_bytes(b"")
    wire, frames, ended = Connection(), 0, asyncio.Event()
    with open(journal, "ab") as stdout:  # noqa: ASYNC230 (nothing else runs)
        child = await asyncio.create_subprocess_exec("/bin/cat", source, stdout=stdout)
    async with watch() as bells, asyncio.TaskGroup() as tasks:
        tasks.create_task(_tell_end(child, ended))
        async for chunk in follow(journal, 0, bells, ended):
            frames += len(wire.receive_frames(chunk))
    return frames


async def _tell_end(child: asyncio.subprocess.Process, ended: asyncio.Event) -> None:
    await child.wait()
    ended.set()


async def theirs(source: Path, folder: Path) -> int:
    """A child that stands in for the CLI writes to a pipe; their transport reads and their parser types it."""
    stub = folder / "claude"
    stub.write_text(f"#!/bin/sh\nexec /bin/cat {source}\n")
    stub.chmod(0o700)
    transport = SubprocessCLITransport("", ClaudeAgentOptions(cli_path=stub, cwd=folder))
    await transport.connect()
    frames = 0
    async for message in transport.read_messages():
        parse_message(message)
        frames += 1
    await transport.close()
    return frames


async def as_users_read_it(source: Path, folder: Path) -> int:
    """The same through their public `query`, whose child must first answer a handshake."""
    stub = folder / "claude"
    answer = '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}'
    wanted = r"s/.*\"request_id\": *\"\([^\"]*\)\".*/\1/"
    stub.write_text(
        f"#!/bin/sh\nread -r line\nid=$(printf '%s' \"$line\" | /bin/sed '{wanted}')\n"
        f"printf '{answer}\\n' \"$id\"\nexec /bin/cat {source}\n"
    )
    stub.chmod(0o700)
    return len([message async for message in query(prompt="", options=ClaudeAgentOptions(cli_path=stub, cwd=folder))])


async def seconds(read: Callable[[Path, Path], Awaitable[int]], source: Path, expected: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        frames = await read(source, Path(folder))
        took = time.process_time() - began
    # `query` drops what its parser doesn't know.
    if frames != expected and read is not as_users_read_it:
        raise SystemExit(f"{read.__name__}: {frames} frames of {expected}")
    return took


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "stream.ndjson")
        source.write_bytes(stream(FRAMES))  # noqa: ASYNC240 (nothing else runs)
        # Alternating, so that other load affects both; the best of each is the least disturbed.
        pairs = [(await seconds(ours, source, FRAMES), await seconds(theirs, source, FRAMES)) for _ in range(ROUNDS)]
        public = await seconds(as_users_read_it, source, FRAMES)
    mine, other = (min(each) for each in zip(*pairs, strict=True))
    print("ingest: frames per second from a child's write to typed frames, against claude-agent-sdk on the same stream")
    for name, ratio in (("its query()", public / mine), ("its bare transport and parser", other / mine)):
        figures.report(f"times as fast as {name}", ratio, "higher")
        print(
            f"        {ratio:.1f} times {name}; target: at least {TARGET:g}: {'holds' if ratio >= TARGET else 'MISSED'}"
        )


if __name__ == "__main__":
    os.environ["CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK"] = "1"
    asyncio.run(main())
