"""From an agent's call to the question on the stream, and from the answer to the agent, through the relay.

The specification of `ask_user` allows 3 and 2 seconds.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from handraise.model.answers import Choice, Choices
from handraise.model.items import AskOpened, Preview
from handraise.serving.serve import RunningHub, ServeConfig, serving

CALLS = 100
SHOWN, ANSWERED = 3.0, 2.0
_RELAY = "from handraise.cli.entry import main; main()"
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state")
        async with serving(ServeConfig(state, Path("/bin/false"), {}, port=0)) as served:
            pipe = asyncio.subprocess.PIPE
            relay = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _RELAY, "mcp", "--state", str(state)), stdin=pipe, stdout=pipe
            )
            try:
                shown, answered = await measure(served, relay)
            finally:
                relay.kill()
                await relay.communicate()
    tell("call to question on the stream", shown, SHOWN)
    tell("answer to the agent", answered, ANSWERED)


async def measure(served: RunningHub, relay: asyncio.subprocess.Process) -> tuple[list[float], list[float]]:
    """Seconds for each call in turn."""
    shown, answered = [], []
    await say(relay, id=0, method="initialize", params=_HELLO)
    async with served.hub.desk.follow(0) as follower:
        for number in range(1, CALLS + 1):
            began = time.perf_counter()
            called = {"name": "ask_user", "arguments": {"question": "Which?"}}
            hearing = asyncio.create_task(say(relay, id=number, method="tools/call", params=called))
            ask = await opened(follower)
            shown.append(time.perf_counter() - began)
            began = time.perf_counter()
            await served.hub.desk.answer(ask, Choices((Choice(text="this"),)))
            await hearing
            answered.append(time.perf_counter() - began)
    return shown, answered


async def say(relay: asyncio.subprocess.Process, **message: Any) -> None:
    """Sends it, and waits for the reply."""
    assert relay.stdin is not None
    assert relay.stdout is not None
    relay.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    await relay.stdout.readline()


async def opened(follower: Any) -> str:
    """The next ask that is opened."""
    async for news in follower:
        for item in () if isinstance(news, Preview) else news:
            content = item.read()
            if isinstance(content, AskOpened):
                return str(content.ask["id"])
    raise AssertionError("the feed ended")


def tell(what: str, seconds: list[float], limit: float) -> None:
    ordered = sorted(seconds)
    median, worst = statistics.median(ordered) * 1000, ordered[-1] * 1000
    print(f"{what}: {median:.1f} ms at the median, {worst:.1f} ms at most (allowed: {limit * 1000:.0f} ms)")


if __name__ == "__main__":
    asyncio.run(main())
