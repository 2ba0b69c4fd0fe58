"""What changed in a working tree, by Git in a hostile repository."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from handraise.claude.beneath import NotBeneath
from handraise.claude.git_start import find_start, load_start, save_start
from handraise.claude.working_tree import CannotRevert, WorkingTree

ONE = "".join(f"line {number}\n" for number in range(10))


def git(directory: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    run = subprocess.run(["git", *who, *words], cwd=directory, check=True, capture_output=True, text=True, timeout=60)
    return run.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "work"
    (top / "src").mkdir(parents=True)
    (top / "src/one.py").write_text(ONE)
    (top / "src/two.py").write_text("two\n")
    (top / "run.sh").write_text("#!/bin/sh\n")
    (top / "run.sh").chmod(0o755)
    (top / ".gitignore").write_text("*.log\n")
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "one")
    return top


@pytest.fixture
def tree(repository: Path, tmp_path: Path) -> Callable[..., WorkingTree]:
    start = find_start(str(repository))
    assert start is not None

    def make(directory: Path | None = None) -> WorkingTree:
        return WorkingTree(start, str(directory or repository), tmp_path / "ours")

    return make


async def named(tree: WorkingTree) -> dict[str, tuple[str, int | None, int | None]]:
    files, _ = await tree.changes()
    return {each.path: (each.status, each.added, each.gone) for each in files}


async def test_every_kind_of_change_is_listed(repository: Path, tree: Callable[..., WorkingTree]) -> None:
    assert await named(tree()) == {}
    (repository / "src/one.py").write_text(ONE.replace("line 5", "changed"))
    (repository / "src/two.py").unlink()
    (repository / "src/new.py").write_text("a\nb")
    (repository / "debug.log").write_text("ignored\n")
    (repository / "data.bin").write_bytes(b"a\0b")
    os.symlink("/etc/passwd", repository / "link")

    assert await named(tree()) == {
        "data.bin": ("added", None, None),
        "link": ("link", None, None),
        "src/new.py": ("added", 2, 0),
        "src/one.py": ("modified", 1, 1),
        "src/two.py": ("deleted", 0, 1),
    }
    one = await tree().file("src/one.py")
    assert one is not None
    assert one.diff is not None
    assert one.diff.startswith("@@ -3,7 +3,7 @@")
    assert "-line 5\n+changed\n" in one.diff
    new = await tree().file("src/new.py")
    assert new is not None
    assert new.diff == "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    for path, problem in (("data.bin", "binary"), ("link", "link")):
        shown = await tree().file(path)
        assert shown is not None
        assert (shown.diff, shown.problem) == (None, problem)
    assert await tree().file(".gitignore") is None
    assert await tree().file("missing") is None


async def test_what_the_session_committed_is_a_change_too(repository: Path, tree: Callable[..., WorkingTree]) -> None:
    (repository / "src/one.py").write_text("other\n")
    (repository / "src/new.py").write_text("new\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "two")
    assert set(await named(tree())) == {"src/new.py", "src/one.py"}


async def test_only_the_sessions_own_directory_is_listed(repository: Path, tree: Callable[..., WorkingTree]) -> None:
    (repository / "run.sh").write_text("changed\n")
    (repository / "src/one.py").write_text("changed\n")
    assert set(await named(tree(repository / "src"))) == {"one.py"}
    shown = await tree(repository / "src").file("one.py")
    assert shown is not None
    with pytest.raises(NotBeneath):
        await tree(repository / "src").file("../run.sh")


async def test_a_repository_without_a_commit_has_only_new_files(tmp_path: Path) -> None:
    top = tmp_path / "fresh"
    top.mkdir()
    git(top, "init", "-q")
    (top / "a").write_text("a\n")
    start = find_start(str(top))
    assert start is not None
    assert start.commit == ""
    assert await named(WorkingTree(start, str(top), tmp_path / "ours")) == {"a": ("added", 1, 0)}


def test_a_worktree_and_packed_refs_are_found(repository: Path, tmp_path: Path) -> None:
    git(repository, "pack-refs", "--all")
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "beside"))
    head = git(repository, "rev-parse", "HEAD")
    beside = find_start(str(tmp_path / "beside"))
    assert beside is not None
    assert (beside.top, beside.commit) == (str(tmp_path / "beside"), head)
    assert beside.objects == str(repository / ".git/objects")
    assert find_start(str(tmp_path)) is None
    save_start(tmp_path / "s/start.json", beside)
    save_start(tmp_path / "s/start.json", beside)
    assert load_start(tmp_path / "s/start.json") == beside
    assert load_start(tmp_path / "missing") is None


async def test_nothing_of_the_repository_runs(
    repository: Path, tree: Callable[..., WorkingTree], tmp_path: Path
) -> None:
    """Every setting of a repository by which Git would start a program, and none of them does."""
    mark = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\necho $0 >> {mark}\ncat\n")
    evil.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=x diff=x merge=x text working-tree-encoding=UTF-8\n")
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "alias.diff-files",
        "alias.ls-files",
        "interactive.diffFilter",
    ):
        git(repository, "config", key, str(evil))
    git(repository, "config", "filter.x.required", "true")
    git(repository, "config", "core.hooksPath", str(tmp_path / "hooks"))
    git(repository, "config", "core.worktree", "/etc")
    for name in ("post-index-change", "post-checkout", "fsmonitor-watchman"):
        for place in (tmp_path / "hooks", repository / ".git/hooks"):
            place.mkdir(exist_ok=True)
            (place / name).write_bytes(evil.read_bytes())
            (place / name).chmod(0o755)
    inner = repository / "inner"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: /nowhere\n")
    (repository / "src/one.py").write_text("changed\n")
    (repository / "src/new.py").write_text("new\n")

    assert {"src/one.py", "src/new.py", ".gitattributes"} <= set(await named(tree()))
    one = await tree().file("src/one.py")
    assert one is not None
    assert "+changed\n" in (one.diff or "")
    await tree().revert("src/one.py", one.digest, "t")
    assert (repository / "src/one.py").read_text() == ONE
    assert not mark.exists()
    # Git as people use it would have run them.
    git(repository, "config", "--unset", "core.worktree")
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False, timeout=60)
    assert mark.exists()


async def test_attributes_cannot_hide_a_change(repository: Path, tree: Callable[..., WorkingTree]) -> None:
    (repository / ".gitattributes").write_text("*.py -diff binary -text\n")
    (repository / "src/one.py").write_text("changed\n")
    one = await tree().file("src/one.py")
    assert one is not None
    assert "+changed\n" in (one.diff or "")


async def test_a_file_is_reverted_if_it_is_still_as_it_was_shown(
    repository: Path, tree: Callable[..., WorkingTree]
) -> None:
    (repository / "run.sh").write_text("changed\n")
    (repository / "src/two.py").unlink()
    (repository / "deep/er").mkdir(parents=True)
    (repository / "deep/er/new.py").write_text("new\n")
    shown = {path: await tree().file(path) for path in ("run.sh", "src/two.py", "deep/er/new.py")}
    (repository / "run.sh").write_text("changed again\n")
    for path, diff in shown.items():
        assert diff is not None
        if path == "run.sh":
            with pytest.raises(CannotRevert):
                await tree().revert(path, diff.digest, "t")
        else:
            await tree().revert(path, diff.digest, "t")
    assert (repository / "src/two.py").read_text() == "two\n"
    assert not (repository / "deep").exists(), "directories that became empty go with it"
    again = await tree().file("run.sh")
    assert again is not None
    await tree().revert("run.sh", again.digest, "t")
    assert (repository / "run.sh").read_text() == "#!/bin/sh\n"
    assert (repository / "run.sh").stat().st_mode & 0o111
    assert await named(tree()) == {}
    assert not list(repository.glob("**/.handraise-*"))


@pytest.mark.parametrize(
    "path",
    ["../other", "/etc/passwd", ".git/config", "src/../run.sh", "", "src//one.py", "./run.sh", ".GIT/config", "a\0b"],
)
async def test_paths_that_lead_elsewhere_are_refused(tree: Callable[..., WorkingTree], path: str) -> None:
    with pytest.raises(NotBeneath):
        await tree().file(path)
    with pytest.raises(NotBeneath):
        await tree().revert(path, "", "t")


async def test_a_directory_that_became_a_link_is_not_followed(
    repository: Path, tree: Callable[..., WorkingTree], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "one.py").write_text("private\n")
    (repository / "src").rename(tmp_path / "before")
    os.symlink(outside, repository / "src")

    changes = await named(tree())
    assert changes["src/one.py"][0] == "deleted"
    one = await tree().file("src/one.py")
    assert one is not None
    assert "private" not in (one.diff or "")
    with pytest.raises(NotBeneath):
        await tree().revert("src/one.py", one.digest, "t")
    assert (outside / "one.py").read_text() == "private\n"


async def test_a_file_that_became_a_link_or_a_pipe_is_not_touched(
    repository: Path, tree: Callable[..., WorkingTree], tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.write_text("private\n")
    (repository / "src/one.py").unlink()
    os.symlink(target, repository / "src/one.py")
    os.mkfifo(repository / "pipe")
    shown = await tree().file("src/one.py")
    assert shown is not None
    assert (shown.status, shown.diff) == ("link", None)
    with pytest.raises(CannotRevert):
        await tree().revert("src/one.py", shown.digest, "t")
    assert target.read_text() == "private\n"
    assert (repository / "src/one.py").is_symlink()
    await tree().file("pipe")


async def test_names_that_are_not_text_are_listed(repository: Path, tree: Callable[..., WorkingTree]) -> None:
    with open(os.fsencode(repository) + b"/\xff.py", "w") as file:
        file.write("a\n")
    (repository / "a\nb\t\u202e.py").write_text("a\n")
    assert set(await named(tree())) == {"\udcff.py", "a\nb\t\u202e.py"}
    odd = await tree().file("a\nb\t\u202e.py")
    assert odd is not None
    assert odd.diff == "@@ -0,0 +1 @@\n+a\n"


async def test_files_with_secrets_are_named_and_not_shown(repository: Path, tree: Callable[..., WorkingTree]) -> None:
    for path in (".env", "config/.env.local", ".claude/settings.local.json", "key.PEM"):
        (repository / path).parent.mkdir(exist_ok=True)
        (repository / path).write_text("token=1\n")
        shown = await tree().file(path)
        assert shown is not None
        assert (shown.diff, shown.problem) == (None, "secret"), path
    assert ".env" in await named(tree())


async def test_a_large_file_is_named_and_not_shown(repository: Path, tree: Callable[..., WorkingTree]) -> None:
    (repository / "big.txt").write_bytes(b"x" * (9 * 1024 * 1024))
    (repository / "src/one.py").write_bytes(b"x\n" * (5 * 1024 * 1024))
    for path in ("big.txt", "src/one.py"):
        shown = await tree().file(path)
        assert shown is not None
        assert shown.problem == "large"
