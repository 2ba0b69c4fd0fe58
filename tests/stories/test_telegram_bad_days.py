"""Stories of bad days: one session of the real CLI, turn after turn, while Telegram and people do their worst."""

import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.request import Conversation
from handraise.model.answers import Allow, Answer, Deny, Filled
from handraise.model.asks import Answered, Ask, Form, Permission
from handraise.model.rules import Rule
from stories.bed import parts
from stories.telegram_house import TelegramHouse, telegram_house
from stories.test_visiting_links import sign_in
from surfaces.telegram.chats import DEADLINE, FakeChat, ShownMessage

PATIENCE = 2.0
"""Seconds for a call that gets no answer."""
TURNS = ("limits", "failures", "silence", "drops", "twice", "deleted", "blocked", "upgraded")
ALLOWED = "You allowed python3 mark.py "
DENIED = "You denied python3 mark.py "


def marking(name: str) -> Scripted:
    """A turn that runs a command of its own, and says what became of it."""

    def script(conversation: Conversation) -> Script:
        conversation = yield [use("Bash", command=f"python3 mark.py {name}", description=f"Mark {name}")]
        yield [say(f"End of {name}: {conversation.result().text}")]

    return script


SCRIPT = parts(visit=sign_in, **{name: marking(name) for name in TURNS})


@dataclass
class BadDay:
    """Ana talks to one session in her private chat. Its cards come there and in a group of hers."""

    there: TelegramHouse
    pressed: dict[str, Answer] = field(default_factory=dict)
    """What was pressed, by the turn."""

    @property
    def team(self) -> FakeChat:
        """The group, under its current number."""
        assert self.there.team is not None
        return self.there.team.moved_to or self.there.team

    def begin(self, name: str) -> None:
        """The next turn, by the name of its part."""
        self.there.ana.write(name if self.pressed else f"/new work {name}")

    async def card(self, name: str, chat: FakeChat | None = None) -> ShownMessage:
        message = await (chat or self.there.chat).message(f"Run python3 mark.py {name}?", DEADLINE)
        await self.there.shows(message, "Allow once")
        return message

    async def press(self, card: ShownMessage, name: str, label: str, answer: Answer) -> None:
        toast = await self.there.press(card, label)
        assert toast == (ALLOWED if isinstance(answer, Allow) else DENIED) + name
        self.pressed[name] = answer

    async def end(self, name: str, part: str = "") -> None:
        """Claude has gone on, and Ana has its answer."""
        await self.there.chat.message(f"End of {name}: {part}", DEADLINE)

    async def assert_all_is_right(self) -> None:
        """Everything was settled as it was pressed, every card says so, and nothing came twice."""
        assert not any(each.times for each in self.there.api.faults.planned), "everything that was planned went wrong"
        assert len(await self.there.hub.desk.sessions()) == 1
        asks = await self.there.hub.desk.asks(state=None)
        settled = {name: ask.settlement for ask in asks for name in turns_of(ask)}
        assert settled.keys() == self.pressed.keys()
        for name, answer in self.pressed.items():
            found = settled[name]
            assert isinstance(found, Answered)
            assert (found.answer, found.source) == (answer, "telegram")
            assert (self.there.home.work / name).exists() == isinstance(answer, Allow)
        assert await self.there.hub.desk.asks() == []
        for chat in (self.there.chat, self.team):
            await chat.until(lambda shown: not any(each.buttons for each in shown) or None, DEADLINE)
            texts = [each.text for each in chat.from_bot]
            assert len(texts) == len(set(texts)), texts


def turns_of(ask: Ask) -> list[str]:
    """The turn that a request belongs to; none for what a rule answered."""
    match ask.body:
        case Form():
            return ["visit"]
        case Permission(tool="Bash", input=call):
            return [str(call["command"]).split()[-1]]
        case _:
            return []


