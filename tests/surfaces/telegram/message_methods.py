"""The methods of the Bot API that send, change and delete messages."""

from collections.abc import Callable
from typing import Any

from surfaces.telegram.chats import FakeChat, FakeFile, ShownDraft, ShownMessage
from surfaces.telegram.rules import (
    Entities,
    Rows,
    RuleBroken,
    bad_request,
    check_caption,
    check_draft,
    check_keyboard,
    check_text,
    units,
)
from surfaces.telegram.wire import CallParams, FakeUpload
from surfaces.telegram.world import FakeWorld

Method = Callable[[CallParams], Any]
UNCHANGED = (
    "message is not modified: specified new message content and reply markup "
    "are exactly the same as a current content and reply markup of the message"
)
TOO_OLD = "query is too old and response timeout expired or query ID is invalid"
LONGEST_TOAST = 200
LARGEST_PHOTO = 10 * 1024 * 1024
LARGEST_FILE = 50 * 1024 * 1024
PICTURES = (b"\x89PNG", b"\xff\xd8", b"GIF8", b"RIFF")
SENDING = {"chat_id", "message_thread_id", "disable_notification", "reply_parameters", "reply_markup"}
CAPTION = {"caption", "caption_entities"}


class MessageMethods:
    """Everything about messages."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    def table(self) -> dict[str, tuple[Method, set[str]]]:
        """Each method, with the parameters it knows."""
        target = {"chat_id", "message_id"}
        return {
            "sendMessage": (self.send_message, {*SENDING, "text", "entities", "link_preview_options"}),
            "sendDocument": (self.send_document, {*SENDING, *CAPTION, "document", "disable_content_type_detection"}),
            "sendPhoto": (self.send_photo, {*SENDING, *CAPTION, "photo"}),
            "editMessageText": (
                self.edit_text,
                {*target, "text", "entities", "link_preview_options", "reply_markup"},
            ),
            "editMessageCaption": (self.edit_caption, {*target, *CAPTION, "reply_markup"}),
            "editMessageReplyMarkup": (self.edit_markup, {*target, "reply_markup"}),
            "deleteMessage": (self.delete, target),
            "setMessageReaction": (self.react, {*target, "reaction", "is_big"}),
            "sendMessageDraft": (
                self.draft,
                {"chat_id", "message_thread_id", "draft_id", "text", "entities", "can_stop", "keep_on_stop"},
            ),
            "sendChatAction": (self.action, {"chat_id", "message_thread_id", "action"}),
            "answerCallbackQuery": (
                self.answer_press,
                {"callback_query_id", "text", "show_alert", "url", "cache_time"},
            ),
        }

    def send_message(self, params: CallParams) -> Any:
        text, entities = check_text(params.text("text"), params.entities("entities"))
        return self._send(params, text, entities, None)

    def send_document(self, params: CallParams) -> Any:
        return self._send_file(params, "document", LARGEST_FILE)

    def send_photo(self, params: CallParams) -> Any:
        return self._send_file(params, "photo", LARGEST_PHOTO)

    def edit_text(self, params: CallParams) -> Any:
        text, entities = check_text(params.text("text"), params.entities("entities"))
        message = self._own_message(params)
        if message.file:
            raise bad_request("there is no text in the message to edit")
        return self._edit(message, text, entities, check_keyboard(params.json("reply_markup")))

    def edit_caption(self, params: CallParams) -> Any:
        text, entities = check_caption(params.text("caption"), params.entities("caption_entities"))
        message = self._own_message(params)
        if not message.file:
            raise bad_request("there is no caption in the message to edit")
        return self._edit(message, text, entities, check_keyboard(params.json("reply_markup")))

    def edit_markup(self, params: CallParams) -> Any:
        message = self._own_message(params)
        return self._edit(message, message.text, message.entities, check_keyboard(params.json("reply_markup")))

    def delete(self, params: CallParams) -> Any:
        chat = self._world.reach(params.integer("chat_id"))
        message = chat.find(params.integer("message_id"))
        if message is None:
            raise bad_request("message to delete not found")
        if not (message.by_bot or chat.private or chat.bot_status == "administrator"):
            raise bad_request("message can't be deleted for everyone")
        message.deleted = True
        self._world.changes.notify()
        return True

    def react(self, params: CallParams) -> Any:
        chat = self._world.reach(params.integer("chat_id"))
        message = chat.find(params.integer("message_id"))
        if message is None:
            raise bad_request("message to react not found")
        message.reactions = [str(each.get("emoji", "")) for each in params.json("reaction") or []]
        self._world.changes.notify()
        return True

    def draft(self, params: CallParams) -> Any:
        text, entities = check_draft(params.text("text"), params.entities("entities"))
        chat = self._world.reach(params.integer("chat_id"))
        number = params.integer("draft_id")
        if not chat.private:
            raise bad_request("message drafts can be sent only to private chats")
        if number == 0:
            raise bad_request("draft_id must be non-zero")
        topic = self._topic(chat, params)
        can_stop = params.flag("can_stop")
        chat.drafts.append(ShownDraft(number, text, entities, topic, can_stop, self._world.now()))
        self._world.changes.notify()
        return True

    def action(self, params: CallParams) -> Any:
        chat = self._world.reach(params.integer("chat_id"))
        if params.text("action") not in {"typing", "upload_document", "upload_photo"}:
            raise bad_request("wrong parameter action in request")
        chat.actions.append((params.text("action"), self._topic(chat, params)))
        return True

    def answer_press(self, params: CallParams) -> Any:
        press = self._world.presses.get(params.text("callback_query_id"))
        if units(params.text("text")) > LONGEST_TOAST:
            raise bad_request("MESSAGE_TOO_LONG")
        window = self._world.limits.callback_seconds * self._world.pace
        if press is None or press.answers or self._world.now() - press.at > window:
            raise bad_request(TOO_OLD)
        press.answers.append({"text": params.text("text"), "show_alert": params.flag("show_alert")})
        self._world.changes.notify()
        return True

    def _send_file(self, params: CallParams, kind: str, largest: int) -> Any:
        caption, entities = check_caption(params.text("caption"), params.entities("caption_entities"))
        upload = params.uploads.get(kind) or self._attached(params, kind)
        if upload is None and params.text(kind) not in self._world.files:
            raise bad_request(
                f"there is no {kind} in the request" if not params.text(kind) else "wrong file identifier"
            )
        if upload is None:
            return self._send(params, caption, entities, self._world.files[params.text(kind)])
        if not upload.content:
            raise bad_request("file must be non-empty")
        if len(upload.content) > largest:
            raise RuleBroken(413, "Request Entity Too Large")
        if kind == "photo" and not upload.content.startswith(PICTURES):
            raise bad_request("IMAGE_PROCESS_FAILED")
        file = self._world.store(upload.name, upload.content, upload.mime, photo=kind == "photo")
        return self._send(params, caption, entities, file)

    def _attached(self, params: CallParams, kind: str) -> FakeUpload | None:
        scheme, _, name = params.text(kind).partition("attach://")
        return params.uploads.get(name) if not scheme and name else None

    def _send(self, params: CallParams, text: str, entities: Entities, file: FakeFile | None) -> Any:
        keyboard = check_keyboard(_inline(params.json("reply_markup")))
        chat = self._world.reach(params.integer("chat_id"))
        topic = self._topic(chat, params)
        replied = self._replied(chat, params)
        if replied and replied.topic != topic:
            topic = replied.topic
        self._world.count(chat)
        chat.end_draft()
        message = ShownMessage(
            chat,
            next(chat.numbers),
            self._world.bot,
            text,
            entities,
            keyboard,
            file,
            topic,
            replied,
            silent=params.flag("disable_notification"),
        )
        return chat.add(message).as_json()

    def _edit(self, message: ShownMessage, text: str, entities: Entities, keyboard: Rows) -> Any:
        self._world.count(message.chat)
        if not message.edit(text, entities, keyboard):
            raise bad_request(UNCHANGED)
        self._world.changes.notify()
        return message.as_json()

    def _own_message(self, params: CallParams) -> ShownMessage:
        chat = self._world.reach(params.integer("chat_id"))
        message = chat.find(params.integer("message_id"))
        if message is None:
            raise bad_request("message to edit not found")
        if not message.by_bot:
            raise bad_request("message can't be edited")
        return message

    def _topic(self, chat: FakeChat, params: CallParams) -> int | None:
        """General is no topic: it is reached without a number. Other supergroups have threads below messages."""
        number = params.optional("message_thread_id")
        if number is None or number in chat.topics:
            return number
        if chat.kind == "supergroup" and not chat.forum and chat.find(number):
            return None
        raise bad_request("message thread not found")

    def _replied(self, chat: FakeChat, params: CallParams) -> ShownMessage | None:
        asked = params.json("reply_parameters")
        if not asked:
            return None
        found = chat.find(int(asked["message_id"]))
        if found is None and not asked.get("allow_sending_without_reply"):
            raise bad_request("message to be replied not found")
        return found


def _inline(markup: Any) -> Any:
    """Other kinds of markup change the person's keyboard, not the message."""
    other = {"force_reply", "remove_keyboard", "keyboard"}
    return None if isinstance(markup, dict) and other & markup.keys() else markup
