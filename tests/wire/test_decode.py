import json
import random
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, Struct

from handraise.wire import frames
from handraise.wire.decode import LookCloser, decode, decode_many
from handraise.wire.frames import Frame, UnknownFrame, Unreadable
from handraise.wire.lines import HEAD
from wire.corpus import ALL, EVERYTHING, ODD, QUESTION, SESSION, USAGE, assistant, event, full_line, line, request, user


def at_once(lines: Sequence[bytes], look_closer: LookCloser = decode) -> list[Frame]:
    return decode_many(b"".join(text + b"\n" for text in lines), look_closer)


def one_by_one(lines: Sequence[bytes]) -> list[Frame]:
    return [frame for text in lines for frame in decode(text)]


def one(text: bytes) -> Frame:
    found = decode(text)
    assert len(found) == 1, found
    return found[0]


TERMS = (
    "title",
    "decision_reason_type",
    "requires_user_interaction",
    "suppress_always_allow_rule",
    "default_to_no",
    "matched_ask_rule",
    "classifier_approvable",
)


def plain(value: object) -> Any:
    """A frame as plain values, the raw pieces read."""
    match value:
        case Raw():
            return json.loads(bytes(value))
        case Struct():
            return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
        case list() | tuple():
            return [plain(each) for each in value]
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case _:
            return value


def block(text: bytes) -> frames.Block:
    frame = one(text)
    assert isinstance(frame, frames.Assistant | frames.User)
    assert isinstance(frame.message.content, tuple)
    return frame.message.content[0]


def asked(text: bytes) -> frames.Request:
    frame = one(text)
    assert isinstance(frame, frames.ControlRequest), frame
    return frame.request


def test_a_turn_begins() -> None:
    assert one(ALL["init"]) == frames.Init(
        session_id=SESSION,
        cwd="/work",
        model="claude-opus-5-5",
        mode="plan",
        tools=["Bash", "Read"],
        mcp_servers=[{"name": "handraise", "status": "connected"}],
        version="2.1.325",
    )


def test_what_claude_is_busy_with() -> None:
    assert one(ALL["status"]) == frames.Status("requesting", "acceptEdits")
    assert one(ALL["retry"]) == frames.ApiRetry(1, 10, 512.5, 529, "x")
    assert one(ALL["lifecycle"]) == frames.Lifecycle("6c5a", "queued")
    assert one(ALL["progress"]) == frames.ToolProgress("toolu_1", "Bash", None, 30.1)
    assert one(ALL["rate limit"]) == frames.RateLimit({"status": "allowed", "resetsAt": 1794779380})


def test_something_in_the_background() -> None:
    started = one(ALL["task"])
    assert isinstance(started, frames.Task)
    assert (started.subtype, started.task_id, started.tool_use_id) == ("task_started", "t1", "toolu_1")
    assert (started.description, started.task_type) == ("Look around", "local_agent")
    assert one(ALL["task progress"]) == frames.Task("task_progress", "t1", last_tool_name="Read")
    assert one(ALL["task update"]) == frames.Task("task_updated", "t1", patch={"status": "completed"})
    assert one(ALL["task end"]) == frames.Task("task_notification", "t1", status="completed", summary="Done")


def test_what_claude_says_and_does() -> None:
    text = one(ALL["text"])
    assert isinstance(text, frames.Assistant)
    assert text.message == frames.Message(
        (frames.TextBlock("Grüße, “you” 🎈"),), "msg_1", "claude-opus-5-5", USAGE, None
    )
    assert block(ALL["thinking"]) == frames.ThinkingBlock("Hm.")
    assert plain(block(ALL["tool use"])) == {"id": "toolu_1", "name": "Bash", "input": {"command": "ls\n-l"}}
    assert plain(block(ALL["server tool use"])) == {"id": "srvtoolu_1", "name": "web_search", "input": {}}
    sub = one(ALL["sub-agent"])
    assert isinstance(sub, frames.Assistant)
    assert (sub.agent_id, sub.error, sub.uuid) == ("a1", "rate_limit", "a6664cb5-041b-44c0-81a9-e65dfa42d424")


