"""The benchmarks page lists each of them, and no others."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_benchmark_is_described_and_nothing_else_is() -> None:
    described = re.findall(r"^\| `(bench_\w+\.py)` \|", (ROOT / "docs" / "benchmarks.md").read_text(), re.MULTILINE)

    assert sorted(described) == sorted(path.name for path in (ROOT / "bench").glob("bench_*.py"))
