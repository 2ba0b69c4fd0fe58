"""A program of ours in Claude's place: what it gets, how it is adopted, how it is stopped, and why it did not start."""

import asyncio
import json
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from claude.children import PATIENCE, gone, identity, open_files
from handraise.claude import claude
from handraise.claude.claude import Claude, NobodyThere, NotStarted
from handraise.claude.command import Launch
from handraise.claude.fifo import ChildGone
from handraise.claude.folder import RunFolder, SessionBusy
from handraise.claude.watch import FileWatch, watch

# Says what it found at its start, then echoes each line.
ECHO = """
import json, os, signal, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
found = {
    "argv": sys.argv[1:], "pid": os.getpid(), "sid": os.getsid(0), "cwd": os.getcwd(), "environment": dict(os.environ),
    "files": {n: os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")},
    "ignored": int(status["SigIgn"], 16), "blocked": int(status["SigBlk"], 16),
}
print(json.dumps(found), flush=True)
for line in sys.stdin:
    if line == "bye\\n":
        sys.exit(3)
    print(line, end="", flush=True)
"""


class Spot:
    """Where programs are started in Claude's place; whatever still runs is killed at the end."""

    def __init__(self, tmp: Path, watching: FileWatch) -> None:
        self.tmp = tmp
        self.watching = watching
        self.launch = Launch(directory=str(tmp / "work"), session_id=str(uuid.uuid4()))
        self.folder = tmp / "runs" / "1"

    def program(self, source: str) -> Path:
        path = self.tmp / "claude"
        # Not by `env`, and without the -I that would hide the environment: Python resets no signal for others.
        fresh = path.with_suffix(".new")
        fresh.write_text(f"#!{sys.executable}\n{source}")
        fresh.chmod(0o700)
        return fresh.replace(path)  # the one that is there may be about to run

    async def start(self, program: Path, launch: Launch | None = None) -> Claude:
        environment = {"PATH": os.environ["PATH"], "ONLY": "this"}
        launch = launch or self.launch
        return await claude.start(program, launch, self.folder, self.tmp / "locks", self.watching, environment)


@asynccontextmanager
async def place(tmp_path: Path) -> AsyncIterator[Spot]:
    (tmp_path / "work").mkdir()
    async with watch() as watching, asyncio.timeout(PATIENCE):
        here = Spot(tmp_path, watching)
        try:
            yield here
        finally:
            record = RunFolder(here.folder).record()
            if record is not None:
                record.identity.signal(signal.SIGKILL)


async def lines(running: Claude, count: int) -> list[Any]:
    text = b""
    async for chunk in running.follow():
        text += chunk
        if text.count(b"\n") >= count:
            break
    return text.decode().splitlines()


async def test_it_gets_its_own_session_its_files_and_nothing_else(tmp_path: Path) -> None:
    async with place(tmp_path) as here, await here.start(here.program(ECHO)) as running:
        found = json.loads((await lines(running, 1))[0])
        folder = running.folder
        assert f"--session-id={here.launch.session_id}" in found["argv"]
        assert found["pid"] == found["sid"] == running.process.identity.pid
        assert found["cwd"] == here.launch.directory
        assert {name: value for name, value in found["environment"].items() if name != "LC_CTYPE"} == {
            "PATH": os.environ["PATH"],
            "ONLY": "this",
        }
        files = {number: Path(path).name for number, path in found["files"].items() if not path.startswith("/proc/")}
        assert files == {"0": "in", "1": "out.ndjson", "2": "err.log", "3": f"{here.launch.session_id}.lock"}
        assert folder.record() is not None


async def test_no_signal_is_ignored_or_blocked_that_we_ignore_or_block(tmp_path: Path) -> None:
    source = "#!/bin/sh\ngrep -E '^Sig(Ign|Blk)' /proc/self/status\n"
    async with place(tmp_path) as here:
        program = here.program("")
        program.write_text(source)
        async with await here.start(program) as running:
            text = dict(line.split(":\t") for line in await lines(running, 2))
    assert int(text["SigBlk"], 16) == 0
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        assert not int(text["SigIgn"], 16) & 1 << (number - 1), number


async def test_the_record_is_written_by_the_process_itself(tmp_path: Path) -> None:
    async with place(tmp_path) as here, await here.start(here.program(ECHO)) as running:
        record = running.folder.record()
        assert record is not None
        assert record.identity == identity(record.pid) == running.process.identity
        assert record.session_id == here.launch.session_id
        assert record.directory == here.launch.directory
        assert record.command[0] == str(here.tmp / "claude")
        assert record.command[1] == "--output-format=stream-json"


async def test_what_is_written_is_read_and_what_it_says_is_followed(tmp_path: Path) -> None:
    async with place(tmp_path) as here, await here.start(here.program(ECHO)) as running:
        await running.write(b"hello\n")
        assert (await lines(running, 2))[1] == "hello"
        await running.write(b"bye\n")
        await running.ended.wait()
        assert running.process.exit_code == 3
        with pytest.raises(ChildGone):
            await running.write(b"too late\n")


