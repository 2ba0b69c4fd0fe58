"""How Claude Code says that a request may be answered, as read from what 2.1.325 sends, and from what it never sent."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from handraise.model.asks import Permission, Question, Terms, terms_of
from handraise.session.requests import body_of
from handraise.wire.frames import CanUseTool

FIELDS = (
    "decision_reason_type",
    "requires_user_interaction",
    "suppress_always_allow_rule",
    "default_to_no",
    "matched_ask_rule",
    "classifier_approvable",
)
RULE = {"source": "userSettings", "tool_name": "Bash", "rule_content": "date:*"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
QUESTION = b'{"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]}'


def terms(**fields: Any) -> Terms:
    return terms_of(body_of(CanUseTool("Bash", Raw(b'{"command": "ls"}'), **fields)))


def test_a_request_without_terms_has_none() -> None:
    body = body_of(CanUseTool("Bash", Raw(b'{"command": "ls"}')))
    assert isinstance(body, Permission)
    assert body.terms is UNSET
    assert not terms_of(body).is_strict


def test_each_field_makes_it_stricter_in_its_own_way() -> None:
    for fields, expected in (
        ({"requires_user_interaction": True}, Terms(person=True, once=True)),
        ({"suppress_always_allow_rule": True}, Terms(once=True)),
        ({"default_to_no": True}, Terms(deny_first=True)),
        ({"matched_ask_rule": RULE}, Terms(once=True, ask_rule="Bash(date:*)")),
        ({"matched_ask_rule": {"source": "x", "tool_name": "Bash"}}, Terms(once=True, ask_rule="Bash")),
        ({"decision_reason_type": "rule"}, Terms(once=True, cause="rule")),
        ({"decision_reason_type": "classifier"}, Terms(person=True, once=True, cause="classifier")),
        ({"classifier_approvable": False}, Terms(once=True, classifier_approvable=False)),
    ):
        assert terms(**fields) == expected, fields
        assert expected.is_strict


def test_what_is_only_shown_holds_nothing_back() -> None:
    for fields, expected in (
        ({"decision_reason_type": "other"}, Terms(cause="other")),
        (
            {"decision_reason_type": "safetyCheck", "classifier_approvable": True},
            Terms(cause="safetyCheck", classifier_approvable=True),
        ),
        ({"title": "Deliver"}, Terms(title="Deliver")),
    ):
        assert terms(**fields) == expected
        assert not expected.is_strict


def test_what_is_not_known_needs_a_person() -> None:
    for fields in (
        {"decision_reason_type": "telepathy"},
        {"decision_reason_type": 7},
        {"requires_user_interaction": "no"},
        {"requires_user_interaction": 0},
    ):
        assert terms(**fields).person, fields
    assert terms(suppress_always_allow_rule="false").once
    assert terms(matched_ask_rule=True).is_strict
    assert terms(matched_ask_rule={}).is_strict


def test_a_plan_and_a_question_keep_them_too() -> None:
    plan = body_of(CanUseTool("ExitPlanMode", Raw(b'{"plan": "# A"}'), requires_user_interaction=True, default_to_no=1))
    assert (terms_of(plan).person, terms_of(plan).deny_first) == (True, True)
    body = body_of(CanUseTool("AskUserQuestion", Raw(QUESTION), requires_user_interaction=True))
    assert isinstance(body, Question)
    assert terms_of(body).person


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)), st.sampled_from(FIELDS), JSON)
def test_no_value_of_a_field_makes_another_one_less_strict(fields: dict[str, Any], name: str, value: object) -> None:
    before, after = terms(**{**fields, name: None}), terms(**{**fields, name: value})
    for strict in ("person", "once", "deny_first", "is_strict"):
        assert getattr(after, strict) or not getattr(before, strict)
