"""Offers in words: everything a rule or one of Claude's suggestions would allow, and for how long."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.rules import Rule
from handraise.present.offers import offer_in_words, suggestion_in_words


def rule(**conditions: Any) -> Rule:
    return Rule("", "allow", **conditions)


@pytest.mark.parametrize(
    ("lasting", "rules", "words"),
    [
        ("always", [rule(tool="Write", path="w.txt")], "Always allow Write to `w.txt` in this project"),
        ("session", [rule(tool="Edit", path="src/**")], "Allow Edit to any file in `src/` for this session"),
        ("always", [rule(tool="Read", path="/etc/hosts")], "Always allow Read from `/etc/hosts` in this project"),
        ("session", [rule(tool="Grep", path="src/**")], "Allow Grep anywhere in `src/` for this session"),
        ("session", [rule(tool="Bash", command="npm test")], "Allow `npm test` for this session"),
        ("always", [rule(tool="Bash", command="npm run *")], "Always allow any `npm run …` in this project"),
        ("always", [rule(tool="mcp__a__b")], "Always allow `mcp__a__b` with any input in this project"),
        (
            "session",
            [rule(tool="Bash", command=each) for each in ("a", "b *", "c")],
            "Allow `a`, any `b …` and `c` for this session",
        ),
        ("session", [rule(tool="Bash", command="a\u202e`b`")], "Allow `a⟨U+202E⟩ˋbˋ` for this session"),
    ],
)
def test_what_is_offered(lasting: Literal["session", "always"], rules: list[Rule], words: str) -> None:
    assert offer_in_words(lasting, rules) == words


def rules(*rules: object, behavior: object = "allow", kind: str = "addRules", to: object = "session") -> dict[str, Any]:
    return {"type": kind, "rules": list(rules), "behavior": behavior, "destination": to}


@pytest.mark.parametrize(
    ("suggestion", "words"),
    [
        (
            rules({"toolName": "Bash", "ruleContent": "npm test:*"}, to="localSettings"),
            "Allow every command that starts with `npm test` in this directory from now on"
            " (saved in `.claude/settings.local.json`)",
        ),
        (
            rules({"toolName": "Bash", "ruleContent": "ls"}, {"toolName": "Read"}),
            "Allow the command `ls` and the tool `Read` with any input until Claude's process ends",
        ),
        (
            rules({"toolName": "Bash", "ruleContent": "git * x"}, behavior="deny"),
            "Deny every command like `git * x` until Claude's process ends",
        ),
        (
            rules({"toolName": "Read", "ruleContent": "/etc/**"}, behavior="ask", kind="removeRules", to="elsewhere"),
            "Remove the rules that ask about the tool `Read` for `/etc/**` (saved in `elsewhere`)",
        ),
        (
            rules({"toolName": "Read"}, kind="replaceRules", to="userSettings"),
            "Allow only the tool `Read` with any input everywhere from now on (saved in your Claude settings),"
            " replacing the current rules",
        ),
        (
            {"type": "addDirectories", "directories": ["/a", "/b", "/c"], "destination": "session"},
            "Allow work in `/a`, `/b` and `/c` until Claude's process ends",
        ),
        (
            {"type": "removeDirectories", "directories": ["/a"], "destination": "session"},
            "Stop allowing work in `/a` until Claude's process ends",
        ),
        (
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            "Switch to the mode `acceptEdits` (edit files without asking) until Claude's process ends",
        ),
        (
            {"type": "setMode", "mode": "strange", "destination": "session"},
            "Switch to the mode `strange` until Claude's process ends",
        ),
    ],
)
def test_what_claude_suggests(suggestion: dict[str, Any], words: str) -> None:
    assert suggestion_in_words(suggestion) == words


@pytest.mark.parametrize(
    "suggestion",
    [
        {},
        {"type": "grantEverything"},
        rules(),
        rules(7),
        rules({"toolName": 7}),
        rules({"tool": "x"}),
        rules({"toolName": "Bash", "ruleContent": 7}),
        rules({"toolName": "Bash"}, behavior="maybe"),
        rules({"toolName": "Bash"}, behavior=["allow"]),
        {"type": "addDirectories"},
        {"type": "addDirectories", "directories": "everything"},
    ],
)
def test_what_is_not_known_is_shown_as_it_came(suggestion: dict[str, Any]) -> None:
    assert suggestion_in_words(suggestion).startswith("Unrecognized suggestion: `{")


def test_hidden_characters_in_a_suggestion_are_marked() -> None:  # lesson 39
    assert "⟨U+202E⟩" in suggestion_in_words(rules({"toolName": "Bash", "ruleContent": "a\u202eb"}))
    assert "⟨U+202E⟩" in suggestion_in_words({"type": "\u202e"})


@given(
    st.dictionaries(
        st.sampled_from(["type", "rules", "behavior", "mode", "directories", "destination"]),
        st.from_type(type(None))
        | st.text()
        | st.lists(st.text())
        | st.sampled_from(["addRules", "setMode", "addDirectories"]),
    )
)
def test_no_suggestion_fails_to_be_worded(suggestion: dict[str, Any]) -> None:
    assert suggestion_in_words(suggestion)
