"""Agents we did not start: the real `claude -p`, and a served hub that it can reach in every way."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Scripted
from handraise.desk.interface import Desk
from handraise.model.actors import Person
from handraise.model.asks import Ask
from handraise.model.items import Preview, TurnEnded
from handraise.serving.serve import RunningHub, ServeConfig, serving

DEADLINE = 60.0
RELAY = "from handraise.cli.entry import main; main()"


class Yard:
    """A scripted model, a working directory, and a state folder. `serve` may be entered repeatedly."""

    def __init__(self, tmp: Path, script: Scripted, **settings: Any) -> None:
        self.tmp = tmp
        self.work = tmp / "work"
        self.state = tmp / "state"
        self.model = ScriptedModel({"script": script})
        self._settings = settings
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.work.mkdir()
        self.home.mkdir()
        await self._stack.enter_async_context(self.model)
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._stack.__aexit__(*raised)

    @property
    def home(self) -> Path:
        return self.tmp / "home"

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.model.url("script"), str(self.home))

    def serve(self, port: int = 0) -> AbstractAsyncContextManager[RunningHub]:
        return serving(ServeConfig(self.state, locate(), self.environment, port=port, **self._settings))

    def stdio(self, state: Path | None = None) -> dict[str, Any]:
        """How an agent starts our relay."""
        return {"command": sys.executable, "args": ["-c", RELAY, "mcp", "--state", str(state or self.state)]}

    async def over_http(self, served: RunningHub, name: str = "agent") -> dict[str, Any]:
        """How an agent reaches us by HTTP."""
        made = await served.auth.make(name, "agent", Person("owner"), "test")
        return {"type": "http", "url": f"{served.base}/mcp", "headers": {"Authorization": f"Bearer {made.secret}"}}

    @asynccontextmanager
    async def agent(
        self,
        server: dict[str, Any],
        *options: str,
        beside: Mapping[str, dict[str, Any]] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> AsyncIterator["Agent"]:
        """A running `claude -p`, with our server and possibly others."""
        servers = {"handraise": server, **(beside or {})}
        config = json.dumps({"mcpServers": {name: {"alwaysLoad": True, **each} for name, each in servers.items()}})
        words = ("-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config", "--mcp-config", config)
        process = await asyncio.create_subprocess_exec(
            locate(),
            *words,
            *options,
            "--",
            "Begin.",
            cwd=self.work,
            env={**self.environment, **(variables or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            limit=64 * 1024 * 1024,
        )
        try:
            yield Agent(process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


class Agent:
    """A running `claude -p`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.frames: list[dict[str, Any]] = []

    async def result(self) -> str:
        """Its last text."""
        assert self.process.stdout
        async with asyncio.timeout(DEADLINE):
            async for line in self.process.stdout:
                self.frames.append(json.loads(line))
                if self.frames[-1]["type"] == "result":
                    return str(self.frames[-1]["result"])
        raise AssertionError(f"no result: {self.frames}")

    def servers(self) -> dict[str, str]:
        """Its initial state: each server's name and status."""
        began = next(frame for frame in self.frames if frame.get("subtype") == "init")
        return {each["name"]: each["status"] for each in began["mcp_servers"]}


async def next_ask(desk: Desk, but: frozenset[str] = frozenset()) -> Ask:
    """The next open ask, from any asker."""
    async with asyncio.timeout(DEADLINE), desk.follow(0) as follower:
        async for _ in follower:
            for ask in await desk.asks():
                if ask.id not in but:
                    return ask
    raise AssertionError("the feed ended")


async def until_settled(desk: Desk, ask: str) -> Ask:
    """The ask, once it is settled."""
    async with asyncio.timeout(DEADLINE), desk.follow(0) as follower:
        async for _ in follower:
            found = await desk.ask(ask)
            if found.settlement is not None:
                return found
    raise AssertionError("the feed ended")


async def until_turn_ended(desk: Desk, session: str) -> None:
    """Waits until Claude has finished its turn."""
    async with asyncio.timeout(DEADLINE), desk.follow(0, session) as follower:
        async for news in follower:
            if not isinstance(news, Preview) and any(isinstance(item.read(), TurnEnded) for item in news):
                return
    raise AssertionError("the feed ended")
