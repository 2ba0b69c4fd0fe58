"""Asks of external agents and terminals belong to the hub that holds the call: others leave them alone."""

import asyncio
from pathlib import Path

from mcp import Client
from msgspec.structs import replace

from agents.test_mcp_server import called
from desk.hubs import QUESTION
from handraise.agents.calls import Caller
from handraise.agents.mcp_server import McpServer
from handraise.api.agents import AgentRoutes
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask, Origin
from handraise.store.changes import OpenAsk
from handraise.terminals.calls import PREFIX
from hub.fleet import DEADLINE, MachineSite, fleet_of, until
from inbox.waiting_room import NOON


async def left_open(site: MachineSite, *, terminals: bool) -> list[str]:
    routes = AgentRoutes(site.hub, site.state, "http://127.0.0.1:1", asyncio.Event())
    return [ask.id for ask in await routes.knowledge(terminals=terminals).left_open()]


async def test_a_hub_that_starts_cares_only_for_what_an_earlier_one_of_its_machine_held(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        agent = Ask("a_1", None, None, QUESTION, "ask_user", Origin("c/1"), NOON, asker="agent", agent="an agent")
        hand_run = replace(agent, id="a_2", origin=Origin(f"{PREFIX}1/a_2"))
        old = replace(agent, id="a_3", origin=Origin("c/3"))
        await laptop.store.apply(
            [
                OpenAsk(replace(agent, machine=laptop.machine)),
                OpenAsk(replace(hand_run, machine=laptop.machine)),
                OpenAsk(old),
            ]
        )

        assert await left_open(laptop, terminals=False) == ["a_1", "a_3"]
        assert await left_open(laptop, terminals=True) == ["a_2"]
        assert await left_open(server, terminals=False) == ["a_3"]
        assert await left_open(server, terminals=True) == []


AGENT = Caller("lines/1", "an agent in /work", "/work")


async def test_an_agent_that_asks_while_the_database_is_away_is_answered_afterwards(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        routes = AgentRoutes(laptop.hub, laptop.state, "http://127.0.0.1:1", asyncio.Event())
        async with routes.agent_calls as calls, asyncio.timeout(DEADLINE):
            laptop.store.is_away = True
            asked = asyncio.create_task(calls.call(AGENT, "1", "ask_user", {"question": "Left?"}))
            listed = asyncio.create_task(calls.offers(AGENT, "ask_user"))
            while not laptop.hub.trouble:
                await asyncio.sleep(0.01)
            assert not asked.done()
            assert not listed.done()
            laptop.store.is_away = False
            assert await listed

            async def is_open() -> bool:
                return bool(await server.hub.desk.asks())

            await until(server.hub, is_open)
            (ask,) = await server.hub.desk.asks()
            laptop.store.is_away = True
            await server.hub.desk.answer(ask.id, Choices((Choice(text="Left."),)))
            laptop.store.is_away = False
            assert "Left." in (await asked).text


async def test_an_agent_of_a_hub_that_lost_its_machine_hears_why_nobody_is_asked(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        routes = AgentRoutes(laptop.hub, laptop.state, "http://127.0.0.1:1", asyncio.Event())
        store = laptop.config().store
        assert store is not None
        async with routes.agent_calls as calls, store(laptop.machine) as other, asyncio.timeout(DEADLINE):
            await other.claim(laptop.hub.machine)
            while not laptop.hub.trouble:
                await asyncio.sleep(0.01)
            async with Client(McpServer(calls, lambda _: AGENT, lambda _: "1").server) as client:
                is_error, reply = await called(client, "ask_user", {"question": "Left?"})
            assert (is_error, "Another hub has taken over this machine" in reply) == (True, True), reply
            assert await server.hub.desk.asks() == []
