"""Stories of the real `claude -p` with hubs that are killed with `kill -9`."""

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path

from handraise.demo.model import EACH_SESSION
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Desk
from handraise.model.answers import Allow, Choice, Choices
from handraise.model.asks import Ask, Withdrawn
from handraise.model.own_tools import APPROVAL_PROMPT, ASK_USER, qualified
from stories.outsiders import DEADLINE, Yard
from stories.serving_house import HubChild, desk, serve, settle_in, surroundings

ALLOWED = f"--allowedTools={qualified(ASK_USER)}"
PROMPT_TOOL = f"--permission-prompt-tool={qualified(APPROVAL_PROMPT)}"


def work(conversation: Conversation) -> Script:
    conversation = yield [
        use(qualified(ASK_USER), question=conversation.text, options=[{"label": "A"}, {"label": "B"}])
    ]
    asked = conversation.result()
    conversation = yield [use("Write", file_path=f"{conversation.directory}/{asked.is_error}.txt", content="one\n")]
    yield [say(f"{asked.is_error}: {asked.text} / {conversation.result().is_error}: {conversation.result().text}")]


async def test_agents_and_hubs_that_are_killed_again_and_again(tmp_path: Path) -> None:
    """On stdio an agent notices nothing; over HTTP its call fails, and the next hub withdraws the question."""
    settle_in(tmp_path)
    async with Yard(tmp_path, work) as yard, AsyncExitStack() as agents:
        environ = surroundings(tmp_path, yard.model.url("script"))
        model = {"ANTHROPIC_BASE_URL": yard.model.url("script", EACH_SESSION)}
        async with serve(tmp_path, environ) as first, desk(tmp_path) as owner:
            headers = {"Authorization": f"Bearer {first.token('by HTTP', 'agent')}"}
            server = {"type": "http", "url": f"{first.base}/mcp", "headers": headers}
            by_http = await agents.enter_async_context(yard.agent(server, ALLOWED, variables=model))
            lost = await open_ask(owner)
            agent = await agents.enter_async_context(yard.agent(yard.stdio(), ALLOWED, PROMPT_TOOL, variables=model))
            raised = await open_ask(owner, lost.id)
            await kill(first)
            assert (await by_http.result()).startswith("True: ")

        async with serve(tmp_path, environ) as second, desk(tmp_path) as owner:
            settlement = (await until_settled(owner, lost.id)).settlement
            assert isinstance(settlement, Withdrawn)
            assert settlement.reason == "the agent went away and did not come back"
            await kill(second)

        async with serve(tmp_path, environ) as third, desk(tmp_path) as owner:
            assert (await open_ask(owner)).id == raised.id
            await owner.answer(raised.id, Choices((Choice(("A",)),)))
            permission = await open_ask(owner, raised.id)
            assert {each.id for each in await owner.asks(state=None)} == {lost.id, raised.id, permission.id}
            # Granted as the hub is killed, it is still granted.
            await owner.answer(permission.id, Allow())
            await kill(third)

        async with serve(tmp_path, environ) as fourth, desk(tmp_path) as owner:
            assert (await agent.result()).startswith("False: User selected: A / False: ")
            assert (yard.work / "False.txt").read_text() == "one\n"
            assert {each.id for each in await owner.asks(state=None)} == {lost.id, raised.id, permission.id}
            await fourth.stop()
        assert yard.model.errors == []


async def kill(hub: HubChild) -> None:
    hub.child.send_signal(signal.SIGKILL)
    await hub.child.wait()


async def open_ask(owner: Desk, but: str = "") -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for _ in follower:
            for found in await owner.asks():
                if found.id != but:
                    return found
    raise AssertionError("the feed ended")


async def until_settled(owner: Desk, ask_id: str) -> Ask:
    async with asyncio.timeout(DEADLINE), owner.follow(0) as follower:
        async for _ in follower:
            found = await owner.ask(ask_id)
            if found.settlement is not None:
                return found
    raise AssertionError("the feed ended")
