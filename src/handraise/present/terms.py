"""The terms of a request in words: why Claude Code wants a person, and that nothing that lasts can be granted. Pure."""

from handraise.model.asks import Terms
from handraise.present.headlines import quoted
from handraise.texts import t

_WORDED = ("classifier", "rule", "safetyCheck", "sandboxOverride")


def terms_in_words(terms: Terms) -> str:
    """One or two sentences; empty if there is nothing to say."""
    if terms.ask_rule:
        reason = t("why.terms.ask_rule", rule=quoted(terms.ask_rule))
    elif terms.cause in _WORDED:
        reason = t(f"why.terms.cause.{terms.cause}")
    elif terms.person:
        reason = t("why.terms.person")
    else:
        reason = ""
    return " ".join(each for each in (reason, t("why.terms.once") if terms.is_strict else "") if each)
