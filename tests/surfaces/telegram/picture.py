"""A chat as a page that looks like Telegram's, for pictures in the docs."""

from base64 import b64encode
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Page

from surfaces.telegram.chats import FakeChat, FakeFile, ShownMessage
from surfaces.telegram.people import Someone
from surfaces.telegram.rules import Entities, units

STYLE = Path(__file__).with_name("picture.css")
TAGS = {
    "bold": "b",
    "italic": "i",
    "underline": "u",
    "strikethrough": "s",
    "blockquote": "blockquote",
    "expandable_blockquote": "blockquote",
    "code": "code",
    "pre": "pre",
}
EMOJI = {
    "✋": '<path fill="#ffc83d" d="M4 11V5a1.3 1.3 0 0 1 2.6 0v-2a1.3 1.3 0 0 1 2.6 0v-.7a1.3 1.3 0 0 1 2.6 0V3.6a1.3'
    ' 1.3 0 0 1 2.6 0v6.2l1.5-1.5a1.4 1.4 0 0 1 2 2l-4 5A6 6 0 0 1 9.7 18 5.7 5.7 0 0 1 4 12.3z"/>',
    "✅": '<rect width="17" height="17" x="1.5" y="1.5" rx="4" fill="#43b649"/>'
    '<path d="m5.5 10.3 3.200 3.200 6-7" fill="none" stroke="#fff" stroke-width="2.4"/>',
    "⬜️": '<rect width="15" height="15" x="2.5" y="2.5" rx="2" fill="#e8edf2" stroke="#c6ced6"/>',
    "⚠️": '<path d="M10 2 19 17.5H1z" fill="#ffc83d"/><path d="M10 7v5.5m0 1.5v2" stroke="#543" stroke-width="2"/>',
}
"""Drawn here, since machines without fonts for them make the pictures, too."""
BLOCK_ENDS = ("</pre>", "</blockquote>")
Theme = Literal["light", "dark"]


async def take_picture(
    page: Page, path: Path, chat: FakeChat, viewer: Someone, theme: Theme = "light", *, toast: str = ""
) -> None:
    """The whole chat, as high as it is. The width is the page's."""
    await page.set_content(as_page(chat, viewer, theme, toast=toast))
    await page.locator("html").screenshot(path=path)


def as_page(
    chat: FakeChat, viewer: Someone, theme: Theme = "light", *, topic: int | None = None, toast: str = ""
) -> str:
    """What one of its members sees: their own messages stand on the right. `toast`: the answer to their press."""
    title = viewer.world.bot.first_name if chat.private else chat.title
    place = "bot" if chat.private else f"{len(chat.members) + 1} members"
    if topic:
        title, place = chat.topics[topic].name, chat.title
    shown = [_message(each, viewer) for each in chat.messages if topic is None or each.topic == topic]
    head = f"<div class=face>{escape(title[:1])}</div><div><b>{escape(title)}</b><small>{escape(place)}</small></div>"
    over = f"<div class=toast>{escape(toast)}</div>" if toast else ""
    return (
        f"<!doctype html><html data-theme={theme}><meta charset=utf-8><title>{escape(title)}</title>"
        f"<style>{STYLE.read_text()}</style><header>{head}</header><main>{''.join(shown)}{_draft(chat)}</main>"
        f"{over}</html>"
    )


def as_html(text: str, entities: Entities) -> str:
    """Formatted text. Entities are nested, so each piece is opened and closed around the next."""
    raw = text.encode("utf-16-le")
    edges = sorted({0, units(text), *(at for each in entities for at in (each["offset"], _end(each)))})
    made = ""
    for begin, end in zip(edges, [*edges[1:], None], strict=True):
        closing = [each for each in entities if _end(each) == begin]
        opening = [each for each in entities if each["offset"] == begin]
        made += "".join(_closed(each) for each in sorted(closing, key=lambda each: (-each["offset"], each["length"])))
        made += "".join(_opened(each) for each in sorted(opening, key=lambda each: -each["length"]))
        if end is not None:
            piece = raw[begin * 2 : end * 2].decode("utf-16-le")
            # A block ends its line by itself.
            made += _drawn(piece.removeprefix("\n") if made.endswith(BLOCK_ENDS) else piece)
    return made


def _drawn(text: str) -> str:
    made = escape(text)
    for emoji, shape in EMOJI.items():
        made = made.replace(emoji, f'<svg class=emoji viewBox="0 0 20 20">{shape}</svg>')
    return made


def _end(entity: dict[str, Any]) -> int:
    return int(entity["offset"]) + int(entity["length"])


def _opened(entity: dict[str, Any]) -> str:
    match entity["type"]:
        case "text_link":
            return f'<a href="{escape(entity["url"])}">'
        case "pre" if entity.get("language"):
            return f'<pre data-language="{escape(entity["language"])}">'
        case "spoiler":
            return "<span class=spoiler>"
        case kind:
            return f"<{TAGS.get(kind, 'a')}>"


def _closed(entity: dict[str, Any]) -> str:
    return "</span>" if entity["type"] == "spoiler" else f"</{TAGS.get(entity['type'], 'a')}>"


def _message(message: ShownMessage, viewer: Someone) -> str:
    own = message.sender == viewer.account
    parts = [
        "" if own or message.chat.private else f"<div class=name>{escape(message.sender.first_name)}</div>",
        _reply(message.reply_to) if message.reply_to else "",
        _file(message.file) if message.file else "",
        f"<div class=words>{as_html(message.text, message.entities)}{_time(message)}</div>",
    ]
    bubble = f"<div class=bubble>{''.join(parts)}</div>"
    return f"<article class={'own' if own else 'other'}>{bubble}{_keyboard(message)}</article>"


def _reply(message: ShownMessage) -> str:
    first = message.text.partition("\n")[0]
    return f"<div class=reply><div class=name>{escape(message.sender.first_name)}</div>{escape(first)}</div>"


def _file(file: FakeFile) -> str:
    if file.photo:
        return f'<img class=photo src="data:{escape(file.mime)};base64,{b64encode(file.content).decode()}">'
    size = f"{len(file.content) / 1024:.1f} KB"
    return f"<div class=file><i>↓</i><div><b>{escape(file.name)}</b><small>{size}</small></div></div>"


def _time(message: ShownMessage) -> str:
    moment = datetime.fromtimestamp(message.date, UTC).strftime("%H:%M")
    return f"<time>{'edited ' if message.edited else ''}{moment}</time>"


def _keyboard(message: ShownMessage) -> str:
    rows = "".join(f"<div>{''.join(_button(button) for button in row)}</div>" for row in message.keyboard)
    return f"<div class=keyboard>{rows}</div>" if rows else ""


def _button(button: dict[str, Any]) -> str:
    return f"<span{' class=link' if 'url' in button else ''}>{_drawn(button['text'])}</span>"


def _draft(chat: FakeChat) -> str:
    if chat.draft is None:
        return ""
    text = as_html(chat.draft.text, chat.draft.entities) or "Thinking…"
    stop = "<div class=keyboard><div><span>Stop</span></div></div>" if chat.draft.can_stop else ""
    return f"<article class=draft><div class=bubble><div class=words>{text}</div></div>{stop}</article>"
