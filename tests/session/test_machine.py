"""The session machine: playbooks for every fact and wish, phase by phase."""

import pytest

from handraise.model.answers import Allow
from handraise.model.asks import Withdrawn
from handraise.model.items import ActionChanged, ActionEnded, Notice, SessionEnded, TurnEnded, TurnStarted
from handraise.model.sessions import Say
from handraise.session.commands import (
    AnswerAgain,
    Changed,
    ChangeMode,
    ChangeModel,
    Fact,
    Interrupt,
    Park,
    ProcessEnded,
    ProcessStarted,
    Publish,
    Raise,
    Rename,
    Speak,
    Stop,
    Take,
    Terminate,
    TimerFired,
    WakeMe,
    Wish,
    Withdraw,
    Write,
)
from handraise.session.machine import SessionLimits, WishRefused
from session.claude_says import (
    ANA,
    HELLO,
    NOON,
    Talk,
    acknowledged,
    bash,
    cancel,
    idle,
    init,
    of,
    published,
    question,
    replayed,
    responses,
    result,
    starting,
    status,
    text,
    tool_result,
    tool_use,
    working,
    written,
)

SAY = Say("u_1", "s_1", "go on", ANA, "web", NOON)


def stopping() -> Talk:
    talk = working()
    talk.wish(Stop("ana stopped it"))
    return talk


def ended() -> Talk:
    talk = working()
    talk.observe(ProcessEnded(0, ""))
    return talk


def test_a_process_that_began_is_greeted_and_idle_when_it_answers() -> None:
    talk = Talk()

    assert written(talk.observe(ProcessStarted()))[0]["request"]["subtype"] == "initialize"
    assert talk.hear(HELLO) == [WakeMe("idle", 600), Changed()]
    assert talk.memory.phase == "idle"


def test_a_greeted_process_that_is_adopted_keeps_its_hooks_and_is_asked_what_is_pending() -> None:
    for talk, idle_after in ((idle(), 600), (working(), None)):
        commands = talk.observe(ProcessStarted())

        abilities = {"forwardSubagentText": True, "supportedDialogKinds": ["refusal_fallback_prompt"]}
        assert [each["request"] for each in written(commands)] == [{"subtype": "initialize", **abilities}]
        assert of(WakeMe, commands) == [WakeMe("idle", idle_after)]


def test_a_process_that_was_being_stopped_is_stopped_by_the_hub_that_adopts_it() -> None:
    (terminate,) = stopping().observe(ProcessStarted())

    assert isinstance(terminate, Terminate)
    assert b"end_session" in terminate.farewell


def test_a_turn_that_begins_before_the_greeting_was_answered_is_not_taken_for_idleness() -> None:
    talk = starting()
    talk.hear(init())

    assert talk.hear(HELLO) == []
    assert talk.memory.phase == "working"


def test_a_turn_begins_with_init_and_ends_with_result() -> None:
    talk = idle()

    begun = talk.hear(init(permissionMode="plan", model="sonnet"))
    assert published(TurnStarted, begun) == [TurnStarted(1)]
    assert (talk.memory.phase, talk.memory.mode, talk.memory.model) == ("working", "plan", "sonnet")
    assert WakeMe("idle", None) in begun
    ended_ = talk.hear(result(total_cost_usd=0.5))
    assert published(TurnEnded, ended_)[0].cost_usd == 0.5
    assert talk.memory.phase == "idle"
    assert WakeMe("idle", 600) in ended_


def test_each_turn_costs_what_was_added_to_the_running_total() -> None:
    talk = working()
    talk.hear(result(total_cost_usd=0.5), init())

    assert published(TurnEnded, talk.hear(result(total_cost_usd=0.75)))[0].cost_usd == 0.25
    assert talk.memory.cost_usd == 0.75
    talk.hear(init())
    assert published(TurnEnded, talk.hear(result(total_cost_usd=0.0)))[0].cost_usd == 0.0
    assert talk.memory.cost_usd == 0.75


def test_what_a_turn_says_last_is_its_result_if_the_result_is_empty() -> None:  # lesson 22
    talk = working()
    talk.hear(text("First."), text("Then."), text("In a sub-agent.", parent="t_9"))

    assert published(TurnEnded, talk.hear(result(result="")))[0].result == "Then."
    talk.hear(init())
    assert published(TurnEnded, talk.hear(result(result=None)))[0].result == ""


def test_the_mode_that_claude_tells_is_the_sessions_mode() -> None:
    talk = working()

    assert talk.hear(status("acceptEdits")) == [Changed()]
    assert talk.memory.mode == "acceptEdits"


def test_what_claude_echoes_was_taken() -> None:
    assert working().hear(replayed("u_1")) == [Take("u_1")]


