"""The machine's identity: made once, private, and never made up again."""

from pathlib import Path

import pytest

from desk.hubs import quiet_hub
from handraise.hub.hub import StateUnreachable
from handraise.hub.machine_file import FILE, MachineUnreadable, machine_id


def entropy(size: int) -> bytes:
    return b"\7" * size


def test_the_first_hub_makes_it_and_later_ones_find_it(tmp_path: Path) -> None:
    made = machine_id(tmp_path, entropy)

    assert made == machine_id(tmp_path, lambda size: b"\1" * size)
    assert made.startswith("m_")
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_draft_that_a_crash_left_is_no_identity(tmp_path: Path) -> None:
    (tmp_path / "machine.new").write_bytes(b'{"id": "m_')
    assert machine_id(tmp_path, entropy).startswith("m_")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"id": 7}', b'{"id": "m_../../etc"}', b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_no_reason_for_a_new_identity(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(MachineUnreadable, match="Restore it from a backup"):
        machine_id(tmp_path, entropy)
    assert (tmp_path / FILE).read_bytes() == content


async def test_a_hub_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path) as opened:
        assert [each.machine.id for each in await opened.desk.machines()] == [opened.machine.id]
    (tmp_path / "state" / FILE).write_bytes(b"{")
    with pytest.raises(StateUnreachable, match="which says what machine this is"):
        async with quiet_hub(tmp_path):
            pass
