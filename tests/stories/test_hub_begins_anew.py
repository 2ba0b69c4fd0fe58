"""Stories of lost conversations: Claude has nothing to resume, and nobody has to repeat anything."""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from handraise.claude.locate import locate
from handraise.claude.process import Identity
from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import Hub
from handraise.model.actors import Person, TheHub
from handraise.model.answers import Choice, Choices
from handraise.model.items import Content, Notice, Said, SaidTaken, SessionEnded, SessionStarted, Text
from handraise.model.sessions import Checkpoint, Ended, Say, Session
from handraise.session.memory import Memory
from handraise.store.changes import Advance, QueueSay, SaveSession
from stories.house import DEADLINE, House, house, next_ask, seen
from stories.hub_process import ProcessOrder
from stories.test_hub_lives import NOON, QUESTION, never_started
from stories.timeline import Stay, claude_of, kill, only, pid_of, texts, times, until_turn

SQLITE = Choices((Choice(("SQLite",)),))
ANSWER = "Which database? — SQLite"


def asks_once(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


def transcripts(home: House, session: Session) -> list[Path]:
    return list((home.tmp / "home" / ".claude" / "projects").glob(f"*/{session.claude_id}.jsonl"))


def forget_all(home: House, session: Session) -> None:
    """As if Claude had been killed before it wrote anything down."""
    for path in transcripts(home, session):
        path.unlink()


def keep_the_queue(home: House, session: Session) -> None:
    """As if Claude had been killed when it had written down only that something was said."""
    folder = home.tmp / "home" / ".claude" / "projects" / str(home.work).replace("/", "-").replace("_", "-")
    line = {"type": "queue-operation", "operation": "enqueue", "sessionId": session.claude_id, "content": "Choose."}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session.claude_id}.jsonl").write_text(json.dumps(line) + "\n")


def anew(contents: list[Content]) -> list[Notice]:
    return [each for each in only(Notice, contents) if each.about == "starts over"]


def is_heard(words: str) -> Callable[[Content], bool]:
    """Fits what Claude says when it has heard these words."""
    return lambda content: isinstance(content, Text) and words in content.text


async def until_told(home: House, *words: str) -> str:
    """The first conversation with all of these texts, as the model received it, without its own part."""
    looked_at = 0
    async with asyncio.timeout(DEADLINE):
        while True:
            requests = home.model.requests("script")
            for request in requests[looked_at:]:
                conversation = str([each for each in request.messages if each["role"] != "assistant"])
                if not request.is_side and all(each in conversation for each in words):
                    return conversation
            looked_at = len(requests)
            await asyncio.sleep(0.05)


async def until_taken(hub: Hub, session: Session, text: str) -> list[Content]:
    """Until every message with this text was received."""
    waiting: set[str] = set()
    found: list[str] = []

    def fits(content: Content) -> bool:
        if isinstance(content, Said) and text in content.text:
            waiting.add(content.say)
        if isinstance(content, SaidTaken) and content.say in waiting:
            waiting.discard(content.say)
            found.append(content.say)
        return bool(found) and not waiting and isinstance(content, SaidTaken)

    return await seen(hub.desk, fits, session.id)


async def ended(pid: int) -> None:
    """Until a process has ended by itself."""
    async with asyncio.timeout(DEADLINE):
        while (identity := Identity.of(pid)) is not None and identity.lives():
            await asyncio.sleep(0.05)


def line_of(transcript: Path, say_id: str) -> Iterator[str]:
    """The line in which Claude wrote down what was said."""
    lines = transcript.read_text().splitlines(keepends=True)
    return (line for line in lines if f'"uuid":"{say_id}"' in line and '"type":"user"' in line)


async def written(transcript: Path, say_id: str) -> None:
    """Until Claude has written down what was said."""
    async with asyncio.timeout(DEADLINE):
        while not any(line_of(transcript, say_id)):
            await asyncio.sleep(0.05)


async def answered_and_killed(home: House, hub: Hub) -> Session:
    """A session whose Claude was killed before it took the answer to its question."""
    session = (await hub.desk.start("Choose.", str(home.work))).session
    question = await next_ask(hub.desk, session)
    os.kill(claude_of(hub, session), signal.SIGSTOP)
    await hub.desk.answer(question.id, SQLITE)
    await kill(pid_of(hub, session))
    await seen(hub.desk, times(1, SessionEnded), session.id)
    return session


