"""Who is looking, as pages and terminals report it."""

from datetime import UTC, datetime, timedelta

from handraise.hub.shared import StoreRecords
from handraise.reach.model import EVERYTHING
from handraise.reach.presence import LASTS, Presence
from handraise.store.memory.store import MemoryDatabase, MemoryStore


class Watch:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 2, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


async def test_a_person_looks_at_what_any_of_their_pages_shows() -> None:
    presence = Presence(Watch())
    await presence.report("one", "ana", ["s_1"])
    await presence.report("two", "ana", [EVERYTHING])
    await presence.report("one", "ben", ["s_2"])
    assert presence.looking() == {"ana": {"s_1", EVERYTHING}, "ben": {"s_2"}}
    await presence.report("two", "ana", [])
    assert presence.looking() == {"ana": {"s_1"}, "ben": {"s_2"}}


async def test_who_reports_nothing_for_a_minute_is_away() -> None:
    clock = Watch()
    presence = Presence(clock)
    await presence.report("one", "ana", ["s_1"])
    assert presence.next_end() == clock.now + LASTS
    clock.now += LASTS
    assert presence.looking() == {}
    assert presence.next_end() is None


async def test_a_terminal_counts_while_it_is_attached() -> None:
    clock = Watch()
    presence = Presence(clock)
    heard: list[dict[str, frozenset[str]]] = []
    presence.listeners.append(lambda: heard.append(presence.looking()))
    with presence.attached("ana", "s_1"), presence.attached("ana", "s_1"):
        clock.now += timedelta(days=1)
        assert presence.looking() == {"ana": {"s_1"}}
    assert presence.looking() == {}
    assert heard[-1] == {}


async def test_listeners_hear_of_changes_and_not_of_repetitions() -> None:
    presence = Presence(Watch())
    heard: list[int] = []
    presence.listeners.append(lambda: heard.append(1))
    for _ in range(3):
        await presence.report("one", "ana", ["s_1"])
    await presence.report("one", "ana", [])
    assert len(heard) == 2


async def test_hubs_hear_from_each_other_who_is_looking() -> None:
    clock, database = Watch(), MemoryDatabase()
    async with MemoryStore("m_1", database) as one, MemoryStore("m_2", database) as two:
        here, there = Presence(clock, StoreRecords(one)), Presence(clock, StoreRecords(two))
        await here.report("one", "ana", ["s_1"])
        with there.attached("ben", "s_2"):
            await there.refresh()
            assert there.looking() == {"ana": {"s_1"}, "ben": {"s_2"}}
            await here.refresh()
            assert here.looking() == {"ana": {"s_1"}, "ben": {"s_2"}}
        await here.report("one", "ana", [])
        await there.refresh()
        assert there.looking() == {}
        await here.refresh()
        assert here.looking() == {}
