"""Claude's own suggestions as sentences; what is not known is shown as it came."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.policy.suggest import in_words


def rules(
    *named: dict[str, Any], behavior: str = "allow", to: str = "session", kind: str = "addRules"
) -> dict[str, Any]:
    return {"type": kind, "rules": list(named), "behavior": behavior, "destination": to}


@pytest.mark.parametrize(
    ("suggestion", "words"),
    [
        (
            rules({"toolName": "Bash", "ruleContent": "curl:*"}),
            "Allow every command that begins with `curl`, until Claude's process ends.",
        ),
        (
            rules({"toolName": "Bash", "ruleContent": "npm test"}, to="localSettings"),
            "Allow the command `npm test`, in this directory from now on (kept in `.claude/settings.local.json`).",
        ),
        (
            rules({"toolName": "Read", "ruleContent": "//tmp/**"}, {"toolName": "WebSearch"}),
            "Allow the tool `Read` for `//tmp/**` and the tool `WebSearch`, whatever its input, "
            "until Claude's process ends.",
        ),
        (
            rules({"toolName": "Bash", "ruleContent": "a"}, behavior="deny", to="elsewhere"),
            "Deny the command `a`, kept in `elsewhere`.",
        ),
        (
            rules({"toolName": "Bash", "ruleContent": "a"}, kind="removeRules"),
            "Take back the rules that allow the command `a`, until Claude's process ends.",
        ),
        (
            {"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"},
            "Allow work in `/a` and `/b`, until Claude's process ends.",
        ),
        (
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            "Switch to the mode `acceptEdits` (change files without asking), until Claude's process ends.",
        ),
        (
            {"type": "setMode", "mode": "yolo", "destination": "session"},
            "Switch to the mode `yolo`, until Claude's process ends.",
        ),
    ],
)
def test_a_suggestion_says_all_that_it_would_change(suggestion: dict[str, Any], words: str) -> None:
    assert in_words(suggestion) == words


@pytest.mark.parametrize(
    "suggestion",
    [
        {},
        {"type": "grow"},
        rules(),
        rules({"tool": "x"}),
        rules({"toolName": "x"}, behavior="maybe"),
        {"type": "addDirectories"},
    ],
)
def test_what_is_not_known_is_said_to_be_unknown_and_shown_whole(suggestion: dict[str, Any]) -> None:
    assert in_words(suggestion).startswith("Something that is not known here: `{")


def test_hidden_characters_of_a_suggestion_are_shown() -> None:  # lesson 39
    assert "⟨U+202E⟩" in in_words(rules({"toolName": "Bash", "ruleContent": "a\u202eb"}))


@given(
    st.dictionaries(
        st.sampled_from(["type", "rules", "behavior", "mode", "directories", "destination"]),
        st.from_type(type(None))
        | st.text()
        | st.lists(st.text())
        | st.sampled_from(["addRules", "setMode", "addDirectories"]),
    )
)
def test_no_suggestion_fails_to_be_told(suggestion: dict[str, Any]) -> None:
    assert in_words(suggestion)
