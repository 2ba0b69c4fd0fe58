"""Stories of sub-agents of a Claude in a terminal: each request is a card, and no answer reaches another one.

In the interactive program, sub-agents run in the background. Claude Code then shows a dialog only if the hook leaves
the decision to the terminal.
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from socket import gethostname
from typing import Any

from handraise.demo.pieces import Script, Scripted, agent, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Desk
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Ask, Permission
from stories.hand_run import DIALOG, HandRun, by_hand, reason, synced, until_delivered, until_dialog
from stories.outsiders import DEADLINE, Yard
from surfaces.terminal.pseudo import ENTER


def worker(name: str, heard: dict[str, str]) -> Scripted:
    """Claude Code also asks what it does, in the middle of it, for a line below its own input."""

    def script(conversation: Conversation) -> Script:
        made = f"{conversation.directory}/{name}"
        conversation = yield [use("Bash", command=f"touch {made}", description=f"Makes {name}")]
        while not conversation.results:
            conversation = yield [say(f"Makes {name}.")]
        heard[name] = conversation.result().text
        while True:
            yield [say(f"{name} is finished.")]

    return script


def send_both(heard: dict[str, str]) -> Scripted:
    def script(conversation: Conversation) -> Script:
        yield [agent(name, f"Make {name}", worker(name, heard)) for name in ("one", "two")]
        while True:
            yield [say("Both are on their way.")]

    return script


async def both(desk: Desk) -> dict[str, Ask]:
    """The requests of both sub-agents, by what they make."""
    async with asyncio.timeout(DEADLINE), desk.follow(0) as follower:
        async for _ in follower:
            if len(asks := await desk.asks()) == 2:
                return {str(input_of(ask)["description"]).removeprefix("Makes "): ask for ask in asks}
    raise AssertionError("the feed ended")


def input_of(ask: Ask) -> dict[str, Any]:
    assert isinstance(ask.body, Permission)
    return ask.body.input


async def until_heard(terminal: HandRun, heard: dict[str, str], *names: str) -> None:
    await terminal.wait(lambda: set(names) <= heard.keys(), f"results of {names}")


async def test_each_sub_agent_has_a_card_and_gets_its_own_answer_whichever_comes_first(tmp_path: Path) -> None:
    heard: dict[str, str] = {}
    async with Yard(tmp_path, send_both(heard)) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        async with by_hand(yard.work, yard.environment) as terminal:
            await terminal.say("go")
            asked = await both(desk)
            # The second first.
            await desk.answer(asked["two"].id, Allow(), asked["two"].digest)
            await until_heard(terminal, heard, "two")
            assert [(yard.work / name).exists() for name in ("one", "two")] == [False, True]
            assert [ask.id for ask in await desk.asks()] == [asked["one"].id]
            await until_delivered(desk, asked["two"].id)

            await desk.answer(asked["one"].id, Deny("Not this one."), asked["one"].digest)
            await until_heard(terminal, heard, "one")
            assert heard["one"] == "Not this one."
            assert not (yard.work / "one").exists()
            await until_delivered(desk, asked["one"].id)


async def test_without_the_hub_their_dialogs_are_in_the_terminal(tmp_path: Path) -> None:
    heard: dict[str, str] = {}
    async with Yard(tmp_path, send_both(heard)) as yard, AsyncExitStack() as stack:
        served = await stack.enter_async_context(yard.serve())
        await synced(yard, served)
        async with by_hand(yard.work, yard.environment) as terminal:
            await terminal.say("go")
            asked = await both(served.hub.desk)
            assert DIALOG not in terminal.screen
            await stack.aclose()
            await terminal.until(DIALOG, "1 of 2")
            async with yard.serve() as again:
                desk, session = again.hub.desk, asked["one"].session
                assert session is not None
                for ask in asked.values():
                    assert reason(await desk.ask(ask.id)).endswith("answer it there")
                # Several wait there, so none is named.
                assert (await until_dialog(desk, session)).dialog == f"Answer in the terminal on {gethostname()}"
                await terminal.press(ENTER, gone="1 of 2")
                await terminal.until(DIALOG)
                await terminal.press(ENTER, gone=DIALOG)
                await until_heard(terminal, heard, "one", "two")
                assert [(yard.work / name).exists() for name in ("one", "two")] == [True, True]
                await until_dialog(desk, session, up=False)
