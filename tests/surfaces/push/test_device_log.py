"""The device log: what is written survives completely; a broken file is reported and never overwritten."""

import asyncio
from pathlib import Path
from stat import S_IMODE

import pytest

from handraise.surfaces.push.device_log import (
    MOST_ENDINGS,
    DeviceLog,
    DeviceLogFile,
    DeviceLogLost,
    DeviceState,
    Ending,
)
from surfaces.push.asked import NOW, device_of


async def test_what_was_saved_is_there_again(tmp_path: Path) -> None:
    file = tmp_path / "push" / "devices.json"
    async with DeviceLogFile(file) as book:
        assert book.ledger == DeviceLog()
        assert not file.exists()
        page = DeviceState(device_of(), {"a_1": NOW}, {"a_2": NOW}, [Ending("s_1", "lost", "killed", NOW)])
        book.ledger.pages["d_1"] = page
        book.ledger.cursor = 7
        await book.save()
        assert S_IMODE(file.stat().st_mode) == 0o600
        assert S_IMODE(file.parent.stat().st_mode) == 0o700
    async with DeviceLogFile(file) as book:
        assert book.ledger == DeviceLog({"d_1": page}, 7)


async def test_many_who_save_at_once_and_one_who_gives_up_leave_the_newest(tmp_path: Path) -> None:
    file = tmp_path / "devices.json"
    async with DeviceLogFile(file) as book:
        waiting = []
        for cursor in range(50):
            book.ledger.cursor = cursor
            waiting.append(asyncio.create_task(book.save()))
            await asyncio.sleep(0)
            if cursor % 7 == 0:
                waiting[-1].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    async with DeviceLogFile(file) as book:
        assert book.ledger.cursor == 49


async def test_what_nobody_waited_for_is_written_before_it_closes(tmp_path: Path) -> None:
    file = tmp_path / "devices.json"
    async with DeviceLogFile(file) as book:
        book.ledger.cursor = 3
        asyncio.create_task(book.save()).cancel()
        saving = asyncio.create_task(book.save())
        await asyncio.sleep(0)
    await saving
    async with DeviceLogFile(file) as book:
        assert book.ledger.cursor == 3


async def test_a_file_that_cannot_be_read_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "devices.json"
    for content in (b"", b"{", b'{"pages": 3}', b"\xff"):
        file.write_bytes(content)
        with pytest.raises(DeviceLogLost, match=r"devices\.json cannot be read"):
            await DeviceLogFile(file).__aenter__()
        assert file.read_bytes() == content


async def test_a_disk_that_fails_is_told_to_who_saves(tmp_path: Path) -> None:
    file = tmp_path / "devices.json"
    async with DeviceLogFile(file) as book:
        (tmp_path / "devices.json.draft").mkdir()
        with pytest.raises(OSError, match="directory"):
            await book.save()
        (tmp_path / "devices.json.draft").rmdir()
        await book.save()
    assert file.exists()


def test_only_so_many_ends_of_sessions_wait_for_a_device() -> None:
    ledger = DeviceLog({"d_1": DeviceState(device_of())})
    for number in range(MOST_ENDINGS + 5):
        ledger.note_ending(Ending(f"s_{number}", "lost", "", NOW), number, ["d_1"])
    waiting = [each.session for each in ledger.pages["d_1"].endings]
    assert (len(waiting), waiting[0], ledger.cursor) == (MOST_ENDINGS, "s_5", MOST_ENDINGS + 4)
    assert "https" not in repr(ledger.pages["d_1"].device)
