import pytest

from handraise.claude.command import environment


def test_what_would_bill_an_account_is_left_out() -> None:  # lesson 25
    ours = {"PATH": "/bin", "ANTHROPIC_API_KEY": "secret", "ANTHROPIC_AUTH_TOKEN": "secret"}
    assert environment(ours) == {"PATH": "/bin", "FORCE_COLOR": "0"}


def test_api_billing_is_a_choice() -> None:
    ours = {"ANTHROPIC_API_KEY": "secret", "CLAUDECODE": "1"}
    assert environment(ours, api_billing=True) == {"ANTHROPIC_API_KEY": "secret", "FORCE_COLOR": "0"}


def test_no_colours_whatever_we_have() -> None:
    assert environment({"FORCE_COLOR": "3"})["FORCE_COLOR"] == "0"


@pytest.mark.parametrize(
    "name",
    [
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_PID",
    ],
)
def test_a_claude_that_was_started_from_within_another_does_not_know(name: str) -> None:
    assert name not in environment({name: "1", "HOME": "/h"}, api_billing=True)


def test_what_is_given_on_top_wins_and_the_rest_is_ours() -> None:
    text = environment({"A": "1", "B": "1"}, more={"B": "2", "ANTHROPIC_API_KEY": "chosen"})
    assert text == {"A": "1", "B": "2", "ANTHROPIC_API_KEY": "chosen", "FORCE_COLOR": "0"}


def test_our_own_environment_is_not_touched() -> None:
    ours = {"CLAUDECODE": "1"}
    environment(ours)
    assert ours == {"CLAUDECODE": "1"}
