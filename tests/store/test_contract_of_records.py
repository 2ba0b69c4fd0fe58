"""What every store must do with small values: the first one in wins, and leases have one holder."""

import asyncio

from handraise.store.changes import RemoveRecord, SaveRecord, SaveToken
from handraise.store.interface import Store
from store.examples import a_token, later


async def test_a_record_is_found_by_kind_and_key(store: Store) -> None:
    await store.apply([SaveRecord("key", "one", b"\0\xff", None), SaveRecord("key", "two", b"", None)])
    await store.apply([SaveRecord("other", "one", b"x", None)])

    assert await store.record("key", "one") == b"\0\xff"
    assert await store.record("key", "three") is None
    assert await store.records("key") == {"one": b"\0\xff", "two": b""}
    assert await store.records("none") == {}


async def test_a_record_is_saved_only_over_what_was_seen(store: Store) -> None:
    saved = await store.apply([SaveRecord("k", "1", b"a", None), SaveRecord("k", "1", b"b", None)])
    assert saved.took == (True, False)

    assert (await store.apply([SaveRecord("k", "1", b"c", b"b")])).took == (False,)
    assert (await store.apply([SaveRecord("k", "1", b"c", b"a")])).took == (True,)
    assert (await store.apply([SaveRecord("k", "2", b"c", b"a")])).took == (False,)
    assert await store.records("k") == {"1": b"c"}


async def test_of_a_hundred_that_save_a_record_first_exactly_one_does(store: Store) -> None:
    saved = await asyncio.gather(
        *(store.apply([SaveRecord("push", "key", str(number).encode(), None)]) for number in range(100))
    )

    winner = [outcome.took for outcome in saved].index((True,))
    assert [outcome.took for outcome in saved].count((True,)) == 1
    assert await store.record("push", "key") == str(winner).encode()


async def test_a_removed_record_is_gone_once(store: Store) -> None:
    await store.apply([SaveRecord("k", "1", b"a", None)])

    assert (await store.apply([RemoveRecord("k", "1"), RemoveRecord("k", "1")])).took == (True, False)
    assert await store.record("k", "1") is None
    assert (await store.apply([SaveRecord("k", "1", b"b", b"a")])).took == (False,)


async def test_a_record_publishes_nothing_and_hides_its_value(store: Store) -> None:
    saved = await store.apply([SaveRecord("push", "key", b"secret", None)])

    assert saved.items == ()
    assert "secret" not in repr(SaveRecord("push", "key", b"secret", b"secret"))


async def test_a_lease_is_renewed_by_whoever_has_it(store: Store) -> None:
    assert await store.lease("push", 10)
    assert await store.lease("push", 10)
    await store.end_lease("push")
    await store.end_lease("never taken")
    assert await store.lease("push", 10)


async def test_tokens_are_found_by_their_ids(store: Store) -> None:
    tokens = [a_token(f"t_{number}", secret=str(number), created_at=later(-number)) for number in range(4)]
    await store.apply([SaveToken(token) for token in tokens])

    assert await store.tokens(["t_1", "t_3", "t_none"]) == [tokens[3], tokens[1]]
    assert await store.tokens([]) == []
