"""The parsed shell command: every simple command that could run, wherever it is. Never runs anything, and
never guesses: what can't be parsed with certainty is opaque."""

import re
from collections.abc import Iterator
from functools import lru_cache

import tree_sitter_bash
from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Language, Node, Parser

from handraise.policy.doubts import doubt_about, doubt_in
from handraise.policy.shell_words import UnreadableWord, Word, read_word
from handraise.texts import t

MAX_PARTS = 200
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})

_BASH = Language(tree_sitter_bash.language())
_CONTAINERS = frozenset({
    "program", "list", "pipeline", "negated_command", "compound_statement", "subshell", "do_group", "if_statement",
    "elif_clause", "else_clause", "while_statement", "case_statement", "case_item",
    "command_substitution", "process_substitution",
})  # fmt: skip
_WORDS = frozenset({
    "word", "number", "string", "raw_string", "ansi_c_string", "concatenation", "simple_expansion", "expansion",
    "arithmetic_expansion", "brace_expression", "extglob_pattern", "regex", "variable_name", "special_variable_name",
})  # fmt: skip
_RENAMING = frozenset({"alias", "hash", "enable", "autoload", "functions", "disable"})
_PLAIN_EXPANSIONS = frozenset({":-", "-", ":+", "+", ":?", "?", "%", "%%", "#", "##"})
_REDIRECTING = frozenset({"<", ">", ">>", "&>", "&>>", ">&", "<&", ">|", "<>", "<<", "<<<", "file_redirect"})
_ARITHMETIC_NAMES = frozenset({"variable_name", "word", "subscript", "simple_expansion", "expansion"})


class Redirection(Struct, frozen=True):
    """`writes` is true if a file would be created or changed; `target` is None for `2>&1` and here-documents."""

    operator: str
    target: Word | None = None
    writes: bool = False


class Assignment(Struct, frozen=True):
    """`NAME=value`, before a command, alone, or by a loop."""

    name: str
    value: Word


class SimpleCommand(Struct, frozen=True):
    """One simple command. The first word is the program; a word that is not literal there could be any program."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    background: bool = False
    source: str = ""

    @property
    def program(self) -> str | None:
        """The first word, where it is literal."""
        return self.words[0].text if self.words and self.words[0].literal else None


class Script(Struct, frozen=True):
    """A parsed command: all its parts, in the order of the text."""

    parts: tuple[SimpleCommand, ...]


class Opaque(Struct, frozen=True):
    """A command that can't be parsed with certainty, and why."""

    reason: str


@lru_cache(maxsize=64)
def parse(command: str) -> Script | Opaque:
    """Parses a command."""
    doubt = doubt_about(command)
    if doubt:
        return Opaque(doubt)
    source = command.encode()
    tree = Parser(_BASH).parse(source)
    doubt = doubt_in(tree, source)
    if doubt:
        return Opaque(doubt)
    try:
        parts = tuple(_parts(tree.root_node))
    except UnreadableWord as why:
        return Opaque(str(why))
    if any(part.redirections and not (part.words or part.assignments) for part in parts):
        # bash only opens the file; zsh runs a program of its own choice: $NULLCMD, $READNULLCMD.
        return Opaque(t("why.doubt.redirection"))
    return Script(parts) if len(parts) <= MAX_PARTS else Opaque(t("why.doubt.parts", most=MAX_PARTS))


def _parts(node: Node) -> list[SimpleCommand]:
    """Every part of a statement, or of a word in the place of one."""
    match node.type:
        case "command":
            return _command(node)
        case "redirected_statement":
            return _redirected(node)
        case "variable_assignment":
            return [SimpleCommand(assignments=(_assignment(node),), source=_text(node)), *_inside(node)]
        case "variable_assignments":
            return [part for child in node.children for part in _parts(child)]
        case "declaration_command" | "unset_command":
            return _declaration(node)
        case "test_command" | "c_style_for_statement":
            return _test(node)
        case "for_statement":
            return _loop(node)
        case "file_redirect":
            return [SimpleCommand(redirections=(_redirection(node),), source=_text(node)), *_inside(node)]
        case "compound_statement" if node.children[0].type == "((":
            return _test(node)
        case "function_definition":
            raise UnreadableWord(t("why.doubt.function"))
        case kind if kind in _CONTAINERS:
            return _contained(node)
        case kind if kind in _WORDS:
            return _inside(node)
        case "comment":
            return []
        case kind if not node.is_named:
            return []
        case kind:
            raise UnreadableWord(t("why.doubt.unknown_syntax", kind=kind))


def _contained(node: Node) -> list[SimpleCommand]:
    found: list[SimpleCommand] = []
    latest = 0
    for child in node.children:
        if child.type == "&":
            found[latest:] = [replace(part, background=True) for part in found[latest:]]
        elif child.is_named:
            latest = len(found)
            found += _parts(child)
    return found


def _command(node: Node) -> list[SimpleCommand]:
    words: list[Word] = []
    assignments: list[Assignment] = []
    redirections: list[Redirection] = []
    for child in node.children:
        match child.type:
            case "variable_assignment":
                assignments.append(_assignment(child))
            case "file_redirect":
                redirections.append(_redirection(child))
                words += _words_after(child)
            case "herestring_redirect":
                redirections.append(Redirection("<<<"))
            case _:
                words.append(read_word(child))
    part = SimpleCommand(tuple(words), tuple(assignments), tuple(redirections), source=_text(node))
    if part.program in _RENAMING and len(words) > 1:
        raise UnreadableWord(t("why.doubt.renames"))
    return [part, *_inside(node)]


