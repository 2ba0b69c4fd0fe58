"""One at a time for each key."""

import asyncio

from handraise.surfaces.telegram.keyed_locks import KeyedLocks


async def test_the_same_key_waits_in_order_and_others_do_not() -> None:
    locks, order = KeyedLocks(), []
    held = asyncio.Event()

    async def enter(key: str, name: str) -> None:
        async with locks.hold(key):
            order.append(name)
            if name == "first":
                await held.wait()

    tasks = [
        asyncio.create_task(enter(*each)) for each in (("a", "first"), ("a", "second"), ("a", "third"), ("b", "other"))
    ]
    while len(order) < 2:
        await asyncio.sleep(0)
    assert order == ["first", "other"]
    held.set()
    await asyncio.gather(*tasks)
    assert order == ["first", "other", "second", "third"]
    assert len(locks) == 0, "nothing is kept for keys that nobody uses"


async def test_who_gives_up_leaves_nothing_behind() -> None:
    locks = KeyedLocks()
    async with locks.hold("a"):
        waiting = asyncio.create_task(locks.hold("a").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert len(locks) == 0