async def began_anew(home: House, hub: Hub, session: Session) -> None:
    """Nothing is lost: what was said, what was answered, and what was said when the session was resumed."""
    contents = await until_taken(hub, session, "And be quick.")
    assert [each.run for each in only(SessionStarted, contents)] == [1, 2, 3]
    assert len(anew(contents)) == 1
    await until_taken(hub, session, ANSWER)
    assert await hub.store.says(session.id) == []
    last = await until_told(home, "Choose.", ANSWER, "And be quick.")
    assert [last.count(each) for each in ("Choose.", ANSWER, "And be quick.")] == [1, 1, 1]
    assert last.index("Choose.") < last.index(ANSWER) < last.index("And be quick.")
    assert (await hub.desk.session(session.id)).session.claude_id != session.claude_id


def thinks_once(conversation: Conversation) -> Script:
    """`Choose.` is asked about the first time, and what begins with `Think` is not finished then."""
    finished: set[str] = set()
    while True:
        words = (conversation.text.splitlines() or [""])[-1]
        if words == "Choose." and words not in finished:
            finished.add(words)
            conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
            continue
        if words.startswith("Think") and words not in finished:
            finished.add(words)
            conversation = yield [say("It"), hold(words), say("is never heard.")]
        else:
            conversation = yield [say(f"You said: {conversation.text}")]


@pytest.fixture(scope="module")
async def stay(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stay]:
    async with house(tmp_path_factory.mktemp("house"), thinks_once, clock=lambda: NOON) as (home, hub):
        yield Stay(home, hub)


async def test_a_claude_killed_before_it_wrote_anything_down_begins_anew_and_nothing_is_lost(stay: Stay) -> None:
    home, hub = stay.home, stay.hub
    session = await answered_and_killed(home, hub)
    forget_all(home, session)

    await hub.desk.resume(session.id, "And be quick.")

    await began_anew(home, hub, session)

    # From here on there is something to resume.
    await hub.desk.stop(session.id)
    await seen(hub.desk, times(2, SessionEnded), session.id)
    await hub.desk.resume(session.id, "Still there?")
    contents = await until_taken(hub, session, "Still there?")
    assert [each.run for each in only(SessionStarted, contents)] == [1, 2, 3, 4]
    assert len(anew(contents)) == 1
    assert home.model.errors == []
    stay.go_on_with(session)
    await stay.until_idle()


async def test_the_next_hub_goes_on_when_the_last_one_was_gone_before_claude_could_say_so(tmp_path: Path) -> None:
    async with House(tmp_path, asks_once) as home:
        async with home.open_hub() as first:
            session = await answered_and_killed(home, first)
            forget_all(home, session)
            keep_the_queue(home, session)
            await first.desk.resume(session.id, "And be quick.")
            second_pid = pid_of(first, session)
        await ended(second_pid)

        async with home.open_hub() as second:
            await began_anew(home, second, session)


async def lives(order: Path, session: Session, moment: int) -> bool:
    """Whether a hub that resumes the session comes to the end of it before it is killed."""
    command = ["-m", "stories.resuming_process", str(order), session.id, str(moment)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=Path(__file__).parent.parent, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE):
            while line := await process.stdout.readline():
                if line == b"finished\n":
                    return True
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return False


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(2, 22))])
async def test_a_hub_that_is_killed_in_the_midst_of_it_neither_loses_nor_repeats_anything(
    tmp_path: Path, seed: int
) -> None:
    async with House(tmp_path, asks_once) as home:
        async with home.open_hub() as first:
            session = await answered_and_killed(home, first)
        forget_all(home, session)
        order = tmp_path / "order.json"
        wanted = ProcessOrder(str(home.tmp / "state"), str(locate()), home.environment, {}, limit=1)
        order.write_bytes(msgspec.json.encode(wanted))
        dice = random.Random(seed)

        moments = [dice.randint(1, 90) for _ in range(2 if seed == 1 else 40)]
        finished = [await lives(order, session, moment) for moment in moments]
        assert True in finished or await lives(order, session, 0)

        async with home.open_hub() as last:
            text = await last.store.says(session.id, waiting=False)
            assert [each.taken_at is not None for each in text] == [True, True]
            conversation = await until_told(home, "Choose.", ANSWER)
            assert [conversation.count(each) for each in ("Choose.", ANSWER)] == [1, 1]
            contents = [item.read() for item in await last.desk.items(session.id)]
            assert len(anew(contents)) == 1
            assert home.model.errors == []


