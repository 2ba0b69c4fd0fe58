"""What the statistics count, by examples."""

from datetime import UTC, datetime, timedelta

from handraise.model.actors import Actor, ByRule, Person
from handraise.model.answers import Allow
from handraise.model.asks import Answered, Ask, Expired, Origin, Permission, Settlement, Withdrawn
from handraise.reach.model import AskLog, EntryState, NoticeEntry
from handraise.reach.statistics import Spread, rows_of, spread, statistics_of

NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)
ANA = Person("ana")


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def an_ask(name: str, settlement: Settlement | None) -> Ask:
    body = Permission("Bash", {"command": "ls"})
    return Ask(name, "s_1", None, body, "Bash", Origin(name), NOON, settlement=settlement)


def answered(seconds: float, by: Actor = ANA) -> Answered:
    return Answered(Allow(), by, "web", at(seconds))


def sent(seconds: float, person: str = "ana", channel: str = "c_1", step: int = 0) -> NoticeEntry:
    return NoticeEntry(step, channel, person, "sent", at(seconds), label="Phone")


def log_of(name: str, *entries: NoticeEntry, noticed: float | None = None) -> AskLog:
    return AskLog(name, NOON, entries=entries, noticed_at=None if noticed is None else at(noticed))


def test_times_count_from_when_the_ask_was_opened() -> None:
    asks = [an_ask("a_1", answered(60)), an_ask("a_2", answered(120)), an_ask("a_3", Expired(at(600)))]
    found = statistics_of(asks, {"a_2": log_of("a_2", noticed=30)}, at(1000))
    assert (found.asks, found.answered, found.expired) == (3, 2, 1)
    assert found.to_answer == Spread(2, 120.0, 120.0)
    assert found.noticed == Spread(2, 60.0, 60.0), "an answer is a notice, too"
    assert found.minutes_waited == 13.0


def test_what_a_rule_answered_does_not_count() -> None:
    found = statistics_of([an_ask("a_1", answered(0, ByRule("r_1", "Rule")))], {}, NOON)
    assert (found.asks, found.minutes_waited) == (0, 0.0)


def test_an_open_ask_waits_until_now() -> None:
    assert statistics_of([an_ask("a_1", None)], {}, at(120)).minutes_waited == 2.0


def test_the_last_notification_before_the_answer_led_to_it() -> None:
    ask = an_ask("a_1", answered(100))
    logs = {"a_1": log_of("a_1", sent(2), sent(60, channel="c_2", step=1))}
    found = {(each.channel, each.step): each for each in statistics_of([ask], logs, at(200)).channels}
    assert found["c_1", None].answered == Spread()
    assert found["c_2", None].answered == Spread(1, 40.0, 40.0)
    assert found["c_2", 1].sent == 1
    [row] = rows_of([ask], logs, at(200))
    assert (row.last_channel, row.last_step, row.notifications) == ("Phone", 1, 2)


def test_what_rang_for_nothing_is_counted() -> None:
    by_ben = an_ask("a_1", answered(100, Person("ben")))
    withdrawn = an_ask("a_2", Withdrawn("gone", at(100)))
    at_once = an_ask("a_3", answered(4))
    needed = an_ask("a_4", answered(100))
    asks = [by_ben, withdrawn, at_once, needed]
    logs = {ask.id: log_of(ask.id, sent(2)) for ask in asks}
    found = statistics_of(asks, logs, at(200))
    assert (found.notifications, found.unneeded) == (4, 3)


def test_what_was_taken_back_rang_and_what_was_held_back_did_not() -> None:
    states: tuple[EntryState, ...] = ("retracted", "held", "failed")
    entries = [NoticeEntry(0, "c_1", "ana", state, at(2), sent_at=at(2)) for state in states]
    [every, _] = statistics_of([an_ask("a_1", None)], {"a_1": log_of("a_1", *entries)}, at(9)).channels
    assert (every.sent, every.held, every.failed) == (1, 1, 1)


def test_the_spread_of_nothing_is_zero() -> None:
    assert spread([]) == Spread(0, 0.0, 0.0)
    assert spread([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) == Spread(10, 6, 10)
