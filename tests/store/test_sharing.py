"""What stores of several machines over one database promise."""

from collections.abc import Callable

import pytest

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.model.rules import Rule
from handraise.store.changes import OpenAsk, SaveRecord, SaveRule, SettleAsk
from handraise.store.interface import Store, StoreFenced
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from store.examples import NOON, a_text, an_ask, answered, cursors_of
from store.test_contract_of_machines import a_machine

Opening = Callable[[str], Store]


@pytest.fixture
def opening() -> Opening:
    """Stores of the given machines over one database."""
    database = MemoryDatabase()
    return lambda machine: MemoryStore(machine, database)


async def test_every_store_hears_of_every_commit_in_order(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        items: list[Item] = []
        asks: list[Ask] = []
        two.listen(items.extend)
        two.listen_to_asks(asks.extend)

        await one.apply([a_text("first"), OpenAsk(an_ask())])
        await two.apply([a_text("second"), SettleAsk("a_1", answered())])
        await one.apply([a_text("third")])

        assert cursors_of(items) == list(range(1, len(items) + 1))
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

        assert heard == ["two"]


async def test_a_lease_has_one_holder_at_a_time() -> None:
    now = [0.0]
    database = MemoryDatabase(lambda: now[0])
    async with MemoryStore("m_1", database) as one, MemoryStore("m_2", database) as two:
        assert await one.lease("push", 10)
        assert not await two.lease("push", 10)
        assert await two.lease("telegram", 10)
        now[0] = 9
        assert await one.lease("push", 10)
        now[0] = 18
        assert not await two.lease("push", 10)
        now[0] = 19
        assert await two.lease("push", 10)
        assert not await one.lease("push", 10)


async def test_a_lease_that_was_ended_is_free_at_once(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        assert await one.lease("push", 10)
        await two.end_lease("push")
        assert not await two.lease("push", 10)
        await one.end_lease("push")
        assert await two.lease("push", 10)


async def test_a_store_whose_machine_was_taken_over_gets_no_lease(opening: Opening) -> None:
    async with opening("m_1") as old, opening("m_1") as new:
        await old.claim(a_machine("m_1", "laptop"))
        assert await old.lease("push", 10)
        await new.claim(a_machine("m_1", "laptop"))

        with pytest.raises(StoreFenced):
            await old.lease("push", 10)


async def test_records_and_tokens_are_the_same_in_every_store(opening: Opening) -> None:
    async with opening("m_1") as one, opening("m_2") as two:
        assert one.shared
        await one.apply([SaveRecord("push", "key", b"k", None)])
        assert (await two.apply([SaveRecord("push", "key", b"other", None)])).took == (False,)
        assert await two.record("push", "key") == b"k"


async def test_a_store_alone_is_not_shared() -> None:
    assert not MemoryStore("m_1").shared
