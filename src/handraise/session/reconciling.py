"""Compares the requests that are open here with those that Claude says it waits on. Never awaits."""

from datetime import datetime
from typing import Any

from handraise.model.items import Notice
from handraise.session.commands import Command, Publish, WakeMe, Withdraw, Write
from handraise.session.dialogs import DECLARED
from handraise.session.memory import Memory
from handraise.session.pending import PendingRequests
from handraise.texts import t
from handraise.wire.connection import Connection
from handraise.wire.decode import pending_requests
from handraise.wire.frames import Acknowledged, ControlRequest

INITIALIZE = "initialize"
ABILITIES: dict[str, Any] = {"forwardSubagentText": True, "supportedDialogKinds": DECLARED}
"""What we can show. A Claude that doesn't know one of them ignores it."""
DIFFERS = "reattached"
"""What a notice about a difference is about."""
SOON = 5.0
"""How long after Claude says that it waits its request must have come, in seconds."""
_WAITS = "requires_action"


class Reconciliation:
    """A second `initialize` is answered with what is pending. Its only state is `memory`.

    It carries no hooks: those of the first one stay in force. Claude Code 2.1.325 replaces hooks that are sent
    again, and fails every call whose check is still open.
    """

    def __init__(self, memory: Memory, wire: Connection, waiting: PendingRequests) -> None:
        self._memory = memory
        self._wire = wire
        self._waiting = waiting

    def begin(self) -> Command:
        """Asks Claude. Only what is open by now can be missing from its answer; a later request may have come too late
        for it."""
        memory = self._memory
        memory.wants_made += 1
        request_id = f"handraise-{memory.wants_made}"
        memory.wants[request_id] = (INITIALIZE, "")
        still_open = [key for key, each in memory.requests.items() if each.is_permission and not each.settled]
        memory.reconciling, memory.open_then = request_id, still_open
        return Write(self._wire.send_request(request_id, INITIALIZE, **ABILITIES))

    def claimed(self, state: str) -> list[Command]:
        """Claude's own state. The request that it waits on follows immediately; if it doesn't, something is wrong."""
        before, self._memory.says_it_waits = self._memory.says_it_waits, state == _WAITS
        if before == self._memory.says_it_waits:
            return []
        return [WakeMe("unknown wait", None if before else SOON)]

    def question(self) -> list[Command]:
        """Claude has waited for a while: if nothing is open here, people should know, and Claude may say what it is."""
        memory = self._memory
        if not memory.says_it_waits or memory.requests or memory.reconciling or memory.is_ending:
            return []
        return [Publish(Notice("warning", t("sessions.notice.unknown_wait"), DIFFERS)), self.begin()]

    def compare(self, answer: Acknowledged, now: datetime) -> list[Command]:
        """What differs, and a notice for each. An answer without a list means nothing: it is an older Claude."""
        memory = self._memory
        if answer.request_id != memory.reconciling:  # an earlier hub asked; ours was asked later
            return []
        open_then, memory.reconciling, memory.open_then = memory.open_then, "", []
        listed, is_complete = pending_requests(answer.pending_permission_requests)
        if answer.subtype != "success" or memory.is_ending:
            return []
        commands = [command for request in listed for command in self._raise(request, now)]
        if is_complete:
            waits = {request.request_id for request in listed}
            commands += [command for key in open_then if key not in waits for command in self._withdraw(key)]
        return commands

    def _raise(self, request: ControlRequest, now: datetime) -> list[Command]:
        request_id = request.request_id
        if request_id in self._memory.requests or self._wire.has_met(request_id):
            return []
        self._wire.receive_request(request_id)
        notice = Notice("warning", t("sessions.notice.unknown_pending"), DIFFERS)
        return [Publish(notice), *self._waiting.begin(request_id, request.request, now)]

    def _withdraw(self, request_id: str) -> list[Command]:
        pending = self._memory.requests.get(request_id)
        if pending is None or pending.settled:  # answered or cancelled in the meantime
            return []
        del self._memory.requests[request_id]
        self._wire.receive_cancel(request_id)
        notice = Notice("warning", t("sessions.notice.no_longer_pending"), DIFFERS)
        return [Withdraw(pending.ask, t("sessions.withdrawn.no_longer_pending")), Publish(notice)]
