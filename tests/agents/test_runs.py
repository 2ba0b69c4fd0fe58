"""Runs: a private file for each, removed when it ends or becomes stale."""

import stat
from pathlib import Path

import pytest

from handraise.agents.run_file import BadRunFile
from handraise.agents.runs import STALE, Runs, caller_in, name_of


class Time:
    """Seconds since 1970, as a test sets them."""

    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


def runs_in(folder: Path, time: Time) -> Runs:
    numbers = iter(range(1, 100))
    return Runs(
        folder / "runs",
        "http://127.0.0.1:8420",
        folder / "hub.sock",
        lambda size: bytes([next(numbers)] * size),
        time,
    )


def test_a_run_has_a_file_that_only_we_can_read(tmp_path: Path) -> None:
    token, path = runs_in(tmp_path, Time()).open("p_1", 60)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.name == f"{token}.json"


def test_a_stream_token_is_good_until_the_run_ends(tmp_path: Path) -> None:
    runs = runs_in(tmp_path, Time())
    token, path = runs.open("p_1", 60)
    other, _ = runs.open("p_2")
    run = runs.find(token)
    assert run is not None
    assert (run.project, run.timeout) == ("p_1", 60)

    assert runs.close(token)
    assert not path.exists()
    assert runs.find(token) is None
    assert not runs.close(token)
    assert runs.find(other) is not None


def test_what_is_no_token_finds_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}")
    runs = runs_in(tmp_path, Time())
    runs.open("p_1")

    for wrong in ("../secret", "", None, 7, "a1b2c3d4-e5f6-7890-abcd-ef1234567890"):
        assert runs.find(wrong) is None


def test_a_run_that_nobody_hears_of_is_swept_after_an_hour(tmp_path: Path) -> None:
    time = Time()
    runs = runs_in(tmp_path, time)
    heard, _ = runs.open("p_1")
    forgotten, _ = runs.open("p_1")
    runs.find(heard), runs.find(forgotten)
    time.now += STALE - 1
    runs.find(heard)
    time.now += 2
    runs.sweep()

    assert runs.find(heard) is not None
    assert runs.find(forgotten) is None


def test_a_stale_run_is_good_no_more_although_nobody_swept(tmp_path: Path) -> None:
    time = Time()
    runs = runs_in(tmp_path, time)
    token, path = runs.open("p_1")
    runs.find(token)
    time.now += STALE + 1

    assert runs.find(token) is None
    assert not path.exists()


def test_a_run_whose_agent_is_connected_does_not_become_stale(tmp_path: Path) -> None:
    time = Time()
    runs = runs_in(tmp_path, time)
    token, _ = runs.open("p_1")
    with runs.alive(token), runs.alive(token):
        for _ in range(30):
            time.now += STALE / 6
            runs.sweep()
    time.now += STALE - 1
    assert runs.find(token) is not None
    time.now += STALE + 1
    assert runs.find(token) is None


async def test_who_is_connected_to_a_run_is_told_when_it_ends(tmp_path: Path) -> None:
    runs = runs_in(tmp_path, Time())
    closed, _ = runs.open("p_1")
    removed, path = runs.open("p_1")
    lasting, _ = runs.open("p_1")
    with runs.alive(closed) as first, runs.alive(removed) as second, runs.alive(lasting) as third:
        runs.close(closed)
        assert (first.is_set(), second.is_set()) == (True, False)
        path.unlink()
        runs.sweep()
        assert (second.is_set(), third.is_set()) == (True, False)
    with runs.alive(closed) as late:
        assert late.is_set()


def test_a_hub_that_only_others_can_reach_has_no_runs(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs", "http://192.168.1.5:8420", tmp_path / "hub.sock", bytes, Time())

    with pytest.raises(BadRunFile, match="must name this machine"):
        runs.open("p_1")
    assert not (tmp_path / "runs").exists()


def test_people_see_a_name_and_never_the_token(tmp_path: Path) -> None:
    runs = runs_in(tmp_path, Time())
    token, _ = runs.open("p_1", 60)
    run = runs.find(token)
    assert run is not None
    caller = caller_in(run, "/work")

    assert (caller.name, caller.timeout) == (name_of(token), 60)
    assert token not in f"{caller}"
    assert runs.named(caller.name) == token
    assert runs.named("run of somebody else") is None
