"""Replacing a state folder: killed at any step, it is finished by the next one, and nothing is lost."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.hub.replacing import PLAN, Renaming, ReplacementUnreadable, finish_replacing, rename, replace_state

NAMES = st.sets(st.sampled_from(["hub.db", "hub.db-wal", "push", "machine.json", "telegram"]))


class Killed(Exception):
    """Stands for a process that ends here."""


class Mortal:
    """Renames that often, and then no more; a rename may have happened or not."""

    def __init__(self, steps: int, *, after: bool) -> None:
        self.left = steps
        self.after = after

    def __call__(self, source: Path, target: Path) -> None:
        if self.left == 0:
            if self.after:
                rename(source, target)
            raise Killed
        self.left -= 1
        rename(source, target)


@given(old=NAMES, new=NAMES, deaths=st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=4))
def test_killed_at_any_step_it_is_finished_and_the_old_state_is_whole(
    old: set[str], new: set[str], deaths: list[tuple[int, bool]]
) -> None:
    with TemporaryDirectory() as folder:
        state = Path(folder)
        for name in old:
            (state / name).write_text(f"old {name}")
        (state / "restoring").mkdir()
        for name in new:
            (state / "restoring" / name).write_text(f"new {name}")
        steps = [Renaming(str(state / name), str(state / "aside" / name)) for name in sorted(old)]
        steps += [Renaming(str(state / "restoring" / name), str(state / name)) for name in sorted(new)]
        attempts = [Mortal(count, after=after) for count, after in deaths]
        try:
            replace_state(state, steps, attempts.pop(0) if attempts else rename)
        except Killed:
            pass
        for each in attempts:
            try:
                finish_replacing(state, each)
            except Killed:
                pass
        finish_replacing(state)
        assert not finish_replacing(state)
        assert contents(state) == {name: f"new {name}" for name in new}
        assert contents(state / "aside") == {name: f"old {name}" for name in old}
        assert not (state / PLAN).exists()


def contents(folder: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in folder.glob("*") if each.is_file()}


def test_a_plan_that_cant_be_read_is_never_guessed(tmp_path: Path) -> None:
    (tmp_path / PLAN).write_text("[[1,")
    with pytest.raises(ReplacementUnreadable, match="how to finish a restore"):
        finish_replacing(tmp_path)
    assert (tmp_path / PLAN).exists()
