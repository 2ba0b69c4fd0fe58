"""What every store must do with tokens: a code works once, a revocation stays."""

import asyncio

import pytest
from msgspec.structs import replace

from handraise.model.tokens import Token, hash_of
from handraise.store.changes import PruneTokens, SaveToken, SpendCode
from handraise.store.interface import Store, StoreConflict
from store.examples import NOON, a_code, a_token, later


async def test_a_token_is_found_by_the_hash_of_its_secret(store: Store) -> None:
    await store.apply([SaveToken(a_token("t_1", secret="mine")), SaveToken(a_token("t_2", secret="yours"))])

    assert await store.token(hash_of("mine")) == a_token("t_1", secret="mine")
    assert await store.token("mine") is None
    assert await store.token(hash_of("theirs")) is None


async def test_tokens_are_listed_oldest_first_with_those_that_are_good_no_more(store: Store) -> None:
    young, old = a_token("t_1", created_at=later(1)), replace(a_token("t_2"), revoked_at=NOON)
    await store.apply([SaveToken(young), SaveToken(old)])
    used = replace(young, last_used_at=later(60), name="phone", role="agent", project="p_1")

    await store.apply([SaveToken(used)])

    assert await store.tokens() == [old, used]
    assert await store.token(old.hash) == old


async def test_a_revocation_stays_whatever_is_saved_after_it(store: Store) -> None:
    await store.apply([SaveToken(a_token())])
    await store.apply([SaveToken(replace(a_token(), revoked_at=later(1)))])

    await store.apply([SaveToken(replace(a_token(), last_used_at=later(2)))])
    await store.apply([SaveToken(replace(a_token(), last_used_at=later(2), revoked_at=later(3)))])

    assert await store.tokens() == [replace(a_token(), last_used_at=later(2), revoked_at=later(1))]


async def test_no_two_tokens_have_the_same_secret(store: Store) -> None:
    await store.apply([SaveToken(a_token("t_1", secret="mine"))])

    with pytest.raises(StoreConflict):
        await store.apply([SaveToken(a_token("t_2", secret="mine"))])

    assert await store.tokens() == [a_token("t_1", secret="mine")]


async def test_of_a_hundred_browsers_that_use_one_code_exactly_one_gets_in(store: Store) -> None:
    await store.apply([SaveToken(a_code(expires_at=later(600)))])

    spent = await asyncio.gather(*(store.apply([SpendCode("t_1", later(number))]) for number in range(100)))

    assert [outcome.took for outcome in spent].count((True,)) == 1
    (code,) = await store.tokens()
    assert code.revoked_at is not None


async def test_a_code_works_until_the_moment_it_expires(store: Store) -> None:
    await store.apply([SaveToken(a_code(expires_at=later(600)))])

    assert (await store.apply([SpendCode("t_1", later(600))])).took == (False,)
    assert (await store.apply([SpendCode("t_1", later(599.999999))])).took == (True,)
    assert await store.tokens() == [replace(a_code(expires_at=later(600)), revoked_at=later(599.999999))]


@pytest.mark.parametrize(
    "token",
    [a_token(), replace(a_token(), kind="browser"), replace(a_code(), revoked_at=NOON), a_code("t_other")],
    ids=["a token", "a browser", "a spent code", "another code"],
)
async def test_nothing_but_a_good_code_can_be_spent(store: Store, token: Token) -> None:
    await store.apply([SaveToken(token)])

    assert (await store.apply([SpendCode("t_1", later(1))])).took == (False,)
    assert await store.tokens() == [token]


async def test_what_has_not_been_good_for_long_is_forgotten_and_codes_before_the_rest(store: Store) -> None:
    await store.apply(
        [
            SaveToken(a_token("t_good")),
            SaveToken(replace(a_token("t_ends"), expires_at=later(500))),
            SaveToken(replace(a_token("t_expired"), expires_at=later(99))),
            SaveToken(replace(a_token("t_revoked"), expires_at=later(900), revoked_at=later(99))),
            SaveToken(replace(a_token("t_just_revoked"), revoked_at=later(100))),
            SaveToken(replace(a_token("t_browser"), kind="browser", expires_at=later(99))),
            SaveToken(a_code("t_code", expires_at=later(199))),
            SaveToken(replace(a_code("t_spent", expires_at=later(500)), revoked_at=later(150))),
            SaveToken(a_code("t_fresh", expires_at=later(500))),
        ]
    )

    pruned = await store.apply([PruneTokens(codes=later(200), others=later(100))])

    assert pruned.took == (True,)
    assert [token.id for token in await store.tokens()] == ["t_good", "t_ends", "t_just_revoked", "t_fresh"]
    assert (await store.apply([PruneTokens(codes=later(200), others=later(100))])).took == (False,)
