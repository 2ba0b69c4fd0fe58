"""A link is opened if someone can see it, and not mentioned if nobody can."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LINK = "http://127.0.0.1:8420/login?code=c"
SHOW = f"""
import os
from handraise.cli.serve import show
show({LINK!r})
try:
    os.wait()
except ChildProcessError:
    pass
"""
# Complains on both streams, as xdg-open does, and keeps what it was given.
OPENER = '#!/bin/sh\necho "no method for opening $1"\necho "no browser" >&2\necho "$1" > "$KEPT"\nexit 3\n'


def shown(folder: Path, **environ: str) -> tuple[str, str | None]:
    """What was said, and which link the opener was given."""
    folder.mkdir(exist_ok=True)
    for name in ("xdg-open", "open"):
        (folder / name).write_text(OPENER)
        (folder / name).chmod(0o755)
    record = folder / "kept"
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    path = f"{folder}:{os.environ['PATH']}"
    ran = subprocess.run(
        [sys.executable, "-c", SHOW],
        env={**bare, "PATH": path, "KEPT": str(record), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout + ran.stderr, record.read_text().strip() if record.exists() else None


@pytest.mark.parametrize("screen", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_a_browser_that_cannot_be_opened_is_not_talked_about(tmp_path: Path, screen: str) -> None:
    assert shown(tmp_path, **{screen: ":0"}) == ("", LINK)


@pytest.mark.skipif(sys.platform == "darwin", reason="every Mac has a screen")
def test_without_a_screen_nothing_is_opened(tmp_path: Path) -> None:
    assert shown(tmp_path) == ("", None)


@pytest.mark.skipif(sys.platform == "darwin", reason="every Mac has `open`")
def test_without_an_opener_nothing_is_said(tmp_path: Path) -> None:
    assert shown(tmp_path / "empty", DISPLAY=":0", PATH=str(tmp_path)) == ("", None)
