"""What presses and replies do, kind by kind and step by step; and what must always hold."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handraise.model import fit
from handraise.model.actors import Person
from handraise.model.answers import (
    Allow,
    Approve,
    Choice,
    Choices,
    Deny,
    Filled,
    Outline,
    Revise,
    Trusting,
)
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
)
from handraise.present.flows import flow_of
from handraise.surfaces.telegram.cards import LONGEST_LABEL
from handraise.surfaces.telegram.conversation import (
    CardState,
    Next,
    Outcome,
    SendAnswer,
    Toast,
    needs_confirming,
    press,
    step_of,
)
from handraise.surfaces.telegram.formatted import LONGEST
from handraise.texts import t
from present.asked import BODIES, DIALOG, LINK, NOON, NPM, TRUST, bash
from surfaces.telegram.pressing import CardReader, grants
from surfaces.terminal.asked import ADDRESS, CHECKS, DATABASE, NAME, PLAN, TWO_QUESTIONS
from thorough import a_quarter

BODY = "x" * 100_000


def test_an_option_answers_a_question_with_one_tap() -> None:
    reader = CardReader(Question((DATABASE,)))

    reader.tap("2. Postgres")

    assert reader.answer == Choices((Choice(("Postgres",)),))


def test_a_reply_to_a_question_is_its_other() -> None:
    reader = CardReader(Question((DATABASE,)))
    reader.tap("Other")
    assert "Reply to this message" in reader.text
    assert reader.labels == [["Back"]]

    reader.reply(" MySQL ")

    assert reader.answer == Choices((Choice((), "MySQL"),))


def test_a_reply_needs_no_press_before_it() -> None:
    reader = CardReader(Question((DATABASE,)))

    reader.reply("MySQL")

    assert reader.answer == Choices((Choice((), "MySQL"),))


def test_a_closed_question_takes_its_options_only() -> None:
    reader = CardReader(DIALOG)

    assert isinstance(reader.reply("8"), Toast)
    reader.tap("2. 9")

    assert reader.answer == Choices((Choice(("9",)),))


def test_a_question_without_options_takes_a_reply() -> None:
    reader = CardReader(Question((NAME,)))
    assert "Your answer\nReply to this message." in reader.text
    assert reader.labels == []

    assert isinstance(reader.reply("  "), Toast)
    reader.reply("Ada")

    assert reader.answer == Choices((Choice((), "Ada"),))


def test_several_options_are_ticked_and_sent_with_done() -> None:
    reader = CardReader(Question((CHECKS,)))

    reader.tap("Done")
    assert reader.toast == t("telegram.press.none_ticked")
    reader.tap("⬜️ 3", "⬜️ 1", "⬜️ 2", "✅ 1")
    reader.tap("Done")

    assert reader.answer == Choices((Choice(("Disk", "Memory")),))


def test_several_options_and_a_text_of_ones_own() -> None:
    reader = CardReader(Question((CHECKS,)))

    reader.tap("⬜️ 1", "⬜️ Other")
    reader.reply("Load")
    assert "Other: Load" in reader.text
    assert any("✅ Other" in row for row in reader.labels)
    reader.tap("Done")

    assert reader.answer == Choices((Choice(("Uptime",), "Load"),))


def test_a_text_of_ones_own_can_be_taken_back() -> None:
    reader = CardReader(Question((CHECKS,)))

    reader.tap("⬜️ 1", "⬜️ Other")
    reader.reply("Load")
    reader.tap("✅ Other", "Done")

    assert reader.answer == Choices((Choice(("Uptime",)),))


def test_several_questions_in_order_with_a_way_back_and_a_review() -> None:
    reader = CardReader(TWO_QUESTIONS)
    assert "1 of 2" in reader.text

    reader.tap("1. SQLite")
    assert "2 of 2" in reader.text
    reader.tap("⬜️ 2", "Back")
    assert "1 of 2" in reader.text
    reader.tap("2. Postgres", "⬜️ 1", "Done")
    assert "Store: Postgres" in reader.text
    assert "Checks: Uptime" in reader.text
    reader.tap("Back")
    assert any("✅ 1. Uptime" in row for row in reader.labels)
    reader.tap("Done", "Send these answers")

    assert reader.answer == Choices((Choice(("Postgres",)), Choice(("Uptime",))))


def test_a_permission_is_allowed_once_with_one_tap() -> None:
    reader = CardReader(NPM)

    reader.tap("Allow once")

    assert reader.answer == Allow()


@pytest.mark.parametrize(
    ("label", "answer", "words"),
    [
        ("For this session", Allow("session"), "Allow any 7 … for this session"),
        ("Always allow", Allow("always"), "Always allow 7 7 in this project"),
        ("Claude's suggestion 1", Allow(suggestions=(0,)), "Allow every command that starts with 7 in this directory"),
        ("Claude's suggestion 2", Allow(suggestions=(1,)), "Switch to the mode acceptEdits"),
    ],
)
def test_what_lasts_takes_a_second_press_with_the_rule_in_words(label: str, answer: Any, words: str) -> None:
    reader = CardReader(NPM)
    assert words in reader.text

    reader.tap(label)
    assert reader.answer is None
    assert f"Confirm: {words}" in reader.text
    assert [row[0].split(":")[0] for row in reader.labels] == ["Confirm", "Back"]
    reader.tap("Confirm")

    assert reader.answer == answer


def test_the_way_back_from_a_confirmation() -> None:
    reader = CardReader(NPM)
    before = reader.labels

    reader.tap("Always allow", "Back")

    assert reader.labels == before


def test_denying_takes_one_tap_at_any_time() -> None:
    reader = CardReader(NPM)

    reader.tap("Deny", after=0)

    assert reader.answer == Deny()


def test_denying_with_a_reason() -> None:
    reader = CardReader(NPM)

    reader.tap("Deny with a reason", after=0)
    assert "Why? Claude reads it.\nReply to this message." in reader.text
    reader.reply("Use pnpm")

    assert reader.answer == Deny("Use pnpm")


def test_denying_and_stopping() -> None:
    reader = CardReader(NPM)

    reader.tap("Deny and stop")

    assert reader.answer == Deny(interrupt=True)


def test_a_reply_to_a_permission_decides_nothing_by_itself() -> None:
    reader = CardReader(NPM)

    for text in ("yes", "Allow once", "1", "no"):
        assert isinstance(reader.reply(text), Toast)


@pytest.mark.parametrize("early", [0.0, 0.2, 1.499])
def test_a_message_that_has_just_appeared_allows_nothing(early: float) -> None:
    reader = CardReader(NPM)

    reader.tap("Allow once", after=early)
    assert reader.toast == t("telegram.press.early")
    assert reader.answer is None
    reader.tap("Allow once", after=1.5)

    assert reader.answer == Allow()


def test_the_second_tap_of_two_confirms_nothing() -> None:
    reader = CardReader(NPM)

    reader.tap("Always allow")
    reader.tap("Confirm", after=0.4)

    assert reader.answer is None


def test_the_next_question_needs_no_long_wait() -> None:
    reader = CardReader(TWO_QUESTIONS)

    assert isinstance(reader.tap("1. SQLite", after=0.5), Toast)
    reader.tap("1. SQLite")
    reader.tap("⬜️ 1", "⬜️ 2", "Done", after=0.3)

    assert reader.state.step == "review"


@pytest.mark.parametrize(
    "body",
    [
        bash("x\n" * 4000),
        bash("rm \u202e x"),
        Permission("Bash", {"command": "ls"}, blocked_path="/etc"),
        Permission("Bash", {"command": "ls"}, terms=Terms(person=True)),
        Permission("Bash", {"command": "ls"}, terms=Terms(deny_first=True)),
        Permission("Bash", {"command": "ls"}, terms=Terms(ask_rule="Bash(ls)")),
        Permission("Write", {"file_path": "/a", "content": "x"}, diff="+x\n" * 3000),
    ],
    ids=["long", "hidden", "outside", "person", "deny first", "ask rule", "long diff"],
)
def test_what_must_be_looked_at_is_not_allowed_by_one_tap(body: Permission) -> None:
    reader = CardReader(body)

    reader.tap("Allow once")
    assert reader.answer is None
    reader.tap("Confirm: Allow once")

    assert reader.answer == Allow()


def test_a_plan_with_the_usual_terms_takes_one_press_and_a_strict_one_two() -> None:
    usual, strict = (
        CardReader(Plan("# A", Terms(person=True, once=True))),
        CardReader(Plan("# A", Terms(deny_first=True))),
    )

    usual.tap("Approve")
    strict.tap("Approve")

    assert (usual.answer, strict.answer) == (Approve(), None)


def test_denying_comes_first_where_claude_code_says_so() -> None:
    reader = CardReader(Permission("Bash", {"command": "ls"}, terms=Terms(deny_first=True)))

    flat = [label for row in reader.labels for label in row]

    assert flat.index("Deny") < flat.index("Allow once")


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_nothing_that_refuses_stands_beside_what_grants(body: Body) -> None:
    reader = CardReader(body)
    weights = {row.name: row.weight for row in flow_of(reader.ask, None).steps({})[0].rows}

    for row in reader.card.keyboard:
        assert len({weights.get(button.argument) == "grant" for button in row}) == 1


def test_an_edit_is_made_in_the_browser() -> None:
    reader = CardReader(NPM)

    (button,) = [each for each in reader.buttons if each.url]

    assert (button.label, button.act) == ("Edit in the browser", "")


@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        (["Approve"], Approve()),
        (["Approve and accept edits", "Confirm: Approve and accept edits"], Approve("acceptEdits")),
        (["Pause and outline"], Outline()),
    ],
)
def test_a_plan_is_approved_or_outlined(labels: list[str], answer: Any) -> None:
    reader = CardReader(PLAN)

    reader.tap(*labels)

    assert reader.answer == answer


def test_a_plan_is_sent_back_with_what_should_change() -> None:
    reader = CardReader(PLAN)

    reader.tap("Send back")
    assert "What should change?\nReply to this message." in reader.text
    assert isinstance(reader.reply(" "), Toast)
    reader.reply("Fewer steps")

    assert reader.answer == Revise("Fewer steps")


def test_a_plan_in_parts_is_approved_by_two_taps() -> None:
    reader = CardReader(Plan("# Plan\n" + "A step of it.\n" * 800))
    assert len(reader.card.parts) > 2

    reader.tap("Approve")
    assert reader.answer is None
    reader.tap("Confirm: Approve")

    assert reader.answer == Approve()


def test_a_form_field_by_field_with_checks() -> None:
    reader = CardReader(ADDRESS)

    reader.tap("Fill in")
    assert "1 of 5" in reader.text
    assert not any("Skip" in row for row in reader.labels)
    assert isinstance(reader.reply(""), Toast)
    reader.reply("Main St 1")
    assert reader.labels == [["Use “2”", "Skip"], ["Back"]]
    reader.reply("99")
    assert reader.toast == "floor must be at most 9."
    reader.reply("4")
    reader.tap("1. Yes")
    reader.tap("Leave empty")
    reader.tap("⬜️ 1. Mo", "Done")
    assert "Street: Main St 1\nfloor: 4\nlift: Yes\ndoor: –\ndays: Mo" in reader.text
    reader.tap("Send")

    assert reader.answer == Filled("accept", {"street": "Main St 1", "floor": 4, "lift": True, "days": ["Mo"]})


def test_the_defaults_and_the_optional_fields_of_a_form() -> None:
    reader = CardReader(ADDRESS)

    reader.tap("Fill in")
    reader.reply("Main St 1")
    reader.tap("Use “2”", "Back", "Skip", "2. No", "2. right", "Done", "Send")

    assert reader.answer == Filled("accept", {"street": "Main St 1", "lift": False, "door": "right", "days": []})


@pytest.mark.parametrize(("label", "action"), [("Decline", "decline"), ("Dismiss", "cancel")])
@pytest.mark.parametrize("body", [ADDRESS, LINK], ids=["form", "link"])
def test_a_form_is_declined_or_dismissed(body: Form, label: str, action: Any) -> None:
    reader = CardReader(body)

    reader.tap(label, after=0)

    assert reader.answer == Filled(action)


def test_a_link_is_done_with_one_tap_unless_there_is_a_caution() -> None:
    reader = CardReader(LINK)
    reader.tap("Done")
    assert reader.answer == Filled("accept")

    plain = CardReader(Form("7?", "9", {}, "http://7.x/9"))
    plain.tap("Done")
    assert plain.answer is None
    plain.tap("Confirm: Done")
    assert plain.answer == Filled("accept")


def test_trusting_takes_two_taps_and_refusing_one() -> None:
    for labels, level in (
        (["Trust these exactly", "Confirm: Trust these exactly"], "exactly"),
        (["Run without them"], "without"),
        (["Never use them"], "never"),
    ):
        reader = CardReader(TRUST)
        reader.tap(*labels)
        assert reader.answer == Trusting(level)  # type: ignore[arg-type]  # one of the levels


def test_an_expired_ask_can_be_answered_late_and_a_settled_one_says_how() -> None:
    late = CardReader(NPM, settlement=Expired(NOON))
    late.tap("Deny")
    assert late.answer == Deny()

    settled = CardReader(NPM)
    button = settled.buttons[0]
    answered = Answered(Allow(), Person("ana", ""), "web", NOON)
    settled.ask = msgspec.structs.replace(settled.ask, settlement=answered)
    assert settled.press(button) == Toast("ana allowed `7 7`")
    assert settled.labels == []


def test_a_press_that_is_not_offered_changes_nothing() -> None:
    reader = CardReader(NPM)

    for act, argument in (("row", "edit"), ("row", "nothing"), ("confirm", "once"), ("done", ""), ("x", ""), ("", "")):
        button = msgspec.structs.replace(reader.buttons[0], act=act, argument=argument)
        assert isinstance(reader.press(button), Toast)


def test_the_state_of_a_card_survives_being_saved() -> None:
    reader = CardReader(TWO_QUESTIONS)
    reader.tap("2. Postgres", "⬜️ 1", "⬜️ Other")

    assert msgspec.json.decode(msgspec.json.encode(reader.state), type=CardState) == reader.state


def test_options_with_equal_and_with_empty_labels() -> None:
    body = Question((Prompt("Which?", "", (Option("A"), Option("A"), Option(""), Option("😀" * 30))),))
    reader = CardReader(body)
    flat = [label for row in reader.labels for label in row]
    assert len(set(flat)) == len(flat)

    reader.tap("3. (empty)")

    assert reader.answer == Choices((Choice(("",)),))


def test_equal_labels_cannot_both_be_ticked() -> None:
    reader = CardReader(Question((Prompt("Which?", "", (Option("A"), Option("A")), multi_select=True),)))

    reader.tap("⬜️ 1", "⬜️ 2", "Done")

    assert reader.toast
    assert reader.answer is None


def test_many_options_come_in_pages() -> None:
    options = tuple(Option(f"Option {number}", "what it means " * 3) for number in range(1, 61))
    reader = CardReader(Question((Prompt("Which?", "", options),)))
    assert not any("25. Option 25" in row for row in reader.labels)

    reader.tap("More", "More")
    assert "Previous" in reader.labels[-1]
    assert "More" not in reader.labels[-1]
    reader.tap("60. Option 60")

    assert reader.answer == Choices((Choice(("Option 60",)),))


hostile = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["", " ", BODY, "\u202e" * 40, "😀" * 5000, "`" * 9, "`a` b `", "/stop @ana #x", "a\nb\n" * 3000]),
)
options = st.builds(Option, hostile, hostile, st.none() | hostile)
prompts = st.builds(
    Prompt, hostile, hostile, st.lists(options, max_size=5).map(tuple), st.booleans(), st.booleans()
).filter(lambda prompt: prompt.options or not prompt.closed)
fields = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "number", "boolean"]), "title": hostile}),
    st.fixed_dictionaries({"type": st.just("string"), "enum": st.lists(hostile, min_size=1, max_size=60)}),
    st.fixed_dictionaries(
        {"type": st.just("array"), "items": st.fixed_dictionaries({"enum": st.lists(hostile, max_size=4)})}
    ),
    st.fixed_dictionaries({"type": st.just("string"), "default": hostile, "description": hostile}),
)
schemas = st.dictionaries(st.text(min_size=1, max_size=9), fields, max_size=3).flatmap(
    lambda found: st.fixed_dictionaries(
        {"properties": st.just(found), "required": st.lists(st.sampled_from(sorted(found) or ["x"]), max_size=2)}
    )
)
terms = st.builds(Terms, st.booleans(), st.booleans(), st.booleans())
bodies: st.SearchStrategy[Body] = st.one_of(
    st.sampled_from(BODIES),
    st.builds(Question, st.lists(prompts, min_size=1, max_size=3).map(tuple)),
    st.builds(lambda text, reason: Permission("Bash", {"command": text}, reason=reason), hostile, hostile),
    st.builds(lambda found: Permission("Bash", {"command": "ls"}, terms=found), terms),
    st.builds(lambda text: Permission("Write", {"file_path": "/a", "content": text}, diff=f"+{text}"), hostile),
    st.builds(Plan, hostile),
    st.builds(Form, hostile, hostile, schemas),
    st.builds(lambda text, url: Form(text, "s", {}, url), hostile, hostile),
)
moves = st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0.0, 0.3, 1.4, 1.6]), st.none() | hostile), max_size=12)
slow = settings(
    max_examples=a_quarter(), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@slow
@given(bodies, moves)
def test_nothing_is_granted_but_by_a_calm_press_that_was_confirmed_where_needed(body: Body, acts: list[Any]) -> None:
    reader = CardReader(body)
    for number, after, text in acts:
        buttons = [each for each in reader.buttons if not each.url]
        if text is not None or not buttons:
            outcome = reader.reply(text or "x")
            assert not (isinstance(outcome, SendAnswer) and grants(body, outcome.answer))
            continue
        button, state, shown_at = buttons[number % len(buttons)], reader.state, reader.shown_at
        outcome = reader.press(button, after=after)
        if isinstance(outcome, SendAnswer):
            fit.check(body, outcome.answer)
        if isinstance(outcome, SendAnswer) and grants(body, outcome.answer):
            flow = flow_of(reader.ask, None)
            step, _ = step_of(flow, state)
            row = next(each for each in step.rows if each.name == button.argument)
            assert row.weight == "grant"
            assert (reader.now - shown_at).total_seconds() >= 1.5
            assert button.act == ("confirm" if needs_confirming(reader.ask, flow, step, row) else "row")


@slow
@given(bodies, moves)
def test_every_message_and_button_is_within_telegrams_limits(body: Body, acts: list[Any]) -> None:
    reader = CardReader(body, agent=BODY, why=BODY[:500])
    before = reader.card
    for number, _, text in [*acts, (0, 0, None)]:
        card = reader.card
        assert all(0 < part.units <= LONGEST for part in card.parts)
        assert card.parts[:-1] == before.parts[:-1]
        assert card.files == before.files
        assert len(reader.buttons) <= 100
        for button in reader.buttons:
            assert 0 < len(button.label.strip()) <= LONGEST_LABEL
            assert bool(button.act) != bool(button.url)
        buttons = [each for each in reader.buttons if not each.url]
        if text is not None or not buttons:
            reader.reply(text or "x")
        else:
            reader.press(buttons[number % len(buttons)])


def test_another_hand_confirms_with_two_presses_of_its_own() -> None:
    reader = CardReader(NPM)
    reader.tap("Always")
    (confirm,) = (each for each in reader.buttons if each.act == "confirm")

    outcome = press_by_another(reader, confirm.act, confirm.argument, after=60)

    assert isinstance(outcome, Next)
    assert outcome.state.confirming == reader.state.confirming
    assert outcome.state.revision == reader.state.revision + 1, "the button that was pressed no longer counts"
    assert "Tap again" in outcome.sentence


def test_a_step_that_another_hand_opened_has_just_appeared() -> None:
    reader = CardReader(Question((DATABASE, DATABASE)))
    reader.press(reader.buttons[0])
    assert reader.answer is None
    button = next(each for each in reader.buttons if each.act == "row")

    early = press_by_another(reader, button.act, button.argument, after=0.5)
    assert early == Toast(t("telegram.press.early"))
    assert not isinstance(press_by_another(reader, button.act, button.argument, after=2), Toast)
    assert not isinstance(reader.press(button, after=0.5), Toast), "who opened it looks at it"


def press_by_another(reader: CardReader, act: str, argument: str, *, after: float) -> Outcome:
    now = reader.now + timedelta(seconds=after)
    return press(reader.ask, None, reader.state, act, argument, shown_at=reader.shown_at, now=now, same_hand=False)
