"""The table of tools: each name once, and what matters in its input."""

import re
from pathlib import Path

import pytest

from handraise.model.tools import TOOLS, names_of, of_server, tool_named

PAGE = Path(__file__).parents[2] / "web" / "src"


def test_the_kinds_that_rules_and_cards_tell_apart() -> None:
    assert names_of("shell") == {"Bash"}
    assert names_of("read", "find") == {"Read", "NotebookRead", "Glob", "Grep", "LS"}
    assert names_of("write", "edit") == {"Write", "Edit", "MultiEdit", "NotebookEdit"}
    assert {name for name, tool in TOOLS.items() if tool.only_reads} == names_of("read", "find") | {"ToolSearch"}
    assert names_of("question", "plan") == {"AskUserQuestion", "ExitPlanMode"}
    assert {name for name, tool in TOOLS.items() if tool.inward} == {"TodoWrite", "TodoRead", "BashOutput"}


def test_the_page_knows_no_tool_by_its_name() -> None:
    """What it has to know comes with each ask and action."""
    names = re.compile(rf"\b({'|'.join(TOOLS)})\b")
    files = [path for path in PAGE.rglob("*.ts*") if "generated" not in path.parts]
    assert files
    assert [f"{path.name}: {name}" for path in files for name in names.findall(path.read_text("utf-8"))] == []


def test_a_tool_that_nobody_knows_is_other() -> None:
    strange = tool_named("Strange")
    assert (strange.name, strange.kind, strange.words) == ("Strange", "other", "")
    assert strange.subject_of({"command": "ls"}) == ""
    assert not strange.says_all({})


@pytest.mark.parametrize(
    ("name", "fields", "subject"),
    [
        ("Bash", {"command": "ls"}, "ls"),
        ("Bash", {"command": ["ls"]}, ""),
        ("Bash", {"command": "  "}, ""),
        ("Bash", {}, ""),
        ("NotebookEdit", {"notebook_path": "/a.ipynb"}, "/a.ipynb"),
        ("Task", {"prompt": "Look around"}, "Look around"),
    ],
)
def test_the_subject_is_the_first_text_that_says_it(name: str, fields: dict[str, object], subject: str) -> None:
    assert tool_named(name).subject_of(fields) == subject


def test_what_else_a_call_says_is_told_apart_from_what_says_nothing_more() -> None:
    bash = tool_named("Bash")
    assert bash.says_all({"command": "ls", "description": "List", "timeout": 5})
    assert not bash.says_all({"command": "ls", "run_in_background": True})
    assert not bash.says_all({"description": "List"})
    assert not tool_named("Glob").says_all({"pattern": "*", "path": "/etc"})


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("mcp__github__create_issue", ("github", "create_issue")),
        ("mcp__a__b__c", ("a", "b__c")),
        ("mcp__a", None),
        ("mcp____x", None),
        ("Bash", None),
    ],
)
def test_the_tool_of_a_server_has_two_names(name: str, parts: tuple[str, str] | None) -> None:
    assert of_server(name) == parts