@pytest.fixture(scope="module")
async def day(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BadDay]:
    tmp = tmp_path_factory.mktemp("telegram")
    os.mkfifo(tmp / "completed")
    arguments = [str(Path(__file__).with_name("link_server.py")), str(tmp / "completed")]
    links = {"type": "stdio", "command": sys.executable, "args": arguments, "alwaysLoad": True}
    rules = (Rule("r_1", "allow", tool="mcp__links__sign_in"),)
    home = telegram_house(tmp, SCRIPT, servers={"links": links}, rules=rules, group="Team", deadline=PATIENCE)
    async with home as there:
        (there.home.work / "mark.py").write_text("import sys\nopen(sys.argv[1], 'w')\n")
        yield BadDay(there)


async def test_a_turn_after_another_while_the_server_fails(day: BadDay) -> None:
    api = day.there.api
    api.refuse("sendMessage", 429, "Too Many Requests: retry after 5", retry_after=5)
    day.begin("limits")
    await day.press(await day.card("limits"), "limits", "Allow once", Allow())
    await day.end("limits")
    refused = next(each for each in api.calls if each.status == 429)
    sent = next(each for each in api.calls if each.status == 200 and each.params == refused.params)
    assert sent.at - refused.at > 4.9, "Telegram's time is kept"

    for method in ("sendMessage", "editMessageText", "getUpdates"):
        api.fail(method, "500")
        api.fail(method, "502")
    day.begin("failures")
    await day.press(await day.card("failures", day.team), "failures", "Deny", Deny())
    await day.end("failures")

    api.fail("sendMessage", "silent")
    day.begin("silence")
    await day.press(await day.card("silence"), "silence", "Allow once", Allow())
    await day.end("silence")
    assert api.silent == 1

    api.fail("sendMessage", "drop")
    api.fail("editMessageText", "drop", 2)
    day.begin("drops")
    card = await day.card("drops")
    api.fail("getUpdates", "drop", 2)
    api.cut()
    await day.press(card, "drops", "Deny", Deny())
    await day.end("drops")

    day.begin("twice")
    card = await day.card("twice")
    await day.there.press(card, "Deny with a reason")
    await day.there.text(card, "Reply to this message")
    day.there.ana.write("Use `make`.", reply_to=card)
    day.pressed["twice"] = Deny("Use `make`.")
    await day.end("twice", "Use make.")
    delivered = len(api.world.updates.delivered)
    again = api.world.updates.deliver_again()
    await api.until(lambda: len(api.world.updates.delivered) >= delivered + again)
    await api.confirmed()
    assert "ana denied python3 mark.py twice: “Use ˋmakeˋ.” (telegram)" in await day.there.closed(card)
    await day.assert_all_is_right()


async def test_a_turn_after_another_while_people_delete_block_and_upgrade(day: BadDay) -> None:
    there, api = day.there, day.there.api
    day.begin("deleted")
    card = await day.card("deleted")
    why = card.button("Deny with a reason")["callback_data"]
    there.ana.delete(card)
    there.clock.skip(5)
    await there.ana.press_data(card, why).toast()
    again = await there.chat.message("Run python3 mark.py deleted?", DEADLINE)
    assert again is not card
    await there.text(again, "Reply to this message")
    there.ana.write("Not now.", reply_to=again)
    day.pressed["deleted"] = Deny("Not now.")
    await day.end("deleted", "Not now.")

    day.begin("blocked")
    card = await day.card("blocked")
    in_group = await day.card("blocked", day.team)
    there.ana.block()
    await day.press(in_group, "blocked", "Allow once", Allow())
    await there.closed(in_group)
    await api.until(lambda: any(each.status == 403 for each in api.calls), DEADLINE)
    there.ana.unblock()
    assert "ana allowed python3 mark.py blocked (telegram)" in await there.closed(card)
    await day.end("blocked")

    day.begin("upgraded")
    await day.card("upgraded", day.team)
    api.upgrade(day.team)
    moved = await day.card("upgraded", day.team)
    await day.press(moved, "upgraded", "Deny", Deny())
    await day.end("upgraded")

    day.begin("visit")
    card = await day.team.message("Please sign in to Example", DEADLINE)
    assert "https://login.example.com:8443/oauth?x=1" in card.text
    await there.press(card, "Done")
    assert "ana finished on the website (telegram)" in await there.closed(card)
    day.pressed["visit"] = Filled("accept")
    await there.chat.message('The tool: {"action": "accept"}', DEADLINE)
    await day.assert_all_is_right()
