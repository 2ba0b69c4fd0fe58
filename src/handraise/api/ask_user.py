"""The relay endpoints of the ask-user specification: a question is relayed, answered on its page, and polled for.

Beyond the specification, every question has an ask id: a late answer can't reach the next question, and several
questions of one stream don't overwrite each other.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from handraise.agents.calls import AgentCalls, Caller
from handraise.agents.run_file import Run, is_stream_token
from handraise.agents.runs import Runs, caller_in
from handraise.api.requests import ApiRequest, BadRequest, Parameter, Route, answer, receive_body
from handraise.desk.interface import Unfit
from handraise.inbox.errors import NoSuchAsk
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Answered, Ask, Expired, Question, Withdrawn
from handraise.model.inputs import MalformedInput
from handraise.model.items import Item
from handraise.model.own_tools import ASK_USER

_LARGEST = 1024 * 1024
_LONGEST_HOLD = 60
_WAIT = Parameter("wait", "How many seconds to wait for the answer", "integer", most=_LONGEST_HOLD)
_NO_OPTIONS = "This question has no options to choose from."
_P = Parameter("p", "The run's project")


class Forbidden(BadRequest):
    """The stream is not active, or not this project's."""

    def __init__(self) -> None:
        super().__init__("This stream isn't active.", 403, "not_allowed")


class AskUserEndpoints:
    """`directory_of` returns the directory of a project; `new_reference` names a question without a name."""

    def __init__(
        self,
        agent_calls: AgentCalls,
        runs: Runs,
        directory_of: Callable[[str], Awaitable[str]],
        new_reference: Callable[[], str],
        left: Callable[[str], Awaitable[list[Ask]]],
    ) -> None:
        self._agent_calls = agent_calls
        self._runs = runs
        self._directory_of = directory_of
        self._new_reference = new_reference
        self._left = left

    async def relay_question(self, request: ApiRequest) -> Response:
        """Asks people a question. The body must hold the stream token; cookies don't count."""
        body = _object(await receive_body(request.http, _LARGEST, json_only=False))
        run = self._run(request, body.get("streamToken"))
        arguments = {key: body[key] for key in ("question", "options", "multiSelect") if body.get(key) is not None}
        reference = _name(body.get("reference"))
        caller = await self._caller(run)
        if not await self._agent_calls.offers(caller, ASK_USER):
            raise BadRequest("ask_user is turned off in this project.", 403, "not_allowed")
        try:
            ask = await self._agent_calls.raise_ask(
                caller, self._new_reference() if reference is None else reference, ASK_USER, arguments
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
        return answer({**_result(ask), "askId": ask.id})

    async def submit_answer(self, request: ApiRequest) -> Response:
        """An answer from the specification's page, whose user signs in as usual."""
        body = _object(request.content)
        run = self._run(request, body.get("streamToken"))
        ask_id = _name(body.get("askId"))
        ask = await self._asked(run, ask_id, newest=False)
        if ask is None:
            raise BadRequest("This stream has no open question.", 404, "not_found")
        choices = _choices(ask, body, has_id=ask_id is not None)
        try:
            settled = await request.desk.answer(ask.id, choices)
        except Unfit as error:
            raise BadRequest(str(error)) from error
        return answer({"status": "ok", "askId": ask.id, "late": settled.late}, 202 if settled.late else 200)

    def as_event(self, item: Item) -> bytes:
        """The event that the specification's page waits for, for an open question of a run."""
        if b'"ask.opened"' not in item.content[:40] or b'"asker":"agent"' not in item.content:
            return b""  # most are a session's: they needn't be decoded
        ask = json.loads(item.content)["ask"]
        if ask["asker"] != "agent" or ask["tool"] != ASK_USER or not self._agent_calls.is_open(ask["id"]):
            return b""
        token = self._runs.named(ask["agent"])
        if token is None:
            return b""
        [prompt] = ask["body"]["questions"]
        question = {
            "question": prompt["question"],
            "options": [{key: option[key] for key in ("label", "description")} for option in prompt["options"]],
            "multiSelect": prompt["multi_select"],
            "streamToken": token,
            "askId": ask["id"],
        }
        event = json.dumps({"type": "ask_user_question", "data": question})
        return f"event: ask_user_question\ndata: {event}\n\n".encode()

    def routes(self) -> tuple[Route, ...]:
        token = Parameter("streamToken", "The run's stream token")
        ask = Parameter("askId", "Which question. Default: the newest")
        return (
            Route(
                "POST",
                "/claude/relay-question",
                None,
                self.relay_question,
                "Ask a question from a run",
                parameters=(_P,),
                authenticates_itself=True,
            ),
            Route(
                "GET",
                "/claude/poll-answer",
                None,
                self.poll_answer,
                "Get the answer to a question, once",
                parameters=(_P, token, ask, _WAIT),
                long_lived=True,
            ),
            Route(
                "POST",
                "/claude/submit-answer",
                "approver",
                self.submit_answer,
                "Answer a question of a run",
                parameters=(_P,),
            ),
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
            raise BadRequest("This stream has several open questions. Choose one with askId.")
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


def _object(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise BadRequest("The body is not valid JSON.") from None
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    return body


def _name(value: object) -> str | None:
    """A text; half an emoji in it becomes a question mark. None for anything else."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else None


def _choices(ask: Ask, body: dict[str, Any], *, has_id: bool) -> Choices:
    """Options come by number or by label; anything else is free text.

    Without the question's ID, a number must come with its label: a page that shows an older question sends another.
    """
    if not isinstance(ask.body, Question):
        raise BadRequest("This is not a question.")
    labels = [option.label for option in ask.body.questions[0].options]
    places, text = body.get("selectedOptions") or [], body.get("answer") or ""
    if not isinstance(text, str) or not isinstance(places, list):
        raise BadRequest("answer must be text, and selectedOptions a list of whole numbers.")
    if not all(type(each) is int and 0 <= each < len(labels) for each in places):
        raise BadRequest(f"selectedOptions must be numbers from 0 to {len(labels) - 1}." if labels else _NO_OPTIONS)
    text = text.strip()
    chosen = [labels[each] for each in dict.fromkeys(places)] or [label for label in labels if label == text]
    words, rest = ", ".join(chosen), ""
    if text.startswith(words):
        rest = text.removeprefix(words).lstrip(", ")
    elif has_id or not chosen:
        rest = text
    elif text:
        raise BadRequest("answer and selectedOptions don't match. Choose the question with askId.")
    return Choices((Choice(tuple(chosen), rest or None),))


def _result(ask: Ask) -> dict[str, Any]:
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
