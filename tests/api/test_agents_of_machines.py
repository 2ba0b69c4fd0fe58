"""Asks of external agents and terminals belong to the hub that holds the call: others leave them alone."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from desk.hubs import QUESTION
from handraise.api.agents import AgentRoutes
from handraise.model.asks import Ask, Origin
from handraise.store.changes import OpenAsk
from handraise.terminals.calls import PREFIX
from hub.fleet import MachineSite, fleet_of
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