def test_what_claude_was_told() -> None:
    assert block(ALL["tool result"]) == frames.ToolResult("toolu_1", "total 0", False)
    assert plain(block(ALL["tool result in blocks"]))["content"] == [{"type": "text", "text": "total 0"}]
    assert plain(block(ALL["image"]))["source"]["media_type"] == "image/png"
    replay, synthetic = one(ALL["replay"]), one(ALL["synthetic"])
    assert isinstance(replay, frames.User)
    assert isinstance(synthetic, frames.User)
    assert (replay.message.content, replay.is_replay, replay.is_synthetic) == ("go", True, False)
    assert (synthetic.is_replay, synthetic.is_synthetic) == (False, True)


def test_pieces_of_a_message() -> None:
    assert plain(one(ALL["message start"]))["event"]["message"]["id"] == "msg_1"
    assert plain(one(ALL["block start"]))["event"]["content_block"] == {"type": "text", "text": ""}
    for name, delta in {
        "text delta": frames.Delta(text="Grü"),
        "thinking delta": frames.Delta(thinking="H"),
        "json delta": frames.Delta(),
        "message delta": frames.Delta(),
    }.items():
        frame = one(ALL[name])
        assert isinstance(frame, frames.StreamEvent)
        assert frame.event.delta == delta
    assert one(ALL["message stop"]) == frames.StreamEvent(frames.Event("message_stop"))


def test_a_turn_ends_with_the_type_late_in_the_line() -> None:
    result = one(ALL["result"])
    assert isinstance(result, frames.Result)
    assert (result.subtype, result.is_error, result.result, result.num_turns) == ("success", False, "Done.", 3)
    assert (result.session_id, result.total_cost_usd, result.duration_ms) == (SESSION, 0.19835999999999998, 1523)
    assert (result.usage, result.permission_denials) == (USAGE, [{"tool_name": "Bash"}])
    assert result.model_usage == {"claude-opus-5-5": {"inputTokens": 45440}}
    failed = one(ALL["failed"])
    assert isinstance(failed, frames.Result)
    assert (failed.is_error, failed.errors) == (True, ["No conversation found"])


def test_how_a_request_may_be_answered() -> None:
    values = {"decision_reason_type": "rule", "title": "Deliver", "matched_ask_rule": {"tool_name": "Bash"}}
    for terms in (values, dict.fromkeys(TERMS[1:], True), dict.fromkeys(TERMS[1:], "odd")):
        line = json.loads(ALL["permission"])
        line["request"] |= terms
        request = plain(asked(json.dumps(line).encode()))
        assert {name: request[name] for name in terms} == terms


def test_what_claude_asks() -> None:
    permission = asked(ALL["permission"])
    assert isinstance(permission, frames.CanUseTool)
    assert plain(permission) == {
        "tool_name": "Bash",
        "display_name": "Bash",
        "input": {"command": "ls", "description": "Lists"},
        "description": "Lists",
        "permission_suggestions": [{"type": "addRules", "rules": [{"toolName": "Bash"}], "destination": "session"}],
        "blocked_path": "/etc",
        "decision_reason": "outside",
        "tool_use_id": "toolu_1",
        "agent_id": "a1",
        **dict.fromkeys(TERMS),
    }
    assert plain(asked(ALL["question"]))["input"] == {"questions": [QUESTION]}
    form = asked(ALL["form"])
    assert isinstance(form, frames.Elicitation)
    assert (form.mcp_server_name, form.message, form.mode) == ("forms", "Who?", "form")
    assert form.requested_schema == {"type": "object", "properties": {"name": {"type": "string"}}}
    mcp = asked(ALL["mcp"])
    assert isinstance(mcp, frames.McpMessage)
    assert (mcp.server_name, plain(mcp.message)) == ("handraise", {"jsonrpc": "2.0", "id": 1})


