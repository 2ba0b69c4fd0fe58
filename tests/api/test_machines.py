"""Machines over HTTP: who sees them, what can be changed, and what waits for one that is away."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from msgspec.structs import replace

from api.served import TESTER, Served, error_of, served
from handraise.model.instructions import Instruction
from handraise.model.machines import Machine
from handraise.model.sessions import Say, Session
from handraise.store.changes import GiveInstruction, QueueSay, SaveMachine, SaveSession

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
AWAY = Machine("m_far", "build-2", "1.0.0", 4, NOON, NOON, 1, away_since=NOON)
BUSY = Machine("m_near", "laptop", "1.0.1", 8, NOON, NOON + timedelta(days=9000), 1)
HOSTILE = ("", " ", "\x1b[31mred", "a\u202eb", "x" * 201, "line\nbreak")
STOP = Instruction("i_stop", "m_far", "s_far", "stop", TESTER, "web", NOON)


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    """One with two more machines: `build-2` is away and has a session."""
    async with served(tmp_path) as up:
        store = up.up.hub.store
        await store.apply([SaveMachine(AWAY, NOON), SaveMachine(BUSY, NOON)])
        session = Session("s_far", None, "/work", "claude-far", "Far away", NOON, NOON, "idle", machine="m_far")
        await store.apply([SaveSession(session)])
        yield up


@pytest.fixture
async def admin(hub: Served) -> AsyncIterator[httpx2.AsyncClient]:
    async with hub.client("admin") as client:
        yield client


async def test_the_list_has_names_and_says_who_is_away(hub: Served) -> None:
    async with hub.client("viewer") as viewer:
        listed = (await viewer.get("/api/machines")).json()["machines"]
    far, near = ({each["id"]: each for each in listed}[name] for name in ("m_far", "m_near"))
    assert (far["name"], far["version"], far["limit"], far["sessions"]) == ("build-2", "1.0.0", 4, 1)
    assert (far["away_since"], near["away_since"]) == ("2026-03-01T12:00:00Z", None)
    assert (far["here"], near["here"]) == (False, False)
    assert "epoch" not in far
    assert [each["name"] for each in listed] == sorted(each["name"] for each in listed)


async def test_a_machine_gets_another_name_and_the_feed_says_so(hub: Served, admin: httpx2.AsyncClient) -> None:
    renamed = await admin.patch("/api/machines/m_far", json={"name": "builder"})
    assert (renamed.status_code, renamed.json()["name"]) == (200, "builder")
    item = (await admin.get("/api/items")).json()["items"][-1]
    assert (item["type"], item["machine"]["name"]) == ("machine.changed", "builder")
    entry = (await admin.get("/api/audit", params={"order": "newest"})).json()["entries"][0]
    assert entry["what"] == "machine renamed"


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_name_that_could_deceive_is_refused(admin: httpx2.AsyncClient, name: str) -> None:
    refused = await admin.patch("/api/machines/m_far", json={"name": name})
    assert refused.status_code in (409, 422), refused.text
    error_of(refused)
    names = {each["id"]: each["name"] for each in (await admin.get("/api/machines")).json()["machines"]}
    assert names["m_far"] == "build-2"


async def test_two_machines_never_have_the_same_name(admin: httpx2.AsyncClient) -> None:
    refused = await admin.patch("/api/machines/m_far", json={"name": "laptop"})
    assert refused.status_code == 409
    assert "laptop" in error_of(refused)["message"]


async def test_only_a_machine_that_is_away_and_has_nothing_left_is_forgotten(
    hub: Served, admin: httpx2.AsyncClient
) -> None:
    for name in ("m_near", "m_far"):
        refused = await admin.delete(f"/api/machines/{name}")
        assert (refused.status_code, error_of(refused)["code"]) == (409, "refused")
    found = await hub.up.hub.store.session("s_far")
    assert found is not None
    await hub.up.hub.store.apply([SaveSession(replace(found, phase="ended"))])
    assert (await admin.delete("/api/machines/m_far")).status_code == 200
    assert "m_far" not in [each["id"] for each in (await admin.get("/api/machines")).json()["machines"]]
    item = (await admin.get("/api/items")).json()["items"][-1]
    assert (item["type"], item["forgotten"]) == ("machine.changed", True)
    entry = (await admin.get("/api/audit", params={"order": "newest"})).json()["entries"][0]
    assert entry["what"] == "machine forgotten"


@pytest.mark.parametrize("machine", ["m_nowhere", "%00", "..%2F..%2Fetc", "x" * 5000])
async def test_an_unknown_machine_is_not_found(admin: httpx2.AsyncClient, machine: str) -> None:
    for response in (
        await admin.patch(f"/api/machines/{machine}", json={"name": "new"}),
        await admin.delete(f"/api/machines/{machine}"),
    ):
        assert (response.status_code, error_of(response)["code"]) == (404, "not_found")


async def test_sessions_and_asks_carry_their_machine_and_are_found_by_it(
    hub: Served, admin: httpx2.AsyncClient
) -> None:
    await hub.session()
    for named in ("m_far", "build-2"):
        found = (await admin.get("/api/sessions", params={"machine": named})).json()["sessions"]
        assert [(each["id"], each["machine"]) for each in found] == [("s_far", "m_far")]
    assert (await admin.get("/api/sessions", params={"machine": "nowhere"})).json()["sessions"] == []
    ask = await hub.ask()
    assert "machine" in (await admin.get(f"/api/asks/{ask.id}")).json()


async def test_what_waits_for_a_machine_is_listed_and_taken_back(hub: Served, admin: httpx2.AsyncClient) -> None:
    await hub.up.hub.store.apply([GiveInstruction(STOP)])
    (waiting,) = (await admin.get("/api/sessions/s_far/instructions")).json()["instructions"]
    assert (waiting["id"], waiting["kind"], waiting["state"], waiting["machine"]) == (
        "i_stop",
        "stop",
        "waiting",
        "m_far",
    )
    assert (await admin.delete("/api/instructions/i_stop")).status_code == 200
    assert (await admin.get("/api/sessions/s_far/instructions")).json() == {"instructions": []}
    item = (await admin.get("/api/items")).json()["items"][-1]
    assert (item["type"], item["state"]) == ("instruction.settled", "withdrawn")
    again = await admin.delete("/api/instructions/i_stop")
    assert again.status_code in (404, 409)
    error_of(again)


async def test_an_approver_takes_back_messages_but_not_an_order_to_stop(hub: Served) -> None:
    await hub.up.hub.store.apply([GiveInstruction(STOP), QueueSay(Say("say-1", "s_far", "Wait", TESTER, "web", NOON))])
    async with hub.client("approver") as approver, hub.client("viewer") as viewer:
        assert (await viewer.delete("/api/says/say-1")).status_code == 403
        assert (await approver.delete("/api/instructions/i_stop")).status_code == 403
        assert (await approver.delete("/api/says/say-1")).status_code == 200
        item = (await viewer.get("/api/items")).json()["items"][-1]
        assert (item["type"], item["say"]) == ("said.withdrawn", "say-1")
        again = await approver.delete("/api/says/say-1")
        assert again.status_code in (404, 409)
        error_of(again)


async def test_a_session_does_not_start_on_an_unknown_machine(hub: Served, admin: httpx2.AsyncClient) -> None:
    wanted = {"say": "Hello", "project": str(hub.state), "machine": "nowhere"}
    refused = await admin.post("/api/sessions", json=wanted)
    assert refused.status_code in (404, 409, 422), refused.text
    assert "nowhere" in error_of(refused)["message"]


async def test_the_hub_says_what_is_wrong_with_it_once_it_changes(hub: Served, admin: httpx2.AsyncClient) -> None:
    assert "hub_trouble" not in (await admin.get("/api/me")).json()
    hub.up.app.streams.trouble = lambda: "The database is away."
    async with admin.stream("GET", "/api/feed") as stream:
        text = ""
        async for piece in stream.aiter_text():
            text += piece
            if "event: trouble" in text:
                break
    assert 'data: {"trouble":"The database is away."}' in text
