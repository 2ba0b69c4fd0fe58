"""Nothing that Claude or a repository writes makes a ruling slow: what is too long is not parsed, and asks."""

from datetime import UTC, datetime

import pytest

from handraise.config.reading import MAX_CONDITION, MAX_RULES
from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import decide
from handraise.policy.diff import MAX_COMPARED, diff_of
from handraise.policy.doubts import MAX_SIGNS, MAX_WORDS
from handraise.policy.shell import MAX_PARTS, Opaque, Script, parse
from handraise.policy.suggest import suggest
from policy.steps import steps

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EVERYTHING = Rule("r", "allow", tool="*")
CODE = "call(a[1], {b: '2'}); // $x\n" * 400


def bash(command: str) -> Call:
    return Call("Bash", {"command": command}, "/p", project="p_1", session="s_1")


@pytest.mark.parametrize(
    "command",
    [
        "ls " + "a" * 1_000_000, "(" * 100_000, "(" * 9_000 + ")" * 9_000, "$(" * 9_000, "`" * 19_000, '"' * 19_000,
        "<" * 19_000, ">" * 19_000, "a|" * 9_000, "a|" * 9_000 + "a", "a;" * 9_000, "a\n" * 9_000, "a&" * 9_000,
        "${a" * 6_000, "${a:-" * 3_000, "{" * 19_000, "[[ " * 6_000, "((" * 9_000, "if a; then " * 1_500, "a " * 9_000,
        "case a in " * 1_500, "f(){" * 4_000, "@(a|" * 4_000, "a=1 " * 4_000, "cat <<E\n" * 2_000, "a >b" * 4_000,
        "'a'" * 4_000, "\\" * 19_001, "a \\\n" * 4_000, "echo $((" + "1+" * 9_000 + "1))", "# '\n" + "<" * 9_000,
        '"<<\'E\'"\n' + "<" * 9_000 + "\nE", "$((1<<'E'\n" + "<" * 9_000 + "\nE\n", "cat <<'E'\n" + "<" * 9_000 + "\nE",
    ],
)  # fmt: skip
def test_what_is_long_or_tangled_is_not_even_parsed(command: str) -> None:
    asked = steps(lambda: decide(bash(command), [EVERYTHING], NOW))

    assert isinstance(parse(command), Opaque)
    assert decide(bash(command), [EVERYTHING], NOW).decision == "ask"
    assert suggest(bash(command), "always") is None
    assert asked < 12_000, "a step for each of a few signs, not for each letter"


@pytest.mark.parametrize(
    "command",
    [
        f"cat > f <<'EOF'\n{CODE}EOF",
        f"tee f <<'EOF'\n{CODE}EOF",
        "git add " + " ".join(f"src/file{number}.py" for number in range(600)),
        "printf %s '" + CODE.replace("'", "") + "'",
        "curl -d '" + '{"a": "b"}, ' * 1_000 + "' x",
        "; ".join(["ls -l"] * 100),
    ],
)
def test_what_people_really_run_is_read(command: str) -> None:
    assert isinstance(parse(command), Script)


@pytest.mark.parametrize(
    "command",
    ["a " * MAX_WORDS, "a;" * MAX_PARTS, "a|" * (MAX_SIGNS - 1) + "a", "$(" * 60 + ")" * 60, "echo " + "$((x+" * 20]
)  # fmt: skip
def test_at_the_bounds_the_work_grows_with_the_length(command: str) -> None:
    parse.cache_clear()

    assert steps(lambda: parse(command)) < 300 * len(command)


HOSTILE_RULES = [
    Rule(f"r_{number}", "deny", tool="*" * 50 + "h", command=("* " * 100)[: MAX_CONDITION - 4] + f" z{number}")
    for number in range(MAX_RULES)
]
HOSTILE_GLOBS = [
    Rule(f"r_{number}", "deny", path=("**/*a*/" * 40)[: MAX_CONDITION - 6] + f"/z{number}")
    for number in range(MAX_RULES)
]


@pytest.mark.parametrize(
    "command", ["sudo " + "a " * 999, "sudo a a a a a a;" * 140, "x='" + "a" * 19_000 + "' sudo z"]
)
def test_the_worst_rules_of_a_repository_take_few_steps_for_the_worst_command(command: str) -> None:
    assert steps(lambda: decide(bash(command), HOSTILE_RULES, NOW)) < 3_000_000


@pytest.mark.parametrize("path", ["/p/" + "aa/" * 1_300, "/p/" + "a" * 4_000, "/p/" + "a/" * 500_000])
def test_the_worst_globs_of_a_repository_take_few_steps_for_the_worst_path(path: str) -> None:
    call = Call("Read", {"file_path": path}, "/p")

    assert steps(lambda: decide(call, HOSTILE_GLOBS, NOW)) < 8_000_000


def test_a_path_that_no_file_can_have_is_never_resolved() -> None:
    resolved: list[str] = []

    def resolve(path: str) -> str:
        resolved.append(path)
        return path

    assert decide(Call("Read", {"file_path": "a/" * 500_000}, "/p"), [], NOW, resolve=resolve).decision == "ask"
    assert decide(Call("Glob", {"pattern": "a/" * 500_000}, "/p"), [], NOW, resolve=resolve).decision == "ask"
    assert max(map(len, resolved)) < 10


def test_edits_that_would_fill_the_memory_are_shown_and_not_tried() -> None:
    change = {"old_string": "a", "new_string": "a" * 100_000, "replace_all": True}

    for edits in ({"tool": "Edit", "input": change}, {"tool": "MultiEdit", "input": {"edits": [change] * 3}}):
        diff = diff_of(edits["tool"], edits["input"], "a" * 100_000)  # type: ignore[arg-type]
        assert diff is not None
        assert diff.note.startswith("Too large to apply")
        assert "-a\n" in diff.text


def test_many_edits_of_a_large_file_are_shown_and_not_tried() -> None:
    edits = [{"old_string": f"x{number} ", "new_string": "y"} for number in range(2_000)]
    file = " ".join(f"x{number} " for number in range(100_000))

    diff = diff_of("MultiEdit", {"edits": edits}, file)

    assert diff is not None
    assert diff.note.startswith("Too large to apply")
    assert diff.text.count("\n-x") == len(edits)


def test_many_edits_that_do_not_apply_are_paired_only_up_to_a_bound() -> None:
    old = "\n".join(str(number) for number in range(MAX_COMPARED // 4))
    edits = [{"old_string": old, "new_string": old.replace("1", "x")} for _ in range(50)]

    assert steps(lambda: diff_of("MultiEdit", {"edits": edits}, "another")) < 100 * 50 * MAX_COMPARED
