"""The headline: what an ask wants, in one sentence; and how foreign text is quoted in a sentence. Pure.

Backquotes mark machine text: hidden characters are shown, and nothing in it breaks the sentence.
"""

import re
from typing import assert_never

from handraise.model.asks import Ask, Form, Permission, Plan, Question, is_link
from handraise.model.names import has_hidden_exactly, reveal, reveal_exactly
from handraise.model.plain_line import plain_line
from handraise.model.tools import Tool, of_server, tool_named
from handraise.model.trust import Trust
from handraise.texts import t

SHORT = 72
"""The longest quote that a sentence shows in full."""
_HEADING = re.compile(r"#{1,6}\s")
_WORDED = ("write", "edit", "read", "find", "fetch", "search", "agent", "skill")
"""Kinds of tools with their own sentence."""


def headline(ask: Ask, directory: str | None) -> str:
    """On one line, with hidden characters marked; paths are relative to the session's directory."""
    match ask.body:
        case Question(questions):
            return one_line(" · ".join(prompt.question for prompt in questions)) or t("card.question.empty")
        case Permission():
            return _permission(ask.body, directory)
        case Plan(plan=plan):
            title = title_of_plan(plan)
            return t("card.plan_titled", title=title) if title else t("card.plan")
        case Form(message=message, server=server):
            if not message.strip():
                return t("card.form.link" if is_link(ask.body) else "card.form.bare", server=quoted(server))
            return t("card.form.asks", server=quoted(server), message=one_line(message))
        case Trust(directory=named):
            return t("card.trust", directory=quoted(named))
        case _:
            assert_never(ask.body)


def title_of_plan(plan: str) -> str:
    """The heading that a plan starts with, as plain text; empty if it starts with something else."""
    first = next((row for row in plan.splitlines() if row.strip()), "")
    return clipped(quoted(plain_line(first))) if _HEADING.match(first) else ""


def without_marks(text: str) -> str:
    """A headline for a surface that can't style quotes."""
    return text.replace("`", "")


def quoted(text: str) -> str:
    """What a machine reads, on one line, with nothing hidden, and no backquote that would end the quote early."""
    return " ".join(reveal_exactly(text).split()).replace("`", "ˋ")


def one_line(text: str) -> str:
    """Words on one line, with nothing hidden."""
    return " ".join(reveal(text).split())


def is_short(text: str) -> bool:
    """Whether a sentence can quote it in full and unchanged."""
    return 0 < len(text) <= SHORT and "\n" not in text and "`" not in text and not has_hidden_exactly(text)


def clipped(text: str, most: int = SHORT) -> str:
    """For a glance, never for a decision: cut with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def nearby(path: str, directory: str | None) -> str:
    """A path relative to its session's directory."""
    return path.removeprefix(f"{directory}/") if directory else path


def _permission(body: Permission, directory: str | None) -> str:
    tool = tool_named(body.tool)
    subject = tool.subject_of(body.input)
    if tool.kind == "shell":
        return t("card.permission.run", subject=subject) if is_short(subject) else t("card.permission.run_long")
    if tool.kind in _WORDED and (is_short(subject) or (subject and tool.is_about_a_file)):
        return _worded(tool, quoted(nearby(subject, directory)), body)
    server = of_server(body.tool)
    if server is not None:
        return t("card.permission.server", server=quoted(server[0]), tool=quoted(server[1]))
    return t("card.permission.use", tool=quoted(body.tool))


def _worded(tool: Tool, subject: str, body: Permission) -> str:
    if tool.kind != "write":
        return t(f"card.permission.tool.{tool.words}", subject=subject)
    content = body.input.get(tool.editable)
    if not isinstance(content, str):
        return t("card.permission.overwrite", subject=subject)
    if not content:
        return t("card.permission.clear" if body.diff else "card.permission.empty", subject=subject)
    key = "card.permission.create" if is_new(body.diff) else "card.permission.write"
    return t(key, subject=subject, count=lines_of(content))


def lines_of(content: str) -> int:
    """How many lines a text has; an empty one has none."""
    return content.removesuffix("\n").count("\n") + 1 if content else 0


def is_new(diff: str | None) -> bool:
    """Whether a diff only adds: nothing was there before."""
    rows = (diff or "").removesuffix("\n").split("\n")
    return bool(diff) and all(row.startswith(("@@ ", "+", "\\")) for row in rows)
