"""A journal alone is enough to rebuild the timeline."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from handraise.model.items import (
    ActionEnded,
    AskDelivered,
    AskOpened,
    AskSettled,
    Frame,
    Item,
    Notice,
    Said,
    Text,
    TurnEnded,
)
from handraise.session.replay import Replay
from handraise.wire.connection import Connection
from handraise.wire.decode import pending_requests
from handraise.wire.frames import ControlRequest, ControlResponse

FOLDER = Path(__file__).parents[1] / "recordings"
RECORDINGS = sorted(FOLDER.glob("*.ndjson"))
VERSIONS = sorted({path.name.split("-")[0] for path in RECORDINGS})
SINCE = datetime(2030, 1, 1, tzinfo=UTC)


def replayed(journal: bytes, size: int = 1 << 20) -> list[Item]:
    replay = Replay("s_1", SINCE)
    items = [item for at in range(0, len(journal), size) for item in replay.receive(journal[at : at + size])]
    return items + replay.receive_end()


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def recording(version: str, scene: str) -> bytes:
    return (FOLDER / f"{version}-{scene}.ndjson").read_bytes()


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_recording_is_told_from_the_first_word_to_the_last(path: Path) -> None:
    items = replayed(path.read_bytes())
    contents = [item.read() for item in items]
    assert [item.cursor for item in items] == list(range(1, len(items) + 1))
    assert any(isinstance(each, Said) for each in contents)
    assert any(isinstance(each, TurnEnded) for each in contents)
    assert max(item.at for item in items) < SINCE
    assert [item.at for item in items] == sorted(item.at for item in items)


def test_the_size_of_the_pieces_does_not_matter(version: str) -> None:
    journal = recording(version, "permissions")
    assert replayed(journal, 977)[1:] == replayed(journal)[1:]


def test_asks_are_told_with_what_became_of_them_as_far_as_a_journal_knows(version: str) -> None:
    contents = [item.read() for item in replayed(recording(version, "permissions"))]
    opened = [each.ask["id"] for each in contents if isinstance(each, AskOpened)]
    assert len(opened) == 3
    assert [each.ask for each in contents if isinstance(each, AskDelivered)] != []
    assert not [each for each in contents if isinstance(each, AskSettled)]
    [denied] = [each for each in contents if isinstance(each, ActionEnded) and not each.ok]
    assert denied.output == "Not this one."


def test_an_interrupted_request_is_told_as_withdrawn(version: str) -> None:
    contents = [item.read() for item in replayed(recording(version, "interrupt"))]
    [settled] = [each for each in contents if isinstance(each, AskSettled)]
    assert settled.settlement["state"] == "withdrawn"


def test_half_a_line_and_noise_do_not_end_it(version: str) -> None:
    journal = recording(version, "text")
    broken = b"not json\n" + journal + b'{"type":"assis'
    contents = [item.read() for item in replayed(broken)]
    assert [each.text for each in contents if isinstance(each, Text)] == [
        each.text for item in replayed(journal) if isinstance(each := item.read(), Text)
    ]
    assert len(contents) == len(replayed(journal)) + 2


def test_the_oldest_and_the_newest_version_are_recorded() -> None:
    assert VERSIONS[0] == "2.1.197"
    assert VERSIONS[-1] >= "2.1.326"


def test_a_hub_that_took_over_is_not_a_second_ask(version: str) -> None:
    contents = [item.read() for item in replayed(recording(version, "pending"))]

    assert len([each for each in contents if isinstance(each, AskOpened)]) == 1
    assert len([each for each in contents if isinstance(each, AskDelivered)]) == 1
    assert [each.ok for each in contents if isinstance(each, ActionEnded)] == [True]
    assert not [each for each in contents if isinstance(each, Frame | Notice)]


def test_what_claude_listed_as_pending_is_the_request_that_was_open(version: str) -> None:
    frames = [each.frame for each in Connection().receive(recording(version, "pending"))]
    [asked] = [each for each in frames if isinstance(each, ControlRequest)]
    [listed] = [
        each.response.pending_permission_requests
        for each in frames
        if isinstance(each, ControlResponse) and each.response.pending_permission_requests
    ]

    assert pending_requests(listed) == ([asked], True)
