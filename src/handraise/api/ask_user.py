"""The relay endpoints of the ask-user specification: a question is relayed, answered by its page, and polled for.

Beyond the specification every question has an ask id: with it a late answer cannot reach the next question, and
several questions of one stream do not overwrite each other.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from handraise.agents.calls import AgentCalls, Caller
from handraise.agents.run_file import Run, is_stream_token
from handraise.agents.runs import Runs, caller_in
from handraise.api.bodies import receive_body
from handraise.api.requests import ApiRequest, BadRequest, Parameter, Route, answer
from handraise.desk.interface import Unfit
from handraise.inbox.errors import NoSuchAsk
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Answered, Ask, Expired, Question, Withdrawn
from handraise.model.inputs import MalformedInput
from handraise.model.items import Item
from handraise.model.own_tools import ASK_USER

_LARGEST = 1024 * 1024
_LONGEST_HOLD = 60
_WAIT = Parameter("wait", "how many seconds to hold the request", "integer", most=_LONGEST_HOLD)
_NO_OPTIONS = "This question has no options to choose from."
_P = Parameter("p", "the project of the run")


class Forbidden(BadRequest):
    """The stream is not active, or not this project's."""

    def __init__(self) -> None:
        super().__init__("This stream is not active here.", 403, "not_allowed")


