"""The doubt: why our reading of a command can't be trusted: it is too long, or ambiguous."""

import re
import unicodedata
from collections.abc import Iterator

from tree_sitter import Node, Tree

from handraise.texts import t

MAX_LENGTH = 20_000
MAX_WORDS = 1_000
MAX_SIGNS = 500
"""Characters of the shell's grammar, except in plain quotes and quoted here-documents."""
MAX_SIGNS_AT_ALL = 4_000

_SIGNS = re.compile(r"[|&;<>(){}\[\]$`\"'\\\n]")
_GRAMMAR = re.compile(r"[|&;<>($`]")
_WORD = re.compile(r"\S+")
# Where nothing odd came before, quotes and here-documents are what they seem.
_PLAIN = re.compile(r"""[^'"\\`#()$<]+|<(?!<)""")
_QUOTED = re.compile(r"""'[^']*'|"[^"\\`$]*"|<<-?[ ]?'(\w+)'[^'"\\`#()$<\n]*\n(?:.*\n)*?\t*\1(?=\n|\Z)""")

MAX_DEPTH = 60
_UNUSUAL = re.compile(r"[^ -~\t\n]")
_BLANK = re.compile(rb"(?:[ \t\n]|\\\n)*")
_BLANK_IN_LINE = re.compile(rb"(?:[ \t]|\\\n)*")
_JOINED_LINES = re.compile(r"[^ \t]\\\n")
_RUNS_IN_LEAF = re.compile(rb"(?<!\\)(?:\\\\)*(?:`|\$[({\[])")
_DELIMITER = re.compile(r"""(\w+)|'(\w+)'|"(\w+)"|\\(\w+)""")
_LINES = ("command", "declaration_command", "unset_command")
_LOOSE_TEXT = ("string", "heredoc_body", "heredoc_redirect", "translated_string", "expansion")
_REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
_LEAVES_WITH_TEXT = ("word", "string_content", "heredoc_content", "extglob_pattern", "regex", "heredoc_start")
_EXPANSIONS = ("command_substitution", "simple_expansion", "expansion", "arithmetic_expansion", "string")
# `"$ $(rm x)"` is read by the parser as one strange variable.
_SHAPES = {
    "simple_expansion": re.compile(rb"\$(?:[A-Za-z_]\w*|[0-9*@#?$!_-])"),
    "expansion": re.compile(rb"\$\{.*\}", re.DOTALL),
    "arithmetic_expansion": re.compile(rb"\$\(\(.*\)\)|\$\[.*\]", re.DOTALL),
    "command_substitution": re.compile(rb"\$\(.*\)|`.*`", re.DOTALL),
    "process_substitution": re.compile(rb"[<>]\(.*\)", re.DOTALL),
}
_RESERVED = frozenset(
    b"if then else elif fi for in do done while until case esac function select { } ! [ [[ ]] ] (( ))".split()
)
_STARTS_COMMENT = b" \t\n;&|("


def bound_of(command: str) -> str | None:
    """Why it is too long to parse; None if it isn't."""
    if len(command) > MAX_LENGTH:
        return t("why.doubt.long", most=f"{MAX_LENGTH:,}")
    if len(_GRAMMAR.findall(command)) > MAX_SIGNS_AT_ALL:
        return t("why.doubt.complex")
    counted = _without_quoted(command)
    if len(_SIGNS.findall(counted)) > MAX_SIGNS:
        return t("why.doubt.complex")
    if len(_WORD.findall(counted)) > MAX_WORDS:
        return t("why.doubt.words", most=f"{MAX_WORDS:,}")
    return None


def _without_quoted(command: str) -> str:
    """Without plainly quoted text; from the first ambiguous character on, everything counts."""
    counted: list[str] = []
    at = 0
    while at < len(command) and len(counted) <= 2 * MAX_SIGNS:
        if found := _PLAIN.match(command, at):
            counted.append(found[0])
        elif found := _QUOTED.match(command, at):
            counted.append("'")
        else:
            break
        at = found.end()
    return "".join([*counted, command[at:]])


def doubt_about(command: str) -> str | None:
    """Why the text itself can't be parsed safely; None if it can."""
    if bound := bound_of(command):
        return bound
    for letter in _UNUSUAL.findall(command):
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp"):
            return t("why.doubt.hidden", character=f"U+{ord(letter):04X}")
    if _JOINED_LINES.search(command) or command.startswith("\\\n"):
        return t("why.doubt.continued")
    return None


