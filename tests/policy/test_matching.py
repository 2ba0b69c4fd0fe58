"""One rule and one part: certainty for allowing, possibility for the rest."""

import pytest

from handraise.model.rules import Rule
from handraise.policy.matching import Match, match_part, reaches_beyond
from handraise.policy.shell import Script, SimpleCommand, parse


def first_part(command: str) -> SimpleCommand:
    read = parse(command)
    assert isinstance(read, Script), read
    return read.parts[0]


@pytest.mark.parametrize(
    ("pattern", "command", "allowing", "denying"),
    [
        ("rm *", "rm x", Match.YES, Match.YES),
        ("rm *", "ls x", Match.NO, Match.NO),
        ("rm *", "/bin/rm x", Match.NO, Match.YES),
        ("rm *", "sudo rm x", Match.NO, Match.YES),
        ("rm *", "sudo ls x", Match.NO, Match.MAYBE),
        ("rm *", "$X y", Match.NO, Match.MAYBE),
        ("rm *", "rm x > f", Match.NO, Match.YES),
        ("rm *", "PATH=x rm x", Match.NO, Match.YES),
        ("rm -rf *", "rm $X", Match.NO, Match.MAYBE),
        ("rm -rf *", "rm -r", Match.NO, Match.NO),
        ("rm 'x", "ls", Match.NO, Match.MAYBE),
        ("*", "ls", Match.YES, Match.YES),
        ("find *", "find . -delete", Match.NO, Match.YES),
        ("find . -delete", "find . -delete", Match.YES, Match.YES),
        ("sudo *", "sudo rm x", Match.NO, Match.YES),
        ("sudo rm x", "sudo rm x", Match.YES, Match.YES),
        ("rm *", "RM x", Match.NO, Match.YES),
        ("ls", "x=1", Match.YES, Match.NO),
        ("test *", "test -v 'a[$(rm x)]'", Match.NO, Match.YES),
        ("rm *", "test -v 'a[$(rm x)]'", Match.NO, Match.MAYBE),
    ],
)
def test_a_rule_allows_on_certainty_and_holds_back_on_possibility(
    pattern: str, command: str, allowing: Match, denying: Match
) -> None:
    part = first_part(command)

    assert match_part(Rule("r", "allow", command=pattern), part) is allowing
    assert match_part(Rule("r", "deny", command=pattern), part) is denying


@pytest.mark.parametrize(
    ("command", "beyond"),
    [
        ("ls", None),
        ("ls > /dev/null 2>&1", None),
        ("ls > f", "writing to `f`"),
        ("ls < /dev/tcp/h/1", "reading from `/dev/tcp/h/1`"),
        ("A=1 ls", "setting `A`"),
        ("LANG=C ls", None),
    ],
)
def test_what_a_part_does_beside_its_words_is_named(command: str, beyond: str | None) -> None:
    assert reaches_beyond(first_part(command)) == beyond
