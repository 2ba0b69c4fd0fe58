"""Files of a session on another machine: seen, found, browsed and reverted from here, as if they were here."""

import asyncio
import json
import os
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from msgspec import msgpack

from api.hubs import hub_over, two_hubs
from api.served import Served, error_of, served
from api.test_changes import repository
from api.test_pictures import PNG, picture
from handraise.hub.file_access import LookupReply, ReviewLookup
from handraise.store.memory.store import MemoryDatabase

FILE = "".join(f"line {number}\n" for number in range(3_000))


@asynccontextmanager
async def far(tmp: Path, role: str = "admin") -> AsyncIterator[tuple[httpx2.AsyncClient, Served, Served, str, Path]]:
    """A person at one hub, and a session with a repository at another."""
    top = repository(tmp / "work")
    async with two_hubs(tmp) as (one, two), one.client(role) as client:  # type: ignore[arg-type]
        session = await two.session(directory=str(top), machine=two.up.hub.store.machine)
        yield client, one, two, f"/api/sessions/{session.id}", top


async def test_changes_on_another_machine_are_shown_and_reverted_from_here(tmp_path: Path) -> None:
    async with far(tmp_path) as (client, one, two, session, top):
        (top / "a.py").write_bytes(b"one\ntwo \xff\n")
        (top / "new.py").write_text(FILE)
        (top / os.fsdecode(b"n\xff.txt")).write_text("x\n")
        found = (await client.get(f"{session}/changes")).json()
        assert (found["source"], found["machine"]) == ("git", two.up.hub.machine.id)
        assert [each["path"] for each in found["files"]] == ["a.py", "new.py", "n\\xff.txt"]
        async with two.client("approver") as there:
            assert (await there.get(f"{session}/changes")).json() == found
            params = {"path": "a.py"}
            shown = (await client.get(f"{session}/changes/file", params=params)).json()
            assert (await there.get(f"{session}/changes/file", params=params)).json() == shown
        assert "+two" in shown["part"]["text"]

        first = (await client.get(f"{session}/changes/file", params={"path": "new.py"})).json()
        part = {"path": "new.py", "first": 2_500, "limit": 2, "digest": first["digest"]}
        later = (await client.get(f"{session}/changes/file", params=part)).json()
        assert later["part"]["text"] == "+line 2499\n+line 2500\n"
        for path in ("../hub.db", "/etc/passwd", ".git/config", "missing", "\0", "a" * 5_000):
            assert (await client.get(f"{session}/changes/file", params={"path": path})).status_code == 404, path
        long = await client.get(f"{session}/changes/file", params={"path": "a" * 20_000})
        assert long.status_code in (409, 414, 431)

        wanted = {"path": "a.py", "digest": shown["digest"]}
        for role in ("viewer", "approver"):
            async with one.client(role) as other:
                assert (await other.post(f"{session}/changes/revert", json=wanted)).status_code == 403
        for bad in ({**wanted, "digest": "sha256:0"}, {**wanted, "path": "../a.py"}, {**wanted, "path": "b.py"}):
            stale = await client.post(f"{session}/changes/revert", json=bad)
            assert (stale.status_code, error_of(stale)["code"]) == (409, "refused")
        assert (top / "a.py").read_bytes() == b"one\ntwo \xff\n"

        assert (await client.post(f"{session}/changes/revert", json=wanted)).json() == {"done": True}
        assert (top / "a.py").read_text() == "one\n"
        [entry] = (await client.get("/api/audit", params={"what": "file reverted"})).json()["entries"]
        assert (entry["by"]["name"], entry["detail"]) == ("a admin", {"name": "a.py", "status": "modified"})
        items = (await client.get(f"{session}/items")).json()["items"]
        assert "a admin reverted a.py." in [each.get("text") for each in items]
        again = await client.post(f"{session}/changes/revert", json=wanted)
        assert again.status_code == 409


async def test_files_and_directories_of_another_machine_are_found_from_here(tmp_path: Path) -> None:
    async with far(tmp_path) as (client, one, two, session, top):
        (top / "src").mkdir()
        (top / "src" / "handler.py").write_text("x")
        (top / "src" / "`quoted`.py").write_text("x")
        found = (await client.get(f"{session}/files", params={"q": "hand"})).json()
        assert found == {"files": ["src/handler.py"], "complete": True}

        machine = two.up.hub.machine
        for named in (machine.id, machine.name):
            where = {"machine": named, "path": str(tmp_path.resolve())}
            listed = (await client.get("/api/directories", params=where)).json()
            assert [each["name"] for each in listed["directories"]] == ["one", "two", "work"]
            assert [each["is_repository"] for each in listed["directories"]] == [False, False, True]
        assert (await client.get("/api/directories", params={"machine": machine.id})).status_code == 200
        assert (await client.get("/api/directories", params={"machine": "none"})).status_code == 404
        for path, status in {"relative": 422, f"{top}/..": 422, f"{top}/gone": 404, str(two.state): 409}.items():
            refused = await client.get("/api/directories", params={"machine": machine.id, "path": path})
            assert refused.status_code == status, path
        # Each hub hides its own folders, not those of the other.
        assert (await client.get("/api/directories", params={"path": str(two.state)})).status_code == 200
        async with one.client("approver") as approver:
            assert (await approver.get("/api/directories", params={"machine": machine.id})).status_code == 403
            assert (await approver.get(f"{session}/files")).status_code == 200
        async with one.client("viewer") as viewer:
            assert (await viewer.get(f"{session}/files")).status_code == 403


