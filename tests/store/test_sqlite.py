"""What can only happen to a file: a kill, a full disk, another process, damage."""

import asyncio
import os
import random
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from msgspec import json
from msgspec.structs import replace

from handraise.model.asks import Ask
from handraise.model.machines import Machine
from handraise.model.rules import Rule
from handraise.store.changes import Advance, OpenAsk, Prune, QueueSay, SaveProject, SaveRule, SaveSession, SettleAsk
from handraise.store.interface import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreNewer
from handraise.store.sqlite.reader import Reader
from handraise.store.sqlite.store import SqliteStore
from store.examples import NOON, a_checkpoint, a_project, a_say, a_session, a_text, an_ask, withdrawn
from store.waiting import until

TESTS = str(Path(__file__).parents[1])

WRITES_NUMBERED_BATCHES = """
import asyncio, pathlib, sys
sys.path.insert(0, sys.argv[2])
from store.examples import a_checkpoint, a_text, an_ask
from handraise.store.changes import Advance, OpenAsk
from handraise.store.sqlite.store import SqliteStore

async def produce(store, producer):
    for number in range(100_000):
        name = f"{producer}-{number}"
        advance = Advance(a_checkpoint(number, session=name))
        await store.apply([OpenAsk(an_ask(name, session=name)), a_text(name), advance])
        print(name, flush=True)

async def main():
    async with SqliteStore(pathlib.Path(sys.argv[1])) as store:
        await asyncio.gather(*(produce(store, producer) for producer in range(8)))

asyncio.run(main())
"""

