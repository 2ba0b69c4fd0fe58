"""Everything stored comes back unchanged: the rows of the file and the changes of the contract."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.model.asks import KINDS, Answered, Ask, Expired
from handraise.model.audit import Entry
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Say, Session
from handraise.model.tokens import Token
from handraise.store.changes import (
    Advance,
    OpenAsk,
    QueueSay,
    Record,
    RecordLate,
    SaveProject,
    SaveRule,
    SaveSession,
    SaveToken,
    SettleAsk,
)
from handraise.store.interface import Store
from handraise.store.memory.store import MemoryStore
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from postgres.cluster import Cluster, fast_folder
from store import values
from store.empty import copy_empty
from thorough import a_quarter, at_least

Story = Callable[[Store], Coroutine[None, None, None]]


def tell_to_each_store(story: Story) -> None:
    """Hypothesis drives plain functions, so each example has a loop and its stores for itself."""

    async def tell(folder: str) -> None:
        async with MemoryStore() as store:
            await story(store)
        async with SqliteStore(copy_empty(Path(folder))) as other:
            await story(other)

    with TemporaryDirectory(dir=fast_folder()) as folder:
        asyncio.run(tell(folder))


@settings(max_examples=a_quarter(), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_everything_comes_back_from_postgresql_as_it_was(data: st.DataObject, cluster: Cluster, database: str) -> None:
    """All in one example, because a connection costs more than a row."""
    drawn = [data.draw(st.lists(values.asks(kind), max_size=2)) for kind in KINDS]
    asks = [replace(ask, id=f"a_{at}") for at, ask in enumerate(each for several in drawn for each in several)]
    asks = [replace(ask, origin=replace(ask.origin, reference=f"r{ask.id}")) for ask in asks]
    session, checkpoint, say = data.draw(values.sessions), data.draw(values.checkpoints), data.draw(values.says)
    rule, project, token = data.draw(values.rules), data.draw(values.projects), data.draw(values.tokens)
    entries = data.draw(st.lists(values.entries, max_size=3))

    async def story() -> None:
        async with PostgresStore(database) as store:
            await store.apply([SaveSession(session), Advance(checkpoint), QueueSay(say), SaveRule(rule)])
            await store.apply([SaveProject(project), SaveToken(token), *[Record(entry) for entry in entries]])
            assert await store.audit() == [replace(entry, number=number) for number, entry in enumerate(entries, 1)]
            assert (await store.apply([OpenAsk(ask) for ask in asks])).took == (True,) * len(asks)
            assert await store.asks() == asks
            assert await store.session(session.id) == session
            assert await store.checkpoint(checkpoint.session) == checkpoint
            assert await store.says(say.session, waiting=False) == [say]
            assert await store.rules() == [rule]
            assert await store.projects() == [project]
            assert await store.token(token.hash) == token

    cluster.clear(database.rpartition("/")[2])
    asyncio.run(story())


@settings(max_examples=at_least(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_an_ask_of_every_kind_and_end_comes_back_as_it_was(data: st.DataObject) -> None:
    """All kinds in one example, because stores cost more than asks."""
    asks = apart([ask for kind in KINDS for ask in data.draw(st.lists(values.asks(kind), max_size=3), kind)])

    async def story(store: Store) -> None:
        assert (await store.apply([OpenAsk(ask) for ask in asks])).took == (True,) * len(asks)
        assert await store.asks() == asks
        assert [await store.ask(ask.id) for ask in asks] == asks

    tell_to_each_store(story)


@settings(max_examples=at_least(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_settlement_comes_back_as_it_was_and_so_does_a_late_answer(data: st.DataObject) -> None:
    asks = apart([replace(data.draw(values.asks(kind), kind), settlement=None) for kind in KINDS])
    ends = {ask.id: [data.draw(values.settlements(ask.kind), ask.id) for _ in range(2)] for ask in asks}

    async def story(store: Store) -> None:
        for ask in asks:
            settlement, late = ends[ask.id]
            await store.apply([OpenAsk(ask), SettleAsk(ask.id, settlement)])
            assert await store.ask(ask.id) == replace(ask, settlement=settlement)
            if isinstance(settlement, Expired) and settlement.late is None and isinstance(late, Answered):
                await store.apply([RecordLate(ask.id, late)])
                assert await store.ask(ask.id) == replace(ask, settlement=Expired(settlement.at, late))

    tell_to_each_store(story)


def apart(asks: list[Ask]) -> list[Ask]:
    """Without those whose ID or reference is another's."""
    known: set[str] = set()
    found = []
    for ask in asks:
        if not known & {f"id {ask.id}", f"reference {ask.origin.reference}"}:
            known |= {f"id {ask.id}", f"reference {ask.origin.reference}"}
            found.append(ask)
    return found


@settings(max_examples=at_least(25), deadline=None)
@given(
    session=values.sessions,
    checkpoint=values.checkpoints,
    say=values.says,
    rule=values.rules,
    project=values.projects,
)
def test_every_other_noun_comes_back_as_it_was(
    session: Session, checkpoint: Checkpoint, say: Say, rule: Rule, project: Project
) -> None:
    async def story(store: Store) -> None:
        await store.apply(
            [SaveSession(session), Advance(checkpoint), QueueSay(say), SaveRule(rule), SaveProject(project)]
        )
        assert await store.session(session.id) == session
        assert await store.checkpoint(checkpoint.session) == checkpoint
        assert await store.says(say.session, waiting=False) == [say]
        assert await store.rules() == [rule]
        assert await store.projects() == [project]

    tell_to_each_store(story)


@settings(max_examples=at_least(25), deadline=None)
@given(token=values.tokens, entries=st.lists(values.entries, max_size=3))
def test_a_token_and_the_audit_come_back_as_they_were(token: Token, entries: list[Entry]) -> None:
    async def story(store: Store) -> None:
        await store.apply([SaveToken(token), *[Record(entry) for entry in entries]])
        assert await store.token(token.hash) == token
        assert await store.audit() == [replace(entry, number=number) for number, entry in enumerate(entries, 1)]

    tell_to_each_store(story)
