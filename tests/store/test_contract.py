"""What every store must do with any batch: all of it or nothing."""

import asyncio

import pytest
from msgspec.structs import replace

from handraise.model.answers import Allow
from handraise.model.asks import Permission
from handraise.model.rules import Rule
from handraise.store.changes import (
    Advance,
    Change,
    OpenAsk,
    PublishItems,
    QueueSay,
    RemoveRule,
    SaveProject,
    SaveRule,
    SaveSession,
    SettleAsk,
)
from handraise.store.interface import Store, StoreClosed, StoreConflict
from store.examples import (
    NOON,
    a_checkpoint,
    a_project,
    a_say,
    a_session,
    a_text,
    an_ask,
    answered,
    cursors_of,
    later,
    texts_of,
)


async def test_a_batch_is_there_when_apply_returns(store: Store) -> None:
    applied = await store.apply([SaveSession(a_session()), a_text("one"), a_text("two"), OpenAsk(an_ask())])

    assert applied.took == (True, True, True, True)
    assert cursors_of(applied.items) == [1, 2, 3]
    assert await store.session("s_1") == a_session()
    assert await store.ask("a_1") == an_ask()
    assert await store.items() == list(applied.items)


async def test_a_change_that_fails_takes_its_whole_batch_with_it(store: Store) -> None:
    await store.apply([SaveProject(a_project("p_1", "app"))])

    with pytest.raises(StoreConflict):
        await store.apply(
            [
                SaveSession(a_session()),
                a_text(),
                OpenAsk(an_ask()),
                QueueSay(a_say()),
                SaveRule(Rule("r_1", "allow")),
                Advance(a_checkpoint(10)),
                SaveProject(a_project("p_2", "app", "/elsewhere")),
            ]
        )

    assert await store.session("s_1") is None
    assert await store.items() == []
    assert await store.asks() == []
    assert await store.says("s_1") == []
    assert await store.rules() == []
    assert await store.checkpoint("s_1") is None
    assert await store.projects() == [a_project("p_1", "app")]


async def test_a_failed_batch_leaves_no_gap_in_the_cursors(store: Store) -> None:
    await store.apply([SaveProject(a_project("p_1", "app"))])
    with pytest.raises(StoreConflict):
        await store.apply([a_text(), SaveProject(a_project("p_2", "app", "/elsewhere"))])

    assert cursors_of((await store.apply([a_text()])).items) == [1]


async def test_a_batch_that_fails_among_others_fails_alone(store: Store) -> None:
    await store.apply([SaveProject(a_project("p_1", "app"))])
    batches: list[list[Change]] = [[a_text(str(number))] for number in range(20)]
    failing: list[Change] = [a_text("never"), SaveProject(a_project("p_2", "app", "/elsewhere"))]

    outcomes = await asyncio.gather(
        *(store.apply(batch) for batch in [*batches[:10], failing, *batches[10:]]), return_exceptions=True
    )

    assert [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Exception)] == [10]
    assert texts_of(await store.items()) == [str(number) for number in range(20)]
    assert cursors_of(await store.items()) == list(range(1, 21))


async def test_an_empty_batch_is_nothing(store: Store) -> None:
    applied = await store.apply([])

    assert (applied.took, applied.items) == ((), ())


async def test_a_mistake_of_ours_is_told_to_its_caller_and_to_no_other(store: Store) -> None:
    unknown = PublishItems("s_1", NOON, object())  # type: ignore[arg-type]

    one, other = await asyncio.gather(store.apply([unknown]), store.apply([a_text()]), return_exceptions=True)

    assert isinstance(one, TypeError)
    assert not isinstance(other, BaseException)


async def test_a_caller_that_is_cancelled_harms_nobody(store: Store) -> None:
    given_up = asyncio.create_task(store.apply([a_text("given up")]))
    waiting = asyncio.create_task(store.apply([a_text("waited for")]))
    await asyncio.sleep(0)
    given_up.cancel()

    assert texts_of((await waiting).items) == ["waited for"]
    assert given_up.cancelled() or given_up.done()
    assert texts_of((await store.apply([a_text("next")])).items) == ["next"]


async def test_a_closed_store_says_so(store: Store) -> None:
    await store.__aexit__(None, None, None)

    with pytest.raises(StoreClosed):
        await store.apply([a_text()])
    with pytest.raises(StoreClosed):
        await store.items()
    await store.__aenter__()


