"""The methods of the Bot API about the bot, its chats, topics and files."""

import re
from typing import Any

from surfaces.telegram.chats import FakeChat, FakeTopic
from surfaces.telegram.message_methods import Method
from surfaces.telegram.rules import bad_request
from surfaces.telegram.wire import CallParams
from surfaces.telegram.world import FakeWorld

LARGEST_DOWNLOAD = 20 * 1024 * 1024
LONGEST_TOPIC_NAME = 128
COMMAND_NAME = re.compile(r"[a-z0-9_]{1,32}")


class ChatMethods:
    """Everything that is no message."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    def table(self) -> dict[str, tuple[Method, set[str]]]:
        """Each method, with the parameters it knows."""
        topic = {"chat_id", "message_thread_id"}
        icons = {"icon_color", "icon_custom_emoji_id"}
        return {
            "getMe": (self.me, set()),
            "deleteWebhook": (self.delete_webhook, {"drop_pending_updates"}),
            "getWebhookInfo": (self.webhook, set()),
            "setMyCommands": (self.set_commands, {"commands", "scope", "language_code"}),
            "getMyCommands": (self.get_commands, {"scope", "language_code"}),
            "getChat": (self.chat, {"chat_id"}),
            "getChatMember": (self.member, {"chat_id", "user_id"}),
            "getFile": (self.file, {"file_id"}),
            "createForumTopic": (self.create_topic, {"chat_id", "name", *icons}),
            "editForumTopic": (self.edit_topic, {*topic, "name", "icon_custom_emoji_id"}),
            "closeForumTopic": (self.close_topic, topic),
            "reopenForumTopic": (self.reopen_topic, topic),
        }

    def me(self, params: CallParams) -> Any:
        return {
            **self._world.bot.as_json(),
            "can_join_groups": True,
            "can_read_all_group_messages": not self._world.privacy,
            "supports_inline_queries": False,
        }

    def delete_webhook(self, params: CallParams) -> Any:
        if params.flag("drop_pending_updates"):
            self._world.updates.drop_all()
        self._world.webhook = ""
        return True

    def webhook(self, params: CallParams) -> Any:
        waiting = len(self._world.updates.unconfirmed)
        return {"url": self._world.webhook, "has_custom_certificate": False, "pending_update_count": waiting}

    def set_commands(self, params: CallParams) -> Any:
        commands = params.json("commands") or []
        for each in commands:
            if not COMMAND_NAME.fullmatch(each.get("command", "")):
                raise bad_request("BOT_COMMAND_INVALID")
            if not 1 <= len(each.get("description", "")) <= 256:
                raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
        if len(commands) > 100:
            raise bad_request("BOT_COMMANDS_TOO_MUCH")
        self._world.commands[_scope(params)] = commands
        return True

    def get_commands(self, params: CallParams) -> Any:
        return self._world.commands.get(_scope(params), [])

    def chat(self, params: CallParams) -> Any:
        return {
            **self._world.reach(params.integer("chat_id")).as_json(),
            "accent_color_id": 1,
            "max_reaction_count": 11,
        }

    def member(self, params: CallParams) -> Any:
        chat = self._world.reach(params.integer("chat_id"))
        number = params.integer("user_id")
        if number == self._world.bot.number:
            return {"status": chat.bot_status, "user": self._world.bot.as_json()}
        if number in chat.members or number == chat.number:
            return {"status": "member", "user": self._world.accounts[number].as_json()}
        if number in self._world.accounts:
            return {"status": "left", "user": self._world.accounts[number].as_json()}
        raise bad_request("PARTICIPANT_ID_INVALID")

    def file(self, params: CallParams) -> Any:
        found = self._world.files.get(params.text("file_id"))
        if found is None:
            raise bad_request("invalid file_id")
        if len(found.content) > LARGEST_DOWNLOAD:
            raise bad_request("file is too big")
        unique = {"file_id": params.text("file_id"), "file_unique_id": f"u{found.id}"}
        return {**unique, "file_size": len(found.content), "file_path": found.path}

    def create_topic(self, params: CallParams) -> Any:
        chat = self._forum(params)
        name = params.text("name")
        if not 1 <= len(name) <= LONGEST_TOPIC_NAME:
            raise bad_request("TOPIC_NAME_INVALID" if name else "TOPIC_TITLE_EMPTY")
        self._world.count(chat)
        made = chat.open_topic(name, self._world.bot)
        return {"message_thread_id": made.number, "name": made.name, "icon_color": 7322096}

    def edit_topic(self, params: CallParams) -> Any:
        topic = self._topic(params)
        name = params.text("name") or topic.name
        if name == topic.name:
            raise bad_request("TOPIC_NOT_MODIFIED")
        topic.name = name
        self._world.changes.notify()
        return True

    def close_topic(self, params: CallParams) -> Any:
        return self._set_closed(params, True)

    def reopen_topic(self, params: CallParams) -> Any:
        return self._set_closed(params, False)

    def _set_closed(self, params: CallParams, closed: bool) -> bool:
        topic = self._topic(params)
        if topic.closed == closed:
            raise bad_request("TOPIC_NOT_MODIFIED")
        topic.closed = closed
        self._world.changes.notify()
        return True

    def _topic(self, params: CallParams) -> FakeTopic:
        topic = self._forum(params).topics.get(params.integer("message_thread_id"))
        if topic is None:
            raise bad_request("message thread not found")
        return topic

    def _forum(self, params: CallParams) -> FakeChat:
        chat = self._world.reach(params.integer("chat_id"))
        if not chat.forum:
            raise bad_request("the chat is not a forum")
        if chat.bot_status != "administrator":
            raise bad_request("not enough rights to create a topic")
        return chat


def _scope(params: CallParams) -> str:
    scope = params.json("scope") or {}
    return " ".join(str(scope[key]) for key in ("type", "chat_id", "user_id") if key in scope) or "default"
