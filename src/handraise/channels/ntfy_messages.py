"""A message as ntfy's servers take it, and what their answers mean. Pure.

The limits are those of ntfy 2.x: 4,096 bytes of text (`message-size-limit`), JSON of twice that, three actions, and
sequence IDs as they are since 2.16. https://docs.ntfy.sh/publish/
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from handraise.channels.model import ChannelButton, ChannelError, ChannelMessage, Urgency
from handraise.channels.wording import cut, line_of, link_of, text_of
from handraise.texts import t

MOST_TEXT = 4096
MOST_JSON = 2 * MOST_TEXT
MOST_TITLE = 250
MOST_ACTIONS = 3
_MOST_LABEL = 60
_MOST_BODY = 1000
_SEQUENCE = re.compile(r"[-_A-Za-z0-9]{1,64}")
_PRIORITIES: dict[Urgency, int] = {"low": 2, "normal": 3, "high": 4}
_TAGS: dict[Urgency, list[str]] = {"low": ["raised_hand"], "normal": ["raised_hand"], "high": ["rotating_light"]}
_LONGEST_PAUSE = 3600.0
_NO_SUCH_PATH = (404, 405)
T = TypeVar("T")


class _Published(Struct):
    sequence_id: str = ""


class _Account(Struct):
    username: str = ""


class _Health(Struct):
    healthy: bool = False


def publication(topic: str, message: ChannelMessage) -> bytes:
    """The JSON to post to a server's root."""
    fields: dict[str, Any] = {
        "topic": topic,
        "sequence_id": sequence_id(message.id),
        "priority": _PRIORITIES[message.urgency],
        "tags": _TAGS[message.urgency],
    }
    if title := line_of(message.title, MOST_TITLE):
        fields["title"] = title
    if link := link_of(message.link):
        fields["click"] = link
    if actions := [_action(each) for each in message.buttons if _fits(each)][:MOST_ACTIONS]:
        fields["actions"] = actions
    # ntfy shows "triggered" for an empty text.
    return _fitted(fields, text_of(message.text, MOST_TEXT) or title or "…")


def sequence_id(message_id: str) -> str:
    """What a later message replaces, and a retraction names."""
    return message_id if _SEQUENCE.fullmatch(message_id) else hashlib.sha256(_bytes(message_id)).hexdigest()[:32]


def authorization(user: str, password: str, token: str) -> dict[str, str]:
    """The header that signs in, if there is anything to sign in with."""
    if token:
        return {"authorization": f"Bearer {token}"}
    if user:
        return {"authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}
    return {}


def accepted_sequence(body: bytes) -> str:
    """The sequence ID that a server confirmed; empty if it is too old to know them."""
    return _decoded(body, _Published).sequence_id


def is_gone(status: int) -> bool:
    """Whether a server is too old to delete, or knows nothing of the message."""
    return status in _NO_SUCH_PATH


def is_healthy(body: bytes) -> bool:
    """Whether this is the answer of an ntfy server that works."""
    return _decoded(body, _Health).healthy


def signed_in_as(body: bytes) -> str:
    """The user of an account; `*` is nobody."""
    return _decoded(body, _Account).username


def refusal(status: int, headers: Mapping[str, str], server: str) -> ChannelError:
    """What an answer that is no success means, without a word of its text."""
    if status == 401:
        return ChannelError(t("channels.ntfy.unauthorized", server=server), permanent=True)
    if status == 403:
        return ChannelError(t("channels.ntfy.forbidden", server=server), permanent=True)
    if status == 413:
        return ChannelError(t("channels.ntfy.large", server=server), permanent=True)
    if status == 429:
        pause = _pause(headers.get("retry-after", ""))
        return ChannelError(t("channels.ntfy.limit", server=server), permanent=False, retry_after=pause)
    if status >= 500 or status in (408, 425):
        pause = _pause(headers.get("retry-after", ""))
        return ChannelError(t("channels.ntfy.failed", server=server, status=status), permanent=False, retry_after=pause)
    if 300 <= status < 400:
        return ChannelError(t("channels.ntfy.redirect", server=server), permanent=True)
    if is_gone(status):
        return ChannelError(t("channels.ntfy.not_ntfy", server=server), permanent=True)
    return ChannelError(t("channels.ntfy.refused", server=server, status=status), permanent=True)


def _action(button: ChannelButton) -> dict[str, Any]:
    return {
        "action": "http",
        "label": line_of(button.label, _MOST_LABEL),
        "url": button.url,
        "method": "POST",
        "headers": {"Content-Type": button.content_type},
        "body": button.body,
        "clear": True,
    }


def _fits(button: ChannelButton) -> bool:
    """A button that would be cut couldn't answer, so it is left out."""
    return bool(
        link_of(button.url)
        and line_of(button.label, _MOST_LABEL)
        and len(_bytes(button.body)) <= _MOST_BODY
        and button.body.isprintable()
        and button.content_type.isascii()
        and button.content_type.isprintable()
    )


def _fitted(fields: dict[str, Any], text: str) -> bytes:
    """The text gives way, then the buttons: what remains always fits."""
    room = MOST_JSON - len(msgspec.json.encode({**fields, "message": ""}))
    if room < len(text[:1].encode()) and "actions" in fields:
        return _fitted({key: each for key, each in fields.items() if key != "actions"}, text)
    while (escaped := len(msgspec.json.encode(text)) - 2) > room:
        # Escaped characters take more room than their bytes, so this may take another turn.
        text = cut(text, min(len(text.encode()) - 1, len(text.encode()) * room // escaped))
    return msgspec.json.encode({**fields, "message": text})


def _pause(retry_after: str) -> float | None:
    """Dates aren't read: ntfy sends seconds or nothing."""
    if retry_after.isascii() and retry_after.isdigit():
        return min(float(retry_after[:9]), _LONGEST_PAUSE)
    return None


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return kind()
