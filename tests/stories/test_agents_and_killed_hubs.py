"""Stories of the real `claude -p` and hubs that are killed under it, as `kill -9` does it."""

import asyncio
import signal
from pathlib import Path

from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.desk.interface import Desk
from handraise.model.answers import Allow, Choice, Choices
from handraise.model.asks import Ask, Withdrawn
from handraise.model.tools import APPROVAL_PROMPT, ASK_USER, qualified
from stories.outsiders import DEADLINE, Yard
from stories.serving_house import Process, command, desk, serve, settle_in, surroundings

ALLOWED = f"--allowedTools={qualified(ASK_USER)}"
PROMPT_TOOL = f"--permission-prompt-tool={qualified(APPROVAL_PROMPT)}"


def ask(told: Told) -> Script:
    told = yield [use(qualified(ASK_USER), question="Which?", options=[{"label": "A"}, {"label": "B"}])]
    yield [say(f"{told.result().is_error}: {told.result().text}")]


def write(told: Told) -> Script:
    told = yield [use("Write", file_path=f"{told.directory}/a.txt", content="one\n")]
    yield [say(f"{told.result().is_error}: {told.result().text}")]


async def test_the_agent_notices_nothing_of_two_hubs_that_are_killed(tmp_path: Path) -> None:
    settle_in(tmp_path)
    async with Yard(tmp_path, ask) as yard:
        environ = surroundings(tmp_path, yard.model.url("script"))
        async with serve(tmp_path, environ) as first:
            agents = yard.agent(yard.stdio(), ALLOWED)
            agent = await agents.__aenter__()
            async with desk(tmp_path) as owner:
                raised = await open_ask(owner)
            await kill(first)
        try:
            async with serve(tmp_path, environ) as second:
                await kill(second)
            async with serve(tmp_path, environ) as third, desk(tmp_path) as owner:
                assert (await open_ask(owner)).id == raised.id
                await owner.answer(raised.id, Choices((Choice(("A",)),)))

                assert await agent.result() == "False: User selected: A"
                assert [each.id for each in await owner.asks(state=None)] == [raised.id]
                await third.stop()
        finally:
            await agents.__aexit__(None, None, None)


async def test_a_permission_that_was_granted_as_the_hub_was_killed_is_still_granted(tmp_path: Path) -> None:
    settle_in(tmp_path)
    async with Yard(tmp_path, write) as yard:
        environ = surroundings(tmp_path, yard.model.url("script"))
        async with serve(tmp_path, environ) as first, yard.agent(yard.stdio(), PROMPT_TOOL) as agent:
            async with desk(tmp_path) as owner:
                raised = await open_ask(owner)
                await owner.answer(raised.id, Allow())
                await kill(first)
            async with serve(tmp_path, environ) as second:
                assert (await agent.result()).startswith("False: ")
                assert (yard.work / "a.txt").read_text() == "one\n"
                await second.stop()


async def test_over_http_a_killed_hub_fails_the_call_and_the_next_one_withdraws_the_question(tmp_path: Path) -> None:
    settle_in(tmp_path)
    async with Yard(tmp_path, ask) as yard:
        environ = surroundings(tmp_path, yard.model.url("script"))
        async with serve(tmp_path, environ) as first:
            code, secret = await command(environ, "token", "create", "agent", "--role", "agent")
            assert code == 0
            headers = {"Authorization": f"Bearer {secret.strip()}"}
            server = {"type": "http", "url": f"{first.base}/mcp", "headers": headers}
            async with yard.agent(server, ALLOWED) as agent, desk(tmp_path) as owner:
                raised = await open_ask(owner)
                await kill(first)
                assert (await agent.result()).startswith("True: ")
        async with serve(tmp_path, environ) as second, desk(tmp_path) as owner:
            settlement = (await until_settled(owner, raised.id)).settlement

            assert isinstance(settlement, Withdrawn)
            assert settlement.reason == "the agent went away and did not come back"
            await second.stop()


async def kill(hub: Process) -> None:
    hub.child.send_signal(signal.SIGKILL)
    await hub.child.wait()


async def open_ask(owner: Desk) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for _ in follower:
            for found in await owner.asks():
                return found
    raise AssertionError("the feed ended")


async def until_settled(owner: Desk, ask_id: str) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for _ in follower:
            found = await owner.ask(ask_id)
            if found.settlement is not None:
                return found
    raise AssertionError("the feed ended")