async def test_a_session_is_replaced_and_listed_newest_first(store: Store) -> None:
    old, young = a_session("s_1"), a_session("s_2", created_at=later(1), phase="working")
    await store.apply([SaveSession(young), SaveSession(old)])
    changed = replace(old, title="Fix that", phase="ended", cost_usd=1.25)

    await store.apply([SaveSession(changed)])

    assert await store.session("s_1") == changed
    assert await store.session("s_3") is None
    assert await store.sessions() == [young, changed]
    assert await store.sessions(["working", "idle"]) == [young]
    assert await store.sessions([]) == []


async def test_a_place_moves_forward_and_to_the_next_run(store: Store) -> None:
    await store.apply([Advance(a_checkpoint(10))])
    await store.apply([Advance(a_checkpoint(10)), Advance(a_checkpoint(25))])
    assert await store.checkpoint("s_1") == a_checkpoint(25)

    await store.apply([Advance(a_checkpoint(0, run=2))])

    assert await store.checkpoint("s_1") == a_checkpoint(0, run=2)
    assert await store.checkpoint("s_2") is None


async def test_what_the_journal_said_is_never_taken_in_twice(store: Store) -> None:
    await store.apply([a_text("once"), Advance(a_checkpoint(10, run=2))])

    for stale in (a_checkpoint(5, run=2), a_checkpoint(99, run=1)):
        with pytest.raises(StoreConflict):
            await store.apply([a_text("once"), Advance(stale)])

    assert texts_of(await store.items()) == ["once"]
    assert await store.checkpoint("s_1") == a_checkpoint(10, run=2)


async def test_rules_stay_in_their_order_when_they_are_changed(store: Store) -> None:
    await store.apply([SaveRule(Rule(f"r_{number}", "ask", made_at=NOON)) for number in range(3)])

    await store.apply([SaveRule(Rule("r_0", "deny", tool="Bash", message="never"))])
    removed = await store.apply([RemoveRule("r_1"), RemoveRule("r_1"), SaveRule(Rule("r_1", "allow"))])

    assert removed.took == (True, False, True)
    assert await store.rules() == [
        Rule("r_0", "deny", tool="Bash", message="never"),
        Rule("r_2", "ask", made_at=NOON),
        Rule("r_1", "allow"),
    ]


async def test_a_project_is_found_by_id_name_or_path(store: Store) -> None:
    app, site = a_project("p_1", "app", "/work/app"), a_project("p_2", "p_1", "/work/site")
    await store.apply([SaveProject(site), SaveProject(app)])

    assert await store.project("p_1") == app
    assert await store.project("app") == app
    assert await store.project("/work/site") == site
    assert await store.project("other") is None
    assert await store.projects() == [app, site]


async def test_a_project_can_be_renamed_but_not_to_what_another_is_called(store: Store) -> None:
    await store.apply([SaveProject(a_project("p_1", "app")), SaveProject(a_project("p_2", "site", "/work/site"))])
    await store.apply([SaveProject(a_project("p_1", "shop"))])

    for receipt in (a_project("p_2", "shop", "/work/site"), a_project("p_2", "site", "/work/app")):
        with pytest.raises(StoreConflict):
            await store.apply([SaveProject(receipt)])

    assert [project.name for project in await store.projects()] == ["shop", "site"]


async def test_half_an_emoji_is_shown_as_lost_and_breaks_nothing(store: Store) -> None:  # lesson 16
    halved = an_ask(body=Permission("Bash", {"command": "echo \ud83d", "\udc00": ["\ud83d\ude00"]}))

    applied = await store.apply(
        [
            SaveSession(replace(a_session(), title="\ud83d!")),
            OpenAsk(halved),
            a_text("a\ud83db"),
            QueueSay(a_say(text="\ude00")),
            SettleAsk("a_1", answered(Allow(input={"command": "\ud83d"}))),
        ]
    )

    assert applied.took == (True,) * 5
    record = await store.ask("a_1")
    assert record is not None
    assert record.body == Permission("Bash", {"command": "echo \ufffd", "\ufffd": ["😀"]})
    assert record.settlement == answered(Allow(input={"command": "\ufffd"}))
    assert record.digest.startswith("sha256:")
    assert texts_of(await store.items()) == ["a\ufffdb"]
    assert [say.content for say in await store.says("s_1")] == ["\ufffd"]
    session = await store.session("s_1")
    assert session is not None
    assert session.title == "\ufffd!"


async def test_nul_and_newlines_are_kept_to_the_letter(store: Store) -> None:  # lesson 16
    text = "a\x00b\r\n\u2028\u202e/\ufeff"

    await store.apply([a_text(text), QueueSay(a_say(text=text)), SaveSession(replace(a_session(), title=text))])

    assert texts_of(await store.items()) == [text]
    assert [say.content for say in await store.says("s_1")] == [text]
    session = await store.session("s_1")
    assert session is not None
    assert session.title == text
