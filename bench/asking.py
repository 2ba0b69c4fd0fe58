"""Real Claudes that ask again and again, on a scripted model, with the times at both ends: the model and a client.

All times are of one clock, `time.monotonic`, which all processes of a machine share.
"""

import asyncio
import json
import os
import signal
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from handraise.claude import launcher
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, Use, hold, say, use
from handraise.demo.request import Conversation
from handraise.session import machine, requests
from handraise.session.guard import HELLO
from handraise.session.reconciling import ABILITIES, INITIALIZE
from handraise.wire import encode, mcp

SERVERS = Path(__file__).with_name("http_servers.py")
PEER = Path(__file__).with_name("peer_bot.py")
KINDS = ("question", "permission")
DEADLINE = 30.0
REST = 0.03
"""Before each step: people and models take seconds, and a hub is at rest by then."""
LINE = 1 << 24


class Opened(NamedTuple):
    """A request as a client got it, and when."""

    at: float
    name: str
    question: str


class Timing(NamedTuple):
    """One ask: seconds from the model's last byte to the client, and from the client's answer to the model."""

    kind: str
    shown: float
    answered: float


class Way(Protocol):
    """One way from Claude to a client, and back."""

    name: str

    async def next(self) -> Opened: ...

    async def answer(self, opened: Opened) -> None:
        """Returns when it is written."""

    async def settle(self) -> None:
        """Reads what came back, once the model has its answer."""


class TimedModel(ScriptedModel):
    """Asks `count` times for each name. Records when a reply was sent, and when a request was received."""

    def __init__(self, names: Sequence[str], count: int) -> None:
        super().__init__({name: partial(self._script, name) for name in names})
        self.sent = 0.0
        """When the last piece of a reply was handed to the socket."""
        self.heard: defaultdict[str, asyncio.Queue[float]] = defaultdict(asyncio.Queue)
        self._count = count
        self._arrived = 0.0

    def _script(self, name: str, _: Conversation) -> Script:
        for number in range(self._count):
            yield [hold(f"{name}-{number}"), call(number)]
            self.heard[name].put_nowait(self._arrived)
        yield [say("Done.")]

    async def _message(self, http: HttpRequest) -> Response:
        await http.body()
        self._arrived = time.monotonic()
        return await super()._message(http)

    async def _perform(self, beats: Any) -> AsyncIterator[bytes]:
        async for piece in super()._perform(beats):
            self.sent = time.monotonic()
            yield piece


def kind_of(number: int) -> str:
    return KINDS[number % len(KINDS)]


def call(number: int) -> Use:
    if kind_of(number) == "question":
        options = [{"label": each, "description": f"Use {each}."} for each in ("PostgreSQL", "SQLite")]
        prompt = {"question": f"Which database? ({number})", "header": "Database", "options": options}
        return use("AskUserQuestion", questions=[{**prompt, "multiSelect": False}])
    return use("Bash", command=f"touch step-{number}", description="Mark the step")


async def ask_once(model: TimedModel, way: Way, number: int) -> tuple[Timing, Opened, float, float]:
    """Also what the client got, when it answered, and when the model had it."""
    async with asyncio.timeout(DEADLINE):
        await model.held(f"{way.name}-{number}")
        await asyncio.sleep(REST)
        model.release(f"{way.name}-{number}")
        opened = await way.next()
        sent = model.sent
        await asyncio.sleep(REST)
        posted = time.monotonic()
        await way.answer(opened)
        heard = await model.heard[way.name].get()
        await way.settle()
    return Timing(kind_of(number), opened.at - sent, heard - posted), opened, posted, heard


