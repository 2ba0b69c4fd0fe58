"""The exit code of a command that followed a session: correct, whatever happened."""

import pytest

from handraise.cli.interactive_session import code_of
from handraise.model.items import SessionEnded
from handraise.surfaces.terminal.timeline import Timeline

STOPPED = SessionEnded("stopped", "ana stopped it", 0)
FINISHED = SessionEnded("finished", "Claude exited on its own", 0)
LOST = SessionEnded("lost", "Claude was killed", 137)


@pytest.mark.parametrize(
    ("timeline", "run", "attach"),
    [
        (Timeline(turns=1), 0, 0),
        (Timeline(turns=1, ended=STOPPED), 0, 0),
        (Timeline(turns=1, failed="no"), 1, 1),
        (Timeline(turns=1, failed="x", interrupted=True), 130, 130),
        (Timeline(turns=0), 1, 0),
        (Timeline(turns=0, working=True), 1, 0),
        (Timeline(turns=1, working=True), 1, 0),
        (Timeline(turns=1, waiting={"u": "x"}), 1, 0),
        (Timeline(queued=True), 1, 0),
        (Timeline(ended=FINISHED), 1, 0),
        (Timeline(ended=STOPPED), 1, 0),
        (Timeline(turns=1, ended=STOPPED, cut_off=True), 1, 1),
        (Timeline(turns=1, ended=LOST), 1, 1),
    ],
)
def test_the_code_is_true(timeline: Timeline, run: int, attach: int) -> None:
    assert (code_of(timeline, finishes=True), code_of(timeline, finishes=False)) == (run, attach)