FILLS_ITS_DISK = """
import asyncio, pathlib, sys
sys.path.insert(0, sys.argv[2])
from store.examples import a_text
from handraise.store.interface import StoreFull
from handraise.store.sqlite.store import SqliteStore

async def main():
    disk = pathlib.Path(sys.argv[1])
    (disk / "ballast").write_bytes(bytes(1_000_000))
    async with SqliteStore(disk / "hub.db") as store:
        kept = 0
        try:
            while True:
                await store.apply([a_text("x" * 10_000), a_text("y" * 10_000)])
                kept += 2
        except StoreFull as error:
            print(error)
        assert kept > 0
        assert len(await store.items(after=0)) == kept
        (disk / "ballast").unlink()
        await store.apply([a_text("z" * 10_000), a_text()])
        assert [item.cursor for item in await store.items(after=0)] == list(range(1, kept + 3))

asyncio.run(main())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.db"


async def test_everything_is_there_after_the_store_was_closed_and_opened(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([a_text(), OpenAsk(an_ask())])
    async with SqliteStore(path) as store:
        assert await store.ask("a_1") == an_ask()
        assert await store.cursors() == (0, 2)
        assert (await store.apply([a_text()])).items[0].cursor == 3


async def test_the_file_and_its_companions_are_their_owners_only(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([a_text()])
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}

    assert modes == {"hub.db": 0o600, "hub.db-wal": 0o600, "hub.db-shm": 0o600}


async def test_a_commit_is_on_the_disk_before_anybody_is_told(path: Path) -> None:
    async with SqliteStore(path) as store:
        assert store._writer.connection.pragma("synchronous") == 2
        assert store._writer.connection.pragma("journal_mode") == "wal"


async def test_the_log_is_copied_into_the_file_between_commits(path: Path) -> None:
    log, dice = path.with_name("hub.db-wal"), random.Random(1)
    async with SqliteStore(path) as store:
        for _ in range(40):
            await store.apply([a_text(dice.randbytes(6000).hex()) for _ in range(100)])
        written = 40 * 100 * 12_000
        await until(lambda: path.stat().st_size > written)
        assert log.stat().st_size < written / 2


async def test_closing_keeps_what_is_still_queued(path: Path) -> None:
    async with SqliteStore(path) as store:
        waiting = [asyncio.create_task(store.apply([a_text()])) for _ in range(100)]
        await asyncio.sleep(0)

    assert [(await each).items[0].cursor for each in waiting] == list(range(1, 101))


@pytest.mark.parametrize("seed", range(4))
async def test_a_kill_loses_nothing_that_was_told_and_keeps_no_part_of_a_batch(path: Path, seed: int) -> None:
    contents = numbers_told_until_killed(path, lines=random.Random(seed).randrange(1, 400))

    async with SqliteStore(path) as store:
        asks = {ask.id for ask in await store.asks()}
        items = await store.items(after=0, limit=1_000_000)
        checkpoints = [await store.checkpoint(each) for each in asks]

    texts = {each["text"] for each in (json.decode(item.content) for item in items) if each["type"] == "text"}
    assert contents <= asks
    assert asks == texts == {checkpoint.session for checkpoint in checkpoints if checkpoint is not None}
    assert [item.cursor for item in items] == list(range(1, 2 * len(asks) + 1))


async def test_a_full_disk_is_told_and_the_store_goes_on_when_there_is_room(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([a_text("before")])
        disk = store._writer.connection
        room = disk.pragma("max_page_count")
        disk.pragma("max_page_count", disk.pragma("page_count"))
        long = random.Random(1).randbytes(500_000).hex()  # nothing can make it smaller
        with pytest.raises(StoreFull, match="Free some space"):
            await store.apply([OpenAsk(an_ask()), a_text(long), a_text("y")])
        assert await store.cursors() == (0, 1)
        assert await store.asks() == []

        disk.pragma("max_page_count", room)
        await store.apply([OpenAsk(an_ask()), a_text(long)])
        assert await store.cursors() == (0, 3)


async def test_asks_are_foretold_before_they_are_committed_and_never_reported_if_that_fails(tmp_path: Path) -> None:
    order: list[tuple[str, list[str]]] = []
    async with SqliteStore(tmp_path / "hub.db") as store:
        store.listen_to_coming_asks(lambda asks: order.append(("coming", [ask.id for ask in asks])))
        store.listen_to_asks(lambda asks: order.append(("committed", [ask.id for ask in asks])))
        await store.apply([OpenAsk(an_ask("a_1"))])
        with pytest.raises(StoreError):
            await store.apply([OpenAsk(an_ask("a_2")), Advance(a_checkpoint(5)), Advance(a_checkpoint(1))])
        await store.apply([a_text("nothing about asks")])

        assert order == [("coming", ["a_1"]), ("committed", ["a_1"])]
        assert await store.ask("a_2") is None


async def test_whoever_asks_for_too_much_is_refused_and_the_others_of_the_group_are_kept(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([a_text()])
        disk = store._writer.connection
        disk.pragma("max_page_count", disk.pragma("page_count") + 20)
        # Nothing can make it smaller.
        texts = ("small", random.Random(1).randbytes(500_000).hex(), "small")

        first, greedy, last = await asyncio.gather(
            *(store.apply([a_text(text)]) for text in texts), return_exceptions=True
        )

        assert not isinstance(first, Exception)
        assert isinstance(greedy, StoreFull)
        assert not isinstance(last, Exception)
        assert [item.cursor for item in await store.items(after=0)] == [1, 2, 3]


def test_a_disk_that_is_really_full_loses_nothing_that_was_kept() -> None:
    mount = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=2m none /mnt && exec "$0" "$@"']
    if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs to mount a small disk")

    filled = subprocess.run(
        [*mount, sys.executable, "-c", FILLS_ITS_DISK, "/mnt", TESTS], capture_output=True, text=True, check=False
    )

    assert filled.returncode == 0, filled.stderr
    assert "Free some space" in filled.stdout


async def test_another_process_that_holds_the_database_is_named_as_the_reason(path: Path) -> None:
    async with SqliteStore(path, busy_seconds=0.01) as store:
        other = apsw.Connection(str(path))
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusy, match="Another process"):
            await store.apply([a_text("refused")])

        other.execute("ROLLBACK")
        other.close()
        await store.apply([a_text("kept")])
        assert await store.cursors() == (0, 1)


async def test_one_row_does_not_wait_for_who_reads_a_long_list(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([OpenAsk(an_ask()), *[a_text("x" * 1000) for _ in range(1000)]])
        listing = asyncio.create_task(store.items(after=0, limit=1000))
        await asyncio.sleep(0)  # it has asked

        found = await store.ask("a_1")

        assert found == an_ask()
        assert not listing.done()
        assert len(await listing) == 1000


async def test_a_row_that_another_process_holds_up_is_waited_for_elsewhere(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SqliteStore(path) as store:
        await store.apply([OpenAsk(an_ask())])
        looked: list[Reader] = []
        look = Reader.ask

        def ask(reader: Reader, ask: str) -> Ask | None:
            looked.append(reader)
            if len(looked) == 1:
                raise apsw.BusyError("database is locked")
            return look(reader, ask)

        monkeypatch.setattr(Reader, "ask", ask)

        assert await store.ask("a_1") == an_ask()
        assert looked[0] is not looked[1]


async def test_a_database_that_is_held_from_the_start_is_busy_too(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").fetchall()

    with pytest.raises(StoreBusy):
        await SqliteStore(path, busy_seconds=0.01).__aenter__()
    other.close()


async def test_two_stores_on_one_file_never_give_the_same_cursor(path: Path) -> None:
    async with SqliteStore(path) as one, SqliteStore(path) as other:
        cursors = [(await store.apply([a_text()])).items[0].cursor for store in (one, other, other, one)]

    assert cursors == [1, 2, 3, 4]


async def test_garbage_in_the_file_is_told_at_the_start(path: Path) -> None:
    path.write_bytes(b"this is no database" * 1000)

    with pytest.raises(StoreDamaged, match="handraise restore FILE"):
        await SqliteStore(path).__aenter__()


async def test_a_damaged_page_is_told_to_who_meets_it(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([a_text("x" * 1000) for _ in range(1000)])
    with path.open("r+b") as file:
        file.seek(4096 * 60)  # behind the schema
        file.write(os.urandom(4096 * 200))

    async with SqliteStore(path) as store:
        with pytest.raises(StoreDamaged):
            await store.items(after=0, limit=2000)
        with pytest.raises(StoreDamaged):
            await store.apply([Advance(a_checkpoint(1)), *[a_text("y" * 1000) for _ in range(500)], Prune(1000)])
        assert await store.checkpoint("s_1") is None


async def test_a_row_that_nobody_can_read_is_damage(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([OpenAsk(an_ask())])
        store._writer.connection.execute("UPDATE asks SET body = '{'")

        with pytest.raises(StoreDamaged):
            await store.ask("a_1")


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    newer = apsw.Connection(str(path))
    newer.execute("CREATE TABLE theirs (x); PRAGMA user_version = 1000").fetchall()
    newer.close()
    before = path.read_bytes()

    with pytest.raises(StoreNewer, match="newer Handraise"):
        await SqliteStore(path).__aenter__()
    assert path.read_bytes() == before


async def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Check that its folder exists"):
        await SqliteStore(tmp_path / "no" / "hub.db").__aenter__()


async def test_a_database_that_cannot_be_written_is_told_and_still_read(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.apply([a_text()])
        store._writer.connection.pragma("query_only", True)

        with pytest.raises(StoreError, match="cannot be written"):
            await store.apply([a_text()])

        assert await store.cursors() == (0, 1)


def numbers_told_until_killed(path: Path, lines: int) -> set[str]:
    """Runs a writer in its own process, and kills it while it writes."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITES_NUMBERED_BATCHES, str(path), TESTS], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        calls = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        calls += writer.stdout.readlines()
    return {line.strip() for line in calls if line.endswith("\n")}