def test_what_is_said_is_written_with_its_id_and_puts_off_the_idle_limit() -> None:
    for talk in (starting(), idle(), working()):
        write, wake = talk.wish(Speak(SAY))
        assert isinstance(write, Write)
        (line,) = written([write])
        assert (line["uuid"], line["message"]["content"]) == ("u_1", "go on")
        assert wake == WakeMe("idle", 600)


def test_an_interrupt_is_refused_where_nothing_runs() -> None:
    with pytest.raises(WishRefused, match="Nothing to interrupt"):
        idle().wish(Interrupt())


def test_an_interrupt_withdraws_what_is_open_when_claude_takes_it_back() -> None:
    talk = working()
    talk.hear(question("r_1"), bash("r_2", use="t_2"))

    assert written(talk.wish(Interrupt()))[0]["request"] == {"subtype": "interrupt"}
    assert talk.hear(cancel("r_1"), cancel("r_2")) == [
        Withdraw(talk.asks["r_1"].id, "the turn was interrupted"),
        Withdraw(talk.asks["r_2"].id, "the turn was interrupted"),
    ]
    assert talk.answer("r_1", Allow()) == []


def test_a_turn_that_is_over_can_be_interrupted_while_something_is_asked() -> None:
    talk = working()
    talk.hear(bash(), result())

    assert written(talk.wish(Interrupt()))


def test_another_mode_or_model_holds_when_claude_says_so() -> None:
    talk = idle()
    (mode,) = written(talk.wish(ChangeMode("plan")))
    (model,) = written(talk.wish(ChangeModel("haiku")))
    assert (talk.memory.mode, talk.memory.model) == ("default", None)

    talk.hear(acknowledged(mode["request_id"]), acknowledged(model["request_id"]))
    assert (talk.memory.mode, talk.memory.model) == ("plan", "haiku")


def test_a_mode_that_claude_refuses_is_told_with_the_reason() -> None:
    talk = idle()
    (asked,) = written(talk.wish(ChangeMode("holiday")))

    (outcome,) = published(Notice, talk.hear(acknowledged(asked["request_id"], "error", error="no such mode")))
    assert outcome.level == "error"
    assert "no such mode" in outcome.text
    assert talk.memory.mode == "default"


def test_a_stopped_session_withdraws_its_asks_before_it_ends_claude() -> None:
    talk = working()
    talk.hear(bash("r_1"), question("r_2"))

    commands = talk.wish(Stop("ana stopped it"))

    assert commands[:2] == [
        Withdraw(talk.asks["r_1"].id, "ana stopped it"),
        Withdraw(talk.asks["r_2"].id, "ana stopped it"),
    ]
    assert [type(each) for each in commands[2:]] == [WakeMe, Terminate, Changed]
    assert written(commands) == []


def test_a_request_that_comes_while_the_session_stops_is_sent_back_and_nobody_is_asked() -> None:
    talk = stopping()

    commands = talk.hear(init(), bash())

    assert of(Raise, commands) == []
    assert responses(commands)[0]["behavior"] == "deny"
    assert talk.memory.phase == "stopping"


def test_what_ends_while_the_session_stops_leaves_it_stopping() -> None:
    talk = stopping()

    talk.hear(result())

    assert talk.memory.phase == "stopping"


@pytest.mark.parametrize("wish", [Speak(SAY), Interrupt(), ChangeMode("plan"), ChangeModel("opus"), Stop()])
def test_a_session_that_stops_or_has_ended_refuses_with_the_next_step(wish: Wish) -> None:
    with pytest.raises(WishRefused, match="being stopped"):
        stopping().wish(wish)
    with pytest.raises(WishRefused, match="Resume it first"):
        ended().wish(wish)


@pytest.mark.parametrize("talk", [starting(), idle(), working(), stopping(), ended()])
def test_a_session_takes_another_title_in_every_phase(talk: Talk) -> None:
    assert talk.wish(Rename("Better")) == [Changed()]
    assert talk.memory.title == "Better"
    assert talk.wish(Rename("Better")) == []


@pytest.mark.parametrize("fact", [ProcessStarted(), TimerFired("move"), TimerFired("idle"), ProcessEnded(1, "again")])
def test_an_ended_session_absorbs_whatever_comes(fact: Fact) -> None:
    talk = ended()

    assert talk.observe(fact) == []
    assert talk.hear(init(), bash(), result(), cancel()) == []


