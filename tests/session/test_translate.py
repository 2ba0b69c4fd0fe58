"""Translation: what each frame adds to the timeline."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from handraise.model.items import (
    ActionChecked,
    ActionEnded,
    ActionStarted,
    Content,
    Frame,
    Notice,
    Text,
    Thinking,
)
from handraise.session.translate import OUTPUT, Action, translate, turn_ended
from handraise.wire.connection import Connection
from handraise.wire.frames import Result
from session.claude_says import Line, assistant, bash, init, replayed, result, text, tool_result, tool_use

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("*.ndjson"))


class TranslatedItems:
    """Hears lines, and remembers what is under way."""

    def __init__(self) -> None:
        self.under_way: dict[str, Action] = {}

    def hear(self, *lines: Line) -> list[Content]:
        chunk = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        return self.hear_bytes(chunk)

    def hear_bytes(self, chunk: bytes) -> list[Content]:
        received = Connection().receive(chunk)
        return [content for each in received for content in translate(each.frame, self.under_way)]


def heard(*lines: Line) -> list[Content]:
    return TranslatedItems().hear(*lines)


@pytest.mark.parametrize(
    ("tool", "outcome", "kind", "title"),
    [
        ("Bash", {"command": "make test"}, "command", "make test"),
        ("Bash", {}, "command", "Bash"),
        ("Edit", {"file_path": "/w/a.py"}, "file_change", "/w/a.py"),
        ("Write", {"file_path": "/w/a.py"}, "file_change", "/w/a.py"),
        ("MultiEdit", {"file_path": "/w/a.py"}, "file_change", "/w/a.py"),
        ("NotebookEdit", {"notebook_path": "/w/a.ipynb"}, "file_change", "/w/a.ipynb"),
        ("WebSearch", {"query": "odeon"}, "web_search", "odeon"),
        ("WebFetch", {"url": "https://example.org"}, "web_search", "https://example.org"),
        ("Read", {"file_path": "/w/a.py"}, "tool", "Read /w/a.py"),
        ("Glob", {"pattern": "*.py"}, "tool", "Find *.py"),
        ("Grep", {"pattern": "def "}, "tool", "Search def"),
        ("TodoWrite", {"todos": []}, "note", "Update the to-do list"),
        ("TodoRead", {}, "note", "Read the to-do list"),
        ("AskUserQuestion", {"questions": []}, "note", "Ask"),
        ("ExitPlanMode", {"plan": "1."}, "note", "Show the plan"),
        ("Task", {"description": "Look around"}, "tool", "Agent: Look around"),
        ("Agent", {"prompt": "Look around"}, "tool", "Agent: Look around"),
        ("KillShell", {"shell_id": "b1"}, "command", "Stop shell b1"),
        ("mcp__post__send", {"to": "x"}, "tool", "post: send"),
        ("mcp__post", {}, "tool", "post: post"),
        ("Telepathy", {"command": "x"}, "tool", "Telepathy"),
        ("Bash", {"command": 7}, "command", "Bash"),
        ("Bash", {"command": "a\nb"}, "command", "a b"),
        ("Bash", {"command": "x" * 500}, "command", "x" * 199 + "…"),
    ],
)
def test_a_tool_call_is_an_action_with_a_kind_and_a_title(tool: str, outcome: Any, kind: str, title: str) -> None:
    (started,) = heard(tool_use(tool, **outcome))

    assert isinstance(started, ActionStarted)
    assert (started.kind, started.title, started.tool, started.input) == (kind, title, tool, outcome)


def test_an_input_is_kept_whole_whatever_the_title_shows() -> None:  # lesson 38
    (started,) = heard(tool_use("Bash", command="x" * 100_000))

    assert isinstance(started, ActionStarted)
    assert len(started.input["command"]) == 100_000


def test_an_input_that_is_no_object_or_cannot_be_read_is_kept() -> None:
    for raw in (b"[1]", b'{"n":1e999}', b"null"):
        line = b'{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"X","input":'
        (started,) = TranslatedItems().hear_bytes(line + raw + b"}]}}\n")
        assert isinstance(started, ActionStarted)
        assert list(started.input) == ["input"]


def test_results_are_matched_to_their_action_by_the_tools_id() -> None:
    timeline = TranslatedItems()
    timeline.hear(tool_use("Bash", "t_1", command="one"), tool_use("Read", "t_2", file_path="/a"))

    ended = timeline.hear(tool_result("t_2", "text"), tool_result("t_1", "no", is_error=True))

    assert ended == [
        ActionEnded("t_2", "tool", "Read /a", True, "text"),
        ActionEnded("t_1", "command", "one", False, "no"),
    ]
    assert timeline.under_way == {}


def test_a_result_of_an_action_that_nobody_saw_begin_is_told_too() -> None:
    assert heard(tool_result("t_9", "text")) == [ActionEnded("t_9", "tool", "A tool", True, "text")]


def test_a_result_of_blocks_is_joined_and_what_is_not_text_is_counted_or_kept() -> None:
    blocks = [
        {"type": "text", "text": "one"},
        {"type": "image", "source": {"type": "base64", "data": "…"}},
        {"type": "text", "text": "two"},
        {"type": "tool_reference", "tool_name": "X"},
        {"type": "text", "text": 5},
    ]

    (ended,) = heard(tool_result("t_1", blocks))

    assert isinstance(ended, ActionEnded)
    assert ended.output.splitlines() == [
        "one",
        "two",
        '{"type":"tool_reference","tool_name":"X"}',
        '{"type":"text","text":5}',
    ]
    assert ended.images == 1


def test_an_output_of_twenty_megabytes_is_cut_and_the_rest_is_counted() -> None:
    (ended,) = heard(tool_result("t_1", "x" * 20_000_000))

    assert isinstance(ended, ActionEnded)
    assert len(ended.output) == OUTPUT
    assert ended.omitted == 20_000_000 - OUTPUT


def test_what_a_sub_agent_does_is_nested_below_the_call_that_sent_it() -> None:
    timeline = TranslatedItems()

    contents = timeline.hear(
        text("Going.", parent="t_1"),
        tool_use("Bash", "t_2", parent="t_1", command="ls"),
        tool_result("t_2", "a", parent="t_1"),
    )

    assert [content.parent for content in contents if not isinstance(content, Frame | Notice)] == ["t_1"] * 3  # type: ignore[union-attr]


def test_words_and_thoughts_are_told_and_empty_ones_are_not() -> None:
    contents = heard(
        assistant({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}, message="m_7"),
        assistant({"type": "thinking", "thinking": ""}, {"type": "text", "text": ""}),
    )

    assert contents == [Thinking("hm", "m_7"), Text("Yes.", "m_7")]


def test_background_work_is_an_action_below_the_call_that_began_it() -> None:
    begun = {"subtype": "task_started", "task_id": "b1", "tool_use_id": "t_1", "description": "Build"}
    over = {"subtype": "task_notification", "task_id": "b1", "status": "failed", "summary": "exit 2"}

    contents = heard({"type": "system", **begun}, {"type": "system", **over})

    assert contents == [
        ActionStarted("task:b1", "tool", "Build", "task", {}, "t_1"),
        ActionEnded("task:b1", "tool", "Build", False, "exit 2", parent="t_1"),
    ]


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [
        ({"status": "allowed"}, []),
        (
            {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": 1772366400},
            [("error", "The five_hour limit is used up; it resets at 2026-03-01 12:00 UTC.")],
        ),
        (
            {"status": "allowed_warning", "resetsAt": "soon"},
            [("warning", "The usage limit is nearly used up (allowed_warning); it resets at an unknown time.")],
        ),
    ],
)
def test_a_rate_limit_is_told_when_it_matters(limit: dict[str, Any], outcome: list[tuple[str, str]]) -> None:
    contents = heard({"type": "rate_limit_event", "rate_limit_info": limit})

    assert [(each.level, each.text) for each in contents if isinstance(each, Notice)] == outcome


def test_a_retry_is_told() -> None:
    retry = {"subtype": "api_retry", "attempt": 2, "max_retries": 10, "error_status": 529, "error": "overloaded"}

    (outcome,) = heard({"type": "system", **retry})

    assert outcome == Notice("warning", "The model is overloaded (529 overloaded); try 2 of 10.", "retry")


def test_what_we_do_not_know_is_kept_and_passed_on() -> None:  # lesson 12
    unknown = {"type": "unheard_of", "x": [1, None]}
    block = {"type": "hologram", "data": 3}

    assert heard(unknown, assistant(block, {"type": "text", "text": "Yes."})) == [
        Frame(unknown),
        Frame({"block": block}),
        Text("Yes.", "m_1"),
    ]
    assert heard({"type": "user", "message": {"content": [block]}}) == [Frame({"block": block})]


def test_a_line_that_is_no_frame_is_shown_as_it_is() -> None:
    (outcome,) = TranslatedItems().hear_bytes(b"npm warn deprecated\n")

    assert isinstance(outcome, Notice)
    assert "npm warn deprecated" in outcome.text


def test_frames_that_only_steer_us_add_nothing() -> None:
    assert heard(init(), result(), bash(), replayed("u_1")) == []


def test_the_error_flag_decides_and_not_the_subtype() -> None:
    fine = turn_ended(Result(subtype="error_max_turns", is_error=False, result="Yes."), 1, "", 0.0)
    failed = turn_ended(Result(subtype="success", is_error=True, result="No credit"), 1, "", 0.0)

    assert (fine.is_error, fine.error, fine.result) == (False, None, "Yes.")
    assert (failed.is_error, failed.error) == (True, "No credit")


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (Result(is_error=True, errors=["one", "two"], result="x"), "one; two"),
        (Result(is_error=True, subtype="error_during_execution"), "error_during_execution"),
        (Result(is_error=True), "The turn failed without a reason."),
    ],
)
def test_an_error_is_told_as_it_was_told(outcome: Result, error: str) -> None:  # lesson 51
    assert turn_ended(outcome, 1, "", 0.0).error == error


@pytest.mark.parametrize("reason", ["aborted_streaming", "aborted_tools"])
def test_a_turn_that_somebody_ended_is_told_as_interrupted_and_not_by_claudes_diagnostics(reason: str) -> None:
    outcome = Result(is_error=True, terminal_reason=reason, errors=["[ede_diagnostic] result_type=user"])

    ended = turn_ended(outcome, 1, "", 0.0)

    assert (ended.interrupted, ended.is_error, ended.error) == (True, True, "The turn was interrupted.")
    assert not turn_ended(Result(terminal_reason="completed"), 1, "", 0.0).interrupted


def test_denials_usage_and_time_are_told_with_the_turn() -> None:
    outcome = Result(duration_ms=12.7, usage={"input_tokens": 3}, permission_denials=[{}, {}], total_cost_usd=2.0)

    ended = turn_ended(outcome, 4, "", 0.5)

    assert (ended.turn, ended.duration_ms, ended.usage, ended.denials, ended.cost_usd) == (
        4,
        12,
        {"input_tokens": 3},
        2,
        1.5,
    )


def test_actions_that_never_end_are_forgotten_at_last() -> None:
    timeline = TranslatedItems()
    for number in range(1200):
        timeline.hear(tool_use("Bash", f"t_{number}", command="x"))

    assert len(timeline.under_way) == 1000
    assert timeline.hear(tool_result("t_0"))


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_is_translated_without_damage_and_every_action_ends(recording: Path) -> None:
    timeline = TranslatedItems()

    contents = timeline.hear_bytes(recording.read_bytes())

    assert [each for each in contents if isinstance(each, Notice) and each.about == "line"] == []
    assert timeline.under_way == {}
    begun = [each.action for each in contents if isinstance(each, ActionStarted)]
    assert sorted(begun) == sorted(each.action for each in contents if isinstance(each, ActionEnded))


def test_there_are_recordings() -> None:
    assert RECORDINGS


def test_a_slow_check_is_told_of_actions_that_are_under_way() -> None:
    checking = {"type": "system", "subtype": "permission_check_status", "tool_use_id": "t_1", "status": "checking"}

    contents = heard(checking, tool_use("Bash", command="ls"), checking, {**checking, "status": "done"})

    assert contents[1:] == [ActionChecked("t_1", True), ActionChecked("t_1", False)]


def test_a_notification_is_a_notice() -> None:
    note = {"type": "system", "subtype": "notification", "key": "k", "text": "Model denied.", "priority": "high"}

    assert heard(note, {**note, "priority": "low"}, {**note, "text": " "}, {**note, "text": 7}) == [
        Notice("warning", "Model denied.", "notification"),
        Notice("info", "Model denied.", "notification"),
    ]


@pytest.mark.parametrize(
    ("code", "lost", "text"),
    [
        (
            "ENOSPC",
            ["transcript"],
            "The disk is full. Part of this conversation was not saved, and may be missing after a resume.",
        ),
        ("EDQUOT", ["global_config"], "The disk quota is used up. Changes to Claude's own settings were not saved."),
        ("EIO", ["x", "y"], "Claude could not save everything. Check what is missing before you continue."),
        (7, "transcript", "Claude could not save everything. Check what is missing before you continue."),
    ],
)
def test_what_claude_could_not_save_is_an_error_that_says_what_it_means(code: Any, lost: Any, text: str) -> None:
    frame = {"type": "system", "subtype": "session_writes_lost", "error_code": code, "lost": lost}

    assert heard(frame) == [Notice("error", text, "writes lost")]


def test_claudes_own_word_for_its_state_shows_nothing() -> None:
    assert heard({"type": "system", "subtype": "session_state_changed", "state": "idle"}) == []
