"""What a Claude that lost its conversation is sent."""

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Answered, Ask, Expired, Origin, Prompt, Question
from handraise.model.sessions import Say
from handraise.session.memory import Memory
from handraise.session.says import messages_again
from session.claude_says import ANA, NOON

LATER = NOON + timedelta(hours=1)
OPENING = Say("u_1", "s_1", "Send the letter.", ANA, "web", NOON, taken_at=NOON)
SECOND = Say("u_2", "s_1", "And now?", ANA, "web", LATER)
MEMORY = Memory(turn=4, opening="u_1", unfinished={"u_2": LATER})


def ask(**fields: Any) -> Ask:
    asked = Ask(
        id="a_1",
        session="s_1",
        project=None,
        body=Question((Prompt("Which?", "", (), multi_select=False),)),
        tool="AskUserQuestion",
        origin=Origin("r_1", None, "{}"),
        opened_at=LATER,
        settlement=Answered(Choices((Choice(text="The red one."),)), ANA, "web", LATER),
    )
    return replace(asked, **fields)


def test_how_it_began_is_told_by_the_hub_as_something_that_is_done() -> None:
    (reminder,) = messages_again(MEMORY, [OPENING, SECOND], [], LATER)

    assert (reminder.by, reminder.session, reminder.at) == (TheHub(), "s_1", LATER)
    assert isinstance(reminder.content, str)
    assert reminder.content.endswith("\n\nSend the letter.")
    assert "do none of it again" in reminder.content


def test_an_opening_that_waits_is_said_by_itself() -> None:
    assert messages_again(MEMORY, [replace(OPENING, taken_at=None), SECOND], [], LATER) == []


def test_an_opening_that_was_pruned_is_not_made_up() -> None:
    assert messages_again(MEMORY, [SECOND], [], LATER) == []


def test_a_long_opening_is_cut_and_pictures_are_left_out() -> None:
    blocks = ({"type": "image", "source": {}}, {"type": "text", "text": "x" * 9000})

    (reminder,) = messages_again(MEMORY, [replace(OPENING, content=blocks)], [], LATER)

    assert len(reminder.content) < 5000
    assert str(reminder.content).endswith("x […]")


def test_the_reminder_is_the_same_one_until_claude_has_taken_another_turn() -> None:
    (first,), (again,) = (messages_again(MEMORY, [OPENING], [], at) for at in (NOON, LATER))
    (next_time,) = messages_again(replace(MEMORY, turn=9), [OPENING], [], LATER)

    assert first.id == again.id != next_time.id


def test_what_people_answered_in_the_turn_that_was_cut_off_is_told_again() -> None:
    (text,) = messages_again(replace(MEMORY, opening=""), [OPENING, SECOND], [ask()], LATER)

    assert "Which? — The red one." in str(text.content)
    assert text.by == Person("ana")


def test_what_was_answered_earlier_or_by_a_rule_or_by_nobody_is_not() -> None:
    answered = ask().settlement
    assert isinstance(answered, Answered)
    others = [
        ask(opened_at=NOON),
        ask(settlement=replace(answered, by=ByRule("r_1", "a rule"))),
        ask(settlement=Expired(LATER)),
        ask(settlement=None),
    ]

    assert messages_again(replace(MEMORY, opening=""), [OPENING, SECOND], others, LATER) == []
    assert messages_again(Memory(), [OPENING, SECOND], [ask()], LATER) == []