def test_what_claude_takes_back_and_acknowledges() -> None:
    assert one(ALL["cancel"]) == frames.ControlCancel("r-2")
    assert one(ALL["acknowledged"]) == frames.ControlResponse(
        frames.Acknowledged("ours-1", "success", {"mode": "plan"})
    )
    assert one(ALL["refused"]) == frames.ControlResponse(frames.Acknowledged("ours-2", "error", None, "no"))


def test_unknown_frames_blocks_and_requests_are_kept_whole() -> None:  # lesson 12
    for name in ("unknown", "unknown system"):
        frame = one(ALL[name])
        assert isinstance(frame, UnknownFrame)
        assert frame.fields == json.loads(ALL[name])
    record = one(ALL["unknown block"])
    assert isinstance(record, frames.Assistant)
    assert record.message.content == (
        frames.UnknownBlock("hologram", {"type": "hologram", "depth": 3}),
        frames.TextBlock("beside it"),
    )
    assert record.message.id == "msg_1"
    assert asked(ALL["unknown hook"]) == frames.UnknownRequest(
        "hook_callback", {"subtype": "hook_callback", "callback_id": 1}
    )


def test_a_call_that_is_about_to_be_made_is_read() -> None:
    hook = asked(ALL["hook"])

    assert isinstance(hook, frames.HookCallback)
    assert (hook.callback_id, hook.input.tool_name, hook.input.tool_use_id) == ("h1", "Read", "t")
    assert json.loads(bytes(hook.input.tool_input)) == {"file_path": "/a"}


@pytest.mark.parametrize("name", ALL)
def test_new_fields_change_nothing(name: str) -> None:  # lesson 12
    fields = json.loads(ALL[name])
    frame = one(line(**{"novelty": {"deep": ["x"]}, **fields, "another": 1}))
    if isinstance(frame, UnknownFrame):
        assert frame.fields["novelty"] == {"deep": ["x"]}
    else:
        assert plain(frame) == plain(one(ALL[name]))


@pytest.mark.parametrize("name", ALL)
def test_the_type_may_stand_anywhere(name: str) -> None:
    fields = json.loads(ALL[name])
    kind = fields.pop("type")
    assert plain(one(line(**fields, type=kind))) == plain(one(line(type=kind, **fields)))
    spaced = json.dumps({**fields, "type": kind}, indent=1, ensure_ascii=True).replace("\n", " ").encode()
    assert plain(one(spaced)) == plain(one(ALL[name]))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("noise", frames.NOISE),
        ("broken", frames.BROKEN),
        ("two at once", frames.BROKEN),
        ("no object", frames.NOT_A_FRAME),
        ("bare", frames.NOT_A_FRAME),
        ("bad bytes, broken", frames.NOT_UTF8),
        ("deep", frames.BROKEN),
        ("deep and whole", frames.BROKEN),
        ("huge number", frames.BROKEN),
        ("beyond floats", frames.BROKEN),
        ("byte order mark", frames.NOISE),
        ("nul", frames.NOISE),
    ],
)
def test_what_is_no_frame_is_a_record_that_names_the_trouble(name: str, why: str) -> None:
    assert one(ODD[name]) == Unreadable(why, ODD[name][:HEAD], len(ODD[name]))


def test_a_blank_line_says_nothing() -> None:
    assert decode(b"") == []
    assert decode(ODD["white"]) == []


def test_an_object_without_a_type_is_kept() -> None:
    assert one(ODD["no type"]) == UnknownFrame("", None, {"a": 1})
    assert one(ODD["odd type"]) == UnknownFrame("", None, {"type": ["x"]})


def test_bad_bytes_are_recorded_and_the_frame_is_rescued() -> None:
    record, rescued = decode(ODD["bad bytes"])
    assert record == Unreadable(frames.NOT_UTF8, ODD["bad bytes"], len(ODD["bad bytes"]))
    assert isinstance(rescued, frames.User)
    assert rescued.message.content == "caf\ufffd"


