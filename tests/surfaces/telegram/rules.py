"""What Telegram accepts in a message: lengths, entities and keyboards. Pure."""

import re
from itertools import combinations
from typing import Any
from urllib.parse import urlsplit

LONGEST_TEXT = 4096
LONGEST_CAPTION = 1024
MOST_ENTITIES = 100
MOST_BUTTONS = 100
LONGEST_DATA = 64
STYLES = {"bold", "italic", "underline", "strikethrough", "spoiler"}
CODE = {"pre", "code"}
QUOTES = {"blockquote", "expandable_blockquote"}
DETECTED = {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"}
KNOWN = STYLES | CODE | QUOTES | DETECTED | {"text_link", "text_mention", "custom_emoji", "date_time"}
COMMAND = re.compile(r"(?<!\S)/[A-Za-z0-9_]{1,32}(?:@[A-Za-z0-9_]+)?")

Entities = list[dict[str, Any]]
Rows = list[list[dict[str, Any]]]


class RuleBroken(Exception):
    """The server refuses a call. Carries what it answers."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad_request(reason: str, **parameters: int) -> RuleBroken:
    return RuleBroken(400, f"Bad Request: {reason}", **parameters)


def units(text: str) -> int:
    """How long a text is for Telegram."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_text(text: str, entities: Entities) -> tuple[str, Entities]:
    """What a message shows: trimmed, with at most a hundred entities."""
    text, entities = _check_content(text, entities, LONGEST_TEXT, "message is too long")
    if not text:
        raise bad_request("message text is empty")
    return text, entities


def check_caption(text: str, entities: Entities) -> tuple[str, Entities]:
    return _check_content(text, entities, LONGEST_CAPTION, "message caption is too long")


def check_draft(text: str, entities: Entities) -> tuple[str, Entities]:
    return _check_content(text, entities, LONGEST_TEXT, "message is too long")


def commands_in(text: str) -> Entities:
    """The commands that Telegram finds in what people type."""
    return [
        {"type": "bot_command", "offset": units(text[: found.start()]), "length": units(found[0])}
        for found in COMMAND.finditer(text)
    ]


def check_keyboard(markup: Any) -> Rows:
    """The rows of an inline keyboard; empty without one."""
    if not markup:
        return []
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request('object expected as reply markup with the field "inline_keyboard" of type Array of Arrays')
    if sum(len(row) for row in rows) > MOST_BUTTONS:
        raise bad_request("REPLY_MARKUP_TOO_LONG")
    for row in rows:
        for button in row:
            _check_button(button)
    return [row for row in rows if row]


def _check_content(text: str, entities: Entities, longest: int, too_long: str) -> tuple[str, Entities]:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise bad_request("strings must be encoded in UTF-8") from None
    for each in entities:
        _check_entity(text, each)
    _check_nesting(entities)
    text, entities = _trim(text, entities)
    if units(text) > longest:
        raise bad_request(too_long)
    return text, entities[:MOST_ENTITIES]


def _check_entity(text: str, entity: Any) -> None:
    if not isinstance(entity, dict) or entity.get("type") not in KNOWN:
        raise bad_request("can't parse entities: unsupported type specified")
    offset, length = entity.get("offset"), entity.get("length")
    if not isinstance(offset, int) or not isinstance(length, int):
        raise bad_request("can't parse entities: offset and length must be of type Number")
    if offset < 0 or length <= 0 or offset + length > units(text):
        raise bad_request("ENTITY_BOUNDS_INVALID")
    if _cuts(text, offset) or _cuts(text, offset + length):
        raise bad_request("ENTITY_BOUNDS_INVALID")
    if entity["type"] == "text_link" and not entity.get("url"):
        raise bad_request("can't parse entities: text_link without url")


def _cuts(text: str, offset: int) -> bool:
    """Whether the offset stands between the halves of a character."""
    raw = text.encode("utf-16-le")
    return offset * 2 < len(raw) and 0xDC <= raw[offset * 2 + 1] <= 0xDF


def _check_nesting(entities: Entities) -> None:
    ordered = sorted(entities, key=lambda each: (each["offset"], -each["length"]))
    for outer, inner in combinations(ordered, 2):
        end = outer["offset"] + outer["length"]
        if inner["offset"] >= end:
            continue
        if inner["offset"] + inner["length"] > end:
            raise bad_request("can't parse entities: entities overlap without being nested")
        if not _may_contain(outer["type"], inner["type"]):
            raise bad_request(f"can't parse entities: {outer['type']} can't contain {inner['type']}")


def _may_contain(outer: str, inner: str) -> bool:
    if outer in QUOTES:
        return inner not in QUOTES
    if CODE & {outer, inner}:
        return False
    return bool(STYLES & {outer, inner}) and outer != inner


def _trim(text: str, entities: Entities) -> tuple[str, Entities]:
    skipped = units(text) - units(text.lstrip())
    text = text.strip()
    end = units(text)
    shown = []
    for each in entities:
        begins = max(each["offset"] - skipped, 0)
        ends = min(each["offset"] + each["length"] - skipped, end)
        if ends > begins:
            shown.append({**each, "offset": begins, "length": ends - begins})
    return text, sorted(shown, key=lambda each: (each["offset"], -each["length"]))


def _check_button(button: Any) -> None:
    if not isinstance(button, dict) or not isinstance(button.get("text"), str) or not button["text"].strip():
        raise bad_request("can't parse inline keyboard button: text must be non-empty")
    actions = button.keys() & {"callback_data", "url", "copy_text", "web_app", "switch_inline_query"}
    if not actions:
        raise bad_request("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if len(actions) > 1:
        raise bad_request("can't parse inline keyboard button: exactly one action is allowed")
    if "callback_data" in button:
        data = button["callback_data"]
        if not isinstance(data, str) or not 1 <= len(data.encode()) <= LONGEST_DATA:
            raise bad_request("BUTTON_DATA_INVALID")
    if "url" in button and not _is_link(button["url"]):
        raise bad_request(f"inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP URL")


def _is_link(url: Any) -> bool:
    """A host without a dot, such as `localhost`, is not accepted."""
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "tg" or (parts.scheme in {"http", "https"} and "." in (parts.hostname or ""))
