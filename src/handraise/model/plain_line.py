"""One line of Markdown as plain text, for rows that can't show more. Pure; nobody decides by such a line."""

import re

_BLOCK = re.compile(r"^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_CODE = re.compile(r"(`+)(.+?)\1")
_STRONG = re.compile(r"(\*\*|~~)(?=\S)(.+?)(?<=\S)\1")
# Not the name of a Python file.
_LINED = re.compile(r"(?<!\w)(__)(?=\S)([^_]+)(?<=\S)__(?!\w|\.\w)")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_]+?)(?<=\S)\1(?![\w*])")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}|\s*(?:```|~~~)\s*[\w+-]*\s*|\s*\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*")
_LONGEST = 1000
"""More of a line is never shown."""


def plain_line(line: str) -> str:
    """The words of a line without the signs that would style them; code stays as it is."""
    text = _BLOCK.sub("", line[:_LONGEST], count=1)
    pieces = []
    at = 0
    for code in _CODE.finditer(text):
        pieces += [_unstyled(text[at : code.start()]), code[2]]
        at = code.end()
    return "".join([*pieces, _unstyled(text[at:])]).strip()


def first_plain_line(text: str) -> str:
    """The first line that says something; empty if none does."""
    for line in text.splitlines():
        plain = "" if _RULE.fullmatch(line[:_LONGEST]) else plain_line(line)
        if plain:
            return plain
    return ""


def _unstyled(text: str) -> str:
    if "*" in text or "_" in text or "~" in text:  # most lines have no such sign, and a store writes one for each batch
        for pattern in (_STRONG, _LINED, _EMPHASIS):
            text = pattern.sub(r"\2", text)
    return _LINK.sub(r"\1", text) if "](" in text else text
