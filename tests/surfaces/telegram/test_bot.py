"""The bot: cards that appear, are pressed, and are closed."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handraise.model.actors import Person
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Answered, Permission, Plan
from handraise.model.projects import Options
from handraise.surfaces.telegram.dispatch import WrittenCommand, read_command
from handraise.surfaces.telegram.outgoing import ChatPlace
from surfaces.telegram.bots import NEVER_SEEN, BotRig, rigged
from surfaces.telegram.chats import FakeChat


async def test_a_permission_is_allowed_by_a_press(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Allow once")
        assert "npm test" in card.text
        assert await rig.press(rig.ana, card, "Allow once") == "You allowed npm test"
        await rig.closed(card)
        assert "ana allowed" in card.text
        settlement = (await rig.hub.desk.ask("a_1")).settlement
        assert isinstance(settlement, Answered)
        assert settlement.source == "telegram"
        assert isinstance(settlement.by, Person)
        assert settlement.by.name == "ana"


async def test_a_press_on_what_has_just_appeared_does_not_allow_it(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Allow once")
        await rig.ana.press(card, "Allow once").toast()
        assert await rig.state_of("a_1") == "open"
        assert await rig.press(rig.ana, card, "Allow once") == "You allowed npm test"


async def test_what_was_answered_elsewhere_says_so_and_has_no_buttons(tmp_path: Path) -> None:  # lesson 33
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Allow once")
        await rig.answer_elsewhere("a_1", Deny())
        await rig.closed(card)
        assert "dee denied" in card.text


async def test_a_late_press_is_told_who_was_first(tmp_path: Path) -> None:  # lesson 30
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Allow once")
        allow = card.button("Allow once")["callback_data"]
        await rig.answer_elsewhere("a_1", Deny())
        await rig.closed(card)
        rig.calm()
        press = rig.ana.press_data(card, allow)
        toast = await press.toast()
        assert "dee" in toast
        assert "web" in toast
        settlement = (await rig.hub.desk.ask("a_1")).settlement
        assert isinstance(settlement, Answered)
        assert settlement.answer == Deny()


async def test_of_two_at_once_the_first_wins_and_the_other_is_told(tmp_path: Path) -> None:
    async with group_rig(tmp_path) as (rig, chat), rig.bot():
        await rig.ask()
        card = await chat.button("Allow once")
        await rig.recorded(card)
        rig.calm()
        presses = [rig.ana.press(card, "Allow once"), rig.bo.press(card, "Deny")]
        toasts = [await each.toast() for each in presses]
        settlement = (await rig.hub.desk.ask("a_1")).settlement
        assert isinstance(settlement, Answered)
        assert isinstance(settlement.by, Person)
        winner = ["ana", "bo"].index(settlement.by.name)
        assert toasts[winner].startswith("You ")
        assert settlement.by.name in toasts[1 - winner]
        assert "telegram" in toasts[1 - winner]


async def test_the_same_press_twice_answers_once(tmp_path: Path) -> None:  # lesson 29
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        await rig.recorded(card)
        rig.calm()
        presses = [rig.ana.press(card, "Deny"), rig.ana.press(card, "Deny")]
        assert [await each.toast() for each in presses] == ["You denied npm test"] * 2
        await rig.api.confirmed()
        assert len([each for each in await rig.hub.desk.audit(ask="a_1") if each.what == "answered"]) == 1


async def test_updates_that_come_again_do_nothing(tmp_path: Path) -> None:  # lesson 56
    async with rigged(tmp_path) as rig, rig.bot():
        rig.ana.write("fix the tests")
        await rig.api.until(lambda: bool(rig.side.messages))
        await rig.api.confirmed()
        assert rig.api.world.updates.deliver_again()
        rig.ana.write("and the docs")
        await rig.until(lambda: len(rig.side.messages) == 2)
        assert rig.side.messages == [("ana", "fix the tests"), ("ana", "and the docs")]


async def test_a_button_carries_a_short_id_and_nothing_else(tmp_path: Path) -> None:  # lesson 55
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask(body=Permission("Bash", {"command": "echo " + "long " * 500}))
        card = await rig.ana.private.button("Deny")
        ids = [button["callback_data"] for row in card.keyboard for button in row if "callback_data" in button]
        assert len(set(ids)) == len(ids) >= 4
        assert all(re.fullmatch(r"[\w-]{16}", each) for each in ids)


async def test_a_forged_button_does_nothing(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Allow once")
        for data in ("a_1:allow", "x" * 16, "A" * 64):
            assert await rig.ana.press_data(card, data).toast() == "This button no longer works."
        assert await rig.state_of("a_1") == "open"


async def test_a_button_of_another_chat_does_nothing(tmp_path: Path) -> None:  # lesson 26
    async with rigged(tmp_path) as rig, rig.bot():
        rig.bo.start()
        await rig.ask()
        hers = await rig.ana.private.button("Deny")
        his = await rig.bo.private.button("Deny")
        press = rig.bo.press_data(his, hers.button("Deny")["callback_data"])
        assert await press.toast() == "This button isn't yours."
        assert press.alert
        assert await rig.state_of("a_1") == "open"


async def test_a_button_that_stayed_answers_its_own_ask_and_no_other(tmp_path: Path) -> None:  # lessons 27, 28
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1")
        card = await rig.ana.private.button("Deny")
        deny = card.button("Deny")["callback_data"]
        await rig.answer_elsewhere("a_1", Allow())
        await rig.closed(card)
        await rig.ask("a_2")
        await rig.ana.private.button("Deny")
        assert "dee" in await rig.ana.press_data(card, deny).toast()
        assert await rig.state_of("a_2") == "open"


async def test_in_a_group_only_members_can_press(tmp_path: Path) -> None:  # lesson 57
    async with group_rig(tmp_path) as (rig, chat), rig.bot():
        stranger = rig.api.someone(NEVER_SEEN, "Eve")
        stranger.join(chat)
        await rig.ask()
        card = await chat.button("Deny")
        press = stranger.press(card, "Deny")
        assert await press.toast() == "You're not allowed to use this bot."
        assert await rig.state_of("a_1") == "open"
        assert await rig.press(rig.bo, card, "Deny") == "You denied npm test"
        await rig.closed(card)
        assert "bo denied" in card.text


async def test_a_viewer_sees_but_cannot_answer(tmp_path: Path) -> None:
    async with group_rig(tmp_path) as (rig, chat), rig.bot():
        await rig.ask()
        card = await chat.button("Deny")
        assert await rig.press(rig.cy, card, "Deny") == "Requires the approver role (you are a viewer)."
        assert await rig.state_of("a_1") == "open"


async def test_a_viewer_gets_cards_without_buttons_in_private(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        rig.cy.start()
        await rig.ask()
        card = await rig.cy.private.message("npm test")
        assert card.buttons == []


async def test_an_ask_goes_to_its_projects_topic(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig:
        forum = rig.api.forum("Work", rig.ana, rig.bo)
        topic = rig.ana.open_topic(forum, "Shop")
        (tmp_path / "shop").mkdir()
        project = await rig.hub.desk.add_project(str(tmp_path / "shop"), "shop", Options())
        rig.configure(chats=(ChatPlace(forum.number),), routes={"shop": ChatPlace(forum.number, topic)})
        async with rig.bot():
            await rig.ask("a_1", project=project.id)
            await rig.ask("a_2")
            await rig.api.until(lambda: len(forum.from_bot) == 2)
            assert {each.topic for each in forum.from_bot} == {topic, None}


async def test_who_is_not_allowed_learns_their_number_and_nothing_else(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        stranger = rig.api.someone(NEVER_SEEN, "Eve")
        stranger.start()
        assert str(NEVER_SEEN) in (await stranger.private.message("not allowed")).text
        await rig.ask()
        await rig.ana.private.button("Deny")
        stranger.start()
        stranger.write("hello?")
        await rig.api.confirmed()
        assert len(stranger.private.from_bot) == 1
        assert rig.side.messages == []


async def test_cards_open_before_someone_starts_the_bot_reach_them_then(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig, rig.bot():
        await rig.ask()
        rig.ana.start()
        await rig.ana.private.button("Deny")


async def test_messages_and_commands_go_to_the_session_side(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        rig.ana.write("hello")
        rig.ana.write("/new fix it")
        rig.ana.write("/mode@handraise_test_bot plan")
        rig.ana.write("/mode@other_bot plan")
        rig.ana.write("/")
        await rig.until(lambda: len(rig.side.messages) == 2)
        assert rig.side.messages == [("ana", "hello"), ("ana", "/")]
        assert rig.side.orders == [("ana", "start", ""), ("ana", "new", "fix it"), ("ana", "mode", "plan")]


async def test_a_command_for_another_bot_is_not_ours_before_telegram_told_us_our_name(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.ana.write("/new@other_bot do it")
        rig.ana.write("/mode@handraise_test_bot plan")
        rig.api.fail("getMe", "500")
        async with rig.bot():
            await rig.until(lambda: len(rig.side.orders) == 2)
            assert rig.side.orders == [("ana", "start", ""), ("ana", "mode", "plan")]


async def test_a_group_that_is_not_in_the_settings_is_not_listened_to(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        other = rig.api.group("Other", rig.ana, admin=True)
        rig.ana.write("/new do it", other)
        await rig.api.confirmed()
        rig.ana.write("hello")
        await rig.until(lambda: rig.side.messages == [("ana", "hello")])
        assert rig.side.orders == [("ana", "start", "")]


async def test_a_button_of_the_session_side_comes_back_to_it(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        data = await rig.side.tools.bind(ChatPlace(rig.ana.number), "stop", "s_1")
        assert data == await rig.side.tools.bind(ChatPlace(rig.ana.number), "stop", "s_1")
        assert len(data) == 16
        assert await rig.ana.press_data(card, data).toast() == "Done"
        assert rig.side.presses == [("ana", "stop", "s_1")]


async def test_the_commands_are_registered(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot() as bot:
        await rig.api.until(lambda: bool(rig.api.world.commands))
        assert bot.status().bot == "handraise_test_bot"
        assert bot.status().trouble == ""


async def test_open_cards_can_be_shown_again(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        await rig.recorded(card)
        assert await rig.side.tools.show_again(ChatPlace(rig.ana.number)) == 1
        await rig.api.until(lambda: len(rig.ana.private.from_bot) == 2)
        again = rig.ana.private.last
        assert await rig.press(rig.ana, again, "Deny") == "You denied npm test"
        await rig.closed(card)
        await rig.closed(again)


async def test_the_messages_of_two_cards_do_not_mix(tmp_path: Path) -> None:
    plans = [Plan("\n\n".join(f"{name} {number} {'word ' * 150}" for number in range(12))) for name in ("Red", "Blue")]
    async with rigged(tmp_path) as rig, rig.bot():
        for number, plan in enumerate(plans):
            await rig.ask(f"a_{number}", plan)
        await rig.api.until(lambda: sum(bool(each.buttons) for each in rig.ana.private.from_bot) == 2)
        colors = ["Red" if "Red" in each.text else "Blue" for each in rig.ana.private.from_bot]
        assert len(colors) > 4
        assert colors == sorted(colors, reverse=colors[0] == "Red")


async def test_a_press_that_takes_long_is_acknowledged_before_it_is_done(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        rig.side.hangs = "stop"
        data = await rig.side.tools.bind(ChatPlace(rig.ana.number), "stop", "s_1")
        slow = rig.ana.press_data(card, data)
        assert await rig.press(rig.ana, card, "Deny") == "You denied npm test", "others don't wait for it"
        assert await slow.toast() == "Received"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/new fix it", WrittenCommand("new", "fix it")),
        ("/new\nfix it\nnow", WrittenCommand("new", "fix it\nnow")),
        ("/new fix\nit", WrittenCommand("new", "fix\nit")),
        ("/New@My_Bot x", WrittenCommand("new", "x", "my_bot")),
        ("/", None),
        ("/etc/passwd", None),
        ("hello", None),
        ("", None),
    ],
)
def test_commands_are_read_as_people_write_them(text: str, command: WrittenCommand | None) -> None:
    assert read_command(text) == command


@asynccontextmanager
async def group_rig(tmp: Path) -> AsyncIterator[tuple[BotRig, FakeChat]]:
    """Everyone in one group, which gets the cards."""
    async with rigged(tmp, started=False) as rig:
        chat = rig.api.supergroup("Team", rig.ana, rig.bo, rig.cy)
        rig.configure(chats=(ChatPlace(chat.number),))
        yield rig, chat
