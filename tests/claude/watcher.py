"""A process that watches one file and reports how: for tests in which inotify is used up."""

import asyncio
import logging
import sys
from pathlib import Path

from handraise.claude.watch import WatchedFile


async def main(path: Path) -> None:
    bell = asyncio.Event()
    async with WatchedFile() as watching, asyncio.timeout(20):
        watching.add(path, bell.set)
        sys.stdout.write(f"{'polling' if watching.is_polling else 'inotify'}\n")
        with open(path, "ab") as file:
            file.write(b"x")
        await bell.wait()
        sys.stdout.write("rung\n")


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr)
    asyncio.run(main(Path(sys.argv[1])))