def _redirected(node: Node) -> list[SimpleCommand]:
    redirects = node.children_by_field_name("redirect")
    body = node.child_by_field_name("body")
    parts = _parts(body) if body else [SimpleCommand()]
    words = tuple(word for each in redirects for word in _words_after(each))
    if words and body is not None and body.type != "command":
        raise UnreadableWord(t("why.doubt.words_after"))
    redirections = tuple(_redirection(each) for each in redirects)
    nested = [part for each in redirects for part in _after_heredoc(each)]
    # A here-document is parsed together with the rest of its line, redirections included.
    redirections += tuple(_redirection(each) for one in redirects for each in one.children_by_field_name("redirect"))
    if words or body is None:
        parts[0] = replace(parts[0], words=parts[0].words + words, source=_text(node))
    return [replace(part, redirections=part.redirections + redirections) for part in parts] + nested


def _words_after(redirect: Node) -> list[Word]:
    """`git > f push` is `git push > f`: what follows the target belongs to the command."""
    if redirect.type != "file_redirect":
        return []
    return [read_word(each) for each in redirect.children_by_field_name("destination")[1:]]


def _after_heredoc(redirect: Node) -> list[SimpleCommand]:
    """What runs while a redirection is set up; for a here-document, also what follows it on its line."""
    if redirect.type != "heredoc_redirect":
        return _inside(redirect)
    found: list[SimpleCommand] = []
    for child in redirect.children:
        if child.type in ("heredoc_body", "file_redirect", "herestring_redirect"):
            found += _inside(child)
        elif child.is_named and not child.type.startswith(("heredoc_", "file_descriptor")):
            found += _parts(child)
    return found


def _redirection(node: Node) -> Redirection:
    if node.type != "file_redirect":
        return Redirection("<<<" if node.type == "herestring_redirect" else "<<")
    operator = next(child.type for child in node.children if not child.is_named)
    targets = node.children_by_field_name("destination")
    if not targets:
        return Redirection(operator)
    target = read_word(targets[0])
    if operator in ("<&", ">&") and target.literal and target.text.rstrip("-").isdigit():
        return Redirection(operator + target.text)
    writes = operator not in ("<", "<&") and not (target.literal and target.text in HARMLESS_TARGETS)
    return Redirection(operator, target, writes)


def _assignment(node: Node) -> Assignment:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    return Assignment(_text(name) if name else "", read_word(value) if value else Word(""))


def _declaration(node: Node) -> list[SimpleCommand]:
    words = [Word(_text(node.children[0]))]
    assignments: list[Assignment] = []
    for child in node.children[1:]:
        if child.type == "variable_assignment":
            assignments.append(_assignment(child))
        else:
            words.append(read_word(child))
    return [SimpleCommand(tuple(words), tuple(assignments), source=_text(node)), *_inside(node)]


def _test(node: Node) -> list[SimpleCommand]:
    """`[ … ]`, `[[ … ]]`, `(( … ))`: arithmetic and `-v` run what is in a variable's subscript, so these are
    parts of their own, and only their first word is literal."""
    # In `[ a > f ]` the parser sees a comparison, and the shell writes a file.
    if node.children[0].type == "[" and any(each.type in _REDIRECTING for each in _descendants(node)):
        raise UnreadableWord(t("why.doubt.test_redirects"))
    # `[]` is the name of a program.
    if node.type == "test_command" and not re.fullmatch(r"(\[\[?|\(\()\s.*\s\]\]?|\(\(.*", _text(node), re.DOTALL):
        raise UnreadableWord(t("why.doubt.test_start"))
    words = (Word(node.children[0].type), Word(_text(node), False))
    return [SimpleCommand(words, source=_text(node)), *_inside(node)]


def _loop(node: Node) -> list[SimpleCommand]:
    variable = node.child_by_field_name("variable")
    name = _text(variable) if variable else ""
    return [SimpleCommand(assignments=(Assignment(name, Word("", False)),), source=f"for {name}"), *_contained(node)]


def _inside(node: Node) -> list[SimpleCommand]:
    """What runs while a node's words are expanded."""
    if node.type in ("command_substitution", "process_substitution", "do_group"):
        return _contained(node)
    found = [SimpleCommand((Word(_text(node), False),), source=_text(node))] if _runs_unseen(node) else []
    for child in node.children:
        found += _inside(child)
    return found


def _runs_unseen(node: Node) -> bool:
    """Expansions that can run what a variable holds: `${x@P}`, `$((x))` with `x='a[$(rm y)]'`, zsh's `$x[…]`."""
    match node.type:
        case "arithmetic_expansion":
            return any(child.type in _ARITHMETIC_NAMES for child in _descendants(node))
        case "expansion":
            return not _is_plain(node)
        case "simple_expansion":
            after = node.next_sibling
            return after is not None and after.start_byte == node.end_byte and _text(after).startswith("[")
        case _:
            return False


def _is_plain(expansion: Node) -> bool:
    operators = [_text(child) for child in expansion.children_by_field_name("operator")]
    if any(child.type == "subscript" for child in expansion.children):
        return False
    return len(operators) <= 1 and all(each in _PLAIN_EXPANSIONS for each in operators)


def _descendants(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        children = waiting.pop().children
        yield from children
        waiting += children


def _text(node: Node) -> str:
    return (node.text or b"").decode()
