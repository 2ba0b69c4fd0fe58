"""Stories: Claude is stopped, and nothing of it is left."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handraise.claude.process import Identity
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.wire.frames import Result
from stories.bed import DEADLINE, Bed

# Says who it is, then stays for good.
STAY = (
    'python3 -c \'import os, time; os.write(os.open("ready", os.O_WRONLY), b"%d\\n" % os.getpid()); time.sleep(999)\''
)


@asynccontextmanager
async def told_pids(fifo: Path) -> AsyncIterator[asyncio.StreamReader]:
    """What is written into a FIFO, by however many."""
    os.mkfifo(fifo)
    lines = asyncio.StreamReader()
    opened = os.fdopen(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), opened)
    try:
        yield lines
    finally:
        pipe.close()


async def identities(lines: asyncio.StreamReader, number: int) -> list[Identity]:
    async with asyncio.timeout(DEADLINE):
        found = [Identity.of(int(await lines.readline())) for _ in range(number)]
    assert all(found)
    return [each for each in found if each]


@pytest.mark.parametrize("politely", [True, False])
async def test_what_a_tool_started_ends_with_claude_even_if_it_was_daemonised(tmp_path: Path, politely: bool) -> None:
    def script(conversation: Conversation) -> Script:
        yield [use("Bash", command=f"(setsid {STAY} >/dev/null 2>&1 </dev/null &)", description="Leave something")]
        yield [say("Left.")]
        # One that lost its parent and has a session of its own, one in the background, one that the tool waits for.
        yield [use("Bash", command=f"(setsid {STAY} &); {STAY} & {STAY}", description="Stay")]
        yield [say("Never.")]

    async with Bed(tmp_path, script=script) as bed, told_pids(bed.work / "ready") as lines:
        talk = await bed.start("script", mode="bypassPermissions")
        await talk.say("Leave something.")
        [left] = await identities(lines, 1)
        await talk.until(Result)
        assert left.lives()
        await talk.say("Stay.")
        kin = [left, *await identities(lines, 3)]
        claude = talk.claude.process.identity
        assert all(each.lives() for each in [claude, *kin])
        assert any(os.getsid(each.pid) == each.pid for each in kin[1:])

        await talk.claude.stop(talk.wire.send_farewell("bye") if politely else None)

        assert talk.claude.ended.is_set()
        assert not [each for each in [claude, *kin] if each.lives()]
