"""The language: no text for people uses a word that is out, and lines in Markdown stay short.

Reads the README, the docs, the message files and the help of every command. Starts no program.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from cli.parsing import root
from handraise.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = [*(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")), *ROOT.glob("docs/**/*.md")]
MESSAGES = ROOT / "src" / "handraise" / "texts" / "en"
LONGEST_LINE = 119

BETTER = {
    "agent outside": "external agent",
    "agents outside": "external agents",
    "anew": "again; from the start",
    "are to be": "name what happens: 'are sent', 'will be sent'",
    "at which": "where; when",
    "bell": "notification",
    "entry a line": "entry per line",
    "errand": "task",
    "errands": "tasks",
    "for ever": "no timeout; indefinitely",
    "goes on": "continues",
    "good any more": "valid; 'has expired'",
    "good for": "valid for",
    "good until": "expires",
    "has not moved": "'No response from Claude for 30 s'",
    "hence": "so",
    "henceforth": "from now on",
    "hitherto": "until now",
    "is to be": "name what happens: 'is sent', 'will be sent'",
    "laid over": "overridden by",
    "lay over": "override",
    "lest": "so that … not",
    "lie over": "override",
    "lies over": "overrides",
    "log in": "sign in",
    "log out": "sign out",
    "logged in": "signed in",
    "logged out": "signed out",
    "logs in": "signs in",
    "logs out": "signs out",
    "lost hold of": "lost track of",
    "may look": "read-only; 'can view'",
    "mend": "fix",
    "mended": "fixed",
    "mends": "fixes",
    "no longer good": "expired; no longer valid",
    "not known here": "unrecognized",
    "object a line": "object per line",
    "outside agent": "external agent",
    "outside agents": "external agents",
    "put to a person": "asks someone",
    "put to people": "asks people",
    "put to you": "asks you",
    "said to Claude": "sent to Claude",
    "shall": "will; must",
    "somebody else's": "another person's",
    "taken by Claude": "received by Claude",
    "thereby": "so; this way",
    "therein": "in it",
    "thereof": "of it",
    "time-out": "timeout",
    "time-outs": "timeouts",
    "told": "notified; sent; shown; 'says'",
    "tray": "list of requests",
    "unasked": "without asking",
    "upon": "on",
    "wait for you": "waiting for you",
    "waits for you": "waiting for you",
    "whereby": "so that",
    "wherein": "where",
    "whoever": "anyone who; the person who",
    "whomever": "anyone",
    "whosoever": "anyone who",
    "wished": "wanted; chosen",
}
"""Each word or phrase that is out, with what to write instead."""
FINE = ("terminal bell",)
"""What contains such a word and means something else."""

# Names in code are what they are: a setting's value, a test, a file. Fenced blocks are read like any other text.
_CODE = re.compile(r"(?<!`)``[^\n]+?``(?!`)|(?<!`)`[^`]+`(?!`)")
_TARGET = re.compile(r"\]\([^)\s]*\)")
_PHRASES = "|".join(r"\s+".join(re.escape(word) for word in phrase.split()) for phrase in BETTER)
_OUT = re.compile(rf"\b(?:{_PHRASES})\b", re.IGNORECASE)
_FINE = re.compile("|".join(FINE), re.IGNORECASE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_the_usual_words(page: Path) -> None:
    found = list(complaints(blanked(page.read_text(), _CODE, _TARGET), str(page.relative_to(ROOT))))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_short_lines(page: Path) -> None:
    found = list(long_lines(page.read_text()))
    assert not found, f"{page.relative_to(ROOT)}: wrap these lines: {found}"


def test_the_messages_use_the_usual_words() -> None:
    found = [
        complaint
        for file in sorted(MESSAGES.glob("*.json"))
        for key, message in messages(json.loads(file.read_text()), file.stem)
        for complaint in complaints(message, key)
    ]
    assert not found, "\n".join(found)


def test_the_help_of_every_command_uses_the_usual_words() -> None:
    helps = dict(commands(main, root()))

    assert {"handraise", "handraise run", "handraise token create"} <= set(helps)
    found = [complaint for path, text in helps.items() for complaint in complaints(text, f"{path} --help")]
    assert not found, "\n".join(found)


def test_a_word_that_is_out_is_found_with_its_line_and_a_better_one() -> None:
    text = "A hub starts `anew`.\n[It](anew.md) rings the terminal bell for\never, and starts Anew.\n"

    assert list(complaints(blanked(text, _CODE, _TARGET), "x.md")) == [
        "x.md:2: 'for ever' is out. Better: no timeout; indefinitely",
        "x.md:3: 'Anew' is out. Better: again; from the start",
    ]


def test_a_long_line_is_found_unless_it_is_a_table_or_a_link() -> None:
    link = f"[A page]({'x' * LONGEST_LINE})"
    assert list(long_lines(f"{'x' * LONGEST_LINE}\n| {'x' * LONGEST_LINE} |\n{link}\n")) == []
    assert list(long_lines(f"short\n{'x' * (LONGEST_LINE + 1)}\n")) == [2]


def complaints(text: str, where: str) -> Iterator[str]:
    """A sentence for each word that is out, with its line and what to write instead."""
    for found in _OUT.finditer(blanked(text, _FINE)):
        phrase = " ".join(found[0].split())
        better = next(BETTER[each] for each in BETTER if each.lower() == phrase.lower())
        line = text.count("\n", 0, found.start()) + 1
        yield f"{where}:{line}: {phrase!r} is out. Better: {better}"


def blanked(text: str, *patterns: re.Pattern[str]) -> str:
    """The text with blanks in the place of what matches: every line stays where it is."""
    for pattern in patterns:
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def long_lines(text: str) -> Iterator[int]:
    """The numbers of the lines that are too long. Tables can't be wrapped, and neither can the target of a link."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|") and len(_TARGET.sub("]", line)) > LONGEST_LINE:
            yield number


def messages(content: Any, key: str) -> Iterator[tuple[str, str]]:
    """Every message of a file, with its key."""
    if isinstance(content, str):
        yield key, content
    elif isinstance(content, dict):
        for name, inner in content.items():
            yield from messages(inner, f"{key}.{name}")


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """The help of a command and of those below it."""
    yield context.command_path, context.get_help()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (inner := command.get_command(context, name)) is not None:
                yield from commands(inner, click.Context(inner, info_name=name, parent=context))
