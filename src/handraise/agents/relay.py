"""`handraise mcp`: carries lines between an agent on stdio and the hub. Speaks no protocol of its own.

Uses only the standard library: one relay runs for each agent, and must start fast and stay small.
"""

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable

from handraise.agents import run_file
from handraise.agents.relay_state import RelayState
from handraise.agents.run_file import BadRunFile, Run
from handraise.client.http import LAST_CHUNK, BadResponse, ResponseParser, chunk, request_head
from handraise.client.state import state_folder

PATH = "/mcp/lines"
_USAGE = """Usage: handraise mcp [--state DIR]

An MCP server on stdio with ask_user and approval_prompt, for any agent.

  --state DIR  The hub's folder. Default: $HANDRAISE_STATE, or the platform's state folder.
"""
_TRY_AGAIN = 0.25
_STUCK = 30.0
_PIECE = 65536
_NO_HUB = (
    "No Handraise hub is running, so nobody can be asked. Continue with your best judgment. "
    "The user can start a hub with: handraise serve"
)


class RelayEnded(Exception):
    """The agent closed its end, or a signal came."""


class LineBuffer:
    """Takes bytes in any pieces, returns whole lines."""

    def __init__(self) -> None:
        self.rest = b""
        """An incomplete last line."""

    def receive(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes, except blank ones."""
        *lines, self.rest = (self.rest + piece).split(b"\n")
        return [line + b"\n" for line in lines if line.strip()]


class Relay:
    """Reads an agent's lines from one descriptor and writes replies to another. `clock` is monotonic."""

    def __init__(
        self, state: str, run: Run | None, agent_in: int, agent_out: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._state = state
        self._run = run
        self._in = agent_in
        self._out = agent_out
        self._conversation = os.urandom(16).hex()
        self._memory = RelayState()
        self._hub: socket.socket | None = None
        self._response = ResponseParser()
        self._from_agent = LineBuffer()
        self._from_hub = LineBuffer()
        self._next_try = 0.0

    def carry(self) -> None:
        """Runs until the agent is gone."""
        try:
            while True:
                self._wait()
        except RelayEnded:
            self._say_goodbye()

    def _wait(self) -> None:
        waiting = select.poll()
        waiting.register(self._in, select.POLLIN | select.POLLHUP)
        if self._hub is not None:
            waiting.register(self._hub, select.POLLIN)
        is_away = self._hub is None and self._memory.is_waiting
        ready = {number for number, _ in waiting.poll(_TRY_AGAIN * 1000 if is_away else None)}
        if self._in in ready:
            self._hear()
        if self._hub is not None and self._hub.fileno() in ready:
            self._receive(self._hub)
        if self._hub is None and self._memory.is_waiting and self._clock() >= self._next_try and not self._connect():
            self._write(self._memory.give_up(self._clock(), _NO_HUB))

    def _hear(self) -> None:
        piece = os.read(self._in, _PIECE)
        if not piece:
            raise RelayEnded
        for line in self._from_agent.receive(piece):
            self._pass_on(line)

    def _pass_on(self, line: bytes) -> None:
        self._memory.hear(line, self._clock())
        if self._hub is None:
            return  # open calls go out with the next connection
        try:
            self._hub.sendall(chunk(line))
        except OSError:
            self._lose()
        else:
            self._memory.sent(line)

    def _receive(self, hub: socket.socket) -> None:
        try:
            piece = hub.recv(_PIECE)
            lines = self._from_hub.receive(self._response.receive(piece))
        except (OSError, BadResponse):
            self._lose()
            return
        if self._response.status not in (None, 200):
            if not piece:
                self._refused()
            return
        heard = [self._memory.tell(line) for line in lines]
        self._write([line for line in heard if line is not None])
        if not piece or self._response.has_ended:
            self._lose()

    def _connect(self) -> bool:
        """Connects, and sends how the conversation started and all open calls."""
        try:
            self._hub = self._reach()
            self._response = ResponseParser()
            self._from_hub = LineBuffer()
            # From here on there was a hub, even if it disconnects immediately.
            opening = self._memory.begin()
            self._hub.sendall(request_head("POST", PATH, self._headers()))
            for line in opening:
                self._hub.sendall(chunk(line))
        except OSError:
            self._lose()
            return False
        return True

    def _reach(self) -> socket.socket:
        if self._run is not None and self._run.socket is None:
            return socket.create_connection((self._run.host, self._run.port), _STUCK)
        own = self._run.socket if self._run is not None else None
        hub = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        hub.settimeout(_STUCK)
        try:
            hub.connect(own or os.path.join(self._state, "hub.sock"))
        except OSError:
            hub.close()
            raise
        return hub

    def _headers(self) -> dict[str, str]:
        headers = {
            "Host": "localhost",
            "Connection": "close",
            "Transfer-Encoding": "chunked",
            "Content-Type": "application/x-ndjson",
            "Handraise-Conversation": self._conversation,
            "Handraise-Directory": os.getcwdb().hex(),
        }
        if self._run is not None:
            headers["Host"] = f"{self._run.host}:{self._run.port}"
            headers["Handraise-Stream"] = self._run.stream_token
            headers["Handraise-Project"] = self._run.project.encode().hex()
        return headers

    def _refused(self) -> None:
        reason = self._from_hub.rest.decode(errors="replace")
        self._lose()
        self._write(self._memory.give_up_all(f"The hub refused this agent: {reason}"))

    def _lose(self) -> None:
        if self._hub is not None:
            self._hub.close()
            self._hub = None
            if self._response.status is not None:
                self._memory.lose(self._clock())
        # A relay that is refused again and again must not spin.
        self._next_try = self._clock() + _TRY_AGAIN

    def _say_goodbye(self) -> None:
        """Ends the body, which says that we won't come back, and gives the hub a moment to read it."""
        if self._hub is None:
            return
        try:
            self._hub.sendall(LAST_CHUNK)
            self._hub.settimeout(1.0)
            while self._hub.recv(_PIECE):
                pass
        except OSError:
            pass
        self._lose()

    def _write(self, lines: list[bytes]) -> None:
        left = b"".join(lines)
        try:
            while left:
                left = left[os.write(self._out, left) :]
        except BrokenPipeError:
            raise RelayEnded from None


def main(arguments: list[str]) -> int:
    """The command; its exit code."""
    state: str | None = None
    match arguments:
        case []:
            pass
        case ["--state", str() as named]:
            state = os.path.expanduser(named)
        case ["--help" | "-h"]:
            sys.stdout.write(_USAGE)
            return 0
        case _:
            sys.stderr.write(_USAGE)
            return 2
    file = os.environ.get(run_file.VARIABLE)
    try:
        run = run_file.load(file) if file else None
    except BadRunFile as error:
        sys.stderr.write(f"handraise: {error}\n")
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    try:
        Relay(state or state_folder(), run, 0, 1).carry()
    except RelayEnded:
        pass
    return 0


def _stop(_number: int, _frame: object) -> None:
    raise RelayEnded
