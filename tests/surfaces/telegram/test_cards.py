"""An ask as messages with buttons: what stands where, what becomes a file, and what remains when it is settled."""

from datetime import timedelta

import pytest

from handraise import texts
from handraise.model.actors import ByRule, Person
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Answered, Body, Expired, Form, Option, Permission, Plan, Prompt, Question, Withdrawn
from handraise.model.trust import Brought, Trust
from handraise.present.steps import FREE_TEXT
from handraise.surfaces.telegram.cards import can_be_opened, closed, render, render_shortened
from handraise.surfaces.telegram.conversation import CardState, SendAnswer, Toast, press, reply
from handraise.surfaces.telegram.formatted import Formatted
from handraise.texts import t
from present.asked import BODIES, HERE, LINK, NOON, NPM, TRUST, WHICH, WRITE, ask_of, bash, english_in
from surfaces.telegram.pressing import PAGE, CardReader
from surfaces.terminal.asked import ADDRESS, PLAN, TWO_QUESTIONS
from surfaces.terminal.hostile import CORPUS


def styled(content: Formatted, kind: str) -> list[str]:
    """The stretches of a text with this entity."""
    raw = content.text.encode("utf-16-le")
    return [
        raw[2 * each.offset : 2 * (each.offset + each.length)].decode("utf-16-le")
        for each in content.entities
        if each.type == kind
    ]


def last(body: Body) -> Formatted:
    return render(ask_of(body), HERE, CardState(), title="Fix it").parts[-1]


def test_a_permission_shows_the_whole_command_and_its_buttons_in_order() -> None:
    card = render(ask_of(NPM), HERE, CardState(), title="Fix it", link=PAGE)

    assert card.parts[0].text.startswith("✋ Permission · Fix it\n\nRun 7 7?")
    assert styled(card.parts[0], "pre")[0] == "7 7"
    assert [[button.label for button in row] for row in card.keyboard] == [
        ["Allow once", "For this session"],
        ["Always allow"],
        ["Edit in the browser"],
        ["Deny", "Deny with a reason"],
        ["Deny and stop"],
        ["Claude's suggestion 1"],
        ["Claude's suggestion 2"],
    ]


def test_a_permission_shows_the_whole_diff() -> None:
    assert styled(last(WRITE), "pre") == ["@@ -0,0 +1,2 @@\n+1\n+2"]


def test_a_question_shows_descriptions_and_previews() -> None:
    content = last(WHICH)

    assert "1. 8 – 88\n2. 9" in content.text
    assert styled(content, "pre") == ["888"]


def test_a_long_label_is_whole_in_the_message_and_short_on_its_button() -> None:
    label = "Use the database that is already running on the other machine"
    card = render(ask_of(Question((Prompt("Which?", "", (Option(label), Option("None"))),))), HERE, CardState())

    assert f"1. {label}" in card.parts[0].text
    assert [[button.label for button in row] for row in card.keyboard] == [
        ["1. Use the database that is already run…"],
        ["2. None", "Other"],
    ]


def test_a_link_has_its_host_set_apart_and_a_button_that_opens_it() -> None:
    card = render(ask_of(LINK), HERE, CardState())

    assert "7.x" in styled(card.parts[0], "code")
    assert (card.keyboard[0][0].label, card.keyboard[0][0].url) == ("Open 7.x", "https://7.x/9")


@pytest.mark.parametrize(
    "url", ["http://7.x/9", "https://xn--e1awd7f.com/", "javascript:alert(1)", "https://localhost/9", "https://a@b.c/"]
)
def test_a_link_that_could_be_misread_has_no_button(url: str) -> None:
    card = render(ask_of(Form("7?", "9", {}, url)), HERE, CardState())

    assert not any(button.url for row in card.keyboard for button in row)


