"""Our hook goes into the settings beside others, and out again; its secret stays out of git and of backups."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from handraise.model.projects import Options
from handraise.workspace.hook_entry import HookEntry
from handraise.workspace.json_texts import Unmergeable
from handraise.workspace.merging import RECORD, SETTINGS, files_for
from handraise.workspace.syncing import BACKUP, project_hook, sync
from handraise.workspace.user_settings import sync_user, user_hook

HOOK = HookEntry("http://127.0.0.1:8420/hooks/claude", "hr_secret")
MOVED = HookEntry("http://127.0.0.1:9999/hooks/claude", "hr_secret")
OTHERS: dict[str, Any] = {
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
        "PermissionRequest": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}],
    }
}


def wanted(hook: HookEntry | None = HOOK) -> Any:
    return files_for(Options().over(Options()), hook=hook)


def read(file: Path) -> Any:
    return json.loads(file.read_text())


def hooks(file: Path) -> list[str]:
    return [hook.get("url", "mine") for group in read(file)["hooks"]["PermissionRequest"] for hook in group["hooks"]]


def test_the_hook_is_added_once_follows_the_hub_and_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / SETTINGS).write_text(json.dumps(OTHERS))
    sync(str(tmp_path), wanted())
    assert sync(str(tmp_path), wanted()) == []
    assert hooks(tmp_path / SETTINGS) == ["mine", HOOK.url]
    assert project_hook(str(tmp_path)) == HOOK

    sync(str(tmp_path), wanted(MOVED))
    assert hooks(tmp_path / SETTINGS) == ["mine", MOVED.url]
    sync(str(tmp_path), None)
    assert read(tmp_path / SETTINGS) == OTHERS
    assert project_hook(str(tmp_path)) is None


def test_only_the_owner_can_read_the_secret_and_nothing_else_has_it(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / SETTINGS).write_text("{}")
    (tmp_path / SETTINGS).chmod(0o664)
    sync(str(tmp_path), wanted(None))
    for hook in (HOOK, MOVED):
        sync(str(tmp_path), wanted(hook))
        assert (tmp_path / SETTINGS).stat().st_mode & 0o777 == 0o600
        having = [path for path in tmp_path.rglob("*") if path.is_file() and b"hr_secret" in path.read_bytes()]
        assert having == [tmp_path / SETTINGS]


def test_a_second_sync_of_a_file_that_we_made_backs_up_no_secret(tmp_path: Path) -> None:
    sync(str(tmp_path), wanted())
    sync(str(tmp_path), wanted(MOVED))
    assert not (tmp_path / f"{SETTINGS}{BACKUP}").exists()
    sync(str(tmp_path), None)
    assert list(tmp_path.rglob("*")) == []


def git(directory: Path, *words: str) -> str:
    isolated = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *words], cwd=directory, env=isolated, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("below", ["", "apps/shop"])
def test_a_repository_never_gets_the_secret(tmp_path: Path, below: str) -> None:
    git(tmp_path, "init", "-q")
    project = tmp_path / below
    project.mkdir(parents=True, exist_ok=True)
    exclude = tmp_path / ".git" / "info" / "exclude"
    before = exclude.read_text()
    sync(str(project), wanted())
    git(tmp_path, "add", "-A")
    staged = git(tmp_path, "ls-files")
    assert RECORD in staged
    assert SETTINGS not in staged
    sync(str(project), None)
    assert exclude.read_text() == before


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_file_that_git_already_has_is_refused(tmp_path: Path, version: str) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{}")
    (tmp_path / SETTINGS).write_text("{}")
    git(tmp_path, "add", "-f", ".claude")
    git(tmp_path, "update-index", "--index-version", version)
    with pytest.raises(Unmergeable, match="git rm --cached"):
        sync(str(tmp_path), wanted())
    assert (tmp_path / SETTINGS).read_text() == "{}"


def test_a_link_to_a_file_that_git_has_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{}")
    (tmp_path / SETTINGS).symlink_to("settings.json")
    git(tmp_path, "add", "-f", ".claude/settings.json")
    with pytest.raises(Unmergeable, match="git rm --cached"):
        sync(str(tmp_path), wanted())


def test_the_users_own_settings_get_the_hook_for_all_projects(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    assert sync_user(folder, HOOK) == [str(folder / "settings.json")]
    assert (folder / "settings.json").stat().st_mode & 0o777 == 0o600
    assert user_hook(folder) == HOOK
    assert sync_user(folder, HOOK) == []
    sync_user(folder, MOVED)
    assert hooks(folder / "settings.json") == [MOVED.url]
    sync_user(folder, None)
    assert list(folder.iterdir()) == []

    (folder / "settings.json").write_text(json.dumps(OTHERS))
    sync_user(folder, HOOK)
    sync_user(folder, None)
    assert read(folder / "settings.json") == OTHERS
    (folder / "settings.json").write_text('{"hooks": []}')
    with pytest.raises(Unmergeable):
        sync_user(folder, HOOK)
