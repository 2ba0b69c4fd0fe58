import json
from typing import Any

from demo.requests import request, user
from handraise.demo import cut, error, fail, say, spend, think, use, wait
from handraise.demo.pieces import Cut, Spoken, Use, WaitPiece
from handraise.demo.reply import Beat, ErrorReply, SpokenReply, beats, headers, status

ASKED = request(user("hi"))
ASKED_WHOLE = request(user("hi"), stream=False)


def events(*pieces: Spoken) -> list[dict[str, Any]]:
    spoken = list(beats(SpokenReply("msg_1", pieces), ASKED))
    return [json.loads(beat.split(b"data: ", 1)[1]) for beat in spoken if isinstance(beat, bytes)]


def whole(*pieces: Spoken) -> dict[str, Any]:
    (beat,) = beats(SpokenReply("msg_1", pieces), ASKED_WHOLE)
    assert isinstance(beat, bytes)
    decoded: dict[str, Any] = json.loads(beat)
    return decoded


def test_text_is_streamed_word_by_word_and_adds_up() -> None:
    text = events(say("Let me  ask.\nNow "))

    assert [event["type"] for event in text] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 4,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    words = [event["delta"]["text"] for event in text if event["type"] == "content_block_delta"]
    assert "".join(words) == "Let me  ask.\nNow "
    assert text[-2]["delta"]["stop_reason"] == "end_turn"


def test_an_event_is_named_before_its_fields() -> None:
    first = next(beats(SpokenReply("msg_1", ()), ASKED))

    assert isinstance(first, bytes)
    assert first.startswith(b"event: message_start\ndata: {")
    assert first.endswith(b"}\n\n")


def test_pace_is_silence_between_words() -> None:
    beat: list[Beat] = list(beats(SpokenReply("msg_1", (say("a b c", pace=0.5),)), ASKED))

    assert [b for b in beat if isinstance(b, WaitPiece)] == [WaitPiece(0.5), WaitPiece(0.5)]


def test_a_tool_call_is_streamed_in_bits_of_json() -> None:
    wanted = {"command": "echo " + "long " * 50}
    text = events(Use("Bash", wanted, "toolu_7"))

    written = "".join(event["delta"]["partial_json"] for event in text if event["type"] == "content_block_delta")
    assert json.loads(written) == wanted
    assert text[1]["content_block"] == {"type": "tool_use", "id": "toolu_7", "name": "Bash", "input": {}}
    assert text[-2]["delta"]["stop_reason"] == "tool_use"


def test_thinking_is_signed() -> None:
    deltas = [event["delta"] for event in events(think("hm")) if event["type"] == "content_block_delta"]

    assert [delta["type"] for delta in deltas] == ["thinking_delta", "signature_delta"]


def test_silence_does_not_count_as_a_block() -> None:
    starts = [event["index"] for event in events(say("a"), wait(1), say("b")) if event["type"] == "content_block_start"]

    assert starts == [0, 1]


def test_nothing_follows_a_cut_or_an_error() -> None:
    assert list(beats(SpokenReply("msg_1", (say("half"), cut(), say("never"))), ASKED))[-1] == Cut()
    assert events(error("overloaded_error"), say("never"))[-1]["error"]["type"] == "overloaded_error"


def test_half_an_emoji_goes_out_as_it_is() -> None:
    assert events(say("\ud83d"))[2]["delta"]["text"] == "\ud83d"


def test_tokens_are_estimated_unless_the_script_says_what_was_spent() -> None:
    estimated, text = events(say("a" * 400)), events(say("a"), spend(1000, 50))

    assert estimated[-2]["usage"]["output_tokens"] == 101
    assert text[0]["message"]["usage"]["input_tokens"] == 1000
    assert text[-2]["usage"]["output_tokens"] == 50


def test_a_reply_that_is_not_streamed_is_one_message() -> None:
    message = whole(think("hm"), say("hi"), Use("Bash", {"command": "ls"}, "toolu_1"))

    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
    assert message["stop_reason"] == "tool_use"
    assert headers(SpokenReply("msg_1", ()), streamed=False)["content-type"] == "application/json"


def test_an_error_in_a_reply_that_is_not_streamed_is_a_status() -> None:
    speech = SpokenReply("msg_1", (say("half"), error("overloaded_error")))

    assert status(speech, streamed=False) == 529
    assert whole(say("half"), error("overloaded_error"))["type"] == "error"


def test_a_refusal_keeps_its_silence_and_says_when_to_come_back() -> None:
    refusal = ErrorReply((wait(3),), fail(429, "rate_limit_error", retry_after=1.5))

    assert status(refusal, streamed=True) == 429
    assert headers(refusal, streamed=True)["retry-after"] == "1.5"
    silence, sent = beats(refusal, ASKED)
    assert silence == WaitPiece(3)
    assert isinstance(sent, bytes)
    assert json.loads(sent)["error"]["type"] == "rate_limit_error"


def test_a_tool_may_take_an_input_called_tool() -> None:
    assert use("Any", tool="hammer").input == {"tool": "hammer"}
