"""Files that Claude shows in an answer."""

import os
from pathlib import Path

import pytest

from handraise.surfaces.telegram.files import LARGEST_FILE, read_mentioned
from handraise.surfaces.telegram.final import AnswerFile


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    (folder / "out").mkdir(parents=True)
    (folder / "out" / "plot.png").write_bytes(b"png")
    (folder / "report.pdf").write_bytes(b"pdf")
    (tmp_path / "secret.png").write_bytes(b"secret")
    return folder


def test_pictures_are_photos_and_documents_are_files(project: Path) -> None:
    paths = ["out/plot.png", str(project / "report.pdf"), "missing.png"]
    assert read_mentioned(str(project), paths) == [
        AnswerFile("plot.png", b"png", photo=True),
        AnswerFile("report.pdf", b"pdf"),
    ]


def test_nothing_outside_the_directory_is_read(project: Path) -> None:
    (project / "link.png").symlink_to(project.parent / "secret.png")
    (project / "up").symlink_to(project.parent)
    outside = ["../secret.png", str(project.parent / "secret.png"), "link.png", "up/secret.png"]
    assert read_mentioned(str(project), outside) == []


def test_a_link_that_stays_inside_is_followed(project: Path) -> None:
    (project / "link.png").symlink_to(project / "out" / "plot.png")
    assert read_mentioned(str(project), ["link.png"]) == [AnswerFile("link.png", b"png", photo=True)]


def test_hidden_files_are_left_alone(project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "x.png").write_bytes(b"x")
    (project / ".env.png").write_bytes(b"x")
    (project / "open.png").symlink_to(project / ".env.png")
    assert read_mentioned(str(project), [".git/x.png", ".env.png", "open.png"]) == []


def test_only_regular_files_of_some_size_are_read(project: Path) -> None:
    os.mkfifo(project / "fifo.png")
    (project / "folder.png").mkdir()
    (project / "empty.png").touch()
    with (project / "huge.png").open("wb") as huge:
        huge.truncate(LARGEST_FILE + 1)
    assert read_mentioned(str(project), ["fifo.png", "folder.png", "empty.png", "huge.png", "x\0.png"]) == []


def test_a_name_hides_nothing(project: Path) -> None:
    (project / "plot\u202egnp.png").write_bytes(b"png")
    (found,) = read_mentioned(str(project), ["plot\u202egnp.png"])
    assert "\u202e" not in found.name
