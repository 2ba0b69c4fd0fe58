"""One running script: a request in, a reply out. Never awaits, never writes.

Claude repeats a request, with the very same messages, when a reply was refused, broken or lost (seen in 2.1.325 after
a 429, a 5xx, and a stream that broke before its first block of text was whole; after a break at the very start it asks
with `stream: false`). After a reply that was *meant* to go wrong the script moves on, so its next yield answers the
repetition. After any other reply the same reply is sent again, tool IDs included, and the script doesn't move on.
"""

import hashlib
import traceback
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from handraise.demo.pieces import AgentPiece, Fail, Hold, Piece, SayPiece, Script, Scripted, Spoken, Use, WaitPiece
from handraise.demo.reply import ErrorReply, Reply, SpokenReply
from handraise.demo.request import Conversation, Request

OVER = "The script is over."
# The name the model is offered; `system/init` calls the same tool Task.
AGENT_TOOL = "Agent"


class ScriptMistake(Exception):
    """A script yielded something that cannot be played."""


class Play:
    """Runs one script, one reply per request. `errors` lists the script's own mistakes."""

    def __init__(self, key: str, scripted: Scripted) -> None:
        self._scripted = scripted
        self._script: Script | None = None
        self._over = False
        self._answered: tuple[str, Reply] | None = None
        self._ids = _ids(key)
        self.errors: list[str] = []

    def reply_to(self, request: Request) -> Reply:
        match self._answered:
            case (request.identity, SpokenReply(goes_wrong=False) as repeated):
                return repeated
        reply = self._step(Conversation.read(request))
        self._answered = (request.identity, reply)
        return reply

    def _step(self, conversation: Conversation) -> Reply:
        # A script may raise anything: the error is shown in the reply and recorded, and the model keeps running.
        try:
            return self._compose(self._advance(conversation))
        except StopIteration:
            self._over = True
            return self._compose([SayPiece(OVER)])
        except Exception as mistake:
            self._over = True
            self.errors.append("".join(traceback.format_exception(mistake)))
            return self._compose([SayPiece(f"THE SCRIPT FAILED: {type(mistake).__name__}: {mistake}")])

    def _advance(self, conversation: Conversation) -> Sequence[Piece]:
        if self._over:
            return [SayPiece(OVER)]
        if self._script is None:
            self._script = self._scripted(conversation)
            return next(self._script)
        return self._script.send(conversation)

    def _compose(self, pieces: Sequence[Piece]) -> Reply:
        number = next(self._ids)
        spoken: list[Spoken] = []
        agents: list[tuple[str, AgentPiece]] = []
        for piece in pieces:
            match piece:
                case Fail():
                    return _refuse(spoken, piece)
                case AgentPiece():
                    call = replace(_call(piece), id=f"toolu_{next(self._ids)}")
                    agents.append((call.id, piece))
                    spoken.append(call)
                case Use():
                    spoken.append(replace(piece, id=f"toolu_{next(self._ids)}"))
                case _:
                    spoken.append(piece)
        return SpokenReply(f"msg_{number}", tuple(spoken), tuple(agents))


def _refuse(before: Sequence[Spoken], fail: Fail) -> ErrorReply:
    silence = tuple(piece for piece in before if isinstance(piece, WaitPiece | Hold))
    if len(silence) != len(before):
        raise ScriptMistake("fail() after speech: a stream that has begun can only break, with cut() or error()")
    return ErrorReply(silence, fail)


def _call(agent: AgentPiece) -> Use:
    return Use(
        AGENT_TOOL,
        {
            "description": agent.description,
            "prompt": agent.prompt,
            "subagent_type": "general-purpose",
            "run_in_background": agent.background,
        },
    )


def _ids(key: str) -> Iterator[str]:
    """The same IDs for the same run key, different ones for every other."""
    stem = hashlib.sha256(key.encode()).hexdigest()[:12]
    number = 0
    while True:
        number += 1
        yield f"{stem}{number:04d}"
