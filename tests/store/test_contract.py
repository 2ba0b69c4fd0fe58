"""What every kind of store must do. One suite, run against each."""

import asyncio
from collections.abc import Sequence

import pytest
from msgspec import json
from msgspec.structs import replace

from handraise.model.answers import Allow
from handraise.model.asks import Expired, Permission, Settlement, ask_as_json, settlement_as_json
from handraise.model.items import AskDelivered, AskOpened, AskSettled, Item, Said, SaidTaken, Text
from handraise.model.rules import Rule
from handraise.model.says import Say
from handraise.store.changes import (
    Advance,
    Change,
    DeliverAsk,
    OpenAsk,
    Prune,
    Publish,
    QueueSay,
    RecordLate,
    RemoveRule,
    SaveProject,
    SaveRule,
    SaveSession,
    SettleAsk,
    TakeSay,
)
from handraise.store.interface import Store, StoreClosed, StoreConflict, StoreError
from store.examples import (
    NOON,
    a_place,
    a_project,
    a_say,
    a_session,
    a_text,
    an_ask,
    answered,
    denied,
    expired,
    later,
    withdrawn,
)


def cursors_of(items: Sequence[Item]) -> list[int]:
    return [item.cursor for item in items]


def texts_of(items: Sequence[Item]) -> list[str]:
    return [content.text for content in (item.read() for item in items) if isinstance(content, Text)]


# All or nothing


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
                Advance(a_place(10)),
                SaveProject(a_project("p_2", "app", "/elsewhere")),
            ]
        )

    assert await store.session("s_1") is None
    assert await store.items() == []
    assert await store.asks() == []
    assert await store.says("s_1") == []
    assert await store.rules() == []
    assert await store.place("s_1") is None
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
    unknown = Publish("s_1", NOON, object())  # type: ignore[arg-type]

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


# Asks


async def test_an_ask_is_published_whole_when_it_opens(store: Store) -> None:
    applied = await store.apply([OpenAsk(an_ask())])

    (item,) = applied.items
    assert (item.session, item.at) == ("s_1", NOON)
    assert item.read() == AskOpened(json.decode(json.encode(ask_as_json(an_ask()))))


async def test_an_ask_that_a_rule_settled_is_opened_and_settled_at_once(store: Store) -> None:
    ask = replace(an_ask(), settlement=answered())

    applied = await store.apply([OpenAsk(ask)])

    assert [type(item.read()) for item in applied.items] == [AskOpened, AskSettled]
    assert await store.ask("a_1") == ask
    assert await store.open_asks() == {}


async def test_the_same_ask_opened_twice_is_opened_once(store: Store) -> None:  # lesson 32
    await store.apply([OpenAsk(an_ask("a_1", reference="r"))])

    again = await store.apply([OpenAsk(an_ask("a_2", reference="r")), OpenAsk(an_ask("a_1", reference="other"))])

    assert (again.took, again.items) == ((False, False), ())
    assert await store.asks() == [an_ask("a_1", reference="r")]


async def test_two_askers_may_use_the_same_reference(store: Store) -> None:  # lesson 8
    asks = [
        an_ask("a_1", session="s_1", reference="r"),
        an_ask("a_2", session="s_2", reference="r"),
        an_ask("a_3", session=None, agent="s_1", reference="r"),
        an_ask("a_4", session=None, agent="cursor", reference="r"),
        an_ask("a_5", session=None, reference="r"),
    ]

    applied = await store.apply([OpenAsk(ask) for ask in asks])

    assert applied.took == (True,) * 5
    assert (await store.apply([OpenAsk(an_ask("a_6", session=None, reference="r"))])).took == (False,)
    assert await store.asks() == asks


async def test_the_first_answer_wins(store: Store) -> None:  # lesson 5
    await store.apply([OpenAsk(an_ask())])

    first = await store.apply([SettleAsk("a_1", answered())])
    second = await store.apply([SettleAsk("a_1", denied()), SettleAsk("a_1", expired())])

    assert (first.took, second.took, second.items) == ((True,), (False, False), ())
    kept = await store.ask("a_1")
    assert kept is not None
    assert kept.settlement == answered()


