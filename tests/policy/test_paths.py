"""Where a call leads, and which globs it fits."""

import pytest

from handraise.policy.calls import Call
from handraise.policy.paths import ResolvedPath, fits_glob, is_below, normpath


@pytest.mark.parametrize(
    ("path", "glob", "fits"),
    [
        ("/p/a", "a", True),
        ("/p/a", "./a", True),
        ("/p/a/b", "a", False),
        ("/p/a/b", "a/*", True),
        ("/p/a/b/c", "a/*", False),
        ("/p/a/b/c", "a/**", True),
        ("/p/a", "a/**", True),
        ("/p/ab", "a/**", False),
        ("/p/a/x/y/b", "a/**/b", True),
        ("/p/a/b", "a/**/b", True),
        ("/p/x.py", "**/*.py", True),
        ("/p/a/x.py", "**/*.py", True),
        ("/p/a/x.pyc", "**/*.py", False),
        ("/q/x.py", "**/*.py", False),
        ("/q/x.py", "/**/*.py", True),
        ("/q/x", "../q/*", False),
        ("/q/x", "**/../../q/x", False),
        ("/p/a.b", "a?b", True),
        ("/p/a/b", "a?b", False),
        ("/p/a[b]", "a[b]", True),
        ("/p/a\nb", "*", True),
    ],
)
def test_a_glob_means_what_it_says_and_stays_in_the_project(path: str, glob: str, fits: bool) -> None:
    assert fits_glob(path, glob, "/p") is fits


def test_a_neighbour_with_the_same_beginning_is_not_below() -> None:
    assert is_below("/p/a", "/p")
    assert is_below("/p", "/p")
    assert is_below("/a", "/")
    assert not is_below("/pa", "/p")


def test_two_slashes_in_front_are_one() -> None:
    assert normpath("//etc/../etc//x/.") == "/etc/x"


def test_links_are_followed_by_the_function_that_comes_in() -> None:
    place = ResolvedPath(Call("Read", {"file_path": "link/x"}, "/p"), lambda path: path.replace("/p/link", "/out"))

    assert place.spelled == "/p/link/x"
    assert place.path == "/out/x"
    assert not place.is_inside


def test_the_project_itself_may_lie_behind_a_link() -> None:
    place = ResolvedPath(Call("Read", {"file_path": "/p/x"}, "/p"), lambda path: path.replace("/p", "/real/p"))

    assert place.is_inside


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".claude/settings.json", ".github/workflows/x.yml", ".mcp.json"]
)
def test_what_decides_later_is_sensitive_to_write_and_not_to_read(path: str) -> None:
    assert ResolvedPath(Call("Write", {"file_path": path}, "/p"), normpath).is_sensitive
    assert not ResolvedPath(Call("Read", {"file_path": path}, "/p"), normpath).is_sensitive
