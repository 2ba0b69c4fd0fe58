"""What stores of several machines over one database promise."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from handraise.model.asks import Ask
from handraise.model.items import Item, MachineChanged, Preview
from handraise.model.rules import Rule
from handraise.store.changes import OpenAsk, SaveMachine, SaveRule, SettleAsk
from handraise.store.interface import Store, StoreFenced
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from handraise.store.postgres.store import PostgresStore
from store.examples import NOON, a_text, an_ask, answered, cursors_of, later
from store.test_contract_of_machines import a_machine
from store.waiting import SECONDS, until

Opening = Callable[[str], Store]


@pytest.fixture(params=["memory", "postgres"])
def opening(request: pytest.FixtureRequest) -> Opening:
    """Stores of the given machines over one database."""
    if request.param == "memory":
        database = MemoryDatabase()
        return lambda machine: MemoryStore(machine, database)
    url = request.getfixturevalue("database")
    return lambda machine: PostgresStore(url, machine)


async def test_every_store_hears_of_every_commit_in_order(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        items: list[Item] = []
        asks: list[Ask] = []
        two.listen(items.extend)
        two.listen_to_asks(asks.extend)

        await one.apply([a_text("first"), OpenAsk(an_ask())])
        await two.apply([a_text("second"), SettleAsk("a_1", answered())])
        await one.apply([a_text("third")])

        await until(lambda: len(items) == 5)
        assert cursors_of(items) == [1, 2, 3, 4, 5]
        assert [ask.state for ask in asks] == ["open", "answered"]


async def test_a_store_whose_machine_was_taken_over_writes_nothing(opening: Opening) -> None:
    async with opening("m_1") as old, opening("m_1") as new, opening("m_2") as other:
        await old.claim(a_machine("m_1", "laptop"))
        await other.claim(a_machine("m_2", "server"))
        await new.claim(a_machine("m_1", "laptop"))

        with pytest.raises(StoreFenced):
            await old.apply([a_text("mine")])
        with pytest.raises(StoreFenced):
            await old.beat(NOON)
        await old.release(NOON)
        await new.apply([a_text("mine")])
        await other.apply([a_text("other")])

        assert [each.away_since for each in await new.machines()] == [None, None]


async def test_two_machines_never_have_the_same_name(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        await one.claim(a_machine("m_1", "laptop"))
        assert (await two.claim(a_machine("m_2", "laptop"))).name == "laptop-2"


async def test_a_change_of_rules_is_heard_elsewhere(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        heard: list[str] = []
        one.listen_to_rules(lambda: heard.append("one"))
        two.listen_to_rules(lambda: heard.append("two"))

        await one.apply([SaveRule(Rule("r_1", "allow", tool="Read"))])
        await one.apply([a_text("no rule")])
        await two.apply([a_text("nor here")])

        await until(lambda: heard)
        assert heard == ["two"]


async def test_a_preview_reaches_only_those_who_want_it(opening: Opening) -> None:
    long = Preview("s_1", "m_1", 0, "text", "schön — 日本語 \x00 " * 2_000)
    async with opening("m_1") as one, opening("m_2") as two:
        shown: list[Preview] = []
        two.listen_to_previews(shown.append)
        two.want_previews({"s_1", "s_2"})

        async with asyncio.timeout(SECONDS):
            while not shown:  # the wish may still be on its way
                one.preview(Preview("s_3", "m_3", 0, "text", "nobody wants this"))
                one.preview(long)
                await asyncio.sleep(0.05)

        assert {each.session for each in shown} == {"s_1"}
        assert shown[0] == long


async def test_a_machine_that_is_silent_is_away_until_it_speaks_again(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        await one.claim(a_machine("m_1", "laptop"))
        await two.claim(a_machine("m_2", "server"))
        silent = replace((await one.machines())[0], seen_at=later(-3600))
        await two.apply([SaveMachine(silent, NOON)])

        await two.beat(later(1))
        assert [each.away_since for each in await two.machines()] == [silent.seen_at, None]
        await two.beat(later(2))
        await one.beat(later(3))

        changes = [item.read() for item in (await one.items())[3:]]
        assert [each.machine["away_since"] is None for each in changes if isinstance(each, MachineChanged)] == [
            False,
            True,
        ]
        assert [each.away_since for each in await two.machines()] == [None, None]
