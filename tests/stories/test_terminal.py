"""Stories in a terminal: the real command, the real hub, the real CLI and a scripted model."""

import asyncio
import re
from pathlib import Path

from handraise.demo.pieces import Script, hold, say, use
from handraise.demo.told import Told
from stories.house import House
from stories.terminal_desk import READY, Desk, choose_then_run, desk
from surfaces.terminal.pseudo import BACKSPACE, CTRL_C, CTRL_D, ENTER


async def test_from_the_first_word_to_the_price_of_the_turn(tmp_path: Path) -> None:
    async with desk(tmp_path, choose_then_run) as (laid, _), laid.terminal("run", "Choose and count.") as terminal:
        await terminal.until("› Choose and count.", "  Let me ask first.", "Which database?", READY)
        terminal.type("1")
        await terminal.until("You chose SQLite", "Run `python3 -c 'print(6*7)'`?", READY)
        await terminal.confirm("a")
        await terminal.until("You allowed", "✓ $ python3 -c 'print(6*7)'", "it said 42", "─ ", " $0.")
        terminal.type("One more thing", ENTER)
        await terminal.until("Heard: One more thing", "idle · ")
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
        await terminal.until("Run `echo hi > made.txt`?", "1 Allow once", "Tab to answer", "› half a sent")
        terminal.type("ence and a")
        await terminal.until("› half a sentence and a")
        assert not (laid.home.work / "made.txt").exists()
        terminal.type("\t")
        await terminal.until("1 Allow once", READY)
        await terminal.confirm("a")
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
                await terminal.confirm("a")
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