async def test_a_fork_killed_before_it_wrote_anything_down_is_forked_again(stay: Stay) -> None:
    hub = stay.hub
    session = await stay.begin("My name is Odeon.")
    await stay.until_turn()
    fork = (await hub.desk.fork(session.id, "Think: what is my name?")).session
    await stay.home.model.held("Think: what is my name?")
    await until_taken(hub, fork, "Think: what is my name?")
    await kill(pid_of(hub, fork))
    await seen(hub.desk, times(1, SessionEnded), fork.id)
    forget_all(stay.home, fork)

    await hub.desk.resume(fork.id, "Well?")

    assert len(anew(await until_taken(hub, fork, "Well?"))) == 1
    last = await until_told(stay.home, "Think: what is my name?", "Well?")
    assert [last.count(each) for each in ("My name is Odeon.", "Think: what is my name?", "Well?")] == [1, 1, 1]


async def test_a_fork_of_a_conversation_that_is_gone_says_so_and_begins_without_it(stay: Stay) -> None:
    session = await stay.begin("My name is Wren.")
    await stay.until_turn()
    forget_all(stay.home, session)

    fork = (await stay.desk.fork(session.id, "What is my name?")).session

    contents = await until_turn(stay.desk, fork)
    assert texts(contents) == ["You said: What is my name?"]
    assert len(anew(contents)) == 1
    assert [each.run for each in only(SessionStarted, contents)] == [1, 2]


async def test_a_long_conversation_whose_record_is_gone_is_not_done_again(stay: Stay) -> None:
    hub = stay.hub
    for words in ("Send the letter.", "Thanks."):
        session = await stay.begin(words)
        await stay.until_turn()
    await hub.desk.stop(session.id)
    await stay.seen(times(1, SessionEnded))
    forget_all(stay.home, session)
    opening, *_ = only(Said, [item.read() for item in await hub.desk.items(session.id)])

    await hub.desk.resume(session.id, "And now?")

    contents = await until_taken(hub, session, "And now?")
    assert len(anew(await stay.seen(is_heard("And now?")))) == 1
    reminder = [each for each in only(Said, contents) if opening.text in each.text][-1]
    assert reminder.by == TheHub()
    assert "do none of it again" in reminder.text
    last = await until_told(stay.home, reminder.text.splitlines()[0], "And now?")
    assert [last.count(each) for each in (opening.text, "And now?", "Thanks.")] == [1, 1, 0]
    assert last.index(opening.text) < last.index("And now?")
    await stay.until_idle()


async def test_a_claude_killed_before_its_first_turn_is_started_under_another_name(stay: Stay) -> None:
    lost = Ended("lost", "Claude was killed", NOON)
    session = replace(never_started(stay.home), phase="ended", run=1, ended=lost)
    text = Say("7c9b2a58-3b43-4c6e-9d0e-0a2f1b6a7d11", session.id, "Hello.", Person("ana"), "web", NOON)
    place = Checkpoint(session.id, 1, 0, Memory(phase="ended", ended=lost).dump())
    await stay.hub.store.apply([SaveSession(session), Advance(place), QueueSay(text)])
    keep_the_queue(stay.home, session)

    await stay.desk.resume(session.id)

    contents = await until_turn(stay.desk, session)
    assert texts(contents) == ["You said: Hello."]
    assert anew(contents) == []


async def test_what_was_said_just_before_claude_was_killed_still_reaches_it(stay: Stay) -> None:
    home, hub = stay.home, stay.hub
    await stay.begin("Alder.")
    await stay.until_turn()
    for is_written, cut_off, then in ((True, "Think of a birch.", "Cedar."), (False, "Think of an elm.", "Fir.")):
        session = await stay.begin(cut_off)
        (text,) = [each for each in only(Said, await until_taken(hub, session, cut_off)) if each.text == cut_off]
        await home.model.held(cut_off)
        (transcript,) = transcripts(home, session)
        await written(transcript, text.say)
        await kill(pid_of(hub, session))
        if not is_written:
            record, _, _ = transcript.read_text().partition(next(line_of(transcript, text.say)))
            transcript.write_text(record)
        await stay.seen(times(1, SessionEnded))

        await hub.desk.resume(session.id, then)

        assert anew(await stay.seen(is_heard(then))) == []
        assert await hub.store.says(session.id) == []
        last = await until_told(home, "Alder.", cut_off, then)
        assert [last.count(each) for each in ("Alder.", then)] == [1, 1]
        # Where it is written down and was not answered, Claude reads it there, and takes it up when it is said.
        assert last.count(cut_off) <= 1 + is_written
        assert last.index("Alder.") < last.index(cut_off) < last.index(then)
        await stay.until_idle()