@pytest.mark.parametrize(
    ("exit_code", "errors", "how", "reason"),
    [
        (0, "", "finished", "Claude exited on its own"),
        (None, "", "lost", "killed, or the machine restarted"),
        (-9, "", "lost", r"signal 9"),
        (143, "", "lost", r"signal 15"),
        (1, "warning\nNo conversation found\n", "failed", "No conversation found"),
        (1, "", "failed", "exited with code 1"),
    ],
)
def test_a_process_that_is_gone_ends_the_session_as_it_ended(
    exit_code: int | None, errors: str, how: str, reason: str
) -> None:
    talk = working()
    talk.hear(bash())

    commands = talk.observe(ProcessEnded(exit_code, errors))

    (outcome,) = published(SessionEnded, commands)
    assert outcome.how == how
    assert reason in outcome.reason
    assert talk.memory.ended is not None
    assert (talk.memory.ended.how, talk.memory.ended.exit_code) == (how, exit_code)
    assert [each.ask for each in of(Withdraw, commands)] == [talk.asks["r_1"].id]
    assert outcome.reason in of(Withdraw, commands)[0].reason
    assert WakeMe("move", None) in commands
    assert WakeMe("idle", None) in commands
    assert commands[-1] == Changed()


def test_a_failed_turn_tells_why_the_process_failed() -> None:
    talk = working()
    talk.hear(result(is_error=True, subtype="error_during_execution", result="Credit balance is too low"))

    (outcome,) = published(SessionEnded, talk.observe(ProcessEnded(1, "noise")))
    assert outcome.reason == "Credit balance is too low"


def test_a_session_that_was_stopped_has_stopped_however_the_process_ended() -> None:
    talk = stopping()

    (outcome,) = published(SessionEnded, talk.observe(ProcessEnded(-15, "")))
    assert (outcome.how, outcome.reason) == ("stopped", "ana stopped it")


def test_an_answer_that_claude_did_not_live_to_take_is_told_of() -> None:
    talk = working()
    talk.hear(bash())
    talk.answer("r_1", Allow())

    commands = talk.observe(ProcessEnded(-9, ""))

    assert [contents.about for contents in published(Notice, commands)] == ["not delivered"]
    assert of(Withdraw, commands) == []


def test_an_answer_that_does_not_move_claude_is_noticed_once_and_written_again() -> None:  # lesson 6
    talk = working()
    talk.hear(bash())
    assert WakeMe("move", 30) in talk.answer("r_1", Allow())

    first = talk.observe(TimerFired("move"))
    assert [contents.about for contents in published(Notice, first)] == ["not moving"]
    assert first[1:] == [AnswerAgain(), WakeMe("move", 30), Changed()]
    assert talk.observe(TimerFired("move")) == [AnswerAgain(), WakeMe("move", 30)]
    assert responses(talk.answer("r_1", Allow()))[0]["behavior"] == "allow"


def test_a_claude_that_moves_again_is_no_longer_stuck() -> None:
    talk = working()
    talk.hear(bash())
    talk.answer("r_1", Allow())
    talk.observe(TimerFired("move"))

    commands = talk.hear({"type": "tool_progress", "tool_use_id": "t_1"})

    assert commands == [WakeMe("move", None), Changed()]
    assert not talk.memory.stuck
    assert talk.observe(TimerFired("move")) == []


def test_an_open_ask_is_not_a_stall() -> None:  # lesson 23
    talk = working()
    raised = talk.hear(bash())

    assert of(WakeMe, raised) == []
    assert talk.observe(TimerFired("move")) == []
    assert talk.observe(TimerFired("idle")) == []


def test_an_idle_session_ends_at_its_limit_and_says_so() -> None:  # lesson 17
    talk = working()
    talk.hear(result())

    commands = talk.observe(TimerFired("idle"))

    assert [type(each) for each in commands] == [WakeMe, Terminate, Changed]
    (outcome,) = published(SessionEnded, talk.observe(ProcessEnded(0, "")))
    assert outcome.how == "stopped"
    assert "idle" in outcome.reason


def test_a_session_without_an_idle_limit_is_never_ended_for_it() -> None:
    assert WakeMe("idle", None) in working(SessionLimits(idle=None)).hear(result())


def test_a_session_is_not_idle_while_a_person_thinks() -> None:  # lesson 23
    talk = working()
    talk.hear(bash(), result())

    assert talk.observe(TimerFired("idle")) == [WakeMe("idle", 600)]


def test_a_session_is_not_idle_while_something_runs_in_the_background() -> None:  # lesson 13
    talk = working()
    talk.hear({"type": "system", "subtype": "task_started", "task_id": "b1", "description": "Build"}, result())
    assert talk.observe(TimerFired("idle")) == [WakeMe("idle", 600)]

    talk.hear({"type": "system", "subtype": "task_notification", "task_id": "b1", "status": "completed"})
    assert of(Terminate, talk.observe(TimerFired("idle")))


def test_a_result_does_not_end_the_session() -> None:  # lesson 13
    assert of(Terminate, working().hear(result())) == []


