"""The options of `handraise answer`: everything typed becomes the answer, or nothing is sent."""

from itertools import combinations
from typing import Any

import pytest

from handraise.cli.answering import Flags, NoAnswer, answer_in
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Body, Form, Offer, Option, Permission, Plan, Prompt, Question

YES_NO = Prompt("Really?", "", (Option("Yes"), Option("No")))
SEVERAL = Prompt("Which?", "", (Option("A"), Option("B"), Option("C")), multi_select=True)
FREE = Prompt("Why?")
EQUALS = Prompt("Which one?", "", (Option("a=b"), Option("1=Yes"), Option("9=x")))
BOTH = Prompt("Which one?", "", (Option("1=Yes"), Option("Yes")))
ONE, TWO = Question((YES_NO,)), Question((YES_NO, YES_NO))
MIXED = Question((YES_NO, SEVERAL, FREE))
RUN = Permission("Bash", {"command": "ls"}, offers=(Offer("session", "ls", ()),))
PLAN = Plan("1.")
FORM = Form("?", "s", {"properties": {"n": {"type": "integer"}}, "required": ["n"]})
LINK = Form("?", "s", {}, "https://example.com/")
CLOSED = Prompt("Now?", "", (Option("Yes"), Option("No")), closed=True)
BODIES: tuple[Body, ...] = (ONE, TWO, RUN, PLAN, FORM, LINK)


def chosen(*choices: Choice) -> Choices:
    return Choices(choices)


@pytest.mark.parametrize(
    ("body", "flags", "answer"),
    [
        (ONE, Flags(choose=["Yes"]), chosen(Choice(("Yes",)))),
        (ONE, Flags(choose=["1=Yes"]), chosen(Choice(("Yes",)))),
        (ONE, Flags(text=["It depends"]), chosen(Choice(text="It depends"))),
        (ONE, Flags(text=["1=It depends"]), chosen(Choice(text="It depends"))),
        (ONE, Flags(text=["1=1=1"]), chosen(Choice(text="1=1"))),
        (ONE, Flags(text=["a=b"]), chosen(Choice(text="a=b"))),
        (TWO, Flags(choose=["1=Yes", "2=No"]), chosen(Choice(("Yes",)), Choice(("No",)))),
        (TWO, Flags(choose=["2=No", "1=Yes"]), chosen(Choice(("Yes",)), Choice(("No",)))),
        (TWO, Flags(choose=["1=Yes"], text=["2=free words"]), chosen(Choice(("Yes",)), Choice(text="free words"))),
        (TWO, Flags(text=["2=b=c", "1=2=a"]), chosen(Choice(text="2=a"), Choice(text="b=c"))),
        (Question((SEVERAL,)), Flags(choose=["A", "C"]), chosen(Choice(("A", "C")))),
        (Question((SEVERAL,)), Flags(choose=["A"], text=["and D"]), chosen(Choice(("A",), "and D"))),
        (
            MIXED,
            Flags(choose=["2=A", "1=No", "2=B"], text=["3=so", "2=and D"]),
            chosen(Choice(("No",)), Choice(("A", "B"), "and D"), Choice(text="so")),
        ),
        (Question((EQUALS,)), Flags(choose=["a=b"]), chosen(Choice(("a=b",)))),
        (Question((EQUALS,)), Flags(choose=["1=a=b"]), chosen(Choice(("a=b",)))),
        (Question((EQUALS,)), Flags(choose=["1=Yes"]), chosen(Choice(("1=Yes",)))),
        (Question((EQUALS,)), Flags(choose=["1=1=Yes"]), chosen(Choice(("1=Yes",)))),
        (Question((EQUALS,)), Flags(choose=["9=x"]), chosen(Choice(("9=x",)))),
        (Question((EQUALS, YES_NO)), Flags(choose=["1=1=Yes", "2=Yes"]), chosen(Choice(("1=Yes",)), Choice(("Yes",)))),
        (Question((BOTH,)), Flags(choose=["1=1=Yes"]), chosen(Choice(("1=Yes",)))),
        (Question((BOTH,)), Flags(choose=["Yes"]), chosen(Choice(("Yes",)))),
        (RUN, Flags(allow=True), Allow()),
        (RUN, Flags(allow=True, scope=["session"]), Allow("session")),
        (RUN, Flags(allow=True, edited=['{"command":"pwd"}']), Allow(input={"command": "pwd"})),
        (RUN, Flags(deny=["No."]), Deny("No.")),
        (RUN, Flags(deny=[""]), Deny("")),
        (PLAN, Flags(approve=True), Approve()),
        (PLAN, Flags(approve=True, plan_mode=["acceptEdits"]), Approve("acceptEdits")),
        (PLAN, Flags(revise=["Shorter"]), Revise("Shorter")),
        (PLAN, Flags(outline=True), Outline()),
        (FORM, Flags(fill=['{"n":1}']), Filled("accept", {"n": 1})),
        (FORM, Flags(decline=True), Filled("decline")),
        (FORM, Flags(dismiss=True), Filled("cancel")),
        (LINK, Flags(done=True), Filled("accept")),
        (LINK, Flags(decline=True), Filled("decline")),
        (LINK, Flags(dismiss=True), Filled("cancel")),
        (Question((CLOSED,)), Flags(choose=["No"]), chosen(Choice(("No",)))),
    ],
)
def test_what_was_typed_is_the_answer(body: Body, flags: Flags, answer: Answer) -> None:
    assert answer_in(flags, body) == answer


