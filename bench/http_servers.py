"""The two servers of `bench_http.py`, each in its own process: a hub, and the floor it is compared with.

The floor is the same library, bare: its child's output goes to every stream as it is, and posted data goes to the
child's stdin. Nothing is decoded or checked; a second floor stores everything on disk first, as a hub must.
"""

import asyncio
import gc
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uvicorn
import uvloop

from handraise.claude.locate import locate
from handraise.model.actors import Person
from handraise.serving.serve import ServeConfig, serving, signals

CHILD = Path(__file__).with_name("child.py")


def stand_in(folder: str) -> Path:
    """A program that is the child, whatever its arguments."""
    program = Path(folder, "claude")
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -S {CHILD}\n")
    program.chmod(0o700)
    return program


async def be_hub(folder: str, program: Path) -> None:
    """Prints its address and a token."""
    service = ServeConfig(Path(folder, "state"), program, dict(os.environ), port=0, limit=1000, most_open=1000)
    with signals() as text:
        async with serving(service) as up:
            made = await up.auth.make("bench", "admin", Person("bench"), "bench")
            gc.freeze()  # as `handraise serve` does
            sys.setswitchinterval(0.0005)
            print(up.base, made.secret, flush=True)
            await text.wait()
            await up.hub.pool.stop_all()


class Floor:
    """An ASGI application."""

    def __init__(self, child: subprocess.Popen[bytes], record: int | None) -> None:
        self._child = child
        self._kept = record
        self._streams: set[asyncio.Queue[bytes]] = set()
        self._number = 0
        self._rest = b""

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["method"] == "POST":
            body = b""
            while (message := await receive())["type"] == "http.request":
                body += message["body"]
                if not message["more_body"]:
                    break
            self._keep(body)
            assert self._child.stdin is not None
            os.write(self._child.stdin.fileno(), body + b"\n")
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"{}"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        waiting: asyncio.Queue[bytes] = asyncio.Queue()
        self._streams.add(waiting)
        while True:
            await send({"type": "http.response.body", "body": await waiting.get(), "more_body": True})

    def push(self) -> None:
        """Sends the child's output."""
        assert self._child.stdout is not None
        text = os.read(self._child.stdout.fileno(), 1 << 20)
        self._keep(text)
        *lines, self._rest = (self._rest + text).split(b"\n")
        for line in lines:
            self._number += 1
            event = b"id: %d\ndata: %s\n\n" % (self._number, line)
            for each in self._streams:
                each.put_nowait(event)

    def _keep(self, text: bytes) -> None:
        if self._kept is not None:
            os.write(self._kept, text)
            os.fdatasync(self._kept)


async def be_floor(child: subprocess.Popen[bytes], record: int | None) -> None:
    """Prints its address."""
    assert child.stdout is not None
    floor = Floor(child, record)
    asyncio.get_running_loop().add_reader(child.stdout.fileno(), floor.push)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
    config = uvicorn.Config(floor, log_level="error", lifespan="off", http="httptools", access_log=False)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", "-", flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "hub":
        uvloop.run(be_hub(sys.argv[2], locate() if "claude" in sys.argv[3:] else stand_in(sys.argv[2])))
    else:
        with subprocess.Popen(
            [sys.executable, "-S", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as its_child:
            file = os.open(Path(sys.argv[2], "kept"), os.O_CREAT | os.O_WRONLY) if sys.argv[2:] else None
            uvloop.run(be_floor(its_child, file))