class AskUserEndpoints:
    """`directory_of` names the directory of a project; `chance` gives a name to what has none."""

    def __init__(
        self,
        agent_calls: AgentCalls,
        runs: Runs,
        directory_of: Callable[[str], Awaitable[str]],
        chance: Callable[[], str],
        left: Callable[[str], Awaitable[list[Ask]]],
    ) -> None:
        self._agent_calls = agent_calls
        self._runs = runs
        self._directory_of = directory_of
        self._chance = chance
        self._left = left

    async def relay_question(self, request: ApiRequest) -> Response:
        """Puts a question to people. Who sends it shows the stream's token, and no cookie speaks for anybody."""
        told = _object(await receive_body(request.http, _LARGEST, json_only=False))
        run = self._run(request, told.get("streamToken"))
        arguments = {key: told[key] for key in ("question", "options", "multiSelect") if told.get(key) is not None}
        reference = _name(told.get("reference"))
        caller = await self._caller(run)
        if not await self._agent_calls.offers(caller, ASK_USER):
            raise BadRequest("ask_user is switched off in this project.", 403, "not_allowed")
        try:
            ask = await self._agent_calls.raise_ask(
                caller, self._chance() if reference is None else reference, ASK_USER, arguments
            )
        except MalformedInput as error:
            raise BadRequest(str(error)) from error
        self._agent_calls.seen(ask.id)
        return answer({"status": "ok", "askId": ask.id})

    async def poll_answer(self, request: ApiRequest) -> Response:
        """The answer, once. With `wait` the request is held until there is one."""
        run = self._run(request, request.text("streamToken"))
        ask = await self._asked(run, request.text("askId"), newest=True)
        wait = request.number(_WAIT) or 0
        if ask is not None and ask.settlement is None and wait:
            ask = await self._hold(run, ask, wait)
        if ask is None or ask.settlement is None:
            if ask is not None:
                self._agent_calls.seen(ask.id)
            return answer({"status": "waiting"}, 202)
        if not await self._agent_calls.hand_over(ask):
            return answer({"status": "waiting"}, 202)
        return answer({**_told(ask), "askId": ask.id})

    async def submit_answer(self, request: ApiRequest) -> Response:
        """What the page of the specification sends; whoever is at it is let in as everywhere else."""
        told = _object(request.content)
        run = self._run(request, told.get("streamToken"))
        named = _name(told.get("askId"))
        ask = await self._asked(run, named, newest=False)
        if ask is None:
            raise BadRequest("There is no question of this stream to answer.", 404, "not_found")
        chosen = _choices(ask, told, is_named=named is not None)
        try:
            given = await request.desk.answer(ask.id, chosen)
        except Unfit as error:
            raise BadRequest(str(error)) from error
        return answer({"status": "ok", "askId": ask.id, "late": given.late}, 202 if given.late else 200)

    def as_event(self, item: Item) -> bytes:
        """The event that the page of the specification waits for, for a question of a run that is still open."""
        if b'"ask.opened"' not in item.content[:40]:
            return b""
        ask = json.loads(item.content)["ask"]
        if ask["asker"] != "agent" or ask["tool"] != ASK_USER or not self._agent_calls.is_open(ask["id"]):
            return b""
        token = self._runs.named(ask["agent"])
        if token is None:
            return b""
        [prompt] = ask["body"]["questions"]
        told = {
            "question": prompt["question"],
            "options": [{key: option[key] for key in ("label", "description")} for option in prompt["options"]],
            "multiSelect": prompt["multi_select"],
            "streamToken": token,
            "askId": ask["id"],
        }
        event = json.dumps({"type": "ask_user_question", "data": told})
        return f"event: ask_user_question\ndata: {event}\n\n".encode()

    def routes(self) -> tuple[Route, ...]:
        token = Parameter("streamToken", "the stream's token")
        ask = Parameter("askId", "which question; without it, the newest")
        return (
            Route(
                "POST",
                "/claude/relay-question",
                None,
                self.relay_question,
                "Relay a question of a run",
                parameters=(_P,),
                authenticates_itself=True,
            ),
            Route(
                "GET",
                "/claude/poll-answer",
                None,
                self.poll_answer,
                "The answer to it, once",
                parameters=(_P, token, ask, _WAIT),
                long_lived=True,
            ),
            Route("POST", "/claude/submit-answer", "approver", self.submit_answer, "Answer it", parameters=(_P,)),
        )

    def _run(self, request: ApiRequest, token: object) -> Run:
        if not is_stream_token(token):
            raise BadRequest("streamToken must be a UUID.")
        run = self._runs.find(token)
        if run is None or request.text("p") != run.project:
            raise Forbidden
        return run

    async def _caller(self, run: Run) -> Caller:
        return caller_in(run, await self._directory_of(run.project))

    async def _asked(self, run: Run, named: str | None, *, newest: bool) -> Ask | None:
        prefix = f"{(await self._caller(run)).conversation}/"
        if named is not None:
            try:
                ask = await self._agent_calls.find(named)
            except NoSuchAsk:
                raise Forbidden from None
            if not ask.origin.reference.startswith(prefix):
                raise Forbidden
            return ask
        asks = [ask for ask in await self._left(prefix) if newest or ask.settlement is None]
        if len(asks) > 1 and not newest:
            raise BadRequest("Several questions of this stream are open: name one by its askId.")
        return asks[-1] if asks else None

    async def _hold(self, run: Run, ask: Ask, seconds: float) -> Ask:
        with self._runs.alive(run.stream_token) as ended:
            awaited, over = asyncio.ensure_future(self._agent_calls.awaited(ask)), asyncio.ensure_future(ended.wait())
            try:
                await asyncio.wait([awaited, over], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                if ended.is_set():
                    raise Forbidden
                return awaited.result() if awaited.done() else ask
            finally:
                awaited.cancel()
                over.cancel()
                await asyncio.gather(awaited, over, return_exceptions=True)


def _object(sent: bytes) -> dict[str, Any]:
    try:
        told = json.loads(sent)
    except (ValueError, RecursionError):
        raise BadRequest("The body is not valid JSON.") from None
    if not isinstance(told, dict):
        raise BadRequest("The body must be a JSON object.")
    return told


def _name(told: object) -> str | None:
    """What something is called, if that is a text; half of an emoji, which is none, becomes a question mark."""
    return told.encode(errors="replace").decode() if isinstance(told, str) else None


def _choices(ask: Ask, told: dict[str, Any], *, is_named: bool) -> Choices:
    """Options come by their place, or as the words of one; whatever else was said is free text.

    Who does not name the question must say by words what was chosen by its place: a page that shows an older one
    says something else.
    """
    if not isinstance(ask.body, Question):
        raise BadRequest("This is not a question.")
    labels = [option.label for option in ask.body.questions[0].options]
    places, said = told.get("selectedOptions") or [], told.get("answer") or ""
    if not isinstance(said, str) or not isinstance(places, list):
        raise BadRequest("answer must be text, and selectedOptions a list of whole numbers.")
    if not all(type(each) is int and 0 <= each < len(labels) for each in places):
        raise BadRequest(f"selectedOptions must be places from 0 to {len(labels) - 1}." if labels else _NO_OPTIONS)
    said = said.strip()
    chosen = [labels[each] for each in dict.fromkeys(places)] or [label for label in labels if label == said]
    words, rest = ", ".join(chosen), ""
    if said.startswith(words):
        rest = said.removeprefix(words).lstrip(", ")
    elif is_named or not chosen:
        rest = said
    elif said:
        raise BadRequest("answer and selectedOptions say different things: name the question by its askId.")
    return Choices((Choice(tuple(chosen), rest or None),))


def _told(ask: Ask) -> dict[str, Any]:
    match ask.settlement:
        case Answered(answer=Choices((choice, *_))) if isinstance(ask.body, Question):
            labels = [option.label for option in ask.body.questions[0].options]
            words = ", ".join([*choice.labels, *([choice.text] if choice.text else [])])
            chosen = [labels.index(label) for label in choice.labels if label in labels]
            return {"status": "answered", "answer": words, "selectedOptions": chosen}
        case Expired():
            return {"status": "expired"}
        case Withdrawn(reason=reason):
            return {"status": "withdrawn", "reason": reason}
        case _:
            return {"status": "waiting"}
