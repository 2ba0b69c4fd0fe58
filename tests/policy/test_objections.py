"""The rules' objections to a call that Claude makes without asking."""

from typing import Any

import pytest

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import objection
from session.claude_says import NOON

DENY_CAT = Rule("r_cat", "deny", command="cat *")
ASK_ENV = Rule("r_env", "ask", path="**/.env")


def found(rules: list[Rule], tool: str, **text: Any) -> tuple[str, tuple[str, ...]] | None:
    ruling = objection(Call(tool, text, "/work/app"), rules, NOON)
    return None if ruling is None else (ruling.decision, ruling.rules)


@pytest.mark.parametrize(
    ("rules", "tool", "text", "objected"),
    [
        ([], "Bash", {"command": "cat .env"}, None),
        ([Rule("r", "allow", tool="*")], "Bash", {"command": "$X"}, None),
        ([DENY_CAT], "Bash", {"command": "cat .env"}, ("deny", ("r_cat",))),
        ([DENY_CAT], "Bash", {"command": "ls; cat .env"}, ("deny", ("r_cat",))),
        ([DENY_CAT], "Bash", {"command": "ls"}, None),
        ([DENY_CAT], "Read", {"file_path": "/work/app/.env"}, None),
        ([DENY_CAT], "Bash", {"command": "$X .env"}, ("ask", ("r_cat",))),
        ([Rule("r", "ask", command="cat *")], "Bash", {"command": "ls && cat .env"}, ("ask", ("r",))),
        ([ASK_ENV], "Read", {"file_path": "/work/app/.env"}, ("ask", ("r_env",))),
        ([ASK_ENV], "Read", {"file_path": "/work/app/README"}, None),
        ([Rule("r", "deny", tool="*")], "CronCreate", {"prompt": "x"}, ("deny", ("r",))),
        ([Rule("r", "deny", tool="*")], "AskUserQuestion", {"questions": []}, None),
        ([Rule("r", "deny", tool="*")], "mcp__handraise__ask_user", {"question": "?"}, None),
        ([], "Write", {"file_path": "/proc/self/fd/0"}, ("deny", ())),
        ([Rule("r", "allow", tool="*")], "Read", {"file_path": "/dev/stdin"}, ("deny", ())),
        ([], "Write", {"file_path": "/proc/cpuinfo"}, None),
        ([Rule("a", "allow", command="cat *"), DENY_CAT], "Bash", {"command": "cat x"}, None),
    ],
)
def test_a_rule_objects_to_what_it_touches_and_to_nothing_else(
    rules: list[Rule], tool: str, text: dict[str, Any], objected: tuple[str, tuple[str, ...]] | None
) -> None:
    assert found(rules, tool, **text) == objected


@pytest.mark.parametrize("command", ['eval "$(echo x)"', "cat <<<$(", "if"])
def test_a_command_that_nobody_can_read_may_be_one_that_a_rule_holds_back(command: str) -> None:
    opposed = found([DENY_CAT], "Bash", command=command)

    assert opposed is not None
    assert opposed[0] == "ask"
    assert found([Rule("r", "deny", path="**/.env")], "Bash", command=command) is None
