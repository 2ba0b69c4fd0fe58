"""Markdown, as Claude writes it, as formatted text. Pure.

Nothing of it disappears: what has no form in Telegram is shown as it was written. Hidden characters are marked.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from msgspec.structs import replace

from handraise.model.names import reveal
from handraise.surfaces.telegram.formatted import (
    Formatted,
    bold,
    code,
    italic,
    join,
    link,
    pre,
    quote,
    strike,
)

LONGEST_MARKDOWN = 200_000
"""Longer text is not read as Markdown."""
LONGEST_LINK = 2000
# Raw HTML and definitions of links would be invisible: they are text.
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")
_LINE_END = re.compile(r"\r\n?")
_ADDRESS = re.compile(r"(?:https?://)?((?:[\w-]+\.)+[a-z]{2,}|xn--[\w.-]+)", re.IGNORECASE)
_LONGEST_NAME = 300
"""A longer label is no name of a host, and not worth a look for one."""
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_RULE = "———"
_BULLET = "• "
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def from_markdown(text: str) -> Formatted:
    """The text with its formatting."""
    if len(text) > LONGEST_MARKDOWN:
        return Formatted(_shown(_LINE_END.sub("\n", text)))
    source = _LINE_END.sub("\n", text)
    tokens = _PARSER.parse(source)
    lines = source.split("\n")
    for each in tokens:
        if each.type == "table_open" and each.map:
            each.meta["source"] = "\n".join(lines[slice(*each.map)])
    return join("\n\n", _blocks(SyntaxTreeNode(tokens).children))


def _shown(text: str) -> str:
    return reveal(_SPACES.sub(" ", text))


def _blocks(nodes: Iterable[SyntaxTreeNode]) -> Iterator[Formatted]:
    for node in nodes:
        block = _block(node)
        if block.text:
            yield block


def _block(node: SyntaxTreeNode) -> Formatted:
    match node.type:
        case "paragraph":
            return _inlines(node)
        case "heading":
            return bold(_inlines(node))
        case "fence" | "code_block":
            return _fence(node)
        case "blockquote":
            return quote(join("\n\n", _blocks(node.children)))
        case "bullet_list" | "ordered_list":
            return _list(node)
        case "table":
            return _table(node)
        case "hr":
            return Formatted(_RULE)
        case _:
            return Formatted(_shown(node.content)) if node.content else join("\n\n", _blocks(node.children))


def _fence(node: SyntaxTreeNode) -> Formatted:
    info = _shown(node.info.strip()) if node.type == "fence" else ""
    body = _shown(node.content.rstrip("\n"))
    if not body.strip():
        return Formatted(body.strip() or info)
    if _LANGUAGE.fullmatch(info):
        return pre(body, info)
    return join("\n", [*([info] if info else []), pre(body)])


def _list(node: SyntaxTreeNode) -> Formatted:
    # Only the first line of an item is indented: screens are narrow, and blanks before code would be copied with it.
    depth = sum(each.type in ("bullet_list", "ordered_list") for each in _above(node))
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    items = []
    for number, item in enumerate(node.children):
        mark = _BULLET if first is None else f"{first + number}. "
        items.append("   " * depth + mark + join("\n", _blocks(item.children)))
    return join("\n", items)


def _above(node: SyntaxTreeNode) -> Iterator[SyntaxTreeNode]:
    while node.parent is not None:
        node = node.parent
        yield node


def _table(node: SyntaxTreeNode) -> Formatted:
    rows = [
        [_inlines(cell).text.replace("\n", " ") for cell in row.children] for row in node.walk() if row.type == "tr"
    ]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = [" │ ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines.insert(1, "─┼─".join("─" * width for width in widths))
    shown, source = "\n".join(line.rstrip() for line in lines), _shown(str(node.meta.get("source", "")))
    # Markdown leaves out surplus cells, and code can't have links: then the table is shown as it was written.
    return pre(source if _letters(source) > _letters(shown) else shown)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(cell: str) -> int:
    """In columns: wide characters take two, combining ones none."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter) for letter in cell
    )


def _inlines(node: SyntaxTreeNode) -> Formatted:
    return join("", (_inline(child) for child in node.children))


def _inline(node: SyntaxTreeNode) -> Formatted:
    match node.type:
        case "strong":
            return bold(_inlines(node))
        case "em":
            return italic(_inlines(node))
        case "s":
            return strike(_inlines(node))
        case "code_inline":
            return code(_shown(node.content))
        case "softbreak" | "hardbreak":
            return Formatted("\n")
        case "link":
            return _link(_inlines(node), str(node.attrs.get("href", "")), str(node.attrs.get("title", "")))
        case "image":
            return _link(_inlines(node), str(node.attrs.get("src", "")), str(node.attrs.get("title", "")))
        case "inline":
            return _inlines(node)
        case _:
            return Formatted(_shown(node.content)) if node.content else _inlines(node)


def _link(label: Formatted, target: str, title: str) -> Formatted:
    """What can be opened is a link; anything else is shown beside its label."""
    shown = _shown(target)
    after = f" “{_shown(title)}”" if title else ""
    host = _host(target)
    if host is None:
        extra = "" if label.text == shown else f" ({shown})" if label.text else shown
        return label + extra + after
    if not label.text:
        return link(shown, target) + after
    # Telegram combines no link with code, and the link says more.
    shown_label = replace(label, entities=tuple(each for each in label.entities if each.type != "code"))
    return link(shown_label, target) + (f" ({host})" if _misleads(label.text, host) else "") + after


def _host(target: str) -> str | None:
    """The host of a link that Telegram can open, as it is looked up: foreign letters that look alike don't hide."""
    try:
        parts = urlsplit(target)
        host = (parts.hostname or "").encode("idna").decode()
    except (ValueError, UnicodeError):
        return None
    usable = parts.scheme in ("http", "https") and "." in host and len(target) <= LONGEST_LINK and target.isascii()
    return host if usable else None


def _misleads(label: str, host: str) -> bool:
    """Whether the label looks like an address, and the link leads elsewhere."""
    if len(label) > _LONGEST_NAME:
        return True
    named = [found[1].lower().removeprefix("www.") for found in _ADDRESS.finditer(label)]
    return any(each != host.removeprefix("www.") for each in named)
