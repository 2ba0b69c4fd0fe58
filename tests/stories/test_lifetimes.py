"""Stories: no crash loses anything."""

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from handraise.claude.folder import RunFolder, SessionBusy
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.wire.frames import Result, Unreadable, User
from stories.bed import Bed, BedTalk, answered, read

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose(conversation: Conversation) -> Script:
    conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
    yield [say(f"Heard: {conversation.result().text}")]


def small_talk(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say(f"You said {conversation.text!r}.")]


async def supervised(bed: Bed, *words: str) -> tuple[subprocess.Popen[bytes], Path]:
    """A supervisor in its own process; it has started Claude and followed its orders."""
    folder = bed.tmp / "supervised"
    supervisor = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("supervisor.py"), bed.tmp, folder, *words],
        env={**bed.environment("choose"), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )
    assert supervisor.stdout is not None
    done = await asyncio.to_thread(supervisor.stdout.readline)
    assert done == b"done\n"
    return supervisor, folder


def kill(supervisor: subprocess.Popen[bytes]) -> None:
    supervisor.kill()
    assert supervisor.wait() == -signal.SIGKILL
    assert supervisor.stdout is not None
    supervisor.stdout.close()


async def test_a_question_outlives_the_supervisor_and_is_answered_by_the_next(tmp_path: Path) -> None:
    """The next supervisor also sees the end of the Claude that it adopted, as it sees that of its own."""
    async with Bed(tmp_path, choose=choose) as bed:
        supervisor, folder = await supervised(bed, "leave-open")
        kill(supervisor)

        adopted = await bed.adopt(folder)
        request_id, asked = await adopted.until_asked()
        answers = {"Which database?": "SQLite"}
        await adopted.claude.write(adopted.wire.send_allow(request_id, {**read(asked.input), "answers": answers}))

        assert "SQLite" in answered(await adopted.until(Result))
        assert bed.model.errors == []

        mine = await bed.start("choose")
        for talk in (adopted, mine):
            talk.claude.process.identity.signal(signal.SIGKILL)
            await talk.rest()
            assert talk.claude.ended.is_set()
        assert mine.claude.process.exit_code == -signal.SIGKILL
        # Not every kernel tells a stranger.
        assert adopted.claude.process.exit_code in (-signal.SIGKILL, None)

        late = await bed.adopt(folder)
        assert late.claude.ended.is_set()
        assert [type(frame) for frame in await late.rest()][-1] is not Unreadable


async def test_an_answer_that_was_written_but_not_confirmed_is_written_again_and_counts_once(tmp_path: Path) -> None:
    async with Bed(tmp_path, choose=choose) as bed:
        supervisor, folder = await supervised(bed, "answer", "SQLite")
        kill(supervisor)

        # The next supervisor knows only that an answer was given, not whether Claude has it.
        talk = await bed.adopt(folder)
        request_id, asked = await talk.until_asked()
        answers = {"Which database?": "SQLite"}
        await talk.claude.write(talk.wire.send_allow(request_id, {**read(asked.input), "answers": answers}))
        assert "SQLite" in answered(await talk.until(Result))

        results = [frame for frame in talk.heard if isinstance(frame, User) and "tool_result" in repr(frame)]
        assert len(results) <= 1
        assert len(bed.model.requests("choose")) <= 3
        assert bed.model.errors == []


async def test_a_conversation_is_resumed_in_a_new_process_and_forked_into_a_new_one(tmp_path: Path) -> None:
    async with Bed(tmp_path, talk=small_talk) as bed:
        session_id, fork_id = str(uuid.uuid4()), str(uuid.uuid4())
        first = await bed.start("talk", session_id=session_id)
        is_private(first)
        await said_twice_is_taken_once(first)
        with pytest.raises(SessionBusy, match="open in another process"):  # lesson 21
            await bed.start("talk", session_id=session_id, resume=True)
        await first.claude.stop(first.wire.send_farewell("bye"))
        assert first.claude.process.exit_code == 0

        second = await bed.start("talk", session_id=session_id, resume=True)
        await second.say("three")
        result = await second.until(Result)
        assert (answered(result), result.session_id) == ("You said 'three'.", session_id)
        fork = await bed.start("talk", session_id=fork_id, fork_of=session_id)
        await fork.say("four")
        assert (await fork.until(Result)).session_id == fork_id

        text = bed.model.requests("talk")[-1]
        assert all(word in str(text) for word in ("one", "two", "three", "four"))


async def said_twice_is_taken_once(talk: BedTalk) -> None:
    """What is said twice with one id."""
    say_id = await talk.say("one")
    assert answered(await talk.until(Result)) == "You said 'one'."
    await talk.say("one", say_id)
    await talk.say("two")
    assert answered(await talk.until(Result)) == "You said 'two'."


def is_private(talk: BedTalk) -> None:
    """Everything of a run is the user's alone."""
    folder = talk.claude.folder
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert {each.name: oct(each.stat().st_mode & 0o777) for each in folder.path.iterdir()} == dict.fromkeys(
        ("in", "in.lock", "out.ndjson", "err.log", "launch.json"), "0o600"
    )
    record = RunFolder(folder.path).record()
    assert record is not None
    assert record.identity.lives()
    assert os.getsid(record.pid) == record.pid


async def test_an_unknown_conversation_cannot_be_resumed_and_says_so(tmp_path: Path) -> None:
    async with Bed(tmp_path, talk=small_talk) as bed:
        talk = await bed.start("talk", resume=True, initialize=False)
        frames = await talk.rest()
        results = [frame for frame in frames if isinstance(frame, Result)]
        assert results
        assert results[0].is_error
        assert "No conversation found" in str(results[0].errors)
        assert talk.claude.process.exit_code == 1
