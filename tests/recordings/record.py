"""Records journals of the real CLI, as test data.

    cd tests && ../.venv/bin/python -m recordings.record [scene …]

plays each scene with the real CLI and a scripted model, and saves its journal next to this file, as `<CLI
version>-<scene>.ndjson`. The CLI is the `claude` on PATH, if there is one. Nothing is left out; only the machine's
own paths become `/home/user` and `/home/user/project`, and every pid 4242. Run it again for the next CLI version, and
keep the older recordings: all must be readable.
"""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from handraise.claude.locate import locate, version
from handraise.demo.pieces import Script, Scripted, agent, fail, say, think, use
from handraise.demo.request import Conversation
from handraise.wire import mcp
from handraise.wire.frames import ControlCancel, ControlRequest, Lifecycle, Result
from stories import own_tool
from stories.bed import Bed, BedTalk
from stories.test_forms import SERVER
from stories.test_plans import ACCEPT_EDITS
from stories.test_questions import COLOURS, DATABASE
from stories.test_turns import PIXEL, picture

HERE = Path(__file__).parent
HOME = "/home/user"
WORK = "/home/user/project"


class Scene(Struct, frozen=True):
    """What the model does, and what the person does."""

    script: Scripted
    play: Callable[[Bed], Awaitable[BedTalk]]


def text(conversation: Conversation) -> Script:
    yield [think("They greet me."), say("Good day. What may I do for you?")]


async def play_text(bed: Bed) -> BedTalk:
    talk = await bed.start("scene")
    await talk.say("Good day.")
    return talk


def question(conversation: Conversation) -> Script:
    conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[DATABASE, COLOURS])]
    yield [say(conversation.result().text)]


async def play_question(bed: Bed) -> BedTalk:
    talk = await bed.start("scene", partial_messages=False)
    await talk.say("Begin.")
    request_id, asked = await talk.until_asked()
    await talk.allow(request_id, asked, answers={"Which database?": "SQLite", "Which colours?": "Red, Blue"})
    return talk


def permissions(conversation: Conversation) -> Script:
    conversation = yield [
        use("Read", file_path=f"{conversation.directory}/../{name}") for name in ("a.txt", "b.txt", "c.txt")
    ]
    yield [say("Two of three.")]


async def play_permissions(bed: Bed) -> BedTalk:
    for name in ("a.txt", "b.txt", "c.txt"):
        (bed.tmp / name).write_text(f"This is {name}.\n")
    talk = await bed.start("scene", partial_messages=False)
    await talk.say("Read them.")
    (first, _), second, third = [await talk.until_asked() for _ in range(3)]
    await talk.allow(*third)
    await talk.deny(first, "Not this one.")
    await talk.allow(*second)
    return talk


def plan(conversation: Conversation) -> Script:
    plan_file = conversation.plan_file
    conversation = yield [use("Write", file_path=plan_file, content="1. Write everything.")]
    conversation = yield [use("ExitPlanMode")]
    conversation = yield [use("Write", file_path=plan_file, content="1. Write one file.")]
    conversation = yield [use("ExitPlanMode")]
    conversation = yield [use("Write", file_path=f"{conversation.directory}/done.txt", content="done")]
    yield [say("Done.")]


async def play_plan(bed: Bed) -> BedTalk:
    talk = await bed.start("scene", partial_messages=False, mode="plan")
    await talk.say("Think first.")
    request_id, _ = await talk.until_asked()
    await talk.deny(request_id, "Only one file, please.")
    request_id, asked = await talk.until_asked()
    await talk.allow(request_id, asked, [ACCEPT_EDITS])
    return talk


def elicitation(conversation: Conversation) -> Script:
    conversation = yield [use("mcp__forms__deliver", parcel="the lamp")]
    yield [say(conversation.result().text)]


async def play_elicitation(bed: Bed) -> BedTalk:
    server = {"forms": {**SERVER, "alwaysLoad": True}}
    talk = await bed.start("scene", partial_messages=False, mcp_servers=server, allowed_tools=("mcp__forms__deliver",))
    await talk.say("Deliver it.")
    asked = await talk.until(ControlRequest)
    await talk.claude.write(talk.wire.send_filled(asked.request_id, "accept", {"street": "Odeon 4", "floor": 3}))
    return talk


def ask_user(conversation: Conversation) -> Script:
    conversation = yield [use(own_tool.NAME, question="Which database?")]
    yield [say(conversation.result().text)]


async def play_ask_user(bed: Bed) -> BedTalk:
    tool = await own_tool.start(bed, "scene")
    request_id, call = await tool.until_called()
    await tool.reply(request_id, mcp.tool_result(call.id, "SQLite"))
    return tool.talk


