"""Options: what a project cannot have is named, with what it must be."""

import pytest
from msgspec.structs import replace

from handraise.model.projects import MODES, BadOption, Options, Patience, Project, check, innermost
from handraise.model.rules import ProjectRule

ASK = ProjectRule("ask")


def test_everything_may_be_left_out() -> None:
    check(Options())


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_that_claude_knows_is_good(mode: str) -> None:
    check(Options(mode=mode))


@pytest.mark.parametrize(
    "tool", ["Bash", "Bash(git log:*)", "Read(//etc/**)", "mcp__db__*", "mcp__a-b__c.d", "Task(x, y)"]
)
def test_a_tool_as_claude_spells_it_is_good(tool: str) -> None:
    check(Options(allowed_tools=(tool,)))


@pytest.mark.parametrize("seconds", [30, 300, 900])
def test_a_time_limit_within_bounds_is_good(seconds: int) -> None:
    check(Options(ask_user_timeout=seconds))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(mode="yolo"), "mode must be one of default, manual"),
        (Options(ask_user_timeout=29), "ask_user_timeout must be from 30 to 900 seconds, not 29"),
        (Options(ask_user_timeout=901), "ask_user_timeout must be from 30 to 900"),
        (Options(model=" "), "model must not be empty"),
        (Options(append_system_prompt=""), "append_system_prompt must not be empty"),
        (Options(allowed_tools=("Read", "")), "allowed_tools must not contain an empty string"),
        (Options(allowed_tools=("Bash(ls",)), r"allowed_tools: 'Bash\(ls' isn't in Claude Code's notation"),
        (Options(allowed_tools=("git log",)), "isn't in Claude Code's notation"),
        (Options(allowed_tools=("Bash()",)), "isn't in Claude Code's notation"),
        (Options(add_dirs=("lib",)), "add_dirs must be absolute paths, not 'lib'"),
        (Options(patience=Patience(plan=0)), "patience.plan must be from 1 second to a year"),
        (Options(patience=Patience(form=1e300)), "patience.form must be from 1 second to a year"),
        (Options(parallel=0), "parallel must be from 1 to 1000"),
        (Options(parallel=1001), "parallel must be from 1 to 1000"),
        (Options(cost_limit_usd=-1), "cost_limit_usd must be more than 0"),
        (Options(rules=(ASK, ProjectRule("allow"))), "rules: number 2 would allow everything. Name a tool"),
        (Options(rules=(ProjectRule("deny", command=" "),)), "rules: number 1 has an empty command"),
        (Options(rules=(ProjectRule("deny", mode="yolo"),)), "rules: number 1 has an unknown mode"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(options: Options, words: str) -> None:
    with pytest.raises(BadOption, match=words):
        check(options)


def test_rules_are_a_projects_own() -> None:
    check(Options(rules=(ASK, ProjectRule("deny"), ProjectRule("allow", tool="Read"))))

    assert Options().over(Options(rules=(ASK,))).rules == ()


def test_a_projects_own_options_lie_over_the_general_ones() -> None:
    general = Options(mode="plan", ask_user_enabled=False, ask_user_timeout=60, patience=Patience(question=9, form=8))
    own = Options(ask_user_enabled=True, patience=Patience(question=5))

    filled = own.over(general)
    assert (filled.mode, filled.ask_user_enabled, filled.ask_user_timeout) == ("plan", True, 60)
    assert filled.patience == Patience(question=5, form=8)
    assert Options().over(Options()) == replace(Options(), ask_user_enabled=True, ask_user_timeout=300)


def test_a_directory_is_in_the_innermost_project_around_it() -> None:
    outer, inner, root = Project("p_1", "a", "/work/a"), Project("p_2", "b", "/work/a/b"), Project("p_3", "all", "/")

    assert innermost([outer, inner], "/work/a/b/c") == inner
    assert innermost([inner, outer], "/work/a/bc") == outer
    assert innermost([inner, outer], "/work/a") == outer
    assert innermost([inner, outer], "/work/ab") is None
    assert innermost([outer, root], "/work/ab") == root
