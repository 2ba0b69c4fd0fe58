"""The headline: what an ask wants, in one sentence. Pure; backquotes mark what a machine said."""

from typing import assert_never

from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.model.tools import Tool, of_server, tool_named
from handraise.model.trust import Trust
from handraise.present.quotes import is_short, nearby, one_line, quoted
from handraise.texts import t

_WORDED = ("write", "edit", "read", "find", "fetch", "search", "agent", "skill")
"""Kinds of tools with their own sentence."""


def headline(ask: Ask, directory: str | None) -> str:
    """On one line, with hidden characters marked; paths are relative to the session's directory."""
    match ask.body:
        case Question(questions):
            return one_line(" · ".join(prompt.question for prompt in questions)) or t("card.question.empty")
        case Permission():
            return _permission(ask.body, directory)
        case Plan():
            return t("card.plan")
        case Form(message=message, server=server):
            if not message.strip():
                return t("card.form.bare", server=quoted(server))
            return t("card.form.asks", server=quoted(server), message=one_line(message))
        case Trust(directory=named):
            return t("card.trust", directory=quoted(named))
        case _:
            assert_never(ask.body)


def without_marks(text: str) -> str:
    """A headline for a surface that can't style quotes."""
    return text.replace("`", "")


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
    key = "card.permission.create" if is_new(body.diff) else "card.permission.write"
    return t(key, subject=subject, count=lines_of(body.input.get(tool.editable)))


def lines_of(content: object) -> int:
    """How many lines a text has; an empty one has none."""
    return content.removesuffix("\n").count("\n") + 1 if isinstance(content, str) and content else 0


def is_new(diff: str | None) -> bool:
    """Whether a diff only adds: nothing was there before."""
    rows = (diff or "").removesuffix("\n").split("\n")
    return bool(diff) and all(row.startswith(("@@ ", "+", "\\")) for row in rows)
