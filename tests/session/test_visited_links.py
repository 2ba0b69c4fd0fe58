"""Links that MCP servers want visited: answered by people, or completed by themselves."""

from typing import Any

import pytest

from handraise.model.actors import TheHub
from handraise.model.answers import Answer, Filled
from handraise.model.asks import Answered, Form
from handraise.session.commands import Complete, Raise
from handraise.session.memory import Memory
from session.claude_says import Line, Talk, acknowledged, cancel, completed, link, of, responses, working, written

URL = "https://login.example.com/"


def asked(**fields: Any) -> Talk:
    talk = working()
    assert len(of(Raise, talk.hear(link(**fields)))) == 1
    return talk


def test_a_link_is_a_form_without_fields() -> None:
    assert asked().asks["r_1"].body == Form("Where to?", "post", {}, URL)


@pytest.mark.parametrize("answer", [Filled("accept"), Filled("decline"), Filled("cancel")])
def test_an_answer_reaches_the_server_without_content(answer: Filled) -> None:
    assert responses(asked().answer("r_1", answer)) == [{"action": answer.action}]


def test_a_link_that_nobody_answered_in_time_is_cancelled() -> None:
    assert responses(asked().expire("r_1")) == [{"action": "cancel"}]


def test_a_link_that_was_completed_is_settled_and_accepted() -> None:
    talk = asked()
    (done,) = of(Complete, talk.hear(completed()))
    assert done.ask == talk.asks["r_1"].id

    settled = Answered(Filled("accept"), TheHub(), "website", talk.now)
    assert responses(talk.settle("r_1", settled)) == [{"action": "accept"}]
    # Reported again, before or after Claude has the answer.
    assert of(Complete, talk.hear(completed())) == []
    talk.hear(acknowledged("r_1"))
    assert talk.hear(completed()) == []


@pytest.mark.parametrize(
    "line",
    [
        completed("e_2"),
        completed(""),
        completed(server="another"),
        completed(server=""),
        completed(server=None),
        completed(None),
        completed(["e_1"]),
        {"type": "system", "subtype": "elicitation_complete"},
    ],
)
def test_what_completes_another_link_or_none_changes_nothing(line: Line) -> None:
    talk = asked()

    assert of(Complete, talk.hear(line)) == []
    assert responses(talk.answer("r_1", Filled("accept"))) == [{"action": "accept"}]


def test_a_link_completed_before_it_was_asked_about_stays_open() -> None:
    talk = working()
    assert talk.hear(completed()) == []
    talk.hear(link())

    assert responses(talk.answer("r_1", Filled("decline"))) == [{"action": "decline"}]


@pytest.mark.parametrize("answer", [Filled("accept"), Filled("decline")])
def test_a_link_completed_after_an_answer_leaves_the_answer(answer: Answer) -> None:
    talk = asked()
    talk.answer("r_1", answer)

    assert of(Complete, talk.hear(completed())) == []


def test_a_link_completed_after_it_was_withdrawn_leaves_it() -> None:
    talk = asked()
    talk.hear(cancel("r_1"))

    assert of(Complete, talk.hear(completed())) == []


@pytest.mark.parametrize("missing", [None, ""])
def test_a_link_without_an_id_is_never_completed_by_itself(missing: str | None) -> None:
    talk = asked(elicitation_id=missing)

    assert of(Complete, talk.hear(completed(""))) == []


def test_a_server_that_uses_an_id_twice_completes_both() -> None:
    talk = asked()
    talk.hear(link("r_2"))

    assert {each.ask for each in of(Complete, talk.hear(completed()))} == {ask.id for ask in talk.asks.values()}


def test_the_next_hub_knows_which_link_was_completed() -> None:
    talk = asked()
    reborn = Talk(Memory.load(talk.memory.dump()))
    reborn.asks = talk.asks

    assert len(of(Complete, reborn.hear(completed()))) == 1


@pytest.mark.parametrize("url", [None, "", 7])
def test_a_link_that_leads_nowhere_is_cancelled(url: Any) -> None:
    assert responses(working().hear(link(url=url))) == [{"action": "cancel"}]


def test_what_cannot_be_opened_is_still_asked_about() -> None:
    talk = asked(url="javascript:alert(1)")

    assert written(talk.answer("r_1", Filled("decline")))
