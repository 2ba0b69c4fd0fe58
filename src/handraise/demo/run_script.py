"""One run of a script: passes each request to the main script, to a sub-agent's, or to neither. Never awaits.

A side request (`Request.is_side`) moves no script. A sub-agent's request goes to the script of its `agent(...)` call,
found by its prompt; of several with the same prompt, the first that hasn't started. All others continue the main
script, whatever the conversation looks like: it may have been resumed, compacted or interrupted.
"""

from collections import deque

from handraise.demo.pieces import AgentPiece, SayPiece, Scripted
from handraise.demo.play import Play
from handraise.demo.reply import Reply, SpokenReply
from handraise.demo.request import Request

KEPT_REQUESTS = 200
SIDE_REPLY = "A scripted aside."


class RunScript:
    """A script under one run key, with its sub-agents. Keeps the last `KEPT_REQUESTS` requests."""

    def __init__(self, key: str, scripted: Scripted) -> None:
        self.key = key
        self.requests: deque[Request] = deque(maxlen=KEPT_REQUESTS)
        self._main = Play(key, scripted)
        self._called: list[tuple[str, AgentPiece]] = []
        self._agents: dict[str, Play] = {}
        self._unexpected: list[str] = []

    @property
    def errors(self) -> list[str]:
        plays = [self._main, *self._agents.values()]
        return [*(error for play in plays for error in play.errors), *self._unexpected]

    def reply_to(self, request: Request) -> Reply:
        self.requests.append(request)
        if request.is_side:
            return SpokenReply("msg_aside", (SayPiece(SIDE_REPLY),))
        play = self._agent(request) if request.is_subagent else self._main
        if play is None:
            self._unexpected.append(f"{self.key}: no script called a sub-agent with the prompt {request.opening!r}")
            return SpokenReply("msg_unexpected", (SayPiece("No script called this sub-agent."),))
        reply = play.reply_to(request)
        if isinstance(reply, SpokenReply):
            self._called.extend(call for call in reply.agents if call not in self._called)
        return reply

    def _agent(self, request: Request) -> Play | None:
        name = request.agent or request.opening
        if name not in self._agents:
            call = next((call for call in self._called if call[1].prompt.strip() == request.opening), None)
            if call is None:
                return None
            self._called.remove(call)
            tool_use_id, agent = call
            self._agents[name] = Play(f"{self.key}/{tool_use_id}", agent.script)
        return self._agents[name]
