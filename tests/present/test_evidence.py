"""The evidence: complete, marked, and in reading order."""

from typing import Any

import pytest

from handraise.model.asks import Body, Form, Permission, Plan
from handraise.model.trust import Brought, Trust
from handraise.present.evidence import brought_in_words, evidence, hides
from present.asked import CHANGE, FORM, NEW, TRUST, TWO, WHICH, ask_of, bash


def seen(body: Body) -> list[tuple[str, str, str]]:
    shown = evidence(ask_of(body), hidden=hides(body))
    return [(each.kind, each.text, each.label) for each in shown]


def test_a_command_stands_whole_with_what_else_the_call_says() -> None:
    assert seen(bash("a\nb", description="Why", timeout=5)) == [
        ("command", "a\nb", ""),
        ("input", '{\n  "timeout": 5\n}', "Other input"),
        ("note", "Why", "Claude says"),
    ]


def test_a_long_command_is_not_cut() -> None:  # lesson 38
    command = "echo " + "x" * 100_000
    assert seen(bash(command)) == [("command", command, "")]


def test_a_change_is_its_diff_with_its_note() -> None:
    body = Permission("Edit", {"file_path": "/a"}, diff=CHANGE, diff_note="It will fail.", reason="Not allowed yet")
    assert seen(body) == [("diff", CHANGE, ""), ("note", "It will fail.", ""), ("note", "Not allowed yet", "")]


def test_an_empty_file_is_its_note_alone() -> None:
    body = Permission("Write", {"file_path": "/a", "content": ""}, diff="", diff_note="New, empty file.")
    assert seen(body) == [("note", "New, empty file.", "")]


def test_only_what_claude_itself_describes_is_what_claude_says() -> None:
    # Claude Code fills the description of a request with the name of its file.
    new = Permission("Write", {"file_path": "/src/a.py", "content": "1\n2\n"}, description="a.py", diff=NEW)
    assert seen(new) == [("diff", NEW, "")]
    issue = {"title": "A", "description": "What went wrong"}
    assert [kind for kind, _, _ in seen(Permission("mcp__github__create_issue", issue))] == ["input"]
    assert seen(Permission("mcp__a__run", {"command": "ls", "description": "x"})) == [
        ("command", "ls", ""),
        ("input", '{\n  "description": "x"\n}', "Other input"),
    ]


def test_other_input_is_shown_as_json() -> None:
    assert seen(Permission("mcp__a__b", {"to": "ä"})) == [("input", '{\n  "to": "ä"\n}', "")]
    assert seen(Permission("Bash", {"command": ["ls"]}))[0][0] == "input"


def test_what_is_outside_is_a_warning() -> None:
    body = Permission("Read", {"file_path": "/etc/x"}, blocked_path="/etc")
    assert ("warning", "Outside the allowed directories: `/etc`", "") in seen(body)


@pytest.mark.parametrize(
    "body",
    [
        bash("rm \u202e/"),
        bash("ls", note={"deep": ["\u200b"]}),
        Permission("mcp__a__b", {"\u200b": 1}),
        Permission("Read", {}, blocked_path="/\u200b"),
        Plan("1. \u2800"),
        Trust("/a", (Brought("hook", "a", "x" + " " * 50 + "y", "b"),), {}),
    ],
)
def test_hidden_characters_are_marked_and_named(body: Body) -> None:  # lesson 39
    shown = seen(body)
    assert shown[-1] == ("warning", "Hidden characters are marked like `⟨U+202E⟩`.", "")
    assert not any(letter in text for _, text, _ in shown for letter in "\u202e\u200b\u2800")


def test_previews_of_options_and_fields_of_a_form_are_pieces() -> None:
    assert seen(WHICH) == [("piece", "888", "8")]
    assert seen(TWO) == []
    assert seen(FORM) == [("piece", "888", "88")]


@pytest.mark.parametrize(
    "schema", [{}, {"properties": 7}, {"properties": {"a": 7}}, {"properties": {"a": {"title": 7}}}]
)
def test_a_schema_that_is_none_breaks_nothing(schema: dict[str, Any]) -> None:
    assert {label for _, _, label in seen(Form("7", "8", schema))} <= {"a"}


def test_everything_that_a_directory_brings_stands_under_its_name() -> None:
    assert seen(TRUST) == [
        ("note", "1 hook, 1 MCP server", ""),
        ("piece", "888", "Hook `8` in `9`"),
        ("piece", "11", "MCP server `1` in `9`"),
        ("note", "Claude Code would use these without asking. Trust ends when any of these files changes.", ""),
    ]
    hidden = Trust("/a", (), {}, ("A file is too large.",))
    assert seen(hidden)[0] == ("warning", "Can't be trusted: A file is too large.", "")


def test_what_a_directory_brings_is_counted() -> None:
    three = [Brought("hook", str(each), "", "") for each in range(3)]
    assert brought_in_words([*three, Brought("server", "x", "", "")]) == "3 hooks, 1 MCP server"


def test_crlf_in_a_file_is_not_called_hidden_and_everything_else_is() -> None:
    def change(content: str, path: str = "/a") -> Permission:
        return Permission("Write", {"file_path": path, "content": content}, diff=f"@@ -0,0 +1 @@\n+{content}")

    assert not hides(change("a\r\nb\r\n"))
    assert hides(change("a\rb\r\n"))
    assert hides(change("a\u202eb\r\n"))
    assert hides(change("a\r\n", "/a\r\nb"))
    assert hides(bash("ls\r\nrm x"))
