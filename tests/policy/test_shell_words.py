"""Words lose their quotes and keep their doubts."""

import pytest

from handraise.policy.shell import Script, parse


def words(command: str) -> list[str | None]:
    """The words of a command of one part, None for each that is not literal."""
    read = parse(command)
    assert isinstance(read, Script), read
    (part,) = read.parts
    return [word.text if word.literal else None for word in part.words]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git log -n 3", ["git", "log", "-n", "3"]),
        ("echo 'a b' \"c d\" e\\ f", ["echo", "a b", "c d", "e f"]),
        ("echo 'a'\\''b'", ["echo", "a'b"]),
        ('echo "a\\"b\\$c"', ["echo", 'a"b$c']),
        ("echo '*' \"?\" \\*", ["echo", "*", "?", "*"]),
        ("echo * a? [ab] {a,b} ~ ~/x a=~ =ls", ["echo", *[None] * 8]),
        ('echo $x "$x" a${x}b', ["echo", None, None, None]),
        ("git show HEAD~1 a:b @{u}", ["git", "show", "HEAD~1", "a:b", None]),
        ("echo $'a b' $'a\\nb'", ["echo", "a b", None]),
        ("echo '' \"\"", ["echo", "", ""]),
        ("git > /dev/null push origin", ["git", "push", "origin"]),
        ("cat <<< x y", ["cat", "y"]),
        ("echo a=b", ["echo", "a=b"]),
        ("echo é 日本", ["echo", "é", "日本"]),
        ("find . -exec rm {} \\;", ["find", ".", "-exec", "rm", None, ";"]),
        ('echo "a \\\nb"', ["echo", None]),
    ],
)
def test_a_word_is_literal_only_where_no_shell_is_needed_to_know_it(command: str, expected: list[str | None]) -> None:
    assert words(command) == expected
