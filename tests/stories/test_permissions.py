"""Stories: Claude asks for permission, and someone decides."""

from pathlib import Path

from handraise.demo.pieces import Script, Scripted, agent, say, use
from handraise.demo.request import Conversation
from handraise.wire import encode
from handraise.wire.frames import Assistant, ControlRequest, Result, Task, User
from stories.bed import Bed, BedTalk, answered, parts, read


def write(name: str) -> Scripted:
    def script(conversation: Conversation) -> Script:
        conversation = yield [use("Write", file_path=f"{conversation.directory}/{name}", content="as Claude wrote it")]
        yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]

    return script


def write_and_listen(conversation: Conversation) -> Script:
    conversation = yield [use("Write", file_path=f"{conversation.directory}/stopped.txt", content="unwanted")]
    yield [say(f"You said: {conversation.text.splitlines()[-1]}")]


def reckon_thrice(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="python3 -c 'print(41)'", description="Reckon")]
    conversation = yield [use("Bash", command="python3 -c 'print(41)'", description="Reckon again")]
    conversation = yield [use("Bash", command="python3 -c 'print(42)'", description="Reckon something else")]
    yield [say(conversation.result().text)]


def reckon(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command="python3 -c 'print(43)'", description="Reckon")]
    yield [say(conversation.result().text)]


def read_three(conversation: Conversation) -> Script:
    conversation = yield [
        use("Read", file_path=f"{conversation.directory}/../outside/{name}") for name in ("a", "b", "c")
    ]
    yield [say(" | ".join(f"{each.is_error} {each.text}" for each in conversation.results))]


def scout(conversation: Conversation) -> Script:
    conversation = yield [use("Write", file_path=f"{conversation.directory}/scout.txt", content="was here")]
    yield [say("I was there.")]


def send_scout(conversation: Conversation) -> Script:
    conversation = yield [agent("Look", "Look around", scout)]
    yield [say(conversation.result().text)]


SCRIPT = parts(
    allowed=write("allowed.txt"),
    edited=write("edited.txt"),
    denied=write("denied.txt"),
    misshapen=write("misshapen.txt"),
    stopped=write_and_listen,
    reckon_thrice=reckon_thrice,
    reckon=reckon,
    read_three=read_three,
    send_scout=send_scout,
)


async def test_what_is_allowed_is_done(bed: Bed, talk: BedTalk) -> None:
    await talk.say("allowed")
    request_id, asked = await talk.until_asked()
    note = bed.work / "allowed.txt"
    assert (asked.tool_name, read(asked.input)["file_path"]) == ("Write", str(note))
    assert not note.exists()
    await talk.allow(request_id, asked)

    assert answered(await talk.until(Result)).startswith("False: ")
    assert note.read_text() == "as Claude wrote it"


async def test_what_was_edited_before_it_was_allowed_is_what_is_done(bed: Bed, talk: BedTalk) -> None:
    await talk.say("edited")
    request_id, asked = await talk.until_asked()
    await talk.allow(request_id, asked, content="as the person wants it")

    await talk.until(Result)
    assert (bed.work / "edited.txt").read_text() == "as the person wants it"


async def test_what_is_denied_is_not_done_and_claude_reads_why(bed: Bed, talk: BedTalk) -> None:
    await talk.say("denied")
    request_id, asked = await talk.until_asked()
    await talk.deny(request_id, "Not here: use the docs folder.")

    result = await talk.until(Result)
    assert answered(result) == "True: Not here: use the docs folder."
    assert [each["tool_use_id"] for each in result.permission_denials or []] == [asked.tool_use_id]
    assert not (bed.work / "denied.txt").exists()


