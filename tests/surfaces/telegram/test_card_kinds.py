"""Every kind of ask, answered by presses and replies."""

from pathlib import Path

from desk.hubs import QUESTION
from handraise.model.answers import Answer, Approve, Choice, Choices, Deny, Filled, Revise, Trusting
from handraise.model.asks import Answered, Expired, Form, Option, Permission, Plan, Prompt, Question
from handraise.model.projects import Patience
from handraise.model.trust import Trust
from handraise.texts import t
from surfaces.telegram.bots import BotRig, rigged

WHICH = Question(
    (
        Prompt("Which database?", "Store", (Option("SQLite"), Option("Postgres"))),
        Prompt("Which checks?", "Checks", (Option("lint"), Option("types"), Option("tests")), multi_select=True),
    )
)
FIELDS = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}


async def answer_of(rig: BotRig, ask: str = "a_1") -> Answer:
    await rig.until_state(ask, "answered")
    settlement = (await rig.hub.desk.ask(ask)).settlement
    assert isinstance(settlement, Answered)
    return settlement.answer


def starting(labels: list[str], start: str) -> str:
    """The label that begins like this, whatever tick stands before it."""
    return next(each for each in labels if start in each)


async def press(rig: BotRig, label: str) -> str:
    """Ana presses the button with this in its label, on the newest card."""
    card = await rig.ana.private.until(
        lambda _: next(
            (each for each in reversed(rig.ana.private.from_bot) if any(label in own for own in each.buttons)), None
        )
    )
    await rig.recorded(card)
    toast = await rig.press(rig.ana, card, starting(card.buttons, label))
    assert toast != t("telegram.press.stale")
    return toast


async def test_a_question(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", QUESTION)
        await press(rig, "Postgres")
        assert await answer_of(rig) == Choices((Choice(("Postgres",)),))


async def test_a_question_with_words_of_ones_own(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", QUESTION)
        card = await rig.ana.private.message("Which database?")
        await rig.recorded(card)
        rig.ana.write("DuckDB", reply_to=card)
        assert await answer_of(rig) == Choices((Choice((), "DuckDB"),))
        await rig.closed(card)
        assert rig.side.messages == [], "a reply to a card is not a message to Claude"


async def test_a_reply_that_begins_with_a_slash_is_a_text_unless_it_is_a_command(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", QUESTION)
        card = await rig.ana.private.message("Which database?")
        await rig.recorded(card)
        rig.ana.write("/help", reply_to=card)
        rig.ana.write("/tmp", reply_to=card)
        assert await answer_of(rig) == Choices((Choice((), "/tmp"),))
        assert ("ana", "help", "") in rig.side.orders


async def test_several_questions_with_ticks(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", WHICH)
        await press(rig, "SQLite")
        await press(rig, "lint")
        await press(rig, "tests")
        await press(rig, "⬜️ 2. types")
        await press(rig, "✅ 1. lint")
        await rig.ana.private.button("⬜️ 1. lint")
        await press(rig, "Done")
        await press(rig, "Send")
        assert await answer_of(rig) == Choices((Choice(("SQLite",)), Choice(("types", "tests"))))
        assert len(rig.ana.private.from_bot) == 1


async def test_ticks_faster_than_the_message_changes(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", Question((WHICH.questions[1],)))
        card = await rig.ana.private.message("Which checks?")
        await rig.recorded(card)
        rig.calm()
        with_old_buttons = [each["callback_data"] for row in card.keyboard for each in row]
        lint, types, tests, *_ = with_old_buttons
        presses = [rig.ana.press_data(card, each) for each in (lint, tests, types, lint)]
        toasts = [await each.toast() for each in presses]
        assert toasts == ["", "", "", t("telegram.press.stale")], "the second press on a row shows what it was"
        await card.chat.until(lambda _: sum("✅" in each for each in card.buttons) == 3)
        done = next(each for row in card.keyboard for each in row if each["text"] == "Done")["callback_data"]
        assert done not in with_old_buttons
        await press(rig, "Done")
        assert await answer_of(rig) == Choices((Choice(("lint", "types", "tests")),))


async def test_a_permission_denied_with_a_reason(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        await press(rig, "Deny with a reason")
        card = await rig.ana.private.message("Reply to this message")
        rig.ana.write("Use make test", reply_to=card)
        assert await answer_of(rig) == Deny("Use make test")


async def test_a_long_diff_comes_as_a_file_and_takes_two_presses(tmp_path: Path) -> None:
    command = "\n".join(f"echo {number} {'x' * 80}" for number in range(200))
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", Permission("Bash", {"command": command}))
        await press(rig, "Allow once")
        files = [each.file for each in rig.ana.private.from_bot if each.file]
        assert [each.content.decode() for each in files if each] == [f"{command}\n"]
        assert await rig.state_of("a_1") == "open"
        await press(rig, "Confirm")
        await answer_of(rig)


async def test_a_plan_is_approved(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", Plan("1. Write it\n2. Test it"))
        await press(rig, "Approve")
        assert await answer_of(rig) == Approve()


async def test_a_plan_is_sent_back(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", Plan("1. Write it\n2. Test it"))
        await press(rig, "Send back")
        card = await rig.ana.private.message("Reply to this message")
        rig.ana.write("Test first", reply_to=card)
        assert await answer_of(rig) == Revise("Test first")


async def test_a_form(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", Form("Who are you?", "crm", FIELDS))
        await press(rig, "Fill in")
        card = await rig.ana.private.message("Reply to this message")
        rig.ana.write("Ana", reply_to=card)
        await press(rig, "Send")
        assert await answer_of(rig) == Filled("accept", {"name": "Ana"})


async def test_trusting_a_directory_takes_an_admin_and_two_presses(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        rig.bo.start()
        await rig.ask("a_1", Trust("/work/app", (), {}))
        await press(rig, "Trust")
        assert await rig.state_of("a_1") == "open"
        await press(rig, "Confirm")
        assert await answer_of(rig) == Trusting("exactly")


async def test_a_withdrawn_ask_says_so(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask()
        card = await rig.ana.private.button("Deny")
        await rig.hub.inbox.withdraw("a_1", "The session was stopped.")
        await rig.closed(card)
        assert "The session was stopped." in card.text


async def test_an_expired_ask_says_so_and_a_late_answer_too(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", QUESTION, patience=Patience(question=0.5))
        card = await rig.ana.private.message("Which database?")
        await rig.closed(card)
        assert "Postgres" not in card.text
        await rig.answer_elsewhere("a_1", Choices((Choice(("Postgres",)),)))
        await card.chat.until(lambda _: "dee" in card.text)
        assert "Postgres" in card.text


async def test_a_late_answer_by_reply(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", QUESTION, patience=Patience(question=0.5))
        card = await rig.ana.private.message("Which database?")
        await rig.closed(card)
        rig.ana.write("DuckDB", reply_to=card)
        await card.chat.until(lambda _: "DuckDB" in card.text)
        settlement = (await rig.hub.desk.ask("a_1")).settlement
        assert isinstance(settlement, Expired)
        assert settlement.late is not None


async def test_a_reply_to_an_answered_card_is_told_so(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig, rig.bot():
        await rig.ask("a_1", QUESTION)
        card = await rig.ana.private.message("Which database?")
        await rig.recorded(card)
        await rig.answer_elsewhere("a_1", Choices((Choice(("SQLite",)),)))
        await rig.closed(card)
        rig.ana.write("DuckDB", reply_to=card)
        reply = await rig.ana.private.message("Already answered")
        assert "dee" in reply.text
