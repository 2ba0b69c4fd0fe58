"""Which files fit what was typed, and how often the disk is asked."""

from pathlib import Path

import pytest

from handraise.desk.interface import Refused
from handraise.hub.file_finder import FRESH, FileFinder, matches, with_directories

PATHS = ("README.md", "docs/read_me_first.md", "src/app.py", "src/reader/app_test.py", "web/src/App.tsx")

ALL = tuple(with_directories(PATHS))


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("app", ["src/app.py", "web/src/App.tsx", "src/reader/app_test.py"]),
        ("src/", ["src/", "src/app.py", "src/reader/", "src/reader/app_test.py", "web/src/", "web/src/App.tsx"]),
        ("README", ["README.md", "docs/read_me_first.md"]),
        ("rdmd", ["README.md", "docs/read_me_first.md"]),
        ("zzz", []),
    ],
)
def test_the_best_come_first(typed: str, best: list[str]) -> None:
    assert matches(ALL, typed) == best


def test_nothing_typed_shows_what_is_near() -> None:
    assert matches(ALL, "")[:4] == ["src/", "web/", "docs/", "README.md"]


def test_only_a_few_are_shown() -> None:
    assert len(matches([f"file{number}" for number in range(500)], "file")) == 20


async def test_the_disk_is_asked_again_only_after_a_while(tmp_path: Path) -> None:
    now = 0.0
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    (folder / "one.txt").touch()
    files = FileFinder(tmp_path / "own.git", lambda: now)

    assert await files.find(str(folder), "") == (["one.txt"], True)
    (folder / "two.txt").touch()
    assert await files.find(str(folder), "two") == ([], True)
    now = FRESH + 1
    assert await files.find(str(folder), "two") == (["two.txt"], True)


async def test_a_directory_that_is_gone_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="any more"):
        await FileFinder(tmp_path / "own.git", lambda: 0.0).find(str(tmp_path / "gone"), "")


async def test_the_hubs_own_folder_stays_out_of_a_home_directory(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    (home / ".local" / "state").mkdir(parents=True)
    (home / ".local" / "state" / "secret.db").touch()
    (home / "notes.txt").touch()
    files = FileFinder(home / ".local" / "state" / "own.git", lambda: 0.0, [home / ".local" / "state"])

    assert await files.find(str(home), "") == (["notes.txt"], True)
