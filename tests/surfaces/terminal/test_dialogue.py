"""What each key does, without a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from handraise.model import fit
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny, Filled, Outline, Revise
from handraise.model.asks import Body, Form, Permission, Plan, Question, Terms
from handraise.surfaces.terminal.dialogue import Dialogue, Edit, PutAside, Send, edited, not_sent, press
from surfaces.terminal.asked import ADDRESS, DATABASE, NAME, NPM, PLAN, TWO_QUESTIONS, dialogue, play

ONE = Question((DATABASE,))


def test_a_number_answers_a_single_question() -> None:
    _, effect = play(dialogue(ONE), "2")
    assert effect == Send(Choices((Choice(("Postgres",)),)))


def test_arrows_and_enter_answer_too() -> None:
    assert play(dialogue(ONE), "down", "down", "enter")[1] == Send(Choices((Choice(("Postgres",)),)))
    assert play(dialogue(ONE), "up", "up", "enter")[1] == Send(Choices((Choice(("Postgres",)),)))


def test_a_stray_enter_answers_nothing() -> None:
    for body in (ONE, NPM, PLAN, ADDRESS):
        moved, effect = play(dialogue(body), "enter")
        assert effect is None
        assert moved.note


def test_free_text_asks_for_the_text() -> None:
    for key in ("0", "o"):
        writing, effect = play(dialogue(ONE), key)
        assert (writing.writing, effect) == ("free text", None)
        assert play(writing, "' DuckDB ", "enter")[1] == Send(Choices((Choice(text="DuckDB"),)))


def test_an_empty_text_is_no_answer() -> None:  # lesson 36
    moved, effect = play(dialogue(ONE), "0", "' ", "enter")
    assert effect is None
    assert "Type something" in moved.note


def test_free_text_can_be_left_and_what_was_written_stays() -> None:  # lesson 35
    moved, _ = play(dialogue(ONE), "0", "'half", "escape")
    assert moved.writing is None
    assert moved.unsent == "half"
    assert play(moved, "0")[0].draft == "half"


def test_a_question_without_options_takes_text_only() -> None:
    assert play(dialogue(Question((NAME,))), "'handraise", "enter")[1] == Send(Choices((Choice(text="handraise"),)))


def test_several_are_marked_and_sent_together_after_a_look() -> None:
    moved, effect = play(dialogue(TWO_QUESTIONS), "1", "1", "3", "enter")
    assert effect is None
    assert "Store: SQLite" in moved.step.sentence
    assert "Checks: Uptime, Memory" in moved.step.sentence
    assert play(moved, "enter")[1] == Send(Choices((Choice(("SQLite",)), Choice(("Uptime", "Memory")))))


def test_several_with_free_text() -> None:
    moved, _ = play(dialogue(TWO_QUESTIONS), "1", "2", "0", "'and load", "enter")
    assert moved.marked == {"1", "free text"}
    assert play(moved, "enter", "1")[1] == Send(Choices((Choice(("SQLite",)), Choice(("Disk",), "and load"))))


def test_a_mark_can_be_taken_back() -> None:
    moved, effect = play(dialogue(TWO_QUESTIONS), "1", "2", "2", "enter")
    assert effect is None
    assert "Select one or more" in moved.note


def test_the_way_back_keeps_what_was_chosen() -> None:
    moved, _ = play(dialogue(TWO_QUESTIONS), "2", "1", "enter", "back", "back")
    assert (moved.at, moved.pointer) == (0, 1)
    again, _ = play(moved, "1")
    assert again.marked == {"0"}
    assert play(again, "enter", "enter")[1] == Send(Choices((Choice(("SQLite",)), Choice(("Uptime",)))))


def test_allowing_once_for_the_session_and_for_the_project() -> None:
    for key, answer in (("a", Allow()), ("s", Allow("session")), ("w", Allow("always"))):
        assert play(dialogue(NPM), key, "enter")[1] == Send(answer)


def test_what_grants_is_only_pointed_at_by_its_key_and_takes_enter() -> None:
    for body, keys in ((NPM, "asw1237"), (PLAN, "ay12")):
        for key in keys:
            pointed, effect = play(dialogue(body), key, key)
            assert effect is None
            assert pointed.pointer is not None
            assert isinstance(play(pointed, "enter")[1], Send)


def test_a_place_that_is_not_offered_stays_empty() -> None:
    bare = dialogue(Permission("Bash", {"command": "sudo x"}))
    assert [row.digit for row in bare.step.rows] == [1, 4, 5, 6]
    assert [row.digit for row in dialogue(NPM).step.rows] == [1, 2, 3, 4, 5, 6, 7]
    assert [row.digit for row in dialogue(PLAN).step.rows] == [1, 2, 4, 5, 6]
    assert [row.digit for row in dialogue(ADDRESS).step.rows] == [4, 5, 6]
    for key in "2379":
        assert play(bare, key) == (bare, None)


def test_where_denying_comes_first_enter_denies_and_no_key_allows() -> None:
    strict = Terms(deny_first=True)
    for body, refusal in (
        (Permission("Bash", {"command": "ls"}, terms=strict), "deny"),
        (Plan("# A", strict), "revise"),
    ):
        asked = dialogue(body)
        assert asked.pointer is not None
        assert asked.step.rows[asked.pointer].name == refusal
        for key in "asweyp12347":
            moved, effect = play(asked, key, key)
            assert effect is None
            assert moved.pointer is None or moved.step.rows[moved.pointer].weight == "refuse"
    changed = edited(
        play(dialogue(Permission("Bash", {"command": "ls"}, terms=strict)), "down", "down", "down", "enter")[0], "id"
    )
    assert changed.step.name == "edited"
    assert play(changed, "a", "1")[1] is None
    assert isinstance(play(changed, "enter")[1], Edit)


def test_the_scope_is_spelled_out() -> None:
    labels = [row.label for row in dialogue(NPM).step.rows]
    assert "Always allow any `npm test …` in this project" in labels


def test_claudes_own_suggestion() -> None:
    assert play(dialogue(NPM), "7", "enter")[1] == Send(Allow(suggestions=(0,)))


def test_what_cannot_be_offered_cannot_be_chosen() -> None:
    bare = dialogue(Permission("Bash", {"command": "sudo x"}))
    assert play(bare, "s") == (bare, None)


def test_denying_asks_for_the_reason() -> None:  # lesson 42
    assert play(dialogue(NPM), "d", "'Not now", "enter")[1] == Send(Deny("Not now"))
    assert play(dialogue(NPM), "d", "enter")[1] == Send(Deny(""))
    assert play(dialogue(NPM), "x", "'Stop", "enter")[1] == Send(Deny("Stop", interrupt=True))


def test_an_edited_command_is_looked_at_before_it_is_sent() -> None:
    moved, effect = play(dialogue(NPM), "e")
    assert effect == Edit("npm test", ".sh")
    moved = edited(moved, "npm test -- --ci\n")
    assert moved.step.sentence == "Allow it with your changes?"
    assert play(moved, "a", "enter")[1] == Send(
        Allow(input={"command": "npm test -- --ci", "description": "Run the tests"})
    )


def test_an_edited_input_that_is_no_json_is_not_sent() -> None:
    asked = dialogue(Permission("Tool", {"file_path": "/x", "content": "y"}))
    _, effect = play(asked, "e")
    assert isinstance(effect, Edit)
    assert effect.suffix == ".json"
    assert "valid JSON" in edited(asked, "{").note
    assert "JSON object" in edited(asked, "[1]").note
    assert play(edited(asked, '{"file_path": "/z"}'), "a", "enter")[1] == Send(Allow(input={"file_path": "/z"}))


def test_what_is_written_to_a_file_is_edited_as_it_is() -> None:
    asked = dialogue(Permission("Write", {"file_path": "/x.py", "content": "a\nb"}))
    assert play(asked, "e")[1] == Edit("a\nb", ".py")
    # An editor ends every file with a line feed.
    assert play(edited(asked, "a\nc\n"), "a", "enter")[1] == Send(
        Allow(input={"file_path": "/x.py", "content": "a\nc"})
    )
    change = {"file_path": "/x/\x1b[2J", "old_string": "a", "new_string": "b\n", "replace_all": True}
    asked = dialogue(Permission("Edit", change))
    assert play(asked, "e")[1] == Edit("b\n", ".txt")
    assert play(edited(asked, "c\n"), "a", "enter")[1] == Send(Allow(input={**change, "new_string": "c\n"}))


def test_an_editor_that_changed_nothing_allows_nothing() -> None:
    moved = edited(dialogue(NPM), "npm test")
    assert moved.at == 0
    assert "You changed nothing" in moved.note


def test_what_was_edited_and_could_not_be_taken_is_edited_again_from_there() -> None:
    moved = edited(dialogue(Permission("Tool", {"file_path": "/x"})), '{"file_path": "/y"')
    assert play(moved, "e")[1] == Edit('{"file_path": "/y"', ".json")
    assert moved.unsent == '{"file_path": "/y"'


def test_an_edited_command_that_was_not_sent_is_not_lost() -> None:
    assert edited(dialogue(NPM), "npm run lint").unsent == "npm run lint"


def test_after_an_edit_one_can_go_back_and_allow_the_original() -> None:
    assert play(edited(dialogue(NPM), "rm x"), "back", "a", "enter")[1] == Send(Allow())


def test_a_plan_is_approved_sent_back_or_outlined() -> None:
    assert play(dialogue(PLAN), "a", "enter")[1] == Send(Approve())
    assert play(dialogue(PLAN), "y", "enter")[1] == Send(Approve("acceptEdits"))
    assert play(dialogue(PLAN), "p")[1] == Send(Outline())
    assert play(dialogue(PLAN), "d", "'Tests first", "enter")[1] == Send(Revise("Tests first"))
    assert play(dialogue(PLAN), "d", "enter")[1] is None


def test_an_edited_plan_is_approved_as_it_was_edited() -> None:
    moved, effect = play(dialogue(PLAN), "e")
    assert isinstance(effect, Edit)
    assert effect.suffix == ".md"
    assert play(edited(moved, "# Less"), "y", "enter")[1] == Send(Approve("acceptEdits", "# Less"))
    assert "empty" in edited(moved, " \n").note


def test_a_form_is_filled_field_by_field_and_checked_at_each() -> None:
    moved, _ = play(dialogue(ADDRESS), "e", "enter")
    assert moved.note == "Street is required."
    moved, _ = play(moved, "'Odeon 4", "enter")
    assert moved.draft == "2"
    moved, _ = play(moved, "'12", "enter")
    assert moved.note == "floor must be at most 9."
    moved, _ = play(moved, "'many", "enter")
    assert moved.note == "floor must be a whole number."
    moved, _ = play(moved, "'3", "enter", "1", "2", "1", "3", "enter")
    assert "Street: Odeon 4" in moved.step.sentence
    filled = {"street": "Odeon 4", "floor": 3, "lift": True, "door": "right", "days": ["Mo", "We"]}
    assert play(moved, "enter")[1] == Send(Filled("accept", filled))


def field(**schema: object) -> Dialogue:
    return play(dialogue(Form("?", "s", {"properties": {"x": schema}, "required": ["x"]})), "e")[0]


def test_a_form_says_which_field_of_how_many_and_which_of_them_are_optional() -> None:
    moved, _ = play(dialogue(ADDRESS), "e")
    assert (moved.step.place, moved.step.sentence) == ("1 of 5", "Street: and number")
    moved, _ = play(moved, "'x", "enter")
    assert (moved.step.place, moved.step.sentence) == ("2 of 5", "floor (optional)")
    assert moved.step.wants == "A whole number from 0 to 9, or nothing."


def test_each_kind_of_field_says_what_it_wants() -> None:
    assert field(type="string", format="date").step.wants == "A date, for example 2026-03-01."
    assert field(type="string", format="\x1b[2J").step.wants == "Text (⟨U+001B⟩[2J)."
    assert field(type="number", minimum=0.5).step.wants == "A number, 0.5 or more."
    assert field(type="array").step.wants == "Values separated by commas."


def test_the_default_of_a_field_is_pointed_at_marked_or_written() -> None:
    assert field(type="boolean", default=False).pointer == 1
    assert field(type="string", enum=["a", "b"], default="b").pointer == 1
    assert field(type="string", enum=["a", "b"], default="c").pointer is None
    assert field(type="array", items={"enum": ["a", "b"]}, default=["b"]).marked == {"=1"}
    assert field(type="number", default=0.5).draft == "0.5"


def test_what_json_has_no_word_for_is_no_number() -> None:
    for text in ("'nan", "'inf", "'1e999"):
        moved, effect = play(field(type="number"), text, "enter")
        assert (moved.note, effect) == ("x must be a number.", None)


def test_what_is_optional_can_be_left_out() -> None:
    moved, _ = play(dialogue(ADDRESS), "e", "'x", "enter", "'", "enter", "2", "3", "enter")
    assert play(moved, "enter")[1] == Send(Filled("accept", {"street": "x", "lift": False, "days": []}))


def test_a_form_has_a_way_back() -> None:
    moved, _ = play(dialogue(ADDRESS), "e", "'x", "enter", "back")
    assert (moved.step.name, moved.draft) == ("field street", "x")


def test_a_form_is_declined_or_cancelled() -> None:
    assert play(dialogue(ADDRESS), "d")[1] == Send(Filled("decline"))
    assert play(dialogue(ADDRESS), "6")[1] == Send(Filled("cancel"))


def test_escape_puts_the_card_aside_and_settles_nothing() -> None:
    for body in (ONE, NPM, PLAN, ADDRESS):
        assert play(dialogue(body), "escape")[1] == PutAside()


def test_a_second_enter_sends_nothing_twice() -> None:  # lesson 29
    sending, _ = play(dialogue(ONE), "1")
    assert press(sending, "enter") == (sending, None)
    again = not_sent(sending, "The hub did not respond")
    assert play(again, "enter")[1] == Send(Choices((Choice(("SQLite",)),)))


KEYS = st.lists(
    st.sampled_from(["up", "down", "enter", "space", "back", "escape", "'", "'3", "'text", *"0123456789asewpdxyo"]),
    max_size=25,
)


@given(st.sampled_from([ONE, TWO_QUESTIONS, Question((NAME,)), NPM, PLAN, Plan(""), ADDRESS]), KEYS)
def test_whatever_is_pressed_only_answers_that_fit_are_sent(body: Body, keys: list[str]) -> None:
    moved = dialogue(body)
    for key in keys:
        moved, effect = play(moved, key)
        match effect:
            case Send(answer=answer):
                fit.check(body, answer)
                return
            case Edit(text=text):
                moved = edited(moved, f"{text} ")
            case _:
                pass
