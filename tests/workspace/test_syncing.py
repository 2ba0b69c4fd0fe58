"""A project's files on disk: changed together or not at all, and kept as they were."""

import json
from pathlib import Path

import pytest

from handraise.model.projects import Options
from handraise.workspace.merging import MCP, NOTES, RECORD, SETTINGS, Unmergeable
from handraise.workspace.syncing import BACKUP, sync
from handraise.workspace.wanted import wanted_for

WANTED = wanted_for(Options(mode="plan").over(Options()))


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_project_is_synced_once_and_again_without_a_change_and_undone(tmp_path: Path) -> None:
    assert sync(str(tmp_path), WANTED) == [MCP, SETTINGS, NOTES]
    once = tree(tmp_path)
    assert sync(str(tmp_path), WANTED) == []
    assert tree(tmp_path) == once

    assert sync(str(tmp_path), None) == [MCP, SETTINGS, NOTES]
    assert tree(tmp_path) == {}


def test_what_was_there_is_backed_up_once_and_comes_back_to_the_letter(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / MCP).write_text('{ "mcpServers": { "other": { "command": "x" } } }')
    (tmp_path / SETTINGS).write_text('{"env":{}}')
    (tmp_path / NOTES).write_text("# Mine, without a newline")
    before = tree(tmp_path)
    sync(str(tmp_path), WANTED)
    sync(str(tmp_path), wanted_for(Options(mode="default").over(Options())))

    kept = {f"{name}{BACKUP}": text for name, text in before.items()}
    assert {name: text for name, text in tree(tmp_path).items() if name.endswith(BACKUP)} == kept
    sync(str(tmp_path), None)
    assert tree(tmp_path) == before


def test_one_file_that_cannot_be_read_leaves_all_of_them_alone(tmp_path: Path) -> None:
    (tmp_path / MCP).write_text("{ not JSON")
    with pytest.raises(Unmergeable, match="Nothing was changed"):
        sync(str(tmp_path), WANTED)

    assert tree(tmp_path) == {MCP: b"{ not JSON"}


def test_a_file_that_is_not_text_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NOTES).write_bytes(b"\xff\xfe")
    with pytest.raises(Unmergeable, match="is not UTF-8"):
        sync(str(tmp_path), WANTED)


def test_permissions_and_links_stay_as_they_are(tmp_path: Path) -> None:
    shared = tmp_path / "shared.md"
    shared.write_text("Shared.\n")
    shared.chmod(0o600)
    project = tmp_path / "project"
    project.mkdir()
    (project / NOTES).symlink_to(shared)
    sync(str(project), WANTED)

    assert (project / NOTES).is_symlink()
    assert shared.stat().st_mode & 0o777 == 0o600
    assert shared.read_text().startswith("Shared.\n")


def test_the_record_says_what_is_ours(tmp_path: Path) -> None:
    sync(str(tmp_path), WANTED)

    assert json.loads((tmp_path / RECORD).read_text())["made"] == [MCP, SETTINGS, NOTES]
