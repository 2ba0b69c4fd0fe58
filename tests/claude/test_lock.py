import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from claude.children import child
from handraise.claude.folder import SessionBusy, take_lock


def test_a_second_process_on_one_conversation_is_refused_with_the_reason(tmp_path: Path) -> None:  # lesson 21
    held = take_lock(tmp_path / "locks", "s1")
    with pytest.raises(SessionBusy, match=r"s1 is open in another process\. Stop that one first, or fork") as refused:
        take_lock(tmp_path / "locks", "s1")
    assert refused.value.session_id == "s1"
    os.close(take_lock(tmp_path / "locks", "s2"))
    os.close(held)
    os.close(take_lock(tmp_path / "locks", "s1"))


def test_the_lock_goes_with_the_child_that_inherited_it(tmp_path: Path) -> None:  # lesson 19
    held = take_lock(tmp_path, "s1")
    with child("import time; print(1); time.sleep(1000)", pass_fds=[held]) as heir:
        os.close(held)
        with pytest.raises(SessionBusy):
            take_lock(tmp_path, "s1")
        heir.kill()
        heir.wait()
        os.close(take_lock(tmp_path, "s1"))


def test_a_refusal_leaves_no_open_file(tmp_path: Path) -> None:
    held = take_lock(tmp_path, "s1")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SessionBusy):
        take_lock(tmp_path, "s1")
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(held)


def test_a_lock_file_that_a_crash_left_is_no_lock(tmp_path: Path) -> None:  # lesson 19
    subprocess.run(["/bin/sh", "-c", f"echo 1 > {tmp_path}/s1.lock"], check=True)
    os.close(take_lock(tmp_path, "s1"))


def test_the_lock_is_private_and_not_inherited_unasked(tmp_path: Path) -> None:
    held = take_lock(tmp_path / "locks", "s1")
    assert (tmp_path / "locks").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "locks" / "s1.lock").stat().st_mode & 0o777 == 0o600
    assert fcntl.fcntl(held, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    os.close(held)
