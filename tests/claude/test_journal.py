import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from claude.children import PATIENCE
from handraise.claude.journal import CHUNK, JournalLost, follow, give_back
from handraise.claude.watch import FileWatch, Polling, watch


class JournalWriter:
    """Writes a journal that is being followed."""

    def __init__(self, path: Path, watching: FileWatch) -> None:
        self.path = path
        self.watching = watching
        self.ended = asyncio.Event()

    def write(self, text: bytes) -> None:
        with open(self.path, "ab") as file:
            file.write(text)

    def follow(self, offset: int = 0) -> AsyncIterator[bytes]:
        return follow(self.path, offset, self.watching, self.ended)


@asynccontextmanager
async def writing(tmp_path: Path) -> AsyncIterator[JournalWriter]:
    path = tmp_path / "out.ndjson"
    path.touch()
    async with watch() as watching, asyncio.timeout(PATIENCE):
        yield JournalWriter(path, watching)


async def test_what_is_written_is_read_as_it_comes(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        chunks = writer.follow()
        for text in (b"one\n", b"half a", b" line\n", b"\xff\0\n"):
            writer.write(text)
            assert await anext(chunks) == text


async def test_it_can_be_followed_from_any_offset(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        writer.write(b"one\ntwo\n")
        writer.ended.set()
        for offset in range(9):
            assert b"".join([chunk async for chunk in writer.follow(offset)]) == b"one\ntwo\n"[offset:]


async def test_it_ends_when_the_writer_has_ended_and_all_was_read(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        writer.write(b"one\n")
        chunks = writer.follow()
        assert await anext(chunks) == b"one\n"
        rest = asyncio.ensure_future(anext(chunks, None))
        await asyncio.sleep(0)
        writer.write(b"last words")
        writer.ended.set()
        assert await rest == b"last words"
        assert await anext(chunks, None) is None


async def test_what_was_written_in_the_last_moment_is_read_though_the_end_is_known(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        writer.write(b"x" * 3 * CHUNK)
        writer.ended.set()
        chunks = writer.follow()
        assert len(await anext(chunks)) == CHUNK
        writer.write(b"last words")
        assert b"".join([chunk async for chunk in chunks]) == b"x" * 2 * CHUNK + b"last words"


async def test_two_may_follow_one_journal(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        first, second = writer.follow(), writer.follow()
        for text in (b"one\n", b"two\n"):
            waiting = [asyncio.ensure_future(anext(each)) for each in (first, second)]
            await asyncio.sleep(0)
            writer.write(text)
            assert await asyncio.gather(*waiting) == [text, text]
        await first.aclose()  # type: ignore[attr-defined]
        waiting = [asyncio.ensure_future(anext(second))]
        await asyncio.sleep(0)
        writer.write(b"three\n")
        assert await waiting[0] == b"three\n"


async def test_a_writer_that_never_pauses_does_not_keep_others_waiting(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(other())
        writer.write(b"x" * CHUNK)
        read = 0
        async for chunk in writer.follow():
            writer.write(chunk)
            read += 1
            if read == 200:
                break
        ticking.cancel()
        assert turns > 10


async def test_a_journal_that_is_not_there_is_an_error_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with watch() as watching:
        tasks = asyncio.all_tasks()
        with pytest.raises(JournalLost, match="deleted"):
            await anext(follow(tmp_path / "nowhere", 0, watching, asyncio.Event()))
        assert asyncio.all_tasks() == tasks


async def test_leaving_early_leaves_no_open_file_and_no_task(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        before = len(os.listdir("/proc/self/fd"))
        tasks = asyncio.all_tasks()
        writer.write(b"one\n")
        chunks = writer.follow()
        await anext(chunks)
        await chunks.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        assert len(os.listdir("/proc/self/fd")) == before
        assert asyncio.all_tasks() == tasks


def test_blocks_are_given_back_and_offsets_stay(tmp_path: Path) -> None:
    path = tmp_path / "out.ndjson"
    text = os.urandom(10 * 1024 * 1024)
    path.write_bytes(text)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    before = path.stat()

    give_back(path, 9 * 1024 * 1024 + 100)
    after = path.stat()
    assert after.st_size == before.st_size
    assert after.st_blocks * 512 < 2 * 1024 * 1024 < before.st_blocks * 512
    record = path.read_bytes()
    assert record[9 * 1024 * 1024 :] == text[9 * 1024 * 1024 :]
    assert not any(record[: 9 * 1024 * 1024])


def test_what_was_not_taken_in_is_never_given_back(tmp_path: Path) -> None:
    path = tmp_path / "out.ndjson"
    text = b"x" * 10_000
    path.write_bytes(text)
    for offset in (0, 1, 4095):
        give_back(path, offset)
        assert path.read_bytes() == text
    give_back(path, 4097)
    assert path.read_bytes()[4096:] == text[4096:]


async def test_a_journal_that_gave_back_is_followed_and_written_as_before(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        writer.write(b"x" * 100_000)
        chunks = writer.follow(100_000)
        give_back(writer.path, 100_000)
        waiting = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)
        writer.write(b"more\n")
        assert await waiting == b"more\n"


@pytest.mark.parametrize("polled", [False, True], ids=["inotify", "polling"])
@pytest.mark.parametrize("damage", ["deleted", "replaced", "truncated"])
async def test_a_journal_that_is_tampered_with_is_noticed_at_once(tmp_path: Path, damage: str, polled: bool) -> None:
    kind = Polling(0.001, 0.005) if polled else watch()
    path = tmp_path / "out.ndjson"
    path.write_bytes(b"one\n")
    async with kind as watching, asyncio.timeout(PATIENCE):
        chunks = follow(path, 0, watching, asyncio.Event())
        assert await anext(chunks) == b"one\n"
        waiting = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)
        if damage == "truncated":
            os.truncate(path, 0)
        elif damage == "deleted":
            path.unlink()
        else:
            (tmp_path / "forged").write_bytes(b"one\ntwo\n")
            (tmp_path / "forged").rename(path)
        with pytest.raises(JournalLost, match=damage):
            await waiting


async def test_a_journal_that_is_too_short_for_its_offset_was_cut(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        writer.write(b"one\n")
        with pytest.raises(JournalLost, match="truncated"):
            await anext(writer.follow(5))


async def test_what_became_of_the_name_after_claude_ended_does_not_matter(tmp_path: Path) -> None:
    async with writing(tmp_path) as writer:
        writer.write(b"one\n")
        chunks = writer.follow()
        assert await anext(chunks) == b"one\n"
        writer.write(b"two\n")
        writer.ended.set()
        writer.path.unlink()
        assert [chunk async for chunk in chunks] == [b"two\n"]
