"""The OpenAPI document: what it says about asks, answers and settlements is what is sent."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from api.served import WHICH, A, B, served
from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import (
    Allow,
    Answer,
    Approve,
    Choice,
    Choices,
    Deny,
    Filled,
    Outline,
    Revise,
    answer_as_json,
)
from handraise.model.asks import (
    Answered,
    Body,
    Dialog,
    Expired,
    Form,
    Offer,
    Option,
    Permission,
    Plan,
    Prompt,
    Question,
    Settlement,
    Terms,
    Withdrawn,
    settlement_as_json,
)
from handraise.model.rules import Rule
from handraise.store.changes import SettleAsk

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BODIES: list[Body] = [
    WHICH,
    Permission("Bash", {"command": "ls"}, offers=(Offer("always", "any `ls`", (Rule("r", "allow", command="ls *"),)),)),
    Plan("1. Do it."),
    Form("Who?", "a server", {"properties": {"name": {"type": "string"}}}),
    Form("Sign in", "a server", {}, "https://example.com/"),
    Question(
        (Prompt("Retry?", "", (Option("A"), Option("B")), closed=True),),
        terms=Terms(person=True),
        dialog=Dialog("refusal_fallback_prompt", ("retry_fallback", "cancelled")),
    ),
]
ANSWERS: list[Answer] = [
    Choices((Choice(("A",)), Choice((), "something else"))),
    Allow(),
    Allow("session", {"command": "pwd"}, (0,)),
    Deny(),
    Deny("Not now.", True),
    Approve(),
    Approve("acceptEdits", "2. Do it better."),
    Revise("Shorter."),
    Outline(),
    Filled("accept", {"name": "ana"}),
    Filled("decline"),
]


class Document:
    """Checks values against its components."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = document["components"]

    def fits(self, name: str, value: object) -> bool:
        schema = {"$ref": f"#/components/schemas/{name}", "components": self._components}
        return jsonschema_rs.validator_for(schema).is_valid(value)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
async def test_every_kind_of_ask_is_as_the_document_says_open_and_settled(tmp_path: Path, body: Body) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        document = Document((await client.get("/api/openapi.json")).json())
        ask = await hub.ask(body)
        shown = (await client.get(f"/api/asks/{ask.id}")).json()
        assert document.fits("Ask", shown)
        assert document.fits(f"{type(body).__name__}Ask", shown)
        assert sum(document.fits(f"{type(each).__name__}Ask", shown) for each in BODIES[:4]) == 1
        assert document.fits("Asks", (await client.get("/api/asks")).json())

        await hub.up.hub.store.apply([SettleAsk(ask.id, Withdrawn("the turn was interrupted", NOON))])
        assert document.fits("Ask", (await client.get(f"/api/asks/{ask.id}")).json())
        gone = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": _some_answer(body)})
        assert gone.status_code == 410
        assert document.fits("Failed", gone.json())
        items = (await client.get("/api/items")).json()["items"]
        assert document.fits("FeedAskOpened", next(each for each in items if each["type"] == "ask.opened"))
        assert document.fits("FeedAskSettled", next(each for each in items if each["type"] == "ask.settled"))


async def test_a_conflict_shows_the_settlement_as_the_document_says(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        document = Document((await client.get("/api/openapi.json")).json())
        ask = await hub.ask()
        answered = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        assert document.fits("QuestionAsk", answered.json())
        conflict = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": B})
        assert document.fits("Failed", conflict.json())
        assert document.fits("Answered", conflict.json()["error"]["settlement"])


async def test_every_answer_and_settlement_is_one_of_those_in_the_document(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        document = Document((await client.get("/api/openapi.json")).json())
    for answer in ANSWERS:
        text = answer_as_json(answer)
        assert document.fits("Answer", text), text
        assert document.fits(type(answer).__name__, text), text
        assert document.fits("Answering", {"answer": text})
        for by in (Person("ana"), ByRule("r_1", "Rule r_1"), TheHub()):
            assert document.fits("Settlement", _told(Answered(answer, by, "web", NOON)))
        assert document.fits("Settlement", _told(Expired(NOON, Answered(answer, Person("ana"), "web", NOON))))
    assert document.fits("Settlement", _told(Expired(NOON)))
    assert document.fits("Settlement", _told(Withdrawn("the session was stopped", NOON)))
    for wrong in ({}, {"allow": "yes"}, {"allow": True, "message": "no"}, {"outline": False}, {"labels": ["A"]}):
        assert not document.fits("Answer", wrong), wrong


def _told(settlement: Settlement) -> dict[str, Any]:
    text = settlement_as_json(settlement)
    return {**text, "at": str(text["at"])}


def _some_answer(body: Body) -> dict[str, Any]:
    match body:
        case Permission():
            return {"allow": True}
        case Plan():
            return {"approve": True}
        case Form():
            return {"action": "decline"}
        case _:
            return A
