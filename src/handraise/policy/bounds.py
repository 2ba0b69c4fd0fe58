"""The bound: how long and how tangled a command may be before nobody reads it. The parser takes time by the square of
what it does not understand, so this is counted first. Never says what a command means."""

import re

MAX_LENGTH = 20_000
MAX_WORDS = 1_000
MAX_SIGNS = 500
"""Characters of the shell's grammar, but for those in plain quotes and in quoted here-documents."""
MAX_SIGNS_AT_ALL = 4_000

_SIGNS = re.compile(r"[|&;<>(){}\[\]$`\"'\\\n]")
_GRAMMAR = re.compile(r"[|&;<>($`]")
_WORD = re.compile(r"\S+")
# Where nothing odd came before, quotes and here-documents are what they seem.
_PLAIN = re.compile(r"""[^'"\\`#()$<]+|<(?!<)""")
_QUOTED = re.compile(r"""'[^']*'|"[^"\\`$]*"|<<-?[ ]?'(\w+)'[^'"\\`#()$<\n]*\n(?:.*\n)*?\t*\1(?=\n|\Z)""")


def bound_of(command: str) -> str | None:
    """What makes it too long to be read; None if it is not."""
    if len(command) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH:,} characters"
    if len(_GRAMMAR.findall(command)) > MAX_SIGNS_AT_ALL:
        return "it is too complex"
    counted = _without_quoted(command)
    if len(_SIGNS.findall(counted)) > MAX_SIGNS:
        return "it is too complex"
    if len(_WORD.findall(counted)) > MAX_WORDS:
        return f"it has more than {MAX_WORDS:,} words"
    return None


def _without_quoted(command: str) -> str:
    """From the first sign that could mean something else, everything counts."""
    kept: list[str] = []
    at = 0
    while at < len(command) and len(kept) <= 2 * MAX_SIGNS:
        if found := _PLAIN.match(command, at):
            kept.append(found[0])
        elif found := _QUOTED.match(command, at):
            kept.append("'")
        else:
            break
        at = found.end()
    return "".join([*kept, command[at:]])
