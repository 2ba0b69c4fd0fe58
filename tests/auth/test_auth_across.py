"""Tokens over a shared database: what one hub revokes ends at the others."""

import asyncio
import os
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from handraise.auth import Auth, Principal
from handraise.model.actors import Person
from handraise.model.tokens import Token
from handraise.store.interface import StoreAway
from handraise.store.memory.store import MemoryDatabase, MemoryStore

ANA = Person("ana")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DEADLINE = 10.0


class CountingStore(MemoryStore):
    """A real store that notes which tokens are looked up, and can be cut off from its database."""

    def __init__(self, machine: str, database: MemoryDatabase | None = None) -> None:
        super().__init__(machine, database)
        self.looked_up: list[list[str]] = []
        self.away = False

    async def tokens(self, ids: Collection[str] | None = None) -> list[Token]:
        if self.away:
            raise StoreAway("The database can't be reached.")
        if ids is not None:
            self.looked_up.append(sorted(ids))
        return await super().tokens(ids)


def auth_over(store: MemoryStore) -> Auth:
    return Auth(store, lambda: NOON, os.urandom, check_every=0.01)


async def stay(principal: Principal) -> str:
    """An open request of this caller."""
    assert principal.left is not None
    try:
        async with asyncio.timeout(DEADLINE) as open_request:
            with principal.left.ending(open_request):
                await asyncio.Event().wait()
    except TimeoutError:
        return "ended"
    return "never"


async def entered(auth: Auth, secret: str) -> tuple[Principal, asyncio.Task[str]]:
    principal = await auth.admit(secret)
    assert principal is not None
    request = asyncio.create_task(stay(principal))
    await asyncio.sleep(0)
    return principal, request


async def test_a_token_revoked_at_one_hub_ends_its_open_requests_at_the_other() -> None:
    database = MemoryDatabase()
    async with (
        MemoryStore("m_1", database) as first,
        CountingStore("m_2", database) as second,
        auth_over(first) as here,
        auth_over(second) as there,
    ):
        made = await here.make("phone", "viewer", ANA, "test")
        other = await here.make("laptop", "viewer", ANA, "test")
        principal, request = await entered(there, made.secret)
        _, stays = await entered(there, other.secret)

        await here.revoke(made.token.id, ANA, "test")

        assert await request == "ended"
        assert principal.left is not None
        assert principal.left.is_set()
        assert await there.admit(made.secret) is None
        assert not stays.done()
        stays.cancel()


async def test_a_token_that_has_expired_ends_too_whatever_its_request_was_promised() -> None:
    database = MemoryDatabase()
    now = [NOON]
    async with (
        MemoryStore("m_1", database) as store,
        Auth(store, lambda: now[0], os.urandom, check_every=0.01) as auth,
    ):
        made = await auth.make("phone", "viewer", ANA, "test", expires_at=NOON + timedelta(hours=1))
        _, request = await entered(auth, made.secret)

        now[0] += timedelta(hours=2)

        assert await request == "ended"


async def test_only_tokens_with_open_requests_are_looked_up_and_none_at_rest() -> None:
    database = MemoryDatabase()
    async with CountingStore("m_1", database) as store, auth_over(store) as auth:
        made = await auth.make("phone", "viewer", ANA, "test")
        await auth.make("laptop", "viewer", ANA, "test")
        _, request = await entered(auth, made.secret)
        async with asyncio.timeout(DEADLINE):
            while len(store.looked_up) < 3:
                await asyncio.sleep(0.01)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)

        await auth.check()
        before = len(store.looked_up)
        await auth.check()

        assert store.looked_up == [[made.token.id]] * before


async def test_an_open_request_waits_for_a_database_that_is_away_and_ends_when_it_is_back() -> None:
    database = MemoryDatabase()
    async with (
        MemoryStore("m_1", database) as first,
        CountingStore("m_2", database) as second,
        auth_over(first) as here,
        auth_over(second) as there,
    ):
        made = await here.make("phone", "viewer", ANA, "test")
        _, request = await entered(there, made.secret)
        second.away = True
        await here.revoke(made.token.id, ANA, "test")
        second.away = False

        assert await request == "ended"


async def test_a_hub_alone_looks_nothing_up() -> None:
    async with CountingStore("m_1") as store, auth_over(store) as auth:
        made = await auth.make("phone", "viewer", ANA, "test")
        _, request = await entered(auth, made.secret)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)

        assert store.looked_up == []
