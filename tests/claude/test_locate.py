import asyncio
import os
import sys
from pathlib import Path

import pytest

from handraise.claude.locate import ClaudeMissing, locate, version


def impostor(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_the_configured_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = impostor(tmp_path / "mine", "")
    monkeypatch.setenv("PATH", str(impostor(tmp_path / "bin" / "claude", "").parent))
    assert locate(str(mine)) == mine


def test_a_configured_path_may_begin_at_home_or_here_and_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = impostor(tmp_path / "mine", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locate("~/mine") == mine
    monkeypatch.chdir(tmp_path)
    # Claude is started from the project's directory: a relative path would name another program there.
    assert locate("./mine") == mine
    there = impostor(tmp_path / "bin" / "claude", "")
    monkeypatch.setenv("PATH", "bin")
    assert locate() == there


def test_a_configured_path_without_a_program_is_an_error_and_not_a_reason_to_look_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(ClaudeMissing, match=r"no Claude Code at .*nowhere.*npm install"):
        locate(str(tmp_path / "nowhere"))
    (tmp_path / "plain").write_text("")
    with pytest.raises(ClaudeMissing, match="isn't executable"):
        locate(str(tmp_path / "plain"))
    with pytest.raises(ClaudeMissing, match="no Claude Code at"):
        locate(str(tmp_path))


def test_the_path_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = impostor(tmp_path / "bin" / "claude", "")
    monkeypatch.setenv("PATH", str(there.parent))
    assert locate() == there


def test_the_bundled_one_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert locate().parts[-3:] == ("claude_agent_sdk", "_bundled", "claude")


def test_without_any_the_error_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in [name for name in sys.modules if name.split(".")[0] == "claude_agent_sdk"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ClaudeMissing, match=r"not found.*npm install.*handraise\[claude\].*\[claude\] path"):
        locate()


async def test_the_real_one_tells_its_version() -> None:
    number = await version(locate())
    assert [each.isdigit() for each in number.split(".")] == [True, True, True]


async def test_a_program_that_only_bears_the_name_is_refused(tmp_path: Path) -> None:
    for script in ("echo Hello", "echo 2.1.325; exit 3", "exit 0", r"printf '\377\376'", "echo error >&2"):
        with pytest.raises(ClaudeMissing, match=r"isn't a version of Claude Code.*npm install"):
            await version(impostor(tmp_path / "claude", script))


async def test_a_version_may_have_a_tail(tmp_path: Path) -> None:
    assert await version(impostor(tmp_path / "claude", "echo '2.2.0-beta.1 (Claude Code)'")) == "2.2.0-beta.1"
    assert await version(impostor(tmp_path / "claude", r"printf '2.2.0\377'")) == "2.2.0"


async def test_a_program_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    stuck = impostor(tmp_path / "claude", f"echo $$ > {tmp_path}/pid; exec sleep 1000")
    with pytest.raises(ClaudeMissing, match=r"did not answer within 0.5 s"):
        await version(stuck, deadline=0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_question_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    stuck = impostor(
        tmp_path / "claude", f"echo $$ > {tmp_path}/pid.part; mv {tmp_path}/pid.part {tmp_path}/pid; exec sleep 1000"
    )
    asking = asyncio.create_task(version(stuck))
    async with asyncio.timeout(60):
        while not (tmp_path / "pid").exists():
            await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_program_that_does_not_start_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "claude"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(ClaudeMissing, match=r"doesn't start: No such file"):
        await version(broken)
