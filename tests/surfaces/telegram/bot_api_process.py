"""The Bot API server as a process of its own: it prints its address, and is controlled over HTTP."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx2

from surfaces.telegram.bot_api import TOKEN, bot_api
from surfaces.telegram.control import Control
from surfaces.telegram.rates import RateLimits
from surfaces.telegram.wire import NO_TLS

TESTS = Path(__file__).parents[2]


class RemoteBotApi:
    """A server in another process."""

    def __init__(self, base: str, http: httpx2.AsyncClient) -> None:
        self.base = base
        self.token = TOKEN
        self._http = http

    async def perform(self, action: str, **details: Any) -> Any:
        """One of the actions of `Control`, for example `write` or `press`."""
        answer = await self._http.post(f"{self.base}/control/{action}", json=details)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


@asynccontextmanager
async def bot_api_process(
    *, limits: RateLimits | None = None, pace: float = 1.0, restart_conflict: float = 0.0
) -> AsyncIterator[RemoteBotApi]:
    """Runs until the end of the block, whatever happens to the hub meanwhile."""
    settings = {"limits": asdict(limits or RateLimits()), "pace": pace, "restart_conflict": restart_conflict}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "surfaces.telegram.bot_api_process",
        json.dumps(settings),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    assert process.stdin
    assert process.stdout
    try:
        base = (await process.stdout.readline()).decode().strip()
        async with httpx2.AsyncClient(timeout=httpx2.Timeout(70.0), verify=NO_TLS) as http:
            yield RemoteBotApi(base, http)
    finally:
        process.stdin.close()
        await process.wait()


async def main(settings: dict[str, Any]) -> None:
    """Ends with its standard input: it never outlives the test."""
    limits = RateLimits(**settings["limits"])
    async with bot_api(limits=limits, pace=settings["pace"], restart_conflict=settings["restart_conflict"]) as api:
        api.control = Control(api).perform
        sys.stdout.write(f"{api.base}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
