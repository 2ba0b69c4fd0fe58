"""What a relay remembers: every request has one reply, whichever hub gives it."""

import json
from typing import Any

from handraise.agents.relay_state import LONGEST_AWAY, SHORTLY_AWAY, RelayState
from handraise.model.own_tools import APPROVAL_PROMPT, ASK_USER


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


HELLO = line(id=0, method="initialize", params={"protocolVersion": "2025-06-18"})
DISCOVER = line(id="probe", method="server/discover", params={})
READY = line(method="notifications/initialized")
CALL = line(id=1, method="tools/call", params={"name": ASK_USER, "arguments": {"question": "Which?"}})
WELCOME = line(id=0, result={"serverInfo": {}})
RESULT = line(id=1, result={"content": []})


def talk_with_a_hub() -> RelayState:
    talk = RelayState()
    talk.begin()
    for each in (HELLO, READY, CALL):
        talk.hear(each, 0.0)
        talk.sent(each)
    assert talk.tell(WELCOME) == WELCOME
    return talk


def test_a_reply_reaches_the_agent_once() -> None:
    talk = talk_with_a_hub()

    assert talk.tell(RESULT) == RESULT
    assert talk.tell(RESULT) is None
    assert not talk.is_waiting


def test_another_hub_hears_how_it_began_and_what_is_open() -> None:
    talk = talk_with_a_hub()
    talk.lose(5.0)

    assert talk.begin() == [HELLO, READY, CALL]
    assert talk.tell(WELCOME) is None
    assert talk.tell(RESULT) == RESULT


def test_a_greeting_that_was_not_answered_is_said_once_and_answered_once() -> None:
    talk = RelayState()
    talk.hear(HELLO, 0.0)

    assert talk.begin() == [HELLO]
    assert talk.tell(WELCOME) == WELCOME


def test_a_greeting_that_was_refused_is_not_said_to_the_next_hub() -> None:
    """A Claude that waited for the answer to `server/discover` also tries the older handshake, and is refused."""
    talk = RelayState()
    talk.begin()
    for each in (DISCOVER, HELLO):
        talk.hear(each, 0.0)
    talk.tell(line(id="probe", result={"supportedVersions": ["2026-07-28"]}))
    talk.tell(line(id=0, error={"code": -32022, "message": "not accepted"}))
    talk.hear(CALL, 1.0)

    assert talk.begin() == [CALL]


def test_what_has_no_reply_is_said_again_in_its_order() -> None:
    talk = RelayState()
    for each in (DISCOVER, HELLO):
        talk.hear(each, 0.0)

    assert talk.begin() == [DISCOVER, HELLO]


def test_a_greeting_that_we_answered_ourselves_is_said_to_the_first_hub_that_comes() -> None:
    talk = RelayState()
    talk.hear(HELLO, 0.0)
    assert talk.give_up(0.0, "no hub")
    talk.hear(READY, 1.0)
    talk.hear(CALL, 2.0)

    assert talk.begin() == [HELLO, READY, CALL]


def test_what_was_cancelled_is_not_said_again() -> None:
    talk = talk_with_a_hub()
    talk.hear(line(method="notifications/cancelled", params={"requestId": 1}), 1.0)

    assert talk.begin() == [HELLO, READY]
    assert talk.tell(RESULT) is None


def test_an_id_that_is_text_is_another_one() -> None:
    talk = talk_with_a_hub()

    assert talk.tell(line(id="1", result={})) is None
    assert talk.tell(RESULT) == RESULT


def test_progress_passes_through() -> None:
    progress = line(method="notifications/progress", params={"progressToken": 1, "progress": 15})

    assert talk_with_a_hub().tell(progress) == progress


def test_what_is_no_json_is_left_to_the_hub() -> None:
    talk = talk_with_a_hub()
    talk.hear(b"what?\n", 0.0)
    talk.hear(b"[]\n", 0.0)

    assert talk.begin() == [HELLO, READY, CALL]
    assert talk.tell(b"what?\n") == b"what?\n"


def test_a_call_that_a_hub_had_taken_waits_long_for_the_next() -> None:
    talk = talk_with_a_hub()
    talk.lose(100.0)

    assert talk.give_up(100.0 + LONGEST_AWAY - 1, "away") == []
    [reply] = talk.give_up(100.0 + LONGEST_AWAY, "away")
    assert json.loads(reply)["result"] == {"content": [{"type": "text", "text": "away"}], "isError": True}
    assert not talk.is_waiting


def test_a_call_that_comes_while_the_hub_is_away_waits_shortly() -> None:
    talk = talk_with_a_hub()
    talk.tell(RESULT)
    talk.lose(100.0)
    talk.hear(line(id=2, method="tools/call", params={"name": ASK_USER}), 200.0)

    assert talk.give_up(200.0 + SHORTLY_AWAY - 1, "away") == []
    assert len(talk.give_up(200.0 + SHORTLY_AWAY, "away")) == 1


def alone(method: str, **params: Any) -> dict[str, Any]:
    talk = RelayState()
    talk.hear(line(id=7, method=method, params=params), 0.0)
    [reply] = talk.give_up(0.0, "There is no hub.")
    response: dict[str, Any] = json.loads(reply)
    assert response["id"] == 7
    return response


def test_without_any_hub_the_agent_is_greeted_and_every_call_says_why_not() -> None:
    assert alone("initialize", protocolVersion="2025-06-18")["result"]["protocolVersion"] == "2025-06-18"
    assert [each["name"] for each in alone("tools/list")["result"]["tools"]] == [ASK_USER, APPROVAL_PROMPT]
    assert alone("ping")["result"] == {}
    assert alone("tools/call", name=ASK_USER)["result"]["isError"] is True
    assert alone("server/discover")["error"] == {"code": -32601, "message": "There is no hub."}


def test_without_any_hub_nothing_is_allowed() -> None:  # lesson 37
    result = alone("tools/call", name=APPROVAL_PROMPT)["result"]

    assert json.loads(result["content"][0]["text"]) == {"behavior": "deny", "message": "There is no hub."}
    assert result["isError"] is False


def test_a_hub_that_does_not_want_us_ends_every_wait() -> None:
    talk = talk_with_a_hub()

    [reply] = talk.give_up_all("Not you.")
    assert json.loads(reply)["result"]["content"][0]["text"] == "Not you."
    assert not talk.is_waiting
