"""One reply of the model, as a value and as the beats of an HTTP response. Never sends, never waits.

A beat is either bytes to send or something to do between them; the caller who performs the beats does the waiting.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

from msgspec import Struct

from handraise.demo.pieces import (
    AgentPiece,
    Cut,
    Error,
    Fail,
    Hold,
    Refuse,
    SayPiece,
    Spend,
    Spoken,
    Think,
    Use,
    WaitPiece,
)
from handraise.demo.request import CHECK, Request

CHARACTERS_PER_TOKEN = 4
# The API's status codes for errors before a stream begins.
_STATUS = {"rate_limit_error": 429, "overloaded_error": 529, "api_error": 500}
_WORD = re.compile(r"\s*\S+\s*|\s+")
_INPUT_CHUNK = 48
_SIGNATURE = "c2NyaXB0ZWQ="


class SpokenReply(Struct, frozen=True):
    """A reply of text and tool calls; each tool call has its ID, and each sub-agent is a tool call too."""

    id: str
    pieces: tuple[Spoken, ...]
    agents: tuple[tuple[str, AgentPiece], ...] = ()

    @property
    def goes_wrong(self) -> bool:
        return any(isinstance(piece, Cut | Error) for piece in self.pieces)


class ErrorReply(Struct, frozen=True):
    """A reply that is an HTTP error, possibly after a pause."""

    silence: tuple[WaitPiece | Hold, ...]
    fail: Fail


Reply: TypeAlias = SpokenReply | ErrorReply
Beat: TypeAlias = bytes | WaitPiece | Hold | Cut


def status(reply: Reply, *, streamed: bool) -> int:
    match reply:
        case ErrorReply(fail=fail):
            return fail.status
        case SpokenReply(pieces=pieces) if not streamed:
            return next((_STATUS.get(piece.kind, 500) for piece in pieces if isinstance(piece, Error)), 200)
        case SpokenReply():
            return 200
        case _:
            assert_never(reply)


def headers(reply: Reply, *, streamed: bool) -> dict[str, str]:
    match reply:
        case ErrorReply(fail=Fail(retry_after=float() | int() as seconds)):
            return {"content-type": "application/json", "retry-after": f"{seconds:g}"}
        case SpokenReply() if streamed:
            return {"content-type": "text/event-stream", "cache-control": "no-store"}
        case _:
            return {"content-type": "application/json"}


def beats(reply: Reply, request: Request) -> Iterator[Beat]:
    match reply:
        case ErrorReply(silence, fail):
            yield from silence
            yield _error_body(fail.kind, fail.message)
        case SpokenReply() if request.streamed:
            yield from _stream(reply, request)
        case SpokenReply():
            yield from _whole(reply, request)
        case _:
            assert_never(reply)


def _stream(speech: SpokenReply, request: Request) -> Iterator[Beat]:
    spent = _spent(speech, request)
    yield _event("message_start", message={**_message(speech, request, [], spent), "stop_reason": None})
    index = 0
    for piece in speech.pieces:
        match piece:
            case WaitPiece() | Hold():
                yield piece
            case Cut():
                yield piece
                return
            case Error(kind, message):
                yield _event("error", error={"type": kind, "message": message})
                return
            case Spend() | Refuse():
                continue
            case SayPiece() | Think() | Use():
                yield from _block(index, piece)
                index += 1
            case _:
                assert_never(piece)
    yield _event(
        "message_delta",
        delta={"stop_sequence": None, **_stop(speech.pieces), **_checked(speech, request)},
        usage={"output_tokens": spent.output_tokens},
    )
    yield _event("message_stop")


def _checked(speech: SpokenReply, request: Request) -> dict[str, Any]:
    """The verdicts about the tool calls, where they are asked for; seen in 2.1.325."""
    verdicts = {
        piece.id: _verdict(piece.flag)
        for piece in speech.pieces
        if isinstance(piece, Use) and piece.flag is not None and request.checks_calls
    }
    if not verdicts:
        return {}
    return {"safeguard_results": [{"type": CHECK, "status": {"type": "available", "tool_uses": verdicts}}]}


def _verdict(flag: str) -> dict[str, str]:
    if not flag:
        return {"type": "evaluated", "outcome": "not_flagged"}
    return {"type": "evaluated", "outcome": "flagged", "explanation": flag}


def _block(index: int, piece: SayPiece | Think | Use) -> Iterator[Beat]:
    yield _event("content_block_start", index=index, content_block=_empty_block(piece))
    match piece:
        case SayPiece(text, pace):
            for number, word in enumerate(_WORD.findall(text)):
                if pace and number:
                    yield WaitPiece(pace)
                yield _delta(index, type="text_delta", text=word)
        case Think(text):
            yield _delta(index, type="thinking_delta", thinking=text)
            yield _delta(index, type="signature_delta", signature=_SIGNATURE)
        case Use(input=fields):
            encoded = json.dumps(fields)
            for start in range(0, len(encoded), _INPUT_CHUNK):
                yield _delta(index, type="input_json_delta", partial_json=encoded[start : start + _INPUT_CHUNK])
    yield _event("content_block_stop", index=index)


def _whole(speech: SpokenReply, request: Request) -> Iterator[Beat]:
    blocks: list[Mapping[str, Any]] = []
    for piece in speech.pieces:
        match piece:
            case WaitPiece() | Hold():
                yield piece
            case Cut():
                yield piece
                return
            case Error(kind, message):
                yield _error_body(kind, message)
                return
            case SayPiece(text):
                blocks.append({"type": "text", "text": text})
            case Think(text):
                blocks.append({"type": "thinking", "thinking": text, "signature": _SIGNATURE})
            case Use(tool, fields, id):
                blocks.append({"type": "tool_use", "id": id, "name": tool, "input": fields})
            case Spend() | Refuse():
                continue
            case _:
                assert_never(piece)
    yield json.dumps(_message(speech, request, blocks, _spent(speech, request))).encode()


def _message(
    speech: SpokenReply, request: Request, blocks: Sequence[Mapping[str, Any]], spent: Spend
) -> dict[str, Any]:
    return {
        "id": speech.id,
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": blocks,
        "stop_sequence": None,
        **_stop(speech.pieces),
        "usage": {
            "input_tokens": spent.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": spent.output_tokens if blocks else 1,
        },
    }


def _empty_block(piece: SayPiece | Think | Use) -> dict[str, Any]:
    match piece:
        case SayPiece():
            return {"type": "text", "text": ""}
        case Think():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Use(tool, _, id):
            return {"type": "tool_use", "id": id, "name": tool, "input": {}}


def _spent(speech: SpokenReply, request: Request) -> Spend:
    """The tokens that the script claims, or an estimate from the lengths."""
    for piece in speech.pieces:
        if isinstance(piece, Spend):
            return piece
    letters = sum(_letters(piece) for piece in speech.pieces)
    return Spend(1 + request.size // CHARACTERS_PER_TOKEN, 1 + letters // CHARACTERS_PER_TOKEN)


def _letters(piece: Spoken) -> int:
    match piece:
        case SayPiece(text) | Think(text):
            return len(text)
        case Use(input=fields):
            return len(json.dumps(fields))
        case _:
            return 0


def _stop(pieces: Sequence[Spoken]) -> dict[str, Any]:
    for piece in pieces:
        if isinstance(piece, Refuse):
            return {"stop_reason": "refusal", "stop_details": {"type": "refusal", "category": piece.category}}
    return {"stop_reason": "tool_use" if any(isinstance(piece, Use) for piece in pieces) else "end_turn"}


def _delta(index: int, **delta: str) -> bytes:
    return _event("content_block_delta", index=index, delta=delta)


def _event(kind: str, **fields: object) -> bytes:
    # Plain `json` writes ASCII, so half an emoji in a script goes out as the lone surrogate it is.
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _error_body(kind: str, message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
