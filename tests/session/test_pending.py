"""What Claude waits for: asks raised, denied, answered, confirmed; and the line for each answer."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from handraise import texts
from handraise.model.actors import Actor, TheHub
from handraise.model.agent_replies import OUTLINE
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Answered, Expired, Form, Permission, Plan, Question
from handraise.model.items import Notice
from handraise.model.sessions import Say
from handraise.session import replies
from handraise.session.commands import Deliver, FrameReceived, Raise, Speak, Withdraw, Write
from handraise.session.pending import ask_id
from session.claude_says import (
    ANA,
    NOON,
    QUESTION,
    Line,
    Talk,
    acknowledged,
    ask_user,
    bash,
    cancel,
    form,
    mcp_message,
    of,
    plan,
    published,
    question,
    request,
    responses,
    tool_result,
    tool_use,
    working,
    written,
)

SUGGESTIONS = [
    {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "curl:*"}], "behavior": "allow"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]


def asked(line: Line) -> Talk:
    talk = working()
    assert of(Raise, talk.hear(line))
    return talk


def test_a_request_becomes_an_ask_that_knows_where_it_came_from() -> None:
    talk = asked(bash("r_1", "make", use="t_7", description="Build", decision_reason="not read-only", agent_id="a9"))

    ask = talk.asks["r_1"]
    assert ask.id == ask_id("s_1", "r_1")
    assert (ask.session, ask.project, ask.tool, ask.agent, ask.opened_at) == ("s_1", "p_1", "Bash", "sub-agent", NOON)
    assert (ask.origin.reference, ask.origin.tool_use) == ("r_1", "t_7")
    assert ask.body == Permission("Bash", {"command": "make"}, "Build", "not read-only")


def test_a_sub_agent_is_called_what_claude_calls_it() -> None:
    talk = working()
    talk.hear(tool_use("Agent", "t_a", description="Look for **more**", prompt="Find it."))
    talk.hear(tool_use("Bash", "t_1", parent="t_a", command="ls"))
    talk.hear(bash("r_1", agent_id="a9"))
    talk.hear(bash("r_2", use="t_9"))

    assert (talk.asks["r_1"].agent, talk.asks["r_2"].agent) == ("Look for more", None)


def test_every_kind_of_request_becomes_its_kind_of_ask() -> None:
    kinds = [type(asked(line).asks["r_1"].body) for line in (question(), bash(), plan(), form())]

    assert kinds == [Question, Permission, Plan, Form]


def test_the_same_request_again_raises_nothing() -> None:  # lesson 32
    talk = asked(bash())

    assert talk.hear(bash()) == []


@pytest.mark.parametrize(
    ("questions", "reason"),
    [
        ([], "no questions"),
        (None, "no questions"),
        ("Which?", "no questions"),
        ([3], "not an object"),
        ([{**QUESTION, "question": "  "}], "no text"),
        ([{**QUESTION, "question": 7}], "no text"),
        ([{**QUESTION, "options": []}], "no options"),
        ([{**QUESTION, "options": None}], "no options"),
        ([{**QUESTION, "options": "SQLite"}], "must be a list"),
        ([{**QUESTION, "options": ["SQLite", "Postgres"]}], "not an object"),
        ([{**QUESTION, "options": [{"label": ""}, {"label": "b"}]}], "without a label"),
        ([{**QUESTION, "options": [{"label": "a", "description": 1}]}], "not text"),
        ([{**QUESTION, "options": [{"label": "a", "preview": 1}]}], "not text"),
        ([{**QUESTION, "options": [{"label": "a"}, {"label": "a"}]}], "same label"),
        ([{**QUESTION, "multiSelect": "yes"}], "multiSelect"),
        ([{**QUESTION, "header": 5}], "header"),
        ([QUESTION, QUESTION], "same text"),
    ],
)
def test_a_malformed_question_is_denied_with_the_reason_and_never_approved(questions: Any, reason: str) -> None:
    talk = working()

    commands = talk.hear(request("r_1", "AskUserQuestion", {"questions": questions}))  # lesson 14

    assert of(Raise, commands) == []
    (response,) = responses(commands)
    assert response["behavior"] == "deny"
    assert reason in response["message"]
    assert [contents.about for contents in published(Notice, commands)] == ["sent back"]
    assert talk.memory.requests == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (plan(words=""), "plan is empty"),
        (plan(words=" \n"), "plan is empty"),
        (request("r_1", "ExitPlanMode", {}), "plan is empty"),
        (request("r_1", "ExitPlanMode", {"plan": ["1"]}), "plan is empty"),
        (request("r_1", "Bash", ["ls"]), "not an object"),
        (request("r_1", "Bash", None), "not an object"),
        (request("r_1", "AskUserQuestion", "what?"), "not an object"),
    ],
)
def test_a_malformed_request_is_denied_with_the_reason(line: Line, reason: str) -> None:  # lesson 14
    (response,) = responses(working().hear(line))

    assert response["behavior"] == "deny"
    assert reason in response["message"]


def test_an_input_that_cannot_be_read_is_denied_and_breaks_nothing() -> None:
    talk = working()
    line = b'{"type":"control_request","request_id":"r_1","request":{"subtype":"can_use_tool","tool_name":"Bash",'

    for inside in (b'{"n":1e999}', b'{"n":' + b"[" * 700 + b"]" * 700 + b"}", b'{"n":' + b"9" * 400 + b"}"):
        received = talk.wire.receive(line + b'"input":' + inside + b"}}\n")
        assert [each for each in received if not talk.machine.observe(FrameReceived(each.frame), NOON)] == []
        talk.memory.requests.clear()


@pytest.mark.parametrize(
    "line", [form(mode="url", url=""), form(mode="other"), form(requested_schema={"properties": []})]
)
def test_a_form_that_cannot_be_shown_is_cancelled_and_never_accepted(line: Line) -> None:
    assert responses(working().hear(line)) == [{"action": "cancel"}]


@pytest.mark.parametrize(
    "inside",
    [
        {"subtype": "mcp_message", "server_name": "nobody", "message": {}},
        {"subtype": "dance"},
        {"subtype": 3},
        {},
        None,
    ],
)
def test_what_nobody_here_can_answer_is_refused_and_not_left_waiting(inside: Any) -> None:  # lesson 1
    (line,) = written(working().hear({"type": "control_request", "request_id": "r_1", "request": inside}))

    assert line["response"]["subtype"] == "error"
    assert line["response"]["request_id"] == "r_1"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "control_request", "request_id": "r_1", "request": {"subtype": "dance"}}, "can't answer requests"),
        (plan(words=""), "plan is empty"),
    ],
)
def test_claude_reads_english_and_people_the_language_of_the_hub(line: Line, reason: str) -> None:
    with texts.using("en-XA"):
        commands = working().hear(line)

    (sent,), (notice,) = written(commands), published(Notice, commands)
    assert reason in str(sent)
    assert "⟦" not in str(sent)
    assert notice.text.startswith("⟦")


@pytest.mark.parametrize(
    "line",
    [
        request("r_1", "AskUserQuestion", {"questions": []}),
        form(mode="url"),
        {"type": "control_request", "request_id": "r_1", "request": {"subtype": "dance"}},
    ],
)
def test_what_is_taken_back_in_the_same_breath_gets_no_line(line: Line) -> None:
    talk = working()

    assert written(talk.hear(line, cancel("r_1"))) == []
    assert len(written(talk.hear(line, line))) == 1


def test_an_ask_that_is_taken_back_in_the_same_breath_is_raised_and_withdrawn() -> None:
    talk = working()
    talk.hear(bash(), cancel())

    assert talk.answer("r_1", Allow()) == []


def test_allow_always_carries_the_input_to_the_letter() -> None:  # lesson 2
    talk = working()
    raw = b'{"command":"ls", "n":1.10, "big":123456789012345678901234567890,"\\u00e9":"\\n"}'
    line = (
        b'{"type":"control_request","request_id":"r_1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":'
    )
    for each in talk.wire.receive(line + raw + b"}}\n"):
        talk.observe(FrameReceived(each.frame))

    (write,) = of(Write, talk.answer("r_1", Allow()))

    assert b'"updatedInput":' + raw in write.line


def test_an_edited_input_takes_the_place_of_the_original() -> None:
    (response,) = responses(asked(bash()).answer("r_1", Allow(input={"command": "ls -l"})))

    assert response == {"behavior": "allow", "updatedInput": {"command": "ls -l"}}


def test_an_empty_input_that_was_left_as_it_is_goes_along_too() -> None:  # lesson 2
    (response,) = responses(asked(request("r_1", "mcp__clock__now", {})).answer("r_1", Allow(input={})))

    assert response == {"behavior": "allow", "updatedInput": {}}


def test_suggestions_are_granted_as_claude_made_them() -> None:
    talk = asked(bash(permission_suggestions=SUGGESTIONS))

    (response,) = responses(talk.answer("r_1", Allow(suggestions=(1, 0))))

    assert response["updatedPermissions"] == [SUGGESTIONS[1], SUGGESTIONS[0]]


@pytest.mark.parametrize(
    ("line", "answer"),
    [(bash(), Deny()), (bash(), Deny("  ")), (bash(), Deny("no")), (plan(), Revise()), (plan(), Revise("shorter"))],
)
def test_a_denial_always_says_why(line: Line, answer: Answer) -> None:  # lesson 42
    (response,) = responses(asked(line).answer("r_1", answer))

    assert response["behavior"] == "deny"
    assert response["message"].strip()
    assert "interrupt" not in response


def test_a_denial_can_end_the_turn_and_does_so_only_where_it_says_so() -> None:  # lesson 9
    (response,) = responses(asked(bash()).answer("r_1", Deny("stop it", interrupt=True)))

    assert response == {"behavior": "deny", "message": "stop it", "interrupt": True}


@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
def test_an_approved_plan_carries_the_mode_and_allows_nothing_else(mode: Any) -> None:  # lesson 10
    (response,) = responses(asked(plan()).answer("r_1", Approve(mode)))

    assert response["updatedInput"] == {"plan": "1. Do it."}
    assert response["updatedPermissions"] == [{"type": "setMode", "mode": mode, "destination": "session"}]


def test_an_edited_plan_is_passed_on() -> None:
    (response,) = responses(asked(plan()).answer("r_1", Approve(plan="1. Do it twice.")))

    assert response["updatedInput"] == {"plan": "1. Do it twice."}


def test_labels_and_words_are_joined_for_claude_to_read() -> None:
    several = {**QUESTION, "question": "Which ones?", "multiSelect": True}
    free = {**QUESTION, "question": "Why?"}
    talk = asked(question("r_1", QUESTION, several, free))
    text = Choices((Choice(("SQLite",)), Choice(("SQLite", "Postgres"), " and DuckDB "), Choice(text="Because.")))

    (response,) = responses(talk.answer("r_1", text))

    assert response["updatedInput"]["answers"] == {
        "Which database?": "SQLite",
        "Which ones?": "SQLite, Postgres, and DuckDB",
        "Why?": "Because.",
    }
    assert response["updatedInput"]["questions"] == [QUESTION, several, free]


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        (Filled("accept", {"street": "Odeon 4"}), {"action": "accept", "content": {"street": "Odeon 4"}}),
        (Filled("decline", {"street": "left over"}), {"action": "decline"}),
        (Filled("cancel"), {"action": "cancel"}),
    ],
)
def test_a_form_is_answered_in_its_own_words(answer: Answer, response: Any) -> None:
    assert responses(asked(form()).answer("r_1", answer)) == [response]


@pytest.mark.parametrize("line", [question(), bash(), plan()])
def test_patience_that_ran_out_answers_claude_and_never_allows(line: Line) -> None:  # lesson 3
    (response,) = responses(asked(line).expire("r_1"))

    assert response["behavior"] == "deny"
    assert "Nobody answered in time" in response["message"]


def test_patience_that_ran_out_cancels_a_form() -> None:  # lessons 3, 37
    assert responses(asked(form()).expire("r_1")) == [{"action": "cancel"}]


def test_a_late_answer_does_not_change_what_was_written() -> None:  # lesson 5
    talk = asked(bash())
    first = talk.expire("r_1")
    late = Expired(NOON, Answered(Allow(), ANA, "web", NOON))

    assert written(talk.settle("r_1", late)) == written(first)


def test_the_same_settlement_again_writes_the_same_line() -> None:  # lesson 7
    talk = asked(bash())

    assert talk.answer("r_1", Allow()) == talk.answer("r_1", Allow())


def test_an_answer_is_delivered_once_whichever_way_claude_shows_it() -> None:
    for shown in (acknowledged("r_1"), tool_result("t_1")):
        talk = asked(bash())
        talk.answer("r_1", Allow())
        assert of(Deliver, talk.hear(shown)) == [Deliver(talk.asks["r_1"].id)]
        assert of(Deliver, talk.hear(acknowledged("r_1"), tool_result("t_1"))) == []
        assert talk.answer("r_1", Allow()) == []


def test_several_open_requests_are_answered_in_any_order_each_by_its_own_id() -> None:  # lessons 26, 27, 34
    talk = working()
    talk.hear(bash("r_1", "one", "t_1"), bash("r_2", "two", "t_2"), bash("r_3", "three", "t_3"))

    lines = [written(talk.answer(each, Allow()))[0] for each in ("r_3", "r_1", "r_2")]

    response = [
        (line["response"]["request_id"], line["response"]["response"]["updatedInput"]["command"]) for line in lines
    ]
    assert response == [("r_3", "three"), ("r_1", "one"), ("r_2", "two")]
    delivered = of(Deliver, talk.hear(tool_result("t_2"), tool_result("t_3"), tool_result("t_1")))
    assert [each.ask for each in delivered] == [talk.asks[each].id for each in ("r_2", "r_3", "r_1")]


def test_an_outline_sends_plans_back_for_longer_with_each_use() -> None:
    talk = working()
    for number, seconds in enumerate([30, 60, 90, 120, 120]):
        talk.hear(plan(f"r_{number}"))
        assert responses(talk.answer(f"r_{number}", Outline()))[0]["message"] == OUTLINE
        talk.hear(tool_result())
        assert responses(talk.later(seconds - 1).hear(plan(f"early_{number}")))[0]["message"] == replies.COOLING
        talk.later(1)
    assert of(Raise, talk.hear(plan("r_9")))


@pytest.mark.parametrize("answer", [Approve(), Revise("shorter")])
def test_an_explicit_answer_to_a_plan_takes_the_pause_back(answer: Answer) -> None:
    talk = working()
    for number in range(3):
        talk.hear(plan(f"r_{number}"))
        talk.answer(f"r_{number}", Outline())
        talk.later(1000)
    talk.hear(plan("r_8"))
    talk.answer("r_8", answer)
    assert of(Raise, talk.hear(plan("r_9")))
    talk.answer("r_9", Outline())

    assert responses(talk.later(29).hear(plan("r_10")))
    assert of(Raise, talk.later(1).hear(plan("r_11")))


@pytest.mark.parametrize(
    ("by", "seconds", "ends"),
    [(ANA, 5, True), (ANA, -5, False), (TheHub(), 5, False)],
    ids=["a reply", "a message from before", "a message of the hub"],
)
def test_a_reply_to_the_outline_ends_the_pause_and_nothing_else_does(by: Actor, seconds: int, ends: bool) -> None:
    talk = asked(plan())
    talk.answer("r_1", Outline())
    talk.later(6)
    talk.wish(Speak(Say("u_1", "s_1", "Looks good. Go on.", by, "web", NOON + timedelta(seconds=seconds))))

    assert bool(of(Raise, talk.hear(plan("r_2")))) == ends
    # The next pause is longer all the same.
    assert talk.memory.cooldown.uses == 1


def test_a_pause_concerns_plans_alone_and_survives_an_expiry() -> None:
    talk = working()
    talk.hear(plan("r_1"), plan("r_2"))
    talk.answer("r_1", Outline())
    talk.expire("r_2")

    assert responses(talk.hear(plan("r_3")))[0]["message"] == replies.COOLING
    assert len(of(Raise, talk.hear(bash("r_4"), question("r_5"), form("r_6")))) == 3


def test_an_answer_written_again_is_learned_from_once() -> None:
    talk = asked(plan())
    talk.answer("r_1", Outline())
    talk.later(10).answer("r_1", Outline())

    assert talk.memory.cooldown.uses == 1
    assert talk.memory.cooldown.holds(NOON.replace(second=29))
    assert not talk.memory.cooldown.holds(NOON.replace(second=30))


def test_a_call_of_ask_user_is_an_ask_and_its_answer_the_calls_result() -> None:
    talk = asked(ask_user("r_1", question="Which name?"))

    (line,) = written(talk.answer("r_1", Choices((Choice(text="Odeon"),))))

    assert line["response"]["response"]["mcp_response"]["result"]["content"] == [{"type": "text", "text": "Odeon"}]
    assert of(Deliver, talk.hear(acknowledged("r_1")))


def test_a_call_of_ask_user_that_nobody_answered_or_that_says_nothing_is_told_so() -> None:  # lessons 3, 14
    for commands in (asked(ask_user("r_1", question="Which?")).expire("r_1"), working().hear(ask_user("r_1"))):
        (line,) = written(commands)
        assert line["response"]["response"]["mcp_response"]["result"]["isError"] is True


def test_a_call_of_ask_user_that_claude_takes_back_is_withdrawn_and_never_answered() -> None:
    talk = asked(ask_user("r_1", question="Which?"))

    commands = talk.hear(mcp_message("r_2", method="notifications/cancelled", params={"requestId": 1}))

    assert of(Withdraw, commands) == [Withdraw(talk.asks["r_1"].id, "the turn was interrupted")]
    assert [line["response"]["request_id"] for line in written(commands)] == ["r_2"]
    assert talk.answer("r_1", Choices((Choice(text="Odeon"),))) == []


def test_text_of_any_kind_comes_out_as_one_line() -> None:  # lesson 16
    nasty = "/compact\n\0\r\u2028 \ud83d -rf"
    talk = asked(bash())

    (response,) = responses(talk.answer("r_1", Deny(nasty)))

    assert response["message"].startswith("/compact\n\0\r\u2028")


def test_an_ask_of_another_shape_of_the_same_reference_is_not_answered() -> None:
    talk = asked(bash())
    talk.asks["r_1"] = replace(talk.asks["r_1"], id="a_other")

    assert talk.answer("r_1", Allow()) == []
