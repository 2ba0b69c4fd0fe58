"""Stories without a terminal: pipes, scripts, other machines, and a hub that is started on demand."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

from handraise.cli.client import HubClient
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.actors import Person
from handraise.model.asks import Answered, Permission, Question
from handraise.serving.serve import RunningHub
from stories.house import House
from stories.terminal_desk import QUESTION, READY, TerminalDesk, choose_then_run, desk, opened
from surfaces.terminal.pseudo import CTRL_C

DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


def choosing(conversation: Conversation) -> Script:
    """Asks and counts for each `Choose`, and repeats any other message."""
    while True:
        if "Choose" not in conversation.text:
            conversation = yield [say(f"I was told: {conversation.text} And I see {len(conversation.images)} picture.")]
            continue
        conversation = yield [say("Let me **ask** first."), use("AskUserQuestion", questions=[QUESTION])]
        if not conversation.text:
            conversation = yield [
                say("Now I count."),
                use("Bash", command="python3 -c 'print(6*7)'", description="Count"),
            ]
        if not conversation.text:
            conversation = yield [say(f"# Done\n\n- it said `{conversation.result().text}`")]


async def test_who_leaves_a_session_or_is_left_by_it_is_told_so(tmp_path: Path) -> None:
    async with desk(tmp_path, choosing, limit=1) as (laid, up):
        # By a signal.
        err = await signalled(laid, signal.SIGINT, 130, "run", "Choose.")
        session = err.partition("handraise attach ")[2].split()[0]
        await signalled(laid, signal.SIGTERM, 143, "attach", session)
        await signalled(laid, signal.SIGHUP, 129, "attach", session)

        # Patience ends, and the ask stays open.
        code, _, err = await laid.script("attach", session, "--patience", "1")
        assert code == 1
        assert "Nobody answered within 1 s. The request stays open" in err
        assert [ask.state for ask in await up.hub.desk.asks()] == ["open"]

        # Patience covers the queue, too. It is long enough to hear of the queue on a busy machine.
        code, out, err = await laid.script("run", "--patience", "3", "hi")
        assert code == 1
        assert f"Queued behind 1 session: “Choose.” ({session}, waiting for your answer)." in out
        assert "Still queued after 3 s. Follow it with: handraise attach s_" in err
        queued = (await up.hub.desk.sessions())[0].session
        assert queued.phase == "queued"
        # What it prints to drop it does so.
        assert (await laid.script(*err.strip().rpartition("cancel it with: handraise ")[2].split()))[0] == 0
        assert (await up.hub.desk.session(queued.id)).session.ended is not None

        # From another machine: no socket is in reach, only the address and the token.
        made = await up.auth.make("laptop", "approver", Person("ana"), "test")
        far = {"HANDRAISE_STATE": str(tmp_path / "elsewhere"), "HANDRAISE_TOKEN": made.secret}
        async with laid.terminal("inbox", "--hub", up.base, environment=far) as terminal:
            await terminal.until("Which database?", READY)
            terminal.type("1")
            await terminal.until("You answered: SQLite", "Run `python3 -c 'print(6*7)'`?")
        settled = await up.hub.desk.asks(state="answered")
        assert [ask.settlement.by.name for ask in settled if isinstance(ask.settlement, Answered)] == ["laptop"]

        # A turn that is interrupted, or whose session is stopped, is not done.
        await opened(up, Permission)
        running = asyncio.create_task(laid.script("attach", session))
        await up.hub.desk.interrupt(session)
        assert (await running)[0] == 130
        await up.hub.desk.stop(session)
        await until_ended(up, session)
        running = asyncio.create_task(laid.script("run", "--resume", session, "Choose again."))
        await opened(up, Question)
        await up.hub.desk.stop(session)
        # Claude calls the turn that a stop cuts off interrupted, too, where it still says so.
        assert (await running)[0] in (1, 130)
        assert laid.home.model.errors == []


async def signalled(laid: TerminalDesk, number: int, code: int, *words: str) -> str:
    """Stays with a session until an ask is open, is ended by a signal, and says how to come back."""
    async with laid.running(*words) as script:
        await script.until("handraise answer")
        os.kill(script.pid, number)
        ended, _, err = await script.end()
    assert ended == code
    assert "Come back with: handraise attach s_" in err
    return err


async def until_ended(up: RunningHub, session: str) -> None:
    async with asyncio.timeout(60), up.hub.desk.follow(0, session) as follower:
        async for _ in follower:
            if (await up.hub.desk.session(session)).session.phase == "ended":
                return


async def test_a_script_runs_a_session_answers_it_goes_on_with_it_and_forks_it(tmp_path: Path) -> None:
    async with desk(tmp_path, choosing) as (laid, up):
        # It says how to answer, and continues after an answer.
        async with laid.running("run", stdin=b"Choose and count.") as running:
            question = await opened(up, Question)
            await running.until("✋ Which database?")
            code, out, err = await laid.script("answer", question.id, "--choose", "SQLite")
            assert (code, out.strip()) == (0, "Answered."), err
            permission = await opened(up, Permission)
            await running.until(f"handraise answer {permission.id} --allow")
            await laid.script("answer", permission.id, "--allow")
            code, out, err = await running.end()
        assert code == 0, err
        assert "it said 42" in out
        assert "\x1b" not in out
        assert "Come back with: handraise attach s_" in err

        # A stopped session continues; a pipe that nobody writes to blocks nothing.
        assert question.session is not None
        await laid.script("stop", question.session)
        await until_ended(up, question.session)
        heard, result = os.pipe()
        try:
            code, out, err = await laid.script("run", "--resume", question.session, "Two.", stdin=heard)
        finally:
            os.close(heard)
            os.close(result)
        assert code == 0, err
        assert "No input on stdin after 5 s; continuing." in err
        assert "I was told: Two." in out

        # A fork, with items as JSON, a picture, and something from a pipe.
        picture = laid.home.work / "dot.png"
        picture.write_bytes(DOT)
        forking = ("run", "--resume", question.session, "--fork", "--json", "--image", str(picture), "Three.")
        code, out, err = await laid.script(*forking, stdin=b"From the pipe.")
        assert code == 0, err
        items = [json.loads(row) for row in out.splitlines()]
        assert items[0]["session"] != question.session
        kinds = [item["type"] for item in items]
        assert kinds.index("said") < kinds.index("text") < kinds.index("turn.ended")
        text = next(item["text"] for item in items if item["type"] == "text")
        assert "Three." in text
        assert "From the pipe." in text
        assert "I see 1 picture." in text
        cursors = [item["cursor"] for item in items]
        assert cursors == sorted(set(cursors))
        assert laid.home.model.errors == []


async def test_what_cannot_be_done_is_a_failed_command(tmp_path: Path) -> None:
    async with desk(tmp_path, choosing) as (laid, _):
        code, _, err = await laid.script("run", "--resume", "s_nowhere", "Go on.")
        assert code == 1
        assert "There is no session 's_nowhere'" in err
        code, _, err = await laid.script("run")
        assert code == 2
        assert "What should Claude do?" in err
        code, _, err = await laid.script("run", "--resume", "s_nowhere")
        assert code == 2
        assert "What should Claude do next?" in err
        code, _, err = await laid.script("run", "--image", __file__, "Look.")
        assert code == 2
        assert "isn't an image Claude can read" in err
        code, _, err = await laid.script("attach", "s_nowhere", "--state", str(tmp_path / "empty"))
        assert code == 3
        assert "handraise serve" in err


async def test_a_hub_is_started_in_the_background_and_outlives_the_command(tmp_path: Path) -> None:
    async with House(tmp_path, choose_then_run) as home:
        laid = TerminalDesk(home)
        try:
            code, out, err = await laid.script("run", "Hello.")
            assert "No hub is running. Starting one in the background" in err
            # Nobody is logged in here, so that the turn fails; the hub and the session are there.
            assert code == 1, (out, err)
            code, out, _ = await laid.script("ps")
            assert code == 0
            assert "Hello." in out
            assert (laid.state / "hub.log").exists()
        finally:
            await laid.stop_background_hub()


async def test_ctrl_c_while_the_hub_is_being_started_starts_no_session(tmp_path: Path) -> None:
    # A hub that takes its time, so that it is surely not up when the key is pressed.
    (tmp_path / "slow").mkdir()
    slow = "import sys, time\nif 'serve' in sys.orig_argv: time.sleep(5)\n"
    (tmp_path / "slow" / "sitecustomize.py").write_text(slow)
    async with House(tmp_path, choose_then_run) as home:
        laid = TerminalDesk(home)
        slowly = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "slow"), laid.environment.get("PYTHONPATH", "")])}
        slowly["HANDRAISE_WEB_PORT"] = "0"
        # If Ctrl-C came too late, a Claude that was started after all must not look for a model beyond this machine.
        slowly["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
        try:
            async with laid.terminal("run", "Hello.", environment=slowly) as terminal:
                await terminal.until("Starting one in the background")
                async with asyncio.timeout(60):
                    while not _is_started(laid.state):
                        await asyncio.sleep(0.05)
                terminal.type(CTRL_C)
                assert await terminal.end() == 130
                assert "Interrupted. The hub is still starting; no session was started." in terminal.screen
                assert terminal.modes() == terminal.before
            async with asyncio.timeout(60):
                while not await asyncio.to_thread(HubClient(laid.state).is_there):
                    await asyncio.sleep(0.1)
            assert (await laid.script("ps"))[:2] == (0, 'No sessions yet. Start one with: handraise run "…"\n')
        finally:
            await laid.stop_background_hub()


def _is_started(state: Path) -> bool:
    """Whether a process exists that will be the hub of this folder."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            text = each.read_bytes().split(b"\0")
            if b"serve" in text and os.fsencode(state) in text:
                return True
    return False
