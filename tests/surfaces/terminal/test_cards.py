"""Cards, as lines."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.model.asks import Body, Option, Permission, Plan, Prompt, Question
from handraise.present.flows import flow_of
from handraise.surfaces.terminal.cards import CardFrame, card, read
from handraise.surfaces.terminal.dialogue import begin, edited
from handraise.surfaces.terminal.lines import text_of, width_of
from surfaces.terminal.asked import ADDRESS, DATABASE, NOON, NPM, PLAN, TWO_QUESTIONS, ask, dialogue, play
from surfaces.terminal.hostile import CORPUS

FRAME = CardFrame(60, 40, NOON + timedelta(seconds=90), "Fix it")


def shown(body: Body, *keys: str, frame: CardFrame = FRAME) -> list[str]:
    return [text_of(row).rstrip() for row in card(play(dialogue(body), *keys)[0], frame)]


def test_a_question() -> None:
    assert shown(Question((DATABASE,)), "down") == [
        "▌ ✋ Store                            Fix it · waiting 1 min",
        "▌ Which database?",
        "▌",
        "▌ ❯ 1 SQLite – one file",
        "▌   2 Postgres – a server",
        "▌   0 Other (o)",
        "▌",
        "▌ ↑↓ and Enter, or a number · Esc to postpone",
    ]


def test_who_asks_and_how_long_it_waits_are_told_on_a_narrow_terminal_too() -> None:
    rows = shown(TWO_QUESTIONS, frame=replace(FRAME, width=40, place="request 1 of 3"))
    assert rows[:3] == [
        "▌ ✋ Store 1 of 2          waiting 1 min",
        "▌ Fix it · request 1 of 3",
        "▌ Which database?",
    ]


def test_keys_are_never_cut() -> None:
    assert shown(TWO_QUESTIONS, "1", frame=replace(FRAME, width=40))[-2:] == [
        "▌ Enter to continue · ← to go back",
        "▌ Esc to postpone",
    ]


def test_a_row_that_no_key_can_name_has_no_number_unless_lines_are_typed() -> None:
    many = Question((Prompt("Which?", "", tuple(Option(f"option {number}") for number in range(1, 12))),))
    assert "▌   9 option 9" in shown(many)
    assert "▌     option 10" in shown(many)
    assert "▌   10 option 10" in shown(many, frame=replace(FRAME, keys=False))


def test_checkboxes_with_what_is_marked_and_the_way_back() -> None:
    rows = shown(TWO_QUESTIONS, "1", "2")
    assert rows[0].startswith("▌ ✋ Checks 2 of 2")
    assert "▌ ❯ 2 [x] Disk" in rows
    assert "▌   3 [ ] Memory" in rows
    assert "← to go back" in rows[-1]


def test_a_command_is_shown_whole_with_why_one_is_asked() -> None:
    asked = Permission("Bash", {"command": "echo " + "x" * 200}, description="Say x")
    wanted = ask(asked, why="No rule allows it.")
    rows = [text_of(row) for row in card(begin(wanted, flow_of(wanted, None)), FRAME)]
    assert "▌ Run this command?" in rows
    assert "".join(row for row in rows if row.startswith(("▌ │", "▌ ↪"))).count("x") == 200  # lesson 38
    assert "▌ No rule allows it." in rows


def test_a_hidden_character_in_a_command_is_seen() -> None:  # lesson 39
    assert "▌ │ ls ⟨U+202E⟩⟨U+001B⟩[2K" in shown(Permission("Bash", {"command": "ls \u202e\x1b[2K"}))


def test_a_diff_is_coloured_and_reads_without_colours() -> None:
    asked = dialogue(Permission("Edit", {"file_path": "/a"}, diff="@@ -1 +1 @@\n-old\n+new\n same\n"))
    spans = {text: style for row in card(asked, FRAME) for style, text in row}
    assert (spans["-old"], spans["+new"], spans["@@ -1 +1 @@"]) == ("class:removed", "class:added", "class:hunk")


def test_the_rest_of_a_long_row_cannot_pass_for_a_row_of_its_own() -> None:
    forged = "+" + "x" * 55 + "-removed something else"
    rows = shown(Permission("Edit", {"file_path": "/a"}, diff=f"@@ -1 +1 @@\n{forged}\n"))
    assert not any(row.startswith("▌ │ -removed") for row in rows)
    assert "▌ ↪ -removed something else" in rows


def test_nothing_that_claude_wrote_can_pass_for_our_own_words() -> None:
    forged = "ls\n\nWhy you are asked: You said so.\n\n❯ 1 Allow once (a)"
    for body in (Permission("Bash", {"command": forged}, description="Look\naround"), Plan(f"```\n{forged}\n```")):
        rows = [row.removeprefix("▌ ") for row in shown(body)]
        ours = [row for row in rows if not row.startswith(("│", "↪"))]
        assert not any("You said so" in row or row.startswith("❯ 1") for row in ours)


def test_long_evidence_folds_and_says_how_much_more_there_is() -> None:
    asked = Permission("Write", {"file_path": "/a"}, diff="".join(f"+{number}\n" for number in range(200)))
    rows = shown(asked, frame=replace(FRAME, height=24))
    assert len(rows) <= 24
    assert any("lines not shown: v to read" in row for row in rows)


def test_long_evidence_is_read_whole_and_scrolled() -> None:
    asked = dialogue(Permission("Write", {"file_path": "/a"}, diff="".join(f"+{number}\n" for number in range(200))))
    reading = read(asked, "open", 60, 24)
    assert "▌ │ +0" in [text_of(row) for row in card(reading, replace(FRAME, height=24))]
    for _ in range(30):
        reading = read(reading, "pagedown", 60, 24)
    rows = [text_of(row) for row in card(reading, replace(FRAME, height=24))]
    assert "▌ │ +199" in rows
    assert len(rows) <= 24
    assert read(reading, "v", 60, 24).reading is None


def test_an_edited_command_is_what_is_shown() -> None:
    rows = [text_of(row) for row in card(edited(dialogue(NPM), "npm run lint"), FRAME)]
    assert "▌ │ npm run lint" in rows
    assert "▌ │ npm test" not in rows


def test_what_one_changed_in_what_is_written_is_shown_as_a_diff() -> None:
    asked = edited(
        dialogue(Permission("Write", {"file_path": "/a.py", "content": "one\ntwo\n"}, diff="+one\n+two\n")), "one\n2\n"
    )
    rows = [text_of(row) for row in card(asked, FRAME)]
    assert "▌ │ -two" in rows
    assert "▌ │ +2" in rows
    assert "▌ │ +one" not in rows


def test_a_plan_is_rendered() -> None:
    rows = shown(PLAN)
    assert "▌ │ The plan" in rows
    assert "▌ │  1 Read" in rows


def test_what_was_written_for_a_row_stays_beside_it() -> None:
    assert any("Deny (d): not now" in row for row in shown(NPM, "d", "'not now", "escape"))


def test_the_preview_of_the_option_that_is_pointed_at() -> None:
    options = (replace_option("A", "a preview\nof two lines"), replace_option("B", None))
    asked = Question((type(DATABASE)("Which?", "Look", options),))
    assert "▌ │ of two lines" in shown(asked, "down")
    assert "▌ │ of two lines" not in shown(asked, "down", "down")


def replace_option(label: str, preview: str | None):  # type: ignore[no-untyped-def]
    return type(DATABASE.options[0])(label, "", preview)


def test_on_a_low_terminal_the_choices_around_the_pointer_are_seen() -> None:
    rows = shown(NPM, "up", frame=replace(FRAME, height=10))
    assert len(rows) <= 13
    assert any("❯" in row for row in rows)


@pytest.mark.parametrize("name", CORPUS)
def test_a_hostile_text_anywhere_in_an_ask_does_no_harm(name: str) -> None:
    text = CORPUS[name]
    option = type(DATABASE.options[0])(text, text, text)
    bodies: list[Body] = [
        Question((type(DATABASE)(text, text, (option, option)),)),
        Permission(text, {"command": text, text: text}, text, text, text, ({},), (text,), text, text),
        Permission("Bash", {"command": text}),
        Plan(text),
        type(ADDRESS)(text, text, {"properties": {text: {"type": "string", "title": text, "description": text}}}),
    ]
    for body in bodies:
        for keys in ([], ["down"], ["1"]):
            for row in card(play(dialogue(body), *keys)[0], FRAME):
                assert text_of(row).isprintable()
                assert text_of(row).startswith("▌ ")


@given(
    st.sampled_from([Question((DATABASE,)), TWO_QUESTIONS, NPM, PLAN, ADDRESS]),
    st.integers(40, 200),
    st.integers(8, 60),
)
def test_no_line_is_wider_than_the_terminal(body: Body, width: int, height: int) -> None:
    for row in card(dialogue(body), replace(FRAME, width=width, height=height)):
        assert width_of(row) <= width
