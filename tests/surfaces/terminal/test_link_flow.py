"""Links of MCP servers and dialogs of Claude Code in the terminal: shown in full, opened and answered by people."""

from datetime import timedelta

from handraise.model.actors import Person, TheHub
from handraise.model.answers import Choice, Choices, Filled
from handraise.model.asks import Answered, Body, Dialog, Form, Option, Prompt, Question, Terms
from handraise.surfaces.terminal.answer_options import how_to_answer, offered
from handraise.surfaces.terminal.cards import CardFrame, card
from handraise.surfaces.terminal.dialogue import Send
from handraise.surfaces.terminal.lines import text_of
from handraise.surfaces.terminal.timeline import settled_line
from surfaces.terminal.asked import NOON, ask, dialogue, play

LINK = Form("Please sign in\nto Example", "links", {}, "https://login.example.com:8443/oauth?x=1")
HOSTILE = Form("\x1b[2JSign in", "li\u202enks", {}, "javascript:alert(1)//\x1b]8;;https://evil.example\x07")
DIALOG = Question(
    (Prompt("Retry with another model?", "Claude Code", (Option("Retry"), Option("Dismiss")), closed=True),),
    terms=Terms(person=True),
    dialog=Dialog("refusal_fallback_prompt", ("retry_fallback", "cancelled")),
)
FRAME = CardFrame(90, 40, NOON + timedelta(seconds=90), "Fix it")


def shown(body: Body) -> list[str]:
    return [text_of(row).rstrip() for row in card(dialogue(body), FRAME)]


def test_a_link_is_printed_whole_under_its_host() -> None:
    rows = shown(LINK)

    assert "▌ Link to `login.example.com:8443`" in rows
    assert "▌ │ https://login.example.com:8443/oauth?x=1" in rows
    assert [row for row in rows if "Done" in row or "Decline" in row or "Dismiss" in row]


def test_what_is_no_link_is_text_with_a_warning_and_escapes_nothing() -> None:
    rows = shown(HOSTILE)

    assert any("javascript:alert(1)//⟨U+001B⟩]8;;" in row for row in rows)
    assert any("can't be opened from here" in row for row in rows)
    assert not any("\x1b" in row or "\u202e" in row for row in rows)


def test_done_takes_enter_and_refusing_does_not() -> None:
    assert play(dialogue(LINK), "1")[1] is None
    assert play(dialogue(LINK), "1", "enter")[1] == Send(Filled("accept"))
    assert play(dialogue(LINK), "d")[1] == Send(Filled("decline"))
    assert play(dialogue(LINK), "6")[1] == Send(Filled("cancel"))
    assert play(dialogue(LINK), "enter")[1] is None


def test_a_script_can_answer_a_link_and_a_dialog() -> None:
    answering = [f"handraise answer a_1 {each}" for each in ("--done", "--decline", "--dismiss")]
    assert how_to_answer(ask(LINK)) == answering
    assert offered(DIALOG) == ["  Retry with another model?", "    --choose Retry", "    --choose Dismiss"]


def test_a_dialog_takes_its_options_only() -> None:
    assert not any("Other" in row for row in shown(DIALOG))
    assert play(dialogue(DIALOG), "1")[1] == Send(Choices((Choice(("Retry",)),)))
    assert play(dialogue(DIALOG), "0")[1] is None
    assert play(dialogue(DIALOG), "o")[0].writing is None


def test_a_link_that_was_completed_by_itself_names_nobody() -> None:
    done = Answered(Filled("accept"), TheHub(), "website", NOON)
    line = settled_line(ask(LINK), done, Person("ana", "x"))

    assert line.startswith("Completed on the website")
    assert "handraise" not in line
