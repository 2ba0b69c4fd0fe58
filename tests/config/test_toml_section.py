"""Changing one section of a TOML text: what it keeps, and what it leaves alone."""

import tomllib

import pytest

from handraise.config.toml_section import SectionUnfit, with_values

COMMENTED = """\
# my settings
[web]
port = 1  # low

[telegram]   # the bot
# who
allowed = [1]  # ana
token = "x # y"   # secret

# the end of it
[[rule]]
decision = "deny"
"""


def test_a_new_section_comes_last_and_the_rest_stays() -> None:
    text = "# mine\n[web]\nport = 1 # low\n"

    changed = with_values(text, "telegram", {"allowed": [1, 2], "names": {"1": "ana", "a b": 'x"'}, "on": True})

    assert changed.startswith(text)
    assert changed[len(text) :] == '\n[telegram]\nallowed = [1, 2]\nnames = {1 = "ana", "a b" = "x\\""}\non = true\n'


def test_an_empty_text_gets_the_section_alone() -> None:
    assert with_values("", "telegram", {"allowed": [1]}) == "[telegram]\nallowed = [1]\n"


def test_comments_and_other_sections_are_kept() -> None:
    changed = with_values(COMMENTED, "telegram", {"allowed": [1, 2], "token": None, "token_file": "bot"})

    assert changed == COMMENTED.replace("[1]  # ana", "[1, 2]  # ana").replace(
        'token = "x # y"   # secret\n', 'token_file = "bot"\n'
    )


def test_a_value_with_a_hash_keeps_its_comment() -> None:
    assert 'token = "z"   # secret\n' in with_values(COMMENTED, "telegram", {"token": "z"})


def test_line_ends_stay_as_they_are() -> None:
    changed = with_values(COMMENTED.replace("\n", "\r\n"), "telegram", {"allowed": [3]})

    assert changed.replace("\r\n", "").count("\n") == 0
    assert tomllib.loads(changed)["telegram"]["allowed"] == [3]


@pytest.mark.parametrize(
    "text",
    [
        "telegram = {allowed = [1]}\n",
        "telegram.allowed = [1]\n",
        "[telegram]\nallowed = [\n  1,\n]\n",
        "[telegram]\n[telegram.names]\n1 = 'ana'\n",
        "[web]\nhost = '''\n[telegram]\nallowed = [1]\n'''\n",
        "telegram = 1\n",
    ],
)
def test_what_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    with pytest.raises(SectionUnfit):
        with_values(text, "telegram", {"allowed": [2], "names": {"2": "ben"}})


def test_a_section_with_a_subsection_can_get_other_values() -> None:
    text = "[telegram]\nallowed = [1]\n[telegram.routes]\nshop = -1\n"

    changed = tomllib.loads(with_values(text, "telegram", {"allowed": [1, 2], "names": {"2": "ben"}}))

    assert changed["telegram"] == {"allowed": [1, 2], "names": {"2": "ben"}, "routes": {"shop": -1}}