async def test_another_adopts_it_and_goes_on(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        async with await here.start(here.program(ECHO)) as running:
            await lines(running, 1)
        async with claude.adopt(here.folder, here.watching) as adopted:
            assert not adopted.ended.is_set()
            await adopted.write(b"again\n")
            assert (await lines(adopted, 2))[1] == "again"
            await adopted.stop(b"bye\n")
            assert adopted.process.exit_code == 3
        async with claude.adopt(here.folder, here.watching) as late:
            assert late.ended.is_set()
            assert [chunk async for chunk in late.follow()] != []


async def test_of_a_long_journal_the_oldest_part_gives_its_blocks_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude, "REPLAYABLE", 1 << 20)
    monkeypatch.setattr(claude, "_STEP", 1 << 18)
    async with place(tmp_path) as here, await here.start(here.program(ECHO)) as running:
        await lines(running, 1)
        journal = running.folder.journal
        with journal.open("ab") as stream:
            stream.write(os.urandom(3 << 20))
            os.fsync(stream.fileno())
        size, blocks = journal.stat().st_size, journal.stat().st_blocks
        running.taken_in(1 << 20)
        assert journal.stat().st_blocks == blocks
        record = journal.read_bytes()[-(1 << 20) :]
        running.taken_in(size)
        assert journal.stat().st_size == size
        assert journal.stat().st_blocks < blocks // 2
        assert journal.read_bytes()[-(1 << 20) :] == record


async def test_a_folder_in_which_nobody_was_launched_cannot_be_adopted(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for folder in (tmp_path / "nowhere", RunFolder.make(here.folder).path):
            with pytest.raises(NobodyThere, match="no Claude was launched"):
                claude.adopt(folder, here.watching)


async def test_a_claude_that_ignores_everything_is_killed(tmp_path: Path) -> None:
    stubborn = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\ntime.sleep(1000)"
    )
    async with place(tmp_path) as here, await here.start(here.program(stubborn)) as running:
        await lines(running, 1)
        await running.stop(b"bye\n", grace=0.05, patience=0.2)
        assert running.process.exit_code == -signal.SIGKILL


async def test_stopping_one_that_is_gone_touches_nobody_who_has_its_pid_now(tmp_path: Path) -> None:  # lesson 19
    async with place(tmp_path) as here:
        run = RunFolder.make(here.folder)
        me = identity(os.getpid())
        record = {"pid": me.pid, "started": "0", "boot": me.boot, "command": [], "session_id": "", "directory": ""}
        (run.path / "launch.json").write_text(json.dumps(record))
        child = await asyncio.create_subprocess_exec("/bin/sleep", "1000")
        async with claude.adopt(here.folder, here.watching) as stranger:
            assert stranger.ended.is_set()
            await stranger.stop(patience=0.1)
        assert child.returncode is None
        child.kill()
        await child.wait()


async def test_a_write_that_waits_is_told_when_claude_ends_though_a_child_of_it_holds_its_stdin(tmp_path: Path) -> None:
    # Neither reads; the child, in a session of its own, keeps the stdin open when its parent is gone.
    source = "import os, time\npid = os.fork()\nprint(pid, flush=True) if pid else os.setsid()\ntime.sleep(1000)"
    async with place(tmp_path) as here, await here.start(here.program(source)) as running:
        heir = identity(int((await lines(running, 1))[0]))
        await running.write(b"stays in the pipe\n")
        waiting = asyncio.create_task(running.write(b"waits\n"))
        await asyncio.sleep(0)
        running.process.identity.signal(signal.SIGKILL)
        with pytest.raises(ChildGone):
            await waiting
        assert heir.lives()
        heir.signal(signal.SIGKILL)
        await gone(heir)


async def test_a_directory_that_is_not_there_is_told_before_anything_is_made(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        with pytest.raises(NotStarted, match=r"no directory .*nowhere"):
            await here.start(here.program(ECHO), Launch(directory=str(tmp_path / "nowhere"), session_id="s1"))
        assert not here.folder.exists()
        assert not (tmp_path / "locks").exists()


async def test_a_program_that_cannot_be_executed_says_why_and_which(tmp_path: Path) -> None:
    async with place(tmp_path) as here, await here.start(tmp_path / "no such claude") as running:
        await running.ended.wait()
        assert running.process.exit_code == 127
        assert "No such file or directory: " in running.folder.last_errors()
        assert "no such claude" in running.folder.last_errors()


async def test_words_that_no_program_can_be_given_are_told(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        launch = Launch(directory=here.launch.directory, session_id="s1", append_system_prompt="a\0b")
        async with await here.start(here.program(ECHO), launch) as running:
            await running.ended.wait()
            assert running.process.exit_code == 127
            assert "null" in running.folder.last_errors()


async def test_a_directory_that_may_not_be_entered_is_told(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        run = here.folder
        file = tmp_path / "work" / "gone"
        file.mkdir()
        launch = Launch(directory=str(file), session_id="s1")
        starting = asyncio.ensure_future(here.start(here.program(ECHO), launch))
        await asyncio.sleep(0)
        # The directory vanishes between our look and the launcher's.
        file.rmdir()
        with pytest.raises(NotStarted, match=r"could not be started: .*No such file"):
            await starting
        assert RunFolder(run).record() is None


async def test_long_instructions_fit(tmp_path: Path) -> None:
    # One argument may have 128 KiB on Linux.
    prompt = "これは長い指示です。" * 4000
    async with place(tmp_path) as here:
        launch = Launch(directory=here.launch.directory, session_id="s1", append_system_prompt=prompt)
        async with await here.start(here.program(ECHO), launch) as running:
            found = json.loads((await lines(running, 1))[0])
            assert f"--append-system-prompt={prompt}" in found["argv"]


async def test_a_start_that_fails_leaves_no_lock_no_process_and_no_open_file(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.folder.mkdir(parents=True)
        before = open_files()
        with pytest.raises(FileExistsError):
            await here.start(here.program(ECHO))
        assert open_files() == before
        here.folder.rmdir()
        async with await here.start(here.program(ECHO)) as running:
            with pytest.raises(SessionBusy):
                await here.start(here.program(ECHO))
            await running.stop(b"bye\n")
        assert open_files() == before


async def test_leaving_leaves_it_running(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        before = open_files()
        async with await here.start(here.program(ECHO)) as running:
            pass
        assert running.process.identity.lives()
        assert open_files() == before
