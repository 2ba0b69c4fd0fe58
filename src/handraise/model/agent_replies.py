"""What an agent reads when its request is settled: fixed texts, and answers in words. Pure."""

from typing import NamedTuple

from handraise.model.answers import Choice, Choices
from handraise.model.asks import Answered, Expired, Settlement, Withdrawn

NO_REASON = (
    "A person denied this and gave no reason. Do not try the same thing in another way; "
    "go on without it, or ask what they want instead."
)
OUTLINE = (
    "The person wants to see the steps before approving. Do not call ExitPlanMode again yet. First write, as a normal "
    "message, a step-by-step outline: each step with the files it touches and how it is checked. Then wait for a reply."
)
NOT_REVISED = "A person sent the plan back and gave no reason. Ask what should change before you show it again."
NOBODY = "Nobody answered in time. Go on with your best judgement where that is safe, and say what you assumed."
NOBODY_ALLOWED = (
    "Nobody answered in time, so this was not allowed. Go on without it, or finish and say what is missing."
)
ASK_USER_EXPIRED = "User did not respond within the timeout period. Proceeding with your best judgment."


class Reply(NamedTuple):
    """What `ask_user` returns to the agent that called it."""

    text: str
    is_error: bool = False


def in_words(choice: Choice) -> str:
    """A choice as Claude reads it: labels joined by commas, then the free text."""
    text = (choice.text or "").strip()
    return ", ".join([*choice.labels, *([text] if text else [])])


def ask_user_reply(settlement: Settlement) -> Reply:
    """The result of `ask_user`, in the words of its specification."""
    match settlement:
        case Answered(answer=Choices((choice, *_))):
            text = (choice.text or "").strip()
            selected = [f"User selected: {', '.join(choice.labels)}"] if choice.labels else []
            return Reply("\n".join([*selected, *([text] if text else [])]))
        case Expired():
            return Reply(ASK_USER_EXPIRED, is_error=True)
        case Withdrawn():
            return Reply("The question was withdrawn.", is_error=True)
        case _:
            return Reply("The answer does not fit the question. Go on with your best judgement.", is_error=True)
