"""Stories: a process that writes to Claude may be killed in the middle of a line."""

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, say
from handraise.demo.request import Conversation
from handraise.wire.frames import ControlResponse, Result, Unreadable
from stories.bed import Bed, BedTalk, answered

WRITER = Path(__file__).with_name("padded_writer.py")


def small_talk(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say(f"You said {conversation.text!r}.")]


def writer(talk: BedTalk, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, WRITER, talk.claude.folder.path, name],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )


def kill_in_the_middle(victim: subprocess.Popen[bytes], dice: random.Random) -> None:
    assert victim.stdout is not None
    assert victim.stdout.readline() == b"writing\n"
    for _ in range(dice.randrange(300_000)):
        pass
    victim.kill()
    victim.wait()
    victim.stdout.close()


async def survive(tmp_path: Path, kills: int) -> None:
    dice = random.Random(kills)
    async with Bed(tmp_path, talk=small_talk) as bed:
        talk = await bed.start("talk")
        await talk.say("one")
        assert answered(await talk.until(Result)) == "You said 'one'."

        for number in range(kills):
            await asyncio.to_thread(kill_in_the_middle, writer(talk, f"w{number}"), dice)
        await talk.say("two")

        assert answered(await talk.until(Result)) == "You said 'two'."
        assert not talk.claude.ended.is_set()
        assert not [frame for frame in talk.heard if isinstance(frame, Unreadable)]
        heard = [frame.response.request_id for frame in talk.heard if isinstance(frame, ControlResponse)]
        assert {name.partition("-")[0] for name in heard if name.startswith("w")} == {f"w{n}" for n in range(kills)}
        assert bed.model.errors == []


async def test_claude_survives_writers_that_are_killed_in_the_middle_of_a_line(tmp_path: Path) -> None:
    await survive(tmp_path, kills=5)


@pytest.mark.torture
async def test_claude_survives_hundreds_of_killed_writers(tmp_path: Path) -> None:
    await survive(tmp_path, kills=300)
