"""The recordings are complete, small, readable, and independent of the machine."""

from pathlib import Path

import pytest

from handraise.wire.connection import Connection
from handraise.wire.frames import ControlResponse, Frame, Result, Unreadable
from recordings.record import SCENES

RECORDINGS = sorted(Path(__file__).parent.glob("*.ndjson"))
LARGEST = 150_000


def frames(recording: Path) -> list[Frame]:
    return [each.frame for each in Connection().receive(recording.read_bytes())]


def test_every_scene_is_recorded_for_every_version_that_is() -> None:
    versions = {path.name.split("-")[0] for path in RECORDINGS}

    assert {path.name for path in RECORDINGS} == {f"{each}-{scene}.ndjson" for each in versions for scene in SCENES}


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_is_read_to_its_last_line(recording: Path) -> None:
    text = frames(recording)

    assert recording.read_bytes().endswith(b"\n")
    assert not [frame for frame in text if isinstance(frame, Unreadable)]
    assert any(isinstance(frame, Result) and not frame.is_error for frame in text)
    assert isinstance(text[-1], ControlResponse)
    assert text[-1].response.request_id == "bye"


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_is_small_and_tells_nothing_of_the_machine(recording: Path) -> None:
    journal = recording.read_text()

    assert len(journal) < LARGEST
    assert "/home/user/project" in journal
    for trace in ("/tmp/tmp", "/pytest-", "/root", "/.venv", "127.0.0.1", "sk-ant"):
        assert trace not in journal