async def test_of_a_thousand_answers_at_once_exactly_one_wins(store: Store) -> None:  # lesson 5
    await store.apply([OpenAsk(an_ask())])
    settlements = [answered(source=f"web {number}") if number % 2 else denied() for number in range(1000)]

    outcomes = await asyncio.gather(*(store.apply([SettleAsk("a_1", each)]) for each in settlements))

    (winner,) = [each for each, outcome in zip(settlements, outcomes, strict=True) if outcome.took == (True,)]
    kept = await store.ask("a_1")
    assert kept is not None
    assert kept.settlement == winner
    assert len(await store.items()) == 2


async def test_settling_an_unknown_ask_does_nothing(store: Store) -> None:
    applied = await store.apply(
        [SettleAsk("a_0", answered()), RecordLate("a_0", answered()), DeliverAsk("a_0", NOON), TakeSay("y_0", NOON)]
    )

    assert (applied.took, applied.items) == ((False,) * 4, ())


async def test_a_late_answer_is_recorded_once(store: Store) -> None:
    await store.apply([OpenAsk(an_ask()), SettleAsk("a_1", expired())])

    first = await store.apply([RecordLate("a_1", answered())])
    second = await store.apply([RecordLate("a_1", denied())])

    assert (first.took, second.took) == ((True,), (False,))
    kept = await store.ask("a_1")
    assert kept is not None
    assert kept.settlement == Expired(expired().at, answered())
    (item,) = first.items
    told = item.read()
    assert isinstance(told, AskSettled)
    assert told.settlement == json.decode(json.encode(settlement_as_json(Expired(expired().at, answered()))))


@pytest.mark.parametrize("settlement", [None, answered(), withdrawn()])
async def test_only_an_expired_ask_has_a_late_answer(store: Store, settlement: Settlement | None) -> None:
    await store.apply([OpenAsk(replace(an_ask(), settlement=settlement))])

    assert (await store.apply([RecordLate("a_1", denied())])).took == (False,)


async def test_an_ask_is_delivered_once(store: Store) -> None:
    await store.apply([OpenAsk(an_ask()), SettleAsk("a_1", answered())])

    first = await store.apply([DeliverAsk("a_1", later(5))])
    second = await store.apply([DeliverAsk("a_1", later(9))])

    assert (first.took, second.took) == ((True,), (False,))
    assert [item.read() for item in first.items] == [AskDelivered("a_1")]
    kept = await store.ask("a_1")
    assert kept is not None
    assert kept.delivered_at == later(5)


@pytest.mark.parametrize("settlement", [None, withdrawn()])
async def test_what_nobody_answered_is_not_delivered(store: Store, settlement: Settlement | None) -> None:
    await store.apply([OpenAsk(replace(an_ask(), settlement=settlement))])

    assert (await store.apply([DeliverAsk("a_1", NOON)])).took == (False,)


async def test_asks_are_found_by_what_they_are_and_oldest_first(store: Store) -> None:
    asks = {
        "open": an_ask("a_4", session="s_1"),
        "answered": replace(an_ask("a_3", session="s_1"), settlement=answered()),
        "delivered": replace(an_ask("a_2", session="s_1"), settlement=answered(), delivered_at=NOON),
        "expired": replace(an_ask("a_1", session="s_2"), settlement=expired()),
        "withdrawn": replace(an_ask("a_0", session="s_2"), settlement=withdrawn()),
        "outside": an_ask("a_9", session=None, agent="cursor"),
    }
    await store.apply([OpenAsk(ask) for ask in asks.values()])

    assert await store.asks() == list(asks.values())
    assert await store.asks(limit=2) == [asks["open"], asks["answered"]]
    assert await store.asks(state="open") == [asks["open"], asks["outside"]]
    assert await store.asks(state="open", session="s_1") == [asks["open"]]
    assert await store.asks(session="s_2") == [asks["expired"], asks["withdrawn"]]
    assert await store.asks(kind="plan") == []
    assert await store.asks(kind="permission", limit=1) == [asks["open"]]
    assert await store.asks(undelivered=True) == [asks["answered"], asks["expired"]]
    assert await store.asks(undelivered=True, session="s_2") == [asks["expired"]]
    assert await store.asks(undelivered=True, state="answered") == [asks["answered"]]


