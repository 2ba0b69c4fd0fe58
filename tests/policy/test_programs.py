"""What is known of programs."""

import pytest

from handraise.policy.programs import is_harmless_variable, open_ended, runs_its_words, withheld
from handraise.policy.words import Word


def literal(command: str) -> list[Word]:
    return [Word(each) for each in command.split()]


@pytest.mark.parametrize(
    ("name", "harmless"),
    [
        ("LANG", True),
        ("LC_ALL", True),
        ("x", True),
        ("file2", True),
        ("NO_COLOR", True),
        ("PATH", False),
        ("path", False),
        ("LD_PRELOAD", False),
        ("NODE_OPTIONS", False),
        ("http_proxy", False),
        ("IFS", False),
        ("a[0]", False),
        ("", False),
    ],
)
def test_a_variable_is_harmless_only_when_it_is_known_to_be(name: str, harmless: bool) -> None:
    assert is_harmless_variable(name) is harmless


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("sudo ls", True),
        ("/usr/bin/env ls", True),
        ("find . -exec x", True),
        ("find . -name x", False),
        ("python -c x", True),
        ("python", True),
        ("python -u -c x", True),
        ("python x.py -c", False),
        ("git status", False),
        ("git -c a=b x", True),
        ("ls", False),
        ("xargs rm", True),
        ("awk x", True),
    ],
)
def test_programs_that_run_their_own_words_are_known(command: str, runs: bool) -> None:
    assert runs_its_words(literal(command)) is runs


@pytest.mark.parametrize(
    ("command", "held"),
    [
        ("git log --oneline", []),
        ("git log --output=x", ["--output=x"]),
        ("git grep -Ovi x", ["-Ovi"]),
        ("go test -count=1", []),
        ("go test -exec x", ["-exec"]),
        ("rg --pre x", ["--pre"]),
        ("sort -k2 -o f", ["-o"]),
        ("ls --anything", []),
        ("sed -n 1p f", []),
        ("sed -ni 1p f", ["-ni"]),
        ("tar -xf a", []),
        ("tar --to-command=x", ["--to-command=x"]),
    ],
)
def test_options_that_write_or_run_are_withheld(command: str, held: list[str]) -> None:
    words = literal(command)

    assert [each.text for each in withheld(words, words[1:])] == held


def test_a_standing_permission_keeps_as_many_words_as_are_known() -> None:
    assert open_ended(["npm", "run", "x"]) == 2
    assert open_ended(["docker", "compose", "logs", "-f"]) == 3
    assert open_ended(["npm", "install"]) == 0
    assert open_ended(["ls"]) == 1
    assert open_ended([]) == 0