@pytest.mark.parametrize("seed", range(60))
async def test_whatever_is_damaged_is_told_as_damage(path: Path, seed: int) -> None:
    """Bytes are changed, as a failing disk would change them: who reads gets an answer or a sentence."""
    async with SqliteStore(path) as store:
        await store.apply([SaveSession(a_session()), *(a_text(f"text {number}") for number in range(30))])
        await store.apply([OpenAsk(an_ask(f"a_{number}")) for number in range(10)])
        await store.apply([QueueSay(a_say()), SaveProject(a_project()), SettleAsk("a_1", withdrawn())])
    dice = random.Random(seed)
    whole = bytearray(path.read_bytes())
    for _ in range(dice.choice([1, 3, 30, 300])):
        whole[dice.randrange(100, len(whole))] = dice.randrange(256)
    path.write_bytes(whole)

    try:
        async with SqliteStore(path) as store:
            for question in (
                *(store.sessions(), store.asks(), store.ask("a_1"), store.session("s_1"), store.says("s_1")),
                *(store.open_asks(), store.items(after=0), store.cursors(), store.rules(), store.projects()),
                *(store.tokens(), store.audit(), store.checkpoint("s_1"), store.last_lines(), store.size()),
            ):
                with suppress(StoreError):
                    await question
    except StoreError:
        pass  # it could not even be opened, and says why


async def test_rules_for_directories_from_before_machines_belong_to_the_machine_that_claims_the_file(
    path: Path,
) -> None:
    everywhere = [Rule("r_1", "allow", tool="Read", project="p_1", path="src/**"), Rule("r_5", "deny", path="/etc/**")]
    here = [Rule("r_2", "deny", tool="Bash", project="/work/app"), Rule("r_3", "allow", tool="Read", path="/data/**")]
    there = Rule("r_4", "allow", tool="Bash", project="/work/app", machine="m_there")
    async with SqliteStore(path, "m_here") as store:
        await store.apply([SaveRule(each) for each in (*everywhere, *here, there)])
        await store.claim(Machine("m_here", "laptop", "0.1.0", 8, NOON, NOON))

        named = [replace(each, machine="m_here") for each in here]
        assert await store.rules() == [*everywhere, *named, there]
