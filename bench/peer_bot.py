"""What a bot does that is written with claude-agent-sdk: shows requests to a browser, and stores nothing.

Its CLI gets the same settings as far as the SDK has them; it doesn't check calls that nobody is asked about.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import uvicorn
import uvloop
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient
from claude_agent_sdk.types import PermissionResultAllow
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from handraise.claude.locate import locate


class PeerBot:
    """One Claude, any number of browsers."""

    def __init__(self) -> None:
        self._streams: set[asyncio.Queue[bytes]] = set()
        self._open: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = count()

    async def can_use_tool(self, tool: str, tool_input: dict[str, Any], _: object) -> PermissionResultAllow:
        name = str(next(self._numbers))
        answered = self._open[name] = asyncio.get_running_loop().create_future()
        event = json.dumps({"id": name, "tool": tool, "input": tool_input})
        for stream in self._streams:
            stream.put_nowait(f"data: {event}\n\n".encode())
        return PermissionResultAllow(updated_input={**tool_input, **await answered})

    async def feed(self, _: Request) -> Response:
        return StreamingResponse(self._events(), media_type="text/event-stream")

    async def answer(self, request: Request) -> Response:
        self._open.pop(request.path_params["name"]).set_result(await request.json())
        return JSONResponse({})

    async def _events(self) -> AsyncIterator[bytes]:
        stream: asyncio.Queue[bytes] = asyncio.Queue()
        self._streams.add(stream)
        while True:
            yield await stream.get()


async def main(directory: str) -> None:
    bot = PeerBot()
    routes = [Route("/feed", bot.feed), Route("/answer/{name}", bot.answer, methods=["POST"])]
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", lifespan="off"))
    options = ClaudeAgentOptions(
        cli_path=locate(), cwd=directory, can_use_tool=bot.can_use_tool, include_partial_messages=True
    )
    async with ClaudeSDKClient(options) as claude, asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.serve(sockets=[listener]))
        await claude.query("Ask.")
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", "-", flush=True)
        reading = tasks.create_task(_read(claude))
        await serving
        reading.cancel()


async def _read(claude: ClaudeSDKClient) -> None:
    async for _ in claude.receive_messages():
        pass


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
