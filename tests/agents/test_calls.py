"""Agent calls: the same call is the same ask, and an agent that leaves for good withdraws it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from handraise.agents.calls import AgentCalls, Caller, DirectoryContext, HubContext, ask_id
from handraise.model.agent_replies import ASK_USER_EXPIRED, Reply
from handraise.model.answers import Allow, Choice, Choices
from handraise.model.asks import Answered, Ask, Withdrawn
from handraise.model.inputs import MalformedInput
from handraise.model.own_tools import APPROVAL_PROMPT, ASK_USER
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from inbox.waiting_room import ANA, Clock, Room, room, surroundings

AGENT = Caller("c", "an agent", "/work/app")
WHICH = {"question": "Which?"}
FOR_EVER = 3600.0


class CallDesk:
    """Agent calls, and a person who answers them."""

    def __init__(self, room: Room, agent_calls: AgentCalls, closing: asyncio.Event) -> None:
        self.room = room
        self.agent_calls = agent_calls
        self.closing = closing

    def call(self, reference: str = "1", caller: Caller = AGENT, **more: Any) -> asyncio.Task[Reply]:
        return asyncio.create_task(self.agent_calls.call(caller, reference, ASK_USER, WHICH, **more))

    async def opened(self, reference: str = "1", caller: Caller = AGENT) -> Ask:
        return await self.until(ask_id(caller, reference), lambda ask: ask is not None)

    async def settled(self, reference: str = "1", caller: Caller = AGENT) -> Ask:
        return await self.until(ask_id(caller, reference), lambda ask: ask is not None and ask.settlement is not None)

    async def until(self, ask: str, fits: Callable[[Ask | None], bool]) -> Ask:
        async with asyncio.timeout(60):
            while True:
                found = await self.room.store.ask(ask)
                if fits(found):
                    assert found is not None
                    return found
                await asyncio.sleep(0)

    async def answer(self, ask: Ask, text: str = "this") -> None:
        await self.room.inbox.answer(ask.id, Choices((Choice(text=text),)), ANA, "web")


@asynccontextmanager
async def desk(
    store: MemoryStore,
    *,
    grace: float = FOR_EVER,
    progress: float = FOR_EVER,
    options: Options | None = None,
    rules: Sequence[Rule] = (),
) -> AsyncIterator[CallDesk]:
    async def whereabouts(_: str) -> DirectoryContext:
        return DirectoryContext("p_1", (options or Options()).over(Options()), "/work/app")

    async def left_open() -> list[Ask]:
        return [ask for ask in await store.asks(state="open") if ask.session is None]

    def around(_: str, where: DirectoryContext) -> Any:
        return replace(surroundings(where.options.patience), ask_user=where.options.ask_user_timeout)

    async with room(store, Clock(), rules) as inside:
        closing = asyncio.Event()
        knowledge = HubContext(inside.clock, whereabouts, around, left_open)
        async with AgentCalls(inside.inbox, knowledge, closing, grace=grace, progress=progress) as agent_calls:
            yield CallDesk(inside, agent_calls, closing)


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    async with MemoryStore() as opened:
        yield opened


async def test_an_agent_gets_the_answer_and_it_counts_as_delivered(store: MemoryStore) -> None:
    async with desk(store) as here:
        call = here.call()
        ask = await here.opened()
        assert (ask.asker, ask.agent, ask.session, ask.project) == ("agent", "an agent", None, "p_1")
        await here.answer(ask)

        assert await call == Reply("this")
        assert (await here.settled()).delivered_at is not None


async def test_the_same_call_again_is_the_same_ask(store: MemoryStore) -> None:
    async with desk(store) as here:
        calls = [here.call(), here.call()]
        await here.answer(await here.opened())

        assert await asyncio.gather(*calls) == [Reply("this"), Reply("this")]
        assert len(await store.asks()) == 1
        assert await here.call() == Reply("this")


async def test_two_calls_and_two_agents_are_different_asks(store: MemoryStore) -> None:
    async with desk(store) as here:
        other = Caller("d", "another", "/")
        calls = [here.call("1"), here.call("2"), here.call("1", other)]
        await here.answer(await here.opened("2"), "two")
        await here.answer(await here.opened("1", other), "other")
        await here.answer(await here.opened("1"), "one")

        assert [reply.text for reply in await asyncio.gather(*calls)] == ["one", "two", "other"]


async def test_a_rule_answers_at_once(store: MemoryStore) -> None:
    async with desk(store, rules=[Rule("r", "allow", tool="Bash", command="ls")]) as here:
        reply = await here.agent_calls.call(
            AGENT, "1", APPROVAL_PROMPT, {"tool_name": "Bash", "input": {"command": "ls"}}
        )

        assert reply.text == '{"behavior": "allow", "updatedInput": {"command": "ls"}}'


async def test_patience_ends_as_the_project_says(store: MemoryStore) -> None:
    async with desk(store, options=Options(ask_user_timeout=60)) as here:
        call = here.call()
        await here.opened()
        here.room.clock.forward(61)
        await here.room.inbox.expire()

        assert await call == Reply(ASK_USER_EXPIRED, is_error=True)


async def test_a_run_has_patience_of_its_own(store: MemoryStore) -> None:
    async with desk(store, options=Options(ask_user_timeout=60)) as here:
        caller = Caller("c", "run", "/", timeout=120)
        call = here.call("1", caller)
        ask = await here.opened("1", caller)

        assert ask.expires_at is not None
        assert (ask.expires_at - ask.opened_at).total_seconds() == 120
        call.cancel()


async def test_a_cancelled_call_is_withdrawn(store: MemoryStore) -> None:
    async with desk(store) as here:
        call = here.call()
        await here.opened()
        here.agent_calls.cancel(AGENT, "1")

        assert await call == Reply("The question was withdrawn.", is_error=True)


async def test_an_agent_that_leaves_takes_all_its_asks_along_and_nobody_elses(store: MemoryStore) -> None:
    async with desk(store) as here:
        other = Caller("d", "another", "/")
        calls = [here.call("1"), here.call("2"), here.call("1", other)]
        for reference, caller in (("1", AGENT), ("2", AGENT), ("1", other)):
            await here.opened(reference, caller)
        here.agent_calls.leave(AGENT)

        assert (await here.settled("1")).state == (await here.settled("2")).state == "withdrawn"
        assert (await here.opened("1", other)).state == "open"
        for call in calls:
            call.cancel()


async def test_who_loses_the_connection_and_comes_back_finds_the_ask(store: MemoryStore) -> None:
    async with desk(store) as here:
        lost = here.call()
        ask = await here.opened()
        lost.cancel()
        await asyncio.wait([lost])
        again = here.call()
        await here.answer(ask)

        assert await again == Reply("this")


async def test_who_does_not_come_back_has_withdrawn(store: MemoryStore) -> None:
    async with desk(store, grace=0.0) as here:
        lost = here.call()
        await here.opened()
        lost.cancel()

        settlement = (await here.settled()).settlement
        assert isinstance(settlement, Withdrawn)
        assert settlement.reason == "the agent went away and did not come back"


async def test_over_http_a_dropped_connection_is_a_cancelled_call(store: MemoryStore) -> None:
    async with desk(store) as here:
        caller = Caller("c", "an agent", "/", comes_back=False)
        lost = here.call("1", caller)
        await here.opened("1", caller)
        lost.cancel()

        assert (await here.settled("1", caller)).state == "withdrawn"


async def test_a_hub_that_stops_withdraws_nothing(store: MemoryStore) -> None:
    async with desk(store, grace=0.0) as here:
        caller = Caller("c", "an agent", "/", comes_back=False)
        call = here.call("1", caller)
        ask = await here.opened("1", caller)
        here.closing.set()
        here.agent_calls.leave(caller)
        call.cancel()
        await asyncio.wait([call])

    found = await store.ask(ask.id)
    assert found is not None
    assert found.state == "open"


async def test_the_next_hub_waits_a_moment_for_those_who_asked_the_last(store: MemoryStore) -> None:
    async with desk(store) as first:
        call = first.call()
        await first.opened()
        first.closing.set()
        call.cancel()
    async with desk(store) as second:
        again = second.call()
        await second.answer(await second.opened())
        assert await again == Reply("this")


async def test_nobody_comes_to_the_next_hub(store: MemoryStore) -> None:
    async with desk(store) as first:
        call = first.call()
        await first.opened()
        first.closing.set()
        call.cancel()
    async with desk(store, grace=0.0) as second:
        assert (await second.settled()).state == "withdrawn"


async def test_progress_is_told_while_somebody_waits(store: MemoryStore) -> None:
    calls: list[tuple[float, float | None]] = []
    async with desk(store, progress=0.0) as here:

        async def waited(seconds: float, total: float | None) -> None:
            calls.append((seconds, total))
            here.room.clock.forward(15)

        call = here.call(waited=waited)
        ask = await here.opened()
        async with asyncio.timeout(60):
            while len(calls) < 3:
                await asyncio.sleep(0)
        await here.answer(ask)
        await call

    assert calls[:3] == [(0.0, 300.0), (15.0, 300.0), (30.0, 300.0)]


async def test_progress_goes_on_growing_for_who_comes_back(store: MemoryStore) -> None:
    heard: asyncio.Queue[float] = asyncio.Queue()

    async def waited(seconds: float, _: float | None) -> None:
        await heard.put(seconds)
        await asyncio.sleep(3600)

    async with desk(store, progress=0.0) as here:
        first = here.call()
        await here.opened()
        here.room.clock.forward(40)
        first.cancel()
        again = here.call(waited=waited)

        assert await asyncio.wait_for(heard.get(), 30) == 40.0
        again.cancel()


async def test_a_malformed_call_raises_nothing(store: MemoryStore) -> None:
    async with desk(store) as here:
        with pytest.raises(MalformedInput):
            await here.agent_calls.call(AGENT, "1", ASK_USER, {})
        assert await store.asks() == []


async def test_switched_off_ask_user_is_not_offered_and_permissions_are(store: MemoryStore) -> None:
    async with desk(store, options=Options(ask_user_enabled=False)) as here:
        assert not await here.agent_calls.offers(AGENT, ASK_USER)
        assert await here.agent_calls.offers(AGENT, APPROVAL_PROMPT)


async def test_who_polls_is_handed_the_answer_once(store: MemoryStore) -> None:
    async with desk(store) as here:
        ask = await here.agent_calls.raise_ask(AGENT, "1", ASK_USER, WHICH)
        here.agent_calls.seen(ask.id)
        assert here.agent_calls.is_open(ask.id)
        await here.answer(ask)
        answered = await here.agent_calls.awaited(ask)

        assert isinstance(answered.settlement, Answered)
        assert [await here.agent_calls.hand_over(answered) for _ in range(2)] == [True, False]
        assert not here.agent_calls.is_open(ask.id)


async def test_an_edited_permission_goes_back_edited(store: MemoryStore) -> None:
    async with desk(store) as here:
        arguments = {"tool_name": "Bash", "input": {"command": "ls"}}
        call = asyncio.create_task(here.agent_calls.call(AGENT, "1", APPROVAL_PROMPT, arguments))
        ask = await here.opened()
        await here.room.inbox.answer(ask.id, Allow(input={"command": "pwd"}), ANA, "web")

        assert (await call).text == '{"behavior": "allow", "updatedInput": {"command": "pwd"}}'


async def test_an_agent_that_reconnects_to_another_hub_finds_its_question_again() -> None:
    database = MemoryDatabase()
    async with (
        MemoryStore("m_1", database) as one,
        MemoryStore("m_2", database) as two,
        desk(one) as first,
        desk(two) as second,
    ):
        lost = first.call()
        ask = await first.opened()
        assert ask.machine == "m_1"
        found = second.call()
        await second.until(ask.id, lambda each: each is not None and each.machine == "m_2")

        lost.cancel()
        await asyncio.wait([lost])
        await first.room.inbox.leave(ask.id, "The agent did not come back.")  # as far as the first hub knows

        assert await two.ask(ask.id) == replace(ask, machine="m_2")
        await first.answer(ask)
        assert "this" in (await found).text
