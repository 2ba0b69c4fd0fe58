"""Stories in a terminal: the real command, the real hub, the real CLI and a scripted model."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from handraise.claude.locate import locate
from handraise.demo.pieces import Script, Scripted, hold, say, use
from handraise.demo.told import Told
from handraise.model.actors import Person
from handraise.model.asks import Ask, Body, Permission, Question
from handraise.serving import Service, Serving, serving
from stories.house import House
from surfaces.terminal.pseudo import BACKSPACE, CTRL_C, CTRL_D, ENTER, Pseudo, handraise

READY = "Esc later"
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


class Desk:
    """A house whose hub serves, so that commands reach it."""

    def __init__(self, home: House) -> None:
        self.home = home
        self.state = home.tmp / "state"

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[Serving]:
        async with serving(Service(self.state, locate(), self.home.environment, port=0)) as up:
            yield up

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
        return {"HANDRAISE_STATE": str(self.state), "HOME": str(self.home.tmp), **kept}

    def terminal(self, *arguments: str, environment: Mapping[str, str] | None = None, **size: int) -> Pseudo:
        told = {**self.environment, **(environment or {})}
        return Pseudo(*handraise(*arguments), environment=told, cwd=str(self.home.work), **size)

    async def script(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        """The command without a terminal."""
        started = await asyncio.create_subprocess_exec(
            *handraise(*arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home.work,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **self.environment},
        )
        async with asyncio.timeout(60):
            out, err = await started.communicate(stdin)
        return started.returncode or 0, out.decode(), err.decode()


@asynccontextmanager
async def desk(tmp: Path, script: Scripted) -> AsyncIterator[tuple[Desk, Serving]]:
    async with House(tmp, script) as home:
        laid = Desk(home)
        async with laid.serve() as up:
            yield laid, up


async def opened(up: Serving, kind: type[Body]) -> Ask:
    """The first open ask of this kind."""
    async with asyncio.timeout(40), up.hub.desk.follow(0) as follower:
        async for _ in follower:
            for ask in await up.hub.desk.asks():
                if isinstance(ask.body, kind):
                    return ask
    raise AssertionError("the feed ended")


def choose_then_run(told: Told) -> Script:
    told = yield [say("Let me **ask** first."), use("AskUserQuestion", questions=[QUESTION])]
    told = yield [
        say(f"You said: {told.result().text}"),
        use("Bash", command="python3 -c 'print(6*7)'", description="Count"),
    ]
    told = yield [say(f"# Done\n\n- it said `{told.result().text}`")]
    while True:
        told = yield [say(f"Heard: {told.text}")]


async def test_from_the_first_word_to_the_price_of_the_turn(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, _), laid.terminal("run", "Choose and count.") as terminal:
        await terminal.until("› Choose and count.", "  Let me ask first.", "Which database?", READY)
        terminal.type("1")
        await terminal.until("You chose SQLite", "Run `python3 -c 'print(6*7)'`?", READY)
        terminal.type("a")
        await terminal.until("You allowed", "✓ $ python3 -c 'print(6*7)'", "it said 42", "─ ", " $0.")
        terminal.type("One more thing", ENTER)
        await terminal.until("Heard: One more thing")
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
        assert "Come back with: handraise attach s_" in terminal.screen
        assert laid.home.model.errors == []


async def test_ctrl_c_interrupts_the_turn_and_twice_leaves(tmp_path: Path) -> None:
    def slowly(told: Told) -> Script:
        yield [say("Thinking hard."), hold("never"), say("Too late.")]
        yield [say("Again.")]

    async with desk(tmp_path, slowly) as (laid, _), laid.terminal("run", "Think.") as terminal:
        await terminal.until("Thinking hard.", "working")
        terminal.type(CTRL_C)
        await terminal.until("Interrupting the turn", "─ ", "idle")
        terminal.type(CTRL_C)
        terminal.type(CTRL_C)
        await terminal.end()
        assert "Come back with: handraise attach s_" in terminal.screen
        assert terminal.modes() == terminal.before
        code, out, _ = await laid.script("ps")
        assert code == 0
        assert "idle" in out


async def test_what_is_typed_during_a_turn_is_said_to_claude(tmp_path: Path) -> None:
    def steered(told: Told) -> Script:
        told = yield [say("Working on it."), hold("go"), use("Read", file_path=f"{told.directory}/x")]
        yield [say(f"I heard: {' '.join([told.text, *told.asides])}")]

    async with desk(tmp_path, steered) as (laid, _), laid.terminal("run", "Work.") as terminal:
        await terminal.until("Working on it.", "working")
        terminal.type("Use the other file", ENTER)
        await terminal.until("› Use the other file", "1 not yet taken")
        laid.home.model.release("go")
        await terminal.until("I heard:", "Use the other file", gone="not yet taken")


async def test_keys_pressed_while_lines_rush_by_are_keys(tmp_path: Path) -> None:
    """Each of them: none is echoed into what Claude says, none is lost, none becomes a signal."""

    def rushing(told: Told) -> Script:
        told = yield [say("\n\n".join(f"Paragraph {number}." for number in range(400)), pace=0.004), hold("go")]
        yield [say(f"I heard: {' '.join([told.text, *told.asides])}")]

    typed = "".join(chr(ord("a") + number % 26) for number in range(90))
    async with desk(tmp_path, rushing) as (laid, _), laid.terminal("run", "Write.") as terminal:
        await terminal.until("Paragraph 3.")
        for round_ in range(8):
            for key in typed:
                terminal.type(key)
                await asyncio.sleep(0.001)
            if round_ < 7:
                terminal.type(BACKSPACE * len(typed))
        terminal.type(CTRL_C)
        await terminal.until("Interrupting the turn", "idle", f"› {typed}")
        terminal.type(ENTER)
        await terminal.until("I heard:", typed)
        terminal.type(CTRL_C, CTRL_C, CTRL_C)
        await terminal.end()
        assert "Come back with: handraise attach s_" in terminal.screen
        above = terminal.everything.partition("Interrupting the turn")[0]
        told = [row for row in above.splitlines() if "Paragraph" in row]
        assert [row for row in told if not re.fullmatch(r"\s*Paragraph \d+\.", row)] == []


async def test_whoever_types_goes_on_typing_when_an_ask_comes(tmp_path: Path) -> None:
    def late(told: Told) -> Script:
        yield [say("One moment."), hold("go"), use("Bash", command="echo hi > made.txt")]
        yield [say("Done.")]

    async with desk(tmp_path, late) as (laid, _), laid.terminal("run", "Work.") as terminal:
        await terminal.until("One moment.")
        terminal.type("half a sent")
        await terminal.until("› half a sent")
        laid.home.model.release("go")
        await terminal.until("✋ Run `echo hi > made.txt`? · Tab answers", "› half a sent")
        terminal.type("ence and a")
        await terminal.until("› half a sentence and a")
        assert not (laid.home.work / "made.txt").exists()
        terminal.type("\t")
        await terminal.until("1 Allow once", READY)
        terminal.type("a")
        await terminal.until("Done.", "› half a sentence and a")


async def test_a_hub_that_restarts_during_a_turn_loses_and_repeats_nothing(tmp_path: Path) -> None:
    async with House(tmp_path, choose_then_run) as home:
        laid = Desk(home)
        async with laid.serve():
            terminal = laid.terminal("run", "Choose and count.")
            await terminal.__aenter__()
            await terminal.until("Which database?", READY)
        try:
            await terminal.until("The hub went away", "Which database?")
            async with laid.serve():
                await terminal.until("The hub is back", "Which database?", READY, gone="No connection")
                terminal.type("2")
                await terminal.until("You chose Postgres", "Run `python3 -c 'print(6*7)'`?", READY)
                terminal.type("a")
                await terminal.until("it said 42", "─ ")
                for once in (
                    "Let me ask first.",
                    "› Choose and count.",
                    "You chose Postgres",
                    "✓ $ python3 -c 'print(6*7)'",
                ):
                    assert terminal.everything.count(once) == 1, once
        finally:
            await terminal.__aexit__(None, None, None)


async def test_somebody_joins_and_sees_what_happened_and_what_is_open(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, up):
        code, out, _ = await laid.script("run", "--detach", "Choose.")
        assert code == 0
        session = out.strip()
        async with laid.terminal("attach", session) as terminal:
            await terminal.until("› Choose.", "Let me ask first.", "Which database?", READY)
            terminal.type("1")
            await terminal.until("You chose SQLite")
        seen = await up.hub.desk.session(session)
        assert seen.session.directory == str(laid.home.work)


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
        assert [getattr(ask.settlement, "by", None) for ask in settled] == [Person("laptop")]


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
            hub = int((laid.state / "hub.lock").read_text())
            os.kill(hub, signal.SIGTERM)
            while Path(f"/proc/{hub}").exists():
                await asyncio.sleep(0.05)


async def test_a_session_that_was_stopped_goes_on_and_is_forked(tmp_path: Path) -> None:
    def shortly(told: Told) -> Script:
        while True:
            told = yield [say(f"I was told: {told.text}")]

    async with desk(tmp_path, shortly) as (laid, up):
        _, out, _ = await laid.script("run", "--json", "One.")
        session = json.loads(out.splitlines()[0])["session"]
        await laid.script("stop", session)
        async with asyncio.timeout(40), up.hub.desk.follow(0, session) as follower:
            async for _ in follower:
                if (await up.hub.desk.session(session)).session.phase == "ended":
                    break
        code, out, err = await laid.script("run", "--resume", session, "Two.")
        assert code == 0, err
        assert "I was told: Two." in out
        code, out, err = await laid.script("run", "--resume", session, "--fork", "--json", "Three.")
        assert code == 0, err
        assert json.loads(out.splitlines()[0])["session"] != session
