"""Our end of one conversation with Claude: what came in, what may go out, and which requests are still open."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from handraise.wire import encode, frames
from handraise.wire.decode import decode, decode_many
from handraise.wire.encode import mark
from handraise.wire.frames import ControlCancel, ControlRequest, ControlResponse, Frame, Unreadable
from handraise.wire.lines import HEAD, LIMIT, Line, Lines, TooLong

_LINE = msgspec.json.Decoder(ControlResponse)
_REMEMBERED = 256
"""How many finished requests are remembered, to say precisely what was wrong with a second answer."""


class LocalWireError(Exception):
    """We were about to send something that makes no sense to Claude; nothing was sent."""

    def __init__(self, request_id: str, what: str) -> None:
        super().__init__(f"request {request_id} {what}")
        self.request_id = request_id


class AlreadyAnswered(LocalWireError):
    """The request is already answered."""

    def __init__(self, request_id: str) -> None:
        super().__init__(request_id, "was answered before")


class WasCancelled(LocalWireError):
    """Claude cancelled the request."""

    def __init__(self, request_id: str) -> None:
        super().__init__(request_id, "was cancelled by Claude")


class NeverAsked(LocalWireError):
    """There is no such request, or it finished long ago."""

    def __init__(self, request_id: str) -> None:
        super().__init__(request_id, "is not one that Claude made")


class Received(Struct, frozen=True, gc=False):
    """A frame, its line, and where the line ends in the journal."""

    frame: Frame
    text: bytes
    end: int


class Connection:
    """`receive` takes bytes and returns frames; every `send_…` returns a whole line. `offset`: read so far.

    With a `key`, answers are marked, so that an echo shows whether Claude received ours.
    """

    def __init__(
        self, offset: int = 0, open_requests: Iterable[str] = (), limit: int = LIMIT, key: str | None = None
    ) -> None:
        self._lines = Lines(offset, limit)
        self._open = set(open_requests)
        self._key = key
        self._finished: OrderedDict[str, Literal["answered", "cancelled"]] = OrderedDict()

    @property
    def offset(self) -> int:
        return self._lines.offset

    @property
    def open_requests(self) -> frozenset[str]:
        return frozenset(self._open)

    def receive(self, chunk: bytes) -> list[Received]:
        """The frames that this chunk completes."""
        received = []
        end = self._lines.offset
        for line in self._lines.receive(chunk):
            end += len(line) + 1
            received += self._look_closer(line, end)
        return received

    def receive_frames(self, chunk: bytes) -> list[Frame]:
        """The same without positions, for callers that read a lot."""
        text = self._lines.receive_text(chunk)
        if text is None:
            return [each.frame for each in self.receive(chunk)]
        return decode_many(text, self._take)

    def receive_end(self) -> list[Received]:
        """Claude has exited: an incomplete last line was cut off."""
        rest = self._lines.close()
        if rest is None:
            return []
        text = rest.head if isinstance(rest, TooLong) else rest
        return [Received(Unreadable(frames.CUT_OFF, text[:HEAD], len(rest)), text, self._lines.offset + len(rest))]

    def receive_request(self, request_id: str) -> None:
        """Claude made a request that didn't come as a `ControlRequest`: it listed it as pending."""
        self._finished.pop(request_id, None)
        self._open.add(request_id)

    def receive_cancel(self, request_id: str) -> None:
        """Claude cancelled a request by other means than a `ControlCancel`: see `mcp.Cancelled`."""
        if request_id in self._open:
            self._open.discard(request_id)
            self._remember(request_id, "cancelled")

    def reopen(self, request_id: str) -> None:
        """An answer was written, but Claude has not confirmed it: it may be written again."""
        if self._finished.pop(request_id, None) == "cancelled":
            raise WasCancelled(request_id)
        self._open.add(request_id)

    def is_ours(self, echo: ControlResponse) -> bool:
        """Whether the answer that Claude received was written by this hub, now or before a restart."""
        if not self._key:
            return True
        return echo.mark == mark(self._key, echo.response.request_id, echo.response.response)

    def has_met(self, request_id: str) -> bool:
        """Whether Claude made this request, as far as we remember."""
        return request_id in self._open or request_id in self._finished

    def send_allow(
        self, request_id: str, updated_input: Raw | Mapping[str, Any], permissions: Sequence[Mapping[str, Any]] = ()
    ) -> bytes:
        """Allows the call. The input must be sent along: without it the tool fails."""
        more = {"updatedPermissions": permissions} if permissions else {}
        return self._respond(request_id, {"behavior": "allow", "updatedInput": updated_input, **more})

    def send_deny(self, request_id: str, message: str, *, interrupt: bool = False) -> bytes:
        """Denies the call, with a reason. `interrupt` also ends the turn."""
        more = {"interrupt": True} if interrupt else {}
        return self._respond(request_id, {"behavior": "deny", "message": message, **more})

    def send_filled(self, request_id: str, action: str, content: Mapping[str, Any] | None = None) -> bytes:
        """The answer to a form or a link: accept, decline or cancel."""
        more = {"content": content} if content is not None else {}
        return self._respond(request_id, {"action": action, **more})

    def send_dialog(self, request_id: str, result: str | None) -> bytes:
        """The result of a dialog; None if it was closed without a choice."""
        if result is None:
            return self._respond(request_id, {"behavior": "cancelled"})
        return self._respond(request_id, {"behavior": "completed", "result": result})

    def send_mcp(self, request_id: str, response: Mapping[str, Any]) -> bytes:
        """The reply of an MCP server on our side of the pipe."""
        return self._respond(request_id, {"mcp_response": response})

    def send_unopposed(self, request_id: str) -> bytes:
        """To a hook: no objection, but no permission either. Claude continues as usual."""
        return self._respond(request_id, {})

    def send_objection(self, request_id: str, decision: Literal["deny", "ask"], reason: str) -> bytes:
        """To a hook: block the call, or ask a person first, in any mode."""
        output = {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
        return self._respond(request_id, {"hookSpecificOutput": output})

    def send_refusal(self, request_id: str, error: str) -> bytes:
        """We can't answer this; the tool fails with the text."""
        return self._finish(request_id, encode.control_error(request_id, error))

    def send_say(self, content: str | Sequence[Mapping[str, Any]], uuid: str) -> bytes:
        """A person's message."""
        return encode.user(content, uuid)

    def send_request(self, request_id: str, subtype: str, **fields: object) -> bytes:
        """A request to Claude."""
        return encode.control_request(request_id, subtype, **fields)

    def send_farewell(self, request_id: str) -> bytes:
        """Asks Claude to exit. It ends the turn, saves its transcript and exits, usually within 0.2 s."""
        return self.send_request(request_id, "end_session")

    def _look_closer(self, line: Line, end: int) -> list[Received]:
        if isinstance(line, TooLong):
            return [Received(Unreadable(frames.TOO_LONG, line.head, line.size), line.head, end)]
        return [Received(frame, line, end) for frame in self._take(line)]

    def _take(self, line: bytes) -> list[Frame]:
        found = decode(line)
        for frame in found:
            match frame:
                case ControlRequest(request_id):
                    # A repeated request is open again, whatever happened before: a restarted hub would think so too.
                    self._finished.pop(request_id, None)
                    self._open.add(request_id)
                case ControlCancel(request_id) if request_id in self._open:
                    self._open.discard(request_id)
                    self._remember(request_id, "cancelled")
                case _:
                    pass
        return found

    def _respond(self, request_id: str, response: Mapping[str, Any]) -> bytes:
        line = encode.control_response(request_id, response)
        if self._key:
            # Decoded again: a Raw is still encoded here, and characters that can't be encoded were replaced.
            sent = _LINE.decode(line).response.response
            line = encode.control_response(request_id, response, mark(self._key, request_id, sent))
        return self._finish(request_id, line)

    def _finish(self, request_id: str, line: bytes) -> bytes:
        """Encodes the line before the request counts as answered: what can't be encoded was not sent."""
        if request_id not in self._open:
            match self._finished.get(request_id):
                case "answered":
                    raise AlreadyAnswered(request_id)
                case "cancelled":
                    raise WasCancelled(request_id)
                case None:
                    raise NeverAsked(request_id)
        self._open.discard(request_id)
        self._remember(request_id, "answered")
        return line

    def _remember(self, request_id: str, how: Literal["answered", "cancelled"]) -> None:
        self._finished[request_id] = how
        if len(self._finished) > _REMEMBERED:
            self._finished.popitem(last=False)
