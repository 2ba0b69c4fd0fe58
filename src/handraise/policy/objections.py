"""The objection: which rule stands against a call that Claude may make without asking. Never allows anything."""

from collections.abc import Sequence
from datetime import datetime

from handraise.model.rules import Rule
from handraise.policy.calls import FILE_TOOLS, Call
from handraise.policy.decide import Ruling, decide
from handraise.policy.matching import applies
from handraise.policy.paths import Resolve, normpath
from handraise.policy.shell import Opaque, parse


def objection(call: Call, rules: Sequence[Rule], now: datetime, *, resolve: Resolve = normpath) -> Ruling | None:
    """A ruling that denies or asks, if a rule does or might; None where no rule concerns the call.

    What is denied without a rule is denied here as well.
    """
    if call.is_for_people or (call.tool not in FILE_TOOLS and all(rule.decision == "allow" for rule in rules)):
        return None
    ruling = decide(call, rules, now, resolve=resolve)
    if ruling.decision == "allow":
        return None
    if ruling.decision == "deny" or ruling.rules or _may_hide(call, rules, now):
        return ruling
    return None


def _may_hide(call: Call, rules: Sequence[Rule], now: datetime) -> bool:
    """Whether a command that can't be parsed may be one that a rule holds back."""
    if not call.is_shell:
        return False
    command = call.command
    if command is not None and not isinstance(parse(command), Opaque):
        return False
    return any(rule.decision != "allow" and applies(rule, call, now) for rule in rules)
