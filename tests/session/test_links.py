import os
import subprocess
import sys
from pathlib import Path

import pytest

from handraise.session.surroundings import follow

OF_A_PROCESS = ["/proc/self/fd/0", "/proc/thread-self/fd/0", "/proc/1/root/etc/passwd", "/proc/self/cwd/../x"]


def test_links_are_followed_as_the_system_does(tmp_path: Path) -> None:
    base = Path(os.path.realpath(tmp_path))
    (base / "a" / "b").mkdir(parents=True)
    (base / "a" / "up").symlink_to("b/../../c")
    (base / "c").symlink_to(base / "a")
    (base / "loop").symlink_to("loop")
    (base / "broken").symlink_to("nowhere/x")
    for each in ("a/b", "a/up/b", "c/up/up/b/new", "broken", "broken/more", "a/./b//", "c/b/../up", "none/x"):
        assert follow(f"{base}/{each}") == os.path.realpath(f"{base}/{each}")
    assert follow(f"{base}/loop/x") == f"{base}/loop/x"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
@pytest.mark.parametrize("path", OF_A_PROCESS)
def test_what_belongs_to_a_process_keeps_its_name(tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to(path)
    assert follow(path) == follow(f"{tmp_path}/link") == path


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_stdin_is_never_the_file_that_ours_is(tmp_path: Path) -> None:
    (tmp_path / "ordinary").write_text("")
    (tmp_path / "link").symlink_to("/dev/stdin")
    source = "import sys\nfrom handraise.session.surroundings import follow\nprint(follow(sys.argv[1]))"
    with (tmp_path / "ordinary").open() as ours:
        text = subprocess.check_output([sys.executable, "-c", source, str(tmp_path / "link")], stdin=ours, text=True)
    assert text == "/proc/self/fd/0\n"


def test_names_that_no_file_can_have_are_left_alone() -> None:
    assert follow("/a\0b/\ud83d") == "/a\0b/\ud83d"
