"""Real programs as witnesses: what a rule with a star allows starts no other program, and writes nothing."""

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import decide
from policy.fuzzing import examples, fuzzed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROGRAMS = {
    program: words.split()
    for program, words in (
        line.split(": ", 1)
        for line in (Path(__file__).parent / "tried.txt").read_text().splitlines()
        if not line.startswith("#")
    )
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits, and a program that leaves a mark where it runs."""
    here = tmp_path_factory.mktemp("place") / "work"
    here.mkdir()
    (here / "in.txt").write_text("a b\nb c\n")
    (here / "script").write_text("./trap\n")
    trap = here / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {here.parent / 'mark'}\n")
    trap.chmod(0o755)
    if shutil.which("git"):
        for line in ("init -q .", "add -A", "commit -qm 1", "commit -qm 2 --allow-empty"):
            _run(["git", *line.split()], here)
    _run(["tar", "-cf", "a.tar", "in.txt"], here)
    return here


@fuzzed
@pytest.mark.parametrize("program", sorted(PROGRAMS))
@settings(max_examples=examples(5), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_allowed_runs_nothing_else_and_writes_nothing(program: str, place: Path, data: st.DataObject) -> None:
    if shutil.which(program.split()[0]) is None:
        pytest.skip(f"there is no {program.split()[0]} here")
    words = data.draw(st.lists(_spelled(PROGRAMS[program]), max_size=5))
    line = [*program.split(), *words]
    rules = [Rule("r_1", "allow", tool="Bash", command=f"{each} *") for each in (program, program.split()[0])]
    quoted = " ".join(f"'{word}'" for word in line)
    if decide(Call("Bash", {"command": quoted}, str(place)), rules, NOW).decision != "allow":
        return
    before = _state(place)

    _run(line, place)

    assert not (place.parent / "mark").exists(), f"{quoted} ran a program"
    assert program.startswith(("git", "gzip", "tar")) or _state(place) == before, f"{quoted} wrote"
    assert not (place / "new").exists() or program == "tar", f"{quoted} wrote"
    (place / "new").unlink(missing_ok=True)


def _spelled(words: list[str]) -> st.SearchStrategy[str]:
    """A word as it is, cut short, or joined with the next."""
    cut = st.builds(lambda word, at: word[:at] or word, st.sampled_from(words), st.integers(1, 12))
    joined = st.builds(lambda one, other: one + other, st.sampled_from(words), st.sampled_from(words))
    return st.sampled_from(words) | st.sampled_from(words) | cut | joined


def _state(place: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in place.iterdir() if each.is_file()}


def _run(line: list[str], place: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(place.parent), "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_EDITOR": "true",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }  # fmt: skip
    subprocess.run(line, cwd=place, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