@pytest.mark.parametrize(
    ("body", "flags", "why"),
    [
        (ONE, Flags(choose=["Maybe"]), "There is no option 'Maybe'"),
        (ONE, Flags(choose=["yes"]), "There is no option 'yes'"),
        (ONE, Flags(choose=["2=Yes"]), "There is no option '2=Yes'"),
        (ONE, Flags(choose=["Yes", "No"]), "This question takes one answer"),
        (ONE, Flags(choose=["Yes"], text=["but"]), "This question takes one answer"),
        (ONE, Flags(choose=["Yes", "Yes"]), "chosen twice"),
        (ONE, Flags(text=["a", "b"]), "two texts"),
        (ONE, Flags(text=["  "]), "is empty"),
        (ONE, Flags(text=["…"]), "Write your own text"),
        (ONE, Flags(text=["2=b"]), "write '1=2=b'"),
        (ONE, Flags(), "Choose an answer"),
        (FORM, Flags(done=True), "An accepted form needs content"),
        (LINK, Flags(fill=['{"n":1}']), "answered without content"),
        (LINK, Flags(done=True, decline=True), "contradict each other"),
        (LINK, Flags(), "Choose an answer"),
        (ONE, Flags(done=True), "--done doesn't answer a question"),
        (Question((CLOSED,)), Flags(text=["Maybe"]), "takes one of its options only"),
        (Question((CLOSED,)), Flags(choose=["Maybe"]), "There is no option 'Maybe'."),
        (Question((BOTH,)), Flags(choose=["1=Yes"]), "is ambiguous"),
        (TWO, Flags(choose=["Yes"]), "There are 2 questions"),
        (TWO, Flags(choose=["Yes", "No"]), "There are 2 questions"),
        (TWO, Flags(choose=["1=Yes"]), "Question 2 has no answer"),
        (TWO, Flags(choose=["1=Yes", "2=Maybe"]), "Question 2 has no option 'Maybe'"),
        (TWO, Flags(choose=["1=Yes", "3=No"]), "There are 2 questions"),
        (TWO, Flags(choose=["0=Yes", "2=No"]), "There are 2 questions"),
        (TWO, Flags(choose=["1=Yes", "1=No", "2=No"]), "Question 1 takes one answer"),
        (TWO, Flags(choose=["1=Yes"], text=["free"]), "There are 2 questions"),
        (TWO, Flags(choose=["1=Yes"], text=["2=a", "2=b"]), "Question 2 has two texts"),
        (Question((SEVERAL,)), Flags(choose=["A", "A"]), "chosen twice"),
        (Question((SEVERAL,)), Flags(choose=["A"], text=["x", "y"]), "two texts"),
        (RUN, Flags(allow=True, edited=["{"]), "--input isn't valid JSON"),
        (RUN, Flags(allow=True, edited=[""]), "--input isn't valid JSON"),
        (RUN, Flags(allow=True, edited=["[1]"]), "must be a JSON object"),
        (RUN, Flags(allow=True, edited=['{"a":1,"a":2}']), "'a' appears twice"),
        (RUN, Flags(allow=True, edited=['{"a":NaN}']), "NaN isn't JSON"),
        (RUN, Flags(allow=True, edited=["[" * 100_000]), "--input isn't valid JSON"),
        (RUN, Flags(allow=True, edited=["{}", "{}"]), "--input appears 2 times"),
        (RUN, Flags(allow=True, scope=["once", "session"]), "--for appears 2 times"),
        (RUN, Flags(allow=True, scope=["always"]), "once"),
        (RUN, Flags(deny=["a", "b"]), "--deny appears 2 times"),
        (RUN, Flags(deny=["a"], edited=["{}"]), "--input only goes with --allow"),
        (RUN, Flags(deny=["a"], scope=["once"]), "--for only goes with --allow"),
        (RUN, Flags(scope=["session"]), "Choose an answer"),
        (RUN, Flags(edited=["{}"]), "Choose an answer"),
        (RUN, Flags(allow=True, plan_mode=["default"]), "--mode only goes with --approve"),
        (PLAN, Flags(plan_mode=["acceptEdits"]), "Choose an answer"),
        (PLAN, Flags(revise=["a"], plan_mode=["default"]), "--mode only goes with --approve"),
        (PLAN, Flags(approve=True, scope=["once"]), "--for only goes with --allow"),
        (PLAN, Flags(revise=["a", "b"]), "--revise appears 2 times"),
        (FORM, Flags(fill=['{"n":1}', '{"n":2}']), "--fill appears 2 times"),
        (FORM, Flags(fill=["{…}"]), "--fill isn't valid JSON"),
        (FORM, Flags(fill=['{"m":1}']), "no field 'm'"),
        (FORM, Flags(fill=["{}"]), "n is required"),
        (ONE, Flags(choose=["Yes"], scope=["once"]), "--for only goes with --allow"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_offered(body: Body, flags: Flags, why: str) -> None:
    with pytest.raises(NoAnswer) as refused:
        answer_in(flags, body)
    text = str(refused.value)
    assert why in text.splitlines()[0]
    assert text.splitlines()[1] == "You can answer with:"
    assert len(text.splitlines()) > 2


NAMED: dict[str, dict[str, Any]] = {
    "choose": {"choose": ["Yes"]},
    "allow": {"allow": True},
    "deny": {"deny": ["no"]},
    "approve": {"approve": True},
    "revise": {"revise": ["no"]},
    "outline": {"outline": True},
    "fill": {"fill": ['{"n":1}']},
    "decline": {"decline": True},
}


@pytest.mark.parametrize(("one", "other"), list(combinations(NAMED, 2)))
@pytest.mark.parametrize("body", BODIES)
def test_two_different_answers_contradict_each_other(body: Body, one: str, other: str) -> None:
    with pytest.raises(NoAnswer, match="contradict each other") as refused:
        answer_in(Flags(**NAMED[one], **NAMED[other]), body)
    assert f"--{one}" in str(refused.value)
    assert f"--{other}" in str(refused.value)


@pytest.mark.parametrize(("kind", "body"), [("question", ONE), ("permission", RUN), ("plan", PLAN), ("form", FORM)])
@pytest.mark.parametrize("name", NAMED)
def test_each_answer_goes_with_its_own_kind_alone(kind: str, body: Body, name: str) -> None:
    kinds = {"choose": "question", "allow": "permission", "deny": "permission", "fill": "form", "decline": "form"}
    flags = Flags(**NAMED[name])
    if kinds.get(name, "plan") == kind:
        answer_in(flags, body)
        return
    with pytest.raises(NoAnswer, match=f"--{name} doesn't answer a {kind}"):
        answer_in(flags, body)


def test_the_offer_has_every_question_with_its_number_and_labels() -> None:
    with pytest.raises(NoAnswer) as refused:
        answer_in(Flags(choose=["Yes"]), MIXED)
    assert str(refused.value).splitlines()[1:] == [
        "You can answer with:",
        "  Question 1: Really?",
        "    --choose 1=Yes",
        "    --choose 1=No",
        "    --text 1=…",
        "  Question 2: Which? (one or more)",
        "    --choose 2=A",
        "    --choose 2=B",
        "    --choose 2=C",
        "    --text 2=…",
        "  Question 3: Why?",
        "    --text 3=…",
    ]


def test_hostile_questions_cannot_reach_the_terminal() -> None:
    hostile = Question((Prompt("\x1b[31mQ\n--allow", "", (Option("\x1b]0;x\x07"),)), YES_NO))
    with pytest.raises(NoAnswer) as refused:
        answer_in(Flags(choose=["\x1b[2J"]), hostile)
    assert all(line.isprintable() for line in str(refused.value).splitlines())
