"""What a session says and does, as lines."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from handraise.model.actors import Person
from handraise.model.items import (
    ActionChanged,
    ActionChecked,
    ActionDenied,
    ActionEnded,
    ActionStarted,
    Content,
    DenialChanged,
    Item,
    Notice,
    Preview,
    Said,
    SaidTaken,
    SessionEnded,
    Text,
    TurnEnded,
    TurnStarted,
)
from handraise.surfaces.terminal.lines import Line, text_of
from handraise.surfaces.terminal.timeline import Timeline
from surfaces.terminal.asked import NOON
from surfaces.terminal.hostile import CORPUS


def item(content: Content, after: float = 0) -> Item:
    return Item(1, "s_1", NOON + timedelta(seconds=after), msgspec.json.encode(content))


def lines(made: list[Line]) -> list[str]:
    return [text_of(row).rstrip() for row in made]


def ended(**fields: Any) -> TurnEnded:
    values: dict[str, Any] = {"is_error": False, "error": None, "result": "", **fields}
    return TurnEnded(1, 0.0123, 4200, {}, **values)


def partial(text: str, message: str = "m", index: int = 0) -> Preview:
    return Preview("s_1", message, index, "text", text)


def test_blocks_are_printed_when_they_close_and_the_stored_text_adds_the_rest() -> None:
    timeline = Timeline()
    assert lines(timeline.preview(partial("First.\n\nSec"), 60)) == ["", "  First."]
    assert lines(timeline.tail(60)) == ["  Sec"]
    assert lines(timeline.receive(item(Text("First.\n\nSecond.", "m")), 60)) == ["", "  Second."]
    assert timeline.tail(60) == []


def test_a_text_without_a_preview_is_printed_whole() -> None:
    assert lines(Timeline().receive(item(Text("All of it.", "m")), 60)) == ["", "  All of it."]


def test_two_blocks_of_one_message_do_not_mix() -> None:
    timeline = Timeline()
    timeline.preview(partial("One.\n\nx"), 60)
    timeline.receive(item(Text("One.\n\nx", "m")), 60)
    timeline.preview(partial("Two.\n\ny", index=1), 60)
    assert lines(timeline.receive(item(Text("Two.\n\nyes", "m")), 60)) == ["", "  yes"]


def test_an_action_is_one_line_with_its_state() -> None:
    timeline = Timeline(directory="/work")
    timeline.receive(item(ActionStarted("t", "command", "npm test", "Bash", {})), 60)
    assert lines(timeline.under_way(NOON + timedelta(seconds=5), 60)) == ["◌ $ npm test · 5 s"]
    done = ActionEnded("t", "command", "npm test", True, "much\noutput")
    assert lines(timeline.receive(item(done, 6), 60)) == ["✓ $ npm test · 6 s"]
    assert timeline.under_way(NOON, 60) == []


@pytest.mark.parametrize(
    ("tool", "title", "text"),
    [
        ("Write", "/work/a.py", "✓ Wrote a.py"),
        ("MultiEdit", "/work/a.py", "✓ Changed a.py"),
        ("WebFetch", "https://example.org", "✓ Fetched https://example.org"),
        ("WebSearch", "pytest", "✓ Searched for pytest"),
        ("Read", "Read /work/a.py", "✓ Read a.py"),
    ],
)
def test_an_action_says_what_is_done(tool: str, title: str, text: str) -> None:
    timeline = Timeline(directory="/work")
    timeline.receive(item(ActionStarted("t", "tool", title, tool, {})), 60)
    assert lines(timeline.receive(item(ActionEnded("t", "tool", title, True, "")), 60)) == [text]


def test_a_failed_action_says_why() -> None:
    failed = ActionEnded("t", "file_change", "/work/a.py", False, "No such file\nTry again")
    assert lines(Timeline(directory="/work").receive(item(failed), 60)) == [
        "✗ a.py",
        "    No such file",
        "    Try again",
    ]


def test_the_end_of_a_turn_says_what_it_cost() -> None:
    timeline = Timeline()
    timeline.receive(item(TurnStarted(1)), 60)
    assert timeline.working
    assert lines(timeline.receive(item(ended()), 60)) == ["", "─ 4.2 s · $0.0123"]
    assert not timeline.working


def test_a_failed_turn_says_its_error_once() -> None:  # lesson 51
    timeline = Timeline()
    made = lines(timeline.receive(item(ended(is_error=True, error="Overloaded")), 60))
    assert made == ["", "✗ Overloaded", "─ 4.2 s · $0.0123"]
    assert timeline.failed == "Overloaded"


def test_what_was_said_waits_until_it_is_taken() -> None:
    timeline = Timeline()
    text = Said("y", "Go\non", 1, Person("ann"), "web")
    assert lines(timeline.receive(item(text), 60)) == ["", "› Go", "  on [1 image]"]
    assert timeline.waiting
    timeline.receive(item(SaidTaken("y")), 60)
    assert not timeline.waiting


def test_a_notice_and_an_end() -> None:
    timeline = Timeline()
    assert lines(timeline.receive(item(Notice("warning", "Slow")), 60)) == ["! Slow"]
    assert lines(timeline.receive(item(SessionEnded("lost", "It was killed", None)), 60)) == [
        "─ Claude exited: It was killed"
    ]


def test_what_sub_agents_write_is_below_the_title_of_their_action() -> None:
    timeline = Timeline()
    for action, title in (("a_1", "Look around"), ("a_2", "Count")):
        timeline.receive(item(ActionStarted(action, "tool", title, "Task", {})), 60)

    texts = [("One.", "a_1"), ("Two.", "a_1"), ("Three.", "a_2"), ("Four.", "a_1"), ("Five.", "gone")]
    made = [row for text, parent in texts for row in lines(timeline.receive(item(Text(text, "m", parent)), 60))]

    assert [row.removeprefix("  ┆ ") for row in made] == [
        "Look around", "One.", "Two.", "Count", "Three.", "Look around", "Four.", "Five."
    ]  # fmt: skip
    assert all(row.startswith("  ┆ ") for row in made)


@pytest.mark.parametrize("name", CORPUS)
def test_only_handraise_writes_into_the_first_column(name: str) -> None:
    text, timeline = CORPUS[name].replace("\ud83d", ""), Timeline()
    made = timeline.preview(partial(f"{text}\n\n{text}"), 60)
    made += timeline.tail(60)
    made += timeline.receive(item(Text(f"{text}\n\n{text}", "m")), 60)
    made += timeline.receive(item(Text(text, "other", "parent")), 60)
    for row in made:
        assert text_of(row).isprintable()
        assert text_of(row)[:2].strip() == ""


@pytest.mark.parametrize("name", CORPUS)
def test_hostile_titles_output_and_notices_do_no_harm(name: str) -> None:
    text, timeline = CORPUS[name].replace("\ud83d", ""), Timeline()
    made: list[Line] = []
    for content in (
        ActionStarted("t", "command", text, "Bash", {}),
        ActionEnded("t", "command", text, False, text),
        Notice("error", text),
        Said("y", text, 0, Person(text), text),
        ended(is_error=True, error=text),
        SessionEnded("failed", text, 1),
    ):
        made += timeline.receive(item(content), 60)
        made += timeline.under_way(NOON, 60)
    assert all(text_of(row).isprintable() for row in made)


def test_an_alarm_is_red_and_says_so() -> None:
    timeline = Timeline()
    notice = timeline.receive(item(Notice("alarm", "Something answered for us.")), 60)
    end = timeline.receive(item(SessionEnded("failed", "Something answered for us.", -9, alarm=True)), 60)

    assert lines(notice) == ["! ALARM: Something answered for us."]
    assert {style for row in (*notice, *end) for style, _ in row} == {"class:danger bold", "class:danger"}


def test_an_edited_action_shows_what_runs_and_who_edited_it() -> None:
    timeline = Timeline()
    timeline.receive(item(ActionStarted("t", "command", "rm -r /", "Bash", {})), 60)
    assert timeline.receive(item(ActionChanged("t", "ls", {"command": "ls"}, Person("ana\x1b[2J"))), 60) == []
    under_way = lines(timeline.under_way(NOON, 60))
    assert len(under_way) == 1
    assert under_way[0].startswith("◌ $ ls (edited by ana")
    assert "\x1b" not in under_way[0]
    done = lines(timeline.receive(item(ActionEnded("t", "command", "ls", True, "")), 60))
    assert done[0].startswith("✓ $ ls (edited by ana")


def test_a_denied_action_has_a_number_its_reason_and_how_to_allow_it() -> None:
    timeline = Timeline(directory="/work")
    until = NOON + timedelta(hours=1)
    command = {"command": f"up {'x' * 200} \u202e;rm", "description": "Tidy"}
    timeline.receive(item(ActionStarted("t", "command", "up", "Bash", command)), 90)
    timeline.receive(item(ActionChecked("t", True)), 90)
    assert lines(timeline.under_way(NOON, 90)) == ["◌ $ up · being checked"]

    denied = ActionDenied("t", "up", "Bash", "Auto mode's check denied this: \x1b[2Jno", "classifier", until)
    first, reason, *shown, hint = lines(timeline.receive(item(denied), 90))

    assert first == "✗ 1. $ up"
    assert "\x1b" not in reason
    # All of it: what is allowed is exactly this.
    assert "x" * 200 in "".join(row.strip(" │↪┊") for row in shown)
    assert any("⟨U+202E⟩;rm" in row for row in shown)
    assert any("Tidy" in row for row in shown)
    assert "type /allow 1" in hint
    assert timeline.under_way(NOON, 90) == []
    assert timeline.receive(item(ActionEnded("t", "command", "up", False, "much\ntext")), 90) == []
    assert (timeline.denied_number(1), timeline.denied_number(0), timeline.denied_number(2)) == ("t", None, None)


def test_a_denied_action_that_can_be_allowed_shows_its_dangers() -> None:
    timeline = Timeline()
    given = {"command": "git push -f"}
    timeline.receive(item(ActionStarted("t", "command", "git push -f", "Bash", given)), 90)
    danger = "Overwrites or deletes history on the remote: `git push -f`"
    denied = ActionDenied(
        "t", "git push -f", "Bash", "Denied.", "classifier", NOON + timedelta(hours=1), None, (danger,)
    )
    assert any("Overwrites or deletes history" in each for each in lines(timeline.receive(item(denied), 90)))


def test_a_denied_action_that_was_not_shown_whole_cannot_be_allowed_here() -> None:
    until = NOON + timedelta(hours=1)
    for started in (ActionStarted("t", "command", "up", "Bash", {"command": "x\n" * 99}), None):
        timeline = Timeline()
        if started is not None:
            timeline.receive(item(started), 90)
        *_, hint = lines(timeline.receive(item(ActionDenied("t", "up", "Bash", "No.", "classifier", until)), 90))
        assert "Use the page" in hint
        assert timeline.denied_number(1) is None


def test_what_became_of_a_denied_action_is_one_line() -> None:
    timeline = Timeline()
    timeline.receive(item(ActionDenied("t", "up", "Bash", "No.", "mode")), 90)

    allowed = timeline.receive(item(DenialChanged("t", "allowed", Person("ana"))), 90)
    over = timeline.receive(item(DenialChanged("t", "over", note="Claude has exited since then.")), 90)

    assert lines(allowed) == ["· Denied call 1: ana allowed one retry. Waiting for Claude to try again."]
    assert lines(over) == ["· Denied call 1: Claude has exited since then."]
    assert timeline.receive(item(DenialChanged("unknown", "over")), 90) == []


WRITE = {"file_path": "/work/service.py", "content": "one\ntwo\n"}
SETTLED: list[Line] = [(("class:accent", "✓ "), ("", "You allowed Write `service.py` · terminal"))]


def writing() -> Timeline:
    timeline = Timeline(directory="/work")
    timeline.receive(item(ActionStarted("t", "file_change", "/work/service.py", "Write", WRITE)), 60)
    return timeline


def test_an_action_and_its_outcome_are_one_line() -> None:
    timeline = writing()
    assert timeline.allow("t", "you allowed", SETTLED)
    assert lines(timeline.under_way(NOON + timedelta(seconds=2), 60)) == ["◌ Write service.py · 2 s · you allowed"]
    done = ActionEnded("t", "file_change", "/work/service.py", True, "")
    assert lines(timeline.receive(item(done), 60)) == ["✓ Wrote service.py · 2 lines · you allowed"]
    assert timeline.unfinished() == []
    timeline = writing()
    timeline.allow("t", "ana allowed", SETTLED, "+5 −1")
    assert lines(timeline.receive(item(done), 60)) == ["✓ Wrote service.py · +5 −1 · ana allowed"]


def test_a_long_title_is_cut_and_its_outcome_is_not() -> None:
    timeline = Timeline()
    timeline.receive(item(ActionStarted("t", "command", "x" * 300, "Bash", {})), 60)
    timeline.allow("t", "you allowed", SETTLED)
    (row,) = lines(timeline.receive(item(ActionEnded("t", "command", "x" * 300, True, ""), 3), 60))
    assert row.endswith("x… · 3 s · you allowed")
    assert len(row) == 60


def test_an_outcome_without_its_action_has_a_line_of_its_own() -> None:
    timeline = writing()
    assert not timeline.allow("other", "you allowed", SETTLED)
    assert not timeline.allow(None, "you allowed", SETTLED)
    assert not timeline.allow("t", "", SETTLED)


def test_what_was_allowed_and_never_ended_is_said_once() -> None:
    timeline = writing()
    timeline.allow("t", "you allowed", SETTLED)
    assert timeline.unfinished() == SETTLED
    assert timeline.unfinished() == []
    timeline = writing()
    timeline.allow("t", "you allowed", SETTLED)
    assert lines(timeline.receive(item(ended(interrupted=True)), 60))[0] == lines(SETTLED)[0]
    timeline = writing()
    timeline.allow("t", "you allowed", SETTLED)
    assert lines(timeline.receive(item(SessionEnded("stopped", "", None)), 60))[0] == lines(SETTLED)[0]


def test_a_denied_action_has_no_second_line() -> None:
    timeline = writing()
    timeline.refuse("t")
    assert timeline.under_way(NOON, 60) == []
    assert timeline.receive(item(ActionEnded("t", "file_change", "/work/service.py", False, "No.")), 60) == []