def test_half_a_surrogate_pair_is_mended() -> None:  # lesson 16
    half, whole = one(ODD["half a pair"]), one(ODD["whole pair"])
    assert isinstance(half, frames.User)
    assert isinstance(whole, frames.User)
    assert half.message.content == "cut \ufffd"
    assert whole.message.content == "😀"
    assert plain(asked(ODD["half a pair in raw"]))["input"] == {"content": "\ufffd cut"}


def test_odd_numbers_do_no_harm() -> None:
    large = one(ODD["large number"])
    assert isinstance(large, frames.Result)
    assert large.num_turns == 123456789012345678901234567890
    assert one(ODD["not a number"]) == frames.Result()
    assert isinstance(one(ODD["twice a key"]), frames.Result | frames.User | UnknownFrame)


def test_a_field_of_the_wrong_type_costs_that_field_only() -> None:
    result = one(
        full_line(type="result", subtype="success", is_error="no", result=17, num_turns=[], total_cost_usd=0.5)
    )
    assert result == frames.Result("success", session_id=SESSION, total_cost_usd=0.5)
    init = one(full_line(type="system", subtype="init", cwd=3, tools="Bash", model="m"))
    assert init == frames.Init(session_id=SESSION, model="m")
    text = one(assistant({"type": "text", "text": "x"}, {"type": "text", "text": 5}, "y", error={"a": 1}))
    assert isinstance(text, frames.Assistant)
    assert text.message.content == (
        frames.TextBlock("x"),
        frames.UnknownBlock("text", {"type": "text", "text": 5}),
        frames.UnknownBlock("", {"value": "y"}),
    )
    assert one(user([], isReplay="yes")) == frames.User(
        frames.UserMessage(()), uuid="a6664cb5-041b-44c0-81a9-e65dfa42d424"
    )


def test_a_frame_without_what_makes_it_one_is_kept_whole() -> None:
    for text in (
        full_line(type="assistant"),
        full_line(type="assistant", message={"content": 7}),
        full_line(type="user", message="hello"),
        event(index=1),
        full_line(type="control_response"),
        full_line(type="control_cancel_request", request_id=5),
        full_line(type="control_request", request_id=5, request={"subtype": "can_use_tool"}),
        full_line(type="command_lifecycle", state="queued"),
        full_line(type="system", subtype=7),
    ):
        frame = one(text)
        assert isinstance(frame, UnknownFrame)
        assert frame.fields == json.loads(text)


@pytest.mark.parametrize("field", frames.CanUseTool.__struct_fields__)
@pytest.mark.parametrize("odd", [None, 7, "x", [], ["x"], {"a": {}}, True])
def test_a_permission_request_with_odd_fields_is_still_one_that_can_be_answered(field: str, odd: object) -> None:
    fields = {**json.loads(ALL["permission"])["request"], field: odd}
    frame = one(request("r-1", **fields))
    assert isinstance(frame, frames.ControlRequest)
    assert frame.request_id == "r-1"
    assert isinstance(frame.request, frames.CanUseTool) or field == "tool_name"


@pytest.mark.parametrize("inside", [None, 7, "x", [], {}, {"subtype": None}, {"subtype": ["can_use_tool"]}])
def test_a_request_of_no_known_shape_still_waits_for_an_answer(inside: object) -> None:
    assert asked(line(type="control_request", request_id="r", request=inside)) == frames.UnknownRequest(
        str(inside.get("subtype", "")) if isinstance(inside, dict) else "", inside
    )
    assert asked(line(type="control_request", request_id="r")) == frames.UnknownRequest("", None)


