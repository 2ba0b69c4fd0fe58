"""Nobody grants by accident: presses that race with edits, other hands, cards that move, clocks that jump."""

from pathlib import Path

from handraise.surfaces.telegram.deliveries import Delivery
from handraise.surfaces.telegram.ledger import Ledger
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.texts import t
from surfaces.telegram.bots import ANA, BO, rigged
from surfaces.telegram.test_bot import group_rig


async def test_who_was_removed_gets_no_card_that_was_on_its_way(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.bo.start()
        await rig.ask()
        async with Ledger(rig.folder / "telegram.db", rig.clock) as ledger:
            await ledger.save_private_chat(BO.number, BO.number)
            await ledger.save_delivery(Delivery("a_1", ChatPlace(BO.number)))
        rig.configure(members=(ANA,))
        async with rig.bot():
            await rig.ana.private.button("Deny")
            await rig.api.confirmed()
        assert not any("npm test" in each.text for each in rig.bo.private.from_bot), rig.bo.private.describe()


async def test_who_was_removed_presses_in_vain(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        async with rig.bot():
            rig.bo.start()
            await rig.ask()
            card = await rig.bo.private.button("Deny")
            await rig.recorded(card)
            deny = card.button("Deny")["callback_data"]
        rig.configure(members=(ANA,))
        async with rig.bot():
            await rig.closed(card)
            rig.calm()
            assert await rig.bo.press_data(card, deny).toast() == t("telegram.press.stranger")
            assert await rig.state_of("a_1") == "open"
            assert card.text == t("telegram.card.retired")


async def test_a_chat_that_was_removed_answers_nothing_and_reads_nothing_more(tmp_path: Path) -> None:
    async with group_rig(tmp_path) as (rig, chat):
        async with rig.bot():
            await rig.ask()
            card = await chat.button("Deny")
            await rig.recorded(card)
            deny = card.button("Deny")["callback_data"]
        rig.configure(chats=())
        async with rig.bot():
            await rig.closed(card)
            rig.calm()
            assert await rig.ana.press_data(card, deny).toast() == t("telegram.press.unknown")
            rig.ana.start()
            await rig.press(rig.ana, await rig.ana.private.button("Deny"), "Deny")
            await rig.ana.private.message("ana denied")
            assert "denied" in await rig.ana.press_data(card, deny).toast(), "an old button is told the truth"
            assert (card.text, card.buttons) == (t("telegram.card.retired"), [])
        rig.configure(chats=(ChatPlace(chat.number),))
        async with rig.bot():
            await rig.ask("a_2")
            await chat.button("Deny")
            assert card.text == t("telegram.card.retired")


async def test_a_chat_that_is_added_again_gets_its_card_back(tmp_path: Path) -> None:
    async with group_rig(tmp_path) as (rig, chat):
        async with rig.bot():
            await rig.ask()
            card = await chat.button("Deny")
            await rig.recorded(card)
        rig.configure(chats=())
        async with rig.bot():
            await rig.closed(card)
        rig.configure(chats=(ChatPlace(chat.number),))
        async with rig.bot():
            await chat.button("Deny")
            assert await rig.press(rig.bo, card, "Deny") == "You denied npm test"
            await rig.closed(card)
            assert "bo denied" in card.text
        assert chat.from_bot == [card]


async def test_a_second_tap_does_not_confirm_before_the_edit_is_known(tmp_path: Path) -> None:
    """The phone shows *Confirm* before Telegram's answer to the edit reaches the hub."""
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Always allow")
        await rig.recorded(card)
        rig.calm()
        rig.api.fail("editMessageText", "silent-after")
        rig.ana.press(card, "Always allow")
        await card.chat.until(lambda _: any("Confirm" in each for each in card.buttons))
        (confirm,) = (each for each in card.buttons if "Confirm" in each)
        assert await rig.ana.press(card, confirm).toast() == t("telegram.press.early")
        assert await rig.state_of("a_1") == "open"
        assert "allowed" in await rig.press(rig.ana, card, confirm)


async def test_of_two_hands_each_confirms_for_itself(tmp_path: Path) -> None:
    async with group_rig(tmp_path) as (rig, chat), rig.bot():
        await rig.ask()
        card = await chat.button("Always allow")
        await rig.press(rig.ana, card, "Always allow")
        await chat.until(lambda _: any("Confirm" in each for each in card.buttons))
        (confirm,) = (each for each in card.buttons if "Confirm" in each)
        before = card.button(confirm)["callback_data"]
        assert await rig.press(rig.bo, card, confirm) == t("telegram.press.confirm_too")
        assert await rig.state_of("a_1") == "open"
        await chat.until(lambda _: card.button(confirm)["callback_data"] != before)
        await rig.press(rig.bo, card, confirm)
        await rig.until_state("a_1", "answered")


async def test_a_double_tap_on_one_card_does_not_allow_the_one_that_moves_there(tmp_path: Path) -> None:
    """Without its buttons the newer card is shorter, and the older one slides under the thumb."""
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1")
        older = await rig.ana.private.button("Allow once")
        await rig.ask("a_2")
        newer = await rig.ana.private.until(lambda all_: next((m for m in all_ if m.buttons and m is not older), None))
        for card in (older, newer):
            await rig.recorded(card)
        await rig.press(rig.ana, newer, "Allow once")
        await rig.closed(newer)
        assert await rig.ana.press(older, "Allow once").toast() == t("telegram.press.early")
        assert await rig.state_of("a_1") == "open"
        await rig.press(rig.ana, older, "Allow once")
        await rig.until_state("a_1", "answered")


async def test_a_clock_that_was_set_back_does_not_lock_the_cards(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Allow once")
        await rig.recorded(card)
        rig.clock.pass_by(-7200)
        assert "allowed" in await rig.press(rig.ana, card, "Allow once")
