"""The figures of the benchmarks: each is reported by its benchmark, and compared with the one that was recorded.

A figure is a ratio to a reference in the same run, so that it means the same on a faster machine, or a busy one.
"""

import json
import os
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

RECORDED = Path(__file__).with_name("figures.toml")
WORSE = 1.10
"""How much worse a figure may be than the recorded one."""
INTO = "HANDRAISE_FIGURES"
"""The variable that names the file for figures; without it, a benchmark only prints."""

Better = Literal["lower", "higher"]
State = Literal["as before", "better", "worse", "new", "missing"]
_HEAD = "# Recorded with `make bench RECORD=1`: ratios to a reference in the same run, the middle of five rounds.\n"


class Figure(NamedTuple):
    """A name, a value, and which way is better."""

    name: str
    value: float
    better: Better = "lower"


class Comparison(NamedTuple):
    """A figure now and as recorded. `change` is over 1 if it got worse, whichever way is better."""

    name: str
    now: float | None
    recorded: float | None
    change: float
    state: State

    @property
    def is_red(self) -> bool:
        return self.state in ("worse", "missing")


def report(name: str, value: float, better: Better = "lower") -> None:
    """Called by a benchmark, for what it promises: a middle, not a tail, which differs from run to run."""
    if INTO in os.environ:
        with open(os.environ[INTO], "a") as file:
            file.write(json.dumps(Figure(name, value, better)) + "\n")


def report_over(name: str, floor: float, ours: float) -> None:
    """For what is promised as a difference, such as milliseconds over a floor.

    It is compared as a ratio to the floor, (floor + difference) / floor. A difference itself can't be: near zero, a
    tenth of a millisecond is twice as much or half as much, and says nothing.
    """
    report(name, ours / floor)


def read(path: Path) -> list[Figure]:
    return [Figure(*json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def middle(rounds: Sequence[Sequence[Figure]]) -> dict[str, Figure]:
    """Of each figure the median of the rounds that have it."""
    found: dict[str, list[Figure]] = {}
    for each in rounds:
        for figure in each:
            found.setdefault(figure.name, []).append(figure)
    return {
        name: same[0]._replace(value=statistics.median(each.value for each in same)) for name, same in found.items()
    }


def compare(now: Mapping[str, Figure], recorded: Mapping[str, float]) -> list[Comparison]:
    """In the order of reporting; what was recorded and isn't reported any more comes last."""
    compared = [_compare(figure, recorded.get(name)) for name, figure in now.items()]
    gone = [name for name in recorded if name not in now]
    return [*compared, *(Comparison(name, None, recorded[name], 1, "missing") for name in gone)]


def _compare(figure: Figure, recorded: float | None) -> Comparison:
    if recorded is None:
        return Comparison(figure.name, figure.value, None, 1, "new")
    change = figure.value / recorded if figure.better == "lower" else recorded / figure.value
    state: State = "worse" if change > WORSE else "better" if change < 1 / WORSE else "as before"
    return Comparison(figure.name, figure.value, recorded, change, state)


def load(path: Path = RECORDED) -> dict[str, dict[str, float]]:
    """By benchmark, then by name."""
    return tomllib.loads(path.read_text()) if path.exists() else {}


def save(recorded: Mapping[str, Mapping[str, float]], path: Path = RECORDED) -> None:
    tables = [
        "\n".join([f"[{benchmark}]", *(f"{json.dumps(name)} = {value:.4g}" for name, value in figures.items())])
        for benchmark, figures in sorted(recorded.items())
    ]
    path.write_text("\n\n".join([_HEAD, *tables]).replace("\n\n\n", "\n\n") + "\n")