def test_megabytes_are_no_trouble() -> None:
    text = "x" * 20_000_000
    found = block(user([{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]))
    assert isinstance(found, frames.ToolResult)
    assert found.content == text


def test_decoding_many_lines_at_once_gives_what_decoding_each_gives() -> None:
    two = [b'{"type":"user",', b'"message":{"content":"on two lines"}}']
    for texts in (EVERYTHING, list(ALL.values()) * 5, [ALL["text delta"]] * 200, [b"", ALL["text"], b""], two, []):
        assert plain(at_once(texts)) == plain(one_by_one(texts))


def test_only_what_wants_it_is_looked_at_closer() -> None:
    asked_for: list[bytes] = []

    def look_closer(text: bytes) -> list[Frame]:
        asked_for.append(text)
        return decode(text)

    quick = [ALL["text delta"], ALL["text"], ALL["tool result"], ALL["result"]] * 100
    slow = [ALL["permission"], ALL["cancel"]]
    mixed = [*quick, ALL["init"], *slow, ALL["status"], *quick]
    assert plain(at_once(mixed, look_closer)) == plain(one_by_one(mixed))
    assert asked_for == slow


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from(sorted(ALL)), st.data())
def test_any_value_in_any_field_raises_nothing(name: str, data: st.DataObject) -> None:
    fields = json.loads(ALL[name])
    place = fields
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(json_values)
    for frame in decode(json.dumps(fields).encode()):
        plain(frame)


@given(st.binary(max_size=300))
def test_any_bytes_raise_nothing(text: bytes) -> None:
    for frame in decode(text.replace(b"\n", b"")):
        plain(frame)


def mutate(dice: random.Random, text: bytes) -> bytes:
    """A line with a few bytes changed, cut out, doubled, or exchanged with a piece of another line."""
    changed = bytearray(text)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 8))):
        at = dice.randrange(len(changed) + 1)
        match dice.randrange(6):
            case 0:
                changed[at : at + 1] = bytes([dice.randrange(256)])
            case 1:
                del changed[at : at + dice.choice((1, 2, 5, 30, 300))]
            case 2:
                changed[at:at] = changed[at : at + dice.randrange(60)]
            case 3:
                changed[at:at] = dice.choice(_TOKENS)
            case 4:
                other = dice.choice(_SEEDS)
                start = dice.randrange(len(other) + 1)
                changed[at:at] = other[start : start + dice.randrange(80)]
            case _:
                changed[at : at + 1] = dice.choice((b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"1", b"\xff"))
    return bytes(changed).replace(b"\n", b" ")


_SEEDS = [text for text in EVERYTHING if len(text) < 5000]
_TOKENS = [
    b"null",
    b"true",
    b"1e999",
    b"-0",
    b"9" * 40,
    b'"type":"user"',
    b"\\ud83d",
    b"\\u0000",
    b"\xed\xa0\x80",
    b"NaN",
]
_TOKENS += [b'"subtype":"can_use_tool"', b'{"type":"tool_use"}', b"[[[[[[", b'"\\', b"\xf0\x9f", b"\0", b"\r"]


def fuzz(seed: int, count: int) -> None:
    dice = random.Random(seed)
    batch: list[bytes] = []
    for number in range(count):
        text = mutate(dice, dice.choice(_SEEDS))
        batch.append(text)
        try:
            for frame in decode(text):
                # What is passed on undecoded can be decoded by those who need it.
                plain(frame)
                msgspec.json.encode(frame)
        except Exception as error:
            error.add_note(f"line {number} of seed {seed}: {text!r}")
            raise
        if len(batch) == 50:
            assert plain(at_once(batch)) == plain(one_by_one(batch))
            batch = []


def test_twenty_thousand_mutated_lines_raise_nothing() -> None:
    fuzz(seed=1, count=20_000)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(10))
def test_a_million_mutated_lines_raise_nothing(seed: int) -> None:
    fuzz(seed=1000 + seed, count=100_000)


def test_the_depth_that_is_refused_is_beyond_any_real_one() -> None:
    deep: Any = {}
    for _ in range(sys.getrecursionlimit() // 4):
        deep = {"a": deep}
    assert isinstance(one(request("r", subtype="can_use_tool", tool_name="x", input=deep)), frames.ControlRequest)
