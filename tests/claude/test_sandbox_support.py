"""Whether there can be a sandbox here: the check can be begun early, and leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGUN = "with sandbox_support.begun(): found = asyncio.run(sandbox_support.look())"
ALONE = "found = asyncio.run(sandbox_support.look())"
NOT_ASKED = "with sandbox_support.begun(): found = None"
BEGUN_TWICE = f"{BEGUN}\n{BEGUN}"


def checked(code: str, folder: Path) -> str:
    """In a process of its own: the result is remembered."""
    code = f"import asyncio\nfrom handraise.claude import sandbox_support\n{code}\nprint(found)"
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_a_check_that_was_begun_early_finds_the_same(tmp_path: Path) -> None:
    assert checked(BEGUN, tmp_path) == checked(BEGUN_TWICE, tmp_path) == checked(ALONE, tmp_path)


@pytest.mark.parametrize("code", [BEGUN, ALONE, NOT_ASKED], ids=["begun", "alone", "not asked"])
def test_nothing_is_left_behind(tmp_path: Path, code: str) -> None:
    checked(code, tmp_path)
    assert list(tmp_path.iterdir()) == []
