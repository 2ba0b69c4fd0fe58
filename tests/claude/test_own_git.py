"""Our own Git: nothing of the repository or the environment is obeyed, and it never runs on."""

import subprocess
from pathlib import Path

import pytest

from handraise.claude.own_git import GitFailed, OwnGit

SECONDS = 60.0
MOST = 1024 * 1024


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=60)
    (folder / "one.txt").write_text("one\n")
    return folder


@pytest.fixture
def own(tree: Path, tmp_path: Path) -> OwnGit:
    own = OwnGit(tmp_path / "own", str(tree))
    own.prepare()
    return own


async def test_no_environment_variable_of_the_hub_reaches_git(
    own: OwnGit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    monkeypatch.setenv("GIT_TRACE", str(ran))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"touch {ran}")

    listed = await own.run("ls-files", "-z", "--others", seconds=SECONDS, most=MOST)

    assert (listed.text, listed.code) == (b"one.txt\0", 0)
    assert not ran.exists()


async def test_settings_that_someone_changed_are_ours_again(own: OwnGit, tmp_path: Path) -> None:
    config = own.folder / "config"
    ours = config.read_text()
    config.write_text(f"[core]\n\tfsmonitor = touch {tmp_path}/ran\n")
    (own.folder / "objects/info/alternates").write_text("/etc\n")

    own.prepare()

    assert config.read_text() == ours
    assert (own.folder / "objects/info/alternates").read_text() == ""
    assert sorted(each.name for each in own.folder.iterdir()) == ["HEAD", "config", "info", "objects", "refs"]


async def test_a_git_that_prints_too_much_or_takes_too_long_is_ended(own: OwnGit) -> None:
    much = await own.run("ls-files", "--others", seconds=SECONDS, most=3)
    assert (much.text, much.code) == (b"one.txt\n", None)

    # No time at all is over before the first line comes.
    slow = await own.run("ls-files", "--others", seconds=0.0, most=MOST)
    assert slow.code is None


async def test_a_git_that_fails_says_so(own: OwnGit, tmp_path: Path) -> None:
    assert (await own.run("cat-file", "-s", "0" * 40, seconds=SECONDS, most=MOST)).code
    with pytest.raises(GitFailed):
        await OwnGit(own.folder, str(tmp_path / "missing")).run("ls-files", seconds=SECONDS, most=MOST)
