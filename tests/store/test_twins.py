"""All stores give the same results for any changes, so the in-memory one can stand in for the others."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handraise.model.asks import KINDS, STATES
from handraise.model.rules import Rule
from handraise.model.tokens import hash_of
from handraise.model.trust import Trust
from handraise.store.changes import (
    Advance,
    Applied,
    Change,
    DeliverAsk,
    HoldAsk,
    OpenAsk,
    Prune,
    PruneTokens,
    QueueSay,
    Record,
    RecordLate,
    RemoveRecord,
    RemoveRule,
    ReturnSay,
    RevokeTrust,
    SaveProject,
    SaveRecord,
    SaveRule,
    SaveSession,
    SaveToken,
    SettleAsk,
    SpendCode,
    TakeSay,
)
from handraise.store.interface import Store, StoreError
from handraise.store.memory.store import MemoryStore
from handraise.store.postgres.store import PostgresStore
from handraise.store.sqlite.store import SqliteStore
from postgres.cluster import Cluster, fast_folder
from store.empty import copy_empty
from store.examples import (
    NOON,
    a_checkpoint,
    a_code,
    a_project,
    a_say,
    a_session,
    a_text,
    a_token,
    an_ask,
    an_entry,
    answered,
    denied,
    expired,
    later,
    trusted,
    withdrawn,
)
from thorough import a_quarter, at_least

session_ids = st.sampled_from(["s_1", "s_2"])
ask_ids = st.sampled_from(["a_1", "a_2", "a_3"])
trust_ids = st.sampled_from(["a_8", "a_9"])
say_ids = st.sampled_from(["y_1", "y_2"])
words = st.sampled_from(["one", "two", "three"])

changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(
        lambda key, value, only_if: SaveRecord("k", key, value, only_if),
        words,
        st.sampled_from([b"1", b"2"]),
        st.sampled_from([None, b"1", b"2"]),
    ),
    st.builds(lambda key: RemoveRecord("k", key), words),
    st.builds(
        lambda key, phase: SaveSession(a_session(key, phase=phase)), session_ids, st.sampled_from(["idle", "ended"])
    ),
    st.builds(
        lambda offset, run, key: Advance(a_checkpoint(offset, run=run, session=key)),
        st.integers(0, 3),
        st.integers(1, 2),
        session_ids,
    ),
    st.builds(a_text, words, st.none() | session_ids),
    st.builds(
        lambda key, session, reference, agent: OpenAsk(an_ask(key, session=session, reference=reference, agent=agent)),
        ask_ids,
        st.none() | session_ids,
        words,
        st.none() | words,
    ),
    st.builds(lambda key, word: OpenAsk(an_ask(key, body=Trust(word, (), {}))), trust_ids, words),
    st.builds(SettleAsk, trust_ids, st.sampled_from([trusted("exactly"), trusted("never"), expired()])),
    st.builds(RecordLate, trust_ids, st.just(trusted("without"))),
    st.builds(RevokeTrust, words),
    st.builds(SettleAsk, ask_ids, st.sampled_from([answered(), denied(), expired(), withdrawn()])),
    st.builds(RecordLate, ask_ids, st.sampled_from([answered(), denied()])),
    st.builds(HoldAsk, ask_ids, words, st.just(NOON)),
    st.builds(DeliverAsk, ask_ids, st.just(NOON)),
    st.builds(lambda key, session: QueueSay(a_say(key, session=session)), say_ids, session_ids),
    st.builds(TakeSay, say_ids, st.just(NOON)),
    st.builds(ReturnSay, say_ids, st.just(NOON)),
    st.builds(lambda key, decision: SaveRule(Rule(key, decision)), words, st.sampled_from(["allow", "deny"])),
    st.builds(RemoveRule, words),
    st.builds(lambda key, name, path: SaveProject(a_project(key, name, path)), words, words, words),
    st.builds(lambda key, secret: SaveToken(a_token(key, secret=secret)), words, words),
    st.builds(lambda key: SaveToken(a_code(key, expires_at=later(5))), words),
    st.builds(lambda key, seconds: SpendCode(key, later(seconds)), words, st.sampled_from([4, 5, 6])),
    st.builds(lambda codes, others: PruneTokens(later(codes), later(others)), st.integers(3, 7), st.integers(3, 7)),
    st.builds(lambda session, ask: Record(an_entry(session=session, ask=ask)), st.none() | session_ids, ask_ids),
    st.builds(Prune, st.integers(0, 30)),
)


@settings(max_examples=at_least(60), deadline=None)
@given(st.lists(st.lists(changes, max_size=6), max_size=8))
def test_both_kinds_of_store_tell_the_same(batches: list[list[Change]]) -> None:
    with TemporaryDirectory(dir=fast_folder()) as folder:
        asyncio.run(compare(batches, SqliteStore(copy_empty(Path(folder)))))


@settings(max_examples=a_quarter(), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(changes, max_size=6), max_size=8))
def test_postgresql_tells_the_same(batches: list[list[Change]], cluster: Cluster, database: str) -> None:
    cluster.clear(database.rpartition("/")[2])
    asyncio.run(compare(batches, PostgresStore(database), every=4))


async def compare(batches: list[list[Change]], other: Store, every: int = 1) -> None:
    async with MemoryStore() as memory, other:
        for at, batch in enumerate(batches, 1):
            assert await outcome(memory, batch) == await outcome(other, batch)
            if at % every == 0 or at == len(batches):
                assert await everything(memory) == await everything(other)


async def outcome(store: Store, batch: list[Change]) -> Applied | type[StoreError]:
    try:
        return await store.apply(batch)
    except StoreError as error:
        return type(error)


async def everything(store: Store) -> list[object]:
    return [
        await store.sessions(),
        await store.sessions(["idle"]),
        [await store.checkpoint(session) for session in ("s_1", "s_2")],
        [await store.asks(state=state) for state in (None, *STATES)],
        [await store.asks(kind=kind) for kind in KINDS],
        await store.asks(undelivered=True),
        await store.asks(session="s_1"),
        [
            await store.asks(state=state, session=session, after=after, newest_first=newest_first, limit=2)
            for state in (None, "open", "answered")
            for session in (None, "s_1")
            for after in (None, "a_1", "a_2")
            for newest_first in (False, True)
        ],
        await store.last_lines(),
        await store.last_lines("s_1"),
        await store.open_asks(),
        [await store.says(session, waiting=waiting) for session in ("s_1", "s_2") for waiting in (True, False)],
        await store.items(),
        await store.items(after=3, session="s_1"),
        await store.cursors(),
        await store.rules(),
        await store.trusts(),
        [await store.trust(word) for word in ("one", "two", "three")],
        await store.projects(),
        [await store.project(word) for word in ("one", "two", "three")],
        await store.tokens(),
        await store.records("k"),
        [await store.token(hash_of(word)) for word in ("one", "two", "three")],
        await store.audit(),
        await store.audit(after=2, session="s_1", what="answered", limit=3),
        await store.audit(ask="a_1"),
        await store.audit(by="ana", what="late answer"),
        [
            await store.audit(before=3, newest_first=True),
            await store.audit(session="s_1", newest_first=True, limit=2),
            await store.audit(since=later(1), until=later(3)),
            await store.audit(what="answered", since=later(2), newest_first=True),
        ],
    ]
