"""The commands and buttons about sessions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desk.hubs import put_ask, put_session
from handraise.desk.interface import Refused
from handraise.model.items import Notice, SessionChanged, TurnStarted
from handraise.surfaces.telegram.outgoing import (
    ChatPlace,
    CloseTopic,
    CreateTopic,
    DeleteMessage,
    EditText,
    RenameTopic,
    ReopenTopic,
    SendDraft,
    SendText,
    Undeliverable,
)
from handraise.texts import t
from surfaces.telegram.session_bed import (
    BO,
    CY,
    GROUP,
    PRIVATE,
    SHOP,
    SessionBed,
    session_bed,
    session_ended,
    turn_ended,
)


@pytest.fixture
async def bed(tmp_path: Path) -> AsyncIterator[SessionBed]:
    async with session_bed(tmp_path) as made:
        await made.project("shop")
        yield made


async def test_new_names_its_project_or_says_which_there_are(bed: SessionBed) -> None:
    await bed.project("api")
    async with bed.running():
        await bed.write("/new fix it")
        assert bed.acts == []
        assert "Projects: api, shop" in bed.outbox.texts[0]
        await bed.write("/new api fix it")
        assert bed.acts[0][:3] == ("ana", "start", "fix it")
        await bed.write("/new fix it", place=SHOP)
        assert bed.acts[1][2:] == ("fix it", "shop")


async def test_new_without_words_asks_for_them(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new shop")
        assert bed.outbox.texts == ["What should Claude do? For example: /new Fix the tests"]


async def test_new_without_a_project_says_how_to_add_one(tmp_path: Path) -> None:
    async with session_bed(tmp_path) as bed, bed.running():
        await bed.write("/new fix it")
        assert bed.outbox.texts == [t("telegram.session.no_project")]


async def test_an_unknown_command_and_help_say_what_exists(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/sesions")
        await bed.write("/start", CY)
        assert bed.outbox.texts[0] == "Unknown command /sesions. Did you mean /sessions?"
        assert "/new – Start a session" in bed.outbox.texts[1]


async def test_sessions_are_listed_and_one_is_opened_by_its_button(bed: SessionBed) -> None:
    await put_session(bed.hub, "s_7", phase="working")
    await put_session(bed.hub, "s_8")
    async with bed.running():
        await bed.write("/sessions", CY)
        listed = await bed.outbox.message("1. Fix it")
        assert "working · /work/app" in listed.content.text
        assert await bed.press("1. Fix it", at=listed) == "Opened “Fix it”."
        opened = await bed.outbox.message("Reply to this message to write to Claude.")
        assert [button.label for row in opened.keyboard for button in row] in (["Interrupt", "Stop…"], ["Stop…"])
        await bed.write("hello")
        assert bed.last()[1] == "say"


async def test_a_reply_to_an_opened_session_reaches_it_in_a_group(bed: SessionBed) -> None:
    await put_session(bed.hub, "s_7")
    async with bed.running():
        await bed.write("/sessions", place=GROUP)
        await bed.press("1. Fix it", BO)
        await bed.outbox.message("Reply to this message")
        await bed.outbox.until(lambda: "501" in bed.ledger.rows["s_7", GROUP].detail)
        await bed.write("hello", BO, GROUP, reply_to=501)
        assert bed.last()[:4] == ("bo", "say", "s_7", "hello")


async def test_old_answers_of_an_opened_session_are_not_sent(bed: SessionBed) -> None:
    await put_session(bed.hub, "s_7")
    await bed.publish("s_7", TurnStarted(1), turn_ended("Old."))
    async with bed.running():
        await bed.write("/sessions")
        await bed.press("1. Fix it")
        await bed.turn("s_7", "New.")
        await bed.outbox.message("New.")
        assert not any("Old." in text for text in bed.outbox.texts)


async def test_no_sessions_is_a_sentence(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/sessions")
        assert bed.outbox.texts == [t("telegram.session.no_sessions")]


async def test_the_inbox_shows_cards_again_or_says_where_they_are(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/inbox")
        await put_session(bed.hub)
        await put_ask(bed.hub)
        await bed.write("/inbox")
        assert bed.outbox.texts == ["Nothing is waiting for you.", "1 request is waiting in another chat."]
        bed.cards[PRIVATE] = 1
        await bed.write("/inbox")
        assert len(bed.outbox.texts) == 2


async def test_the_mode_is_shown_and_changed_but_never_to_never_ask(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new fix it")
        await bed.write("/mode")
        shown = await bed.outbox.message("Permission mode of “Fix it”: Ask first")
        assert [button.label for row in shown.keyboard for button in row] == ["Accept edits", "Plan only"]
        assert await bed.press("Plan only", at=shown) == "Permission mode: Plan only"
        assert bed.last() == ("ana", "mode", "s_1", "plan")
        await bed.write("/mode acceptEdits")
        assert bed.last() == ("ana", "mode", "s_1", "acceptEdits")
        await bed.write("/mode bypassPermissions")
        assert len(bed.acts) == 3
        await bed.outbox.message("Unknown permission mode.")
        assert await bed.press("Plan only", BO, shown) == "Requires the admin role (you are an approver)."


async def test_stop_asks_once(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new fix it")
        await bed.write("/stop")
        question = await bed.outbox.message("Stop “Fix it”? You can resume it later.")
        assert [act[1] for act in bed.acts] == ["start"]
        assert await bed.press("Keep it running", at=question) == "“Fix it” keeps running."
        assert await bed.press("Stop it", CY, question) == "Requires the admin role (you are a viewer)."
        assert await bed.press("Stop it", at=question) == "Stopping “Fix it”."
        assert bed.last() == ("ana", "stop", "s_1")
        edit = bed.outbox.of(EditText)[-1]
        assert (edit.content.text, edit.keyboard) == ("Stopping “Fix it”.", ())


async def test_a_press_that_the_desk_refuses_gets_its_reason(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new fix it", place=GROUP)
        await bed.outbox.message("Fix it")
        bed.refusal = Refused("Nothing to interrupt: Claude is idle.")
        assert await bed.press("Interrupt") == "Nothing to interrupt: Claude is idle."


async def test_interrupt_needs_to_know_which_session(bed: SessionBed) -> None:
    async with bed.running():
        first = await bed.write("/new one", place=GROUP)
        await bed.write("/interrupt", BO, GROUP)
        assert bed.last() == ("bo", "interrupt", "s_1")
        await bed.write("/new two", place=GROUP)
        await bed.write("/interrupt", BO, GROUP)
        assert bed.last()[1] == "start"
        await bed.outbox.message("Which session? Reply to one of its messages, or open it with /sessions.")
        await bed.write("/interrupt", BO, GROUP, reply_to=first.number)
        assert bed.last() == ("bo", "interrupt", "s_1")


async def test_a_session_that_has_ended_is_offered_to_be_resumed(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new fix it")
        await bed.end("s_1")
        await bed.outbox.message("Fix it\nStopped: ana stopped it\nSend /resume to continue.")
        await bed.write("go on")
        offer = await bed.outbox.message("“Fix it” has ended. Resume it, then send your message again.")
        assert await bed.press("Resume", at=offer) == "Resuming “Fix it”."
        assert bed.last() == ("ana", "resume", "s_1", None)
        await bed.write("/resume and be quick")
        assert bed.last() == ("ana", "resume", "s_1", "and be quick")


async def test_resume_offers_what_has_ended(bed: SessionBed) -> None:
    await put_session(bed.hub, "s_7")
    async with bed.running():
        await bed.write("/resume")
        assert bed.outbox.texts == [t("telegram.session.nothing_to_resume")]
        await bed.end("s_7")
        await bed.write("/resume", place=GROUP)
        offer = await bed.outbox.message("Which session do you want to resume?")
        assert await bed.press("1. Fix it", at=offer) == "Resuming “Fix it”."
        assert bed.last() == ("ana", "resume", "s_7", None)


async def test_a_muted_place_gets_neither_progress_nor_answers(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new fix it", place=GROUP)
        await bed.outbox.message("Fix it")
        await bed.write("/mute", BO, GROUP)
        await bed.outbox.until(lambda: bed.outbox.of(DeleteMessage))
        await bed.turn("s_1", "Unheard.")
        await bed.outbox.until(lambda: bed.ledger.rows["s_1", GROUP].cursor > 0)
    heard = bed.ledger.rows["s_1", GROUP].cursor
    async with bed.running():
        await bed.turn("s_1", "Unheard.")
        await bed.outbox.until(lambda: bed.ledger.rows["s_1", GROUP].cursor > heard)
        await bed.write("/mute", BO, GROUP)
        await bed.turn("s_1", "Heard.")
        await bed.outbox.message("Heard.")
        assert not any("Unheard" in text for text in bed.outbox.texts)


async def test_one_session_is_muted_by_a_reply(bed: SessionBed) -> None:
    async with bed.running():
        first = await bed.write("/new one", place=GROUP)
        await bed.write("/new two", place=GROUP)
        await bed.write("/mute on", place=GROUP, reply_to=first.number)
        await bed.turn("s_1", "Unheard.")
        await bed.turn("s_2", "Heard.")
        await bed.outbox.message("Heard.")
        assert not any("Unheard" in text for text in bed.outbox.texts)


async def test_an_alarm_is_heard_although_it_is_muted(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/mute")
        await bed.write("/new fix it")
        await bed.outbox.message("Started “Fix it”. Progress and answers are muted here. /mute off to get them.")
        await bed.publish("s_1", Notice("alarm", "Something answered."), session_ended(alarm=True))
        await bed.outbox.message("🚨 Something answered.")
        await bed.outbox.message("🚨 Stopped: ana stopped it")
        assert bed.outbox.of(SendDraft) == []


async def test_a_session_gets_its_own_topic_with_its_title_closed_at_its_end(tmp_path: Path) -> None:
    async with session_bed(tmp_path, session_topics=True) as bed:
        await bed.project("shop")
        async with bed.running() as side:
            await bed.write("/new fix it", place=GROUP)
            own = ChatPlace(GROUP.chat, 900)
            assert (await bed.outbox.message("Fix it")).place == own
            assert bed.outbox.of(CreateTopic)[0].name == "Fix it"
            assert side.place_of("s_1") == own
            await bed.write("faster", place=own)
            assert bed.last()[:4] == ("ana", "say", "s_1", "faster")
            await bed.publish("s_1", SessionChanged("working", "default", None, "Fix the cart", 0.0))
            await bed.outbox.until(lambda: bed.outbox.of(RenameTopic) == [RenameTopic(own, "Fix the cart")])
            await bed.turn("s_1", "Done.")
            assert (await bed.outbox.message("Done.")).place == own
            await bed.end("s_1")
            await bed.outbox.until(lambda: bed.outbox.of(CloseTopic) == [CloseTopic(own)])
        async with bed.running():
            await bed.publish("s_1", TurnStarted(2))
            await bed.outbox.until(lambda: bed.outbox.of(ReopenTopic) == [ReopenTopic(own)])
        assert len(bed.outbox.of(CreateTopic)) == 1


async def test_where_no_topic_can_be_created_the_session_stays_in_the_chat(tmp_path: Path) -> None:
    async with session_bed(tmp_path, session_topics=True) as bed:
        await bed.project("shop")
        async with bed.running():
            bed.outbox.answers.append((CreateTopic, Undeliverable("Bad Request: the chat is not a forum")))
            await bed.write("/new fix it", place=GROUP)
            assert (await bed.outbox.message("Fix it")).place == GROUP


async def test_a_private_chat_never_gets_topics(tmp_path: Path) -> None:
    async with session_bed(tmp_path, session_topics=True) as bed:
        await bed.project("shop")
        async with bed.running():
            await bed.write("/new fix it")
            await bed.turn("s_1", "Done.")
            assert (await bed.outbox.message("Done.")).place == PRIVATE
            assert bed.outbox.of(CreateTopic) == []
            assert len(bed.outbox.of(SendText)) == 1
