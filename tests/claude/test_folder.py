import os
import stat
from pathlib import Path

import pytest

from handraise.claude.folder import RunFolder


def test_everything_in_it_is_private_from_its_first_moment(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = RunFolder.make(tmp_path / "sessions" / "s1" / "1")
        folder.order(["claude"], "s1", "/work")
    finally:
        os.umask(before)
    assert stat.filemode(folder.path.stat().st_mode) == "drwx------"
    modes = {each.name: stat.filemode(each.stat().st_mode) for each in folder.path.iterdir()}
    assert modes == {
        "in": "prw-------",
        "in.lock": "-rw-------",
        "out.ndjson": "-rw-------",
        "err.log": "-rw-------",
        "launch.json": "-rw-------",
    }


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    RunFolder.make(tmp_path / "1")
    with pytest.raises(FileExistsError):
        RunFolder.make(tmp_path / "1")


def test_nobody_was_launched_until_the_launched_one_says_so(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path / "1")
    assert folder.record() is None
    folder.order(["claude", "--verbose"], "s1", "/work")
    assert folder.record() is None
    for broken in ("", "{", "[]", '{"pid": "x"}'):
        (folder.path / "launch.json").write_text(broken)
        assert folder.record() is None


def test_the_last_words_are_the_last_lines_of_stderr(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path / "1")
    assert folder.last_errors() == ""
    folder.errors.write_bytes(b"\xff" + b"x" * 100_000 + b"\n" + b"".join(b"line %d\n" % n for n in range(100)))
    assert folder.last_errors().splitlines() == [f"line {n}" for n in range(80, 100)]
    folder.errors.write_bytes(b"\xe9 only one")
    assert folder.last_errors() == "\ufffd only one"
    folder.errors.unlink()
    assert folder.last_errors() == ""
