"""The evidence: everything to decide an ask by, complete, with hidden characters marked. Pure."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, assert_never

from msgspec import Struct, to_builtins

from handraise.model.asks import Ask, Body, Form, Permission, Plan, Question
from handraise.model.names import has_hidden, has_hidden_exactly, reveal, reveal_exactly
from handraise.model.tools import tool_named
from handraise.model.trust import Brought, Trust
from handraise.present.dangers import dangers_in_words
from handraise.present.diffs import DiffFacts, facts_of
from handraise.present.headlines import one_line, quoted
from handraise.present.links import CardLink, link_of
from handraise.texts import t

EvidenceKind = Literal["command", "diff", "plan", "input", "note", "warning", "danger", "piece"]


class Evidence(Struct, frozen=True):
    """One thing to look at. `piece`: one of several, under its label."""

    kind: EvidenceKind
    text: str
    label: str = ""
    facts: DiffFacts | None = None
    """Of a diff: what to know about all of it."""


def evidence(ask: Ask, *, hidden: bool) -> tuple[Evidence, ...]:
    """The evidence in reading order. `hidden`: whether `hides` found something."""
    shown = tuple(_of_body(ask.body))
    return (*shown, Evidence("warning", t("card.evidence.hidden"))) if hidden else shown


def evidence_of_call(tool: str, fields: Mapping[str, Any], dangers: Sequence[str] = ()) -> tuple[Evidence, ...]:
    """Everything that a call would do, whoever decides about it; first its dangers, as sentences."""
    body = Permission(tool, dict(fields))
    shown = (*(Evidence("danger", each) for each in dangers), *_of_permission(body))
    return (*shown, Evidence("warning", t("card.evidence.hidden"))) if hides(body) else shown


def hides(body: Body) -> bool:
    """Whether something in an ask would be invisible if shown as it is."""
    match body:
        case Permission(tool=tool, input=fields, diff=diff, suggestions=suggestions):
            words: object = [body.description, body.reason, fields.get(tool_named(tool).says)]
            exact: object = [tool, body.blocked_path, suggestions]
            if diff is None:
                exact = [exact, {name: each for name, each in fields.items() if name != tool_named(tool).says}]
            else:
                exact = [exact, fields.get(tool_named(tool).path)]
                # CRLF in a file's content is said where the diff is shown. Anywhere else it is a hidden character.
                if any(has_hidden(text.replace("\r\n", "\n")) for text in _texts([fields, diff])):
                    return True
        case Trust():
            words, exact = [], to_builtins(body)
        case _:
            words, exact = to_builtins(body), []
    return any(map(has_hidden, _texts(words))) or any(map(has_hidden_exactly, _texts(exact)))


def as_json(value: object) -> str:
    """JSON for reading and editing."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def brought_in_words(brought: Sequence[Brought]) -> str:
    """What a directory brings, counted: "3 hooks, 1 MCP server"."""
    counts = Counter(each.kind for each in brought)
    return ", ".join(t(f"card.counted.{kind}", count=count) for kind, count in counts.items())


def _of_body(body: Body) -> Iterator[Evidence]:
    match body:
        case Question(questions):
            for option in (option for prompt in questions for option in prompt.options if option.preview):
                yield Evidence("piece", reveal(option.preview or ""), one_line(option.label))
        case Permission():
            yield from _of_permission(body)
        case Plan(plan):
            yield Evidence("plan", reveal(plan))
        case Form(url=str() as url):
            yield from _of_link(link_of(url))
        case Form(schema=schema):
            yield from _fields(schema)
        case Trust():
            yield from _of_trust(body)
        case _:
            assert_never(body)


def _of_permission(body: Permission) -> Iterator[Evidence]:
    for sentence in dangers_in_words(body):
        yield Evidence("danger", sentence)
    if body.diff is None:
        yield from _of_input(body.tool, body.input)
    elif body.diff or not body.diff_note:
        shown = reveal(body.diff)
        yield Evidence("diff", shown, facts=facts_of(body.diff, shown))
    if body.diff_note:
        yield Evidence("note", one_line(body.diff_note))
    # Not `body.description`: if Claude gives none, Claude Code fills in the file name.
    description = body.input.get(tool_named(body.tool).says)
    if isinstance(description, str) and description.strip():
        yield Evidence("note", one_line(description), t("card.evidence.says"))
    if body.reason:
        yield Evidence("note", one_line(body.reason))
    if body.blocked_path:
        yield Evidence("warning", t("card.evidence.outside", path=quoted(body.blocked_path)))


def _of_input(name: str, fields: Mapping[str, Any]) -> Iterator[Evidence]:
    command = fields.get("command")
    tool = tool_named(name)
    if tool.kind not in ("shell", "other") or not isinstance(command, str):
        yield Evidence("input", reveal_exactly(as_json(fields)))
        return
    yield Evidence("command", reveal_exactly(command))
    rest = {key: value for key, value in fields.items() if key not in ("command", tool.says)}
    if rest:
        yield Evidence("input", reveal_exactly(as_json(rest)), t("card.evidence.rest"))


def _fields(schema: Mapping[str, Any]) -> Iterator[Evidence]:
    fields = schema.get("properties")
    for name, field in fields.items() if isinstance(fields, Mapping) else ():
        described = field if isinstance(field, Mapping) else {}
        title, text = described.get("title"), described.get("description")
        label = title if isinstance(title, str) and title.strip() else str(name)
        yield Evidence("piece", reveal(text) if isinstance(text, str) else "", one_line(label))


def _of_link(link: CardLink) -> Iterator[Evidence]:
    label = t("card.evidence.link", host=quoted(link.host)) if link.host else t("card.evidence.address")
    yield Evidence("piece", link.text, label)
    for caution in link.cautions:
        yield Evidence("warning", caution)


def _of_trust(body: Trust) -> Iterator[Evidence]:
    for why in body.unreadable:
        yield Evidence("warning", t("card.evidence.untrusted", why=one_line(why)))
    if body.brought:
        yield Evidence("note", brought_in_words(body.brought))
    for each in body.brought:
        kind = t(f"card.brought.{each.kind}")
        label = t("card.evidence.brought", kind=kind, name=quoted(each.name), path=quoted(each.path))
        yield Evidence("piece", reveal_exactly(each.text), label)
    yield Evidence("note", t("card.evidence.trusting"))


def _texts(value: object) -> Iterator[str]:
    """Every text in a request, including object keys."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() | tuple() as several:
                waiting += several
            case Mapping() as fields:
                waiting += [*fields.keys(), *fields.values()]
