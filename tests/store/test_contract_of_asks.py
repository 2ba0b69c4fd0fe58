"""What every store must do with asks and messages: the first wins, once."""

import asyncio
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from handraise.model.asks import Ask, Expired, Settlement, ask_as_json, settlement_as_json
from handraise.model.items import AskDelivered, AskOpened, AskSettled, Said, SaidTaken
from handraise.model.sessions import Say
from handraise.store.changes import (
    DeliverAsk,
    OpenAsk,
    QueueSay,
    RecordLate,
    ReturnSay,
    SettleAsk,
    TakeSay,
)
from handraise.store.interface import Store
from store.examples import (
    NOON,
    a_say,
    an_ask,
    answered,
    denied,
    expired,
    later,
    withdrawn,
)


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
    record = await store.ask("a_1")
    assert record is not None
    assert record.settlement == answered()


async def test_of_a_thousand_answers_at_once_exactly_one_wins(store: Store) -> None:  # lesson 5
    await store.apply([OpenAsk(an_ask())])
    settlements = [answered(source=f"web {number}") if number % 2 else denied() for number in range(1000)]

    outcomes = await asyncio.gather(*(store.apply([SettleAsk("a_1", each)]) for each in settlements))

    (winner,) = [each for each, outcome in zip(settlements, outcomes, strict=True) if outcome.took == (True,)]
    record = await store.ask("a_1")
    assert record is not None
    assert record.settlement == winner
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
    record = await store.ask("a_1")
    assert record is not None
    assert record.settlement == Expired(expired().at, answered())
    (item,) = first.items
    contents = item.read()
    assert isinstance(contents, AskSettled)
    assert contents.settlement == json.decode(json.encode(settlement_as_json(Expired(expired().at, answered()))))


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
    record = await store.ask("a_1")
    assert record is not None
    assert record.delivered_at == later(5)


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


async def test_a_say_waits_until_it_is_taken_once(store: Store) -> None:  # lesson 56
    first = await store.apply([QueueSay(a_say("y_1")), QueueSay(a_say("y_2", text="and then"))])
    again = await store.apply([QueueSay(a_say("y_1", text="changed"))])
    receipt = await store.apply([TakeSay("y_1", later(1)), TakeSay("y_1", later(2))])

    assert (first.took, again.took, receipt.took) == ((True, True), (False,), (True, False))
    assert isinstance(first.items[0].read(), Said)
    assert [item.read() for item in receipt.items] == [SaidTaken("y_1")]
    assert await store.says("s_1") == [a_say("y_2", text="and then")]
    assert await store.says("s_1", waiting=False) == [
        replace(a_say("y_1"), taken_at=later(1)),
        a_say("y_2", text="and then"),
    ]
    assert await store.says("s_2") == []


async def test_a_say_that_is_returned_waits_again_in_its_place_and_is_told_again(store: Store) -> None:
    await store.apply([QueueSay(a_say("y_1")), QueueSay(a_say("y_2")), TakeSay("y_1", later(1))])

    returned = await store.apply([ReturnSay("y_1", later(2)), ReturnSay("y_1", later(3)), ReturnSay("y_9", later(3))])
    receipt = await store.apply([TakeSay("y_1", later(4))])

    assert (returned.took, receipt.took) == ((True, False, False), (True,))
    assert [(item.session, item.at, item.read()) for item in returned.items] == [
        ("s_1", later(2), Said("y_1", "go on", 0, a_say().by, "web"))
    ]
    assert [item.read() for item in receipt.items] == [SaidTaken("y_1")]
    await store.apply([ReturnSay("y_1", later(5))])
    assert [say.id for say in await store.says("s_1")] == ["y_1", "y_2"]


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


async def test_asks_come_in_pages_from_either_end(store: Store) -> None:
    await store.apply([OpenAsk(an_ask(f"a_{number}", session=f"s_{number % 2}")) for number in range(1, 7)])
    await store.apply([SettleAsk("a_3", answered()), SettleAsk("a_6", answered())])

    async def ids(**wanted: Any) -> list[str]:
        return [ask.id for ask in await store.asks(**wanted)]

    assert await ids(limit=2) == ["a_1", "a_2"]
    assert await ids(limit=2, after="a_2") == ["a_3", "a_4"]
    assert await ids(after="a_6") == []
    assert await ids(newest_first=True, limit=2) == ["a_6", "a_5"]
    assert await ids(newest_first=True, limit=2, after="a_5") == ["a_4", "a_3"]
    assert await ids(newest_first=True, after="a_1") == []
    assert await ids(state="open", newest_first=True, after="a_5") == ["a_4", "a_2", "a_1"]
    assert await ids(state="open", after="a_3") == ["a_4", "a_5"]
    assert await ids(session="s_1", newest_first=True) == ["a_5", "a_3", "a_1"]
    assert await ids(session="s_1", state="open", after="a_1") == ["a_5"]
    assert await ids(after="a_none") == await ids(after="a_none", newest_first=True) == []


async def test_ask_listeners_hear_what_was_opened_and_settled_before_its_apply_returns(store: Store) -> None:
    heard: list[Ask] = []
    store.listen_to_asks(heard.extend)
    by_rule = replace(an_ask("a_2", reference="2"), settlement=answered())

    opened = await store.apply([OpenAsk(an_ask()), OpenAsk(by_rule)])
    assert heard == list(opened.asks) == [an_ask(), by_rule]
    await store.apply([SettleAsk("a_1", expired())])
    await store.apply([RecordLate("a_1", answered())])

    assert heard[2:] == [replace(an_ask(), settlement=each) for each in (expired(), Expired(expired().at, answered()))]


async def test_ask_listeners_are_not_called_for_what_had_no_effect(store: Store) -> None:
    await store.apply([OpenAsk(an_ask()), SettleAsk("a_1", answered())])
    heard: list[Ask] = []
    store.listen_to_asks(heard.extend)

    applied = await store.apply([OpenAsk(an_ask()), SettleAsk("a_1", withdrawn()), RecordLate("a_1", denied())])

    assert heard == list(applied.asks) == []


async def test_ask_listeners_come_before_those_of_items(store: Store) -> None:
    order: list[str] = []
    store.listen(lambda _: order.append("items"))
    store.listen_to_asks(lambda _: order.append("asks"))

    await store.apply([OpenAsk(an_ask())])

    assert order == ["asks", "items"]
