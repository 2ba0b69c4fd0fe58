"""The benchmarks page lists each of them, and no others; each has figures that are compared, or no reference."""

import re
from pathlib import Path

import figures

ROOT = Path(__file__).parents[1]
BENCHMARKS = {path.stem.removeprefix("bench_"): path for path in (ROOT / "bench").glob("bench_*.py")}
WITHOUT_REFERENCE = {"ask_user", "many"}
"""They compare with a specification, by the clock: what they print depends on the machine."""


def test_every_benchmark_is_described_and_nothing_else_is() -> None:
    described = re.findall(r"^\| `(bench_\w+\.py)` \|", (ROOT / "docs" / "benchmarks.md").read_text(), re.MULTILINE)

    assert sorted(described) == sorted(path.name for path in BENCHMARKS.values())


def test_every_benchmark_with_a_reference_reports_figures() -> None:
    silent = {name for name, path in BENCHMARKS.items() if "figures.report" not in path.read_text()}

    assert silent == WITHOUT_REFERENCE


def test_recorded_figures_belong_to_benchmarks() -> None:
    assert set(figures.load()) <= set(BENCHMARKS) - WITHOUT_REFERENCE
