"""What the rules decide about file tools and others, and what passes without any rule."""

from datetime import UTC, datetime

import pytest

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import decide

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "tool",
    ["AskUserQuestion", "ExitPlanMode", "mcp__handraise__ask_user", "mcp__x__ask_user", "mcp__x__approval_prompt"],
)
@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_questions_and_plans_are_never_answered_by_a_rule(tool: str, decision: str) -> None:  # lesson 10, lesson 36
    rules = [Rule("r", decision, tool="*"), Rule("r", decision, tool=tool), Rule("r", decision)]  # type: ignore[arg-type]

    assert decide(Call(tool, {}, "/p"), rules, NOW).decision == "ask"


def file(tool: str, path: str, key: str = "file_path") -> Call:
    return Call(tool, {key: path}, "/p")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (file("Read", "/p/a.py"), "allow"),
        (file("Read", "a.py"), "allow"),
        (file("Read", "/p/src/../a.py"), "allow"),
        (file("LS", "/p", "path"), "allow"),
        (Call("Grep", {"pattern": "x"}, "/p"), "allow"),
        (Call("Glob", {"pattern": "**/*.py"}, "/p"), "allow"),
        (Call("TodoWrite", {"todos": []}, "/p"), "allow"),
        (Call("BashOutput", {"bash_id": "1"}, "/p"), "allow"),
        (file("Read", "/etc/passwd"), "ask"),
        (file("Read", "/p/../etc/passwd"), "ask"),
        (file("Read", "../x"), "ask"),
        (file("Read", "/px/a.py"), "ask"),
        (file("Read", "~/x"), "ask"),
        (file("Read", "/p/link/x"), "ask"),
        (file("Read", "/p/.env"), "ask"),
        (file("Read", "/p/sub/.env.local"), "ask"),
        (file("Read", "/p/.ENV"), "ask"),
        (file("Read", "/p/deploy.pem"), "ask"),
        (file("Read", "/p/.git/config"), "ask"),
        (file("Read", "/p/id_ed25519"), "ask"),
        (Call("Read", {}, "/p"), "ask"),
        (Call("Read", {"file_path": 7}, "/p"), "ask"),
        (Call("Read", {"file_path": "a\0b"}, "/p"), "ask"),
        (Call("Glob", {"pattern": "/etc/**"}, "/p"), "ask"),
        (Call("Glob", {"pattern": "../**"}, "/p"), "ask"),
        (Call("Grep", {"pattern": "x", "path": "/"}, "/p"), "ask"),
        (Call("Grep", {"pattern": "x", "glob": ".env"}, "/p"), "ask"),
        (file("Edit", "/p/a.py"), "ask"),
        (file("Write", "/p/a.py"), "ask"),
        (Call("WebFetch", {"url": "x"}, "/p"), "ask"),
        (Call("mcp__x__y", {}, "/p"), "ask"),
        (Call("KillShell", {}, "/p"), "ask"),
        (Call("", {}, "/p"), "ask"),
        (Call("Bash", {"command": "ls"}, "/p"), "ask"),
    ],
)
def test_without_rules_only_reading_inside_the_project_passes(call: Call, expected: str) -> None:  # lesson 11
    assert decide(call, [], NOW, resolve=_with_a_link).decision == expected


def test_reading_inside_the_project_can_be_asked_about_too() -> None:
    assert decide(file("Read", "/p/a.py"), [], NOW, read_only_inside_project=False).decision == "ask"
    assert decide(Call("TodoRead", {}, "/p"), [], NOW, read_only_inside_project=False).decision == "ask"


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        ("/p/src/a.py", "src/**", "allow"),
        ("/p/src/a/b.py", "src/**", "allow"),
        ("/p/src/a/b.py", "src/*", "ask"),
        ("/p/src/a.py", "src/*.py", "allow"),
        ("/p/src/a.py", "**/*.py", "allow"),
        ("/p/a.py", "**/*.py", "allow"),
        ("/p/srcx/a.py", "src/**", "ask"),
        ("/p/src/../b.py", "src/**", "ask"),
        ("/p/link/x", "link/**", "ask"),
        ("/tmp/x", "../tmp/**", "ask"),
        ("/tmp/x", "/tmp/**", "allow"),
        ("//tmp/x", "/tmp/**", "allow"),
        ("/p/a.py", "a.?y", "allow"),
        ("/p/.env", "**", "ask"),
        ("/p/.env", ".env", "allow"),
        ("/p/.git/hooks/x", "**", "ask"),
        ("/p/CLAUDE.md", "*", "ask"),
        ("/p/a.py", "~/**", "ask"),
    ],
)
def test_a_path_rule_reaches_as_far_as_its_glob_and_no_further(path: str, glob: str, expected: str) -> None:
    rule = Rule("r", "allow", tool="Edit", path=glob)

    assert decide(file("Edit", path), [rule], NOW, resolve=_with_a_link).decision == expected


