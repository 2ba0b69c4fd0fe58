"""The shell word: what one word of a command means without its quotes, if that is known without running it."""

import re

from msgspec import Struct
from tree_sitter import Node

from handraise.texts import t

_QUOTED_ESCAPE = re.compile(r'\\([$`"\\])')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
# Globs and braces expand; `~` does at the start of a word or of a value; zsh reads `=ls` as the path of `ls`.
_EXPANDS = re.compile(r"(?<!\\)(?:\\\\)*[*?\[\]{}]|^[~=]|[=:]~")
# What may be unquoted in a word; with anything else, the parser and the shell could disagree.
_PLAIN = re.compile(r"(?:\\[^\n]|[^\s\\$`'\"|&;<>()])*")
_BECOMES_MANY = re.compile(r"\$@|\$\{[^}]*[@(]")


class UnreadableWord(Exception):
    """The command can't be parsed with certainty; the text says why."""


class Word(Struct, frozen=True):
    """`text` is the word itself if `literal`; otherwise its source, which only the shell can expand."""

    text: str
    literal: bool = True
    is_one: bool = True
    """Whether it stays one word, whatever it becomes: `"$x"` does, `$x` and `"$@"` may be none or many."""


def read_word(node: Node) -> Word:
    """The word that a node spells; raises UnreadableWord."""
    source = _text(node)
    spelled = _spell(node)
    if spelled is not None:
        return Word(spelled)
    return Word(source, False, node.type == "string" and not _BECOMES_MANY.search(source))


def _spell(node: Node) -> str | None:
    """The literal text, or None where the word expands."""
    source = _text(node)
    match node.type:
        case "word" | "number" | "variable_name" | "test_operator":
            return _spell_plain(source)
        case "raw_string":
            return source[1:-1]
        case "ansi_c_string":
            return None if "\\" in source else source[2:-1]
        case "string":
            inner = source[1:-1]
            return None if _expands_inside(node) or "\\\n" in inner else _QUOTED_ESCAPE.sub(r"\1", inner)
        case "command_name":
            return _spell(node.children[0])
        case "concatenation":
            return _spell_joined(node)
        case "simple_expansion" | "expansion" | "command_substitution" | "process_substitution":
            return None
        case "arithmetic_expansion" | "brace_expression" | "array":
            return None
        case _:
            raise UnreadableWord(t("why.doubt.unknown_word", kind=node.type))


def _spell_plain(source: str) -> str | None:
    if not _PLAIN.fullmatch(source):
        raise UnreadableWord(t("why.doubt.word"))
    return None if _EXPANDS.search(source) else _ESCAPE.sub(r"\1", source)


def _spell_joined(node: Node) -> str | None:
    spelled = [_spell(child) for child in node.children]
    if any(each is None for each in spelled):
        return None
    return "".join(each for each in spelled if each is not None)


def _expands_inside(string: Node) -> bool:
    return any(child.type not in ("string_content", '"') for child in string.children)


def _text(node: Node) -> str:
    return (node.text or b"").decode()
