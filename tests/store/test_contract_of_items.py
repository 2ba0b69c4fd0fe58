"""What every store must do with items: one order, no cursor twice."""

import asyncio
from collections.abc import Sequence

import pytest

from handraise.model.items import ActionEnded, ActionStarted, Item, Text
from handraise.store.changes import (
    DeliverAsk,
    OpenAsk,
    Prune,
    PublishItems,
    QueueSay,
    SaveProject,
    SaveSession,
    SettleAsk,
    TakeSay,
)
from handraise.store.interface import Store, StoreError
from store.examples import (
    NOON,
    a_project,
    a_say,
    a_session,
    a_text,
    an_ask,
    answered,
    cursors_of,
    texts_of,
    withdrawn,
)


async def test_cursors_rise_across_all_sessions(store: Store) -> None:
    await store.apply([a_text("one", "s_1"), a_text("two", "s_2"), a_text("three", None)])
    await store.apply([a_text("four", "s_1")])

    assert cursors_of(await store.items()) == [1, 2, 3, 4]
    assert texts_of(await store.items(session="s_1")) == ["one", "four"]
    assert await store.cursors() == (0, 4)


async def test_items_come_in_pages_from_either_end(store: Store) -> None:
    await store.apply([a_text(str(number), f"s_{number % 2}") for number in range(1, 11)])

    assert cursors_of(await store.items(after=0, limit=3)) == [1, 2, 3]
    assert cursors_of(await store.items(after=8, limit=3)) == [9, 10]
    assert cursors_of(await store.items(after=10)) == []
    assert cursors_of(await store.items(before=5, limit=3)) == [2, 3, 4]
    assert cursors_of(await store.items(before=1)) == []
    assert cursors_of(await store.items(limit=2)) == [9, 10]
    assert cursors_of(await store.items(after=2, before=9, limit=4)) == [3, 4, 5, 6]
    assert cursors_of(await store.items(after=2, session="s_0", limit=2)) == [4, 6]
    assert cursors_of(await store.items(before=9, session="s_0", limit=2)) == [6, 8]


async def test_a_cursor_is_never_given_twice_even_when_everything_was_pruned(store: Store) -> None:
    await store.apply([a_text() for _ in range(5)])

    assert (await store.apply([Prune(5)])).took == (True,)

    assert await store.cursors() == (5, 5)
    assert await store.items(after=0) == []
    assert cursors_of((await store.apply([a_text()])).items) == [6]


async def test_pruning_goes_no_further_than_the_feed_and_never_back(store: Store) -> None:
    await store.apply([a_text() for _ in range(5)])

    assert (await store.apply([Prune(3)])).took == (True,)
    assert (await store.apply([Prune(2)])).took == (False,)
    assert await store.cursors() == (3, 5)
    assert (await store.apply([Prune(1000)])).took == (True,)
    assert await store.cursors() == (5, 5)


async def test_pruning_forgets_what_only_the_pruned_items_mention(store: Store) -> None:
    await store.apply([SaveSession(a_session("s_1", phase="ended"))])
    await store.apply([OpenAsk(an_ask("a_1")), OpenAsk(an_ask("a_2")), QueueSay(a_say("y_1")), QueueSay(a_say("y_2"))])
    await store.apply([SettleAsk("a_1", answered()), TakeSay("y_1", NOON)])
    _, settled = await store.cursors()
    await store.apply([SettleAsk("a_2", answered()), TakeSay("y_2", NOON)])

    await store.apply([Prune(settled)])

    assert [ask.id for ask in await store.asks()] == ["a_2"]
    assert [say.id for say in await store.says("s_1", waiting=False)] == ["y_2"]


