"""The files around an asker: read within limits, without blocking."""

import os
from pathlib import Path

from handraise.model.projects import Options, Patience
from handraise.session.surroundings import around


def test_a_file_is_read_by_its_path_in_the_directory_or_anywhere(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    here = around(str(tmp_path), "default", Options(patience=Patience(question=9)))

    assert here.read("a.txt") == "one\n"
    assert here.read(str(tmp_path / "a.txt")) == "one\n"
    assert (here.directory, here.mode, here.patience.question) == (str(tmp_path), "default", 9)


def test_what_is_no_readable_text_file_is_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * (3 * 1024 * 1024))
    here = around(str(tmp_path), "default", Options())

    for path in ("pipe", "large", "nowhere", ".", "a\0b", "x" * 5000, "/dev/zero"):
        assert here.read(path) is None


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    (tmp_path / "odd").write_bytes(b"a\xff\n")

    assert around(str(tmp_path), "default", Options()).read("odd") == "a\ufffd\n"


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")

    assert around(str(tmp_path), "default", Options()).resolve(str(tmp_path / "link" / "passwd")) == "/etc/passwd"