def scout(conversation: Conversation) -> Script:
    conversation = yield [use("Write", file_path=f"{conversation.directory}/scout.txt", content="was here")]
    yield [say("I was there.")]


def sub_agent(conversation: Conversation) -> Script:
    yield [agent("Look", "Look around", scout)]
    yield [say("Somebody was there.")]


async def play_sub_agent(bed: Bed) -> BedTalk:
    talk = await bed.start("scene")
    await talk.say("Send somebody.")
    request_id, asked = await talk.until_asked()
    await talk.allow(request_id, asked)
    return talk


def interrupt(conversation: Conversation) -> Script:
    yield [use("Bash", command="touch never.txt", description="Touch")]
    yield [say("Something else, then.")]


async def play_interrupt(bed: Bed) -> BedTalk:
    talk = await bed.start("scene", partial_messages=False)
    await talk.say("Touch it.")
    await talk.until_asked()
    await talk.want("interrupt")
    await talk.until(ControlCancel)
    await talk.until(Result)
    await talk.say("Something else.")
    return talk


def pending(conversation: Conversation) -> Script:
    yield [use("Bash", command="touch here.txt", description="Touch")]
    yield [say("It is there.")]


async def play_pending(bed: Bed) -> BedTalk:
    """Another hub takes over while a request is open, and asks what is pending."""
    talk = await bed.start("scene", partial_messages=False)
    await talk.say("Touch it.")
    request_id, asked = await talk.until_asked()
    await talk.want("initialize")
    await talk.until_acknowledged("initialize")
    await talk.allow(request_id, asked)
    return talk


def retry(conversation: Conversation) -> Script:
    yield [fail(529, "overloaded_error", retry_after=0)]
    yield [say("Here I am.")]


async def play_retry(bed: Bed) -> BedTalk:
    talk = await bed.start("scene", partial_messages=False)
    await talk.say("Are you there?")
    return talk


def image(conversation: Conversation) -> Script:
    yield [say("A pixel.")]


async def play_image(bed: Bed) -> BedTalk:
    talk = await bed.start("scene", partial_messages=False)
    await talk.say([{"type": "text", "text": "What is it?"}, picture(PIXEL)])
    return talk


SCENES = {
    "text": Scene(text, play_text),
    "question": Scene(question, play_question),
    "permissions": Scene(permissions, play_permissions),
    "plan": Scene(plan, play_plan),
    "elicitation": Scene(elicitation, play_elicitation),
    "ask-user": Scene(ask_user, play_ask_user),
    "sub-agent": Scene(sub_agent, play_sub_agent),
    "interrupt": Scene(interrupt, play_interrupt),
    "pending": Scene(pending, play_pending),
    "retry": Scene(retry, play_retry),
    "image": Scene(image, play_image),
}


async def record(scene: Scene, tmp: Path) -> bytes:
    """The journal of a scene, from the first frame to the end of the process."""
    async with Bed(tmp, scene=scene.script) as bed:
        talk = await scene.play(bed)
        assert not (await talk.until(Result)).is_error
        if any(isinstance(each, Lifecycle) for each in talk.heard):  # 2.1.197 has none
            await talk.until(Lifecycle, lambda result: result.state == "completed")
        await talk.claude.stop(talk.wire.send_farewell("bye"))
        assert bed.model.errors == []
        return without_machine(talk.claude.folder.journal.read_bytes(), tmp)


def without_machine(journal: bytes, tmp: Path) -> bytes:
    """The same, as if recorded in `/home/user/project`."""
    neutral = {
        str(tmp / "work"): WORK,
        _folded(str(tmp / "work")): _folded(WORK),
        str(tmp / "home"): HOME,
        str(tmp): HOME,
        f"/tmp/claude-{os.getuid()}/": "/tmp/claude-1000/",
    }
    for ours, theirs in neutral.items():
        journal = journal.replace(ours.encode(), theirs.encode())
    return re.sub(rb'("pid":|/tmp/cc-socks/)\d+', rb"\g<1>4242", journal)


def _folded(path: str) -> str:
    """How Claude names its own folder for a directory."""
    return re.sub(r"[^a-zA-Z0-9]", "-", path)


async def main(names: list[str]) -> None:
    spoken_by = await version(locate())
    for name in names or SCENES:
        with tempfile.TemporaryDirectory() as tmp:
            journal = await record(SCENES[name], Path(tmp).resolve())
        path = HERE / f"{spoken_by}-{name}.ndjson"
        path.write_bytes(journal)
        sys.stdout.write(f"{path.name}: {len(journal)} bytes\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
