"""Authentication: what it records about refused callers, and what it deletes."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from handraise.auth import CODES_KEPT, TOKENS_KEPT, Auth, Principal
from handraise.model.actors import Person
from handraise.model.audit import Entry
from handraise.store.interface import Store
from handraise.store.memory.store import MemoryStore

ANA = Person("ana")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ANSWER, STOP = "POST /api/asks/{id}/answer", "POST /api/sessions/{id}/stop"


class AuthClock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with MemoryStore() as record:
        yield record


@pytest.fixture
def clock() -> AuthClock:
    return AuthClock()


@pytest.fixture
def auth(store: Store, clock: AuthClock) -> Auth:
    numbers = iter(range(1000))
    return Auth(store, clock, lambda size: next(numbers).to_bytes(size))


def tool(process: int) -> Principal:
    return Principal(Person(f"process {process}, a tool of Claude"), "agent")


async def refusals(store: Store) -> list[Entry]:
    return await store.audit(what="refused", limit=10_000)


async def test_a_tool_that_tries_again_and_again_is_told_of_once_and_then_by_a_number(
    store: Store, clock: AuthClock, auth: Auth
) -> None:
    for process in range(1000):
        await auth.refused(ANSWER, tool(process), "terminal", ask=f"a_{process}")
        clock.at += timedelta(milliseconds=50)

    (first,) = await refusals(store)
    assert (first.by, first.ask, first.detail) == (tool(0).person, "a_0", {"tried": ANSWER})
    clock.at = NOON + timedelta(minutes=1)
    await auth.tidy()
    _, more = await refusals(store)
    assert (more.ask, more.detail) == ("a_999", {"tried": ANSWER, "times": 999})


async def test_a_month_of_trying_fills_no_disk_and_every_try_is_counted(
    store: Store, clock: AuthClock, auth: Auth
) -> None:
    tries = 0
    async with auth:
        while clock.at < NOON + timedelta(days=30):
            await auth.refused(ANSWER, tool(tries), "terminal")
            tries += 1
            await auth.tidy()
            clock.at += timedelta(minutes=1)

    text = await refusals(store)
    assert len(text) < 30 * 24 + 10
    assert sum(entry.detail.get("times", 1) for entry in text) == tries


async def test_who_tries_something_else_and_who_else_tries_it_are_told_of_at_once(
    store: Store, clock: AuthClock, auth: Auth
) -> None:
    for name in ("one", "two"):
        made = await auth.make(name, "agent", ANA, "test")
        principal = await auth.admit(made.secret)
        assert principal is not None
        for _ in range(3):
            await auth.refused(ANSWER, principal, "api")
            await auth.refused(STOP, principal, "api")

    assert [(entry.by.name, entry.detail["tried"]) for entry in await refusals(store)] == [
        ("one", ANSWER),
        ("one", STOP),
        ("two", ANSWER),
        ("two", STOP),
    ]


async def test_what_was_counted_is_told_when_the_hub_stops(store: Store, auth: Auth) -> None:
    async with auth:
        for process in range(5):
            await auth.refused(ANSWER, tool(process), "terminal")

    assert [entry.detail.get("times") for entry in await refusals(store)] == [None, 4]


async def test_codes_are_forgotten_after_a_day_and_tokens_long_after_they_were_good(
    store: Store, clock: AuthClock, auth: Auth
) -> None:
    async with auth:
        spent = await auth.make_code("owner", "admin", ANA, "test")
        browser = await auth.login(spent)
        await auth.make_code("owner", "admin", ANA, "test")
        revoked = (await auth.make("phone", "viewer", ANA, "test")).token
        await auth.make("CI", "viewer", ANA, "test", expires_at=NOON + timedelta(hours=1))
        await auth.make("laptop", "viewer", ANA, "test")
        await auth.revoke(revoked.id, ANA, "test")
        assert browser is not None

        clock.at = NOON + CODES_KEPT + timedelta(hours=1)
        await auth.tidy()

        assert [token.kind for token in await store.tokens()] == ["browser", "token", "token", "token"]
        assert [token.name for token in await auth.tokens(gone=True)] == ["phone", "CI"]
        assert [token.name for token in await auth.tokens()] == ["owner", "laptop"]

        clock.at = NOON + TOKENS_KEPT + timedelta(hours=2)
        await auth.tidy()

        assert [token.name for token in await store.tokens()] == ["owner", "laptop"]
    assert "phone" in [entry.detail.get("name") for entry in await store.audit(what="token revoked")]
