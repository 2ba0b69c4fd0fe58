"""What a test can do with a Bot API server in another process: people act, chats are read, faults are planned."""

from collections.abc import Awaitable, Callable
from typing import Any

from surfaces.telegram.bot_api import BotApi
from surfaces.telegram.chats import FakeChat, ShownMessage
from surfaces.telegram.people import Someone

Action = Callable[[dict[str, Any]], Awaitable[Any]]


class Control:
    """Each action takes and returns plain JSON. People, chats and messages go by their numbers."""

    def __init__(self, api: BotApi) -> None:
        self._api = api
        self._people: dict[int, Someone] = {}
        self._actions: dict[str, Action] = {
            "person": self._person,
            "forum": self._forum,
            "write": self._write,
            "press": self._press,
            "toast": self._toast,
            "delete": self._delete,
            "messages": self._messages,
            "wait": self._wait,
            "fail": self._fail,
            "refuse": self._refuse,
            "conflict": self._conflict,
            "deliver_again": self._deliver_again,
            "counts": self._counts,
        }

    async def perform(self, action: str, details: dict[str, Any]) -> Any:
        return await self._actions[action](details)

    async def _person(self, details: dict[str, Any]) -> Any:
        person = self._api.someone(details["number"], details["first_name"], username=details.get("username", ""))
        self._people[person.number] = person

    async def _forum(self, details: dict[str, Any]) -> Any:
        return self._api.forum(details["title"], *(self._people[each] for each in details["people"])).number

    async def _write(self, details: dict[str, Any]) -> Any:
        person = self._people[details["person"]]
        chat = self._chat(details, person)
        reply_to = chat.all_messages[details["reply_to"]] if details.get("reply_to") else None
        return as_plain(person.write(details["text"], chat, details.get("topic"), reply_to))

    async def _press(self, details: dict[str, Any]) -> Any:
        person = self._people[details["person"]]
        message = self._chat(details, person).all_messages[details["message"]]
        if "data" in details:
            return person.press_data(message, details["data"]).id
        return person.press(message, details["label"]).id

    async def _toast(self, details: dict[str, Any]) -> Any:
        return await self._api.world.presses[details["press"]].toast()

    async def _delete(self, details: dict[str, Any]) -> Any:
        person = self._people[details["person"]]
        person.delete(self._chat(details, person).all_messages[details["message"]])

    async def _messages(self, details: dict[str, Any]) -> Any:
        return [as_plain(each) for each in self._api.world.chats[details["chat"]].messages]

    async def _wait(self, details: dict[str, Any]) -> Any:
        chat = self._api.world.chats[details["chat"]]
        if "label" in details:
            return as_plain(await chat.button(details["label"]))
        return as_plain(await chat.message(details["text"]))

    async def _fail(self, details: dict[str, Any]) -> Any:
        self._api.fail(details["method"], details["fault"], details.get("times", 1))

    async def _refuse(self, details: dict[str, Any]) -> Any:
        more = details.get("parameters", {})
        self._api.refuse(details["method"], details["code"], details["description"], details.get("times", 1), **more)

    async def _conflict(self, details: dict[str, Any]) -> Any:
        self._api.conflict(details["seconds"])

    async def _deliver_again(self, details: dict[str, Any]) -> Any:
        return self._api.world.updates.deliver_again()

    async def _counts(self, details: dict[str, Any]) -> Any:
        """How often each method was answered with each status, and how many calls the limits refused."""
        counts: dict[str, int] = {"429 by the limits": self._api.refused}
        for call in self._api.calls:
            key = f"{call.method} {call.status}"
            counts[key] = counts.get(key, 0) + 1
        return counts

    def _chat(self, details: dict[str, Any], person: Someone) -> FakeChat:
        return self._api.world.chats[details["chat"]] if details.get("chat") else person.private


def as_plain(message: ShownMessage) -> dict[str, Any]:
    return {
        "number": message.number,
        "topic": message.topic,
        "by_bot": message.by_bot,
        "text": message.text,
        "labels": message.labels,
        "edits": len(message.history),
        "file": message.file.name if message.file else None,
    }
