"""The version of a program is read once per file; old and unknown ones are unsafe."""

from pathlib import Path

import pytest

from handraise.claude.versions import VersionCache, is_unsafe


def program(path: Path, says: str) -> Path:
    """A new file each time, as an update makes it; it counts how often it was run."""
    fresh = path.with_name("fresh")
    fresh.write_text(f"#!/bin/sh\necho run >> {path.with_name('runs')}\necho '{says}'\n")
    fresh.chmod(0o755)
    return fresh.rename(path)


@pytest.mark.parametrize("version", ["2.1.222", "2.1.197", "2.0.999", "1.9.9", "0.2.9", "", "new", "2.1", "v2.1.325"])
def test_an_old_or_unknown_version_is_unsafe(version: str) -> None:
    assert is_unsafe(version)


@pytest.mark.parametrize("version", ["2.1.223", "2.1.325", "2.1.1000", "2.2.0", "3.0.0", "10.0.0", "2.1.223-beta.1"])
def test_a_later_version_is_safe(version: str) -> None:
    assert not is_unsafe(version)


async def test_a_program_is_asked_once_until_its_file_is_replaced(tmp_path: Path) -> None:
    cache, path = VersionCache(), tmp_path / "claude"
    program(path, "2.1.197 (Claude Code)")
    assert [await cache.of(path) for _ in range(3)] == ["2.1.197"] * 3
    assert (tmp_path / "runs").read_text().count("run") == 1

    program(path, "2.1.325 (Claude Code)")

    assert await cache.of(path) == cache.latest == "2.1.325"
    assert (tmp_path / "runs").read_text().count("run") == 2


async def test_a_program_that_names_no_version_has_none(tmp_path: Path) -> None:
    assert await VersionCache().of(program(tmp_path / "claude", "hello")) == ""
    assert await VersionCache().of(tmp_path / "nowhere") == ""
