"""Claude's own files about a session: read within its folder only, and believed only if its process runs."""

import json
import os
from pathlib import Path
from typing import Any

from handraise.terminals.claude_folder import Transcript, folder_of, live_session

SESSION = "5f0c"


def started() -> str:
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]


def state(folder: Path, name: str = "1.json", **more: Any) -> Path:
    content = {"pid": os.getpid(), "sessionId": SESSION, "procStart": started(), "status": "waiting", **more}
    (folder / "sessions").mkdir(exist_ok=True)
    file = folder / "sessions" / name
    file.write_text(json.dumps(content))
    return file


def test_a_session_is_found_by_its_id_among_others(tmp_path: Path) -> None:
    state(tmp_path, "2.json", sessionId="other")
    (tmp_path / "sessions" / "3.json").write_text("{ not JSON")
    (tmp_path / "sessions" / "1.key").write_text(json.dumps({"sessionId": SESSION}))
    assert live_session(tmp_path, SESSION) is None
    state(tmp_path)
    found = live_session(tmp_path, SESSION)
    assert found is not None
    assert found.waits
    assert live_session(tmp_path / "nowhere", SESSION) is None


def test_what_a_killed_process_left_behind_is_not_believed(tmp_path: Path) -> None:
    state(tmp_path, procStart="1")
    assert live_session(tmp_path, SESSION) is None
    for pid in (0, 1, -1, 2**30):
        state(tmp_path, pid=pid, procStart="")
        assert live_session(tmp_path, SESSION) is None


def test_the_folder_is_the_one_that_claude_uses(tmp_path: Path) -> None:
    assert folder_of({"HOME": str(tmp_path)}) == tmp_path / ".claude"
    assert folder_of({"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "c")}) == tmp_path / "c"
    assert folder_of({}) is None


def test_a_transcript_is_read_line_by_line_as_it_grows(tmp_path: Path) -> None:
    (tmp_path / "projects" / "p").mkdir(parents=True)
    file = tmp_path / "projects" / "p" / f"{SESSION}.jsonl"
    file.write_bytes(b"one\ntw")
    transcript = Transcript(tmp_path, str(file), SESSION)
    assert transcript.lines() == [b"one"]
    assert transcript.lines() == []
    with file.open("ab") as more:
        more.write(b"o\nthree\n")
    assert transcript.lines() == [b"two", b"three"]
    assert transcript.lines() == []


def test_no_other_file_is_read_as_a_transcript(tmp_path: Path) -> None:
    secret = tmp_path / f"{SESSION}.jsonl"
    secret.write_text("secret\n")
    (tmp_path / "c" / "projects").mkdir(parents=True)
    (tmp_path / "c" / "projects" / f"{SESSION}.jsonl").symlink_to(secret)
    pipe = tmp_path / "c" / "projects" / "p.jsonl"
    os.mkfifo(pipe)
    paths = (str(secret), str(tmp_path / "c" / "projects" / f"{SESSION}.jsonl"), "", "a\0b", "/etc/passwd")
    assert [Transcript(tmp_path / "c", path, SESSION).lines() for path in paths] == [[]] * 5
    assert Transcript(tmp_path / "c", str(pipe), "p").lines() == []
