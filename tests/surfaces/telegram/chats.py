"""The chats that a bot and people share, and what each of them shows."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from surfaces.telegram.rules import Entities, Rows

T = TypeVar("T")
DEADLINE = 60.0
ChatKind = Literal["private", "group", "supergroup"]


class Changes:
    """Wakes everyone who waits for something to appear."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def notify(self) -> None:
        self._next.set()
        self._next = asyncio.Event()

    async def first(self, find: Callable[[], T | None], seconds: float) -> T | None:
        """What `find` finds first, or nothing in this time."""
        try:
            async with asyncio.timeout(seconds):
                while not (found := find()):
                    await self._next.wait()
                return found
        except TimeoutError:
            return None

    async def until(self, find: Callable[[], T | None], deadline: float, describe: Callable[[], str]) -> T:
        """What `find` finds first. Fails with a description after the deadline, in real seconds."""
        found = await self.first(find, deadline)
        assert found, f"not within {deadline:g} s. {describe()}"
        return found


@dataclass(frozen=True)
class Account:
    """A user of Telegram, or a bot."""

    number: int
    first_name: str
    last_name: str = ""
    username: str = ""
    is_bot: bool = False

    def as_json(self) -> dict[str, Any]:
        more = {"last_name": self.last_name, "username": self.username}
        return {
            "id": self.number,
            "is_bot": self.is_bot,
            "first_name": self.first_name,
            **{key: value for key, value in more.items() if value},
        }


@dataclass(frozen=True)
class FakeFile:
    """A file that Telegram stores."""

    id: str
    name: str
    content: bytes
    mime: str
    photo: bool

    @property
    def path(self) -> str:
        return f"{'photos' if self.photo else 'documents'}/{self.id}"

    def as_json(self) -> dict[str, Any]:
        entry = {"file_id": self.id, "file_unique_id": f"u{self.id}", "file_size": len(self.content)}
        if self.photo:
            small = {"file_id": f"{self.id}-s", "file_unique_id": f"u{self.id}-s", "width": 90, "height": 60}
            return {"photo": [small, {**entry, "width": 1280, "height": 853}]}
        return {"document": {**entry, "file_name": self.name, "mime_type": self.mime}}


@dataclass(frozen=True)
class ShownVersion:
    """What a message showed at one time."""

    text: str
    labels: list[list[str]]


@dataclass(eq=False)
class ShownMessage:
    """A message as people see it now. `text` is the caption of a file."""

    chat: "FakeChat"
    number: int
    sender: Account
    text: str = ""
    entities: Entities = field(default_factory=list)
    keyboard: Rows = field(default_factory=list)
    file: FakeFile | None = None
    topic: int | None = None
    reply_to: "ShownMessage | None" = None
    silent: bool = False
    service: dict[str, Any] = field(default_factory=dict)
    history: list[ShownVersion] = field(default_factory=list)
    """What it showed before its edits, oldest first."""
    reactions: list[str] = field(default_factory=list)
    deleted: bool = False
    date: int = field(default_factory=lambda: int(time.time()))
    edited: int = 0

    @property
    def by_bot(self) -> bool:
        return self.sender.is_bot

    @property
    def labels(self) -> list[list[str]]:
        """The buttons, row by row."""
        return [[button["text"] for button in row] for row in self.keyboard]

    @property
    def buttons(self) -> list[str]:
        """The labels of all buttons."""
        return [label for row in self.labels for label in row]

    def button(self, label: str) -> dict[str, Any]:
        """The button with this label."""
        for row in self.keyboard:
            for each in row:
                if each["text"] == label:
                    return each
        raise AssertionError(f"no button {label!r} below {self}")

    def marked(self, kind: str) -> list[str]:
        """The stretches of text with this formatting."""
        raw = self.text.encode("utf-16-le")
        return [
            raw[each["offset"] * 2 : (each["offset"] + each["length"]) * 2].decode("utf-16-le")
            for each in self.entities
            if each["type"] == kind
        ]

    def edit(self, text: str, entities: Entities, keyboard: Rows) -> bool:
        """Whether that changed anything."""
        if (text, entities, keyboard) == (self.text, self.entities, self.keyboard):
            return False
        self.history.append(ShownVersion(self.text, self.labels))
        self.text, self.entities, self.keyboard = text, entities, keyboard
        self.edited = int(time.time())
        return True

    def as_json(self, with_reply: bool = True) -> dict[str, Any]:
        root = self.chat.thread_of(self)
        optional = {
            "message_thread_id": root,
            "is_topic_message": self.chat.forum and root is not None,
            "edit_date": self.edited,
            "reply_markup": {"inline_keyboard": self.keyboard} if self.keyboard else None,
            "caption" if self.file else "text": self.text,
            "caption_entities" if self.file else "entities": self.entities,
            "reply_to_message": self._replied() if with_reply else None,
        }
        return {
            "message_id": self.number,
            "from": self.sender.as_json(),
            "chat": self.chat.as_json(),
            "date": self.date,
            **{key: value for key, value in optional.items() if value},
            **(self.file.as_json() if self.file else {}),
            **self.service,
        }

    def _replied(self) -> dict[str, Any] | None:
        """In a topic, what replies to nothing replies to the message that opened the topic."""
        if self.reply_to:
            return self.reply_to.as_json(with_reply=False)
        opened = self.chat.all_messages.get(self.topic) if self.topic and not self.service else None
        return opened.as_json(with_reply=False) if opened else None

    def __str__(self) -> str:
        parts = [f"({self.file.name})" if self.file else "", self.text]
        rows = [" ".join(f"[{label}]" for label in row) for row in self.labels]
        where = f" #{self.topic}" if self.topic else ""
        content = " ".join(part for part in parts if part) or f"({', '.join(self.service)})"
        return "\n".join([f"{self.sender.first_name}{where}: {content}", *rows])


