"""Why Claude Code denied an action without asking, and what became of it, as people read it. Pure."""

from handraise.model.items import DenialChanged
from handraise.texts import t

_BECAUSE = {"classifier": "classifier", "safetyCheck": "safety_check"}
_PLAIN = {**_BECAUSE, "mode": "mode", "rule": "rule"}


def denial_in_words(cause: str, reason: str) -> str:
    """A sentence; `reason` is Claude Code's own, and may be anything."""
    if not reason or cause in ("mode", "rule"):
        return t(f"card.denial.plain.{_PLAIN.get(cause, 'unnamed')}")
    return t(f"card.denial.because.{_BECAUSE.get(cause, 'unnamed')}", reason=reason)


def change_in_words(change: DenialChanged) -> str:
    """What became of a denied action, in a sentence."""
    who = change.by.name if change.by else ""
    match change.state:
        case "allowed":
            return t("card.denial.allowed", who=who)
        case "retried":
            return t("card.denial.retried", who=who)
        case "over":
            return change.note
