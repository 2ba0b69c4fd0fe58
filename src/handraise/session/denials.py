"""Calls that Claude Code denied without asking, and the one retry that a person may allow. Never awaits."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from handraise.inbox import guidance
from handraise.model.answers import Allow
from handraise.model.asks import Answered, Ask, Body, Permission
from handraise.model.audit import Entry
from handraise.model.dangers import Danger
from handraise.model.items import ActionDenied, DenialChanged
from handraise.present.actions import name_action
from handraise.present.dangers import dangers_in_words
from handraise.present.denials import denial_in_words
from handraise.session.commands import AllowDenied, AllowRetry, Command, Publish, WakeMe
from handraise.session.memory import CallPrint, DeniedCall, Memory, RetryApproval
from handraise.texts import t
from handraise.wire import frames

REASON = "A person allowed this call after it was denied."
"""Claude Code gives this as the reason why it asks about the retry."""
_ALLOWABLE = frozenset({"classifier"})
"""Denials by the check of auto mode and of plan mode. In auto mode, Claude Code 2.1.325 doesn't ask about what its
`safetyCheck` denied, even if a hook says so. A mode or a rule is somebody's decision, and stays."""
_PRESSABLE = timedelta(hours=1)
_CURRENT = timedelta(minutes=15)
"""How long an approval waits for the retry."""
_REMEMBERED = 100
_UNDER_WAY = 1000
_LONGEST = 2000
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")


class NotAllowable(Exception):
    """This call can't be allowed, or not any more. The text is a sentence for the person."""


