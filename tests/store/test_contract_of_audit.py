"""What every store must do with the audit log: settlements record themselves, and only exported entries go."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from handraise.model.actors import ByRule, Person, TheHub
from handraise.model.answers import Allow
from handraise.model.asks import Answered
from handraise.model.audit import Entry
from handraise.store.changes import OpenAsk, Prune, PruneAudit, Record, RecordLate, SaveProject, SaveSession, SettleAsk
from handraise.store.interface import Store, StoreConflict
from store.examples import (
    ANA,
    NOON,
    a_project,
    a_session,
    an_ask,
    an_entry,
    answered,
    denied,
    expired,
    later,
    withdrawn,
)

BASH = {"kind": "permission", "tool": "Bash"}
ALLOWED = {"allow": True, "for": "once", "suggestions": []}


async def test_an_answer_is_recorded_with_who_gave_it_and_what_they_were_shown(store: Store) -> None:
    await store.apply([OpenAsk(an_ask())])
    assert await store.audit() == []

    await store.apply([SettleAsk("a_1", answered(source="telegram"))])

    assert await store.audit() == [
        Entry(
            later(1),
            "answered",
            ANA,
            "telegram",
            ask="a_1",
            session="s_1",
            digest=an_ask().digest,
            detail={**BASH, "answer": ALLOWED},
            number=1,
        )
    ]


async def test_an_answer_by_a_rule_names_the_rule(store: Store) -> None:
    by = ByRule("r_1", "Rule r_1 allows `ls`.")

    await store.apply([OpenAsk(replace(an_ask(), settlement=Answered(Allow(), by, "rule", later(1))))])

    (entry,) = await store.audit()
    assert (entry.what, entry.by, entry.rule, entry.source) == ("answered", by, "r_1", "rule")
    assert entry.digest == an_ask().digest


async def test_what_nobody_answered_is_recorded_as_done_by_the_hub(store: Store) -> None:
    await store.apply([OpenAsk(an_ask("a_1")), OpenAsk(an_ask("a_2"))])

    await store.apply([SettleAsk("a_1", expired()), SettleAsk("a_2", withdrawn())])

    one, other = await store.audit()
    assert (one.what, one.at, one.by, one.ask, one.detail) == ("expired", expired().at, TheHub(), "a_1", BASH)
    assert (other.what, other.by, other.ask) == ("withdrawn", TheHub(), "a_2")
    assert other.detail == {**BASH, "reason": "the session was stopped"}


async def test_a_late_answer_is_recorded_beside_the_expiry(store: Store) -> None:
    await store.apply([OpenAsk(an_ask()), SettleAsk("a_1", expired())])

    await store.apply([RecordLate("a_1", denied()), RecordLate("a_1", answered())])

    assert [(entry.what, entry.by) for entry in await store.audit()] == [
        ("expired", TheHub()),
        ("late answer", Person("ben")),
    ]
    assert (await store.audit(what="late answer"))[0].detail["answer"]["message"] == "no"


async def test_only_the_settlement_that_took_effect_is_recorded(store: Store) -> None:
    await store.apply([OpenAsk(an_ask()), OpenAsk(replace(an_ask("a_1"), settlement=answered()))])

    await asyncio.gather(*(store.apply([SettleAsk("a_1", denied())]) for _ in range(100)))

    assert [entry.what for entry in await store.audit()] == ["answered"]


async def test_a_batch_that_fails_leaves_nothing_in_the_audit(store: Store) -> None:
    await store.apply([OpenAsk(an_ask()), SaveProject(a_project("p_1", "app"))])

    with pytest.raises(StoreConflict):
        await store.apply(
            [SettleAsk("a_1", answered()), Record(an_entry()), SaveProject(a_project("p_2", "app", "/elsewhere"))]
        )

    assert await store.audit() == []
    await store.apply([Record(an_entry())])
    assert await store.audit() == [replace(an_entry(), number=1)]


async def test_the_audit_outlives_the_asks_it_speaks_of(store: Store) -> None:
    await store.apply([SaveSession(a_session(phase="ended")), OpenAsk(an_ask()), SettleAsk("a_1", answered())])

    await store.apply([Prune(1000)])

    assert await store.asks() == []
    assert [entry.ask for entry in await store.audit()] == ["a_1"]


async def test_entries_are_found_by_what_they_are_about_in_order_and_in_pages(store: Store) -> None:
    entries = [
        an_entry("login"),
        an_entry("session started", session="s_1"),
        an_entry("refused", by=Person("ben"), session="s_1", ask="a_1"),
        an_entry("refused", session="s_2", ask="a_2"),
        an_entry("login", by=Person("ben")),
    ]
    await store.apply([Record(entry) for entry in entries])
    one, two, three, four, five = [replace(entry, number=number) for number, entry in enumerate(entries, 1)]

    assert await store.audit() == [one, two, three, four, five]
    assert await store.audit(limit=2) == [one, two]
    assert await store.audit(after=3) == [four, five]
    assert await store.audit(session="s_1") == [two, three]
    assert await store.audit(session="s_1", by="ben") == [three]
    assert await store.audit(session="s_1", what="login") == []
    assert await store.audit(ask="a_2") == [four]
    assert await store.audit(ask="a_2", session="s_1") == []
    assert await store.audit(by="ben", limit=1) == [three]
    assert await store.audit(by="ben", what="login") == [five]
    assert await store.audit(what="refused", after=3) == [four]


async def test_entries_are_read_backwards_and_by_time(store: Store) -> None:
    entries = [
        replace(an_entry("login", by=Person("ana" if number % 2 else "ben")), at=later(number)) for number in range(6)
    ]
    await store.apply([Record(replace(entry, session="s_1", ask="a_1")) for entry in entries])

    async def numbers(**wanted: Any) -> list[int]:
        return [entry.number for entry in await store.audit(**wanted)]

    assert await numbers(newest_first=True) == [6, 5, 4, 3, 2, 1]
    assert await numbers(newest_first=True, limit=2) == [6, 5]
    assert await numbers(newest_first=True, limit=2, before=5) == [4, 3]
    assert await numbers(newest_first=True, after=4) == [6, 5]
    assert await numbers(before=3) == [1, 2]
    assert await numbers(since=later(4)) == [5, 6]
    assert await numbers(until=later(2)) == [1, 2]
    assert await numbers(since=later(1), until=later(4), newest_first=True) == [4, 3, 2]
    for about in (
        {"by": "ana"},
        {"by": "ana", "what": "login"},
        {"by": "ana", "session": "s_1"},
        {"by": "ana", "ask": "a_1"},
    ):
        assert await numbers(**about, newest_first=True, before=6, since=later(1)) == [4, 2]
    assert await numbers(what="login", newest_first=True, limit=1) == [6]


async def test_what_an_entry_tells_is_kept_as_json_would_keep_it(store: Store) -> None:
    entry = replace(an_entry(), detail={"at": NOON, "tools": ("Bash", "half \ud83d")})

    await store.apply([Record(entry)])

    (record,) = await store.audit()
    assert record.detail == {"at": "2026-03-01T12:00:00.123456Z", "tools": ["Bash", "half \ufffd"]}


async def test_old_entries_go_and_the_newest_stays_so_that_no_number_is_given_twice(store: Store) -> None:
    for _ in range(3):
        await store.apply([Record(an_entry())])

    assert (await store.apply([PruneAudit(2)])).took == (True,)
    assert [entry.number for entry in await store.audit()] == [3]
    assert (await store.apply([PruneAudit(2)])).took == (False,)

    assert (await store.apply([PruneAudit(9)])).took == (False,)
    await store.apply([Record(an_entry())])
    assert [entry.number for entry in await store.audit()] == [3, 4]
    await store.apply([PruneAudit(4), Record(an_entry())])
    assert [entry.number for entry in await store.audit()] == [4, 5]
