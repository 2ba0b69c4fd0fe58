"""Claude isn't signed in: detected by codes alone, and reported with the program's full path when a person can act."""

import pytest

from handraise.model.items import Notice, Text, TurnEnded
from handraise.session import translate
from session.claude_says import Line, Talk, init, published, result, text, working

REFUSED = {"is_error": True, "result": "Not logged in · Please run /login", "terminal_reason": "api_error"}


def refused(**fields: object) -> Line:
    return {**text("Not logged in · Please run /login"), "error": "authentication_failed", **fields}


def retry(attempt: int = 1, error: str = "authentication_failed") -> Line:
    fields = {"attempt": attempt, "max_retries": 10, "error_status": 401, "error": error}
    return {"type": "system", "subtype": "api_retry", **fields}


def ended(talk: Talk) -> TurnEnded:
    return published(TurnEnded, talk.hear(result(**REFUSED)))[0]


def test_the_turn_says_what_to_do_instead_of_claude() -> None:
    talk = working()

    assert not published(Text, talk.hear(refused()))
    turn = ended(talk)
    assert turn.error == translate.advice("claude", "")
    assert turn.result == ""
    assert talk.memory.signed_out
    assert talk.memory.phase == "idle"


def test_the_same_words_without_the_code_are_words() -> None:
    talk = working()
    talk.hear(text("Not logged in · Please run /login"))

    assert ended(talk).error == "Not logged in · Please run /login"
    assert not talk.memory.signed_out


@pytest.mark.parametrize("error", ["rate_limit", "server_error", "billing_error"])
def test_another_error_is_told_as_it_is(error: str) -> None:
    talk = working()

    assert published(Text, talk.hear(refused(error=error)))
    assert not talk.memory.signed_out


def test_while_claude_tries_again_it_is_said_once() -> None:
    talk = working()
    notices = published(Notice, talk.hear(retry(1), retry(2)))

    assert [each.about for each in notices] == ["sign-in", "retry", "retry"]


def test_a_try_that_comes_through_is_no_longer_signed_out() -> None:
    talk = working()
    talk.hear(retry(), text("Here I am."))

    assert not talk.memory.signed_out


def test_the_next_turn_forgets() -> None:
    talk = working()
    talk.hear(refused(), result(**REFUSED), init())

    assert not talk.memory.signed_out


def test_the_path_can_be_pasted_into_a_shell() -> None:
    assert "`'/opt/my tools/claude' auth login`" in translate.advice("/opt/my tools/claude", "none")


def test_a_rejected_key_is_named_by_where_it_is_from() -> None:
    assert "ANTHROPIC_API_KEY" in translate.advice("claude", "ANTHROPIC_API_KEY")
    assert "restart the hub" in translate.advice("claude", "ANTHROPIC_API_KEY")
    assert "restart the hub" not in translate.advice("claude", "apiKeyHelper")