class Denials:
    """Its only state is `memory.prints`, `memory.warnings` and `memory.denied`."""

    def __init__(self, session: str, memory: Memory) -> None:
        self._session = session
        self._memory = memory

    def note(self, use: str, tool: str, fields: Mapping[str, Any], directory: str) -> None:
        """Claude is about to make this call. What identifies it is needed if the call is denied, or is a retry."""
        prints = self._memory.prints
        prints[use] = CallPrint(digest_of_call(tool, fields), directory)
        if len(prints) > _UNDER_WAY:
            del prints[next(iter(prints))]

    def warn(self, use: str, found: Sequence[Danger]) -> None:
        """The dangers of this call: whoever allows a retry should see them."""
        if found:
            self._memory.warnings[use] = dangers_in_words(found)
        if len(self._memory.warnings) > _UNDER_WAY:
            del self._memory.warnings[next(iter(self._memory.warnings))]

    def denied(self, frame: frames.PermissionDenied, now: datetime) -> list[Command]:
        """Claude Code denied a call. What our own rules denied has a card already."""
        memory, use = self._memory, frame.tool_use_id
        if not use or use in memory.denied or memory.calls.get(use) == "deny":
            return []
        begun, identity = memory.actions.get(use), memory.prints.get(use)
        title = begun.title if begun else name_action(frame.tool_name, {})[1]
        cause = frame.decision_reason_type or ""
        until = None
        commands: list[Command] = []
        if cause in _ALLOWABLE and identity is not None and memory.key and not memory.is_ending:
            until = now + _PRESSABLE
            memory.denied[use] = DeniedCall(frame.tool_name, identity, until)
            commands = [*self._forget_oldest(), *self._wait(now)]
        reason = denial_in_words(cause, (frame.decision_reason or "")[:_LONGEST])
        parent = begun.parent if begun else None
        warned = memory.warnings.get(use, ())
        item = ActionDenied(use, title, frame.tool_name, reason, cause[:_LONGEST], until, parent, warned)
        return [Publish(item), *commands]

    def allow(self, wish: AllowDenied) -> list[Command]:
        """A person allows one retry; raises NotAllowable. The second time nothing happens."""
        call = self._memory.denied.get(wish.action)
        if call is None:
            raise NotAllowable(t("sessions.denied.unknown"))
        if call.approval is not None:
            return []
        if wish.at >= call.until:
            raise NotAllowable(t("sessions.denied.expired"))
        call.approval = RetryApproval(wish.by, wish.source, wish.at, wish.at + _CURRENT)
        say = guidance.retry_say(
            self._session, wish.action, _plain(call.tool), self._place(wish.action, call), wish.by, wish.source, wish.at
        )
        detail = {"tool": call.tool, "tool_use": wish.action}
        entry = Entry(
            wish.at, "denied call allowed", wish.by, wish.source, None, self._session, call.print.digest, None, detail
        )
        return [Publish(DenialChanged(wish.action, "allowed", wish.by)), AllowRetry(say, entry), *self._wait(wish.at)]

    def claims(self, use: str, now: datetime) -> bool:
        """Whether a person allowed exactly this call. It holds for the first one: from here on no other has it."""
        identity = self._memory.prints.get(use)
        for call in self._memory.denied.values():
            if identity is not None and call.print == identity and _is_free(call, now):
                call.retry = use
                return True
        return False

    def retried(self, use: str | None, body: Body, now: datetime) -> tuple[RetryApproval | None, list[Command]]:
        """The approval that settles the request about a claimed call: once, and only if the call is still the same."""
        for action, call in self._memory.denied.items():
            if not use or call.retry != use or call.spent or call.approval is None:
                continue
            call.spent = True
            same = isinstance(body, Permission) and digest_of_call(body.tool, body.input) == call.print.digest
            if not same or not call.approval.holds(now):
                return None, [Publish(DenialChanged(action, "over", note=t("sessions.denied.another")))]
            return call.approval, [Publish(DenialChanged(action, "retried", call.approval.by))]
        return None, []

    def resulted(self, use: str) -> list[Command]:
        """A call is over. If it was the retry and Claude Code didn't ask about it, the approval was for nothing."""
        self._memory.prints.pop(use, None)
        self._memory.warnings.pop(use, None)
        over: list[Command] = []
        for action, call in self._memory.denied.items():
            if call.retry == use and not call.spent:
                call.spent = True
                over.append(Publish(DenialChanged(action, "over", note=t("sessions.denied.not_asked"))))
        return over

    def expire(self, now: datetime) -> list[Command]:
        """What was not allowed in time, or not retried in time, is over."""
        due = [action for action, call in self._memory.denied.items() if not call.spent and _ends(call) <= now]
        return [*self._drop(due, t("sessions.denied.expired")), *self._wait(now)]

    def end_all(self) -> list[Command]:
        """Claude is gone, and with it what it was denied."""
        current = [action for action, call in self._memory.denied.items() if not call.spent]
        dropped = self._drop(current, t("sessions.denied.exited"))
        self._memory.denied.clear()
        self._memory.prints.clear()
        self._memory.warnings.clear()
        return dropped

    def _drop(self, actions: list[str], reason: str) -> list[Command]:
        for action in actions:
            del self._memory.denied[action]
        return [Publish(DenialChanged(action, "over", note=reason)) for action in actions]

    def _forget_oldest(self) -> list[Command]:
        if len(self._memory.denied) <= _REMEMBERED:
            return []
        oldest = next(iter(self._memory.denied))
        if self._memory.denied[oldest].spent:
            del self._memory.denied[oldest]
            return []
        return self._drop([oldest], t("sessions.denied.expired"))

    def _wait(self, now: datetime) -> list[Command]:
        ends = [_ends(call) for call in self._memory.denied.values() if not call.spent]
        return [WakeMe("denied", max(0.0, (min(ends) - now).total_seconds()) if ends else None)]

    def _place(self, action: str, call: DeniedCall) -> int:
        """How many calls of the same tool were denied after this one."""
        same = [key for key, each in self._memory.denied.items() if each.tool == call.tool]
        return len(same) - 1 - same.index(action)


def digest_of_call(tool: str, fields: Mapping[str, Any]) -> str:
    """The same for the same tool and input, whatever the order of the input's keys."""
    return sha256(msgspec.json.encode([tool, fields], order="deterministic")).hexdigest()


def settled_by(ask: Ask, approval: RetryApproval | None, now: datetime) -> Ask:
    """The ask, answered by who allowed this very call before, unless a rule has decided."""
    if approval is None or ask.settlement is not None or not isinstance(ask.body, Permission):
        return ask
    why = t("why.allowed_retry", who=approval.by.name)
    return replace(ask, why=why, expires_at=None, settlement=Answered(Allow(), approval.by, approval.source, now))


def _is_free(call: DeniedCall, now: datetime) -> bool:
    return not call.retry and not call.spent and call.approval is not None and call.approval.holds(now)


def _ends(call: DeniedCall) -> datetime:
    return call.approval.until if call.approval else call.until


def _plain(tool: str) -> str:
    """A tool's name for a message in a person's name; nothing that a server could have written there."""
    return tool if _PLAIN.fullmatch(tool) else ""
