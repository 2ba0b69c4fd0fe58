"""What Claude Code says about how a request may be answered holds against every rule; nothing lasting is offered."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.inbox.considering import consider
from handraise.model import fit
from handraise.model.answers import Allow, Deny, Misfit
from handraise.model.asks import Answered, Ask, Permission, Terms
from handraise.model.rules import Rule
from inbox.waiting_room import NOON, an_ask, bash, surroundings

EVERYTHING = Rule("r_all", "allow")
SUGGESTION = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}
STRICT = (Terms(person=True), Terms(once=True), Terms(deny_first=True), Terms(ask_rule="Bash(date:*)"))


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


def fits(body: Permission, answer: Allow) -> bool:
    try:
        fit.check(body, answer)
    except Misfit:
        return False
    return True
