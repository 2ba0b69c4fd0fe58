"""One contract for every way to watch."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from claude import watcher
from claude.children import PATIENCE
from handraise.claude.watch import FileWatch, Inotify, Polling, WatchedFile, watch

KINDS: dict[str, Callable[[], FileWatch]] = {
    "inotify": Inotify,
    "polling": lambda: Polling(0.001, 0.005),
    "both": WatchedFile,
}
UNSHARE = ["unshare", "--user", "--map-root-user"]


@pytest.fixture(params=KINDS)
async def watching(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[FileWatch]:
    async with KINDS[request.param]() as kind:
        yield kind


def file(tmp_path: Path, name: str = "out") -> Path:
    path = tmp_path / name
    path.touch()
    return path


def grow(path: Path, text: bytes = b"x") -> None:
    with open(path, "ab") as file:
        file.write(text)


async def rings(bell: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await bell.wait()
    bell.clear()


async def settle(watching: FileWatch, path: Path) -> None:
    """Returns when every earlier change was reported."""
    mark = asyncio.Event()
    probe = path.with_name("probe")
    probe.touch()
    watching.add(probe, mark.set)
    grow(probe)
    await rings(mark)
    watching.remove(probe, mark.set)


async def test_appended_bytes_ring(watching: FileWatch, tmp_path: Path) -> None:
    path, bell = file(tmp_path), asyncio.Event()
    watching.add(path, bell.set)
    for _ in range(5):
        grow(path)
        await rings(bell)


async def test_each_file_has_its_own_bell(watching: FileWatch, tmp_path: Path) -> None:
    paths = [file(tmp_path, str(number)) for number in range(300)]
    bells = [asyncio.Event() for _ in paths]
    for path, bell in zip(paths, bells, strict=True):
        watching.add(path, bell.set)
    for chosen in (7, 250):
        grow(paths[chosen])
        await rings(bells[chosen])
        await settle(watching, paths[0])
        assert not any(bell.is_set() for bell in bells)


async def test_a_file_may_have_several_bells_and_lose_one(watching: FileWatch, tmp_path: Path) -> None:
    path, first, second = file(tmp_path), asyncio.Event(), asyncio.Event()
    watching.add(path, first.set)
    watching.add(path, second.set)
    grow(path)
    await rings(first)
    await rings(second)

    watching.remove(path, first.set)
    grow(path)
    await rings(second)
    await settle(watching, path)
    assert not first.is_set()


async def test_a_removed_bell_is_silent_and_can_be_hung_again(watching: FileWatch, tmp_path: Path) -> None:
    path, bell = file(tmp_path), asyncio.Event()
    watching.add(path, bell.set)
    watching.remove(path, bell.set)
    watching.remove(path, bell.set)
    grow(path)
    await settle(watching, path)
    assert not bell.is_set()

    watching.add(path, bell.set)
    grow(path)
    await rings(bell)


async def test_a_file_that_vanishes_is_no_trouble_to_others(watching: FileWatch, tmp_path: Path) -> None:
    path, other = file(tmp_path), file(tmp_path, "other")
    bell, rung = asyncio.Event(), asyncio.Event()
    watching.add(path, bell.set)
    watching.add(other, rung.set)
    path.unlink()
    grow(other)
    await rings(rung)
    watching.remove(path, bell.set)
    grow(other)
    await rings(rung)


async def test_a_bell_may_take_another_down(watching: FileWatch, tmp_path: Path) -> None:
    path, other, rung = file(tmp_path), file(tmp_path, "other"), asyncio.Event()

    def take_down() -> None:
        watching.remove(other, rung.set)
        watching.remove(path, take_down)
        down.set()

    down = asyncio.Event()
    watching.add(path, take_down)
    watching.add(other, rung.set)
    grow(path)
    grow(other)
    await rings(down)
    await settle(watching, path)
    assert not rung.is_set()


async def test_growth_that_nobody_can_count_rings_every_bell(tmp_path: Path) -> None:
    # The kernel queues a limited number of events, then only reports that some were lost.
    queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    one, two, quiet = (file(tmp_path, name) for name in ("one", "two", "quiet"))
    bells = [asyncio.Event() for _ in range(3)]
    async with Inotify() as watching:
        for path, bell in zip((one, two, quiet), bells, strict=True):
            watching.add(path, bell.set)
        files = [os.open(path, os.O_WRONLY | os.O_APPEND) for path in (one, two)]
        for number in range(queued + 10):
            os.write(files[number % 2], b"x")
        grow(quiet)
        for bell in bells:
            await rings(bell)
        for each in files:
            os.close(each)


async def test_a_file_that_is_not_there_cannot_be_watched_by_inotify(tmp_path: Path) -> None:
    async with Inotify() as watching:
        with pytest.raises(FileNotFoundError, match="inotify"):
            watching.add(tmp_path / "nowhere", lambda: None)


async def test_a_bell_taken_away_after_the_end_is_no_trouble_to_the_next_watch(tmp_path: Path) -> None:
    path, bell = file(tmp_path), asyncio.Event()
    async with Inotify() as first:
        first.add(path, bell.set)
    async with Inotify() as second:  # the system gives it the number that the first one had
        second.add(path, bell.set)
        first.remove(path, bell.set)
        grow(path)
        await rings(bell)


async def test_leaving_leaves_no_open_file() -> None:
    before = len(os.listdir("/proc/self/fd"))
    async with watch():
        pass
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("limit", ["max_inotify_instances", "max_inotify_watches"])
def test_where_inotify_is_used_up_files_are_polled_and_that_is_said(tmp_path: Path, limit: str) -> None:
    """In a user namespace of its own the limits are its own, so that nobody else runs out."""
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces are not allowed here")
    script = f"echo 0 > /proc/sys/user/{limit} && exec {sys.executable} {watcher.__file__} {file(tmp_path)}"
    ran = subprocess.run([*UNSHARE, "sh", "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True)

    assert ran.stdout.split() == ["polling", "rung"]
    assert "Journals are polled instead" in ran.stderr
