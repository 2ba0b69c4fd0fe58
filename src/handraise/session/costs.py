"""What a session may cost, and the sentence for who wants more of one that has cost it. Pure."""

from math import ceil


def is_spent(cost_usd: float, limit_usd: float | None) -> bool:
    """Whether nothing more may be begun."""
    return limit_usd is not None and cost_usd >= limit_usd


def reason(cost_usd: float, limit_usd: float | None) -> str:
    """Why a session was stopped."""
    return f"it has cost ${cost_usd:.2f}, and the project's limit is ${limit_usd or 0:.2f}"


def refusal(cost_usd: float, limit_usd: float | None, project: str) -> str:
    """What to do about it; `project` is the name by which it can be set."""
    more = f"handraise project set {project} cost_limit_usd={ceil(2 * cost_usd)}"
    return f"The session takes nothing more: {reason(cost_usd, limit_usd)}. Raise the limit first ({more})."
