"""Messages to Claude about what it missed: a late answer, or how a lost conversation started. Pure."""

from datetime import datetime
from typing import assert_never
from uuid import NAMESPACE_URL, uuid5

from handraise.model.actors import Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Dialog, Form, Permission, Plan, Question, is_dialog
from handraise.model.sessions import Say
from handraise.model.trust import Trust

FROM_HUB = "hub"
_QUOTED = 4000
_REMINDER = (
    "Your record of this conversation is lost. It started with the message below, which was handled before: "
    "do none of it again unless someone asks you to. The next message is the one to work on."
)
_LATE = "You asked earlier and nobody answered in time. This is the late answer."
_MISSED = "You asked something before you were interrupted, and it was answered."
_RETRY = (
    "I allow the {which}. Try it again once, with exactly the same input. "
    "This is for that call only; anything else is checked as usual."
)
_IDS = {
    _LATE: "You asked earlier, and nobody answered in time. This is the late answer.",
    _MISSED: "Before you were interrupted you asked something, and it was answered.",
}
"""What the ids of such messages are made from. It never changes: a message from an older hub would be sent twice."""


def concerns_claude(ask: Ask) -> bool:
    """Whether Claude itself waited for it: not for trust in a directory, nor for a dialog of Claude Code."""
    return ask.kind != "trust" and not is_dialog(ask.body)


def late_say(ask: Ask, answered: Answered) -> Say:
    """A late answer as a message. Its id comes from the ask, so that it is sent once."""
    return _say(ask, answered, _LATE)


def missed_say(ask: Ask, answered: Answered) -> Say:
    """An answer that Claude exited before receiving."""
    return _say(ask, answered, _MISSED)


def reminder_say(opening: Say, turn: int, now: datetime) -> Say:
    """How the conversation started, for a Claude that lost it after so many turns. Sent once for each loss."""
    blocks = [{"type": "text", "text": opening.content}] if isinstance(opening.content, str) else opening.content
    words = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip()
    quoted = words if len(words) <= _QUOTED else words[:_QUOTED] + " […]"
    identity = str(uuid5(NAMESPACE_URL, f"handraise:{opening.session}:anew:{turn}"))
    return Say(identity, opening.session, f"{_REMINDER}\n\n{quoted}", TheHub(), FROM_HUB, now)


def retry_say(session: str, action: str, tool: str, later: int, by: Person, source: str, at: datetime) -> Say:
    """A person lets Claude retry a denied call. Its id comes from the call, so that it is sent once.

    It names the call by its tool and by how many calls of that tool were denied after it, never by its input: Claude
    wrote that, and Claude Code's check reads this message as a person's own words.
    """
    called = f"{tool} call" if tool else "call"
    which = f"last denied {called}" if not later else f"denied {called} before the last {later}"
    identity = str(uuid5(NAMESPACE_URL, f"handraise:{session}:retry:{action}"))
    return Say(identity, session, _RETRY.format(which=which), by, source, at)


def _say(ask: Ask, answered: Answered, why: str) -> Say:
    text = f"{why}\n\n{_asked(ask)}\n{_answered(ask, answered.answer)}"
    identity = str(uuid5(NAMESPACE_URL, f"handraise:{ask.id}:{_IDS[why]}"))
    return Say(identity, ask.session or "", text, answered.by, answered.source, answered.at)


def _asked(ask: Ask) -> str:
    match ask.body:
        case Question(dialog=Dialog()):
            return "Claude Code asked the person:"
        case Question():
            return "You asked a question:"
        case Permission(tool=tool, description=description):
            return f"You wanted to use {tool}{f' ({description})' if description else ''}."
        case Plan():
            return "You showed a plan."
        case Form(message=message, server=server, url=str()):
            return f"The MCP server {server} asked the person to visit a link: {message}"
        case Form(message=message, server=server):
            return f"The MCP server {server} asked for a form: {message}"
        case Trust(directory=directory):
            return f"Handraise asked whether to trust {directory}."
        case _:
            assert_never(ask.body)


def _answered(ask: Ask, answer: Answer) -> str:
    match answer:
        case Choices(answers):
            prompts = ask.body.questions if isinstance(ask.body, Question) else ()
            lines = []
            for prompt, choice in zip(prompts, answers, strict=True):
                words = ", ".join([*choice.labels, *([choice.text] if choice.text else [])])
                lines.append(f"- {prompt.question} — {words}")
            return "\n".join(lines)
        case Allow(input=changed):
            also = f" with this input: {changed}" if changed else ""
            return f"It is allowed{also}. If you still need it, ask again: a late answer does not run anything."
        case Deny(message):
            return f"It is denied. {message}".strip()
        case Approve(mode, plan):
            also = f" with these changes:\n{plan}" if plan else ""
            return f"The plan is approved (mode {mode}){also}. Show it again if you are still in plan mode."
        case Revise(message):
            return f"The plan is sent back. {message}".strip()
        case Outline():
            return "Write a step-by-step outline as a normal message first."
        case Filled(action, content):
            return f"The answer: {action} {content or ''}".strip()
        case Trusting():
            return "This was for Handraise, not for you."
        case _:
            assert_never(answer)
