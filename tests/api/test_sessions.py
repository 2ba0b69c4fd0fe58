"""Sessions over HTTP: requests are understood, or refused with the reason."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.served import error_of, served
from handraise.model.sessions import Checkpoint, Ended
from handraise.session.memory import Memory
from handraise.store.changes import Advance, SaveSession

PICTURE = {"media_type": "image/png", "data": "iVBORw0KGgo="}
BLOCK = {"type": "image", "source": {"type": "base64", **PICTURE}}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, "say"),
        ({"say": "hi"}, "project"),
        ({"say": " ", "project": "/"}, "message is empty"),
        ({"say": 1, "project": "/"}, "$.say"),
        ({"say": "hi", "project": "/", "modle": "x"}, "`modle`"),
        ({"say": "hi", "project": "/", "mode": ""}, "$.mode"),
        ({"say": "hi", "resume": "s_1", "fork": "s_1"}, "not both"),
        ({"say": "hi", "project": "/", "images": [{"media_type": "image/svg+xml", "data": ""}]}, "$.images[0]"),
        ({"say": "hi", "project": "/", "images": [{"media_type": "image/png", "data": "!!!"}]}, "must be Base64"),
        ({"say": "hi", "project": "/", "images": [{"media_type": "image/png", "data": ""}]}, "must be Base64"),
    ],
)
async def test_what_is_wrong_with_a_new_session_is_named(tmp_path: Path, body: dict[str, Any], names: str) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        refused = await client.post("/api/sessions", json=body)
        assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid")
        assert names in error_of(refused)["message"]
        assert (await client.get("/api/sessions")).json()["sessions"] == []


@pytest.mark.parametrize("project", ["nowhere", "/no/such/directory", "/etc/passwd", "../x", "/\0"])
async def test_a_project_that_is_not_there_is_not_found(tmp_path: Path, project: str) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        refused = await client.post("/api/sessions", json={"say": "hi", "project": project})
        assert (refused.status_code, error_of(refused)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": " "},
        {"content": []},
        {"content": [{"type": "tool_result", "tool_use_id": "x"}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": "hi", "cache": 1}]},
        {"content": [{"type": "text", "text": "hi"}], "text": "hi"},
        {"content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAA"}}]},
        {"text": "hi", "id": "not a uuid"},
        {"words": "hi"},
    ],
)
async def test_what_cannot_be_said_to_claude_is_refused_at_the_door(tmp_path: Path, body: dict[str, Any]) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        session = await hub.session(phase="idle")
        refused = await client.post(f"/api/sessions/{session.id}/say", json=body)
        assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid")


async def test_what_is_said_is_kept_once_for_each_id(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        session = await hub.session(phase="queued")
        say = {"id": "6c5afc3b-5ed6-409b-a0e6-7cd1ead0ab0b", "content": [{"type": "text", "text": "look"}, BLOCK]}
        for _ in range(2):
            text = await client.post(f"/api/sessions/{session.id}/say", json=say)
            assert (text.status_code, text.json()["say"]) == (202, say["id"])
            assert text.json()["by"] == {"kind": "person", "name": "a approver"}
        items = (await client.get(f"/api/sessions/{session.id}/items")).json()["items"]
        assert [(item["type"], item.get("text"), item.get("images")) for item in items] == [("said", "look", 1)]


async def test_a_session_that_has_ended_takes_no_wishes_and_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        session = await hub.session(phase="queued")
        await client.post(f"/api/sessions/{session.id}/stop")
        for act, body in (
            ("interrupt", None),
            ("denied/toolu_1/allow", None),
            ("stop", None),
            ("mode", {"mode": "plan"}),
            ("model", {"model": "opus"}),
            ("say", {"text": "hi"}),
            ("fork", {"say": "hi"}),
            ("fork", {}),
        ):
            refused = await client.post(f"/api/sessions/{session.id}/{act}", json=body)
            assert (refused.status_code, error_of(refused)["code"]) == (409, "refused"), act
            missing = await client.post(f"/api/sessions/s_none/{act}", json=body)
            assert missing.status_code in (404, 409), act
        assert (await client.post("/api/sessions/s_none/mode", json={"mode": 7})).status_code == 422


async def test_pictures_go_along_with_what_a_session_is_resumed_or_forked_with(tmp_path: Path) -> None:
    large = {"media_type": "image/png", "data": "A" * 2_000_000}
    async with served(tmp_path) as hub, hub.client("admin") as client:
        for act, body, text in (
            ("resume", {"say": "Look.", "images": [PICTURE, large]}, "Look."),
            ("resume", {"images": [PICTURE, large]}, ""),
            ("fork", {"say": "Look.", "images": [PICTURE, large]}, "Look."),
            ("fork", {"say": [{"type": "text", "text": "Look."}], "images": [PICTURE, large]}, "Look."),
        ):
            session = await hub.session()
            ended = replace(session, ended=Ended("stopped", "It was done.", session.changed_at))
            memory = Memory(turn=1).dump()
            await hub.up.hub.store.apply([SaveSession(ended), Advance(Checkpoint(session.id, 1, 0, memory))])
            begun = await client.post(f"/api/sessions/{session.id}/{act}", json=body)
            assert begun.status_code == 202, begun.text
            items = (await client.get(f"/api/sessions/{begun.json()['id']}/items")).json()["items"]
            assert [(item["text"], item["images"]) for item in items if item["type"] == "said"] == [(text, 2)]
        empty = await client.post(f"/api/sessions/{session.id}/resume", json={"say": " ", "images": []})
        assert (empty.status_code, error_of(empty)["message"]) == (422, "The message is empty.")
        wrong = await client.post(f"/api/sessions/{session.id}/fork", json={"images": [{"data": ""}]})
        assert wrong.status_code == 422


async def test_sessions_are_listed_newest_first_filtered_and_paged(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        made = [(await hub.session(phase=phase)).id for phase in ("idle", "working", "ended")]
        await hub.ask(session=made[0])

        async def ids(**query: str | int) -> list[str]:
            return [each["id"] for each in (await client.get("/api/sessions", params=query)).json()["sessions"]]

        assert await ids() == made[::-1]
        assert await ids(state="working") == [made[1]]
        assert await ids(state="needs you") == [made[0]]
        assert await ids(q="SESSION 2") == [made[1]]
        assert await ids(project="/work") == made[::-1]
        assert await ids(project="/other") == []
        page = (await client.get("/api/sessions", params={"limit": 2})).json()
        assert page["next"] == made[1]
        assert await ids(limit=2, after=page["next"]) == [made[0]]
        one = (await client.get(f"/api/sessions/{made[0]}")).json()
        promised = {"id", "project", "title", "phase", "state", "mode", "model", "cost_usd", "open_asks", "created_at"}
        assert promised <= set(one)
        assert (one["open_asks"], one["state"], one["phase"]) == (1, "needs you", "idle")


async def test_a_timeline_is_read_backwards_and_forwards_a_page_at_a_time(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        session = await hub.session()
        await hub.publish(*"abcdefg", session=session.id)
        await hub.publish("other", session="s_2")

        async def page(**query: int) -> tuple[str, int | None]:
            page = (await client.get(f"/api/sessions/{session.id}/items", params=query)).json()
            assert page["cursor"] == 8
            return "".join(item["text"] for item in page["items"]), page["next"]

        assert await page() == ("abcdefg", None)
        assert await page(limit=3) == ("efg", 5)
        assert await page(limit=3, before=5) == ("bcd", 2)
        assert await page(limit=3, before=2) == ("a", None)
        assert await page(limit=3, after=0) == ("abc", 3)
        assert await page(limit=3, after=6) == ("g", None)
        assert await page(after=2, before=5) == ("cd", None)
        assert (await client.get("/api/sessions/s_none/items")).status_code == 404


async def test_a_session_is_given_another_title(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        session = await hub.session()
        renamed = await client.patch(f"/api/sessions/{session.id}", json={"title": "  Better \n so "})
        assert (renamed.status_code, renamed.json()["title"]) == (200, "Better so")
        refused = await client.patch(f"/api/sessions/{session.id}", json={"title": " "})
        assert (refused.status_code, error_of(refused)["message"]) == (409, "The title can't be empty.")
