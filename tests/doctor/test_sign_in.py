"""Whether Claude Code is signed in, as the very program says that a hub would run; and checks that take too long."""

import threading
from pathlib import Path

import pytest

from handraise.claude.sign_in import SignIn, sign_in
from handraise.config.settings import ClaudeSettings
from handraise.doctor.checks import check_sign_in, check_state
from handraise.doctor.examine import within

SAYS: dict[str, tuple[str, SignIn]] = {
    "yes": ("echo '{\"loggedIn\": true}'", "in"),
    "no": ("echo '{\"loggedIn\": false}'; exit 1", "out"),
    "an older version": ("echo 'error: unknown command' >&2; exit 1", "unknown"),
    "nonsense": ("echo '[1]'", "unknown"),
    "not a truth": ('echo \'{"loggedIn": "yes"}\'', "unknown"),
    "nothing": ("exec sleep 600", "unknown"),
}


def program(tmp: Path, script: str) -> Path:
    path = tmp / "claude"
    path.write_text(f"#!/bin/sh\ntest \"$*\" = 'auth status' || exit 9\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", SAYS)
async def test_the_program_itself_is_asked_and_no_answer_is_unknown(tmp_path: Path, name: str) -> None:
    script, answer = SAYS[name]
    deadline = 1.0 if "sleep" in script else 20.0
    assert await sign_in(program(tmp_path, script), {"PATH": "/usr/bin:/bin"}, deadline=deadline) == answer


async def test_the_advice_names_the_very_program_that_the_hub_would_run(tmp_path: Path) -> None:
    place = tmp_path / "a b"
    place.mkdir()
    path = program(place, SAYS["no"][0])
    found = await check_sign_in(ClaudeSettings(path=str(path)), {"PATH": "/usr/bin:/bin"}, tmp_path)
    assert (found.name, found.verdict) == ("login", "warn")
    assert found.sentence == f"{path} says that it isn't signed in."
    assert f"'{path}' auth login" in found.advice
    # Signed in with another program's files is not signed in with this one.
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".credentials.json").write_text("{}")
    assert (await check_sign_in(ClaudeSettings(path=str(path)), {"PATH": "/usr/bin:/bin"}, tmp_path)).verdict == "warn"
    program(place, SAYS["yes"][0])
    assert (await check_sign_in(ClaudeSettings(path=str(path)), {"PATH": "/usr/bin:/bin"}, tmp_path)).verdict == "ok"


async def test_a_version_that_does_not_say_is_judged_by_its_files(tmp_path: Path) -> None:
    path = program(tmp_path, SAYS["an older version"][0])
    settings = ClaudeSettings(path=str(path))
    assert (await check_sign_in(settings, {}, tmp_path)).verdict == "warn"
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".credentials.json").write_text("{}")
    assert (await check_sign_in(settings, {}, tmp_path)).verdict == "ok"


def test_a_state_folder_that_is_too_long_for_a_socket_is_found_and_the_advice_helps(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    found = check_state(deep)
    assert found.verdict == "fail"
    assert "too long for a socket" in found.sentence
    assert "--state" in found.advice
    assert check_state(Path("/run/h")).verdict == "ok"


async def test_a_check_that_hangs_is_left_behind() -> None:
    never = threading.Event()
    assert await within(lambda: str(never.wait(60)), "too slow", deadline=0.05) == "too slow"
    assert await within(lambda: "done", "too slow") == "done"
    with pytest.raises(ZeroDivisionError):
        await within(lambda: 1 // 0, 0)
    never.set()
