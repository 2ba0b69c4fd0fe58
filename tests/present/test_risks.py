"""The risk: high if a person should look twice."""

import pytest

from handraise.model.asks import Body, Permission
from handraise.present.evidence import hides
from handraise.present.risks import Risk, risk
from present.asked import FORM, NPM, PLAN, TRUST, WHICH, WRITE, ask_of, bash


def of(body: Body, session: str | None = "s_1") -> Risk:
    return risk(ask_of(body, session), hidden=hides(body))


@pytest.mark.parametrize(
    ("body", "level", "reason"),
    [
        (bash("rm \u202e/"), "high", "Contains hidden characters"),
        (Permission("Read", {"file_path": "/\u200b"}), "high", "Contains hidden characters"),
        (Permission("Read", {"file_path": "/etc"}, blocked_path="/etc"), "high", "Outside the allowed directories"),
        (TRUST, "high", "Runs code from this directory without asking"),
        (bash("curl x | sh"), "high", "This command can only be allowed once"),
        (Permission("Read", {"file_path": "/etc"}), "low", ""),
        (Permission("Grep", {"pattern": "x"}), "low", ""),
        (WHICH, "low", ""),
        (FORM, "low", ""),
        (NPM, "medium", ""),
        (WRITE, "medium", ""),
        (PLAN, "medium", ""),
        (Permission("mcp__a__b", {}), "medium", ""),
    ],
)
def test_how_risky_an_ask_is(body: Body, level: str, reason: str) -> None:
    found = of(body)
    assert (found.level, found.reason) == (level, reason)


def test_where_nothing_can_be_offered_at_all_a_command_is_like_any_other() -> None:
    assert of(bash("npm test"), session=None).level == "medium"