async def test_pictures_that_a_tool_returned_on_another_machine_are_shown(tmp_path: Path) -> None:
    async with far(tmp_path, "viewer") as (client, _one, two, session, _top):
        folder = two.state / "sessions" / session.rpartition("/")[2] / "1"
        folder.mkdir(parents=True)
        content = [picture(b64encode(PNG).decode()), picture("PHN2Zz4=", "image/svg+xml")]
        block = {"type": "tool_result", "tool_use_id": "t_1", "content": content}
        line = json.dumps({"type": "user", "message": {"content": [block]}}, separators=(",", ":"))
        (folder / "out.ndjson").write_text(f"{line}\n")
        shown = await client.get(f"{session}/actions/t_1/pictures/0")
        assert (shown.status_code, shown.content) == (200, PNG)
        for path in ("t_1/pictures/1", "t_1/pictures/2", "t_2/pictures/0", "..%2ft_1/pictures/0"):
            assert (await client.get(f"{session}/actions/{path}")).status_code == 404, path


async def refusal(client: httpx2.AsyncClient, path: str) -> str:
    refused = await client.get(path)
    assert refused.status_code == 409, refused.text
    message: str = error_of(refused)["message"]
    return message


async def test_a_machine_that_is_too_old_or_does_not_answer_is_named(tmp_path: Path) -> None:
    async with far(tmp_path) as (client, _one, two, session, _top):
        name, store = two.up.hub.machine.name, two.up.hub.store

        async def newer(_question: bytes) -> bytes:
            return msgpack.encode(LookupReply("unknown"))

        async def strange(_question: bytes) -> bytes:
            return b"\xff\x00 not ours"

        async def none(_question: bytes) -> bytes:
            raise TimeoutError

        store.serve_lookups(newer)
        asked = await refusal(client, f"{session}/changes")
        assert f"Machine `{name}` didn't respond as expected. It runs Handraise" in asked
        store.serve_lookups(strange)
        assert "Update the older one." in await refusal(client, f"{session}/changes")
        store.serve_lookups(none)
        assert await refusal(client, f"{session}/changes") == f"Machine `{name}` didn't respond. Try again."


async def test_a_machine_that_is_away_is_named(tmp_path: Path) -> None:
    database = MemoryDatabase()
    async with hub_over(database, tmp_path / "one") as one, one.client("admin") as client:
        async with hub_over(database, tmp_path / "two") as two:
            name = two.up.hub.machine.name
            session = f"/api/sessions/{(await two.session(machine=two.up.hub.machine.id)).id}"
        for path in ("changes", "changes/file?path=a.py", "files", "actions/t_1/pictures/0"):
            away = f"Machine `{name}` is away. Its files can be shown when it returns."
            assert await refusal(client, f"{session}/{path}") == away
        assert "is away" in await refusal(client, f"/api/directories?machine={name}")
        reverted = await client.post(f"{session}/changes/revert", json={"path": "a.py", "digest": "x"})
        assert (reverted.status_code, "is away" in error_of(reverted)["message"]) == (409, True)
        gone = await one.session(machine="m_gone")
        assert "Machine `m_gone` is away." in await refusal(client, f"/api/sessions/{gone.id}/changes")


async def test_a_hub_answers_only_for_its_own_sessions(tmp_path: Path) -> None:
    async with far(tmp_path) as (_client, one, two, _session, top):
        here = await one.session(directory=str(top), machine=one.up.hub.store.machine)
        for identity in (here.id, "s_none", "../../etc"):
            asked = msgpack.encode(ReviewLookup(identity))
            answer = await one.up.hub.store.look_up(two.up.hub.store.machine, asked, 30)
            assert msgpack.decode(answer, type=LookupReply).state == "refused"
        for hostile in (b"", b"\xff", msgpack.encode({"type": "shell", "command": "id"}), msgpack.encode([1])):
            answer = await one.up.hub.store.look_up(two.up.hub.store.machine, hostile, 30)
            assert msgpack.decode(answer, type=LookupReply).state == "unknown"


async def test_one_machine_that_hangs_does_not_hold_up_the_others(tmp_path: Path) -> None:
    async with far(tmp_path) as (client, one, two, session, top):
        hanging = asyncio.Event()

        async def hang(_question: bytes) -> bytes:
            hanging.set()
            await asyncio.get_running_loop().create_future()
            return b""

        two.up.hub.store.serve_lookups(hang)
        stuck = [asyncio.create_task(client.get(f"{session}/files")) for _ in range(6)]
        async with asyncio.timeout(30):
            await hanging.wait()
            here = await one.session(directory=str(top))
            assert (await client.get(f"/api/sessions/{here.id}/files")).status_code == 200
        for each in stuck:
            each.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)


@pytest.mark.parametrize("what", ["changes", "files"])
async def test_in_a_database_of_one_machine_a_session_of_another_is_away(tmp_path: Path, what: str) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        copied = await hub.session(machine="m_other")
        refused = await client.get(f"/api/sessions/{copied.id}/{what}")
        assert (refused.status_code, error_of(refused)["message"]) == (
            409,
            "Machine `m_other` is away. Its files can be shown when it returns.",
        )
