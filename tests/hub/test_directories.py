"""Directories to choose from: only real ones, never the hub's own, and never too many."""

import os
from pathlib import Path

import pytest

from handraise.hub.directories import DirectoryRefused, list_directories


def folders(tmp: Path, *names: str) -> str:
    for name in names:
        (tmp / "root" / name).mkdir(parents=True)
    return str((tmp / "root").resolve())


def test_directories_are_listed_by_name_and_files_are_not(tmp_path: Path) -> None:
    root = folders(tmp_path, "beta", "Alpha/.git", ".hidden")
    (tmp_path / "root" / "file.txt").touch()
    found = list_directories(root)

    assert [(each.name, each.path, each.is_repository) for each in found.entries] == [
        ("Alpha", f"{root}/Alpha", True),
        ("beta", f"{root}/beta", False),
    ]
    assert (found.path, found.parent, found.is_complete) == (root, str(tmp_path.resolve()), True)


def test_what_was_typed_narrows_it_down_and_a_dot_shows_hidden_ones(tmp_path: Path) -> None:
    root = folders(tmp_path, "project", "Proto", "other", ".config")

    assert [each.name for each in list_directories(root, "pro").entries] == ["project", "Proto"]
    assert [each.name for each in list_directories(root, ".").entries] == [".config"]


@pytest.mark.parametrize(
    "path", ["relative", "", "~", "/tmp/../etc", "/a/..", "/nul\0", "/new\nline", "/" + "x" * 5000]
)
def test_a_path_that_is_not_absolute_and_plain_is_refused(path: str) -> None:
    with pytest.raises(DirectoryRefused) as refused:
        list_directories(path)
    assert refused.value.reason == "relative"


def test_the_hubs_own_folders_are_never_listed_not_even_through_a_link(tmp_path: Path) -> None:
    root = folders(tmp_path, "state/sessions")
    (tmp_path / "way").symlink_to(tmp_path / "root" / "state")
    for path in (f"{root}/state", f"{root}/state/sessions", str(tmp_path / "way"), str(tmp_path / "way/sessions")):
        with pytest.raises(DirectoryRefused) as refused:
            list_directories(path, hidden=(tmp_path / "root" / "state",))
        assert refused.value.reason == "hidden"


def test_a_link_to_a_directory_is_shown_and_leads_to_where_it_really_is(tmp_path: Path) -> None:
    root = folders(tmp_path, "real/inner")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "root" / "real")
    (tmp_path / "root" / "loop").symlink_to(tmp_path / "root" / "loop")

    assert [each.name for each in list_directories(root).entries] == ["link", "real"]
    assert list_directories(f"{root}/link").path == f"{root}/real"


def test_what_is_missing_a_file_or_unreadable_is_said(tmp_path: Path) -> None:
    root = folders(tmp_path, "closed")
    (tmp_path / "root" / "file").touch()
    for path in (f"{root}/gone", f"{root}/file"):
        with pytest.raises(DirectoryRefused) as refused:
            list_directories(path)
        assert refused.value.reason == "missing"
    if os.geteuid():
        (tmp_path / "root" / "closed").chmod(0)
        with pytest.raises(DirectoryRefused) as refused:
            list_directories(f"{root}/closed")
        assert refused.value.reason == "unreadable"


def test_a_huge_directory_is_cut_off_and_says_so(tmp_path: Path) -> None:
    root = folders(tmp_path, *(f"d{number:03}" for number in range(30)))
    found = list_directories(root, most=10)
    assert (len(found.entries), found.is_complete) == (10, False)
    assert list_directories(root, "d02", most=10).is_complete
    assert not list_directories(root, "d02", looked_at=5).is_complete


def test_a_name_that_could_deceive_is_not_offered(tmp_path: Path) -> None:
    root = folders(tmp_path, "good", "turn\u202earound", "esc\x1b[31m", "new\nline")
    assert [each.name for each in list_directories(root).entries] == ["good"]


def test_the_top_has_no_parent() -> None:
    assert list_directories("/").parent == ""
