"""A Bot API server on loopback that keeps Telegram's rules, and the people who use it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from surfaces.telegram.chat_methods import ChatMethods
from surfaces.telegram.chats import DEADLINE, Account, FakeChat
from surfaces.telegram.faults import Fault, Faults
from surfaces.telegram.message_methods import MessageMethods
from surfaces.telegram.people import Someone
from surfaces.telegram.rates import RateLimits
from surfaces.telegram.rules import RuleBroken, bad_request
from surfaces.telegram.updates import CONFLICT, WEBHOOK
from surfaces.telegram.wire import (
    BotRequest,
    CallParams,
    WatchedReader,
    envelope,
    read_request,
    refusal,
    response,
    server_error,
)
from surfaces.telegram.world import FakeWorld

TOKEN = "7000000001:AAHk9-made-up-for-tests-0123456789abc"
BOT = Account(7000000001, "Handraise", username="handraise_test_bot", is_bot=True)
POLLING = {"offset", "limit", "timeout", "allowed_updates"}

Answer = tuple[int, str, bytes]


@dataclass(frozen=True)
class ApiCall:
    """A call that was answered: what it asked for, when in Telegram's seconds, and the status."""

    method: str
    params: dict[str, Any]
    at: float
    status: int


class BotApi:
    """The server, for one bot. Telegram's time passes `pace` times as fast as the clock."""

    def __init__(
        self, limits: RateLimits, clock: Callable[[], float], pace: float, restart_conflict: float, token: str
    ) -> None:
        self.world = FakeWorld(BOT, limits, clock, pace)
        self.token = token
        self.base = ""
        """The address, as in the setting `api`."""
        self.faults = Faults()
        self.calls: list[ApiCall] = []
        self.restart_conflict = restart_conflict
        """For how long getUpdates is refused after a poller was cut off, in Telegram's seconds."""
        self.silent = 0
        """How many calls were left without an answer so far."""
        self.control: Callable[[str, dict[str, Any]], Awaitable[Any]] | None = None
        """What answers below `/control/`, if this is a process of its own."""
        self._conflict_until = 0.0
        self._out = False
        self._mistakes: list[Exception] = []
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        tables = {**MessageMethods(self.world).table(), **ChatMethods(self.world).table()}
        self._methods = {name.lower(): method for name, method in tables.items()}

    def someone(self, number: int, first_name: str, last_name: str = "", username: str = "") -> Someone:
        """A new person, who has not yet written to the bot."""
        person = Someone(self.world, Account(number, first_name, last_name, username))
        self.world.private_chat(person.account)
        return person

    def group(self, title: str, *people: Someone, admin: bool = False) -> FakeChat:
        return self._group(self.world.group("group", title, forum=False, admin=admin), people)

    def supergroup(self, title: str, *people: Someone, admin: bool = False) -> FakeChat:
        return self._group(self.world.group("supergroup", title, forum=False, admin=admin), people)

    def forum(self, title: str, *people: Someone, admin: bool = True) -> FakeChat:
        """A supergroup with topics."""
        return self._group(self.world.group("supergroup", title, forum=True, admin=admin), people)

    def upgrade(self, chat: FakeChat) -> FakeChat:
        """A group becomes a supergroup with a new number."""
        return self.world.upgrade(chat)

    def fail(self, method: str, fault: Fault, times: int = 1) -> None:
        """What goes wrong with the next calls of a method (`*` is any)."""
        self.faults.plan(method, fault, times)

    def refuse(self, method: str, code: int, description: str, times: int = 1, **parameters: int) -> None:
        """The next calls of a method are refused with this error."""
        self.faults.plan(method, RuleBroken(code, description, **parameters), times)

    def conflict(self, seconds: float) -> None:
        """getUpdates is refused for so long, in Telegram's seconds."""
        self._conflict_until = self.world.now() + seconds

    @contextmanager
    def outage(self) -> Iterator[None]:
        """No connection works in this time."""
        self._out = True
        self.cut()
        try:
            yield
        finally:
            self._out = False

    def cut(self) -> None:
        """Every open connection breaks."""
        for writer in self._connections.values():
            writer.transport.abort()

    @property
    def refused(self) -> int:
        """How many calls were answered 429 because of the limits."""
        return self.world.meter.refused

    def count(self, method: str, status: int = 200) -> int:
        return sum(each.method == method and each.status == status for each in self.calls)

    async def until(self, find: Callable[[], bool], deadline: float = DEADLINE) -> None:
        """Waits for anything about the server, for example a number of calls."""
        await self.world.changes.until(find, deadline, lambda: f"Last calls: {self.calls[-5:]}")

    async def until_silent(self) -> None:
        """Waits until one more call is left without an answer."""
        before = self.silent
        await self.until(lambda: self.silent > before)

    async def confirmed(self, deadline: float = DEADLINE) -> None:
        """Waits until the bot has confirmed every update."""
        await self.until(lambda: not self.world.updates.unconfirmed, deadline)

    def _group(self, chat: FakeChat, people: tuple[Someone, ...]) -> FakeChat:
        for each in people:
            chat.members[each.number] = each.account
        return chat

    def accept(self) -> asyncio.StreamReaderProtocol:
        """A new connection."""
        reader = WatchedReader(self.world.changes.notify)

        def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
            self._connections[task] = writer
            # A task that is canceled before its first step never gets to close anything itself.
            task.add_done_callback(lambda each: self._connections.pop(each).transport.abort())

        return asyncio.StreamReaderProtocol(reader, serve)

    async def close(self) -> None:
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._mistakes:
            raise self._mistakes[0]

    async def _serve(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not self._out:
                answer = await self._answer(await read_request(reader), reader)
                if answer is None:
                    break
                writer.write(response(*answer))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # a bot that was killed while it called
        except Exception as error:  # a mistake of this server must fail the test, not only the call
            self._mistakes.append(error)

    async def _answer(self, request: BotRequest, reader: WatchedReader) -> Answer | None:
        """Nothing means that the connection breaks."""
        if request.path.startswith("/file/"):
            return self._download(request.path)
        if self.control and request.path.startswith("/control/"):
            return envelope(await self.control(request.path.removeprefix("/control/"), request.params.values))
        prefix, _, name = request.path.removeprefix("/bot").rpartition("/")
        if prefix != self.token:
            return refusal(RuleBroken(401, "Unauthorized"))
        fault = self.faults.next(name)
        if fault == "silent":
            await self._stay_silent(reader)
        if fault in {"silent", "drop"}:
            return self._log(name, request.params, None)
        if fault in {"500", "502"}:
            return self._log(name, request.params, server_error(int(fault)))
        error = fault if isinstance(fault, RuleBroken) else None
        answer = refusal(error) if error else await self._call(name, request.params, reader)
        self._log(name, request.params, answer)
        if fault == "silent-after":
            await self._stay_silent(reader)
        return None if fault in {"silent-after", "drop-after"} else answer

    async def _stay_silent(self, reader: WatchedReader) -> None:
        self.silent += 1
        self.world.changes.notify()
        await reader.hung_up.wait()

    async def _call(self, name: str, params: CallParams, reader: WatchedReader) -> Answer:
        try:
            if name.lower() == "getupdates":
                return envelope(await self._poll(params, reader))
            return envelope(self._perform(name, params))
        except RuleBroken as error:
            return refusal(error)

    def _perform(self, name: str, params: CallParams) -> Any:
        if name.lower() not in self._methods:
            raise RuleBroken(404, "Not Found")
        method, known = self._methods[name.lower()]
        _check_names(params, known)
        return method(params)

    async def _poll(self, params: CallParams, reader: WatchedReader) -> Any:
        _check_names(params, POLLING)
        if self.world.webhook:
            raise RuleBroken(409, WEBHOOK)
        if self.world.now() < self._conflict_until:
            raise RuleBroken(409, CONFLICT)
        self.world.updates.allow(params.json("allowed_updates"))
        if offset := params.integer("offset", 0):
            self.world.updates.confirm(offset)
        limit = min(max(params.integer("limit", 100), 1), 100)
        seconds = min(params.integer("timeout", 0), 50) / self.world.pace
        updates = await self.world.updates.poll(limit, seconds, reader.hung_up.is_set)
        if reader.hung_up.is_set() and self.restart_conflict:
            self.conflict(self.restart_conflict)
        return updates

    def _download(self, path: str) -> Answer:
        name = path.removeprefix(f"/file/bot{self.token}/")
        found = next((each for each in self.world.files.values() if each.path == name), None)
        if found is None:
            return refusal(RuleBroken(404, "Not Found"))
        return 200, "application/octet-stream", found.content

    def _log(self, method: str, params: CallParams, answer: Answer | None) -> Answer | None:
        self.calls.append(ApiCall(method, params.values, self.world.now(), answer[0] if answer else 0))
        self.world.changes.notify()
        return answer


@asynccontextmanager
async def bot_api(
    *,
    limits: RateLimits | None = None,
    clock: Callable[[], float] = time.monotonic,
    pace: float = 1.0,
    restart_conflict: float = 0.0,
    token: str = TOKEN,
    port: int = 0,
) -> AsyncIterator[BotApi]:
    """The server in this process, on any free port."""
    api = BotApi(limits or RateLimits(), clock, pace, restart_conflict, token)
    server = await asyncio.get_running_loop().create_server(api.accept, "127.0.0.1", port)
    api.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        async with server:
            yield api
    finally:
        await api.close()


def _check_names(params: CallParams, known: set[str]) -> None:
    """Telegram ignores what it doesn't know. Here, a misspelled parameter is an error."""
    unknown = params.values.keys() - known - {"parse_mode"}
    unused = {name for name in params.uploads if name not in known and f"attach://{name}" not in params.values.values()}
    if unknown | unused:
        raise bad_request(f"unknown parameters: {', '.join(sorted(unknown | unused))}")
    if params.values.get("parse_mode"):
        raise bad_request("can't parse entities: unsupported parse_mode")
