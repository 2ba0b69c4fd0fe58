"""The machine's identity: made once, private, and never made up again."""

import shutil
from pathlib import Path

import pytest

from desk.hubs import quiet_hub
from handraise.hub.hub import StateUnreachable
from handraise.hub.machine_file import FILE, MachineFile, MachineUnreadable


def entropy(size: int) -> bytes:
    return b"\7" * size


def test_the_first_hub_makes_it_and_later_ones_find_it(tmp_path: Path) -> None:
    made = MachineFile(tmp_path, entropy).id

    assert made == MachineFile(tmp_path, lambda size: b"\1" * size).id
    assert made.startswith("m_")
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_draft_that_a_crash_left_is_no_identity(tmp_path: Path) -> None:
    (tmp_path / "machine.new").write_bytes(b'{"id": "m_')
    assert MachineFile(tmp_path, entropy).id.startswith("m_")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"id": 7}', b'{"id": "m_../../etc"}', b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_no_reason_for_a_new_identity(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(MachineUnreadable, match="Restore it from a backup"):
        MachineFile(tmp_path, entropy)
    assert (tmp_path / FILE).read_bytes() == content


def test_a_claim_is_recognized_in_the_folder_that_made_it_and_in_no_copy(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    MachineFile(first, entropy).record(7)
    shutil.copytree(first, tmp_path / "copy")

    assert MachineFile(first, entropy).made(7)
    assert not MachineFile(first, entropy).made(8)
    assert not MachineFile(tmp_path / "copy", entropy).made(7)
    first.rename(tmp_path / "moved")
    assert MachineFile(tmp_path / "moved", entropy).made(7)


def test_a_folder_of_an_earlier_version_has_made_no_claim(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'{"id": "m_0123456789abcdef"}')
    file = MachineFile(tmp_path, entropy)
    assert file.id == "m_0123456789abcdef"
    assert not file.made(0)


def test_a_new_identity_is_kept_and_has_made_no_claim(tmp_path: Path) -> None:
    file = MachineFile(tmp_path, entropy)
    before = file.id
    file.record(7)
    file.renew(lambda size: b"\1" * size)

    assert file.id != before
    assert MachineFile(tmp_path, entropy).id == file.id
    assert not MachineFile(tmp_path, entropy).made(7)


async def test_a_hub_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path) as opened:
        assert [each.machine.id for each in await opened.desk.machines()] == [opened.machine.id]
    (tmp_path / "state" / FILE).write_bytes(b"{")
    with pytest.raises(StateUnreachable, match="which says what machine this is"):
        async with quiet_hub(tmp_path):
            pass
