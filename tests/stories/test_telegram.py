"""Stories of Telegram: the real CLI asks, and people answer in a chat, whatever becomes of the hub."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import apsw
import httpx2
import pytest

from handraise.demo.model import EACH_SESSION, ScriptedModel
from handraise.demo.pieces import Script, checked, say, use
from handraise.demo.request import Conversation
from handraise.demo.scenarios import propose
from handraise.model.actors import Person
from handraise.model.items import AskSettled, TurnEnded
from stories.bed import parts
from stories.house import seen
from stories.serving_house import DEADLINE, desk, serve, settle_in, stop_all, surroundings
from stories.telegram_house import TelegramHouse, telegram_house
from stories.test_serve import next_ask, until
from surfaces.telegram.bot_api_process import RemoteBotApi, bot_api_process
from surfaces.telegram.rates import RateLimits
from surfaces.telegram.updates import CONFLICT

ANA = 1001
UPLOAD = f"python3 -c \"open('uploaded', 'w')\" {'x' * 200} end"
SIZES = {
    "question": "Which size?",
    "header": "Size",
    "options": [{"label": "Small", "description": "fits a bag"}, {"label": "Large", "description": "fits a car"}],
    "multiSelect": False,
}
COLOURS = {
    "question": "Which colors?",
    "header": "Colors",
    "options": [{"label": each, "description": ""} for each in ("Red", "Green", "Blue")],
    "multiSelect": True,
}


def choose(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[SIZES, COLOURS])]
    yield [say(f"Heard: {conversation.result().text}")]


def run(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="python3 make.py", description="Make a file")]
    conversation = yield [use("Bash", command="rm made", description="Remove it")]
    yield [say(f"Denied: {conversation.result().text}")]


def plan(conversation: Conversation) -> Script:
    conversation = yield from propose(conversation, "1. Write everything.")
    conversation = yield from propose(conversation, f"1. Minding: {conversation.result().text}")
    conversation = yield [use("Write", file_path=f"{conversation.directory}/planned.txt", content="done\n")]
    yield [say("As planned.")]


def deliver(conversation: Conversation) -> Script:
    conversation = yield [use("mcp__forms__deliver", parcel="the lamp")]
    yield [say(conversation.result().text)]


def upload(conversation: Conversation) -> Script:
    conversation = yield [say("Ready.")]
    for _ in range(2):
        call = use("Bash", command=UPLOAD, description="Upload")
        conversation = yield [checked(call, "[Scripted] it sends data away")]
        conversation = yield [say("Denied." if conversation.result().is_error else "Uploaded.")]


def write_notes(conversation: Conversation) -> Script:
    lines = "\n".join(f"line {number} of the notes, which nobody would read on a button" for number in range(200))
    yield [use("Bash", command=f"cat > notes.txt <<'END'\n{lines}\nEND", description="Write notes")]
    yield [say("Written.")]


def repeat(conversation: Conversation) -> Script:
    for _ in range(2):
        yield [use("Bash", command="python3 count.py", description="Count")]
    yield [say("Counted twice.")]


SCRIPT = parts(
    choose=choose, run=run, plan=plan, deliver=deliver, write_notes=write_notes, repeat=repeat, upload=upload
)


@pytest.fixture(scope="module")
async def there(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path_factory.mktemp("telegram"), SCRIPT) as made:
        yield made


async def test_questions_are_answered_with_taps(there: TelegramHouse) -> None:
    session = await there.start("choose")
    card = await there.chat.message("Which size?")
    await there.press(card, "2. Large", "⬜️ 1. Red")
    await there.shows(card, "✅ 1. Red")
    await there.press(card, "⬜️ 3. Blue")
    await there.shows(card, "✅ 3. Blue")
    await there.press(card, "Done", "Send these answers")

    assert "ana answered: Large · Red, Blue (telegram)" in await there.closed(card)
    assert '"Which size?"="Large", "Which colors?"="Red, Blue"' in await there.result(session)


async def test_a_command_is_allowed_and_the_next_is_denied_with_a_reason(there: TelegramHouse) -> None:
    (there.home.work / "make.py").write_text("open('made', 'w')\n")
    session = await there.start("run")
    card = await there.chat.button("Allow once")
    assert "python3 make.py" in card.marked("pre")
    assert await there.press(card, "Allow once") == "You allowed python3 make.py"
    assert "ana allowed python3 make.py (telegram)" in await there.closed(card)

    card = await there.chat.message("Run rm made?")
    assert (there.home.work / "made").exists()
    await there.press(card, "Deny with a reason")
    await there.text(card, "Reply to this message")
    there.ana.write("Keep it.", reply_to=card)

    assert "ana denied rm made: “Keep it.” (telegram)" in await there.closed(card)
    assert await there.result(session) == "Denied: Keep it."
    assert (there.home.work / "made").exists()


async def test_a_plan_is_sent_back_and_then_approved(there: TelegramHouse) -> None:
    session = await there.start("plan", mode="plan")
    card = await there.chat.message("Write everything")
    await there.press(card, "Send back")
    await there.text(card, "Reply to this message")
    there.ana.write("One file only.", reply_to=card)
    assert "ana sent the plan back: “One file only.” (telegram)" in await there.closed(card)

    card = await there.chat.message("Minding: One file only.")
    await there.press(card, "Approve and accept edits", "Confirm: Approve and accept edits")

    assert "ana approved the plan and accepts edits (telegram)" in await there.closed(card)
    assert await there.result(session) == "As planned."
    assert (there.home.work / "planned.txt").read_text() == "done\n"


async def test_a_call_that_auto_mode_denied_is_allowed_once_from_the_chat(there: TelegramHouse) -> None:
    there.ana.write("/new work upload")
    await there.chat.message("Ready.")
    session = next(each.session for each in await there.hub.desk.sessions() if each.session.title == "upload")
    await there.hub.desk.change_mode(session.id, "auto")
    there.ana.write("Go on.")
    denied = await there.chat.message("Denied without asking. Auto mode's check denied this: [Scripted] it sends data")
    assert UPLOAD in denied.text
    await there.press(denied, "Allow it…")
    question = await there.chat.message("ana: allow exactly this call, once?")
    assert not (there.home.work / "uploaded").exists()

    assert "ana allowed one retry" in await there.press(question, "Allow this call once")

    await there.chat.message("Uploaded.")
    assert (there.home.work / "uploaded").exists()
    (entry,) = await there.hub.desk.audit(what="denied call allowed")
    assert isinstance(entry.by, Person)
    assert (entry.by.name, entry.source, entry.session) == ("ana", "telegram", session.id)


async def test_a_form_is_filled_in_field_by_field(there: TelegramHouse) -> None:
    session = await there.start("deliver")
    await there.press(await there.chat.message("Use deliver from forms?"), "Allow once")
    card = await there.chat.message("Where does the lamp go?")
    await there.press(card, "Fill in")
    await there.text(card, "Street")
    there.ana.write("Odeon 4", reply_to=card)
    await there.text(card, "Floor")
    there.ana.write("100", reply_to=card)
    await there.chat.message("must be at most 99")
    there.ana.write("3", reply_to=card)
    await there.press(card, "1. Yes", "2. right", "Send")

    await there.closed(card)
    assert "street='Odeon 4', floor=3, lift=True, door='right'" in await there.result(session)


async def test_a_person_goes_back_and_answers_in_their_own_words(there: TelegramHouse) -> None:
    session = await there.start("choose")
    card = await there.chat.button("1. Small")
    assert "Size · 1 of 2" in card.text
    await there.press(card, "1. Small", "Back", "Other")
    await there.text(card, "Reply to this message")
    there.ana.write("As large as <b>a cat</b> &amp; _two_", reply_to=card)
    await there.text(card, "Colors · 2 of 2")
    await there.press(card, "⬜️ 2. Green")
    await there.shows(card, "✅ 2. Green")
    await there.press(card, "Done", "Send these answers")

    assert "ana answered: As large as <b>a cat</b> &amp; _two_ · Green (telegram)" in await there.closed(card)
    assert '"Which size?"="As large as <b>a cat</b> &amp; _two_"' in await there.result(session)


async def test_a_long_command_is_a_file_first_and_no_one_tap_allows_it(there: TelegramHouse) -> None:
    session = await there.start("write_notes")
    card = await there.chat.message("Write notes")
    await there.shows(card, "Allow once")
    (sent,) = (each for each in there.chat.from_bot if each.file and each.file.name == "command.sh")
    assert sent.number < card.number
    assert sent.file is not None
    assert "line 199 of the notes" in sent.file.content.decode()
    await there.press(card, "Allow once")
    await there.shows(card, "Confirm: Allow once")
    assert not (there.home.work / "notes.txt").exists()
    await there.press(card, "Confirm: Allow once")

    assert await there.result(session) == "Written."
    assert (there.home.work / "notes.txt").read_text().count("\n") == 200


async def test_what_is_allowed_for_a_session_says_so_and_is_not_asked_again(there: TelegramHouse) -> None:
    (there.home.work / "count.py").write_text("open('counted', 'a').write('x')\n")
    session = await there.start("repeat")
    card = await there.chat.message("Run python3 count.py?")
    await there.press(card, "For this session")
    await there.text(card, "Confirm: Allow python3 count.py for this session")
    assert not (there.home.work / "counted").exists()
    await there.press(card, "Confirm: For this session")

    assert "ana allowed python3 count.py for this session (telegram)" in await there.closed(card)
    assert await there.result(session) == "Counted twice."
    assert (there.home.work / "counted").read_text() == "xx"
    assert sum("Run python3 count.py?" in each.text for each in there.chat.from_bot) == 1


async def test_a_card_of_a_turn_that_was_interrupted_in_an_outage_is_right_after_it(there: TelegramHouse) -> None:
    (there.home.work / "make.py").write_text("open('made', 'w')\n")
    session = await there.start("run")
    card = await there.chat.button("Allow once")
    with there.api.outage():
        await there.hub.desk.interrupt(session)
        await seen(there.hub.desk, lambda content: isinstance(content, AskSettled), session)
    assert "No longer needed" in await there.closed(card)


async def test_cards_outlive_a_killed_hub_and_nothing_is_sent_twice(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "make.py").write_text("open('made', 'w')\n")
    telegram = bot_api_process(limits=RateLimits(callback_seconds=3600), pace=20)
    async with ScriptedModel({"script": SCRIPT}) as model, telegram as api, AsyncExitStack() as ending:
        settle_in(tmp_path, settings(api))
        environ = surroundings(tmp_path, model.url("script", EACH_SESSION))
        ending.push_async_callback(stop_all, tmp_path, environ)
        await api.perform("person", number=ANA, first_name="Ana")
        await api.perform("write", person=ANA, text="/start")
        async with serve(tmp_path, environ) as hub, desk(tmp_path) as owner:
            sessions = [(await owner.start(words, str(tmp_path / "work"))).session.id for words in ("choose", "run")]
            asks = [await next_ask(owner, each) for each in sessions]
            question = await api.perform("wait", chat=ANA, text="Which size?")
            permission = await api.perform("wait", chat=ANA, text="Run python3 make.py?")
            bea = {"authorization": f"Bearer {hub.token('bea', 'approver')}"}
            await recorded(tmp_path, question, permission)
            hub.child.kill()
            await hub.child.wait()
        before = await api.perform("messages", chat=ANA)
        await api.perform("refuse", method="getUpdates", code=409, description=CONFLICT)  # lesson 58
        # What is pressed while no hub runs counts when one is back.
        press = await api.perform("press", person=ANA, message=permission["number"], label="Allow once")

        async with serve(tmp_path, environ) as hub, desk(tmp_path) as owner:
            assert await api.perform("toast", press=press) == "You allowed python3 make.py"
            closed = await shown(api, permission, "ana allowed")
            assert closed["text"].endswith("ana allowed python3 make.py (telegram)")
            assert closed["labels"] == []

            chosen = {"answer": {"answers": [{"labels": ["Small"]}, {"labels": ["Green"]}]}}
            async with httpx2.AsyncClient(base_url=hub.base, headers=bea) as browser:
                response = await browser.post(f"/api/asks/{asks[0].id}/answer", json=chosen)
            assert response.status_code == 200, response.text
            closed = await shown(api, question, "bea answered")
            assert closed["text"].endswith("bea answered: Small · Green (api)")
            assert closed["labels"] == []
            await until(owner, TurnEnded, sessions[0])

            last = await api.perform("wait", chat=ANA, text="Run rm made?")
            assert (tmp_path / "work" / "made").exists()
            after = await api.perform("messages", chat=ANA)
            assert [each["number"] for each in after] == [*(each["number"] for each in before), last["number"]]
            counts = await api.perform("counts")
            assert (counts["getUpdates 409"], counts["429 by the limits"]) == (1, 0)
        assert model.errors == []


def settings(api: RemoteBotApi) -> str:
    return f'[telegram]\ntoken = "{api.token}"\nallowed = [{ANA}]\nnames = {{{ANA} = "ana"}}\napi = "{api.base}"\n'


async def recorded(tmp: Path, *messages: dict[str, Any]) -> None:
    """Waits until the hub has noted down that these arrived; killed before that, it would send them again."""
    ledger = apsw.Connection(str(tmp / "state" / "telegram" / "telegram.db"), flags=apsw.SQLITE_OPEN_READONLY)
    wanted = {each["number"] for each in messages}
    async with asyncio.timeout(DEADLINE):
        while not wanted <= {number for (number,) in ledger.execute("SELECT message FROM card_messages")}:
            await asyncio.sleep(0.02)
    ledger.close()


async def shown(api: RemoteBotApi, message: dict[str, Any], part: str) -> dict[str, Any]:
    """A message when it has this part of text."""
    found: dict[str, Any] = await api.perform("wait", chat=ANA, text=part)
    assert found["number"] == message["number"]
    return found
