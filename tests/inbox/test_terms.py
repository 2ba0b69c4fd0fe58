"""What Claude Code says about how a request may be answered holds against every rule; nothing lasting is offered."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.inbox.considering import consider
from handraise.model import fit
from handraise.model.answers import Allow, Deny, Misfit
from handraise.model.asks import Answered, Ask, Body, Permission, Terms
from handraise.model.inputs import MalformedInput
from handraise.model.rules import Rule
from handraise.session.requests import body_of
from handraise.terminals.hook_calls import body_of_hook, read_hook
from handraise.wire.decode import decode
from handraise.wire.frames import CanUseTool, ControlRequest
from inbox.waiting_room import NOON, an_ask, bash, surroundings

EVERYTHING = Rule("r_all", "allow")
SUGGESTION = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}
STRICT = (Terms(person=True), Terms(once=True), Terms(deny_first=True), Terms(ask_rule="Bash(date:*)"))


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from(["", "allow", "rule", "mode", "default", "Bash"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "mode"]), inner, max_size=2),
    max_leaves=3,
)
NAMES = st.sampled_from([
    "requires_user_interaction", "suppress_always_allow_rule", "default_to_no", "matched_ask_rule",
    "decision_reason_type", "classifier_approvable", "title", "description", "decision_reason", "blocked_path",
    "permission_suggestions", "agent_id", "display_name", "tool_use_id", "behavior", "decision", "allow", "terms",
    "transcript_path", "prompt_id", "hookSpecificOutput", "settlement", "offers",
])  # fmt: skip
FIELDS = st.dictionaries(NAMES | st.text(max_size=4), JSON, max_size=4)
RULES = st.lists(st.sampled_from([EVERYTHING, Rule("r_ask", "ask"), Rule("r_no", "deny")]), max_size=2)


def considered(terms: Terms, *rules: Rule) -> Ask:
    return consider(an_ask(bash("date", suggestions=(SUGGESTION,), terms=terms)), surroundings(), rules, NOON)


def test_no_rule_allows_what_claude_code_keeps_for_a_person() -> None:
    assert considered(Terms(cause="other"), EVERYTHING).state == "answered"
    for terms in STRICT:
        assert considered(terms, EVERYTHING).state == "open", terms


def test_a_rule_that_denies_still_does() -> None:
    for terms in STRICT:
        settlement = considered(terms, Rule("r_no", "deny", message="never"), EVERYTHING).settlement
        assert isinstance(settlement, Answered)
        assert settlement.answer == Deny("never")


def test_nothing_that_lasts_is_offered_or_accepted() -> None:
    for terms in STRICT:
        body = considered(terms).body
        assert isinstance(body, Permission)
        assert (body.offers, body.suggestions, body.suggestions_in_words) == ((), (), ())
        fit.check(body, Allow())
        for answer in (Allow("session"), Allow("always"), Allow(suggestions=(0,))):
            assert not fits(body, answer), answer


def test_a_person_reads_why_in_words() -> None:
    for terms, words in (
        (Terms(person=True, once=True), "Claude Code requires a person to decide this."),
        (Terms(once=True, ask_rule="Bash(date:*)"), "Your Claude Code settings always ask about `Bash(date:*)`."),
        (Terms(once=True, cause="rule"), "Your Claude Code settings always ask about this."),
        (Terms(person=True, once=True, cause="classifier"), "Claude Code's automatic check blocked this."),
    ):
        why = considered(terms, EVERYTHING).why
        assert why == f"Rule r_all allows every command. {words} No rule can allow it, and it can only be allowed once."


@given(
    st.builds(
        Terms,
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.text(max_size=5),
        st.text(max_size=5),
        st.none() | st.booleans(),
    ),
    st.lists(st.sampled_from(["allow", "ask", "deny"]), max_size=3),
)
def test_terms_never_turn_an_ask_into_an_answer(terms: Terms, decisions: list[str]) -> None:
    rules = [Rule(f"r_{number}", decision) for number, decision in enumerate(decisions)]  # type: ignore[arg-type]
    ask = an_ask(bash("date"))
    without = consider(ask, surroundings(), rules, NOON)
    found = consider(replace(ask, body=bash("date", terms=terms)), surroundings(), rules, NOON)
    if without.state == "open" or terms.is_strict:
        assert not isinstance(found.settlement, Answered) or isinstance(found.settlement.answer, Deny)


@given(FIELDS, FIELDS, RULES)
def test_no_field_of_a_request_turns_ask_into_allow(
    some: dict[str, Any], more: dict[str, Any], rules: list[Rule]
) -> None:
    """Whatever a line from Claude Code has besides: it is allowed with more fields only if it is with fewer."""
    if is_allowed(body_of_line({**more, **some}), rules):
        assert is_allowed(body_of_line(some), rules)
        assert is_allowed(body_of_line({}), rules)


@given(FIELDS, RULES)
def test_no_field_of_a_hooks_request_turns_ask_into_allow(more: dict[str, Any], rules: list[Rule]) -> None:
    """A rule may allow only what Claude Code would let a rule allow: that takes two fields, both as we know them."""
    for mode in ("default", "auto"):
        known = {"permission_mode": mode, "permission_suggestions": [SUGGESTION]}
        if is_allowed(body_of_hooks({**more, **known}), rules):
            assert mode == "default"
            assert is_allowed(body_of_hooks(known), rules)
    assert not is_allowed(body_of_hooks({**more, "permission_mode": "default", "permission_suggestions": []}), rules)


def body_of_line(fields: dict[str, Any]) -> Body | None:
    request = {**fields, "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "date"}}
    line = json.dumps({"type": "control_request", "request_id": "r", "request": request})
    (frame,) = decode(line.encode())
    if not isinstance(frame, ControlRequest) or not isinstance(frame.request, CanUseTool):
        return None
    return body_of(frame.request)


def body_of_hooks(fields: dict[str, Any]) -> Body | None:
    names = {"session_id": "s", "cwd": "/work/app", "hook_event_name": "PermissionRequest", "tool_name": "Bash"}
    try:
        return body_of_hook(read_hook(json.dumps({**fields, **names, "tool_input": {"command": "date"}}).encode()))
    except MalformedInput:
        return None


def is_allowed(body: Body | None, rules: list[Rule]) -> bool:
    if body is None:
        return False
    settlement = consider(an_ask(body), surroundings(), rules, NOON).settlement
    return isinstance(settlement, Answered) and isinstance(settlement.answer, Allow)


def test_that_property_can_fail() -> None:
    rules = [EVERYTHING]
    assert is_allowed(body_of_line({}), rules)
    assert is_allowed(body_of_hooks({"permission_mode": "default", "permission_suggestions": [SUGGESTION]}), rules)
    assert not is_allowed(body_of_line({}), [])


def fits(body: Permission, answer: Allow) -> bool:
    try:
        fit.check(body, answer)
    except Misfit:
        return False
    return True
