"""The `handraise answer` options that answer an ask, quoted for a shell. Pure."""

import json
import re
import shlex
from typing import Any, assert_never

from handraise.model.asks import Ask, Body, Form, Permission, Plan, Prompt, Question
from handraise.model.names import has_hidden_exactly
from handraise.model.trust import Trust
from handraise.present.harmless import one_line
from handraise.texts import t

PLACEHOLDER = "…"
"""To be replaced by the person; sent as it is, it isn't an answer."""
_NUMBERED = re.compile(r"[0-9]+=")


def how_to_answer(ask: Ask) -> list[str]:
    """Commands that answer the ask from another terminal or a script."""
    return [f"handraise answer {ask.id} {each}" for each in _ways(ask.body)]


def offered(body: Body) -> list[str]:
    """All possible answers to this ask, one per line."""
    if isinstance(body, Question):
        several = len(body.questions) > 1
        return [
            line
            for number, prompt in enumerate(body.questions, 1)
            for line in (_heading(number if several else None, prompt), *_choices(number, prompt, several))
        ]
    return [f"  {each}" for each in _ways(body)]


def label_word(label: str, number: int, several: bool) -> str:
    """A label for `--choose`: with its question's number if there are several, to be unambiguous."""
    return shell_word(f"{number}={label}" if several or _NUMBERED.match(label) else label)


def shell_word(text: str) -> str:
    """Quoted for a shell. Hidden characters are written as bytes, which bash, zsh and ksh read back."""
    if text.isprintable() and not has_hidden_exactly(text):
        return shlex.quote(text)
    letters = (
        letter if letter.isascii() and letter.isprintable() and letter not in "'\\" else _escaped(letter)
        for letter in text
    )
    return f"$'{''.join(letters)}'"


def _ways(body: Body) -> list[str]:
    match body:
        case Question(questions):
            several = len(questions) > 1
            return [" ".join(_one_way(number, prompt, several) for number, prompt in enumerate(questions, 1))]
        case Permission(offers=offers):
            lasting = [f"--allow --for {each}" for each in ("session", "always") if each in {o.lasting for o in offers}]
            return ["--allow", *lasting, f"--deny {shlex.quote(t('terminal.answer.reason'))}"]
        case Plan():
            revise = f"--revise {shlex.quote(t('terminal.answer.revision'))}"
            return ["--approve", "--approve --mode acceptEdits", revise, "--outline"]
        case Form(url=str()):
            return ["--done", "--decline", "--dismiss"]
        case Form(schema=schema):
            return [f"--fill {_form(schema)}", "--decline", "--dismiss"]
        case Trust(unreadable=hidden):
            return ["--without", *(() if hidden else ("--trust",)), "--never"]
        case _:
            assert_never(body)


def _one_way(number: int, prompt: Prompt, several: bool) -> str:
    if prompt.options:
        return f"--choose {label_word(prompt.options[0].label, number, several)}"
    return f"--text {f'{number}=' if several else ''}{PLACEHOLDER}"


def _form(schema: dict[str, Any]) -> str:
    """Not valid JSON until every placeholder is replaced: a form is never sent with values that nobody typed."""
    named = schema.get("properties")
    fields = [f"{json.dumps(str(name))}: {PLACEHOLDER}" for name in (named if isinstance(named, dict) else {})]
    return shell_word("{" + ", ".join(fields or [PLACEHOLDER]) + "}")


def _heading(number: int | None, prompt: Prompt) -> str:
    question = one_line(prompt.question)
    text = t("terminal.answer.several", question=question) if prompt.multi_select else question
    return f"  {t('terminal.answer.question', number=number, question=text) if number is not None else text}"


def _choices(number: int, prompt: Prompt, several: bool) -> list[str]:
    chosen = [f"    --choose {label_word(option.label, number, several)}" for option in prompt.options]
    if prompt.is_closed:
        return chosen
    return [*chosen, f"    --text {f'{number}=' if several else ''}{PLACEHOLDER}"]


def _escaped(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "replace"))
