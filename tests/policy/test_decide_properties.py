"""What holds for every command: nothing unlisted is allowed, and nothing makes a decision fail."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import decide
from handraise.policy.shell import Opaque, parse
from thorough import at_least

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PATTERNS = ["git status", "git log *", "npm run *", "ls *", "find *", "echo *", "cat *"]
LISTED = [Rule(f"r_{number}", "allow", tool="Bash", command=each) for number, each in enumerate(PATTERNS)]


def bash(command: str) -> Call:
    return Call("Bash", {"command": command}, "/p")


SEPARATORS = ["; ", "\n", " && ", " || ", " | ", " |& ", " & ", ";", "&&", "|", "\n\n", " # x\n", " 2>&1; ", " \\\n; "]
WRAPPINGS = ["{}", "({})", "{{ {}; }}", "! {}", "ls $({})", "ls `{}`", "ls <({})", 'ls "$({})"', "if {}; then ls; fi"]
UNLISTED = ["rm -rf x", "r'm' x", "\\rm x", "$x", "sudo ls", "/bin/ls", "ls > f", "X=1 ls", "find . -delete", "gti log"]


@given(
    allowed=st.sampled_from(["git status", "ls -la", "npm run build", "echo 'a; b'", "cat <<E\nhi\nE"]),
    separator=st.sampled_from(SEPARATORS),
    wrapping=st.sampled_from(WRAPPINGS),
    unlisted=st.sampled_from(UNLISTED),
    first=st.booleans(),
)
def test_joining_an_unlisted_command_to_an_allowed_one_is_never_allowed(
    allowed: str, separator: str, wrapping: str, unlisted: str, first: bool
) -> None:  # lesson 44
    wrapped = wrapping.format(unlisted)
    command = wrapped + separator + allowed if first else allowed + separator + wrapped

    assert decide(bash(command), LISTED, NOW).decision == "ask"


@settings(max_examples=at_least(300))
@given(
    pieces=st.lists(st.sampled_from([*"lsgitrm $(){}`'\"\\;&|<>#\n=*-", "ls ", "git status", "rm x", "$(", "<<E\n"]))
)
def test_nothing_is_allowed_that_has_an_unlisted_program(pieces: list[str]) -> None:  # lesson 44
    command = "".join(pieces)
    if decide(bash(command), LISTED, NOW).decision == "allow":
        read = parse(command)
        assert not isinstance(read, Opaque)
        listed = {rule.command.split()[0] for rule in LISTED if rule.command}
        assert {part.program for part in read.parts if part.words} <= listed


@settings(max_examples=at_least(300))
@given(
    tool=st.sampled_from(["Bash", "Read", "Edit", "Glob", "Grep", "mcp__a__b", "X"]),
    text=st.text() | st.none() | st.integers(),
    condition=st.text(),
    decision=st.sampled_from(["allow", "deny", "ask"]),
)
def test_no_text_makes_a_decision_fail(tool: str, text: object, condition: str, decision: str) -> None:
    call = Call(tool, {"command": text, "file_path": text, "path": text, "pattern": text, "glob": text}, "/p")
    rule = Rule("r", decision, command=condition)  # type: ignore[arg-type]
    other = Rule("r", decision, tool=condition, path=condition)  # type: ignore[arg-type]
    third = Rule("r", decision, path=condition, server=condition)  # type: ignore[arg-type]

    for rules in ([rule], [other], [third], [rule, other, third]):
        assert decide(call, rules, NOW).decision in ("allow", "deny", "ask")
