"""Watches a hub and allows every `Read`; everything else is left to people.

python examples/watch_and_answer.py                                   # this machine's hub
python examples/watch_and_answer.py https://hub.example TOKEN         # another; see `handraise token create`
"""

import asyncio
import sys

from handraise import connect
from handraise.desk.interface import Conflict, Desk, TooLate
from handraise.model.answers import Allow
from handraise.model.asks import Permission
from handraise.model.items import AskOpened, AskSettled, Preview


async def main(where: str | None = None, token: str | None = None) -> None:
    async with connect(where, token, source="example") as desk:
        cursor = await desk.newest()
        for ask in await desk.asks():
            await decide(desk, ask.id)
        # From the cursor that was read before the list, so that nothing is missed in between.
        async with desk.follow(cursor) as follower:
            async for news in follower:
                for item in () if isinstance(news, Preview) else news:
                    match item.read():
                        case AskOpened(opened):
                            await decide(desk, opened["id"])
                        case AskSettled(ask_id, settlement):
                            print(ask_id, settlement["state"], settlement.get("by", {}).get("name", ""), flush=True)
                        case _:
                            pass


async def decide(desk: Desk, ask_id: str) -> None:
    ask = await desk.ask(ask_id)
    if ask.state == "open" and isinstance(ask.body, Permission) and ask.body.tool == "Read":
        try:
            await desk.answer(ask.id, Allow(), ask.digest)
        except (Conflict, TooLate) as error:
            print(error)
    else:
        print(ask.id, "is waiting for a person:", ask.kind, flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:3]))
    except KeyboardInterrupt:
        pass
