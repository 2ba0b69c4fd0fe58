"""The test bed: the real CLI, a scripted model on loopback, and direct access to the wire."""

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from handraise.claude import claude
from handraise.claude.claude import Claude
from handraise.claude.command import Launch
from handraise.claude.locate import locate
from handraise.claude.watch import FileWatch, watch
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, Scripted, say
from handraise.demo.request import Conversation
from handraise.wire.connection import Connection
from handraise.wire.frames import Acknowledged, CanUseTool, ControlRequest, ControlResponse, Frame, Lifecycle, Result

DEADLINE = 60.0
_F = TypeVar("_F", bound=Frame)


def parts(**scripts: Scripted) -> Scripted:
    """One script for many stories: naming a part in a message plays that part from its start."""

    def play(conversation: Conversation) -> Script:
        while True:
            begun = conversation.request.identity
            running = scripts[_last_line(conversation)](conversation)
            pieces = next(running)
            while True:
                conversation = yield pieces
                # A repeated request is Claude's retry after a failed reply: the part continues.
                if _last_line(conversation) in scripts and conversation.request.identity != begun:
                    break
                try:
                    pieces = running.send(conversation)
                except StopIteration:
                    pieces = [say("That part is over.")]

    return play


def _last_line(conversation: Conversation) -> str:
    return (conversation.text.splitlines() or [""])[-1]


class BedTalk:
    """One conversation with one Claude process."""

    def __init__(self, running: Claude, offset: int = 0, open_requests: Sequence[str] = ()) -> None:
        self.claude = running
        self.wire = Connection(offset, open_requests)
        self.heard: list[Frame] = []
        self._ahead: list[Frame] = []
        self._wanted: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._chunks: AsyncIterator[bytes] = running.follow(offset)

    @property
    def at_rest(self) -> bool:
        """Whether Claude runs, its turn is over, and nothing is open."""
        is_over = bool(self.heard) and isinstance(self.heard[-1], Result | Lifecycle)
        return is_over and not self.wire.open_requests and not self.claude.ended.is_set()

    async def say(self, content: str | Sequence[Mapping[str, Any]], say_id: str | None = None) -> str:
        say_id = say_id or str(uuid.uuid4())
        await self.claude.write(self.wire.send_say(content, say_id))
        return say_id

    async def want(self, subtype: str, **fields: object) -> None:
        self._wanted[subtype] = f"ours-{subtype}-{next(self._numbers)}"
        await self.claude.write(self.wire.send_request(self._wanted[subtype], subtype, **fields))

    async def allow(
        self, request_id: str, asked: CanUseTool, permissions: Sequence[Mapping[str, Any]] = (), **changed: object
    ) -> None:
        """Allows the call, with its input except for what is `changed`."""
        await self.claude.write(self.wire.send_allow(request_id, {**read(asked.input), **changed}, permissions))

    async def deny(self, request_id: str, message: str, *, interrupt: bool = False) -> None:
        await self.claude.write(self.wire.send_deny(request_id, message, interrupt=interrupt))

    async def until(self, kind: type[_F], where: Callable[[_F], bool] = lambda _: True) -> _F:
        """The next frame of this kind for which `where` holds; earlier ones are in `heard`."""
        async with asyncio.timeout(DEADLINE):
            while True:
                frame = await self._next()
                if frame is None:
                    raise AssertionError(f"Claude ended before a {kind.__name__}: {self.claude.folder.last_errors()}")
                if isinstance(frame, kind) and where(frame):
                    return frame

    async def until_asked(self) -> tuple[str, CanUseTool]:
        """The next permission request."""
        asked = await self.until(ControlRequest)
        assert isinstance(asked.request, CanUseTool), asked
        return asked.request_id, asked.request

    async def until_acknowledged(self, subtype: str) -> Acknowledged:
        """Claude's response to our last request."""
        wanted = self._wanted[subtype]
        return (await self.until(ControlResponse, lambda text: text.response.request_id == wanted)).response

    async def rest(self) -> list[Frame]:
        """Everything sent until Claude has exited."""
        before = len(self.heard)
        async with asyncio.timeout(DEADLINE):
            while await self._next() is not None:
                pass
        return self.heard[before:]

    async def _next(self) -> Frame | None:
        while not self._ahead:
            chunk = await anext(self._chunks, None)
            received = self.wire.receive_end() if chunk is None else self.wire.receive(chunk)
            self._ahead = [each.frame for each in received]
            if chunk is None and not self._ahead:
                return None
        self.heard.append(self._ahead[0])
        return self._ahead.pop(0)


class Bed:
    """A folder, a home for Claude, a working directory, and the model. Entered with `async with`."""

    def __init__(self, tmp: Path, **scripts: Scripted) -> None:
        self.tmp = tmp
        self.work = tmp / "work"
        self.model = ScriptedModel(scripts, stretch=1)
        self._watch: FileWatch = watch()
        self._stack = AsyncExitStack()
        self._runs = 0
        self._talks: dict[str, BedTalk] = {}

    async def __aenter__(self) -> Self:
        self.work.mkdir()
        (self.tmp / "home").mkdir()
        await self._stack.enter_async_context(self.model)
        await self._stack.enter_async_context(self._watch)
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._stack.__aexit__(*raised)

    def environment(self, script: str) -> dict[str, str]:
        return environment(self.model.url(script), str(self.tmp / "home"))

    async def talk(self, script: str, **launch: Any) -> BedTalk:
        """The Claude that plays this script, with an empty `heard`; a new one if it isn't at rest."""
        if script not in self._talks or not self._talks[script].at_rest:
            self._talks[script] = await self.start(script, **launch)
        self._talks[script].heard.clear()
        return self._talks[script]

    async def start(self, script: str, *, initialize: bool = True, **launch: Any) -> BedTalk:
        """Starts Claude on a script. It is stopped when the bed is left."""
        launch.setdefault("session_id", str(uuid.uuid4()))
        how = Launch(directory=str(self.work), **launch)
        self._runs += 1
        running = await claude.start(
            locate(),
            how,
            self.tmp / "runs" / str(self._runs),
            self.tmp / "locks",
            self._watch,
            self.environment(script),
        )
        talk = await self._join(running)
        if initialize:
            await talk.want("initialize", hooks=None)
        return talk

    async def adopt(self, folder: Path, offset: int = 0, open_requests: Sequence[str] = ()) -> BedTalk:
        """Adopts a Claude that someone else started."""
        return await self._join(claude.adopt(folder, self._watch), offset, open_requests)

    async def _join(self, running: Claude, offset: int = 0, open_requests: Sequence[str] = ()) -> BedTalk:
        await self._stack.enter_async_context(running)
        self._stack.push_async_callback(running.stop, patience=2.0)
        return BedTalk(running, offset, open_requests)


def read(raw: msgspec.Raw) -> Any:
    """A raw part of a frame, decoded."""
    return msgspec.json.decode(raw)


def answered(result: Result) -> str:
    """The text that a turn ended with; fails if the turn did."""
    assert not result.is_error, result
    return result.result or ""
