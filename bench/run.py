"""Runs benchmarks, five rounds of each, and compares the middle of their figures with the recorded ones.

Red is a figure that is more than a tenth worse, or gone. Without names it runs all of them.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import figures

HERE = Path(__file__).parent
ROUNDS = 5
_COLORS = {"worse": "\033[31m", "missing": "\033[31m", "better": "\033[32m", "as before": "\033[32m", "new": "\033[33m"}


def run(name: str) -> list[figures.Figure]:
    """One round. Ends everything if the benchmark fails."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder, "figures")
        words = [sys.executable, str(HERE / f"bench_{name}.py")]
        if subprocess.run(words, env={**os.environ, figures.INTO: str(into)}, check=False).returncode:
            sys.exit(f"bench_{name}.py failed.")
        return figures.read(into)


def row(compared: figures.Comparison) -> str:
    now = "–" if compared.now is None else f"{compared.now:.3g}"
    recorded = "–" if compared.recorded is None else f"{compared.recorded:.3g}"
    change = f"{compared.change - 1:+.0%}" if compared.now and compared.recorded else ""
    state = f"{_COLORS[compared.state]}{compared.state}\033[0m" if sys.stdout.isatty() else compared.state
    return f"  {compared.name:<58}{now:>9}{recorded:>10}{change:>7}  {state}"


def show(name: str, compared: Sequence[figures.Comparison]) -> None:
    print(f"{name:<60}{'now':>9}{'recorded':>10}{'worse':>7}")
    print("\n".join(row(each) for each in compared), flush=True)


def main() -> None:
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(known)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each runs (default: {ROUNDS})")
    parser.add_argument("--record", action="store_true", help="save the figures instead of comparing them")
    wanted = parser.parse_args()
    if unknown := set(wanted.names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    recorded, red = figures.load(), []
    for name in wanted.names or known:
        now = figures.middle([run(name) for _ in range(wanted.rounds)])
        # Nothing at all: what it compares with isn't installed here, and it said so.
        compared = figures.compare(now, recorded.get(name, {})) if now else []
        if compared:
            show(name, compared)
        if wanted.record and now:
            recorded[name] = {each.name: each.value for each in now.values()}
            figures.save(recorded)
        red += [f"{name}: {each.name}" for each in compared if each.is_red]
    if red and not wanted.record:
        sys.exit("Worse than recorded by more than 10 %:\n" + "\n".join(f"  {each}" for each in red))


if __name__ == "__main__":
    main()
