"""Stories without a terminal: pipes, scripts, other machines, and a hub that is started on demand."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, say
from handraise.demo.told import Told
from handraise.model.actors import Person
from handraise.model.asks import Answered, Permission, Question
from stories.house import House
from stories.terminal_desk import READY, Desk, choose_then_run, desk, opened
from surfaces.terminal.pseudo import CTRL_C, handraise


async def test_another_machines_hub_is_reached_with_a_token(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, up):
        await up.hub.desk.start("Choose.", str(laid.home.work))
        made = await up.gate.make("laptop", "approver", Person("ana"), "test")
        # Nothing of this machine's own hub is in reach: no socket, only the address and the token.
        far = {"HANDRAISE_STATE": str(tmp_path / "elsewhere"), "HANDRAISE_TOKEN": made.secret}
        async with laid.terminal("inbox", "--hub", up.base, environment=far) as terminal:
            await terminal.until("Which database?", READY)
            terminal.type("1")
            await terminal.until("You chose SQLite", "Run `python3 -c 'print(6*7)'`?")
        settled = await up.hub.desk.asks(state="answered")
        assert [ask.settlement.by.name for ask in settled if isinstance(ask.settlement, Answered)] == ["laptop"]


async def test_without_a_terminal_it_says_how_to_answer_and_goes_on_when_somebody_has(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, up):
        running = asyncio.create_task(laid.script("run", stdin=b"Choose and count."))
        question = await opened(up, Question)
        code, out, err = await laid.script("answer", question.id, "--choose", "SQLite")
        assert (code, out.strip()) == (0, "Answered."), err
        permission = await opened(up, Permission)
        await laid.script("answer", permission.id, "--allow")
        code, out, err = await running
        assert code == 0, err
        assert f"handraise answer {permission.id} --allow" in out
        assert "✋ Which database?" in out
        assert "it said 42" in out
        assert "\x1b" not in out
        assert "Come back with: handraise attach s_" in err


async def test_without_a_terminal_patience_ends_and_the_ask_stays_open(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, up):
        code, _, err = await laid.script("run", "--patience", "1", "Choose.")
        assert code == 1
        assert "Nobody answered within 1 s. The ask stays open" in err
        assert [ask.state for ask in await up.hub.desk.asks()] == ["open"]


async def test_a_queued_run_says_behind_whom_and_patience_covers_the_queue(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run, limit=1) as (laid, up):
        asking = (await up.hub.desk.start("Choose.", str(laid.home.work))).session
        await opened(up, Question)
        code, out, err = await laid.script("run", "--patience", "0.5", "hi")
        assert code == 1
        assert f"Queued behind 1 session: “Choose.” ({asking.id}, waiting for your answer)." in out
        assert "Still queued after 0.5 s. Come back with: handraise attach s_" in err
        queued = (await up.hub.desk.sessions())[0].session
        assert queued.phase == "queued"
        # What it prints to drop it does so.
        assert (await laid.script(*err.strip().rpartition("drop it with: handraise ")[2].split()))[0] == 0
        assert (await up.hub.desk.session(queued.id)).session.ended is not None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_run_that_is_ended_by_a_signal_says_so(tmp_path: Path, number: int, code: int) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, _):
        started = await asyncio.create_subprocess_exec(
            *handraise("run", "Choose."),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=laid.home.work,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **laid.environment},
        )
        assert started.stdout is not None
        async with asyncio.timeout(60):
            while "handraise answer" not in (await started.stdout.readline()).decode():
                pass
            started.send_signal(number)
            _, err = await started.communicate()
        assert started.returncode == code
        assert "Come back with: handraise attach s_" in err.decode()


@pytest.mark.parametrize("act", ["interrupt", "stop"])
async def test_a_run_whose_session_is_stopped_or_interrupted_is_not_done(tmp_path: Path, act: str) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, up):
        running = asyncio.create_task(laid.script("run", "Choose."))
        question = await opened(up, Question)
        await getattr(up.hub.desk, act)(question.session)
        # Claude calls the turn that a stop cuts off interrupted, too, where it still says so.
        assert (await running)[0] in ((130,) if act == "interrupt" else (1, 130))


async def test_items_as_json_for_scripts(tmp_path: Path) -> None:
    def shortly(told: Told) -> Script:
        yield [say(f"I was told: {told.text}")]

    async with desk(tmp_path, shortly) as (laid, _):
        code, out, _ = await laid.script("run", "--json", "Say it.", stdin=b"From the pipe.")
        assert code == 0
        items = [json.loads(row) for row in out.splitlines()]
        kinds = [item["type"] for item in items]
        assert kinds.index("said") < kinds.index("text") < kinds.index("turn.ended")
        text = next(item["text"] for item in items if item["type"] == "text")
        assert "Say it." in text
        assert "From the pipe." in text
        cursors = [item["cursor"] for item in items]
        assert cursors == sorted(set(cursors))


async def test_a_picture_goes_along(tmp_path: Path) -> None:
    def look(told: Told) -> Script:
        yield [say(f"I see {len(told.images)} picture.")]

    async with desk(tmp_path, look) as (laid, _):
        picture = laid.home.work / "dot.png"
        picture.write_bytes(
            bytes.fromhex(
                "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
            )
        )
        code, out, err = await laid.script("run", "--image", str(picture), "Look.")
        assert code == 0, err
        assert "I see 1 picture." in out
        code, _, err = await laid.script("run", "--image", __file__, "Look.")
        assert code == 2
        assert "is no picture that Claude reads" in err


async def test_a_failed_turn_is_a_failed_command(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, _):
        code, _, err = await laid.script("run", "--resume", "s_nowhere", "Go on.")
        assert code == 1
        assert "There is no session s_nowhere" in err
        code, _, err = await laid.script("run")
        assert code == 2
        assert "Say what Claude should do" in err
        code, _, err = await laid.script("attach", "s_nowhere", "--state", str(tmp_path / "empty"))
        assert code == 3
        assert "handraise serve" in err


async def test_a_hub_is_started_in_the_background_and_outlives_the_command(tmp_path: Path) -> None:
    async with House(tmp_path, choose_then_run) as home:
        laid = Desk(home)
        try:
            code, out, err = await laid.script("run", "Hello.")
            assert "No hub runs here; starting one in the background" in err
            # Nobody is logged in here, so that the turn fails; the hub and the session are there.
            assert code == 1, (out, err)
            code, out, _ = await laid.script("ps")
            assert code == 0
            assert "Hello." in out
            assert (laid.state / "hub.log").exists()
        finally:
            await laid.stop_background_hub()


async def test_a_session_that_was_stopped_goes_on_and_is_forked(tmp_path: Path) -> None:
    def shortly(told: Told) -> Script:
        while True:
            told = yield [say(f"I was told: {told.text}")]

    async with desk(tmp_path, shortly) as (laid, up):
        _, out, _ = await laid.script("run", "--json", "One.")
        session = json.loads(out.splitlines()[0])["session"]
        await laid.script("stop", session)
        async with asyncio.timeout(60), up.hub.desk.follow(0, session) as follower:
            async for _ in follower:
                if (await up.hub.desk.session(session)).session.phase == "ended":
                    break
        code, out, err = await laid.script("run", "--resume", session, "Two.")
        assert code == 0, err
        assert "I was told: Two." in out
        code, out, err = await laid.script("run", "--resume", session, "--fork", "--json", "Three.")
        assert code == 0, err
        assert json.loads(out.splitlines()[0])["session"] != session


async def test_a_pipe_that_nobody_writes_to_holds_nothing_up(tmp_path: Path) -> None:
    def shortly(told: Told) -> Script:
        yield [say(f"I was told: {told.text}")]

    async with desk(tmp_path, shortly) as (laid, _):
        heard, told = os.pipe()
        try:
            code, out, err = await laid.script("run", "Say it.", stdin=heard)
            assert code == 0, err
            assert "Nothing came through the pipe for 5 s; going on without it." in err
            assert "I was told: Say it." in out
        finally:
            os.close(heard)
            os.close(told)


async def test_ctrl_c_while_the_hub_is_being_started_starts_no_session(tmp_path: Path) -> None:
    # A hub that takes its time, so that it is surely not up when the key is pressed.
    (tmp_path / "slow").mkdir()
    slow = "import sys, time\nif 'serve' in sys.orig_argv: time.sleep(5)\n"
    (tmp_path / "slow" / "sitecustomize.py").write_text(slow)
    async with House(tmp_path, choose_then_run) as home:
        laid = Desk(home)
        slowly = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "slow"), laid.environment.get("PYTHONPATH", "")])}
        slowly["HANDRAISE_WEB_PORT"] = "0"
        try:
            async with laid.terminal("run", "Hello.", environment=slowly) as terminal:
                await terminal.until("starting one in the background")
                async with asyncio.timeout(60):
                    while not _is_started(laid.state):
                        await asyncio.sleep(0.01)
                terminal.type(CTRL_C)
                assert await terminal.end() == 130
                assert "Interrupted. The hub goes on starting; no session was started." in terminal.screen
                assert terminal.modes() == terminal.before
            async with asyncio.timeout(60):
                while (await laid.script("ps"))[:2] != (0, 'No sessions yet. Start one with: handraise run "…"\n'):
                    await asyncio.sleep(0.1)
        finally:
            await laid.stop_background_hub()


def _is_started(state: Path) -> bool:
    """Whether there is a process that is to be the hub of this folder."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            said = each.read_bytes().split(b"\0")
            if b"serve" in said and os.fsencode(state) in said:
                return True
    return False
