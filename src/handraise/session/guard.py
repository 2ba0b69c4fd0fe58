"""Notices when something bypasses us: a call, a mode or an answer that was not ours. Pure; never raises."""

from handraise.session.memory import Memory
from handraise.texts import t
from handraise.wire import frames
from handraise.wire.connection import Connection
from handraise.wire.frames import ToolResult

HELLO = "handraise-hello"
BYE = "handraise-bye"
_STRICT = frozenset({"default", "plan", "dontAsk"})
"""Claude switches to these by itself; none allows it more than before."""
_INVALID = "hook_callback_failed"
"""How Claude tags its note that a hook's answer was invalid. We never send such an answer."""


class Guard:
    """Its only state is `memory`. A process started by an older hub has no key, and isn't guarded."""

    def __init__(self, memory: Memory, wire: Connection) -> None:
        self._memory = memory
        self._wire = wire

    def notice(self, frame: frames.Frame) -> str | None:
        """What is wrong, as a sentence; None if everything went through us. Called before anyone else sees the
        frame."""
        if not self._memory.key:
            return None
        match frame:
            case frames.ControlResponse():
                return self._echo(frame)
            case frames.User(is_replay=False, message=message) if not isinstance(message.content, str):
                found = [self._result(block) for block in message.content if isinstance(block, ToolResult)]
                return next((each for each in found if each), None)
            case frames.Init(mode=mode) | frames.Status(mode=str() as mode):
                return self._mode(mode)
            case frames.UnknownFrame(type="system", fields=fields) if fields.get("tag") == _INVALID:
                return t("sessions.alarm.answered")
            case _:
                return None

    def is_ahead(self, frame: frames.Frame) -> bool:
        """Whether Claude received an answer with our mark that we don't know of.

        Another hub had this session before and wrote what a person decided, while we were taking over. If the store
        knows of no such decision, it wasn't a hub.
        """
        if not self._memory.key or not isinstance(frame, frames.ControlResponse):
            return False
        pending = self._memory.requests.get(frame.response.request_id)
        return pending is not None and not pending.settled and self._wire.is_ours(frame)

    def _echo(self, frame: frames.ControlResponse) -> str | None:
        request_id = frame.response.request_id
        if request_id in self._memory.wants or request_id in (HELLO, BYE):
            return None
        pending = self._memory.requests.get(request_id)
        if pending is not None and not pending.settled:
            return t("sessions.alarm.answered")
        if self._wire.is_ours(frame):
            return None
        return (
            t("sessions.alarm.answered")
            if pending is not None or self._wire.has_met(request_id)
            else t("sessions.alarm.commanded")
        )

    def _result(self, block: ToolResult) -> str | None:
        """A failed tool reports an error whether it ran or not: then only the echo counts."""
        memory = self._memory
        action = memory.actions.get(block.tool_use_id)
        verdict = memory.calls.pop(block.tool_use_id, None)
        if block.is_error:
            return None
        called = t("sessions.alarm.action", title=action.title) if action else t("sessions.tool")
        if verdict == "deny":
            return t("sessions.alarm.denied", called=called)
        if verdict == "ask" or self._is_open(block.tool_use_id):
            return t("sessions.alarm.unanswered", called=called)
        if verdict is None and action is not None and memory.is_checked:
            return t("sessions.alarm.unchecked", called=called)
        return None

    def _is_open(self, use: str) -> bool:
        """Except for `ask_user`, which is our own tool and changes nothing."""
        pending = [each for each in self._memory.requests.values() if each.tool_use == use and each.call is None]
        return any(not each.settled for each in pending)

    def _mode(self, mode: str) -> str | None:
        if mode in _STRICT or mode in self._memory.granted:
            return None
        return t("sessions.alarm.mode", mode=repr(mode))
