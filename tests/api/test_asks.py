"""Asks over HTTP: the inbox, and the outcome of an answer."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.served import WHICH, A, B, Served, error_of, served
from handraise.model.asks import Expired, Form, Permission, Plan, Withdrawn
from handraise.store.changes import SettleAsk


async def settle(hub: Served, ask: str, settlement: Expired | Withdrawn) -> None:
    await hub.up.hub.store.apply([SettleAsk(ask, settlement)])


async def test_the_first_answer_counts_the_same_again_is_fine_and_another_is_told_who_was_first(
    tmp_path: Path,
) -> None:  # lesson 30
    async with served(tmp_path) as hub, hub.client("approver") as client, hub.neighbour() as owner:
        ask = await hub.ask()
        where = f"/api/asks/{ask.id}/answer"

        first = await client.post(where, json={"answer": A, "digest": ask.digest})
        again = await owner.post(where, json={"answer": A})
        other = await owner.post(where, json={"answer": B})

        assert (first.status_code, again.status_code, other.status_code) == (200, 200, 409)
        assert first.json()["state"] == "answered"
        assert again.json() == first.json()
        error = error_of(other)
        assert error["code"] == "conflict"
        assert error["message"] == "Already answered by a approver (api): A."
        assert error["settlement"]["by"] == {"kind": "person", "name": "a approver"}
        assert error["settlement"]["from"] == "api"
        assert error["settlement"]["answer"] == {"answers": [{"labels": ["A"], "text": None}]}
        assert error["ask"]["id"] == ask.id


async def test_a_late_answer_is_taken_as_guidance_and_said_to_be_late(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        ask = await hub.ask()
        await settle(hub, ask.id, Expired(datetime.now(UTC)))
        late = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        again = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        other = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": B})
        assert (late.status_code, late.json()["late"], late.json()["state"]) == (202, True, "expired")
        assert (again.status_code, again.json()["late"]) == (202, True)
        assert (other.status_code, error_of(other)["code"]) == (409, "conflict")


async def test_an_answer_to_what_was_withdrawn_is_told_why_it_is_gone(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        ask = await hub.ask()
        await settle(hub, ask.id, Withdrawn("the turn was interrupted", datetime.now(UTC)))
        gone = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        assert gone.status_code == 410
        assert error_of(gone)["code"] == "withdrawn"
        assert "the turn was interrupted" in error_of(gone)["message"]


@pytest.mark.parametrize(
    ("body", "answer", "reason"),
    [
        (WHICH, {"answers": []}, "Expected 1 answer, got 0."),
        (WHICH, {"answers": [{"labels": []}]}, "has no answer yet"),
        (WHICH, {"answers": [{"labels": ["C"]}]}, "has no option 'C'"),
        (WHICH, {"answers": [{"labels": ["A", "B"]}]}, "takes one answer"),
        (WHICH, {"answers": [{"label": "A"}]}, "unknown field `label`"),
        (WHICH, {"allow": True}, "unknown field `allow`"),
        (Permission("Bash", {"command": "ls"}), {"allow": "yes"}, "'allow' must be true or false"),
        (Permission("Bash", {"command": "ls"}), {"allow": 1}, "'allow' must be true or false"),
        (Permission("Bash", {"command": "ls"}), {}, "must contain 'allow'"),
        (Permission("Bash", {"command": "ls"}), {"allow": True, "for": "ever"}, "Invalid enum value"),
        (Plan("1. Do it."), {"approve": True, "plan": " "}, "An edited plan can't be empty"),
        (Plan("1. Do it."), {"outline": False}, "Invalid enum value"),
        (
            Form("Who?", "srv", {"properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}),
            {"action": "accept", "content": {}},
            "Name is required",
        ),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_with_the_reason_and_the_ask_stays_open(
    tmp_path: Path, body: object, answer: object, reason: str
) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        ask = await hub.ask(body)  # type: ignore[arg-type]
        misfit = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": answer})
        assert misfit.status_code == 422
        assert reason in error_of(misfit)["message"]
        assert (await client.get(f"/api/asks/{ask.id}")).json()["state"] == "open"


async def test_nobody_approves_what_they_did_not_see(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        ask = await hub.ask()
        other = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A, "digest": "sha256:other"})
        assert other.status_code == 409
        assert error_of(other)["ask"]["digest"] == ask.digest


async def test_an_answer_that_is_nested_without_end_is_refused_and_harms_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        ask = await hub.ask(Permission("Bash", {"command": "ls"}))
        for depth in (60, 100, 400, 900, 5_000, 150_000):
            deep = b'{"answer":{"allow":true,"input":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}}"
            answered = await client.post(f"/api/asks/{ask.id}/answer", content=deep)
            assert answered.status_code in ((200,) if depth == 60 else (400, 409, 422)), answered.text
        assert (await client.get("/api/asks")).status_code == 200


async def test_the_inbox_is_filtered_and_paged_oldest_first(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        session = await hub.session(phase="idle")
        first, second, third = await hub.ask(), await hub.ask(Plan("…"), session=session.id), await hub.ask()
        await settle(hub, third.id, Withdrawn("gone", datetime.now(UTC)))

        async def ids(**filters: str | int) -> list[str]:
            return [ask["id"] for ask in (await client.get("/api/asks", params=filters)).json()["asks"]]

        assert await ids() == [first.id, second.id, third.id]
        assert await ids(state="open") == [first.id, second.id]
        assert await ids(kind="plan") == [second.id]
        assert await ids(session=session.id) == [second.id]
        assert await ids(state="withdrawn", kind="plan") == []
        page = (await client.get("/api/asks", params={"limit": 2})).json()
        assert page["next"] == second.id
        assert await ids(limit=2, after=page["next"]) == [third.id]
        for wrong in ({"state": "closed"}, {"kind": "bribe"}, {"limit": "0"}, {"limit": "many"}, {"sate": "open"}):
            refused = await client.get("/api/asks", params=wrong)
            assert refused.status_code == 422
            assert next(iter(wrong)) in error_of(refused)["message"]


async def test_the_newest_asks_come_first_where_they_are_wanted_so_and_no_page_repeats_one(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        asks = [(await hub.ask()).id for _ in range(7)]
        await settle(hub, asks[3], Withdrawn("gone", datetime.now(UTC)))
        for order, wanted in (("newest", asks[::-1]), ("oldest", asks)):
            seen: list[str] = []
            after: str | None = None
            while True:
                query: dict[str, str | int] = {"order": order, "limit": 3, **({"after": after} if after else {})}
                page = (await client.get("/api/asks", params=query)).json()
                seen += [ask["id"] for ask in page["asks"]]
                if order == "newest" and len(seen) == 3:
                    await hub.ask()
                after = page["next"]
                if after is None:
                    break
            assert seen[:7] == wanted
        open_ones = await client.get("/api/asks", params={"order": "newest", "state": "open", "after": asks[5]})
        assert [ask["id"] for ask in open_ones.json()["asks"]] == [asks[4], asks[2], asks[1], asks[0]]
        lost = await client.get("/api/asks", params={"after": "a_none"})
        assert (lost.json()["asks"], lost.json()["next"]) == ([], None)
        assert (await client.get("/api/asks", params={"order": "best"})).status_code == 422


async def test_an_ask_has_the_shape_that_the_interface_promises(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        ask = await hub.ask()
        shown = (await client.get(f"/api/asks/{ask.id}")).json()
        promised = {"id", "session", "kind", "state", "asker", "agent", "tool", "body", "digest"}
        promised |= {"opened_at", "expires_at", "settlement", "delivered_at"}
        assert promised <= set(shown)
        assert shown["body"]["questions"][0]["options"][0] == {"label": "A", "description": "", "preview": None}
        missing = await client.get("/api/asks/a_none")
        assert (missing.status_code, error_of(missing)["message"]) == (404, "There is no ask a_none.")
