"""What an action is called, in the timeline and while it runs."""

from typing import Any

import pytest

from handraise.model.tools import TOOLS
from handraise.present.actions import ToolTraits, doing, name_action, size_of_change, traits_of


@pytest.mark.parametrize(
    ("tool", "fields", "kind", "title"),
    [
        ("Bash", {"command": "ls -l"}, "command", "ls -l"),
        ("Bash", {"command": "a\nb"}, "command", "a b"),
        ("Bash", {}, "command", "Bash"),
        ("BashOutput", {"bash_id": "1"}, "command", "Output of 1"),
        ("Write", {"file_path": "/a"}, "file_change", "/a"),
        ("NotebookEdit", {"notebook_path": "/a"}, "file_change", "/a"),
        ("Read", {"file_path": " /a "}, "tool", "Read /a"),
        ("Glob", {"pattern": "*"}, "tool", "Find *"),
        ("Grep", {"pattern": "x"}, "tool", "Search x"),
        ("WebSearch", {"query": "x"}, "web_search", "x"),
        ("Task", {"prompt": "x"}, "tool", "Agent: x"),
        ("TodoWrite", {"todos": []}, "note", "Update the to-do list"),
        ("AskUserQuestion", {}, "note", "Ask"),
        ("mcp__github__create_issue", {}, "tool", "github: create_issue"),
        ("mcp__github", {}, "tool", "github: github"),
        ("Strange", {"x": 1}, "tool", "Strange"),
        ("Read", {"file_path": 7}, "tool", "Read Read"),
    ],
)
def test_the_title_of_an_action(tool: str, fields: dict[str, Any], kind: str, title: str) -> None:
    assert name_action(tool, fields) == (kind, title)


def test_a_long_title_is_cut() -> None:
    _, title = name_action("Bash", {"command": "x" * 10_000})
    assert len(title) == 200
    assert title.endswith("…")


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_of_the_table_has_its_texts(tool: str) -> None:
    kind, title = name_action(tool, {})
    assert kind
    assert title
    assert doing(tool, "x")


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("Bash", "$ x"),
        ("Write", "Write x"),
        ("MultiEdit", "Edit x"),
        ("WebFetch", "Fetch x"),
        ("WebSearch", "Search the web for x"),
        ("Read", "x"),
        ("Strange", "x"),
    ],
)
def test_the_line_of_an_action_says_what_is_done(tool: str, line: str) -> None:
    assert doing(tool, "x") == line


@pytest.mark.parametrize(
    ("tool", "traits"),
    [
        ("Bash", ToolTraits("shell", "Ran", (), "", "command", "", only_reads=False)),
        ("Write", ToolTraits("write", "Wrote", (), "file_path", "content", "whole", only_reads=False)),
        ("MultiEdit", ToolTraits("edit", "Changed", (), "file_path", "", "replacements", only_reads=False)),
        ("Grep", ToolTraits("find", "Searched for", ("pattern",), "path", "", "", only_reads=True)),
        ("ToolSearch", ToolTraits("lookup", "", (), "", "", "", only_reads=True)),
        ("mcp__a__b", ToolTraits("other", "", (), "", "", "", only_reads=False)),
    ],
)
def test_the_traits_of_a_tool_say_how_a_call_is_shown(tool: str, traits: ToolTraits) -> None:
    assert traits_of(tool) == traits


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_has_traits(tool: str) -> None:
    assert traits_of(tool).kind == TOOLS[tool].kind


@pytest.mark.parametrize(
    ("tool", "fields", "diff", "size"),
    [
        ("Write", {"content": "a\nb\n"}, None, "2 lines"),
        ("Write", {"content": ""}, None, "0 lines"),
        ("Write", {"content": "a\n"}, "@@ -1 +1,2 @@\n-x\n+a\n+b\n", "+2 −1"),
        ("Edit", {"old_string": "a\nb\nc", "new_string": "a\nB\nB2\nc"}, None, "+2 −1"),
        ("Edit", {"old_string": "a\nb", "new_string": "a\nb\nc"}, None, "+1 −0"),
        ("Edit", {"old_string": "a", "new_string": ""}, None, "+0 −1"),
        (
            "MultiEdit",
            {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d\ne"}]},
            None,
            "+3 −2",
        ),
        ("Edit", {"old_string": 3}, None, ""),
        ("MultiEdit", {"edits": ["x"]}, None, ""),
        ("Bash", {"command": "ls"}, None, ""),
    ],
)
def test_how_large_a_change_is(tool: str, fields: dict[str, Any], diff: str | None, size: str) -> None:
    assert size_of_change(tool, fields, diff) == size