@dataclass
class FakeTopic:
    """A topic of a forum."""

    number: int
    name: str
    closed: bool = False


@dataclass
class ShownDraft:
    """Text that the bot is still writing."""

    number: int
    text: str
    entities: Entities
    topic: int | None
    can_stop: bool
    at: float
    ended: bool = False


@dataclass(eq=False)
class FakeChat:
    """A private chat, a group or a supergroup. A forum is a supergroup with topics."""

    number: int
    kind: ChatKind
    changes: Changes
    now: Callable[[], float]
    numbers: Iterator[int]
    title: str = ""
    person: Account | None = None
    forum: bool = False
    members: dict[int, Account] = field(default_factory=dict)
    bot_status: Literal["member", "administrator", "left", "kicked"] = "member"
    started: bool = True
    """In private chats: whether the person has written to the bot."""
    moved_to: "FakeChat | None" = None
    topics: dict[int, FakeTopic] = field(default_factory=dict)
    all_messages: dict[int, ShownMessage] = field(default_factory=dict)
    drafts: list[ShownDraft] = field(default_factory=list)
    """Every draft that was shown; a message ends it."""
    draft_life: float = 30.0
    actions: list[tuple[str, int | None]] = field(default_factory=list)
    """Every chat action, with its topic."""

    @property
    def private(self) -> bool:
        return self.kind == "private"

    @property
    def messages(self) -> list[ShownMessage]:
        """What is there now, oldest first, without Telegram's own messages."""
        return [each for each in self.all_messages.values() if not each.deleted and not each.service]

    @property
    def from_bot(self) -> list[ShownMessage]:
        return [each for each in self.messages if each.by_bot]

    @property
    def last(self) -> ShownMessage:
        """The bot's newest message."""
        return self.from_bot[-1]

    @property
    def shown(self) -> list[str]:
        """The chat in plain text: `Ana: hello`, and the bot's buttons as `[Allow once] [Deny]` on lines below."""
        return [str(each) for each in self.messages]

    @property
    def draft(self) -> ShownDraft | None:
        """The draft that is shown now."""
        newest = self.drafts[-1] if self.drafts else None
        return newest if newest and not newest.ended and self.now() - newest.at < self.draft_life else None

    def end_draft(self) -> None:
        if self.drafts:
            self.drafts[-1].ended = True

    async def until(self, find: Callable[[list[ShownMessage]], T | None], deadline: float = DEADLINE) -> T:
        """What `find` returns for the messages shown, once that is true."""
        return await self.changes.until(lambda: find(self.messages), deadline, self.describe)

    async def message(self, part: str, deadline: float = DEADLINE) -> ShownMessage:
        """The bot's newest message with this part of text, whenever it comes."""

        def found(messages: list[ShownMessage]) -> ShownMessage | None:
            return next((each for each in reversed(messages) if each.by_bot and part in each.text), None)

        return await self.until(found, deadline)

    async def button(self, label: str, deadline: float = DEADLINE) -> ShownMessage:
        """The bot's newest message with a button of this label, whenever it comes."""

        def found(messages: list[ShownMessage]) -> ShownMessage | None:
            return next((each for each in reversed(messages) if each.by_bot and label in each.buttons), None)

        return await self.until(found, deadline)

    def describe(self) -> str:
        return f"Chat {self.number} shows:\n" + "\n".join(self.shown)

    def find(self, number: int) -> ShownMessage | None:
        """A message that has not been deleted."""
        found = self.all_messages.get(number)
        return None if found is None or found.deleted else found

    def add(self, message: ShownMessage) -> ShownMessage:
        self.all_messages[message.number] = message
        self.changes.notify()
        return message

    def open_topic(self, name: str, creator: Account) -> FakeTopic:
        number = next(self.numbers)
        self.topics[number] = FakeTopic(number, name)
        service = {"forum_topic_created": {"name": name, "icon_color": 7322096}}
        self.add(ShownMessage(self, number, creator, topic=number, service=service))
        return self.topics[number]

    def thread_of(self, message: ShownMessage) -> int | None:
        """In a supergroup without topics, a reply belongs to the thread of what it replies to."""
        if message.topic or self.kind != "supergroup" or self.forum or not message.reply_to:
            return message.topic
        return self.thread_of(message.reply_to) or message.reply_to.number

    def as_json(self) -> dict[str, Any]:
        if self.person:
            return {"id": self.number, "type": "private", **_names(self.person)}
        forum = {"is_forum": True} if self.forum else {}
        return {"id": self.number, "type": self.kind, "title": self.title, **forum}


def _names(person: Account) -> dict[str, str]:
    names = {"first_name": person.first_name, "last_name": person.last_name, "username": person.username}
    return {key: value for key, value in names.items() if value}