def test_a_tool_rule_without_a_path_does_not_reach_secrets() -> None:
    rule = Rule("r", "allow", tool="*")

    assert decide(file("Write", "/p/a.py"), [rule], NOW).decision == "allow"
    assert decide(file("Read", "/p/.env"), [rule], NOW).decision == "ask"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (file("Read", "/p/private/x"), "deny"),
        (file("Read", "/p/a/../private/x"), "deny"),
        (file("Read", "//p/private/x"), "deny"),
        (file("Read", "/p/shortcut"), "deny"),
        (Call("Read", {}, "/p"), "ask"),
        (Call("Grep", {"pattern": "x"}, "/p"), "ask"),
        (Call("Grep", {"pattern": "x", "path": "src"}, "/p"), "allow"),
        (file("Read", "/p/public/x"), "allow"),
    ],
)
def test_a_denied_path_is_denied_by_all_its_names(call: Call, expected: str) -> None:
    rule = Rule("r", "deny", path="private/**")

    assert decide(call, [rule], NOW, resolve=_with_a_link).decision == expected


@pytest.mark.parametrize(
    ("rule", "call", "expected"),
    [
        (Rule("r", "allow", tool="Monitor"), Call("Monitor", {"command": "ls"}, "/p"), "ask"),
        (Rule("r", "allow", tool="*"), Call("Monitor", {"command": "ls"}, "/p"), "ask"),
        (Rule("r", "allow", command="ls *"), Call("Monitor", {"command": "ls"}, "/p"), "ask"),
        (Rule("r", "allow", tool="Monitor", command="ls *"), Call("Monitor", {"command": "ls"}, "/p"), "allow"),
        (Rule("r", "allow", tool="Monitor", command="ls *"), Call("Monitor", {"command": "ls; rm x"}, "/p"), "ask"),
        (Rule("r", "allow", tool="Monitor", command="ls *"), Call("Monitor", {"command": "ls", "x": 1}, "/p"), "ask"),
        (Rule("r", "allow", tool="mcp__x__y"), Call("mcp__x__y", {"query": "ls"}, "/p"), "allow"),
        (Rule("r", "allow", tool="mcp__x__y"), Call("mcp__x__y", {"command": "ls"}, "/p"), "ask"),
        (Rule("r", "allow", server="x"), Call("mcp__x__y", {"command": "ls"}, "/p"), "ask"),
        (Rule("r", "allow", tool="mcp__x__y"), Call("mcp__x__y", {"cmd": "ls"}, "/p"), "ask"),
        (Rule("r", "allow", tool="mcp__x__y"), Call("mcp__x__y", {"script": "ls"}, "/p"), "ask"),
        (Rule("r", "allow", tool="mcp__x__y"), Call("mcp__x__y", {"command": None}, "/p"), "ask"),
        (Rule("r", "deny", command="rm *"), Call("mcp__x__y", {"command": "ls; rm x"}, "/p"), "deny"),
        (Rule("r", "deny", command="rm *"), Call("Monitor", {"command": "sudo rm x"}, "/p"), "deny"),
        (Rule("r", "deny", tool="mcp__*"), Call("mcp__x__y", {"cmd": "ls"}, "/p"), "deny"),
        (Rule("r", "deny", path="private/**"), Call("Read", {"file_path": "private/x", "command": "ls"}, "/p"), "deny"),
    ],
)
def test_what_takes_a_command_is_a_shell(rule: Rule, call: Call, expected: str) -> None:
    assert decide(call, [rule], NOW).decision == expected


def test_a_server_rule_needs_to_know_the_server() -> None:
    rule = Rule("r", "allow", server="a")

    assert decide(Call("mcp__a__b", {}, "/p"), [rule], NOW).decision == "allow"
    assert decide(Call("mcp__ab__b", {}, "/p"), [rule], NOW).decision == "ask"
    assert decide(Call("mcp__a__b__c", {}, "/p"), [rule], NOW).decision == "ask"
    assert decide(Call("mcp__a__b__c", {}, "/p", server="a"), [rule], NOW).decision == "allow"
    assert decide(Call("mcp__a__b__c", {}, "/p"), [Rule("r", "deny", server="a__b")], NOW).decision == "deny"
    assert decide(Call("Edit", {}, "/p"), [rule], NOW).decision == "ask"


def _with_a_link(path: str) -> str:
    """`/p/link` leads to `/outside`, and `/p/shortcut` to `/p/private/x`."""
    if path.startswith("/p/link"):
        return path.replace("/p/link", "/outside", 1)
    return "/p/private/x" if path == "/p/shortcut" else path
