"""A transcript as a timeline: what people and Claude said and did, and nothing else."""

import json
from typing import Any

from handraise.model.actors import Person
from handraise.model.items import ActionEnded, ActionStarted, Content, Said, SaidTaken, Text
from handraise.terminals.transcript_reader import TranscriptReader

ANA = Person("ana")


def line(kind: str, content: Any, **more: Any) -> bytes:
    role = {"role": kind, "content": content}
    message = {**role, "id": "msg_1", "type": "message", "model": "m"} if kind == "assistant" else role
    return json.dumps({"type": kind, "uuid": "u1", "sessionId": "s", "message": message, **more}).encode()


def read(*lines: bytes) -> tuple[TranscriptReader, list[Content]]:
    reader = TranscriptReader(ANA)
    return reader, reader.read(lines)


def test_a_conversation_is_shown_in_order() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "description": "Looks"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt", "is_error": False}
    reader, contents = read(
        line("user", "Look around."),
        line("assistant", [{"type": "text", "text": "I will."}]),
        line("assistant", [call]),
        line("user", [result]),
    )
    message, receipt, text, started, ended = contents
    assert (message, receipt) == (Said("u1", "Look around.", 0, ANA, "terminal"), SaidTaken("u1"))
    assert isinstance(text, Text)
    assert text.text == "I will."
    assert isinstance(started, ActionStarted)
    assert (started.tool, started.input["command"]) == ("Bash", "ls")
    assert isinstance(ended, ActionEnded)
    assert (ended.ok, ended.output) == (True, "a.txt")
    assert reader.title == "Look around."


def test_the_name_that_a_person_gave_counts_more_than_how_they_began() -> None:
    named = json.dumps({"type": "custom-title", "customTitle": "My  own\ntitle"}).encode()
    reader, _ = read(line("user", "Look."), named, line("user", "Again."))
    assert reader.title == "My own title"


def test_what_is_no_part_of_the_conversation_is_passed_over() -> None:
    odd = [b"", b"{", b"[]", b"null", b"[" * 10_000, b'{"type": 5}', b'{"type": "user"}', b'{"type": "assistant"}']
    hidden = [line("user", "<system-reminder>", isMeta=True), line("assistant", [], isSidechain=True)]
    others = [json.dumps({"type": kind}).encode() for kind in ("mode", "attachment", "api-request", "system")]
    assert read(*odd, *hidden, *others, line("user", " "))[1] == []
