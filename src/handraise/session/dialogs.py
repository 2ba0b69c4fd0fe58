"""The dialogs of Claude Code itself that Handraise shows, each as a question with fixed options. Pure."""

from collections.abc import Mapping
from typing import Any

from handraise.model.asks import Dialog, Option, Prompt, Question, Terms
from handraise.model.inputs import MalformedInput
from handraise.present.headlines import clipped, one_line
from handraise.texts import t

REFUSAL = "refusal_fallback_prompt"
DECLARED = (REFUSAL,)
"""The kinds that we tell Claude Code we can show. It sends no others, and others may not be answered."""
CANCELLED = "cancelled"
"""What every dialog gives if it is closed without a choice."""
_LONGEST = 100


def body_of_dialog(kind: str, payload: Mapping[str, Any]) -> Question:
    """The question to ask; raises MalformedInput. A kind that isn't declared must not come here."""
    if kind != REFUSAL:
        raise MalformedInput(f"Handraise doesn't show dialogs of kind {kind!r}.")
    return _refusal(payload)


def _refusal(payload: Mapping[str, Any]) -> Question:
    """A model refused the message; another one could try."""
    original, fallback = _name(payload, "originalModel"), _name(payload, "fallbackModel")
    category = _name(payload, "apiRefusalCategory")
    asked = t("card.dialog.refusal.asked", model=original, other=fallback)
    if category:
        asked = t("card.dialog.refusal.category", asked=asked, category=category)
    guidance = payload.get("guidanceText")
    if isinstance(guidance, str) and guidance.strip():
        asked = f"{asked} {guidance.strip()}"
    options = {
        "retry_fallback": _option("retry", model=fallback),
        "edit_prompt": _option("edit"),
        CANCELLED: _option("dismiss"),
    }
    return Question(
        (Prompt(asked, t("card.dialog.header"), tuple(options.values()), closed=True),),
        terms=Terms(person=True),
        dialog=Dialog(REFUSAL, tuple(options)),
    )


def _option(name: str, **names: str) -> Option:
    return Option(t(f"card.dialog.refusal.{name}.label", **names), t(f"card.dialog.refusal.{name}.detail", **names))


def _name(payload: Mapping[str, Any], field: str) -> str:
    """A name on one line, hidden characters marked."""
    value = payload.get(field)
    name = clipped(one_line(value), _LONGEST) if isinstance(value, str) else ""
    return name or ("" if field == "apiRefusalCategory" else t("card.dialog.refusal.unnamed"))
