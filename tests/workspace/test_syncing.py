"""A project's files on disk: changed together or not at all, and backed up."""

import json
import os
from pathlib import Path

import pytest

from handraise.model.projects import Options
from handraise.workspace.json_texts import Unmergeable
from handraise.workspace.merging import MCP, NOTES, RECORD, SETTINGS, files_for
from handraise.workspace.syncing import BACKUP, sync

WANTED = files_for(Options(mode="plan").over(Options()))


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
    sync(str(tmp_path), files_for(Options(mode="default").over(Options())))

    record = {f"{name}{BACKUP}": text for name, text in before.items()}
    assert {name: text for name, text in tree(tmp_path).items() if name.endswith(BACKUP)} == record
    sync(str(tmp_path), None)
    assert tree(tmp_path) == before


def test_one_file_that_cannot_be_read_leaves_all_of_them_alone(tmp_path: Path) -> None:
    (tmp_path / MCP).write_text("{ not JSON")
    with pytest.raises(Unmergeable, match="Nothing was changed"):
        sync(str(tmp_path), WANTED)

    assert tree(tmp_path) == {MCP: b"{ not JSON"}


def test_a_file_that_is_not_text_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NOTES).write_bytes(b"\xff\xfe")
    with pytest.raises(Unmergeable, match="isn't valid UTF-8"):
        sync(str(tmp_path), WANTED)


def test_permissions_and_links_stay_as_they_are(tmp_path: Path) -> None:
    shared = tmp_path / "AGENTS.md"
    shared.write_text("Shared.\n")
    shared.chmod(0o600)
    (tmp_path / NOTES).symlink_to("AGENTS.md")
    sync(str(tmp_path), WANTED)

    assert (tmp_path / NOTES).is_symlink()
    assert shared.stat().st_mode & 0o777 == 0o600
    assert shared.read_text().startswith("Shared.\n")
    sync(str(tmp_path), None)
    assert ((tmp_path / NOTES).is_symlink(), shared.read_text()) == (True, "Shared.\n")


@pytest.mark.parametrize("name", [MCP, SETTINGS, NOTES, RECORD, f"{NOTES}{BACKUP}"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_that_leads_out_of_the_project_is_not_followed(tmp_path: Path, name: str, is_there: bool) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    if is_there:
        outside.write_text("{}")
    (project / name).symlink_to(outside)
    with pytest.raises(Unmergeable, match="links outside the project, to") as error:
        sync(str(project), WANTED)

    assert name in str(error.value)
    assert not is_there or outside.read_text() == "{}"
    assert tree(project).keys() <= {name}


def test_a_folder_that_leads_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".claude").symlink_to(tmp_path / "home")
    with pytest.raises(Unmergeable, match="links outside the project"):
        sync(str(tmp_path / "project"), WANTED)

    assert tree(tmp_path) == {}


def test_a_link_to_nothing_stays_one(tmp_path: Path) -> None:
    (tmp_path / NOTES).symlink_to("AGENTS.md")
    sync(str(tmp_path), WANTED)
    assert (tmp_path / "AGENTS.md").is_file()
    sync(str(tmp_path), None)

    assert (tmp_path / NOTES).is_symlink()
    assert not (tmp_path / "AGENTS.md").exists()


def test_a_read_only_file_leaves_all_of_them_alone(tmp_path: Path) -> None:
    (tmp_path / NOTES).write_text("# Mine\n")
    (tmp_path / NOTES).chmod(0o444)
    with pytest.raises(Unmergeable, match=r"CLAUDE\.md is read-only"):
        sync(str(tmp_path), WANTED)

    assert tree(tmp_path) == {NOTES: b"# Mine\n"}
    assert not (tmp_path / ".claude").exists()


def test_what_cannot_be_written_leaves_all_of_them_alone(tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("no folder")
    with pytest.raises(Unmergeable, match="Can't write"):
        sync(str(tmp_path), WANTED)

    assert tree(tmp_path) == {".claude": b"no folder"}


def test_what_is_no_file_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NOTES)
    with pytest.raises(Unmergeable, match=r"CLAUDE\.md isn't a regular file"):
        sync(str(tmp_path), WANTED)


def test_a_directory_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(Unmergeable, match="There is no directory"):
        sync(str(tmp_path / "gone"), WANTED)

    assert not (tmp_path / "gone").exists()


def test_interrupted_it_is_known_what_is_ours(tmp_path: Path) -> None:
    """As after a kill between two files: the record is there; expected everything that it names."""
    (tmp_path / MCP).write_text('{"mcpServers": {}}')
    sync(str(tmp_path), WANTED)
    (tmp_path / NOTES).unlink()
    (tmp_path / MCP).write_text('{"mcpServers": {}}')

    sync(str(tmp_path), None)
    assert tree(tmp_path) == {MCP: b'{"mcpServers": {}}'}


def test_windows_ends_of_line_come_back_to_the_letter(tmp_path: Path) -> None:
    (tmp_path / MCP).write_bytes(b'{\r\n  "mcpServers": {}\r\n}')
    (tmp_path / NOTES).write_bytes(b"# Mine\r\n\r\nBe kind.")
    before = tree(tmp_path)
    sync(str(tmp_path), WANTED)
    sync(str(tmp_path), None)

    assert tree(tmp_path) == before
    assert not (tmp_path / ".claude").exists()


def test_the_record_says_what_is_ours(tmp_path: Path) -> None:
    sync(str(tmp_path), WANTED)

    assert json.loads((tmp_path / RECORD).read_text())["made"] == [MCP, SETTINGS, NOTES]
