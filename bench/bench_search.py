"""How long a search takes in a long history, beside reading one page of it. Prints ratios."""

import asyncio
import statistics
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import figures
from handraise.model.items import ActionEnded, ActionStarted, Content, Text
from handraise.model.search import read_query
from handraise.store.changes import PublishItems
from handraise.store.interface import Store
from handraise.store.sqlite.store import SqliteStore

ITEMS = 100_000
SLICE = 20_000
SESSIONS = 50
AT = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = "Some words that Claude said about the limiter and its tests. " * 4
LONG = "ok 1 limiter counts by window\n" * 1_000


def a_content(number: int) -> Content:
    """Text, a command, its output; one output in 25 is long."""
    match number % 3:
        case 0:
            return Text(f"{WORDS}{number}", f"m_{number}")
        case 1:
            command = f"pytest tests/test_{number}.py -k limiter"
            return ActionStarted(f"t_{number}", "command", command, "Bash", {"command": command})
        case _:
            output = f"{LONG}{number}" if number % 75 == 2 else f"{number} passed"
            return ActionEnded(f"t_{number - 1}", "command", "pytest", True, output)


async def seconds(store: Store, text: str, session: str | None = None) -> float:
    """A search through everything, slice by slice, as the desk does it."""
    began = perf_counter()
    for before in range(ITEMS + 1, 0, -SLICE):
        await store.search(read_query(text), after=max(0, before - 1 - SLICE), before=before, session=session)
    return perf_counter() - began


async def page(store: Store) -> float:
    began = perf_counter()
    await store.items(session="s_7", limit=160)
    return perf_counter() - began


async def compare(store: Store, name: str) -> None:
    for first in range(0, ITEMS, 5_000):
        await store.apply(
            [PublishItems(f"s_{each % SESSIONS}", AT, a_content(each)) for each in range(first, first + 5_000)]
        )
    one = statistics.median([await page(store) for _ in range(5)])
    searches = {
        "a rare word": ("49998", None),
        "a word that isn't there": ("xylophone", None),
        "a word that is nowhere, in another script": ("жираф", None),
        "a word that isn't there, in one session": ("xylophone", "s_7"),
    }
    for what, (text, session) in searches.items():
        took = statistics.median([await seconds(store, text, session) for _ in range(3)])
        figures.report(f"{name}, {what}, of a page", took / one)
        print(f"{name}, {ITEMS:,} items, {what}: {took / one:.0f} x a page of a conversation ({took * 1000:.0f} ms)")


async def main() -> None:
    with TemporaryDirectory() as folder:
        async with SqliteStore(Path(folder) / "hub.db") as store:
            await compare(store, "SQLite")


if __name__ == "__main__":
    asyncio.run(main())
