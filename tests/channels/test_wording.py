"""What is sent of a title, a text and a link."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.channels.wording import cut, line_of, link_of, text_of

ANY = st.text(st.characters(), max_size=200)


@given(ANY, st.integers(10, 100))
def test_a_line_is_one_line_that_fits_and_can_be_sent(text: str, most: int) -> None:
    line = line_of(text, most)
    assert len(line.splitlines()) <= 1
    assert len(line.encode()) <= most


@given(ANY, st.integers(10, 100))
def test_a_text_fits_and_can_be_sent(text: str, most: int) -> None:
    made = text_of(text, most)
    assert len(made.encode()) <= most
    assert "\r" not in made
    assert "\x00" not in made


@pytest.mark.parametrize(
    ("text", "most", "result"),
    [
        ("abc", 3, "abc"),
        ("abcd", 4, "abcd"),
        ("abcdef", 5, "ab…"),
        ("ääää", 6, "ä…"),
        ("🙋🙋", 7, "🙋…"),
        ("abc", 0, "…"),
    ],
)
def test_a_cut_never_parts_a_character(text: str, most: int, result: str) -> None:
    assert cut(text, most) == result


def test_lines_stay_lines_however_they_end() -> None:
    assert text_of("a\r\nb\rc\u2028d\n", 100) == "a\nb\nc\nd"


@pytest.mark.parametrize("link", ["https://hub.example/asks/a_1?x=1#y", "http://127.0.0.1:8420/", "https://[::1]/x"])
def test_a_web_address_is_a_link(link: str) -> None:
    assert link_of(link) == link


@pytest.mark.parametrize(
    "link",
    ["javascript:x", "https://", "https://a b", 'https://a"b', "https://[", "ftp://a", "https://a/" + "x" * 2000],
)
def test_anything_else_is_none(link: str) -> None:
    assert link_of(link) == ""