async def test_a_denial_that_interrupts_ends_the_turn_and_the_next_one_begins_as_ever(bed: Bed, talk: BedTalk) -> None:
    await talk.say("stopped")
    request_id, _ = await talk.until_asked()
    await talk.deny(request_id, "Stop right there.", interrupt=True)
    stopped = await talk.until(Result)
    await talk.say("something else")

    assert (stopped.is_error, stopped.subtype) == (True, "error_during_execution")
    assert answered(await talk.until(Result)) == "You said: something else"
    assert not (bed.work / "stopped.txt").exists()


async def test_what_claude_suggests_for_good_is_not_asked_about_again(bed: Bed, talk: BedTalk) -> None:
    await talk.say("reckon_thrice")
    request_id, asked = await talk.until_asked()
    [suggestion] = asked.permission_suggestions or []
    assert suggestion["rules"] == [{"toolName": "Bash", "ruleContent": "python3 -c 'print(41)'"}]
    await talk.allow(request_id, asked, [{**suggestion, "destination": "session"}])

    request_id, asked = await talk.until_asked()
    assert read(asked.input)["description"] == "Reckon something else"
    await talk.allow(request_id, asked)
    assert answered(await talk.until(Result)) == "42"


async def test_a_rule_for_the_project_is_kept_and_holds_for_the_next_process(bed: Bed, talk: BedTalk) -> None:
    await talk.say("reckon")
    request_id, asked = await talk.until_asked()
    [suggestion] = asked.permission_suggestions or []
    assert suggestion["destination"] == "localSettings"
    await talk.allow(request_id, asked, [suggestion])
    assert answered(await talk.until(Result)) == "43"

    # What the directory says holds only where a person trusts it.
    second = await bed.start("script", trusted=True)
    await second.say("reckon")
    assert answered(await second.until(Result)) == "43"
    assert not any(isinstance(frame, ControlRequest) for frame in second.heard)
    assert "python3" in (bed.work / ".claude" / "settings.local.json").read_text()


async def test_three_that_are_open_at_once_are_answered_in_another_order(bed: Bed, talk: BedTalk) -> None:
    (bed.tmp / "outside").mkdir()
    for name in ("a", "b", "c"):
        (bed.tmp / "outside" / name).write_text(f"the text of {name}")
    await talk.say("read_three")
    asked = [await talk.until_asked() for _ in range(3)]
    assert talk.wire.open_requests == {request_id for request_id, _ in asked}
    by_name = {Path(read(each.input)["file_path"]).name: (request_id, each) for request_id, each in asked}

    await talk.allow(*by_name["c"])
    await talk.deny(by_name["a"][0], "not this one")
    await talk.allow(*by_name["b"])

    a, b, c = answered(await talk.until(Result)).split(" | ")
    assert a == "True not this one"
    assert b.startswith("False")
    assert "the text of b" in b
    assert "the text of c" in c
    assert not talk.wire.open_requests


async def test_a_sub_agent_asks_in_its_own_name(bed: Bed, talk: BedTalk) -> None:
    await talk.say("send_scout")
    request_id, asked = await talk.until_asked()
    assert asked.agent_id
    await talk.allow(request_id, asked)

    assert "I was there." in answered(await talk.until(Result))
    assert (bed.work / "scout.txt").read_text() == "was here"
    inside = [frame for frame in talk.heard if isinstance(frame, Assistant | User) and frame.parent_tool_use_id]
    assert {frame.agent_id for frame in inside} == {asked.agent_id}
    began = next(frame for frame in talk.heard if isinstance(frame, Task) and frame.subtype == "task_started")
    assert (began.task_id, began.tool_use_id) == (asked.agent_id, inside[0].parent_tool_use_id)


async def test_an_answer_in_a_shape_that_claude_does_not_know_fails_the_tool_and_nothing_else(
    bed: Bed, talk: BedTalk
) -> None:
    await talk.say("misshapen")
    request_id, _ = await talk.until_asked()
    await talk.claude.write(encode.control_response(request_id, {"approved": True}))

    assert answered(await talk.until(Result)).startswith("True: ")
    assert not (bed.work / "misshapen.txt").exists()
