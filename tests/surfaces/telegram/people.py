"""People who write to a bot, press its buttons, send files, block it and leave."""

import mimetypes
import time
from dataclasses import dataclass
from typing import Any

from surfaces.telegram.chats import Account, FakeChat, FakeFile, ShownMessage
from surfaces.telegram.rules import LONGEST_CAPTION, LONGEST_TEXT, commands_in, units
from surfaces.telegram.world import ButtonPress, FakeWorld


@dataclass(frozen=True)
class Someone:
    """A person with a phone. Without `to`, everything happens in the private chat with the bot."""

    world: FakeWorld
    account: Account

    @property
    def number(self) -> int:
        return self.account.number

    @property
    def private(self) -> FakeChat:
        """The chat with the bot."""
        return self.world.chats[self.number]

    def start(self) -> ShownMessage:
        """Opens the private chat; only then can the bot write there."""
        return self.write("/start")

    def write(
        self, text: str, to: FakeChat | None = None, topic: int | None = None, reply_to: ShownMessage | None = None
    ) -> ShownMessage:
        """Sends a message; a reply lands in the chat and topic of what it replies to."""
        assert 0 < units(text.strip()) <= LONGEST_TEXT, "Telegram's apps send no such message"
        return self._send(text.strip(), None, to, topic, reply_to)

    def send_file(
        self,
        name: str,
        content: bytes,
        caption: str = "",
        to: FakeChat | None = None,
        topic: int | None = None,
        reply_to: ShownMessage | None = None,
    ) -> ShownMessage:
        assert units(caption) <= LONGEST_CAPTION
        mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return self._send(caption, self.world.store(name, content, mime, photo=False), to, topic, reply_to)

    def send_photo(
        self,
        content: bytes,
        caption: str = "",
        to: FakeChat | None = None,
        topic: int | None = None,
        reply_to: ShownMessage | None = None,
    ) -> ShownMessage:
        assert units(caption) <= LONGEST_CAPTION
        return self._send(
            caption, self.world.store("photo.jpg", content, "image/jpeg", photo=True), to, topic, reply_to
        )

    def edit(self, message: ShownMessage, text: str) -> None:
        """Changes a message of one's own."""
        assert message.sender == self.account
        assert message.edit(text, commands_in(text), [])
        self._deliver(message, "edited_message")

    def press(self, message: ShownMessage, label: str) -> ButtonPress:
        """Presses the button with this label, as the message shows it now."""
        assert not message.deleted
        self._assert_present(message.chat)
        button = message.button(label)
        assert "callback_data" in button, f"{label!r} opens a link"
        return self.press_data(message, button["callback_data"])

    def press_data(self, message: ShownMessage, data: str) -> ButtonPress:
        """Sends any callback: of a button that has gone since, or one that never was."""
        return self.world.press(self.account, message, data)

    def stop_generation(self) -> None:
        """Presses *Stop* below the draft in the private chat."""
        draft = self.private.draft
        assert draft is not None
        assert draft.can_stop
        topic = {"message_thread_id": draft.topic} if draft.topic else {}
        self.private.end_draft()
        content = {"chat": self.private.as_json(), **topic, "draft_id": draft.number}
        self.world.updates.put("stopped_message_generation", content)

    def delete(self, message: ShownMessage) -> None:
        """Bots don't hear of it."""
        self._assert_present(message.chat)
        message.deleted = True
        self.world.changes.notify()

    def block(self) -> None:
        self._change_bot(self.private, "kicked")

    def unblock(self) -> None:
        self._change_bot(self.private, "member")

    def kick_bot(self, chat: FakeChat) -> None:
        self._change_bot(chat, "kicked")

    def add_bot(self, chat: FakeChat, *, admin: bool = False) -> None:
        self._change_bot(chat, "administrator" if admin else "member")

    def join(self, chat: FakeChat) -> None:
        chat.members[self.number] = self.account
        self._announce(chat, {"new_chat_members": [self.account.as_json()]})

    def leave(self, chat: FakeChat) -> None:
        del chat.members[self.number]
        self._announce(chat, {"left_chat_member": self.account.as_json()})

    def open_topic(self, chat: FakeChat, name: str) -> int:
        """A new topic; returns its number."""
        assert chat.forum
        topic = chat.open_topic(name, self.account).number
        self.world.updates.put("message", chat.all_messages[topic].as_json())
        return topic

    def _send(
        self,
        text: str,
        file: FakeFile | None,
        to: FakeChat | None,
        topic: int | None,
        reply_to: ShownMessage | None,
    ) -> ShownMessage:
        chat = reply_to.chat if reply_to else to or self.private
        topic = reply_to.topic if reply_to else topic
        self._assert_present(chat)
        assert topic is None or topic in chat.topics, f"no topic {topic} in {chat.title}"
        chat.started = True
        message = ShownMessage(
            chat, next(chat.numbers), self.account, text, commands_in(text), file=file, topic=topic, reply_to=reply_to
        )
        chat.add(message)
        self._deliver(message, "message")
        return message

    def _deliver(self, message: ShownMessage, kind: str) -> None:
        if self._reaches_bot(message):
            self.world.updates.put(kind, message.as_json())

    def _reaches_bot(self, message: ShownMessage) -> bool:
        """In privacy mode, a bot gets commands, mentions and replies to itself."""
        chat, name = message.chat, f"@{self.world.bot.username}"
        if chat.private:
            return chat.bot_status == "member"
        if chat.bot_status not in {"member", "administrator"}:
            return False
        if chat.bot_status == "administrator" or not self.world.privacy:
            return True
        first = message.text.split(maxsplit=1)[0] if message.text else ""
        meant = first.startswith("/") and ("@" not in first or first.endswith(name))
        return meant or name in message.text or bool(message.reply_to and message.reply_to.by_bot)

    def _assert_present(self, chat: FakeChat) -> None:
        if chat.private:
            assert chat is self.private, "this is another person's chat"
            assert chat.bot_status == "member", "the bot is blocked: unblock it first"
        else:
            assert self.number in chat.members, f"{self.account.first_name} is not in {chat.title}"

    def _announce(self, chat: FakeChat, service: dict[str, Any]) -> None:
        if chat.bot_status in {"member", "administrator"}:
            self.world.announce(chat, self.account, service)

    def _change_bot(self, chat: FakeChat, status: Any) -> None:
        before, chat.bot_status = chat.bot_status, status
        bot = self.world.bot.as_json()
        self.world.updates.put(
            "my_chat_member",
            {
                "chat": chat.as_json(),
                "from": self.account.as_json(),
                "date": int(time.time()),
                "old_chat_member": {"status": before, "user": bot},
                "new_chat_member": {"status": status, "user": bot},
            },
        )
