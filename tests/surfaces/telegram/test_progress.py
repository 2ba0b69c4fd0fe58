"""The progress of a session as one message, and when it is worth changing."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from handraise.model.actors import Person
from handraise.model.items import (
    ActionChanged,
    ActionDenied,
    ActionEnded,
    ActionStarted,
    AskOpened,
    AskSettled,
    Content,
    Item,
    Notice,
    Preview,
    Said,
    SaidTaken,
    SessionChanged,
    SessionEnded,
    SessionStarted,
    Text,
    Thinking,
    TurnEnded,
    TurnStarted,
)
from handraise.surfaces.telegram.formatted import Entity
from handraise.surfaces.telegram.progress import (
    DRAFT,
    GROUP,
    PRIVATE,
    Alert,
    EditPace,
    Progress,
    SessionOver,
    ShownProgress,
    TurnOver,
    is_due,
    is_worth_starting,
)
from surfaces.terminal.asked import NOON

ANA = Person("ana")


def item(content: Content, after: float = 0, cursor: int = 1) -> Item:
    return Item(cursor, "s_1", NOON + timedelta(seconds=after), msgspec.json.encode(content))


def changed(phase: str, **fields: Any) -> SessionChanged:
    return SessionChanged(phase, "default", None, fields.pop("title", "Fix it"), 0.0, **fields)


def ended(**fields: Any) -> TurnEnded:
    values: dict[str, Any] = {"is_error": False, "error": None, "result": "", **fields}
    return TurnEnded(1, 0.0123, 4200, {}, **values)


def started(action: str, title: str, tool: str = "Bash", parent: str | None = None) -> ActionStarted:
    return ActionStarted(action, "command", title, tool, {}, parent)


def done(action: str, title: str = "", *, ok: bool = True) -> ActionEnded:
    return ActionEnded(action, "command", title, ok, "output")


def working(*contents: Content) -> Progress:
    progress = Progress()
    progress.receive(item(SessionStarted("Fix it", None, "/work/app", "default", None, 1)))
    progress.receive(item(TurnStarted(1)))
    for content in contents:
        progress.receive(item(content))
    return progress


def shown(progress: Progress, after: float = 0) -> str:
    return progress.show(NOON + timedelta(seconds=after)).content.text


def test_a_session_that_has_just_started_is_shown_by_its_title_and_state() -> None:
    progress = Progress()
    progress.receive(item(changed("queued", note="Queued behind 1 session: “A” (s_2, working).")))
    assert shown(progress, 5) == "Fix it\nqueued · 5 s\n\nQueued behind 1 session: “A” (s_2, working)."
    progress.receive(item(changed("starting")))
    assert shown(progress, 6) == "Fix it\nstarting · 6 s"


def test_what_claude_does_and_has_done_stands_above_its_last_lines() -> None:
    progress = working(
        started("t1", "npm test"),
        done("t1"),
        started("t2", "/work/app/src/a.py", "Edit"),
        done("t2", ok=False),
        started("t3", "npm run build"),
        Text("I'll build it now.", "m1"),
    )
    assert shown(progress, 75) == (
        "Fix it\nworking · 1 min\n\n✓ $ npm test\n✗ Edit src/a.py\n◌ $ npm run build\n\nI'll build it now."
    )


def test_only_the_last_steps_and_lines_are_shown() -> None:
    finished = [content for at in range(9) for content in (started(f"t{at}", f"step {at}"), done(f"t{at}"))]
    lines = Text("\n".join(f"line {at}" for at in range(20)), "m1")
    text = shown(working(*finished, lines))
    assert "step 3" not in text
    assert "step 4" in text
    assert "…\nline 12\n" in text
    assert "line 11" not in text


def test_a_very_long_line_is_cut_at_its_beginning_and_a_title_at_its_end() -> None:
    text = shown(working(changed("working", title="T" * 300), Text("a" * 5000, "m"), started("t", "b" * 500)))
    assert len(text) < 1200
    assert f"{'T' * 79}…" in text


def test_many_running_actions_are_counted() -> None:
    text = shown(working(*(started(f"t{at}", f"step {at}") for at in range(7))))
    assert "◌ 2 more running" in text
    assert text.count("◌ $ step") == 5


def test_partial_text_is_shown_but_no_thinking_and_no_sub_agent() -> None:
    progress = working()
    progress.preview(Preview("s_1", "m", 0, "text", "I am wri"))
    progress.preview(Preview("s_1", "m", 1, "thinking", "Hm."))
    progress.preview(Preview("s_1", "m", 0, "text", "nested", parent="t1"))
    progress.receive(item(Thinking("Hm.", "m")))
    progress.receive(item(Text("nested", "m", "t1")))
    assert shown(progress) == "Fix it\nworking · 0 s\n\nI am wri"


def test_an_open_request_is_the_state_until_it_is_settled() -> None:
    progress = working(AskOpened({"id": "a_1", "settlement": None}), AskOpened({"id": "a_2", "settlement": {}}))
    assert "needs you · 0 s" in shown(progress)
    progress.receive(item(AskSettled("a_1", {})))
    assert "working · 0 s" in shown(progress)


def test_a_question_is_no_step_because_its_card_shows_it() -> None:
    progress = working(started("t1", "Which?", "AskUserQuestion"))
    assert "◌" not in shown(progress)
    progress.receive(item(done("t1")))
    assert "✓" not in shown(progress)


def test_a_message_is_counted_until_claude_has_received_it() -> None:
    progress = working(Said("y1", "faster", 0, ANA, "telegram"))
    assert shown(progress).endswith("1 message queued")
    progress.receive(item(SaidTaken("y1")))
    assert "queued" not in shown(progress)


def test_a_message_from_elsewhere_is_shown_with_its_sender() -> None:
    assert "› ana (web): faster" in shown(working(Said("y1", "faster", 0, ANA, "web"), SaidTaken("y1")))
    assert "faster" not in shown(working(Said("y1", "faster", 0, ANA, "telegram"), SaidTaken("y1")))


def test_an_edited_or_denied_action_says_so() -> None:
    progress = working(started("t1", "npm test"), ActionChanged("t1", "npm run t", {}, ANA))
    assert "ana" in shown(progress)
    progress.receive(item(ActionDenied("t1", "npm run t", "Bash", "No rule allows it.", "mode")))
    assert shown(progress).endswith("✗ $ npm run t: No rule allows it.")


def test_hidden_characters_are_visible_everywhere() -> None:
    progress = working(
        changed("working", title="T\u202et"),
        started("t1", "rm \u200bx"),
        Text("a\u2066b", "m"),
        Notice("warning", "c\u200bd"),
    )
    text = shown(progress)
    for mark in ("T⟨U+202E⟩t", "rm ⟨U+200B⟩x", "a⟨U+2066⟩b", "c⟨U+200B⟩d"):
        assert mark in text


def test_the_title_is_bold_by_utf16_units() -> None:
    content = working(changed("working", title="Fix 🚀")).show(NOON).content
    assert content.entities[0] == Entity("bold", 0, 6)


def test_a_turn_ends_with_its_answer() -> None:
    progress = working(Text("Let me see.", "m1"))
    over = progress.receive(item(ended(result="Done."), 4, 17))
    assert over == TurnOver(17, ended(result="Done."), "Done.")
    assert not progress.is_open


def test_a_turn_without_a_result_ends_with_the_last_text() -> None:
    over = working(Text("Let me see.", "m1")).receive(item(ended(result=" "), cursor=3))
    assert isinstance(over, TurnOver)
    assert over.text == "Let me see."


def test_the_next_turn_starts_empty() -> None:
    progress = working(started("t1", "npm test"), Text("Let me see.", "m1"), ended(result="Done."))
    progress.receive(item(TurnStarted(2), 60))
    assert shown(progress, 62) == "Fix it\nworking · 2 s"


def test_a_session_that_ends_in_the_middle_says_that_it_was_cut_off() -> None:
    ending = SessionEnded("stopped", "ana stopped it", 0, "ana")
    assert working().receive(item(ending, cursor=5)) == SessionOver(5, ending, cut_off=True)
    assert working(ended()).receive(item(ending, cursor=6)) == SessionOver(6, ending, cut_off=False)


@pytest.mark.parametrize(("level", "alerts"), [("info", False), ("warning", False), ("error", True), ("alarm", True)])
def test_only_serious_notices_are_reported_at_once(level: Any, alerts: bool) -> None:
    progress = working()
    notice = Notice(level, "The model is overloaded.")
    outcome = progress.receive(item(notice, cursor=8))
    assert outcome == (Alert(8, notice) if alerts else None)
    assert "The model is overloaded." in shown(progress)


@pytest.mark.parametrize(
    ("pace", "after", "due"),
    [
        (PRIVATE, 2.9, False),
        (PRIVATE, 3, True),
        (GROUP, 5.9, False),
        (GROUP, 6, True),
        (DRAFT, 0.9, False),
        (DRAFT, 1, True),
    ],
)
def test_news_is_shown_at_the_pace_of_the_chat(pace: EditPace, after: float, due: bool) -> None:
    progress = working()
    before = ShownProgress(progress.show(NOON), NOON)
    progress.receive(item(started("t1", "npm test")))
    now = NOON + timedelta(seconds=after)
    assert is_due(pace, before, progress.show(now), now) is due


@pytest.mark.parametrize(
    ("pace", "after", "due"), [(PRIVATE, 14, False), (PRIVATE, 15, True), (GROUP, 29, False), (GROUP, 30, True)]
)
def test_time_alone_is_shown_less_often(pace: EditPace, after: float, due: bool) -> None:
    progress = working()
    now = NOON + timedelta(seconds=after)
    assert is_due(pace, ShownProgress(progress.show(NOON), NOON), progress.show(now), now) is due


def test_what_has_not_changed_is_not_sent_but_a_draft_is_before_it_disappears() -> None:
    progress = working()
    at = NOON + timedelta(minutes=5)
    before = ShownProgress(progress.show(at), at)
    for pace, due in ((PRIVATE, False), (GROUP, False), (DRAFT, True)):
        now = at + timedelta(seconds=20)
        assert is_due(pace, before, progress.show(now), now) is due


def test_the_first_message_is_due_but_not_for_a_very_short_turn() -> None:
    progress = working()
    assert is_due(GROUP, None, progress.show(NOON), NOON)
    assert not is_worth_starting(progress.since, NOON + timedelta(seconds=1))
    assert is_worth_starting(progress.since, NOON + timedelta(seconds=1.5))