class Bare:
    """The floor: Claude between two pipes, and a loop that answers everything but asks immediately."""

    def __init__(self, name: str, claude: asyncio.subprocess.Process) -> None:
        assert claude.stdin
        assert claude.stdout
        self.name = name
        self._stdin, self._stdout = claude.stdin, claude.stdout
        self._asks: asyncio.Queue[tuple[Opened, dict[str, Any]]] = asyncio.Queue()
        self._input: dict[str, Any] = {}
        self.checked = 0.0
        """When the check of the last call was read."""

    async def next(self) -> Opened:
        opened, self._input = await self._asks.get()
        return opened

    async def answer(self, opened: Opened) -> None:
        more = {"answers": {opened.question: "SQLite"}} if opened.question else {}
        self._respond(opened.name, {"behavior": "allow", "updatedInput": {**self._input, **more}})

    async def settle(self) -> None:
        """Nothing comes back."""

    async def read(self) -> None:
        hooks = machine._HOOKS  # noqa: SLF001 (the same as the hub's)
        self._stdin.write(encode.control_request(HELLO, INITIALIZE, hooks=hooks, **ABILITIES))
        self._stdin.write(encode.user("Ask.", str(uuid.uuid4())))
        async for line in self._stdout:
            if b'"control_request"' in line:
                at = time.monotonic()
                self._take(at, json.loads(line))

    def _take(self, at: float, frame: dict[str, Any]) -> None:
        match frame:
            case {"request_id": name, "request": {"subtype": "hook_callback"}}:
                self.checked = at
                self._respond(name, {})
            case {"request_id": name, "request": {"subtype": "mcp_message", "message": message}}:
                replied = requests.reply(mcp.read(json.dumps(message).encode()))
                self._respond(name, {"mcp_response": replied})
            case {"request_id": name, "request": {"subtype": "can_use_tool", "input": tool_input}}:
                self._asks.put_nowait((Opened(at, name, question_in(tool_input)), tool_input))

    def _respond(self, name: str, response: Mapping[str, Any]) -> None:
        self._stdin.write(encode.control_response(name, response))


def question_in(tool_input: Mapping[str, Any]) -> str:
    return str(tool_input["questions"][0]["question"]) if "questions" in tool_input else ""


@asynccontextmanager
async def bare(name: str, hub_run: Path, url: str, folder: Path) -> AsyncIterator[Bare]:
    """A Claude with the command line, environment and sandbox of the one that a hub started in `hub_run`."""
    around = _order_again(hub_run, folder)
    claude = await asyncio.create_subprocess_exec(
        sys.executable,
        *launcher.WORDS,
        folder,
        env={**around, "ANTHROPIC_BASE_URL": url},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE,
    )
    way = Bare(name, claude)
    reading = asyncio.create_task(way.read())
    try:
        yield way
    finally:
        reading.cancel()
        # With a sandbox, the launcher stays until Claude is gone, and the record names Claude.
        with suppress(ProcessLookupError):
            os.kill(json.loads((folder / "launch.json").read_text())["pid"], signal.SIGKILL)
        with suppress(ProcessLookupError):
            claude.kill()
        await claude.wait()


def _order_again(hub_run: Path, folder: Path) -> dict[str, str]:
    """Writes the order for another conversation; returns the environment of the Claude that carried out the first."""
    order = json.loads((hub_run / "launch.json").read_text())
    new = json.dumps({key: order[key] for key in ("command", "session_id", "directory", "sandbox")})
    folder.mkdir()
    (folder / "launch.json").write_text(new.replace(order["session_id"], str(uuid.uuid4())))
    words = Path(f"/proc/{order['pid']}/environ").read_bytes().decode().split("\0")
    return {name: value for name, _, value in (each.partition("=") for each in words if each)}


