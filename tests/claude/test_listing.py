"""The files of a project: what is ignored stays out, nothing leads outside, and nothing of a repository runs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from handraise.claude.listing import DirectoryMoved, ListingLimits, list_files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs Git")


def git(folder: Path, *arguments: str) -> None:
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env=clean, check=True, capture_output=True)


def project(tmp: Path, *files: str) -> Path:
    folder = tmp.resolve() / "project"
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return folder


async def paths(folder: Path, tmp: Path) -> tuple[str, ...]:
    return (await list_files(str(folder), tmp / "own.git")).paths


@needs_git
async def test_a_repository_is_listed_without_what_it_ignores(tmp_path: Path) -> None:
    folder = project(tmp_path, "src/app.py", "src/new.py", "build/out.o", "a b.txt", ".env")
    git(folder, "init", "-q")
    git(folder, "add", "src/app.py")
    (folder / ".gitignore").write_text("build/\n.env\n")

    assert await paths(folder, tmp_path) == (".gitignore", "a b.txt", "src/app.py", "src/new.py")


@needs_git
async def test_a_hostile_repository_runs_nothing_and_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("x")
    folder = project(tmp_path, "app.py")
    git(folder, "init", "-q")
    trap = f"sh -c 'touch {tmp_path}/ran'"
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "filter.x.clean", "alias.ls-files"):
        git(folder, "config", key, trap)
    git(folder, "config", "core.worktree", str(outside))
    git(folder, "config", "core.excludesFile", str(outside / "secret.txt"))
    (folder / ".gitattributes").write_text("* filter=x\n")
    (folder / "link").symlink_to(outside)

    assert await paths(folder, tmp_path) == (".gitattributes", "app.py", "link")
    assert not (tmp_path / "ran").exists()


@needs_git
async def test_a_repository_that_points_to_another_one_shows_only_its_own_files(tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "secret.txt").write_text("x")
    git(other, "init", "-q")
    git(other, "add", "secret.txt")
    folder = project(tmp_path, "app.py")
    (folder / ".git").write_text(f"gitdir: {other}/.git\n")

    assert await paths(folder, tmp_path) == ("app.py",)


async def test_any_directory_is_listed_without_what_nobody_types(tmp_path: Path) -> None:
    folder = project(tmp_path, "notes.md", "deep/er/file.txt", "node_modules/x/index.js", "__pycache__/x.pyc")

    assert await paths(folder, tmp_path) == ("deep/er/file.txt", "notes.md")


async def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("x")
    folder = project(tmp_path, "in/file.txt")
    (folder / "out").symlink_to(tmp_path / "outside")
    (folder / "in" / "loop").symlink_to(folder)

    assert await paths(folder, tmp_path) == ("in/file.txt", "in/loop", "out")


async def test_a_directory_that_was_replaced_by_a_link_is_not_listed(tmp_path: Path) -> None:
    folder = project(tmp_path, "file.txt")
    shutil.move(folder, tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")

    with pytest.raises(DirectoryMoved):
        await paths(folder, tmp_path)
    with pytest.raises(DirectoryMoved):
        await paths(tmp_path.resolve() / "gone", tmp_path)


async def test_names_that_could_deceive_are_left_out(tmp_path: Path) -> None:
    folder = project(tmp_path, "good.txt", "li\nne", "turn\u202earound", 'quo"te', "esc\x1b[31m")
    (folder / os.fsdecode(b"\xff")).write_text("x")

    assert await paths(folder, tmp_path) == ("good.txt",)


@pytest.mark.parametrize("is_repository", [False, pytest.param(True, marks=needs_git)])
async def test_a_huge_directory_is_listed_up_to_a_limit(tmp_path: Path, is_repository: bool) -> None:
    folder = project(tmp_path, *(f"{number:04}.txt" for number in range(60)))
    if is_repository:
        git(folder, "init", "-q")
    found = await list_files(str(folder), tmp_path / "own.git", ListingLimits(files=50))

    assert (len(found.paths), found.is_complete) == (50, False)


@needs_git
async def test_a_git_that_says_too_much_is_ended(tmp_path: Path) -> None:
    folder = project(tmp_path, *(f"{number:04}.txt" for number in range(60)))
    git(folder, "init", "-q")
    found = await list_files(str(folder), tmp_path / "own.git", ListingLimits(size=100))

    assert not found.is_complete
    assert set(found.paths) <= {f"{number:04}.txt" for number in range(60)}


async def test_what_is_too_deep_or_takes_too_long_is_left_out(tmp_path: Path) -> None:
    folder = project(tmp_path, "a/b/c/d.txt", "e.txt")

    assert (await list_files(str(folder), tmp_path / "own.git", ListingLimits(depth=1))).paths == ("e.txt",)
    assert not (await list_files(str(folder), tmp_path / "own.git", ListingLimits(seconds=0))).is_complete


async def test_a_folder_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    folder = project(tmp_path, "file.txt", "closed/secret.txt")
    (folder / "closed").chmod(0)
    try:
        found = await paths(folder, tmp_path)
    finally:
        (folder / "closed").chmod(0o700)

    assert "file.txt" in found
    assert os.geteuid() == 0 or "closed/secret.txt" not in found
