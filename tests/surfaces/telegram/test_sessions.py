"""Sessions on Telegram: started, steered and shown, from the person's side."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from desk.hubs import put_session
from handraise.desk.interface import Refused
from handraise.model.items import ActionDenied, ActionStarted, Content, DenialChanged, Said, TurnStarted
from handraise.model.sessions import Session
from handraise.session import records
from handraise.surfaces.telegram.link_record import detail_of
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    ChatPlace,
    DeleteMessage,
    Doubtful,
    EditText,
    Gone,
    Migrated,
    RemoveButtons,
    SendDraft,
    SendFile,
    SendText,
    Undeliverable,
)
from handraise.surfaces.telegram.people import Member
from handraise.surfaces.telegram.session_side import SessionLink
from surfaces.telegram.session_bed import (
    ANA,
    BO,
    CY,
    GROUP,
    NOON,
    PRIVATE,
    SHOP,
    SessionBed,
    photo,
    session_bed,
    turn_ended,
)
from surfaces.telegram.test_attachments import PNG


@pytest.fixture
async def bed(tmp_path: Path) -> AsyncIterator[SessionBed]:
    async with session_bed(tmp_path) as made:
        await made.project("shop")
        yield made


async def started(bed: SessionBed, place: ChatPlace = PRIVATE) -> str:
    """A session that ana started here."""
    await bed.write("/new fix it", place=place)
    return f"s_{len([act for act in bed.acts if act[1] == 'start'])}"


async def test_a_command_starts_a_session_and_its_answer_is_a_message(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        assert bed.acts[0][:3] == ("ana", "start", "fix it")
        await bed.turn(session, "All **green**.")
        answer = await bed.outbox.message("All green.")
        assert answer.place == PRIVATE
        assert answer.content.text == "All green.\n\nFix it · 4.2 s · $0.0123"


async def test_a_private_chat_streams_a_draft_with_stop(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        await bed.publish(session, TurnStarted(1))
        await bed.preview(session, "I am wri")
        bed.pass_by(2)
        await bed.outbox.until(lambda: any("I am wri" in each.content.text for each in bed.outbox.of(SendDraft)))
        draft = bed.outbox.of(SendDraft)[-1]
        assert draft.can_stop
        await bed.side.stopped(ANA, PRIVATE, draft.draft)
        assert bed.acts[-1] == ("ana", "interrupt", session)
        assert bed.outbox.of(SendText) == []


async def test_without_drafts_one_message_is_edited_and_removed_at_the_end(bed: SessionBed) -> None:
    async with bed.running():
        bed.outbox.answers.append((SendDraft, Undeliverable("Not Found")))
        session = await started(bed)
        await bed.publish(session, TurnStarted(1))
        bed.pass_by(2)
        first = await bed.outbox.message("Fix it")
        assert first.silent
        await bed.publish(session, ActionStarted("t1", "command", "npm test", "Bash", {}))
        bed.pass_by(3)
        await bed.outbox.until(lambda: any("npm test" in each.content.text for each in bed.outbox.of(EditText)))
        await bed.publish(session, turn_ended("Done."))
        await bed.outbox.until(lambda: bed.outbox.of(DeleteMessage))
        kinds = [type(each) for each in bed.outbox.sent]
        assert kinds.index(SendText) < kinds.index(EditText) < kinds.index(DeleteMessage)
        assert bed.outbox.of(DeleteMessage) == [DeleteMessage(PRIVATE, 500)]
        assert bed.outbox.texts == ["Done.\n\nFix it · 4.2 s · $0.0123"]


async def test_a_failing_network_does_not_end_drafts(bed: SessionBed) -> None:
    async with bed.running():
        bed.outbox.answers.append((SendDraft, Undeliverable("ReadTimeout")))
        await started(bed)
        bed.pass_by(2)
        await bed.outbox.until(lambda: bed.outbox.of(SendDraft))
        assert bed.outbox.of(SendText) == []


async def test_a_group_gets_one_progress_message_at_once_with_a_button_that_interrupts(bed: SessionBed) -> None:
    async with bed.running():
        message = await bed.write("/new fix it", place=GROUP)
        first = await bed.outbox.message("Fix it")
        assert (first.place, first.reply_to) == (GROUP, message.number)
        assert await bed.press("Interrupt", BO) == "Interrupting."
        assert bed.acts[-1] == ("bo", "interrupt", "s_1")
        assert await bed.press("Interrupt", CY) == "Requires the approver role (you are a viewer)."
        assert bed.outbox.of(SendDraft) == []


def edits_are(bed: SessionBed, number: int) -> bool:
    return len(bed.outbox.of(EditText)) == number


async def test_progress_is_paced_in_a_group(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed, GROUP)
        await bed.outbox.message("Fix it")
        for step in range(12):
            await bed.publish(session, ActionStarted(f"t{step}", "command", f"step {step}", "Bash", {}))
            bed.pass_by(1)
            if step % 6 == 5:
                await bed.outbox.until(partial(edits_are, bed, step // 6 + 1))
        assert len(bed.outbox.of(EditText)) == 2


async def test_a_message_in_a_projects_topic_starts_a_session_there(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("fix the cart", place=SHOP)
        assert bed.acts == [("ana", "start", "fix the cart", "shop")]
        await bed.turn("s_1", "Done.")
        assert (await bed.outbox.message("Done.")).place == SHOP


async def test_people_may_talk_in_a_group(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("what a day", place=GROUP)
        await bed.write("I agree", place=SHOP, reply_to=4711)
        assert bed.acts == []
        assert bed.outbox.sent == []


async def test_a_reply_goes_to_its_session_whichever_was_used_last(bed: SessionBed) -> None:  # lesson 26
    async with bed.running():
        first = await started(bed)
        await bed.turn(first, "The first.")
        await bed.outbox.message("The first.")
        answered = 500
        bed.pass_by(60)
        second = await started(bed)
        await bed.write("more", reply_to=answered)
        assert bed.acts[-1][:4] == ("ana", "say", first, "more")
        assert second != first


async def test_a_message_without_a_reply_goes_to_the_session_used_last(bed: SessionBed) -> None:
    async with bed.running():
        first = await started(bed)
        bed.pass_by(60)
        second = await started(bed)
        await bed.write("go on")
        assert bed.acts[-1][2] == second
        bed.pass_by(60)
        await bed.write("you too", reply_to=1)
        assert bed.acts[-1][2] == first
        bed.pass_by(60)
        await bed.write("and you")
        assert bed.acts[-1][2] == first


async def test_a_reply_to_something_unknown_goes_nowhere(bed: SessionBed) -> None:  # lesson 28
    async with bed.running():
        await started(bed)
        await bed.write("yes", reply_to=4711)
        assert len(bed.acts) == 1
        await bed.outbox.message("I can't tell which session this message belongs to. Open it with /sessions.")


async def test_without_a_session_a_message_is_answered_with_what_to_do(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("hello")
        assert bed.outbox.texts == ["No session here yet. Start one with /new, or open one with /sessions."]


async def test_the_same_message_has_the_same_id_so_that_claude_receives_it_once(bed: SessionBed) -> None:  # lesson 56
    async with bed.running() as side:
        await started(bed)
        message = await bed.write("faster")
        await side.interrupted(ANA, message)
        says = [act for act in bed.acts if act[1] == "say"]
        assert len(says) == 2
        assert says[0] == says[1]


async def test_a_start_that_a_crash_cut_off_is_found_again(bed: SessionBed) -> None:  # lesson 56
    async with bed.running():
        bed.crash_after = "start"
        with pytest.raises(asyncio.CancelledError):
            await bed.write("/new fix it")
    bed.crash_after = ""
    async with bed.running() as side:
        message = bed.message("/new fix it")
        await side.interrupted(ANA, message)
        await side.interrupted(ANA, message)
        starts = [act for act in bed.acts if act[1] == "start"]
        await bed.turn("s_1", "Done.")
        await bed.outbox.message("Done.")
    # The second one is another message with the same words: it starts its own session.
    assert len(starts) == 2


async def test_a_start_that_never_happened_is_done(bed: SessionBed) -> None:
    async with bed.running() as side:
        await side.interrupted(ANA, bed.message("fix it", SHOP))
        assert [act[1] for act in bed.acts] == ["start"]


async def test_a_killed_hub_continues_with_the_same_progress_message(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed, GROUP)
        await bed.outbox.message("Fix it")
        await bed.outbox.until(lambda: bed.ledger.rows[session, GROUP].progress == 500)
    await bed.publish(session, TurnStarted(1), ActionStarted("t1", "command", "npm test", "Bash", {}), feed=False)
    async with bed.running():
        await bed.outbox.until(lambda: bed.outbox.of(EditText))
        edit = bed.outbox.of(EditText)[0]
        assert (edit.message, "npm test" in edit.content.text) == (500, True)
        await bed.publish(session, turn_ended("Done."))
        await bed.outbox.until(lambda: bed.outbox.of(DeleteMessage))
    assert len(bed.outbox.of(SendText)) == 2


async def test_an_answer_that_came_while_the_hub_was_away_is_sent_once(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed, GROUP)
        await bed.outbox.message("Fix it")
    await bed.publish(session, TurnStarted(1), turn_ended("Done."), feed=False)
    for _ in range(3):
        async with bed.running():
            await bed.feed()
            await bed.outbox.message("Done.")
            await bed.outbox.until(lambda: bed.ledger.rows[session, GROUP].progress is None)
        bed._cursor = 0
    assert len(bed.outbox.texts) == 1


async def test_a_long_answer_continues_after_the_part_that_arrived(bed: SessionBed) -> None:
    text = "\n\n".join(f"Paragraph {at}. {'x' * 3000}" for at in range(3))
    async with bed.running():
        session = await started(bed, GROUP)
        await bed.outbox.message("Fix it")
        await bed.publish(session, turn_ended(text))
        await bed.outbox.message("Paragraph 0.")
        bed.outbox.hold = SendText
    bed.outbox.hold = None
    async with bed.running():
        await bed.outbox.message("$0.0123")
    assert [each[:12] for each in bed.outbox.texts] == [f"Paragraph {at}." for at in range(3)]


async def test_an_answer_goes_before_progress_that_is_still_waiting(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed, GROUP)
        await bed.outbox.message("Fix it")
        bed.outbox.hold = EditText
        await bed.publish(session, ActionStarted("t1", "command", "npm test", "Bash", {}))
        bed.pass_by(10)
        await bed.outbox.until(lambda: bed.outbox.held)
        await bed.publish(session, turn_ended("Done."))
        await bed.outbox.message("Done.")
        await bed.outbox.until(lambda: bed.outbox.of(DeleteMessage))
        assert bed.outbox.held == [], "outdated progress is taken back"


async def test_photos_and_files_go_to_claude(bed: SessionBed) -> None:
    bed.files = {"f1": PNG, "f2": b"x = 1\n"}
    async with bed.running():
        await bed.write("/new look", files=(photo(),))
        (image,) = [block for block in bed.acts[0][2] if block["type"] == "image"]
        assert image["source"]["media_type"] == "image/png"
        await bed.write("and this", files=(photo("f2"),))
        assert bed.acts[1][3][1]["text"].endswith("```\nx = 1\n```")
        await bed.write("", files=(photo(),))
        assert [block["type"] for block in bed.acts[2][3]] == ["image"]


async def test_a_file_that_claude_cannot_read_sends_nothing(bed: SessionBed) -> None:
    bed.files = {"f1": b"\xff\x00\xfe"}
    async with bed.running():
        await bed.write("/new look", files=(photo(),))
        await bed.write("/new look", files=(photo("gone"),))
        assert bed.acts == []
        assert bed.outbox.texts == [
            "The photo can't be sent to Claude. Use an image (PNG, JPEG, GIF or WebP), a PDF or a text file.",
            "The file could not be downloaded.",
        ]


async def test_an_album_goes_to_one_session(bed: SessionBed) -> None:
    bed.files = {"f1": PNG}
    async with bed.running():
        await bed.write("fix these", place=SHOP, files=(photo(),), album="a1")
        await bed.write("", place=SHOP, files=(photo(),), album="a1")
        assert [act[1] for act in bed.acts] == ["start", "say"]


async def test_a_long_text_that_telegram_splits_goes_to_one_session(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("x" * 4096, place=SHOP)
        await bed.write("y" * 4096, place=SHOP)
        bed.pass_by(1)
        await bed.write("the end", place=SHOP)
        assert [act[1] for act in bed.acts] == ["start", "say", "say"]
        bed.pass_by(4)
        await bed.write("something else", place=SHOP)
        assert bed.acts[-1][1] == "start"


async def test_a_picture_that_claude_shows_is_sent(bed: SessionBed, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "plot.png").write_bytes(PNG)
    session = Session("s_9", None, str(folder), "c9", "Fix it", NOON, NOON, phase="idle")
    await bed.hub.store.apply(records.changed(session))
    async with bed.running():
        await bed.write("/sessions")
        assert await bed.press("1. Fix it") == "Opened “Fix it”."
        await bed.turn("s_9", "Here: ![plot](plot.png)")
        await bed.outbox.until(lambda: bed.outbox.of(SendFile))
        (file,) = bed.outbox.of(SendFile)
        assert (file.name, file.photo, file.data) == ("plot.png", True, PNG)


async def test_a_picture_on_another_machine_is_named_and_never_read_from_this_one(
    bed: SessionBed, tmp_path: Path
) -> None:
    (tmp_path / "plot.png").write_bytes(PNG)
    session = Session("s_9", None, str(tmp_path), "c9", "Fix it", NOON, NOON, phase="idle", machine="m_there")
    await bed.hub.store.apply(records.changed(session))
    async with bed.running():
        await bed.write("/sessions")
        assert await bed.press("1. Fix it") == "Opened “Fix it”."
        await bed.turn("s_9", "Here: ![plot](plot.png)")
        await bed.outbox.until(lambda: any("another machine" in each.content.text for each in bed.outbox.of(SendText)))
        assert bed.outbox.of(SendFile) == []


async def test_what_the_desk_refuses_is_said(bed: SessionBed) -> None:
    async with bed.running():
        await started(bed)
        bed.refusal = Refused("The session is being stopped.")
        await bed.write("faster")
        assert bed.outbox.texts == ["The session is being stopped."]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("/new fix it", "Requires the admin role (you are a viewer)."),
        ("hello", "Requires the approver role (you are a viewer)."),
        ("/interrupt", "Requires the approver role (you are a viewer)."),
        ("/stop", "Requires the admin role (you are a viewer)."),
        ("/mode plan", "Requires the admin role (you are a viewer)."),
        ("/resume", "Requires the admin role (you are a viewer)."),
        ("/mute", "Requires the approver role (you are a viewer)."),
    ],
)
async def test_a_role_that_is_not_enough_gets_a_sentence(bed: SessionBed, text: str, sentence: str) -> None:
    async with bed.running():
        await started(bed)
        await bed.write(text, CY)
        assert bed.outbox.texts == [sentence]
        assert len(bed.acts) == 1


async def test_a_deleted_progress_message_is_not_sent_again(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed, GROUP)
        await bed.outbox.message("Fix it")
        bed.outbox.answers.append((EditText, Gone()))
        await bed.publish(session, ActionStarted("t1", "command", "npm test", "Bash", {}))
        bed.pass_by(10)
        await bed.outbox.until(lambda: not bed.outbox.answers)
        bed.pass_by(100)
        await bed.publish(session, ActionStarted("t2", "command", "npm run", "Bash", {}), turn_ended("Done."))
        await bed.outbox.message("Done.")
        assert bed.outbox.of(EditText) == []
        assert len(bed.outbox.of(SendText)) == 2


async def test_an_answer_of_unknown_fate_is_sent_again(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        bed.outbox.answers += [(SendText, Doubtful()), (SendText, Doubtful())]
        await bed.turn(session, "Done.")
        await bed.outbox.message("Done.")


async def test_an_answer_that_telegram_refuses_holds_up_nothing(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        bed.outbox.answers.append((SendText, Undeliverable("Bad Request: x")))
        await bed.turn(session, "Refused.")
        await bed.turn(session, "Next.")
        await bed.outbox.message("Next.")


async def test_a_blocked_chat_gets_its_answer_when_the_person_is_back(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        bed.outbox.answers.append((SendText, Blocked("Forbidden: bot was blocked by the user")))
        await bed.turn(session, "Done.")
        await bed.outbox.until(lambda: not bed.outbox.answers)
        await bed.write("/help")
        await bed.outbox.message("Done.")


async def test_a_group_with_a_new_number_gets_the_answer_there(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed, GROUP)
        await bed.outbox.message("Fix it")
        await bed.outbox.until(lambda: bed.ledger.rows[session, GROUP].progress == 500)
        bed.outbox.answers.append((SendText, Migrated(-100999)))
        await bed.turn(session, "Done.")
        assert (await bed.outbox.message("Done.")).place == ChatPlace(-100999)
        await bed.outbox.until(lambda: [place for _, place in bed.ledger.rows] == [ChatPlace(-100999)])
        await bed.write("more", place=ChatPlace(-100999), reply_to=501)
        assert bed.acts[-1][1:4] == ("say", session, "more")


@pytest.mark.parametrize("reason", ["Bad Request: message thread not found", "Bad Request: TOPIC_DELETED"])
async def test_a_deleted_topic_does_not_lose_the_answer(bed: SessionBed, reason: str) -> None:
    async with bed.running():
        await bed.write("fix it", place=SHOP)
        await bed.outbox.message("Fix it")
        bed.outbox.answers.append((SendText, Blocked(reason)))
        await bed.turn("s_1", "Done.")
        assert (await bed.outbox.message("Done.")).place == ChatPlace(SHOP.chat)


async def test_a_turn_from_elsewhere_is_shown_here_too(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        await bed.turn(session, "First.")
        await bed.publish(session, Said("y2", "and now?", 0, BO.person, "web"))
        await bed.turn(session, "Second.")
        await bed.outbox.message("Second.")


async def test_a_session_that_nobody_opened_here_is_not_shown(bed: SessionBed) -> None:
    async with bed.running():
        await put_session(bed.hub, "s_7")
        await bed.turn("s_7", "From the web.")
        assert bed.outbox.sent == []


async def test_a_session_that_is_gone_is_forgotten(bed: SessionBed) -> None:
    async with bed.running():
        await started(bed)
    bed.ledger.rows["s_gone", PRIVATE] = SessionLink("s_gone", PRIVATE)
    async with bed.running():
        assert ("s_gone", PRIVATE) not in bed.ledger.rows


def denied(command: str, *, minutes: int | None = 60) -> tuple[Content, ...]:
    until = None if minutes is None else NOON + timedelta(minutes=minutes)
    return (
        TurnStarted(1),
        ActionStarted("toolu_1", "command", command[:20], "Bash", {"command": command}),
        ActionDenied("toolu_1", command[:20], "Bash", "Auto mode's check denied this: no", "classifier", until),
    )


async def press_calmly(bed: SessionBed, label: str, member: Member = ANA) -> str:
    """Like someone who tries again if it was too early."""
    for _ in range(10):
        bed.pass_by(2)
        if (sentence := await bed.press(label, member)) != "This just appeared. Tap again.":
            return sentence
    raise AssertionError(f"{label!r} never counted")


async def test_a_denied_call_is_shown_whole_and_one_person_allows_it_by_two_presses(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed, GROUP)
        command = f"echo {'x' * 300} \u202e; curl example.com"
        await bed.publish(session, *denied(command))
        shown = await bed.outbox.message("Denied without asking. Auto mode's check denied this: no")
        assert f"{'x' * 300} ⟨U+202E⟩; curl example.com" in shown.content.text

        assert await bed.press("Allow it…", CY) == "Requires the approver role (you are a viewer)."
        assert await bed.press("Allow it…", BO) == "Press again to confirm."
        question = await bed.outbox.message("bo: allow exactly this call, once?")
        assert question.reply_to == 77
        assert await bed.press("Allow this call once", BO) == "This just appeared. Tap again."
        assert await bed.press("Allow this call once", ANA) == "Someone else was asked. Press “Allow it…” yourself."
        assert [act for act in bed.acts if act[1] == "allow"] == []
        assert (
            await press_calmly(bed, "Allow this call once", BO)
            == "bo allowed one retry. Waiting for Claude to try again."
        )
        assert bed.last() == ("bo", "allow", session, "toolu_1")


async def test_a_denied_call_can_stay_denied_and_a_refusal_is_told(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        await bed.publish(session, *denied("curl example.com"))
        await bed.outbox.message("Denied without asking.")
        await bed.press("Allow it…")
        await bed.outbox.message("allow exactly this call")
        assert await bed.press("Keep it denied") == "It stays denied."
        await bed.press("Allow it…")
        bed.refusal = Refused("It is too late to allow this call.")
        assert await press_calmly(bed, "Allow this call once") == "It is too late to allow this call."
        assert [act for act in bed.acts if act[1] == "allow"] == []


async def test_a_button_goes_when_its_call_was_allowed_elsewhere_even_after_a_restart(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        await bed.publish(session, *denied("curl example.com"))
        shown = await bed.outbox.message("Denied without asking.")
        assert shown.keyboard
        await bed.publish(session, DenialChanged("toolu_2", "allowed", BO.person))
        await bed.publish(session, turn_ended("Done."))
        await bed.outbox.message("Done.")
        assert bed.outbox.of(RemoveButtons) == []
    [link] = bed.ledger.rows.values()
    number = detail_of(link).allowing["toolu_1"]
    async with bed.running():
        await bed.publish(session, DenialChanged("toolu_1", "allowed", BO.person))
        await bed.outbox.until(lambda: bed.outbox.of(RemoveButtons))
        await bed.publish(session, DenialChanged("toolu_1", "retried", BO.person))
        await bed.publish(session, turn_ended("Done again."))
        await bed.outbox.message("Done again.")
    assert bed.outbox.of(RemoveButtons) == [RemoveButtons(PRIVATE, number)]


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (denied("x\n" * 4000), "This call is too long to show here."),
        (denied("curl example.com")[2:], "This call is too long to show here."),
        (denied("curl example.com", minutes=0), "Denied without asking."),
    ],
    ids=["too long", "unknown input", "too late"],
)
async def test_what_cannot_be_shown_or_allowed_has_no_button(
    bed: SessionBed, contents: tuple[Content, ...], sentence: str
) -> None:
    async with bed.running():
        session = await started(bed)
        await bed.publish(session, *contents)
        assert (await bed.outbox.message(sentence)).keyboard == ()


async def test_a_denial_that_is_somebodys_decision_is_no_message_of_its_own(bed: SessionBed) -> None:
    async with bed.running():
        session = await started(bed)
        await bed.publish(session, *denied("curl example.com", minutes=None))
        await bed.publish(session, turn_ended("Done."))
        await bed.outbox.message("Done.")
        assert not any("Denied without asking" in each for each in bed.outbox.texts)
