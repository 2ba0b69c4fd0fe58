"""What it means that Telegram refused something: that was its result, or it goes again in another way. Pure.

Telegram tells most refusals apart only by their text.
"""

import re

from msgspec import Struct
from msgspec.structs import replace

from handraise.surfaces.telegram.formatted import EMPTY, plain
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    DeleteMessage,
    EditText,
    Gone,
    Migrated,
    Outgoing,
    RemoveButtons,
    SendDraft,
    SendFile,
    SendResult,
    SendText,
    Sent,
    Undeliverable,
)

_QUOTED = re.compile(r"(?<!\w)'|[\"`“‘«<]|\S*://")
_GONE = (
    "message to edit not found",
    "message to delete not found",
    "message can't be edited",
    "message can't be deleted",
    "message_id_invalid",
    "there is no text in the message",
)
_BLOCKED = (
    "chat not found",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
    "topic_id_invalid",
    "not enough rights",
    "have no rights",
    "chat_write_forbidden",
    "chat_admin_required",
    "peer_id_invalid",
    "group chat was deactivated",
    "user_is_blocked",
    "need administrator rights",
)
_NO_TOPIC = ("thread not found", "topic_deleted", "topic_id_invalid")
"""If the topic was deleted."""
_NO_FILES = re.compile("rights to send (photo|document|media|file)|chat_send_(photos|docs|media|files)_forbidden")
"""If a group allows texts, but no files."""
_SERVER_TROUBLE = (401, 404, 409)
"""The token doesn't work, or another program answers at this address: nothing is wrong with the message."""


class Wait(Struct, frozen=True):
    """It goes again after this pause. Without a time, Telegram named none."""

    seconds: float | None


class Retry(Struct, frozen=True):
    """The server failed; it goes again."""

    reason: str


class Instead(Struct, frozen=True):
    """This goes instead, at once."""

    outgoing: Outgoing


Verdict = SendResult | Wait | Retry | Instead


def judge(
    outgoing: Outgoing, code: int, description: str, retry_after: float | None, migrate_to: int | None
) -> Verdict:
    """What becomes of it."""
    text = description.lower()
    if code == 429:
        return Wait(retry_after)
    if migrate_to is not None:
        return Migrated(migrate_to)
    if code == 413:
        return Undeliverable(description or "too large")
    if code >= 500 or code in _SERVER_TROUBLE or not description:
        return Retry(description or str(code))
    if isinstance(outgoing, SendFile) and forbids_files(description):
        return Instead(replace(outgoing, photo=False)) if outgoing.photo else Undeliverable(description)
    if code == 403 or any(each in text for each in _BLOCKED):
        return Blocked(description)
    if isinstance(outgoing, EditText | RemoveButtons | DeleteMessage) and (settled := _of_message(outgoing, text)):
        return settled
    plainer = simplify(outgoing, text) if code == 400 else None
    return Undeliverable(description) if plainer is None else Instead(plainer)


def is_topic_gone(reason: str) -> bool:
    """Whether the topic is what is missing, and not the chat."""
    return any(each in reason.lower() for each in _NO_TOPIC)


def forbids_files(reason: str) -> bool:
    """Whether only files can't be sent to a chat."""
    return _NO_FILES.search(reason.lower()) is not None


def without_quotes(reason: str) -> str:
    """For the log: Telegram's reason up to where it quotes what was sent."""
    return _QUOTED.split(reason, maxsplit=1)[0].strip()


def simplify(outgoing: Outgoing, text: str) -> Outgoing | None:
    """The same without what Telegram objects to; None if that leaves it as it is."""
    simpler = outgoing
    if "entit" in text or "text_link" in text:
        simpler = _plain(outgoing)
    elif ("button" in text or "keyboard" in text) and isinstance(outgoing, SendText | EditText):
        rows = tuple(tuple(each for each in row if not each.url) for row in outgoing.keyboard)
        simpler = replace(outgoing, keyboard=tuple(row for row in rows if row))
    elif ("photo" in text or "image" in text) and isinstance(outgoing, SendFile):
        simpler = replace(outgoing, photo=False)
    return None if simpler == outgoing else simpler


def _of_message(outgoing: EditText | RemoveButtons | DeleteMessage, text: str) -> SendResult | None:
    if "not modified" in text or "not_modified" in text:
        return Sent(outgoing.message)
    return Gone() if any(each in text for each in _GONE) else None


def _plain(outgoing: Outgoing) -> Outgoing:
    match outgoing:
        case SendText() | EditText() | SendDraft():
            return replace(outgoing, content=plain(outgoing.content))
        case SendFile():
            return replace(outgoing, caption=plain(outgoing.caption) if outgoing.caption.text else EMPTY)
        case _:
            return outgoing
