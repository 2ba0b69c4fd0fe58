"""The call that sends something: its method, parameters and files, and what its result means. Pure."""

from typing import Any, assert_never

import msgspec
from msgspec import Raw, Struct

from handraise.surfaces.telegram.formatted import ELLIPSIS, LONGEST, LONGEST_CAPTION, Formatted, cut
from handraise.surfaces.telegram.outgoing import (
    ChatPlace,
    CloseTopic,
    CreateTopic,
    DeleteMessage,
    EditText,
    Keyboard,
    Outgoing,
    RemoveButtons,
    RenameTopic,
    ReopenTopic,
    SendDraft,
    SendFile,
    SendText,
    Sent,
)

LONGEST_TOPIC = 128
Params = dict[str, Any]


class MethodCall(Struct, frozen=True):
    """A method and its parameters. A file has the name of its parameter."""

    method: str
    params: Params
    file: str = ""


def call_for(outgoing: Outgoing) -> MethodCall:
    """The call that sends it. What is too long for Telegram is cut, so that it isn't refused."""
    match outgoing:
        case SendText():
            text = _content(outgoing.content)
            return MethodCall("sendMessage", text | _sending(outgoing) | _keyboard(outgoing.keyboard))
        case EditText():
            target = {"chat_id": outgoing.place.chat, "message_id": outgoing.message}
            return MethodCall("editMessageText", target | _content(outgoing.content) | _keyboard(outgoing.keyboard))
        case RemoveButtons():
            target = {"chat_id": outgoing.place.chat, "message_id": outgoing.message}
            return MethodCall("editMessageReplyMarkup", target)
        case SendFile():
            kind = "photo" if outgoing.photo else "document"
            params = _caption(outgoing.caption) | _sending(outgoing)
            return MethodCall("sendPhoto" if outgoing.photo else "sendDocument", params, kind)
        case SendDraft():
            return MethodCall("sendMessageDraft", _draft(outgoing))
        case DeleteMessage():
            return MethodCall("deleteMessage", {"chat_id": outgoing.place.chat, "message_id": outgoing.message})
        case CreateTopic():
            return MethodCall("createForumTopic", {"chat_id": outgoing.place.chat, "name": _topic_name(outgoing.name)})
        case RenameTopic():
            return MethodCall("editForumTopic", _place(outgoing.place) | {"name": _topic_name(outgoing.name)})
        case CloseTopic():
            return MethodCall("closeForumTopic", _place(outgoing.place))
        case ReopenTopic():
            return MethodCall("reopenForumTopic", _place(outgoing.place))
        case _:
            assert_never(outgoing)


def read_result(outgoing: Outgoing, result: Raw) -> Sent | None:
    """What arrived; None if the result makes no sense."""
    try:
        match outgoing:
            case SendText() | SendFile():
                return Sent(msgspec.json.decode(result, type=_MessageNumber).message_id)
            case CreateTopic():
                return Sent(topic=msgspec.json.decode(result, type=_TopicNumber).message_thread_id)
            case EditText() | RemoveButtons():
                return Sent(outgoing.message)
            case SendDraft() | DeleteMessage() | RenameTopic() | CloseTopic() | ReopenTopic():
                return Sent()
            case _:
                assert_never(outgoing)
    except msgspec.MsgspecError:
        return None


class _MessageNumber(Struct):
    message_id: int


class _TopicNumber(Struct):
    message_thread_id: int


def _topic_name(name: str) -> str:
    return cut(Formatted(_whole(name.strip()) or ELLIPSIS), LONGEST_TOPIC).text


def _sending(outgoing: SendText | SendFile) -> Params:
    params = _place(outgoing.place)
    if outgoing.reply_to is not None:
        params["reply_parameters"] = {"message_id": outgoing.reply_to, "allow_sending_without_reply": True}
    if outgoing.silent:
        params["disable_notification"] = True
    return params


def _place(place: ChatPlace) -> Params:
    return {"chat_id": place.chat} | ({} if place.topic is None else {"message_thread_id": place.topic})


def _content(content: Formatted) -> Params:
    shown = cut(content, LONGEST)
    # Telegram would fetch what Claude links to, and show a part of it.
    params: Params = {"text": _whole(shown.text), "link_preview_options": {"is_disabled": True}}
    if not shown.text.strip():
        params["text"] = ELLIPSIS
    elif shown.entities:
        params["entities"] = shown.entities
    return params


def _caption(content: Formatted) -> Params:
    shown = cut(content, LONGEST_CAPTION)
    if not shown.text.strip():
        return {}
    return {"caption": _whole(shown.text)} | ({"caption_entities": shown.entities} if shown.entities else {})


def _draft(outgoing: SendDraft) -> Params:
    shown = cut(outgoing.content, LONGEST)
    params = _place(outgoing.place) | {"draft_id": outgoing.draft, "text": _whole(shown.text)}
    if shown.entities:
        params["entities"] = shown.entities
    if outgoing.can_stop:
        params["can_stop"] = True
    return params


def _keyboard(keyboard: Keyboard) -> Params:
    if not keyboard:
        return {}
    rows = [
        [
            {"text": _whole(each.label)} | ({"url": each.url} if each.url else {"callback_data": each.data})
            for each in row
        ]
        for row in keyboard
    ]
    return {"reply_markup": {"inline_keyboard": rows}}


def _whole(text: str) -> str:
    """Without halves of characters, which can't be sent. The length in UTF-16 units stays the same."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