async def test_pruning_keeps_what_somebody_waits_for(store: Store) -> None:
    await store.apply([SaveSession(a_session("s_1", phase="working")), QueueSay(a_say("y_1"))])
    await store.apply([OpenAsk(an_ask("a_1")), OpenAsk(an_ask("a_2")), OpenAsk(an_ask("a_3")), OpenAsk(an_ask("a_4"))])
    await store.apply([SettleAsk("a_2", answered()), SettleAsk("a_3", answered()), DeliverAsk("a_3", NOON)])
    await store.apply([SettleAsk("a_4", withdrawn())])

    await store.apply([Prune(1000)])

    assert [ask.id for ask in await store.asks()] == ["a_1", "a_2"]
    assert [say.id for say in await store.says("s_1")] == ["y_1"]


async def test_listeners_hear_every_item_in_order_before_its_apply_returns(store: Store) -> None:  # lesson 46
    heard: list[int] = []
    store.listen(lambda items: heard.extend(cursors_of(items)))

    async def produce(producer: int) -> None:
        for number in range(20):
            applied = await store.apply([a_text(f"{producer}.{number}.{part}", f"s_{producer}") for part in range(2)])
            assert {*cursors_of(applied.items)} <= {*heard}

    await asyncio.gather(*(produce(producer) for producer in range(64)))

    assert heard == list(range(1, 64 * 20 * 2 + 1))
    assert cursors_of(await store.items(after=0, limit=5000)) == heard
    mine = texts_of(await store.items(after=0, session="s_7", limit=100))
    assert mine == [f"7.{number}.{part}" for number in range(20) for part in range(2)]


async def test_listeners_are_not_called_for_what_was_not_kept(store: Store) -> None:
    heard: list[Item] = []
    store.listen(heard.extend)
    await store.apply([SaveProject(a_project("p_1", "app"))])

    with pytest.raises(StoreError):
        await store.apply([a_text(), SaveProject(a_project("p_2", "app", "/elsewhere"))])

    assert heard == []


async def test_a_listener_that_fails_holds_nobody_up(store: Store) -> None:  # lesson 29
    failures: list[BaseException] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, text: failures.append(text["exception"]))
    heard: list[Item] = []

    def fail(items: Sequence[Item]) -> None:
        raise LookupError

    store.listen(fail)
    store.listen(heard.extend)

    applied = await store.apply([a_text()])

    assert heard == list(applied.items)
    assert [type(failure) for failure in failures] == [LookupError]


async def test_the_last_line_of_a_session_is_what_claude_itself_said_or_did_last(store: Store) -> None:
    assert await store.last_lines() == {}
    await store.apply([a_text("one", "s_1"), a_text("two", "s_1"), a_text("other", "s_2"), a_text("nobody's", None)])
    assert await store.last_lines() == {"s_1": "two", "s_2": "other"}

    action = ActionStarted("t_1", "command", "npm test", "Bash", {"command": "npm test"})
    ended = ActionEnded("t_1", "command", "npm test", True, "all is well")
    await store.apply([PublishItems("s_1", NOON, action), PublishItems("s_1", NOON, ended)])
    await store.apply([PublishItems("s_1", NOON, Text("a sub-agent's", "m_1", parent="t_2")), QueueSay(a_say())])
    assert await store.last_lines("s_1") == {"s_1": "npm test"}

    await store.apply(
        [a_text("\n  \n  First of all.  \nMore.", "s_1"), a_text(" \n ", "s_1"), a_text("x" * 500, "s_2")]
    )
    assert await store.last_lines() == {"s_1": "First of all.", "s_2": "x" * 160}
    await store.apply([Prune(1000)])
    assert await store.last_lines("s_1") == {"s_1": "First of all."}
    assert await store.last_lines("s_none") == {}


async def test_a_batch_that_fails_leaves_no_line(store: Store) -> None:
    await store.apply([SaveProject(a_project("p_1", "app")), a_text("before")])

    with pytest.raises(StoreError):
        await store.apply([a_text("after"), SaveProject(a_project("p_2", "app", "/elsewhere"))])

    assert await store.last_lines() == {"s_1": "before"}
