"""Stories in a terminal: the real command, the real hub, the real CLI and a scripted model."""

import asyncio
import re
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, Scripted, hold, say, use
from handraise.demo.request import Conversation
from stories.house import House
from stories.terminal_desk import READY, TerminalDesk, choose_then_run, desk
from surfaces.terminal.pseudo import BACKSPACE, CTRL_C, CTRL_D, CTRL_U, ENTER


async def test_from_the_first_word_to_the_price_of_the_turn(tmp_path: Path) -> None:
    def script(conversation: Conversation) -> Script:
        choosing = choose_then_run(conversation)
        conversation = yield next(choosing)
        for _ in range(3):
            conversation = yield choosing.send(conversation)
        conversation = yield [
            say("Working on it."),
            hold("steered"),
            use("Read", file_path=f"{conversation.directory}/x"),
        ]
        conversation = yield [say(f"I heard: {' '.join([conversation.text, *conversation.asides])}")]
        conversation = yield [say("One moment."), hold("asked"), use("Bash", command="echo hi > made.txt")]
        yield [say("Made.")]

    async with desk(tmp_path, script) as (laid, _), laid.terminal("run", "Choose and count.") as terminal:
        await terminal.until("› Choose and count.", "  Let me ask first.", "Which database?", READY)
        terminal.type("1")
        await terminal.until("You answered: SQLite", "Run `python3 -c 'print(6*7)'`?", READY)
        await terminal.confirm("a")
        await terminal.until("✓ $ python3 -c 'print(6*7)'", "it said 42", "─ ", " $0.")
        # An action and its outcome are one line.
        assert any(row.startswith("✓ $ python3") and row.endswith("· you allowed") for row in terminal.lines)
        assert "You allowed" not in terminal.screen
        terminal.type("One more thing", ENTER)
        await terminal.until("Heard: One more thing", "idle · ")

        # What is typed during a turn is said to Claude.
        terminal.type("Work", ENTER)
        await terminal.until("Working on it.", "working")
        terminal.type("Use the other file", ENTER)
        await terminal.until("› Use the other file", "1 message queued")
        laid.home.model.release("steered")
        await terminal.until("I heard:", "Use the other file", "idle · ", gone="message queued")

        # A person who is typing keeps typing when an ask appears.
        terminal.type("Now make it", ENTER)
        await terminal.until("One moment.")
        terminal.type("half a sent")
        await terminal.until("› half a sent")
        laid.home.model.release("asked")
        await terminal.until("Run `echo hi > made.txt`?", "1 Allow once", "Tab to answer", "› half a sent")
        terminal.type("ence and a")
        await terminal.until("› half a sentence and a")
        assert not (laid.home.work / "made.txt").exists()
        terminal.type("\t")
        await terminal.until("1 Allow once", READY)
        await terminal.confirm("a")
        await terminal.until("Made.", "› half a sentence and a", "idle · ")
        terminal.type(CTRL_U, CTRL_D)
        assert await terminal.end() == 0
        assert "Come back with: handraise attach s_" in terminal.screen
        assert laid.home.model.errors == []


def rushing(paragraphs: int) -> Scripted:
    def script(conversation: Conversation) -> Script:
        text = "\n\n".join(f"Paragraph {number}." for number in range(paragraphs))
        conversation = yield [say(text, pace=0.004), hold("never"), say("Too late.")]
        yield [say(f"I heard: {' '.join([conversation.text, *conversation.asides])}")]

    return script


async def test_ctrl_c_interrupts_the_turn_and_twice_leaves_and_keys_are_keys_while_lines_rush_by(
    tmp_path: Path,
) -> None:
    await interrupt_and_leave(tmp_path, paragraphs=150, rounds=3)


@pytest.mark.torture
async def test_keys_are_keys_however_long_lines_rush_by(tmp_path: Path) -> None:
    await interrupt_and_leave(tmp_path, paragraphs=400, rounds=8)


async def interrupt_and_leave(tmp: Path, paragraphs: int, rounds: int) -> None:
    """Of the keys pressed while lines rush by none is echoed into what Claude says, lost, or a signal."""
    typed = "".join(chr(ord("a") + number % 26) for number in range(90))
    async with desk(tmp, rushing(paragraphs)) as (laid, _), laid.terminal("run", "Write.") as terminal:
        await terminal.until("Paragraph ")
        for round_ in range(rounds):
            for key in typed:
                terminal.type(key)
                await asyncio.sleep(0.001)
            if round_ < rounds - 1:
                terminal.type(BACKSPACE * len(typed))
        terminal.type(CTRL_C)
        await terminal.until("Interrupting the turn", "─ ", "idle", f"› {typed}")
        above = terminal.everything.partition("Interrupting the turn")[0]
        terminal.type(ENTER)
        await terminal.until("I heard:", typed, "idle")
        calls = [row for row in above.splitlines() if "Paragraph" in row]
        assert len(calls) > 3
        assert [row for row in calls if not re.fullmatch(r"\s*Paragraph \d+\.", row)] == []

        terminal.type(CTRL_C)
        terminal.type(CTRL_C)
        await terminal.end()
        assert "Come back with: handraise attach s_" in terminal.screen
        assert terminal.modes() == terminal.before
        code, out, _ = await laid.script("ps")
        assert code == 0
        assert "idle" in out


async def test_somebody_joins_sees_what_happened_and_a_hub_that_restarts_loses_and_repeats_nothing(
    tmp_path: Path,
) -> None:
    async with House(tmp_path, choose_then_run) as home:
        laid = TerminalDesk(home)
        async with laid.serve() as up:
            code, out, _ = await laid.script("run", "--detach", "Choose and count.")
            assert code == 0
            session = out.strip()
            assert (await up.hub.desk.session(session)).session.directory == str(home.work)
            terminal = laid.terminal("attach", session)
            await terminal.__aenter__()
            await terminal.until("› Choose and count.", "Let me ask first.", "Which database?", READY)
        try:
            await terminal.until("Lost the connection to the hub", "Which database?")
            async with laid.serve():
                await terminal.until("Reconnected to the hub", "Which database?", READY, gone="Not connected")
                terminal.type("2")
                await terminal.until("You answered: Postgres", "Run `python3 -c 'print(6*7)'`?", READY)
                await terminal.confirm("a")
                await terminal.until("it said 42", "─ ")
                for once in (
                    "Let me ask first.",
                    "› Choose and count.",
                    "You answered: Postgres",
                    "✓ $ python3 -c 'print(6*7)'",
                ):
                    assert terminal.everything.count(once) == 1, once
        finally:
            await terminal.__aexit__(None, None, None)
