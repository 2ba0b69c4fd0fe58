"""Everything that Telegram knows: chats, accounts, files, presses and waiting updates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from surfaces.telegram.chats import DEADLINE, Account, Changes, ChatKind, FakeChat, FakeFile, ShownMessage
from surfaces.telegram.rates import RateLimits, RateMeter
from surfaces.telegram.rules import RuleBroken, bad_request
from surfaces.telegram.updates import UpdateQueue

FIRST_SUPERGROUP = -1_001_000_000_001


@dataclass(eq=False)
class ButtonPress:
    """A button that someone pressed, and what the bot answered."""

    id: str
    person: Account
    message: ShownMessage
    data: str
    at: float
    changes: Changes
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def alert(self) -> bool:
        return bool(self.answers and self.answers[0].get("show_alert"))

    async def toast(self, deadline: float = DEADLINE) -> str:
        """What the bot answered; empty if only the waiting circle went away."""
        await self.changes.until(lambda: self.answers, deadline, lambda: f"The press {self.data!r} was not answered.")
        return str(self.answers[0].get("text", ""))


class FakeWorld:
    """The server's side of Telegram, for one bot."""

    def __init__(self, bot: Account, limits: RateLimits, clock: Callable[[], float], pace: float) -> None:
        self.bot = bot
        self.limits = limits
        self.pace = pace
        self.changes = Changes()
        self.updates = UpdateQueue(self.changes)
        self.meter = RateMeter(limits)
        self.chats: dict[int, FakeChat] = {}
        self.accounts: dict[int, Account] = {}
        self.files: dict[str, FakeFile] = {}
        self.presses: dict[str, ButtonPress] = {}
        self.commands: dict[str, list[dict[str, str]]] = {}
        self.webhook = ""
        """Where updates go instead of to getUpdates."""
        self.privacy = True
        """Whether the bot sees only what is meant for it in groups where it is not an administrator."""
        self._clock = clock
        self._begun = clock()
        # Supergroups count for themselves; all other chats of a bot share one counter.
        self._shared_numbers = count(101)
        self._ids = count(1)

    def now(self) -> float:
        """Telegram's seconds: `pace` times as fast as the clock's."""
        return (self._clock() - self._begun) * self.pace

    def private_chat(self, person: Account) -> FakeChat:
        self.accounts[person.number] = person
        chat = FakeChat(person.number, "private", self.changes, self.now, self._shared_numbers, person=person)
        chat.started, chat.draft_life = False, self.limits.draft_seconds * self.pace
        return self.chats.setdefault(person.number, chat)

    def group(self, kind: ChatKind, title: str, *, forum: bool, admin: bool) -> FakeChat:
        groups = sum(not each.private for each in self.chats.values())
        number = FIRST_SUPERGROUP - groups if kind == "supergroup" else -4_000_001 - groups
        numbers = count(2) if kind == "supergroup" else self._shared_numbers
        chat = FakeChat(number, kind, self.changes, self.now, numbers, title=title, forum=forum)
        chat.bot_status = "administrator" if admin else "member"
        self.chats[number] = chat
        return chat

    def upgrade(self, chat: FakeChat) -> FakeChat:
        """A group becomes a supergroup with another number."""
        admin = chat.bot_status == "administrator"
        made = self.group("supergroup", chat.title, forum=False, admin=admin)
        made.members = dict(chat.members)
        chat.moved_to = made
        sender = next(iter(chat.members.values()), self.bot)
        self.announce(chat, sender, {"migrate_to_chat_id": made.number})
        self.announce(made, sender, {"migrate_from_chat_id": chat.number})
        return made

    def announce(self, chat: FakeChat, sender: Account, service: dict[str, Any]) -> None:
        """Telegram's own messages reach the bot like any other."""
        message = chat.add(ShownMessage(chat, next(chat.numbers), sender, service=service))
        self.updates.put("message", message.as_json())

    def reach(self, number: int) -> FakeChat:
        """The chat, if the bot can write there."""
        chat = self.chats.get(number)
        if chat is None:
            raise bad_request("chat not found")
        if chat.moved_to:
            raise bad_request("group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.moved_to.number)
        if chat.private and chat.bot_status == "kicked":
            raise RuleBroken(403, "Forbidden: bot was blocked by the user")
        if not chat.started:
            raise RuleBroken(403, "Forbidden: bot can't initiate conversation with a user")
        name = "supergroup chat" if chat.kind == "supergroup" else "group chat"
        if chat.bot_status == "kicked":
            raise RuleBroken(403, f"Forbidden: bot was kicked from the {name}")
        if chat.bot_status == "left":
            raise RuleBroken(403, f"Forbidden: bot is not a member of the {name}")
        return chat

    def count(self, chat: FakeChat) -> None:
        """One more message or edit there. Raises 429 if that is too much."""
        self.meter.count(chat.number, chat.private, self.now())

    def store(self, name: str, content: bytes, mime: str, *, photo: bool) -> FakeFile:
        file = FakeFile(f"file{next(self._ids)}", name, content, mime, photo)
        self.files[file.id] = file
        if photo:
            self.files[f"{file.id}-s"] = file
        return file

    def press(self, person: Account, message: ShownMessage, data: str) -> ButtonPress:
        """Someone presses: the bot gets a callback."""
        made = ButtonPress(str(4_000_000_000_000 + next(self._ids)), person, message, data, self.now(), self.changes)
        self.presses[made.id] = made
        self.updates.put(
            "callback_query",
            {
                "id": made.id,
                "from": person.as_json(),
                "message": message.as_json() if not message.deleted else _inaccessible(message),
                "chat_instance": str(-message.chat.number * 7919),
                "data": data,
            },
        )
        return made


def _inaccessible(message: ShownMessage) -> dict[str, Any]:
    return {"chat": message.chat.as_json(), "message_id": message.number, "date": 0}