async def test_open_asks_are_counted_by_session(store: Store) -> None:  # lesson 34
    await store.apply([OpenAsk(an_ask(f"a_{number}", session=f"s_{number % 2}")) for number in range(5)])
    await store.apply([OpenAsk(an_ask("a_9", session=None)), SettleAsk("a_0", answered())])

    assert await store.open_asks() == {"s_0": 2, "s_1": 2}


# Says


async def test_a_say_waits_until_it_is_taken_once(store: Store) -> None:  # lesson 56
    first = await store.apply([QueueSay(a_say("y_1")), QueueSay(a_say("y_2", text="and then"))])
    again = await store.apply([QueueSay(a_say("y_1", text="changed"))])
    taken = await store.apply([TakeSay("y_1", later(1)), TakeSay("y_1", later(2))])

    assert (first.took, again.took, taken.took) == ((True, True), (False,), (True, False))
    assert isinstance(first.items[0].read(), Said)
    assert [item.read() for item in taken.items] == [SaidTaken("y_1")]
    assert await store.says("s_1") == [a_say("y_2", text="and then")]
    assert await store.says("s_1", waiting=False) == [
        replace(a_say("y_1"), taken_at=later(1)),
        a_say("y_2", text="and then"),
    ]
    assert await store.says("s_2") == []


async def test_the_feed_tells_the_text_of_a_say_and_counts_its_images(store: Store) -> None:
    blocks = (
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "…"}},
        {"type": "text", "text": "here"},
    )
    say = Say("y_1", "s_1", blocks, a_say().by, "web", NOON)

    applied = await store.apply([QueueSay(say)])

    assert [item.read() for item in applied.items] == [Said("y_1", "look\nhere", 1, say.by, "web")]
    assert await store.says("s_1") == [say]


# The feed


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
    asyncio.get_running_loop().set_exception_handler(lambda _, told: failures.append(told["exception"]))
    heard: list[Item] = []

    def fail(items: Sequence[Item]) -> None:
        raise LookupError

    store.listen(fail)
    store.listen(heard.extend)

    applied = await store.apply([a_text()])

    assert heard == list(applied.items)
    assert [type(failure) for failure in failures] == [LookupError]


# Sessions, places, rules and projects


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
    await store.apply([Advance(a_place(10))])
    await store.apply([Advance(a_place(10)), Advance(a_place(25))])
    assert await store.place("s_1") == a_place(25)

    await store.apply([Advance(a_place(0, run=2))])

    assert await store.place("s_1") == a_place(0, run=2)
    assert await store.place("s_2") is None


async def test_what_the_journal_said_is_never_taken_in_twice(store: Store) -> None:
    await store.apply([a_text("once"), Advance(a_place(10, run=2))])

    for stale in (a_place(5, run=2), a_place(99, run=1)):
        with pytest.raises(StoreConflict):
            await store.apply([a_text("once"), Advance(stale)])

    assert texts_of(await store.items()) == ["once"]
    assert await store.place("s_1") == a_place(10, run=2)


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

    for taken in (a_project("p_2", "shop", "/work/site"), a_project("p_2", "site", "/work/app")):
        with pytest.raises(StoreConflict):
            await store.apply([SaveProject(taken)])

    assert [project.name for project in await store.projects()] == ["shop", "site"]


# Text from elsewhere


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
    kept = await store.ask("a_1")
    assert kept is not None
    assert kept.body == Permission("Bash", {"command": "echo \ufffd", "\ufffd": ["😀"]})
    assert kept.settlement == answered(Allow(input={"command": "\ufffd"}))
    assert kept.digest.startswith("sha256:")
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
