"""Reading what a directory brings: everything Claude Code would find, within limits, and nothing is followed."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from handraise.claude import repository
from handraise.claude.repository import Repository


def write(root: Path, name: str, text: str = "{}") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def paths(found: Repository) -> set[str]:
    return {each.path for each in found.files}


def test_an_empty_directory_brings_nothing(tmp_path: Path) -> None:
    assert repository.read(str(tmp_path)) == Repository(str(tmp_path))


def test_everything_in_the_directory_itself_is_found(tmp_path: Path) -> None:
    names = {
        ".mcp.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/agents/deep/one.md",
        ".claude/commands/go.md",
        ".claude/skills/tidy/SKILL.md",
        ".claude/hooks/check.sh",
    }
    for name in (*names, "CLAUDE.md", "src/main.py", ".claude/output-styles/x.md"):
        write(tmp_path, name)

    assert paths(repository.read(str(tmp_path))) == names


def test_servers_and_skills_are_found_above_and_settings_are_not(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    for name in (".mcp.json", ".claude/settings.json", ".claude/agents/one.md"):
        write(tmp_path, name)

    found = paths(repository.read(str(below)))

    assert found == {str(tmp_path / ".mcp.json"), str(tmp_path / ".claude/agents/one.md")}


def test_the_main_checkout_of_a_worktree_and_added_directories_are_looked_at(tmp_path: Path) -> None:
    main, tree, added = tmp_path / "main", tmp_path / "tree", tmp_path / "added"
    for each in (main, added):
        write(each, ".claude/settings.local.json")
    write(main, "x")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(main))
    for command in (("init", "-q"), ("add", "x"), ("commit", "-qm", "x"), ("worktree", "add", "-q", str(tree))):
        subprocess.run([*git, *command], check=True)

    found = repository.read(str(tree), [str(added)])

    assert paths(found) == {f"{each}/.claude/settings.local.json" for each in (main, added)}


def test_what_is_in_the_person_s_own_folder_is_theirs(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name in (".claude/settings.json", ".claude/agents/mine.md", ".mcp.json"):
        write(tmp_path, name)

    assert paths(repository.read(str(work), home=str(tmp_path))) == {str(tmp_path / ".mcp.json")}
    assert paths(repository.read(str(tmp_path), home=str(tmp_path))) == {".mcp.json"}


def test_a_link_is_read_as_claude_would_read_it(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "settings.json", '{"a": 1}')
    work = tmp_path / "work"
    work.mkdir()
    (work / ".claude").symlink_to(tmp_path / "elsewhere")

    (found,) = repository.read(str(work)).files

    assert (found.path, found.text) == (".claude/settings.json", '{"a": 1}')


@pytest.mark.parametrize("kind", ["fifo", "large", "binary", "unreadable"])
def test_what_cannot_be_shown_whole_is_said_and_holds_nobody_up(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ".mcp.json"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "large":
            path.write_bytes(b" " * (300 * 1024))
        case "binary":
            path.write_bytes(b"\xff\xfe")
        case _:
            path.symlink_to(path)  # a loop

    (found,) = repository.read(str(tmp_path)).files

    assert found.text is None
    assert found.problem.startswith("`.mcp.json` ")


def test_too_many_files_are_said(tmp_path: Path) -> None:
    for number in range(402):
        write(tmp_path, f".claude/agents/{number}.md", "x")

    assert repository.read(str(tmp_path)).problems == ("There are more than 400 files.",)


def test_folders_that_lead_back_to_themselves_end(tmp_path: Path) -> None:
    write(tmp_path, ".claude/skills/one/SKILL.md", "x")
    (tmp_path / ".claude/skills/one/again").symlink_to(tmp_path / ".claude/skills")

    found = repository.read(str(tmp_path))

    assert found.problems
    assert all("nested too deeply" in each for each in found.problems)


def test_scripts_are_read_only_inside_the_directory(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(work, "run.sh", "echo")
    write(tmp_path, "outside.sh", "echo")
    (work / "program").write_bytes(b"\0\1\2")

    found = repository.read_scripts(str(work), ["run.sh", "./run.sh", "../outside.sh", "/etc/passwd", "program", "no"])

    assert [each.path for each in found] == ["run.sh", "program"]
    assert found[1].text is not None
    assert found[1].text.startswith("3 bytes, not shown. SHA-256 ")


def test_the_person_s_own_servers_are_passed_on_only_where_there_are_any(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert repository.own_servers(home) is None
    for text in ("", "[]", "{", '{"mcpServers": {}}', '{"mcpServers": []}'):
        write(tmp_path, ".claude.json", text)
        assert repository.own_servers(home) is None
    write(tmp_path, ".claude.json", json.dumps({"mcpServers": {"mine": {"command": "x"}}}))
    assert repository.own_servers(home) == f"{home}/.claude.json"
    assert repository.own_servers("/nowhere", home) == f"{home}/.claude.json"


def test_instructions_that_claude_does_not_find_by_itself_are_named(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for name in ("CLAUDE.md", ".claude/CLAUDE.md"):
        write(tmp_path, name)
    for name in ("CLAUDE.md", "CLAUDE.local.md"):
        write(work, name)

    named = [path for path in repository.read(str(work)).instructions if path.startswith(str(tmp_path))]

    assert named == [f"{tmp_path}/CLAUDE.md", f"{tmp_path}/.claude/CLAUDE.md", f"{work}/CLAUDE.local.md"]
