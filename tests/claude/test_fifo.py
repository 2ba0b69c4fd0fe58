"""A whole line or nothing."""

import asyncio
import fcntl
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Self

import pytest

from claude.children import PATIENCE, open_files
from claude.writer import SIZES, is_whole, line
from handraise.claude.fifo import WANTED_SIZE, ChildGone, Fifo, HalfLine, capacity, enlarge
from handraise.claude.folder import RunFolder

WRITER = Path(__file__).with_name("writer.py")


class FifoReader:
    """Reads a FIFO in a thread of its own, as another program would; holds it open for reading and writing."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.lines: list[bytes] = []
        self.reading_end = os.open(folder.fifo, os.O_RDWR)
        enlarge(self.reading_end)
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._stop = False

    def start(self) -> Self:
        self._thread.start()
        return self

    def until(self, count: int) -> list[bytes]:
        """At least this many lines."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.lines) >= count, PATIENCE), len(self.lines)
            return list(self.lines)

    def close(self) -> None:
        if self._thread.is_alive():
            # A line of our own wakes the thread, once nobody else is in the middle of one.
            with open(self.folder.lock, "r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._stop = True
                os.write(self.reading_end, b"stop\n")
            self._thread.join(PATIENCE)
            assert not self._thread.is_alive()
        os.close(self.reading_end)

    def _read(self) -> None:
        rest = b""
        pieces: list[bytes] = []
        while True:
            chunk = os.read(self.reading_end, 1 << 20)
            first, newline, rest = chunk.partition(b"\n")
            pieces.append(first)
            while newline:
                whole, pieces = b"".join(pieces), []
                if whole == b"stop" and self._stop:
                    return
                with self._news:
                    self.lines.append(whole)
                    self._news.notify_all()
                first, newline, rest = rest.partition(b"\n")
                pieces.append(first)


@contextmanager
def reader(tmp_path: Path, *, reading: bool = True) -> Iterator[FifoReader]:
    folder = RunFolder.make(tmp_path / "run")
    someone = FifoReader(folder)
    try:
        yield someone.start() if reading else someone
    finally:
        someone.close()


@asynccontextmanager
async def ticking() -> AsyncIterator[list[int]]:
    """Something else that runs in the event loop; the list grows with each of its steps."""
    ticks = [0]

    async def tick() -> None:
        while True:
            ticks[0] += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(tick())
    yield ticks
    task.cancel()


def check(lines: list[bytes]) -> dict[bytes, int]:
    """Every line is whole, and each writer's are in order, without a gap. How many each wrote."""
    seen: dict[bytes, int] = defaultdict(int)
    for text in lines:
        assert is_whole(text), text[:100]
        writer, number = text.split(b" ")[:2]
        assert int(number) == seen[writer]
        seen[writer] += 1
    return seen


@pytest.mark.parametrize("text", [b"", b"no end", b"two\nlines\n", b"\n\n", b"line\nrest"])
async def test_what_is_not_one_whole_line_is_refused(tmp_path: Path, text: bytes) -> None:
    with reader(tmp_path, reading=False) as someone, pytest.raises(ValueError, match="one whole line"):
        await Fifo(someone.folder).write(text)


@pytest.mark.parametrize("size", [*SIZES, 20_000_000])
async def test_a_line_of_any_size_arrives_whole(tmp_path: Path, size: int) -> None:
    with reader(tmp_path) as someone:
        fifo = Fifo(someone.folder)
        for number in range(2):
            await fifo.write(line("a", number, size))
        assert check(await asyncio.to_thread(someone.until, 2)) == {b"a": 2}


async def test_a_line_is_written_at_once_where_nothing_has_to_be_waited_for(tmp_path: Path) -> None:
    with reader(tmp_path, reading=False) as someone:
        fifo, before = Fifo(someone.folder), open_files()
        with pytest.raises(ValueError, match="one whole line"):
            fifo.write_now(b"two\nlines\n")
        assert fifo.write_now(b"a 0\n")
        # Not read yet, so the next line has to wait.
        assert not fifo.write_now(b"a 1\n")
        assert os.read(someone.reading_end, 100) == b"a 0\n"
        assert not fifo.write_now(b"x" * capacity(someone.reading_end) + b"\n")
        assert fifo.write_now(b"a 2\n")
        assert os.read(someone.reading_end, 100) == b"a 2\n"
        assert open_files() == before


async def test_a_line_is_not_written_at_once_while_others_have_their_turn(tmp_path: Path) -> None:
    with reader(tmp_path, reading=False) as someone:
        fifo = Fifo(someone.folder)
        with open(someone.folder.lock, "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert not fifo.write_now(b"a 0\n")
            waiting = asyncio.create_task(fifo.write(b"b 0\n"))
            await asyncio.sleep(0)
        # The other process is done, and the task that came first still waits.
        assert not fifo.write_now(b"a 0\n")
        await waiting
        assert os.read(someone.reading_end, 100) == b"b 0\n"
        for spill in (someone.folder.spill, someone.folder.begun_spill):
            spill.write_bytes(b"long\n")
            assert not fifo.write_now(b"a 0\n")
            spill.unlink()
        assert fifo.write_now(b"a 0\n")
        assert os.read(someone.reading_end, 100) == b"a 0\n"


async def test_nobody_ever_read(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path / "run")
    before = open_files()
    with pytest.raises(ChildGone):
        await Fifo(folder).write(b"hello\n")
    with pytest.raises(ChildGone):
        Fifo(folder).write_now(b"hello\n")
    folder.fifo.unlink()
    with pytest.raises(ChildGone):
        await Fifo(folder).write(b"hello\n")
    assert open_files() == before


@pytest.mark.parametrize("size", [5, 3_000_000])
async def test_the_reader_goes_away_while_we_wait_for_it(tmp_path: Path, size: int) -> None:
    folder = RunFolder.make(tmp_path / "run")
    someone = os.open(folder.fifo, os.O_RDWR)
    fifo = Fifo(folder)
    await fifo.write(line("a", 0, size))
    waiting = [asyncio.create_task(fifo.write(line("a", number, 5))) for number in (1, 2)]
    async with ticking() as ticks:
        while ticks[0] < 100:
            await asyncio.sleep(0)
    assert not any(each.done() for each in waiting)

    os.close(someone)
    async with asyncio.timeout(PATIENCE):
        for each in waiting:
            with pytest.raises(ChildGone):
                await each


async def test_others_go_on_while_the_reader_does_not_read(tmp_path: Path) -> None:
    with reader(tmp_path, reading=False) as someone:
        fifo = Fifo(someone.folder)
        await fifo.write(line("a", 0, 3_000_000))
        waiting = asyncio.create_task(fifo.write(line("a", 1, 5)))
        async with ticking() as ticks:
            while ticks[0] < 1000:
                await asyncio.sleep(0)
            assert not waiting.done()
            someone.start()
            before = ticks[0]
            await waiting
            assert ticks[0] > before
        assert check(await asyncio.to_thread(someone.until, 2)) == {b"a": 2}


async def test_a_writer_that_gives_up_waiting_has_written_nothing(tmp_path: Path) -> None:
    with reader(tmp_path, reading=False) as someone:
        fifo = Fifo(someone.folder)
        await fifo.write(line("a", 0, 100))
        before = open_files()
        waiting = asyncio.create_task(fifo.write(line("given up", 0, 100)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert open_files() == before
        someone.start()
        await fifo.write(line("a", 1, 100))
        assert check(await asyncio.to_thread(someone.until, 2)) == {b"a": 2}


async def test_many_tasks_take_turns(tmp_path: Path) -> None:
    with reader(tmp_path) as someone:
        fifos = [Fifo(someone.folder) for _ in range(3)]

        async def write(name: str, fifo: Fifo) -> None:
            for number in range(10):
                await fifo.write(line(name, number, random.Random(f"{name}{number}").choice(SIZES)))

        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
            for number in range(9):
                tasks.create_task(write(f"task{number}", fifos[number % 3]))
        seen = check(await asyncio.to_thread(someone.until, 90))
        assert seen == {b"task%d" % number: 10 for number in range(9)}


async def test_processes_and_tasks_take_turns(tmp_path: Path) -> None:
    with reader(tmp_path) as someone:
        writers = [writer(someone.folder, f"process{number}", 20) for number in range(3)]
        fifo = Fifo(someone.folder)
        for number in range(20):
            await fifo.write(line("task", number, random.Random(number).choice(SIZES)))
        for each in writers:
            assert await asyncio.to_thread(each.wait, PATIENCE) == 0
            leave(each)
        lines = await asyncio.to_thread(someone.until, 80)
        assert check(lines) == {b"task": 20, **{b"process%d" % number: 20 for number in range(3)}}


def writer(folder: RunFolder, name: str, count: int) -> subprocess.Popen[bytes]:
    """A process of its own; it says when it has written its first line."""
    return subprocess.Popen(
        [sys.executable, WRITER, folder.path, name, str(count)],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )


def leave(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def kill_writers(folder: Path, kills: int, seed: int) -> int:
    """Kills a writer in the middle of its work, again and again. All that is read is whole. How many lines that was."""
    dice = random.Random(seed)
    with reader(folder) as someone:
        # Two at a time: the next one starts up while the other writes.
        writers = [writer(someone.folder, "w0", 1_000_000)]
        for number in range(1, kills + 1):
            writers.append(writer(someone.folder, f"w{number}", 1_000_000))
            victim = writers.pop(0)
            assert victim.stdout is not None
            assert victim.stdout.readline() == b"writing\n"
            # A moment later: spun rather than slept, for moments shorter than a sleep.
            for _ in range(dice.randrange(200_000)):
                pass
            leave(victim)
        leave(writers.pop())
    check(someone.lines)
    return len(someone.lines)


async def test_a_long_line_whose_writer_was_killed_before_it_began_is_written_by_the_next_one(tmp_path: Path) -> None:
    with reader(tmp_path) as someone:
        long, short = line("long", 0, 3_000_000), line("short", 0, 20)
        someone.folder.spill.write_bytes(long)
        someone.folder.spill.with_name("spill.new").write_bytes(long[:1000])  # and another one before it was whole
        await Fifo(someone.folder).write(short)
        lines = await asyncio.to_thread(someone.until, 2)
        assert [each[:8] for each in lines] == [long[:8], short[:8]]
        assert check(lines) == {b"long": 1, b"short": 1}
        assert not someone.folder.spill.exists()


async def test_a_long_line_that_was_begun_and_not_ended_is_noticed(tmp_path: Path) -> None:
    with reader(tmp_path) as someone:
        someone.folder.begun_spill.write_bytes(line("long", 0, 3_000_000))
        with pytest.raises(HalfLine):
            await Fifo(someone.folder).write(line("short", 0, 20))


def test_a_killed_writer_leaves_whole_lines_only(tmp_path: Path) -> None:
    assert kill_writers(tmp_path, kills=10, seed=1) > 10


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(5))
def test_five_hundred_killed_writers_leave_whole_lines_only(tmp_path: Path, seed: int) -> None:
    assert kill_writers(tmp_path, kills=100, seed=100 + seed) > 100


# As a user without privileges, who has as many large pipes as one may have.
SMALL = """
import asyncio, concurrent.futures.thread, fcntl, os, sys
from pathlib import Path
from handraise.claude.fifo import Fifo, capacity, enlarge
from handraise.claude.folder import RunFolder
folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.chown(folder, 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
pipes = []
while True:
    pipes.append(os.pipe())
    try:
        fcntl.fcntl(pipes[-1][0], fcntl.F_SETPIPE_SZ, 1 << 20)
    except PermissionError:
        break
run = RunFolder.make(folder / "run")
fifo = os.open(run.fifo, os.O_RDWR)
enlarge(fifo)
size = capacity(fifo)
assert size == fcntl.fcntl(fifo, fcntl.F_GETPIPE_SZ)
assert size < 1 << 20, size
lines = [b"x" * (length - 1) + b"\\n" for length in (1, size - 1, size, size + 1, 300_000)]

async def main():
    writing = asyncio.create_task(write())
    rest, got = b"", []
    while len(got) < len(lines):
        rest += await asyncio.to_thread(os.read, fifo, 1 << 20)
        *whole, rest = rest.split(b"\\n")
        got += whole
    await writing
    assert [each + b"\\n" for each in got] == lines
    print("small", size)

async def write():
    for line in lines:
        await Fifo(run).write(line)

asyncio.run(main())
"""


def test_a_fifo_that_may_not_be_enlarged_is_used_as_it_is() -> None:
    # Not in tmp_path, which is closed to other users.
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run(
            [sys.executable, "-c", SMALL, folder],
            check=False,
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            timeout=PATIENCE,
        )
    assert text.stdout.startswith(b"small "), text.stderr.decode()


def test_a_fifo_is_enlarged_where_that_is_allowed(tmp_path: Path) -> None:
    folder = RunFolder.make(tmp_path / "run")
    fifo = os.open(folder.fifo, os.O_RDWR)
    before = capacity(fifo)
    enlarge(fifo)
    assert capacity(fifo) in (WANTED_SIZE, before)
    os.close(fifo)
