"""A hub in its own process, with a person who resumes one session and waits until it has received everything. Made
to be killed: given a moment, it kills itself then. It prints `finished` when nothing is queued any more."""

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from handraise.desk.interface import Refused
from handraise.hub.hub import HubConfig, hub
from stories.hub_process import ProcessOrder, die_at


async def main(order: ProcessOrder, session: str) -> None:
    async with hub(HubConfig(Path(order.state), Path(order.program), order.environment, limit=order.limit)) as opened:
        os.write(1, b"up\n")
        try:
            await opened.desk.resume(session)
        except Refused:
            pass  # resumed before
        async with opened.desk.follow(0, session) as follower:
            async for _ in follower:
                seen = (await opened.desk.session(session)).session
                if seen.phase == "idle" and seen.run > 2 and not await opened.store.says(session):
                    break
        os.write(1, b"finished\n")
        await asyncio.Event().wait()


if __name__ == "__main__":
    wanted = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=ProcessOrder)
    if int(sys.argv[3]):
        die_at(int(sys.argv[3]))
    asyncio.run(main(wanted, sys.argv[2]))