def doubt_in(tree: Tree, source: bytes) -> str | None:
    """Why the parse can't be trusted; None if it can."""
    root = tree.root_node
    if root.has_error:
        return t("why.doubt.syntax")
    if not (_BLANK.fullmatch(source[: root.start_byte]) and _BLANK.fullmatch(source[root.end_byte :])):
        return t("why.doubt.part")
    for node, depth in _walk(root):
        doubt = t("why.doubt.nested") if depth > MAX_DEPTH else _doubt_in_node(node, source)
        if doubt:
            return doubt
    return None


def _walk(root: Node) -> Iterator[tuple[Node, int]]:
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if depth <= MAX_DEPTH:
            waiting.extend((child, depth + 1) for child in node.children)


def _doubt_in_node(node: Node, source: bytes) -> str | None:
    text = source[node.start_byte : node.end_byte]
    if node.is_missing:
        return t("why.doubt.syntax")
    if node.type == "comment" and node.start_byte and source[node.start_byte - 1] not in _STARTS_COMMENT:
        return t("why.doubt.comment")
    if node.type in _LEAVES_WITH_TEXT and not node.children and _RUNS_IN_LEAF.search(text):
        return t("why.doubt.substitution_in_word")
    if node.type == "command_substitution" and text.lstrip().startswith(b"`") and b"\\" in text:
        return t("why.doubt.backticks")
    if node.type in _SHAPES and not _SHAPES[node.type].fullmatch(text.lstrip(b" \t\n")):
        return t("why.doubt.expansion")
    if node.type == "heredoc_redirect":
        return _doubt_in_heredoc(node, source)
    if node.type == "heredoc_body":
        return _doubt_in_body(node, source)
    if node.type in ("string", "translated_string"):
        return _doubt_in_quoted(node, source)
    if node.type == "command_name" and text in _RESERVED:
        return t("why.doubt.keyword")
    if node.type not in _LOOSE_TEXT:
        return _doubt_in_gaps(node, source)
    return None


def _doubt_in_gaps(node: Node, source: bytes) -> str | None:
    in_line = node.type in _LINES
    for left, right in zip(node.children, node.children[1:], strict=False):
        gap = source[left.end_byte : right.start_byte]
        if not (_BLANK_IN_LINE if in_line else _BLANK).fullmatch(gap):
            return t("why.doubt.part")
        if in_line and not gap and left.type not in _REDIRECTS and right.type not in _REDIRECTS:
            return t("why.doubt.word_end")
        if node.type == "concatenation" and gap:
            return t("why.doubt.word_end")
    return None


def _doubt_in_heredoc(node: Node, source: bytes) -> str | None:
    """The shell ends a here-document at the first line that is its delimiter; our parse must end it there too."""
    found = {child.type: child for child in node.children}
    start, body, end = (found.get(f"heredoc_{name}") for name in ("start", "body", "end"))
    if start is None or body is None or end is None:
        return t("why.doubt.heredoc_open")
    if sum(child.type == "heredoc_redirect" for child in (node.parent or node).children) > 1:
        return t("why.doubt.heredoc_twice")
    delimiter = _DELIMITER.fullmatch(source[start.start_byte : start.end_byte].decode())
    line = source[start.end_byte : body.start_byte].rstrip(b"\t")
    if delimiter is None or line.count(b"\n") != 1 or not line.endswith(b"\n") or b"#" in line:
        return t("why.doubt.heredoc_start")
    rest = source[body.start_byte :].decode().split("\n")
    tabs = node.children[0].type == "<<-"
    name = next(each for each in delimiter.groups() if each)
    ends = [index for index, each in enumerate(rest) if (each.lstrip("\t") if tabs else each) == name]
    read = source[body.start_byte : end.start_byte].count(b"\n")
    return None if ends and ends[0] == read else t("why.doubt.heredoc_end")


def _doubt_in_body(node: Node, source: bytes) -> str | None:
    parent = node.parent
    start = next((child for child in parent.children if child.type == "heredoc_start"), None) if parent else None
    if start is not None and source[start.start_byte : start.start_byte + 1] in (b"'", b'"', b"\\"):
        return t("why.doubt.heredoc_misread") if node.children else None
    return _doubt_in_quoted(node, source)


def _doubt_in_quoted(node: Node, source: bytes) -> str | None:
    """Between the expansions that were parsed, nothing may look like another one."""
    at = node.start_byte
    for child in [*(each for each in node.children if each.type in _EXPANSIONS), None]:
        until = child.start_byte if child else node.end_byte
        if _RUNS_IN_LEAF.search(source[at:until]):
            return t("why.doubt.substitution_in_text")
        at = child.end_byte if child else until
    return None
