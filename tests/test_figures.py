"""How a benchmark's figures are compared with the recorded ones."""

from pathlib import Path

import pytest

import figures
from figures import Figure, compare, middle


def states(now: list[Figure], recorded: dict[str, float]) -> dict[str, str]:
    return {each.name: each.state for each in compare({each.name: each for each in now}, recorded)}


def test_worse_by_more_than_a_tenth_is_red() -> None:
    now = {"slow": Figure("slow", 1.12), "fine": Figure("fine", 1.09)}

    slow, fine = compare(now, {"slow": 1.0, "fine": 1.0})

    assert (slow.state, slow.is_red) == ("worse", True)
    assert (fine.state, fine.is_red) == ("as before", False)


def test_where_more_is_better_less_is_worse() -> None:
    assert states([Figure("speed", 8.0, "higher")], {"speed": 10.0}) == {"speed": "worse"}
    assert states([Figure("speed", 12.0, "higher")], {"speed": 10.0}) == {"speed": "better"}


def test_a_better_figure_is_not_red() -> None:
    [compared] = compare({"time": Figure("time", 0.5)}, {"time": 1.0})

    assert (compared.state, compared.is_red) == ("better", False)


def test_a_new_figure_is_not_red_and_one_that_is_gone_is() -> None:
    new, gone = compare({"new": Figure("new", 3.0)}, {"gone": 1.0})

    assert (new.state, new.is_red) == ("new", False)
    assert (gone.name, gone.state, gone.is_red) == ("gone", "missing", True)


def test_one_bad_round_of_five_changes_nothing() -> None:
    rounds = [[Figure("time", value)] for value in (1.0, 1.02, 9.0, 0.98, 1.01)]

    assert middle(rounds)["time"].value == 1.01


def test_a_difference_is_compared_as_a_ratio_to_its_floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From +0.1 ms to +0.2 ms over a floor of 7 ms is no change; from +1 ms to +2 ms is."""
    monkeypatch.setenv(figures.INTO, str(tmp_path / "figures"))
    for name, ours in (("before", 7.1), ("after", 7.2), ("much later", 9.0)):
        figures.report_over(name, 7.0, ours)
    before, after, later = figures.read(tmp_path / "figures")

    assert states([Figure("ask", after.value)], {"ask": before.value}) == {"ask": "as before"}
    assert states([Figure("ask", later.value)], {"ask": before.value}) == {"ask": "worse"}


def test_nothing_is_written_without_a_place_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(figures.INTO, raising=False)
    monkeypatch.chdir(tmp_path)

    figures.report("time", 1.0)

    assert not list(tmp_path.iterdir())


def test_what_is_recorded_is_read_again(tmp_path: Path) -> None:
    recorded = {"floor": {'a "quoted" name': 1.25}, "http": {"frame to event": 0.5, "answer to child": 2.0}}

    figures.save(recorded, tmp_path / "figures.toml")

    assert figures.load(tmp_path / "figures.toml") == recorded


def test_no_figures_are_recorded_yet(tmp_path: Path) -> None:
    assert figures.load(tmp_path / "figures.toml") == {}