def test_a_line_that_cannot_be_read_is_shown_and_nothing_else_happens() -> None:
    talk = working()

    received = talk.wire.receive(b"npm warn something\n")

    assert [each.frame for each in received]
    assert of(Raise, talk.hear(bash()))


def test_an_ask_is_raised_in_the_mode_that_held_when_claude_asked() -> None:
    talk = working()

    modes = [each.mode for each in of(Raise, talk.hear(bash("r_1"), status("plan"), bash("r_2", use="t_2")))]

    assert modes == ["default", "plan"]


def test_a_tool_that_went_on_without_an_answer_withdraws_its_ask() -> None:
    talk = working()
    talk.hear(tool_use("Bash", command="ls"), bash())

    assert Withdraw(talk.asks["r_1"].id, "Claude continued without an answer") in talk.hear(tool_result())
    assert talk.answer("r_1", Allow()) == []


def test_a_withdrawal_is_never_written() -> None:
    talk = working()
    talk.hear(bash())

    assert talk.settle("r_1", Withdrawn("the session was stopped", NOON)) == []
    assert talk.settle("r_1", None) == []


def test_a_settlement_of_an_ask_that_is_not_ours_is_ignored() -> None:
    talk, other = working(), working()
    talk.hear(bash("r_1"))
    other.hear(bash("r_2"))
    other.asks["r_1"] = other.asks["r_2"]

    assert other.answer("r_1", Allow()) != []
    talk.asks["r_1"] = other.asks["r_2"]
    assert talk.answer("r_1", Allow()) == []  # lesson 8


def test_what_is_published_comes_before_what_follows_from_it() -> None:
    commands = working().hear(text("Let me see."), bash())

    assert [type(each) for each in commands] == [Publish, Raise]


def parking() -> Talk:
    talk = idle()
    talk.wish(Park())
    return talk


def test_an_idle_session_is_parked_and_ends_nothing() -> None:
    talk = idle()

    assert of(Terminate, talk.wish(Park()))
    assert of(Publish, talk.observe(ProcessEnded(143, ""))) == []
    assert talk.memory.phase == "parked"
    assert talk.memory.ended is None
    assert talk.memory.is_over


def test_a_session_that_works_or_waits_is_not_parked() -> None:
    asked = idle()
    asked.hear(bash("r_1"))
    for talk in (starting(), working(), asked, stopping()):
        with pytest.raises(WishRefused):
            talk.wish(Park())


def test_whoever_is_being_parked_takes_up_nothing_more() -> None:
    talk = parking()
    for wish in (Speak(SAY), Interrupt(), ChangeMode("plan"), Park()):
        with pytest.raises(WishRefused, match="making room"):
            talk.wish(wish)
    assert not of(Raise, talk.hear(bash("r_1")))
    talk.hear(init())
    talk.hear(result())
    assert talk.memory.phase == "parking"


def test_the_hub_that_adopts_one_that_was_being_parked_parks_it() -> None:
    assert of(Terminate, parking().observe(ProcessStarted()))


def test_one_that_is_stopped_while_it_is_being_parked_is_stopped() -> None:
    talk = parking()

    assert not of(Terminate, talk.wish(Stop("ana stopped it", "ana")))
    (outcome,) = published(SessionEnded, talk.observe(ProcessEnded(0, "")))
    assert (outcome.how, outcome.reason, outcome.by) == ("stopped", "ana stopped it", "ana")


def test_an_edited_input_is_what_the_timeline_shows_once() -> None:
    talk = working()
    talk.hear(tool_use("Bash", command="rm -r /"), bash(command="rm -r /"))
    edited = Allow(input={"command": "ls"})

    assert published(ActionChanged, talk.answer("r_1", edited)) == [ActionChanged("t_1", "ls", {"command": "ls"}, ANA)]
    assert not published(ActionChanged, talk.answer("r_1", edited)), "written again, it is no news"
    assert published(ActionEnded, talk.hear(tool_result()))[0].title == "ls"


def test_an_input_that_nobody_edited_changes_nothing() -> None:
    talk = working()
    talk.hear(bash())

    assert not published(ActionChanged, talk.answer("r_1", Allow()))


def named(title: object) -> dict[str, object]:
    return {"type": "system", "subtype": "session_title_changed", "title": title}


def test_claudes_title_is_used_until_a_person_renames_the_session() -> None:
    talk = idle()

    assert talk.hear(named("  A\nbetter  one "))[-1] == Changed()
    assert talk.memory.title == "A better one"
    talk.hear(named("x" * 100))
    assert talk.memory.title == "x" * 79 + "…"
    for unfit in ("", "  ", "hidden \u202e text", 7, None):
        assert talk.hear(named(unfit)) == []
    talk.wish(Rename("Mine"))
    assert talk.hear(named("Another")) == []
    assert talk.memory.title == "Mine"