@pytest.mark.parametrize(
    ("url", "can"),
    [
        (PAGE, True),
        ("http://192.168.0.5:8420/", True),
        ("http://localhost:8420/", False),
        ("", False),
        ("tg://x.y", False),
    ],
)
def test_only_addresses_that_telegram_accepts_get_a_button(url: str, can: bool) -> None:
    assert can_be_opened(url) == can


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (bash("echo line\n" * 900), "command.sh"),
        (Permission("Write", {"file_path": "/a", "content": "x"}, diff="+line\n" * 2000), "changes.diff"),
        (Permission("mcp__a__b", {"x": "y" * 9000}), "input.json"),
    ],
)
def test_long_evidence_is_a_file_and_its_start_is_shown(body: Permission, name: str) -> None:
    card = render(ask_of(body), HERE, CardState())

    assert [file.name for file in card.files] == [name]
    assert f"Shortened. The full text is in {name}." in card.parts[-1].text
    assert len(card.parts) == 1
    assert len(card.files[0].data) > 8000


def test_a_directory_with_many_long_files_comes_in_one_file() -> None:
    brought = tuple(Brought("hook", f"h{number}", "run this\n" * 90, "settings.json") for number in range(40))
    card = render(ask_of(Trust("/7", brought, {})), HERE, CardState())

    assert [file.name for file in card.files] == ["request.txt"]
    assert card.files[0].data.count(b"run this") == 40 * 90


def test_a_plan_comes_in_as_many_parts_as_it_needs_with_the_buttons_on_the_last() -> None:
    plan = "\n".join(f"# Step {number}\n\nDo this and that, and then check it." for number in range(400))
    card = render(ask_of(Plan(plan)), HERE, CardState())
    shown = "\n".join(part.text for part in card.parts)

    assert len(card.parts) > 3
    assert all(f"# Step {number}\n" in shown for number in range(400))
    assert card.files == ()
    assert card.keyboard[0][0].label == "Approve"


def test_a_plan_of_unusual_length_is_a_file() -> None:
    card = render(ask_of(Plan("A step.\n" * 30_000)), HERE, CardState())

    assert [file.name for file in card.files] == ["plan.md"]
    assert len(card.parts) == 1


def test_a_question_that_is_too_long_is_in_a_file_as_a_whole() -> None:
    prompts = (Prompt("Short?", "", (Option("A"),)), Prompt("x" * 9000, "", (Option("B", "y" * 9000),)))
    reader = CardReader(Question(prompts))
    (file,) = reader.card.files

    assert file.name == "question.txt"
    assert b"Short?" in file.data
    assert file.data.count(b"x") == file.data.count(b"y") == 9000
    assert "Shortened" not in reader.text
    reader.tap("1. A")
    assert "Shortened. The full text is in question.txt." in reader.text


def test_how_long_an_ask_waits() -> None:
    ask = ask_of(NPM, expires_at=NOON + timedelta(minutes=10))

    assert "Expires after 10 min" in render(ask, HERE, CardState()).parts[-1].text


@pytest.mark.parametrize("name", CORPUS)
def test_nothing_hidden_stays_hidden(name: str) -> None:
    text = CORPUS[name]
    bodies: list[Body] = [
        bash(text),
        Plan(text),
        Question((Prompt(text, text, (Option(text, text, text),)),)),
        Form(text, text, {"properties": {"a": {"title": text, "description": text, "default": text}}}),
    ]
    for body in bodies:
        reader = CardReader(body, agent=text, why=text)
        if isinstance(body, Form):
            reader.tap("Fill in")
        shown = [part.text for part in reader.card.parts]
        shown += [button.label for button in reader.buttons]
        shown += [file.data.decode() for file in reader.card.files]
        for each in shown:
            assert all(letter.isprintable() or letter == "\n" for letter in each)
            assert "\u202e" not in each


ANA = Person("ana", "seat")


