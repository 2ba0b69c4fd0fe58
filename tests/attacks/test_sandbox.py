"""What Claude's own tools can do to the hub, with the real CLI's own Bash: with each preset, and without a sandbox.

One session makes every attack (`assault.py`), which is cheap. Without a sandbox each of them must succeed: an attack
that never works proves nothing.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from attacks.assault import ATTACKS, UNCONTROLLED, alive
from handraise.claude import sandbox_support
from handraise.claude.folder import RunFolder
from handraise.claude.process import descendants

ASSAULT = Path(__file__).with_name("assault.py")
NETWORK = {"the network", "the network by datagrams", "an abstract socket"}
BY_CHOICE = {"the shell's profile", "files elsewhere", *NETWORK}
"""What `open` allows: everything the person may do, except to the hub's own files."""
AS_ROOT = BY_CHOICE | ({"a job for at"} & set(ATTACKS))
"""What it allows root. Others need the privileges of `at`, which nobody has inside."""
OPEN = BY_CHOICE if os.geteuid() else AS_ROOT
OTHER = "daemon"
STARTS = (
    "import os, subprocess, sys, handraise.serving, stories.house;"
    " subprocess.run([sys.executable, '-c', ''], check=True);"
    " assert os.path.realpath(sys.executable) == os.path.realpath(sys.argv[1])"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, because a socket's path must be."""
    made = Path(tempfile.mkdtemp(prefix="hr-"))
    yield made
    shutil.rmtree(made)


def made(tmp: Path, preset: str, *user: str) -> dict[str, str]:
    python, *before = [*reversed(user)] or [sys.executable]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp),
        "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    mark = f"outlives-{uuid.uuid4().hex}"
    try:
        ran = subprocess.run(
            [*reversed(before), python, str(ASSAULT), str(tmp), preset, mark],
            env=environ, cwd=tmp, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
    finally:
        end_all(tmp, mark)
    assert ran.returncode == 0, ran.stderr[-3000:]
    results: dict[str, str] = json.loads((tmp / "results.json").read_text())
    return results


def end_all(tmp: Path, mark: str) -> None:
    """Ends what an unfinished assault left behind: its Claudes, and what outlived them."""
    records = [RunFolder(each.parent).record() for each in tmp.glob("home/**/launch.json")]
    claudes = [each.identity for each in records if each is not None]
    for each in (*descendants(*claudes), *claudes):
        each.signal(signal.SIGKILL)
    while left := alive(mark):  # each soon becomes another process; they give up after a minute
        for each in left:
            each.signal(signal.SIGKILL)


def fallen(results: dict[str, str]) -> set[str]:
    return {name for name, text in results.items() if "FELL" in text}


@pytest.fixture
def sandboxed() -> None:
    if missing := asyncio.run(sandbox_support.look()).missing:
        pytest.skip(f"no sandbox can be made here: {missing}")


def test_without_a_sandbox_every_attack_has_its_way(folder: Path) -> None:
    results = made(folder, "off")
    assert set(ATTACKS) - fallen(results) == set()
    assert "THERE" in results["outlive it"]


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize(("preset", "open_to"), [("open", OPEN), ("project", NETWORK), ("sealed", set())])
def test_inside_a_sandbox_none_has(folder: Path, preset: str, open_to: set[str]) -> None:
    hold(made(folder, preset), open_to)


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize(
    ("preset", "open_to"), [pytest.param("open", BY_CHOICE, marks=pytest.mark.torture), ("sealed", set())]
)
def test_inside_a_sandbox_of_somebody_who_is_not_root_none_has(folder: Path, preset: str, open_to: set[str]) -> None:
    if os.geteuid() != 0:
        pytest.skip("whoever runs this is not root: the test before this one has shown it")
    become = ("setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups")
    python = next((each for each in (sys.executable, "/usr/bin/python3") if usable(become, each)), None)
    if python is None:
        pytest.skip(f"the user {OTHER} can run no Python that has our packages")
    shutil.chown(folder, OTHER, OTHER)
    hold(made(folder, preset, *become, python), open_to)


def hold(results: dict[str, str], open_to: set[str]) -> None:
    assert results["missing"] == ""
    assert fallen(results) == open_to, {name: results[name] for name in fallen(results) - open_to}
    assert set(results) >= {*ATTACKS, *UNCONTROLLED}
    assert "ALL" in results["what must work"], results["what must work"]
    # It existed while Claude ran, and is gone with it.
    assert "THERE" in results["outlive it"]
    assert results["alive"] == ""


def usable(become: tuple[str, ...], python: str) -> bool:
    line = [*become, python, "-c", STARTS, python]
    environ = {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each), "PATH": os.environ["PATH"]}
    return subprocess.run(line, env=environ, cwd="/", capture_output=True, check=False).returncode == 0
