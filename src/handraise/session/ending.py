"""How a session's process exited and why, and the cost limit of a session. Pure."""

from datetime import datetime
from math import ceil

from handraise.model.sessions import Ended
from handraise.session.memory import Memory
from handraise.texts import t

_BY_SIGNAL = 128
"""What a program adds to a signal's number when it catches the signal and then exits."""


def found_nothing(memory: Memory) -> bool:
    """Whether Claude exited at once because the conversation to resume no longer exists.

    It reports that as the result of a turn that never started. Any other failure to start has no result.
    """
    return memory.phase == "starting" and memory.way != "begin" and memory.failed_to_begin


def how_it_ended(memory: Memory, exit_code: int | None, errors: str, now: datetime, fault: str = "") -> Ended:
    """`exit_code` is None if the system could not provide it; `errors` is the end of Claude's stderr.

    `fault` is why we had to end it.
    """
    if memory.alarm:
        return Ended("failed", memory.alarm, now, exit_code, alarm=True)
    if fault:
        return Ended("failed", fault, now, exit_code)
    if memory.stop_reason is not None:
        return Ended("stopped", memory.stop_reason, now, exit_code, memory.stopped_by)
    if exit_code == 0:
        return Ended("finished", t("sessions.ended.finished"), now, exit_code)
    if exit_code is None:
        return Ended("lost", t("sessions.ended.lost"), now)
    killer = _signal(exit_code)
    if killer is not None:
        return Ended("lost", t("sessions.ended.killed", signal=killer), now, exit_code)
    last = errors.strip().splitlines()
    reason = memory.last_error or (last[-1].strip() if last else t("sessions.ended.code", code=exit_code))
    return Ended("failed", reason, now, exit_code)


def _signal(exit_code: int) -> int | None:
    if exit_code < 0:
        return -exit_code
    return exit_code - _BY_SIGNAL if _BY_SIGNAL < exit_code < _BY_SIGNAL + 65 else None


def is_spent(cost_usd: float, limit_usd: float | None) -> bool:
    """Whether the session has reached its cost limit."""
    return limit_usd is not None and cost_usd >= limit_usd


def reason(cost_usd: float, limit_usd: float | None) -> str:
    """Why a session was stopped."""
    return t("sessions.ended.cost", cost=f"{cost_usd:.2f}", limit=f"{limit_usd or 0:.2f}")


def refusal(cost_usd: float, limit_usd: float | None, project: str) -> str:
    """What to do about it; `project` is the name to set the limit for."""
    command = f"handraise project set {project} cost_limit_usd={ceil(2 * cost_usd)}"
    return t("sessions.refused.spent", reason=reason(cost_usd, limit_usd), command=command)
