"""Older versions of Handraise, from the repository's history: each as a wheel, unpacked, to run a hub of that time."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The last commit with each version of the schema.
OLDER = {7: "960b967", 9: "a3a8f02", 10: "fa66838", 12: "d791931"}
PREVIOUS = 10
BEFORE_LOOKUPS = "6196c60"
"""The last commit whose hubs don't answer lookups."""


def has_history(commit: str) -> bool:
    """Whether the repository has this commit. A shallow clone or a source archive doesn't."""
    try:
        found = subprocess.run(
            ["git", "-C", str(ROOT), "cat-file", "-e", f"{commit}^{{commit}}"],
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
    except OSError:
        return False
    return found.returncode == 0


def check_out_older(commit: str, folder: Path) -> Path:
    """The code of that commit as it was, without its page: a folder for PYTHONPATH. Much faster than a wheel."""
    folder.mkdir(parents=True)
    command = ["git", "-C", str(ROOT), "archive", commit, "src/handraise"]
    archive = subprocess.run(command, capture_output=True, check=True, timeout=120)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True, timeout=120)
    return folder / "src"


def install_older(commit: str, folder: Path) -> Path:
    """Builds the wheel of that commit, without the page, and unpacks it: a folder for PYTHONPATH."""
    source, target = folder / "source", folder / "installed"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True, timeout=120)
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True, timeout=120)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=source, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    [wheel] = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(target)
    return target
