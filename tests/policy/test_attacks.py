"""Ways for an allowed command to run another program or write a file: each asks, whatever the pattern."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import decide
from handraise.policy.patterns import spell_pattern
from handraise.policy.shell import Script, parse
from handraise.policy.suggest import suggest

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def rows(name: str) -> list[tuple[str, str]]:
    """A program, and a command line of it, for each entry of a table."""
    lines = [line for line in (Path(__file__).parent / name).read_text().splitlines() if not line.startswith("#")]
    tables = [line.split(":", 1) for line in lines]
    return [(program, f"{program} {rest}".strip()) for program, written in tables for rest in written[1:].split(" | ")]


ROWS = rows("attacks.txt")


def test_no_pattern_with_a_star_reaches_what_runs_or_writes() -> None:
    assert [command for program, command in ROWS if is_reached_by_a_star(program, command)] == []


def is_reached_by_a_star(program: str, command: str) -> bool:
    words = command.split()
    stars = {f"{' '.join(words[:count])} *" for count in range(1, len(words) + 1)}
    patterns = [
        f"{program} *",
        f"{program.split()[0]} *",
        *(each for each in stars if "'" not in each and '"' not in each),
    ]
    rules = [Rule(f"r_{at}", "allow", tool="Bash", command=each) for at, each in enumerate(patterns)]
    call = Call("Bash", {"command": command}, "/p", project="p_1", session="s_1")
    offers = [suggest(call, "session"), suggest(call, "always")]
    offered = [rule.command or "" for offer in offers if offer is not None for rule in offer]
    return decide(call, rules, NOW).decision != "ask" or any(each.endswith("*") for each in offered)


@pytest.mark.parametrize(
    ("pattern", "command", "decision"),
    [
        ("python *", "python x.py", "ask"),
        ("python x.py *", "python x.py -c y", "allow"),
        ("python3.12 *", "python3.12 x.py", "ask"),
        ("python *.py", "python x.py", "ask"),
        ("node x.js *", "node x.js --eval y", "allow"),
        ("node *", "node x.js", "ask"),
        ("bash x.sh *", "bash x.sh -c y", "allow"),
        ("bash *", "bash x.sh", "ask"),
        ("bash -c *", "bash -c ls", "ask"),
        ("./x *", "./x -c y", "allow"),
        ("frob *", "frob --exec rm", "allow"),
    ],
)
def test_a_script_that_a_rule_names_has_words_of_its_own(pattern: str, command: str, decision: str) -> None:
    assert decided(command, Rule("r", "allow", tool="Bash", command=pattern)) == decision


EXACT = [command for _, command in ROWS if not set(command) & set("$'\"><(){};~*=[]%\\")]


def test_a_rule_that_names_the_very_command_line_allows_it() -> None:
    read = [command for command in EXACT if isinstance(parse(command), Script)]
    rules = {each: Rule("r", "allow", tool="Bash", command=spell_pattern(each.split(), rest=False)) for each in read}
    assert len(read) > 900
    assert [each for each, rule in rules.items() if decided(each, rule) != "allow"] == []


COVERED = rows("usual.txt")


def test_what_people_usually_allow_is_still_covered() -> None:
    rules = {command: Rule("r", "allow", tool="Bash", command=f"{program} *") for program, command in COVERED}
    assert [each for each, rule in rules.items() if decided(each, rule) != "allow"] == []


def decided(command: str, rule: Rule) -> str:
    return decide(Call("Bash", {"command": command}, "/p"), [rule], NOW).decision


def test_there_are_many_of_them() -> None:
    assert len(set(ROWS)) > 700
    assert len({program for program, _ in ROWS}) > 200
