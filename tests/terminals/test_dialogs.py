"""What becomes of a dialog in a terminal: never withdrawn while it waits, and known soon after it doesn't."""

import json
from typing import Any

from handraise.terminals.dialogs import AgentDialog, CallTrace, LiveSession, LoneDialog, TerminalDialog

INPUT = {"command": "ls"}


def live(status: str) -> LiveSession:
    return LiveSession(7, "s", status=status)


def looks(*states: str | None) -> list[str]:
    dialog = TerminalDialog(most_looks=100)
    return [dialog.look(None if state is None else live(state), None) for state in states]


def line(**content: Any) -> bytes:
    return json.dumps(content).encode()


def used(call: str, tool: str = "Bash", tool_input: Any = None) -> bytes:
    block = {"type": "tool_use", "id": call, "name": tool, "input": tool_input or INPUT}
    return line(type="assistant", message={"content": [{"type": "text", "text": "x"}, block]})


def result(call: str, source: str | None) -> bytes:
    block = {"type": "tool_result", "tool_use_id": call, "content": "done"}
    more = {"permissionDecision": {"source": source}} if source else {}
    return line(type="user", message={"content": [block]}, **more)


def test_a_dialog_that_is_not_up_yet_waits() -> None:
    assert looks("busy", "busy", "busy", "waiting") == ["waiting"] * 4


def test_a_dialog_is_gone_when_claude_went_on() -> None:
    assert looks("waiting", "busy", "busy") == ["waiting", "waiting", "answered"]


def test_a_state_that_flickers_between_two_dialogs_withdraws_nothing() -> None:
    assert looks("waiting", "busy", "waiting", "busy", "waiting") == ["waiting"] * 5


def test_a_dialog_that_a_slow_hub_never_saw_is_gone_when_the_turn_is_over() -> None:
    dialog, working = TerminalDialog(most_looks=100), LiveSession(7, "s", status="busy")
    idle = LiveSession(7, "s", status="idle")
    looks = [dialog.look(each, None) for each in (*[idle] * 4, working, *[idle] * 5)]
    assert looks == ["waiting"] * 9 + ["answered"]


def test_a_claude_that_exits_takes_its_dialog_along_and_one_never_seen_is_not_judged() -> None:
    assert looks("waiting", None) == ["waiting", "ended"]
    assert looks(None, None) == ["waiting", "waiting"]


def test_a_claude_without_dialogs_does_not_wait_for_ever() -> None:
    absent, shown = TerminalDialog(most_looks=2), TerminalDialog(most_looks=2)

    assert [absent.look(live("busy"), None) for _ in range(3)] == ["waiting", "waiting", "absent"]
    assert {shown.look(live(state), None) for state in ("busy", "busy", *["waiting"] * 50)} == {"waiting"}


def test_a_sub_agent_may_ask_without_a_turn() -> None:
    dialog = TerminalDialog(most_looks=100, is_of_agent=True)

    assert {dialog.look(live("idle"), None) for _ in range(50)} == {"waiting"}


def test_a_claude_says_whether_an_editor_runs_it() -> None:
    names = ("", "cli", "sdk-cli", "sdk-py", "claude-vscode")
    states = [LiveSession(7, "s", entrypoint=name) for name in names]

    assert [each.is_interactive for each in states] == [True, True, False, False, False]
    assert [each.is_in_editor for each in states] == [False, False, False, True, True]


def test_a_hidden_dialog_of_a_sub_agent_is_shown_in_the_terminal_after_a_while() -> None:
    dialog = AgentDialog(most_looks=2)

    assert [dialog.look(live(state), None) for state in ("busy", "waiting", "busy", "waiting", "busy")] == [
        "waiting",
        "waiting",
        "waiting",
        "waiting",
        "hidden",
    ]


def test_another_dialog_that_is_answered_in_the_terminal_is_not_the_one_of_a_sub_agent() -> None:
    dialog = AgentDialog(most_looks=100)

    assert {dialog.look(live(state), None) for state in ("waiting", "busy", "busy", "busy")} == {"waiting"}
    assert dialog.look(live("busy"), "terminal") == "answered"
    assert dialog.look(None, None) == "ended"
    assert AgentDialog(most_looks=100).look(None, None) == "waiting"


def test_a_dialog_without_an_ask_is_alone_once_that_is_certain() -> None:
    lone = LoneDialog(was_up=False)

    assert [lone.look(live("waiting"), has_ask=False) for _ in range(3)] == [False, False, True]
    assert not lone.look(live("busy"), has_ask=False)
    assert not lone.look(live("waiting"), has_ask=False)


def test_a_dialog_that_was_just_answered_here_is_not_alone() -> None:
    lone = LoneDialog(was_up=False)

    assert not lone.look(live("waiting"), has_ask=True)
    assert not lone.look(live("waiting"), has_ask=False)
    assert not lone.look(live("busy"), has_ask=False)


def test_a_hub_that_has_just_started_sees_at_once_that_a_dialog_is_alone() -> None:
    assert LoneDialog(was_up=True).look(live("waiting"), has_ask=False)
    assert not LoneDialog(was_up=True).look(live("busy"), has_ask=False)
    assert not LoneDialog(was_up=True).look(None, has_ask=False)


def test_the_transcript_tells_who_decided() -> None:
    assert TerminalDialog(most_looks=0).look(live("waiting"), "terminal") == "answered"
    for source, decider in (("hook", "hook"), ("user_temporary", "terminal"), (None, "terminal")):
        trace = CallTrace("Bash", INPUT)
        trace.read([used("t1"), result("t1", source)])
        assert (trace.call, trace.decided) == ("t1", decider)


def test_a_decision_of_the_hook_is_known_before_the_tool_has_finished() -> None:
    trace = CallTrace("Bash", INPUT)
    trace.read([used("t1"), line(attachment={"type": "hook_permission_decision", "toolUseID": "t1"})])
    assert trace.decided == "hook"


def test_an_earlier_call_with_the_same_input_is_another_one() -> None:
    trace = CallTrace("Bash", INPUT)
    trace.read_earlier([used("t1"), result("t1", "user_temporary")])
    assert (trace.call, trace.decided) == (None, None)
    trace.read([used("t2")])
    assert (trace.call, trace.decided) == ("t2", None)
    trace.read([result("t2", "hook")])
    assert trace.decided == "hook"


def test_other_calls_and_odd_lines_are_passed_over() -> None:
    odd = [
        b"",
        b"{",
        b"[]",
        b"null",
        line(message=5),
        line(message={"content": "text"}),
        line(message={"content": [3]}),
    ]
    trace = CallTrace("Bash", INPUT)
    trace.read([*odd, used("t1", "Write"), used("t2", tool_input={"command": "pwd"}), result("t9", "hook")])
    assert trace.call is None
