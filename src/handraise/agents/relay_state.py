"""What a relay remembers of its conversation, so that another hub can continue it. Pure; time is an argument.

Uses only the standard library: one relay runs for each agent, and must start fast and stay small.
"""

import json

from handraise.model.own_tools import APPROVAL_PROMPT, APPROVAL_PROMPT_TOOL, ASK_USER_TOOL, SERVER

LONGEST_AWAY = 600.0
"""How long a call that a hub had received waits for the next hub."""
SHORTLY_AWAY = 5.0
"""How long a call that came while the hub was away waits for it."""
_METHOD_NOT_FOUND = -32601


class OpenCall:
    """A request without a reply."""

    __slots__ = ("line", "message", "since", "was_sent")

    def __init__(self, line: bytes, message: dict[str, object], since: float) -> None:
        self.line = line
        self.message = message
        self.since = since
        self.was_sent = False


class RelayState:
    """Lines pass through it in both directions. A reply to no open call is dropped: the agent already has it."""

    def __init__(self) -> None:
        self._open: dict[str, OpenCall] = {}
        self._hello: bytes | None = None
        self._ready: bytes | None = None
        self._knew_a_hub = False

    @property
    def is_waiting(self) -> bool:
        return bool(self._open)

    def hear(self, line: bytes, now: float) -> None:
        """A line from the agent."""
        message = _read(line)
        method = message.get("method")
        if method == "notifications/initialized":
            self._ready = line
        elif method == "notifications/cancelled":
            params = message.get("params")
            self._open.pop(_key(params.get("requestId") if isinstance(params, dict) else None), None)
        elif "id" in message and isinstance(method, str):
            self._open[_key(message["id"])] = OpenCall(line, message, now)

    def begin(self) -> list[bytes]:
        """What a hub needs first: how the conversation started, and open calls."""
        self._knew_a_hub = True
        before = [each for each in (self._hello, self._ready) if each is not None]
        for each in self._open.values():
            each.was_sent = True
        return before + [each.line for each in self._open.values()]

    def sent(self, line: bytes) -> None:
        """A line was sent to the hub."""
        for each in self._open.values():
            if each.line is line:
                each.was_sent = True

    def tell(self, line: bytes) -> bytes | None:
        """A line from the hub; None if the agent already has it."""
        message = _read(line)
        if "method" in message or "id" not in message:
            return line
        asked = self._open.pop(_key(message["id"]), None)
        if asked is None:
            return None
        if "result" in message:
            self._remember(asked)
        return line

    def lose(self, now: float) -> None:
        """The hub is gone: the calls it had received wait from here on."""
        for each in self._open.values():
            if each.was_sent:
                each.since = now

    def give_up(self, now: float, reason: str) -> list[bytes]:
        """Our own replies to calls that have waited too long for a hub."""
        return self._give_up(
            [key for key, each in self._open.items() if now >= each.since + self._patience(each)], reason
        )

    def give_up_all(self, reason: str) -> list[bytes]:
        """The hub refuses us: replies to all open calls."""
        return self._give_up(list(self._open), reason)

    def _give_up(self, keys: list[str], reason: str) -> list[bytes]:
        given_up = [self._open.pop(key) for key in keys]
        for each in given_up:
            self._remember(each)
        return [_reply(each, reason) for each in given_up]

    def _remember(self, asked: OpenCall) -> None:
        """Remembers how the conversation started, once accepted: a refused handshake would start another one."""
        if asked.message["method"] == "initialize":
            self._hello = asked.line

    def _patience(self, each: OpenCall) -> float:
        if each.was_sent:
            return LONGEST_AWAY
        return SHORTLY_AWAY if self._knew_a_hub else 0.0


def _read(line: bytes) -> dict[str, object]:
    """The message; the hub answers lines that can't be parsed."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _key(request_id: object) -> str:
    return json.dumps(request_id)


def _reply(asked: OpenCall, reason: str) -> bytes:
    """Without a hub: completes the handshake, lists the tools, and says for each call why nobody is asked."""
    request_id, method = asked.message["id"], asked.message["method"]
    params = asked.message.get("params")
    arguments = params if isinstance(params, dict) else {}
    match method:
        case "initialize":
            version = arguments.get("protocolVersion")
            about = {"name": SERVER, "version": "0"}
            result: dict[str, object] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            result = {"tools": [ASK_USER_TOOL, APPROVAL_PROMPT_TOOL]}
        case "ping":
            result = {}
        case "tools/call":
            result = _refused(arguments.get("name"), reason)
        case _:
            error = {"code": _METHOD_NOT_FOUND, "message": reason}
            return _line({"jsonrpc": "2.0", "id": request_id, "error": error})
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def _refused(tool: object, reason: str) -> dict[str, object]:
    denies = tool == APPROVAL_PROMPT
    text = json.dumps({"behavior": "deny", "message": reason}) if denies else reason
    return {"content": [{"type": "text", "text": text}], "isError": not denies}


def _line(message: dict[str, object]) -> bytes:
    return json.dumps(message).encode() + b"\n"
