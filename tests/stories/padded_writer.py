"""A writer that can be killed: asks Claude for its MCP servers repeatedly, in lines of all sizes."""

import asyncio
import os
import random
import sys
from pathlib import Path

from handraise.claude.fifo import Fifo
from handraise.claude.folder import RunFolder
from handraise.wire.connection import Connection

SIZES = [0, 300, 4096, 65_536, 200_000, 1_040_000, 1_100_000, 3_000_000]


async def main(folder: Path, name: str) -> None:
    fifo, wire, dice = Fifo(RunFolder(folder)), Connection(), random.Random(name)
    for number in range(1_000_000):
        padding = "x" * dice.choice(SIZES)
        await fifo.write(wire.send_request(f"{name}-{number}", "mcp_status", padding=padding))
        if number == 0:
            os.write(1, b"writing\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
