"""What a session changed, over HTTP: listed, shown in parts, reverted by those who may."""

import subprocess
from pathlib import Path

from api.served import error_of, served

FILE = "".join(f"line {number}\n" for number in range(3_000))


def repository(top: Path) -> Path:
    top.mkdir()
    (top / "a.py").write_text("one\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=top, check=True, capture_output=True, timeout=60)
    return top


async def test_changes_are_listed_and_shown_in_parts(tmp_path: Path) -> None:
    top = repository(tmp_path / "work")
    async with served(tmp_path / "hub") as hub, hub.client("approver") as client, hub.client("viewer") as viewer:
        session = (await hub.session(directory=str(top))).id
        # They would show what no conversation does.
        assert (await viewer.get(f"/api/sessions/{session}/changes")).status_code == 403
        assert (await viewer.get(f"/api/sessions/{session}/changes/file?path=a.py")).status_code == 403
        empty = (await client.get(f"/api/sessions/{session}/changes")).json()
        assert (empty["source"], empty["files"], empty["since_start"]) == ("git", [], False)
        assert len(empty["commit"]) == 40

        (top / "a.py").write_text("one\ntwo\r\n")
        (top / "new.py").write_text(FILE)
        found = (await client.get(f"/api/sessions/{session}/changes")).json()
        assert found["files"] == [
            {"path": "a.py", "status": "modified", "added": 1, "gone": 0},
            {"path": "new.py", "status": "added", "added": 3_000, "gone": 0},
        ]
        file = f"/api/sessions/{session}/changes/file"
        small = (await client.get(file, params={"path": "a.py"})).json()
        assert small["part"]["text"] == "@@ -1 +1,2 @@\n one\n+two⟨U+000D⟩\n"
        assert small["facts"]["added"] == 1

        first = (await client.get(file, params={"path": "new.py"})).json()
        assert first["facts"]["lines"] == 3_001
        assert first["part"]["text"].count("\n") == 1_000
        later = await client.get(file, params={"path": "new.py", "first": 2_500, "limit": 2, "digest": first["digest"]})
        assert later.json()["part"]["text"] == "+line 2499\n+line 2500\n"
        assert later.json()["part"]["new"] == 2_500

        (top / "new.py").write_text("other\n")
        gone = await client.get(file, params={"path": "new.py", "digest": "sha256:0"})
        assert (gone.status_code, error_of(gone)["code"]) == (404, "not_found")
        for path in ("../hub/hub.db", "/etc/passwd", ".git/config", "missing"):
            assert (await client.get(file, params={"path": path})).status_code == 404, path
        assert (await client.get(file)).status_code == 422


async def test_a_file_is_reverted_by_an_admin_only_and_that_is_recorded(tmp_path: Path) -> None:
    top = repository(tmp_path / "work")
    async with (
        served(tmp_path / "hub") as hub,
        hub.client("approver") as approver,
        hub.client("admin") as admin,
    ):
        session = (await hub.session(directory=str(top))).id
        (top / "a.py").write_text("two\n")
        path = f"/api/sessions/{session}/changes"
        shown = (await admin.get(f"{path}/file", params={"path": "a.py"})).json()
        wanted = {"path": "a.py", "digest": shown["digest"]}

        refused = await approver.post(f"{path}/revert", json=wanted)
        assert refused.status_code == 403
        for bad in ({**wanted, "digest": "sha256:0"}, {**wanted, "path": "../a.py"}, {**wanted, "path": "b.py"}):
            stale = await admin.post(f"{path}/revert", json=bad)
            assert (stale.status_code, error_of(stale)["code"]) == (409, "refused")
        assert (top / "a.py").read_text() == "two\n"

        assert (await admin.post(f"{path}/revert", json=wanted)).json() == {"done": True}
        assert (top / "a.py").read_text() == "one\n"
        [entry] = (await admin.get("/api/audit", params={"what": "file reverted"})).json()["entries"]
        assert entry["detail"] == {"name": "a.py", "status": "modified"}
        assert entry["session"] == session
        items = (await admin.get(f"/api/sessions/{session}/items")).json()["items"]
        assert items[-1]["text"] == "a admin reverted a.py."


async def test_without_a_repository_nothing_is_listed(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    async with served(tmp_path / "hub") as hub, hub.client("admin") as client:
        plain = (await hub.session(directory=str(tmp_path / "plain"))).id
        assert (await client.get(f"/api/sessions/{plain}/changes")).json()["source"] == "none"
        assert (await client.get("/api/sessions/s_none/changes")).status_code == 404
