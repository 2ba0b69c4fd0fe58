"""Doubts are sentences that a person can read."""

import pytest

from handraise.policy.shell import Opaque, parse


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("x" * 20_001, "it is longer than 20,000 characters"),
        ("ls\u202e", "it has a character that cannot be seen (U+202E)"),
        ("l\\\ns", "a word goes on in the next line"),
        ("ls (", "its syntax is not understood"),
        ("echo `a \\$x`", "it has escapes inside backticks"),
        ('echo "$ $(rm x)"', "it has an expansion that is not what it seems"),
        ("cat <<EOF\n`rm x`\nEOF", "a substitution hides in its text"),
        ('echo $"x"', "it is not clear where a word ends"),
        ("cat <<'E F'\nhi\nE F", "it has a here-document with an unusual beginning"),
        ("cat <<EOF\nEOF \nhi\nEOF", "it is not clear where its here-document ends"),
        ("! if a; then b; fi", "a word of the shell's own grammar stands where a program should"),
        ("echo " + "$(" * 70 + "a" + ")" * 70, "it is nested too deeply"),
    ],
)
def test_a_doubt_says_what_it_is_about(command: str, reason: str) -> None:
    read = parse(command)

    assert read == Opaque(reason)
