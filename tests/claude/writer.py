"""A writer that can be killed: writes numbered lines of all sizes to a FIFO until it dies, or a number of them."""

import asyncio
import os
import random
import sys
from pathlib import Path

from handraise.claude.fifo import Fifo
from handraise.claude.folder import RunFolder

SIZES = [1, 20, 300, 4095, 4096, 4097, 20_000, 65_536, 200_000, 1_000_000, 1_048_576, 1_048_577, 3_000_000]


def line(writer: str, number: int, size: int) -> bytes:
    """`writer number size xxx…`: a reader can tell whether it is complete."""
    head = b"%s %d %d " % (writer.encode(), number, size)
    return head + b"x" * size + b"\n"


def is_whole(text: bytes) -> bool:
    words = text.split(b" ")
    return len(words) == 4 and words[2].isdigit() and words[3] == b"x" * int(words[2])


async def main(folder: Path, writer: str, count: int) -> None:
    fifo = Fifo(RunFolder(folder))
    dice = random.Random(writer)
    for number in range(count):
        await fifo.write(line(writer, number, dice.choice(SIZES)))
        if number == 0:
            os.write(1, b"writing\n")


if __name__ == "__main__":
    where, name, how_many = sys.argv[1:]
    asyncio.run(main(Path(where), name, int(how_many)))