@pytest.mark.parametrize(
    ("settlement", "words"),
    [
        (Answered(Allow(), ANA, "web", NOON), "ana allowed 7 7 (web)"),
        (Answered(Deny("no\nway"), ANA, "terminal", NOON), "ana denied 7 7: “no way” (terminal)"),
        (Answered(Allow(), ByRule("r_1", "tests"), "rule", NOON), "A rule allowed 7 7"),
        (Expired(NOON), "No one answered in time"),
        (Expired(NOON, Answered(Deny(), ANA, "web", NOON)), "Answered late: ana denied 7 7 (web)"),
        (Withdrawn("The session was stopped.", NOON), "No longer needed: The session was stopped."),
    ],
)
def test_a_settled_card_says_what_by_whom_and_from_where(settlement: object, words: str) -> None:
    content = closed(ask_of(NPM, settlement=settlement), HERE)

    assert content.text == f"✋ Permission\n\nRun 7 7?\n\n{words}"


def test_a_settled_card_is_one_message_whatever_it_was_about() -> None:
    body = Question((Prompt("x" * 100_000),))
    answered = Answered(Deny("y" * 100_000), ANA, "web", NOON)

    assert closed(ask_of(body, settlement=Expired(NOON)), HERE).units <= 4096
    assert closed(ask_of(NPM, settlement=answered), HERE).units <= 4096


@pytest.mark.parametrize("body", [*BODIES, ADDRESS, TWO_QUESTIONS, PLAN, TRUST], ids=lambda body: type(body).__name__)
def test_every_word_of_ours_is_from_the_catalogue(body: Body) -> None:
    with texts.using("en-XA"):
        foreign = set(english_in(str(body)))
        card = render(ask_of(body, expires_at=NOON + timedelta(days=1)), HERE, CardState(), link=PAGE)
        shown = [part.text for part in card.parts] + [button.label for row in card.keyboard for button in row]
        found = {word for text in shown for word in english_in(text)} - foreign

    assert found <= {"claude", "settings", "local", "json", "true"}


def test_backquotes_in_a_reason_are_no_code_in_the_closed_card() -> None:
    answered = Answered(Deny("Use `make`, or ` alone"), Person("ana"), "telegram", NOON)

    content = closed(ask_of(bash("npm test"), settlement=answered), HERE)

    assert content.text.endswith("ana denied npm test: “Use ˋmakeˋ, or ˋ alone” (telegram)")
    assert styled(content, "code") == ["npm test", "npm test"]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_where_not_everything_can_be_shown_it_can_be_refused_and_never_granted(body: Body) -> None:
    ask, offered = ask_of(body), CardReader(body).buttons
    card = render_shortened(ask, HERE, CardState(), title="Fix it", link=PAGE)

    (content,) = card.parts
    assert content.units <= 4096
    assert t("telegram.card.no_files") in content.text
    first, *others = [button for row in card.keyboard for button in row]
    assert (first.label, first.url) == ("Open in the browser", PAGE)
    assert {each.argument for each in others} <= {
        "deny", "stop", "revise", "outline", "decline", "cancel", "without", "never"
    }  # fmt: skip
    later = NOON + timedelta(seconds=9)
    for state in (CardState(), CardState(confirming="once"), CardState(wants_text=FREE_TEXT)):
        for act in [(each.act, each.argument) for each in offered] + [("confirm", "once"), ("done", ""), ("skip", "")]:
            pressed = press(ask, HERE, state, *act, shown_at=NOON, now=later, lacks_files=True)
            assert not isinstance(pressed, SendAnswer) or act[1] in {each.argument for each in others}
        assert reply(ask, HERE, state, "yes", lacks_files=True) == Toast(t("telegram.card.no_files"))


@pytest.mark.parametrize(
    ("link", "text", "labels"),
    [
        ("", False, ["Deny", "Deny with a reason", "Deny and stop"]),
        ("http://box:8420/#card-a_1", True, ["Deny", "Deny with a reason", "Deny and stop"]),
        (PAGE, False, ["Open in the browser", "Deny", "Deny with a reason", "Deny and stop"]),
    ],
)
def test_a_shortened_card_links_to_the_page_as_far_as_telegram_lets_it(
    link: str, text: bool, labels: list[str]
) -> None:
    card = render_shortened(ask_of(bash("x" * 9000)), HERE, CardState(), link=link)
    assert (bool(link) and link in card.parts[0].text) == text
    assert [button.label for row in card.keyboard for button in row] == labels