class AskClient:
    """An HTTP client with two connections: one for the events, one for answers, both kept open as a page does."""

    def __init__(self, name: str, port: int, token: str) -> None:
        self.name = name
        self._head = f"host: localhost\r\nauthorization: Bearer {token}\r\n"
        self._port = port
        self._rest = b""

    async def __aenter__(self) -> "AskClient":
        self._events, self._asking = await asyncio.open_connection("127.0.0.1", self._port, limit=LINE)
        self._asking.write(f"GET {self.feed} HTTP/1.1\r\n{self._head}\r\n".encode())
        await self._events.readuntil(b"\r\n\r\n")
        self._replies, self._posting = await asyncio.open_connection("127.0.0.1", self._port, limit=LINE)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._asking.transport.abort()
        self._posting.transport.abort()

    feed = "/api/feed"

    async def post(self, path: str, body: object) -> dict[str, Any]:
        self._post(path, body)
        return await self._reply()

    async def next(self) -> Opened:
        while True:
            *whole, self._rest = self._rest.split(b"\n\n")
            at = time.monotonic()
            for number, event in enumerate(whole):
                opened = self.read(at, event)
                if opened is not None:
                    self._rest = b"\n\n".join([*whole[number + 1 :], self._rest])
                    return opened
            piece = await self._events.read(1 << 20)
            assert piece, "the stream ended"
            self._rest += piece

    def read(self, at: float, event: bytes) -> Opened | None:
        if b'"type":"ask.opened"' not in event:
            return None
        ask = json.loads(event.partition(b"data: ")[2].splitlines()[0])["ask"]
        return Opened(at, ask["id"], question_in(ask["body"]))

    async def answer(self, opened: Opened) -> None:
        answer = {"answers": [{"labels": ["SQLite"]}]} if opened.question else {"allow": True}
        self._post(f"/api/asks/{opened.name}/answer", {"answer": answer})

    async def settle(self) -> None:
        await self._reply()

    def _post(self, path: str, body: object) -> None:
        content = json.dumps(body).encode()
        self._posting.write(
            f"POST {path} HTTP/1.1\r\n{self._head}content-length: {len(content)}\r\n\r\n".encode() + content
        )

    async def _reply(self) -> dict[str, Any]:
        head = await self._replies.readuntil(b"\r\n\r\n")
        size = next(int(each[15:]) for each in head.lower().split(b"\r\n") if each.startswith(b"content-length:"))
        content = await self._replies.readexactly(size)
        assert head.split()[1].startswith(b"20"), (head, content)
        found: dict[str, Any] = json.loads(content)
        return found


class PeerClient(AskClient):
    """The same for `peer_bot.py`."""

    feed = "/feed"

    def read(self, at: float, event: bytes) -> Opened | None:
        if not event.rpartition(b"data: ")[2].startswith(b"{"):
            return None
        asked = json.loads(event.rpartition(b"data: ")[2])
        return Opened(at, asked["id"], question_in(asked["input"]))

    async def answer(self, opened: Opened) -> None:
        more = {"answers": {opened.question: "SQLite"}} if opened.question else {}
        self._post(f"/answer/{opened.name}", more)


@asynccontextmanager
async def served(name: str, around: Mapping[str, str], program: Path, *words: str) -> AsyncIterator[AskClient]:
    """A server in its own process that prints its address and a token, and a client of it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, program, *words, env=around, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    kind = PeerClient if program == PEER else AskClient
    try:
        base, token = (await process.stdout.readline()).decode().split()
        async with kind(name, int(base.rpartition(":")[2]), token) as client:
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


def around(model: TimedModel, name: str, folder: Path) -> dict[str, str]:
    """Claude's environment. People's Claudes compile their code for speed; those of tests don't live long enough."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    scripted = environment(model.url(name), str(home))
    scripted.pop("BUN_JSC_useDFGJIT", None)
    return scripted


def take_precedence() -> None:
    """With BENCH_FIRST=1, runs before everything else on a busy machine, as does everything that is started from here.

    `nice` doesn't do that: Linux applies it among the processes of one terminal session.
    """
    if os.environ.get("BENCH_FIRST"):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


async def start(client: AskClient, folder: Path, state: Path) -> Path:
    """Starts a session in a hub; returns the folder of its Claude."""
    started = await client.post("/api/sessions", {"say": "Ask.", "project": str(folder)})
    return state / "sessions" / str(started["id"]) / "1"
