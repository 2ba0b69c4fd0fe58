"""Older versions of Handraise, from the repository's history: each as a wheel, unpacked, to run a hub of that time."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The last commit with each version of the schema.
OLDER = {7: "960b967", 9: "a3a8f02", 10: "fa66838", 12: "d791931"}
PREVIOUS = 10


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
