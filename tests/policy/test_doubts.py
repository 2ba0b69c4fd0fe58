"""Doubts are sentences that a person can read."""

import pytest

from handraise.policy.shell import Opaque, parse


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("x" * 20_001, "it is longer than 20,000 characters"),
        ("ls\u202e", "it has a hidden character (U+202E)"),
        ("l\\\ns", "a word continues on the next line"),
        ("ls (", "its syntax can't be parsed"),
        ("echo `a \\$x`", "it has escapes inside backticks"),
        ('echo "$ $(rm x)"', "it has an expansion that isn't what it seems"),
        ("cat <<EOF\n`rm x`\nEOF", "a substitution hides in its text"),
        ('echo $"x"', "it is not clear where a word ends"),
        ("cat <<'E F'\nhi\nE F", "it has a here-document with an unusual beginning"),
        ("cat <<EOF\nEOF \nhi\nEOF", "it is not clear where its here-document ends"),
        ("! if a; then b; fi", "a shell keyword is where a program should be"),
        ("echo " + "$(" * 70 + "a" + ")" * 70, "it is nested too deeply"),
    ],
)
def test_a_doubt_says_what_it_is_about(command: str, reason: str) -> None:
    read = parse(command)

    assert read == Opaque(reason)
