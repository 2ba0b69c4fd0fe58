"""The notice: the card's words, everything to decide about, and only answers that are safe at a glance."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model import fit
from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny, Filled, Outline, Revise, read_answer
from handraise.model.asks import (
    Answered,
    Body,
    Expired,
    Form,
    Option,
    Permission,
    Plan,
    Prompt,
    Question,
    Terms,
    Withdrawn,
)
from handraise.surfaces.push import notices
from handraise.surfaces.push.device_log import Ending
from handraise.surfaces.push.notices import MOST, AskNotice, NoticeContext
from surfaces.push.asked import DIALOG, FORM, LINK, NOW, PLAN, WHICH, ask_of, bash

HERE = NoticeContext("Fix the tests", "/work/app")
NEW = "@@ -0,0 +1,2 @@\n+one\n+two\n"
CHANGE = "@@ -1 +1 @@\n-one\n+two\n"


def shown(body: Body, *, may_answer: bool = True) -> AskNotice:
    return notices.of_ask(ask_of(body), HERE, "d_1", 1, may_answer=may_answer)


def offered(body: Body) -> list[str]:
    return [each.title for each in shown(body).answers]


@pytest.mark.parametrize(
    ("body", "title"),
    [
        (bash("npm test"), "Run npm test?"),
        (bash("x" * 100), "Run this command?"),
        (bash("echo `id`"), "Run this command?"),
        (bash("rm -rf \u202e/"), "Run this command?"),
        (
            Permission("Write", {"file_path": "/work/app/a.py", "content": "1\n2\n"}, diff=NEW),
            "Create a.py (2 lines)?",
        ),
        (Permission("Write", {"file_path": "/etc/x", "content": "1"}, diff=CHANGE), "Write 1 line to /etc/x?"),
        (Permission("Edit", {"file_path": "/work/app/src/a.py"}, diff=CHANGE), "Edit src/a.py?"),
        (Permission("Read", {"file_path": "/etc/passwd"}), "Read /etc/passwd?"),
        (Permission("WebFetch", {"url": "https://example.org"}), "Fetch https://example.org?"),
        (Permission("WebSearch", {"query": "lamps"}), "Search the web for lamps?"),
        (Permission("mcp__github__create_issue", {}), "Use create_issue from github?"),
        (Permission("Strange", {}), "Use Strange?"),
        (Permission("Write", {}), "Use Write?"),
        (WHICH, "Which database?"),
        (PLAN, "Claude has a plan: Move to Postgres"),
        (FORM, "forms asks: Where does the lamp go?"),
    ],
)
def test_the_title_is_the_question_in_the_words_of_the_card(body: Body, title: str) -> None:
    assert shown(body).title == title


def test_a_short_command_is_said_once_and_a_longer_one_again_below_where_no_device_cuts_it_off() -> None:
    assert shown(bash("npm test")).body == "Fix the tests"
    long = "npm run build -- --mode production --out dist"
    assert shown(bash(long)).body == f"{long}\nFix the tests"
    longer = "npm run build && " * 8
    assert shown(bash(longer)).body == f"{longer}\nFix the tests"


@pytest.mark.parametrize(
    "body",
    [
        bash("npm test"),
        bash("npm test", description="Run the tests", timeout=5000),
        bash("npm run build && " * 8),
        Permission("Read", {"file_path": "/etc/passwd"}),
        Permission("WebFetch", {"url": "https://example.org", "prompt": "What is it?"}),
        Permission("Edit", {"file_path": "/work/app/a.py"}, diff=CHANGE),
        Permission("mcp__github__create_issue", {"title": "Lamp"}),
    ],
)
def test_what_is_seen_whole_can_be_allowed_once(body: Body) -> None:
    assert offered(body) == ["Deny", "Allow once"]


@pytest.mark.parametrize(
    "body",
    [
        bash("x" * 145),
        bash("日" * 73),
        bash("\n".join("abcdefghi")),
        bash("rm -rf \u202e/"),
        bash("ls" + " " * 60 + "; rm -rf /"),
        bash("ls", run_in_background=True, hidden="\u200b"),
        Permission("Bash", {"command": ["ls"], "more": "x" * 400}),
        Permission("Edit", {"file_path": "/work/app/a.py"}),
        Permission("Edit", {"file_path": "/work/app/a.py"}, diff=CHANGE * 20),
        Permission("Edit", {"file_path": "/work/app/a.py"}, diff=CHANGE, diff_note="It will fail."),
        Permission("Write", {"file_path": "/work/app/a.py", "content": "x"}),
        Permission("mcp__github__create_issue", {"title": "x" * 400}),
        Permission("Read", {"file_path": "/etc/passwd"}, blocked_path="\u202e/etc"),
    ],
)
def test_what_is_not_seen_whole_can_only_be_denied(body: Body) -> None:
    assert offered(body) == ["Deny"]
    assert "Open it to see everything." in shown(body).body


def test_what_else_a_call_says_is_shown_before_it_can_be_allowed() -> None:
    notice = shown(bash("ls", run_in_background=True))
    assert notice.body == '{"command":"ls","run_in_background":true}\nFix the tests'
    assert offered(bash("ls", run_in_background=True)) == ["Deny", "Allow once"]
    reaching = shown(Permission("Read", {"file_path": "/etc/passwd"}, blocked_path="/etc"))
    assert reaching.body == "Outside: /etc\n/etc/passwd\nFix the tests"


def test_a_question_with_two_options_can_be_answered_at_a_glance() -> None:
    notice = shown(WHICH)
    assert notice.body == "SQLite: one file\nPostgres: a server\nFix the tests"
    assert [(each.name, each.title) for each in notice.answers] == [("1", "SQLite"), ("2", "Postgres")]
    assert notice.answers[1].done == "Answered: Postgres"
    assert read_answer("question", notice.answers[1].answer) == Choices((Choice(("Postgres",)),))
    wordy = Question((Prompt("Which of these two databases do you want to have?", "", (Option("A"), Option("B"))),))
    assert shown(wordy).body == "Which of these two databases do you want to have?\nA\nB\nFix the tests"


@pytest.mark.parametrize(
    "body",
    [
        Question((Prompt("Which?", "", (Option("A"), Option("B"), Option("C"))),)),
        Question((Prompt("Which?", "", (Option("A"), Option("B")), multi_select=True),)),
        Question((Prompt("Which?", "", (Option("A", preview="<b>"), Option("B"))),)),
        Question((Prompt("Which?", "", (Option("A", "x" * 300), Option("B"))),)),
        Question((Prompt("Which?", "", (Option("A\u200b"), Option("A"))),)),
        Question((Prompt("Why?"),)),
        Question((Prompt("Which?", "", (Option("A"), Option("B"))), Prompt("Why?"))),
    ],
)
def test_other_questions_are_answered_on_the_page(body: Body) -> None:
    assert offered(body) == []


def test_a_plan_and_a_form_can_only_be_refused_at_a_glance() -> None:
    assert offered(PLAN) == ["Send back"]
    assert offered(FORM) == ["Decline"]
    assert (
        shown(PLAN).body
        == "# Move to Postgres\n\n1. Make a dump\n2. Load it\nOpen it to see everything.\nFix the tests"
    )


def test_a_link_and_a_dialog_are_only_opened_in_handraise() -> None:
    assert offered(LINK) == offered(DIALOG) == []
    assert shown(LINK).body == "https://login.example.com/oauth\nOpen it to see everything.\nFix the tests"
    assert shown(LINK).path == "/sessions/s_1"
    assert shown(DIALOG).body == "Retry\nDismiss\nFix the tests"


def test_a_link_that_was_completed_by_itself_is_settled_without_a_source() -> None:
    done = Answered(Filled("accept"), TheHub(), "website", NOW)
    settled = notices.of_settled(ask_of(LINK, settlement=done), NoticeContext(), "d_1", 0)
    assert settled.body == "Completed on the website"


@pytest.mark.parametrize("body", [bash("npm test"), WHICH, PLAN, FORM])
def test_every_answer_that_is_offered_fits_and_lasts_no_longer_than_once(body: Body) -> None:
    for each in shown(body).answers:
        answer = read_answer(ask_of(body).kind, each.answer)
        fit.check(body, answer)
        assert not isinstance(answer, Approve | Outline)
        assert not isinstance(answer, Allow) or (answer.scope, answer.input, answer.suggestions) == ("once", None, ())


@pytest.mark.parametrize("body", [bash("npm test"), WHICH, PLAN, FORM])
def test_who_may_only_look_gets_no_buttons(body: Body) -> None:
    assert shown(body, may_answer=False).answers == ()


def test_the_digest_names_what_is_shown_and_the_path_leads_there() -> None:
    ask = ask_of(WHICH)
    assert shown(WHICH).digest == ask.digest
    assert shown(WHICH).path == "/sessions/s_1"
    outside = notices.of_ask(ask_of(WHICH, session=None), NoticeContext("agent tests"), "d_1", 1, may_answer=True)
    assert (outside.path, outside.body.splitlines()[-1]) == ("/", "agent tests")


@pytest.mark.parametrize(
    ("settlement", "says"),
    [
        (Answered(Allow(), Person("ana"), "web", NOW), "ana allowed npm test · web"),
        (Answered(Allow("always"), Person("ana"), "web", NOW), "ana allowed npm test for this project · web"),
        (Answered(Deny("no"), ByRule("r_1", "x"), "rule", NOW), "A rule denied npm test: “no” · rule"),
        (Answered(Choices((Choice(("A",), "b"),)), TheHub(), "hub", NOW), "Handraise answered: A, b · hub"),
        (Answered(Approve(), Person("ana"), "web", NOW), "ana approved the plan · web"),
        (Answered(Revise(), Person("ana"), "web", NOW), "ana sent the plan back · web"),
        (Answered(Outline(), Person("ana"), "web", NOW), "ana asked for an outline first · web"),
        (Answered(Filled("decline"), Person("ana"), "web", NOW), "ana declined the form · web"),
        (Expired(NOW), "No one answered in time"),
        (Expired(NOW, Answered(Deny(), Person("ana"), "web", NOW)), "Answered late: ana denied npm test · web"),
        (Withdrawn("the session was stopped", NOW), "No longer needed: the session was stopped"),
    ],
)
def test_what_takes_a_notice_back_says_how_it_ended(settlement: Any, says: str) -> None:
    ask = ask_of(bash("npm test"), settlement=settlement)
    notice = notices.of_settled(ask, HERE, "d_1", 0)
    assert (notice.ask, notice.title, notice.body) == ("a_1", "Run npm test?", says)


def test_the_end_of_a_session_says_how_and_why() -> None:
    lost = notices.of_ended(Ending("s_1", "lost", "Claude was killed", NOW), "Fix the tests", "d_1")
    assert (lost.title, lost.body, lost.path) == ("Fix the tests", "Claude exited: Claude was killed", "/sessions/s_1")
    assert notices.of_ended(Ending("s_1", "finished", "", NOW), "x", "d_1").body == "Finished"


def test_an_alarm_says_so_first_and_has_no_buttons() -> None:
    alarm = notices.of_ended(Ending("s_1", "failed", "Somebody answered\u202e.", NOW, alarm=True), "Fix it", "d_1")

    assert alarm.title == "🚨 Alarm: Fix it"
    assert "Somebody answered" in alarm.body
    assert "\u202e" not in alarm.body
    assert "answers" not in msgspec.json.decode(notices.encode(alarm))


TEXT = st.text(min_size=1, max_size=3000)


@given(
    st.one_of(
        st.builds(bash, TEXT),
        st.builds(Plan, TEXT),
        st.builds(lambda text, server: Form(text, server, {}), TEXT, TEXT),
        st.builds(lambda q, a, b: Question((Prompt(q, "", (Option(a, b, None), Option(b, a))),)), TEXT, TEXT, TEXT),
        st.builds(lambda name, text: Permission(name, {text: text}), TEXT, TEXT),
    ),
    TEXT,
)
def test_whatever_is_asked_fits_into_a_message_and_hides_nothing(body: Body, title: str) -> None:
    notice = notices.of_ask(ask_of(body), NoticeContext(title, None), "d_1", 1, may_answer=True)
    written = notices.encode(notice)
    assert len(written) <= MOST
    read = msgspec.json.decode(written)
    assert read["kind"] == "ask"
    assert read["title"]
    assert "\u202e" not in read["title"] + read["body"]
    for each in notice.answers:
        fit.check(body, read_answer(ask_of(body).kind, each.answer))


@pytest.mark.parametrize("letter", ['"', "\\", "\u202e", "𝔘", "\n", "é"])
def test_the_longest_texts_are_cut_and_say_so(letter: str) -> None:
    notice = notices.of_ask(ask_of(Plan(letter * 20_000)), NoticeContext(letter * 500), "d_1", 1, may_answer=True)
    written = notices.encode(notice)
    assert len(written) <= MOST
    assert [each["title"] for each in msgspec.json.decode(written)["answers"]] == ["Send back"]


def test_no_button_answers_what_claude_code_keeps_for_a_person() -> None:
    assert offered(bash("date")) == ["Deny", "Allow once"]
    for terms in (Terms(person=True), Terms(once=True), Terms(deny_first=True), Terms(ask_rule="Bash")):
        assert offered(msgspec.structs.replace(bash("date"), terms=terms)) == ["Deny"]
    assert len(offered(WHICH)) > 1
    assert offered(msgspec.structs.replace(WHICH, terms=Terms(person=True, once=True))) == []
