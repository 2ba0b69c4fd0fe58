"""What a message may contain."""

from typing import Any

import pytest

from surfaces.telegram.rules import (
    RuleBroken,
    check_caption,
    check_draft,
    check_keyboard,
    check_text,
    commands_in,
    units,
)


def entity(kind: str, offset: int, length: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **more}


def reason(*arguments: Any, check: Any = check_text) -> str:
    with pytest.raises(RuleBroken) as broken:
        check(*arguments)
    assert broken.value.code == 400
    return broken.value.description.removeprefix("Bad Request: ")


def test_texts_have_a_length_in_utf_16_units() -> None:
    assert units("a😀") == 3
    assert check_text("a" * 4096, [])[0] == "a" * 4096
    assert check_text("😀" * 2048, [])[0]
    assert reason("😀" * 2048 + "a", []) == "message is too long"
    assert reason("a" * 4097, []) == "message is too long"
    assert reason(" \n ", []) == "message text is empty"


def test_captions_are_shorter_and_may_be_empty() -> None:
    assert check_caption("", []) == ("", [])
    assert check_caption("a" * 1024, [])
    assert reason("a" * 1025, [], check=check_caption) == "message caption is too long"


def test_drafts_may_be_empty() -> None:
    assert check_draft("", []) == ("", [])
    assert reason("a" * 4097, [], check=check_draft) == "message is too long"


def test_surrogates_alone_are_refused() -> None:
    assert reason("a\ud800", []) == "strings must be encoded in UTF-8"


def test_texts_are_trimmed_with_their_entities() -> None:
    text, entities = check_text("  bold  ", [entity("bold", 1, 6), entity("code", 0, 1)])
    assert (text, entities) == ("bold", [entity("bold", 0, 4)])


@pytest.mark.parametrize(
    "bad",
    [entity("bold", 0, 5), entity("bold", -1, 2), entity("bold", 0, 0), entity("bold", 0, 2), entity("bold", 2, 1)],
)
def test_entities_lie_within_the_text_and_between_characters(bad: dict[str, Any]) -> None:
    assert reason("a😀b", [bad]) == "ENTITY_BOUNDS_INVALID"


def test_entities_that_fit_are_accepted() -> None:
    fine = [entity("bold", 0, 4), entity("text_link", 1, 2, url="https://a.example")]
    assert check_text("a😀b", fine) == ("a😀b", fine)


def test_malformed_entities_are_refused() -> None:
    assert reason("text", [entity("huge", 0, 1)]).startswith("can't parse entities")
    assert reason("text", ["bold"]).startswith("can't parse entities")
    assert reason("text", [{"type": "bold"}]).startswith("can't parse entities")
    assert reason("text", [entity("text_link", 0, 1)]).startswith("can't parse entities")


def test_entities_overlap_only_if_nested() -> None:
    assert "overlap" in reason("text and more", [entity("bold", 0, 5), entity("italic", 3, 5)])


@pytest.mark.parametrize(
    ("outer", "inner", "fine"),
    [
        ("bold", "italic", True),
        ("text_link", "bold", True),
        ("blockquote", "pre", True),
        ("expandable_blockquote", "bold", True),
        ("blockquote", "expandable_blockquote", False),
        ("pre", "bold", False),
        ("code", "text_link", False),
        ("bold", "code", False),
        ("text_link", "url", False),
    ],
)
def test_some_entities_contain_others(outer: str, inner: str, fine: bool) -> None:
    more = [entity(outer, 0, 8, url="https://a.example"), entity(inner, 2, 2, url="https://a.example")]
    if fine:
        assert check_text("text and", more)
    else:
        assert reason("text and", more) == f"can't parse entities: {outer} can't contain {inner}"


def test_only_a_hundred_entities_are_shown() -> None:
    many = [entity("bold", at, 1) for at in range(150)]
    assert check_text("a" * 150, many)[1] == many[:100]


def button(text: str = "Yes", **action: Any) -> dict[str, Any]:
    return {"text": text, **(action or {"callback_data": "id"})}


def keyboard(*buttons: Any) -> dict[str, Any]:
    return {"inline_keyboard": [[each] for each in buttons]}


def test_keyboards_that_fit_are_accepted() -> None:
    assert check_keyboard(None) == []
    assert check_keyboard({"inline_keyboard": []}) == []
    longest = button(callback_data="é" * 32)
    assert check_keyboard(keyboard(longest)) == [[longest]]
    assert check_keyboard(keyboard(button(url="https://a.example/b")))
    assert len(check_keyboard(keyboard(*[button()] * 100))) == 100


@pytest.mark.parametrize("data", ["", "é" * 33, "a" * 65, 7])
def test_callback_data_has_1_to_64_bytes(data: Any) -> None:
    assert reason(keyboard(button(callback_data=data)), check=check_keyboard) == "BUTTON_DATA_INVALID"


@pytest.mark.parametrize("url", ["http://localhost:8420/ask", "ftp://a.example", "a.example", "http://[", 7])
def test_links_of_buttons_have_a_host_with_a_dot(url: Any) -> None:
    assert "Wrong HTTP URL" in reason(keyboard(button(url=url)), check=check_keyboard)


@pytest.mark.parametrize(
    "wrong",
    [
        keyboard(button(" ")),
        keyboard({"text": "Yes"}),
        keyboard({"callback_data": "id"}),
        keyboard(button(callback_data="id", url="https://a.example")),
        keyboard(*[button()] * 101),
        {"inline_keyboard": [button()]},
        {"rows": []},
    ],
)
def test_malformed_keyboards_are_refused(wrong: Any) -> None:
    assert reason(wrong, check=check_keyboard)


def test_commands_are_found_in_what_people_write() -> None:
    assert commands_in("😀 /new@a_bot it, a/b /stop") == [
        entity("bot_command", 3, 10),
        entity("bot_command", 22, 5),
    ]
