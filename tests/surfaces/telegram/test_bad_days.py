"""Bad days: restarts, crashes, outages, limits, and chats that change or shut the bot out."""

import asyncio
import logging
from datetime import UTC, time
from pathlib import Path

import pytest

from handraise.model.answers import Allow, Deny
from handraise.model.asks import Permission, Plan
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import QuietHours
from handraise.texts import t
from surfaces.telegram.bot_api import TOKEN
from surfaces.telegram.bots import BotRig, NotedSide, rigged
from surfaces.telegram.chats import FakeChat
from surfaces.telegram.faults import Fault

LONG_COMMAND = Permission("Bash", {"command": "\n".join(f"echo {at}" * 9 for at in range(200))})
FIRST_LINE = "echo 0" * 9 + " …"
NO_FILES = "Bad Request: not enough rights to send documents to the chat"
LONG_PLAN = Plan("\n\n".join(f"Step {number}: {'word ' * 150}" for number in range(1, 13)))


async def test_after_a_restart_buttons_still_work_and_nothing_is_sent_twice(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        async with rig.bot():
            await rig.ask()
            card = await rig.ana.private.button("Deny")
        async with rig.bot():
            assert await rig.press(rig.ana, card, "Deny") == "You denied npm test"
            await rig.closed(card)
        assert rig.ana.private.from_bot == [card]


async def test_what_was_settled_while_the_bot_was_away_is_closed_at_its_start(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        async with rig.bot():
            await rig.ask("a_1")
            card = await rig.ana.private.button("Deny")
        await rig.answer_elsewhere("a_1", Allow())
        await rig.ask("a_2")
        async with rig.bot():
            await rig.closed(card)
            assert "dee allowed" in card.text
            await rig.ana.private.button("Deny")
        assert len(rig.ana.private.from_bot) == 2


async def test_a_press_while_the_bot_was_away_counts_at_its_start(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        async with rig.bot():
            await rig.ask()
            card = await rig.ana.private.button("Deny")
        press = rig.ana.press(card, "Deny")
        async with rig.bot():
            assert await press.toast() == "You denied npm test"
            assert await rig.state_of("a_1") == "answered"


@pytest.mark.parametrize("fault", ["silent", "silent-after"])
@pytest.mark.parametrize("message", [1, 2, 3])
async def test_killed_while_it_sends_a_card(tmp_path: Path, message: int, fault: Fault) -> None:
    """Whatever did not arrive for certain is sent again, and the buttons of every copy work."""
    async with rigged(tmp_path) as rig:
        for _ in range(message - 1):
            rig.api.fail("sendMessage", "works")
        rig.api.fail("sendMessage", fault)
        async with rig.bot():
            await rig.ask("a_1", LONG_PLAN)
            await rig.until(lambda: not rig.api.faults.planned[-1].times)
        before = list(rig.ana.private.from_bot)
        async with rig.bot():
            await rig.until(lambda: any(each.buttons and rig.knows(each) for each in rig.ana.private.from_bot))
            texts = [each.text for each in rig.ana.private.from_bot]
            doubled = len(texts) - len(set(texts))
            assert doubled == (1 if fault == "silent-after" else 0)
            assert rig.ana.private.from_bot[: len(before)] == before
            oldest = next(each for each in rig.ana.private.from_bot if each.buttons)
            await rig.press(rig.ana, oldest, "Pause and outline")
            assert await rig.state_of("a_1") == "answered"
            await rig.api.until(lambda: not any(each.buttons for each in rig.ana.private.from_bot))


async def test_a_connection_that_breaks_after_the_card_arrived_leaves_two_that_work(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        rig.api.fail("sendMessage", "drop-after")
        await rig.ask()
        await rig.api.until(lambda: len(rig.ana.private.from_bot) == 2)
        unknown, known = rig.ana.private.from_bot
        await rig.recorded(known)
        assert await rig.press(rig.ana, unknown, "Deny") == "You denied npm test"
        await rig.closed(unknown)
        await rig.closed(known)


async def test_asks_that_open_and_settle_in_an_outage_are_right_after_it(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1")
        first = await rig.ana.private.button("Deny")
        await rig.recorded(first)
        with rig.api.outage():
            await rig.ask("a_2")
            await rig.ask("a_3")
            await rig.until(lambda: rig.deliveries("a_2") == rig.deliveries("a_3") == ["open"])
            await rig.answer_elsewhere("a_1", Deny())
            await rig.answer_elsewhere("a_2", Deny())
            await rig.until(lambda: rig.deliveries("a_2") == ["closed"])
        await rig.closed(first)
        third = await rig.ana.private.button("Deny")
        await rig.recorded(third)
        assert rig.ana.private.from_bot == [first, third], "what was over before it could be sent isn't sent"
        assert await rig.press(rig.ana, third, "Deny") == "You denied npm test"


@pytest.mark.parametrize("fault", ["500", "502", "drop"])
async def test_calls_that_fail_are_made_again(tmp_path: Path, fault: Fault) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        rig.api.fail("sendMessage", fault, 3)
        rig.api.fail("editMessageText", fault, 3)
        rig.api.fail("getUpdates", fault, 3)
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        assert await rig.press(rig.ana, card, "Deny") == "You denied npm test"
        await rig.closed(card)


async def test_429_is_waited_out_and_nothing_is_lost(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        rig.api.refuse("sendMessage", 429, "Too Many Requests: retry after 5", retry_after=5)
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        rig.api.refuse("editMessageText", 429, "Too Many Requests: retry after 5", retry_after=5)
        press = rig.ana.press(card, "Deny")
        assert await press.toast() == "You denied npm test", "presses don't wait behind the outbox"  # lesson 54
        await rig.closed(card)


async def test_409_after_a_restart_is_ridden_out(tmp_path: Path) -> None:  # lesson 58
    async with rigged(tmp_path) as rig:
        rig.api.conflict(50)
        async with rig.bot() as bot:
            await rig.ask()
            rig.bo.start()
            await rig.bo.private.button("Deny")
            assert bot.status().trouble == ""


async def test_a_wrong_token_is_a_clear_sentence_and_the_hub_runs_on(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.configure(token="1:AAAAAAAAAAAAAAAAAAAAAAAAAA")
        async with rig.bot() as bot:
            await rig.until(lambda: bool(bot.status().trouble))
            assert bot.status().trouble == t("telegram.error.token")
            await rig.ask()
            assert await rig.state_of("a_1") == "open"


@pytest.mark.parametrize("code", [401, 404])
async def test_a_token_that_works_again_is_used_again(tmp_path: Path, code: int) -> None:
    """A proxy that starts before its Bot API server answers like this, too."""
    async with rigged(tmp_path) as rig, rig.bot() as bot:
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        rig.api.refuse("getUpdates", code, "Unauthorized" if code == 401 else "Not Found", 2)
        await rig.until(lambda: bot.status().trouble == t("telegram.error.token"))
        assert await rig.press(rig.ana, card, "Deny") == "You denied npm test"
        await rig.until(lambda: bot.status().trouble == "")


async def test_a_damaged_ledger_is_a_clear_sentence_and_the_hub_runs_on(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.folder.mkdir()
        (rig.folder / "telegram.db").write_bytes(b"not a database, and long enough to be looked at" * 100)
        async with rig.bot() as bot:
            assert bot.status().trouble == t("telegram.error.ledger")
            await rig.ask()
        assert rig.api.calls == []


async def test_a_deleted_card_comes_back_while_its_ask_is_open(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny with a reason")
        await rig.recorded(card)
        why = card.button("Deny with a reason")["callback_data"]
        rig.ana.delete(card)
        rig.calm()
        await rig.ana.press_data(card, why).toast()
        again = await rig.ana.private.message("npm test")
        rig.ana.write("not now", reply_to=again)
        await rig.api.until(lambda: "not now" in again.text)
        assert await rig.state_of("a_1") == "answered"


async def test_a_deleted_card_of_a_settled_ask_is_left_alone(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1")
        card = await rig.ana.private.button("Deny")
        await rig.recorded(card)
        rig.ana.delete(card)
        await rig.answer_elsewhere("a_1", Deny())
        await rig.api.until(lambda: rig.api.count("editMessageText", 400) == 1)
        await rig.ask("a_2")
        await rig.ana.private.button("Deny")
        assert len(rig.ana.private.from_bot) == 1


async def test_someone_who_blocked_the_bot_gets_what_is_open_after_unblocking(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot() as bot:
        await rig.ask("a_1")
        card = await rig.ana.private.button("Deny")
        await rig.recorded(card)
        rig.ana.block()
        await rig.until(lambda: bool(bot.status().chats))
        await rig.answer_elsewhere("a_1", Deny())
        await rig.ask("a_2")
        await rig.api.until(lambda: rig.api.count("sendMessage", 403) >= 1)
        rig.ana.unblock()
        await rig.closed(card)
        await rig.ana.private.button("Deny")
        assert bot.status().chats == ()
        assert len(rig.ana.private.from_bot) == 2


async def test_a_group_that_became_a_supergroup_is_followed(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig:
        old = rig.api.group("Team", rig.ana, rig.bo)
        rig.configure(chats=(ChatPlace(old.number),))
        async with rig.bot():
            await rig.ask("a_1")
            await rig.recorded(await old.button("Deny"))
            new = rig.api.upgrade(old)
            card = await new.button("Deny")
            await rig.recorded(card)
            await rig.ask("a_2")
            await rig.api.until(lambda: len(new.from_bot) == 2)
        async with rig.bot():
            assert await rig.press(rig.bo, card, "Deny") == "You denied npm test"
            await rig.closed(card)
            assert len(new.from_bot) == 2


async def test_a_migration_that_was_only_seen_in_an_answer_is_followed(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig:
        old = rig.api.group("Team", rig.ana, rig.bo)
        rig.configure(chats=(ChatPlace(old.number),))
        new = rig.api.upgrade(old)
        rig.api.world.updates.drop_all()
        async with rig.bot():
            await rig.ask()
            card = await new.button("Deny")
            assert await rig.press(rig.bo, card, "Deny") == "You denied npm test"


async def test_a_deleted_topic_does_not_lose_the_card(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig:
        forum = rig.api.forum("Work", rig.ana)
        rig.configure(chats=(ChatPlace(forum.number, 99),))
        async with rig.bot():
            await rig.ask()
            card = await forum.button("Deny")
            assert card.topic is None
            assert await rig.press(rig.ana, card, "Deny") == "You denied npm test"


async def test_a_group_without_files_gets_a_shortened_card_that_can_only_be_refused(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig:
        chat = rig.api.supergroup("Team", rig.ana)
        rig.configure(chats=(ChatPlace(chat.number),))
        rig.api.refuse("sendDocument", 400, NO_FILES, 2)
        async with rig.bot() as bot:
            await rig.ask("a_1", LONG_COMMAND)
            card = await chat.button("Deny")
            await rig.recorded(card)
            assert bot.status().chats == ()
        async with rig.bot():
            await rig.ask("a_2", LONG_COMMAND)
            await rig.recorded(await chat.until(lambda shown: shown[-1] if shown[-1] is not card else None))
            assert card.labels == [["Deny", "Deny with a reason"], ["Deny and stop"]], "also after a restart"
            assert "echo 0echo 0" in card.text
            assert t("telegram.card.no_files") in card.text
            rig.ana.write("yes, allow it", reply_to=card)
            await chat.until(lambda shown: shown[-1].text == t("telegram.card.no_files") or None)
            await rig.press(rig.ana, card, "Deny with a reason")
            await chat.until(lambda _: "Reply to this message" in card.text or None)
            rig.ana.write("too long", reply_to=card)
            await rig.closed(card)
        assert "ana denied" in card.text
        assert "too long" in card.text
        assert rig.api.count("sendDocument") == 0


async def test_a_shortened_card_is_whole_when_it_is_shown_again_and_files_are_allowed(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig:
        chat = rig.api.supergroup("Team", rig.ana)
        rig.configure(chats=(ChatPlace(chat.number),))
        rig.api.refuse("sendDocument", 400, NO_FILES, 2)
        async with rig.bot():
            await rig.ask("a_1", LONG_COMMAND)
            await rig.recorded(await chat.button("Deny"))
            for _ in range(2):
                await show_again(rig, chat)
            first, short, whole = [each for each in chat.from_bot if each.buttons]
            assert [each.file.name for each in chat.from_bot if each.file] == ["command.sh"]
            await chat.until(lambda _: all("Allow once" in each.buttons for each in (first, short, whole)) or None)
            await rig.press(rig.ana, whole, "Allow once")
            await chat.until(lambda _: "Confirm: Allow once" in whole.buttons or None)
            assert await rig.press(rig.ana, whole, "Confirm: Allow once") == "You allowed " + FIRST_LINE
            for each in (first, short, whole):
                await rig.closed(each)


async def show_again(rig: BotRig, chat: FakeChat) -> None:
    before = chat.last
    assert await rig.side.tools.show_again(ChatPlace(chat.number)) == 1
    await rig.api.until(lambda: chat.last is not before and bool(chat.last.buttons))
    await rig.recorded(chat.last)


async def test_a_button_of_a_whole_card_no_longer_grants_once_its_files_are_refused(tmp_path: Path) -> None:
    async with rigged(tmp_path, started=False) as rig:
        chat = rig.api.supergroup("Team", rig.ana)
        rig.configure(chats=(ChatPlace(chat.number),))
        async with rig.bot():
            await rig.ask("a_1", LONG_COMMAND)
            card = await chat.button("Allow once")
            await rig.recorded(card)
            allow = card.button("Allow once")["callback_data"]
            rig.api.refuse("sendDocument", 400, NO_FILES)
            await rig.side.tools.show_again(ChatPlace(chat.number))
            await chat.until(lambda _: "Allow once" not in card.buttons or None)
            rig.calm()
            assert await rig.ana.press_data(card, allow).toast() == t("telegram.press.stale")
            assert await rig.state_of("a_1") == "open"


async def test_in_quiet_hours_cards_come_without_a_sound(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.configure(quiet=QuietHours(time(11), time(13), UTC))
        async with rig.bot():
            await rig.ask("a_1")
            silent = await rig.ana.private.button("Deny")
            assert silent.silent
            rig.clock.pass_by(3600)
            await rig.ask("a_2")
            await rig.api.until(lambda: len(rig.ana.private.from_bot) == 2)
            assert not rig.ana.private.last.silent


async def test_a_message_that_was_being_handled_in_a_crash_is_not_repeated(tmp_path: Path) -> None:  # lesson 56
    async with rigged(tmp_path) as rig:
        async with rig.bot():
            rig.side.hangs = "new"
            rig.ana.write("/new do it")
            await rig.until(lambda: bool(rig.side.orders))
        async with rig.bot():
            await rig.until(lambda: bool(rig.side.cut_off))
            assert rig.side.cut_off == ["/new do it"]
            assert rig.side.orders == []


async def test_nothing_secret_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:  # lesson 60
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    async with rigged(tmp_path) as rig, rig.bot():
        rig.api.fail("sendMessage", "drop-after")
        rig.api.fail("sendMessage", "500")
        rig.api.fail("getUpdates", "drop")
        rig.api.refuse("editMessageText", 400, "Bad Request: the text 'npm test' is unfit")
        rig.ana.write("my secret words")
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        await rig.press(rig.ana, card, "Deny")
        await rig.closed(card)
    asyncio.get_running_loop().set_debug(False)
    logged = "\n".join(f"{each.__dict__} {each.getMessage()}" for each in caplog.records)
    assert {"asyncio", "handraise.telegram", "httpcore2.http11", "httpx2"} <= {each.name for each in caplog.records}
    assert "a card's message failed: Bad Request: the text" in logged
    assert TOKEN not in logged
    assert TOKEN.partition(":")[2] not in logged
    assert "npm test" not in logged
    assert "my secret words" not in logged


async def test_a_bot_that_cannot_start_is_a_clear_sentence_and_the_hub_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_side: NotedSide) -> NotedSide:
        raise RuntimeError("no memory of its sessions")

    monkeypatch.setattr(NotedSide, "__aenter__", fail)
    async with rigged(tmp_path) as rig, rig.bot() as bot:
        await rig.ask()
        assert bot.status().trouble == t("telegram.error.start")
        assert await rig.state_of("a_1") == "open"


async def test_strangers_who_block_the_bot_are_nobodys_trouble(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot() as bot:
        stranger = rig.api.someone(4711, "Eve")
        stranger.start()
        stranger.block()
        rig.ana.block()
        await rig.until(lambda: bool(bot.status().chats))
        assert [each.chat for each in bot.status().chats] == [rig.ana.number]
