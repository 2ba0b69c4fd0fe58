"""Administration over HTTP: projects, rules, and the audit log, listed, filtered and exported."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from api.served import A, error_of, served
from handraise.model.audit import Entry
from handraise.store.changes import Record


async def test_a_project_is_added_changed_and_named_once(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        made = await client.post("/api/projects", json={"path": str(tmp_path), "name": "app"})
        assert made.status_code == 201
        again = await client.post("/api/projects", json={"path": str(tmp_path), "name": "other"})
        assert (again.status_code, error_of(again)["code"]) == (409, "refused")
        changed = await client.patch(f"/api/projects/{made.json()['id']}", json={"options": {"mode": "plan"}})
        assert (changed.json()["name"], changed.json()["options"]["mode"]) == ("app", "plan")
        assert (await client.get("/api/projects")).json()["projects"] == [changed.json()]
        assert (await client.patch("/api/projects/p_none", json={})).status_code == 404
        wrong = await client.patch("/api/projects/app", json={"options": {"mdoe": "plan"}})
        assert (wrong.status_code, "`mdoe`" in error_of(wrong)["message"]) == (422, True)


async def test_a_rule_is_added_listed_and_revoked(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        made = await client.post("/api/rules", json={"decision": "allow", "tool": "Read"})
        assert (made.status_code, made.json()["made_by"]) == (201, "a admin")
        assert (await client.get("/api/rules")).json()["rules"] == [made.json()]
        assert (await client.post("/api/rules", json={"decision": "allow"})).status_code == 422
        assert (await client.post("/api/rules", json={"decision": "maybe", "tool": "Read"})).status_code == 422
        naive = {"decision": "allow", "tool": "Read", "expires_at": "2030-01-01T00:00:00"}
        assert (await client.post("/api/rules", json=naive)).status_code == 422
        assert (await client.delete(f"/api/rules/{made.json()['id']}")).status_code == 200
        assert (await client.delete(f"/api/rules/{made.json()['id']}")).status_code == 404
        did = [each["what"] for each in (await client.get("/api/audit")).json()["entries"]]
        assert did[-2:] == ["rule made", "rule revoked"]


async def test_the_audit_says_who_answered_what_when_from_where_and_what_was_shown(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client, hub.neighbour() as owner:
        ask = await hub.ask()
        await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A, "digest": ask.digest})
        other = await hub.ask()
        await owner.post(f"/api/asks/{other.id}/answer", json={"answer": A})

        entries = (await client.get("/api/audit", params={"what": "answered"})).json()["entries"]
        assert [(each["ask"], each["by"]["name"], each["source"]) for each in entries] == [
            (ask.id, "a admin", "api"),
            (other.id, "owner", "terminal"),
        ]
        assert entries[0]["digest"] == ask.digest
        assert entries[0]["detail"]["answer"] == {"answers": [{"labels": ["A"], "text": None}]}
        assert entries[0]["at"]
        for query, expected in (
            ({"ask": ask.id}, [ask.id]),
            ({"by": "owner", "what": "answered"}, [other.id]),
            ({"by": "nobody"}, []),
            ({"session": "s_none"}, []),
            ({"what": "answered", "after": entries[0]["number"]}, [other.id]),
        ):
            found = (await client.get("/api/audit", params=query)).json()["entries"]
            assert [each["ask"] for each in found] == expected
        for wrong in ({"what": "everything"}, {"as": "csv"}, {"after": "x"}, {"wat": "answered"}):
            assert (await client.get("/api/audit", params=wrong)).status_code == 422


async def test_the_audit_is_read_backwards_and_by_time(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        person, noon = hub.up.hub.desk.person, datetime(2026, 3, 1, 12, tzinfo=UTC)
        entries = [Entry(noon + timedelta(minutes=n), "refused", person, "test", detail={"n": n}) for n in range(7)]
        await hub.up.hub.store.apply([Record(entry) for entry in entries])

        async def numbers(**query: Any) -> tuple[list[int], int | None]:
            page = (await client.get("/api/audit", params={"what": "refused", **query})).json()
            return [entry["detail"]["n"] for entry in page["entries"]], page["next"]

        first, following = await numbers(order="newest", limit=3)
        assert first == [6, 5, 4]
        assert (await numbers(order="newest", limit=3, before=following))[0] == [3, 2, 1]
        assert await numbers(since="2026-03-01T12:02:00Z", until="2026-03-01T13:04:00+01:00") == ([2, 3], None)
        exported = await client.get(
            "/api/audit", params={"as": "lines", "order": "newest", "what": "refused", "since": "2026-03-01T12:02:00Z"}
        )
        lines = [msgspec.json.decode(line, type=Entry).detail["n"] for line in exported.content.splitlines()]
        assert [n for n in lines if n is not None] == [6, 5, 4, 3, 2]
        for wrong in ({"since": "yesterday"}, {"until": "2026-03-01T12:00:00"}, {"order": "best"}, {"before": "x"}):
            refused = await client.get("/api/audit", params=wrong)
            assert (refused.status_code, next(iter(wrong)) in error_of(refused)["message"]) == (422, True)


async def test_the_audit_is_paged_and_exported_whole_as_lines(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        person, now = hub.up.hub.desk.person, hub.up.auth.now()
        await hub.up.hub.store.apply(
            [Record(Entry(now, "refused", person, "test", detail={"n": number})) for number in range(1200)]
        )
        page = (await client.get("/api/audit", params={"what": "refused", "limit": 1000})).json()
        assert len(page["entries"]) == 1000
        rest = (await client.get("/api/audit", params={"what": "refused", "after": page["next"]})).json()
        assert (len(rest["entries"]), rest["next"]) == (200, None)

        exported = await client.get("/api/audit", params={"as": "lines", "what": "refused"})
        assert exported.headers["content-type"].startswith("application/x-ndjson")
        lines = [msgspec.json.decode(line, type=Entry) for line in exported.content.splitlines()]
        assert [line.detail["n"] for line in lines] == list(range(1200))
        some = await client.get("/api/audit", params={"as": "lines", "what": "refused", "limit": 700})
        assert len(some.content.splitlines()) == 700
