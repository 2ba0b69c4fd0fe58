"""Pace and queue in simulated time: never too much, nothing lost, and each chat for itself (lesson 54)."""

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.surfaces.telegram.chat_queue import LONGEST_PAUSE, MOST_PROGRESS, ChatQueue, NotBefore, Queued
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.outgoing import ChatPlace, EditText, Outgoing, SendDraft, SendText
from handraise.surfaces.telegram.pacing import PRIORITIES, Pace, Priority
from surfaces.telegram.rates import RateLimits, RateMeter

PRIVATE, GROUP = 1001, -2001
LATENCY = st.floats(0.0, 0.15)


def message(chat: int, text: str = "x") -> SendText:
    return SendText(ChatPlace(chat), Formatted(text))


def edit(chat: int, text: str, number: int = 7) -> EditText:
    return EditText(ChatPlace(chat), number, Formatted(text))


@dataclass(frozen=True)
class Wish:
    """Something that is put into the queue at a time."""

    at: float
    chat: int
    priority: Priority
    latency: float = 0.0
    key: str = ""
    draft: bool = False


@dataclass
class Simulation:
    """Several chats, each with one call at a time, on a clock that only moves when something happens."""

    wishes: list[Wish]
    refuse: dict[int, float] = field(default_factory=dict)
    """Chats whose first call is answered 429, and with which pause."""
    started: list[tuple[float, int, Queued, str]] = field(default_factory=list)
    arrivals: list[tuple[float, int]] = field(default_factory=list)
    resolved: dict[int, str] = field(default_factory=dict)
    """What each wish got: the text that arrived for it."""

    def run(self) -> "Simulation":
        self.pace = Pace()
        self.queues: dict[int, ChatQueue] = {}
        self.busy: set[int] = set()
        self._order = count()
        self._events: list[tuple[float, int, str, Any]] = []
        for number, wish in enumerate(self.wishes):
            self._at(wish.at, "put", (number, wish))
        for _ in range(100_000):
            if not self._events:
                return self
            now, _, kind, detail = heappop(self._events)
            getattr(self, f"_{kind}")(now, detail)
        raise AssertionError("the simulation does not end")

    def _at(self, when: float, kind: str, detail: Any) -> None:
        heappush(self._events, (when, next(self._order), kind, detail))

    def _put(self, now: float, detail: tuple[int, Wish]) -> None:
        number, wish = detail
        queue = self.queues.setdefault(wish.chat, ChatQueue(wish.chat))
        outgoing: Outgoing = message(wish.chat, str(number))
        if wish.draft:
            outgoing = SendDraft(ChatPlace(wish.chat), 1, Formatted(str(number)))
        elif wish.key:
            outgoing = edit(wish.chat, str(number))
        dropped = queue.put(Queued(outgoing, wish.priority, wish.key, [number]), now)
        assert dropped is None
        self._go(now, wish.chat)

    def _go(self, now: float, chat: int) -> None:
        if chat in self.busy:
            return
        match self.queues[chat].next(self.pace, now):
            case Queued() as item:
                self._send(now, chat, item)
            case NotBefore(at):
                assert at > now
                self._at(at, "go", chat)

    def _send(self, now: float, chat: int, item: Queued) -> None:
        assert not isinstance(item.outgoing, SendText | EditText) or item.paced
        if item.paced:
            self.pace.start(chat, now)
        self.busy.add(chat)
        text = item.outgoing.content.text  # type: ignore[union-attr]
        self.started.append((now, chat, item, text))
        self._at(now + self.wishes[int(text)].latency, "done", (chat, item, text, now))

    def _done(self, now: float, detail: tuple[int, Queued, str, float]) -> None:
        chat, item, text, begun = detail
        self.busy.discard(chat)
        if item.paced:
            self.pace.finish(chat, now)
        if chat in self.refuse:
            self.pace.hold(chat, self.refuse.pop(chat), now)
            self.queues[chat].put_back(item)
        else:
            if item.paced:
                # It arrives at any moment until its answer: here always at another one.
                self.arrivals.append((begun + (now - begun) * (int(text) % 3) / 2, chat))
            self.resolved.update(dict.fromkeys(item.tickets, text))
        self._go(now, chat)


def wishes(chats: list[int], most: int, seconds: float, keyed: bool = False) -> st.SearchStrategy[list[Wish]]:
    keys = st.sampled_from(["", "a", "b"]) if keyed else st.just("")
    one = st.builds(Wish, st.floats(0.0, seconds), st.sampled_from(chats), st.sampled_from(PRIORITIES), LATENCY, keys)
    return st.lists(one, min_size=1, max_size=most)


@given(wishes([PRIVATE, 1002, GROUP, -2002], 150, 90.0))
def test_telegram_never_has_to_refuse_and_nothing_is_lost(asked: list[Wish]) -> None:
    run = Simulation(asked).run()
    meter = RateMeter(RateLimits(tolerance=1e-6))
    for at, chat in sorted(run.arrivals):
        meter.count(chat, chat > 0, at)
    assert meter.refused == 0
    assert run.resolved == {number: str(number) for number in range(len(asked))}


@given(st.lists(LATENCY, min_size=1, max_size=8))
def test_many_chats_at_once_stay_below_the_limit_over_all(latencies: list[float]) -> None:
    asked = [Wish(0.0, 1 + number % 30, "card", latencies[number % len(latencies)]) for number in range(90)]
    run = Simulation(asked).run()
    meter = RateMeter(RateLimits(tolerance=1e-6))
    for at, chat in sorted(run.arrivals):
        meter.count(chat, True, at)
    assert len(run.arrivals) == 90


# lesson 54
def test_seven_chats_do_not_wait_for_each_other() -> None:
    asked = [Wish(0.0, 1 + number % 7, "card", 0.1) for number in range(21)]
    assert max(at for at, *_ in Simulation(asked).run().started) < 2.0, "with one timer for all, this took 21 s"


@given(wishes([PRIVATE, GROUP], 80, 60.0))
def test_order_is_kept_within_a_chat_and_a_priority(asked: list[Wish]) -> None:
    run = Simulation(asked).run()
    lanes = defaultdict(list)
    for _, chat, item, text in run.started:
        lanes[chat, item.priority].append(int(text))
    for lane in lanes.values():
        assert lane == sorted(lane, key=lambda number: (asked[number].at, number))


@given(wishes([PRIVATE, GROUP], 80, 60.0))
def test_nothing_less_important_goes_before_a_card(asked: list[Wish]) -> None:
    run = Simulation(asked).run()
    begun = {int(text): at for at, _, _, text in run.started}
    for number, card in enumerate(asked):
        for other, wish in enumerate(asked):
            if card.priority == "card" and wish.priority != "card" and wish.chat == card.chat:
                assert not card.at < begun[other] < begun[number]


@pytest.mark.parametrize("chat", [PRIVATE, GROUP])
def test_a_card_does_not_wait_because_of_progress(chat: int) -> None:
    progress = [Wish(at / 2, chat, "progress", 0.1) for at in range(100)]
    cards = [Wish(30.03, chat, "card"), Wish(30.03, chat, "card")]
    run = Simulation(progress + cards).run()
    begun = {int(text): at for at, _, _, text in run.started}
    assert begun[100] <= 30.03 + 0.1 + 1e-9, "only the call that is on its way"
    assert begun[101] <= 30.03 + 0.1 + 1e-9


@given(wishes([PRIVATE, GROUP], 60, 30.0), wishes([1002, -2002], 20, 30.0), st.floats(1.0, 500.0))
def test_a_pause_in_one_chat_holds_up_no_other(asked: list[Wish], others: list[Wish], pause: float) -> None:
    quiet = Simulation(others).run()
    busy = Simulation(others + asked, refuse={PRIVATE: pause, GROUP: pause}).run()
    expected = sorted((chat, text, item.priority, at) for at, chat, item, text in quiet.started)
    found = sorted((chat, text, item.priority, at) for at, chat, item, text in busy.started if chat in (1002, -2002))
    assert [each[:3] for each in found] == [each[:3] for each in expected]
    for (*_, priority, late), (*_, early) in zip(found, expected, strict=True):
        # The limit over all may delay it, and then a card that comes meanwhile goes first. The pause may not.
        assert priority != "card" or late - early < 2.0
    assert busy.resolved.keys() == set(range(len(others + asked)))


def test_after_a_pause_messages_go_one_by_one() -> None:
    asked = [Wish(0.0, PRIVATE, "card") for _ in range(4)]
    run = Simulation(asked, refuse={PRIVATE: 10.0}).run()
    assert [round(at, 3) for at, *_ in run.started] == [0.0, 10.2, 11.2, 12.2, 13.2]


@given(wishes([PRIVATE], 60, 20.0, keyed=True))
def test_of_edits_with_the_same_key_the_last_arrives_and_all_get_its_result(asked: list[Wish]) -> None:
    run = Simulation(asked).run()
    assert run.resolved.keys() == set(range(len(asked)))
    order = sorted(range(len(asked)), key=lambda number: (asked[number].at, number))
    for key in ("a", "b"):
        numbers = [number for number in order if asked[number].key == key]
        shown = [int(text) for _, _, item, text in run.started if item.key == key]
        if numbers:
            assert shown[-1] == numbers[-1]
            assert shown == sorted(shown, key=order.index), "an older one never replaces a newer one"
        for number in numbers:
            assert order.index(int(run.resolved[number])) >= order.index(number)


def test_an_edit_that_becomes_important_moves_forward() -> None:
    queue, pace = ChatQueue(PRIVATE), Pace()
    queue.put(Queued(edit(PRIVATE, "working"), "progress", "k", [1]), 0.0)
    queue.put(Queued(message(PRIVATE, "reply"), "reply", "", [2]), 0.0)
    queue.put(Queued(edit(PRIVATE, "done"), "card", "k", [3]), 0.0)
    first = queue.next(pace, 0.0)
    assert isinstance(first, Queued)
    assert (first.outgoing, first.tickets) == (edit(PRIVATE, "done"), [1, 3])
    assert len(queue) == 1


def test_an_edit_on_its_way_that_fails_makes_room_for_a_newer_one() -> None:
    queue, pace = ChatQueue(PRIVATE), Pace()
    queue.put(Queued(edit(PRIVATE, "old"), "progress", "k", [1]), 0.0)
    flying = queue.next(pace, 0.0)
    assert isinstance(flying, Queued)
    queue.put(Queued(edit(PRIVATE, "new"), "progress", "k", [2]), 0.0)
    queue.put_back(flying)
    last = queue.next(pace, 0.0)
    assert isinstance(last, Queued)
    assert (last.outgoing, last.tickets) == (edit(PRIVATE, "new"), [1, 2])
    assert queue.next(pace, 0.0) is None


def test_new_messages_never_replace_each_other() -> None:
    queue = ChatQueue(PRIVATE)
    for number in range(3):
        queue.put(Queued(message(PRIVATE), "progress", "k", [number]), 0.0)
    assert len(queue) == 3


def test_drafts_are_not_paced_and_have_pauses_of_their_own() -> None:
    asked = [Wish(at / 10, PRIVATE, "progress", 0.01, "d", draft=True) for at in range(100)]
    assert len(Simulation(asked).run().started) == 100
    queue, pace = ChatQueue(PRIVATE), Pace()
    queue.hold_drafts(60.0)
    queue.put(Queued(SendDraft(ChatPlace(PRIVATE), 1, Formatted("x")), "card", "d", [1]), 0.0)
    assert queue.next(pace, 0.0) == NotBefore(60.0)
    queue.put(Queued(message(PRIVATE), "progress", "", [2]), 0.0)
    assert isinstance(queue.next(pace, 0.0), Queued)


def test_too_much_progress_drops_the_oldest_and_nothing_else() -> None:
    queue = ChatQueue(GROUP)
    for number in range(MOST_PROGRESS):
        assert queue.put(Queued(message(GROUP), "progress", "", [number]), 0.0) is None
        assert queue.put(Queued(message(GROUP), "card", "", [-number]), 0.0) is None
    dropped = queue.put(Queued(message(GROUP), "progress", "", [MOST_PROGRESS]), 0.0)
    assert dropped is not None
    assert dropped.tickets == [0]
    assert queue.put(Queued(message(GROUP), "card", "", [-1000]), 0.0) is None


def test_a_failing_server_is_left_alone_for_longer_and_longer_until_something_important_comes() -> None:
    queue, pace = ChatQueue(PRIVATE), Pace()
    item = Queued(message(PRIVATE), "card", "", [1])
    pauses = []
    for failures in range(1, 10):
        queue.fail(0.0)
        item.failures = 1
        queue.put_back(item)
        waiting = queue.next(pace, 0.0)
        assert isinstance(waiting, NotBefore)
        pauses.append(waiting.at)
        assert queue.next(pace, waiting.at) is item, failures
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    queue.put(Queued(message(PRIVATE), "progress", "", [2]), 5.0)
    assert queue.next(pace, 5.0) == NotBefore(LONGEST_PAUSE)
    queue.put(Queued(message(PRIVATE), "reply", "", [3]), 5.0)
    assert queue.next(pace, 5.0) == NotBefore(6.0)
    queue.succeed()
    assert isinstance(queue.next(pace, 5.0), Queued)


def test_a_message_that_keeps_failing_lets_others_pass() -> None:
    queue, pace = ChatQueue(PRIVATE), Pace()
    poison, fine = Queued(message(PRIVATE, "!"), "card", "", [1]), Queued(message(PRIVATE), "card", "", [2])
    queue.put(poison, 0.0)
    queue.put(fine, 0.0)
    for failures in range(1, 4):
        assert queue.next(pace, 0.0) is poison
        poison.failures = failures
        queue.put_back(poison)
    assert queue.next(pace, 0.0) is poison
    poison.failures = 4
    queue.put_back(poison)
    assert queue.next(pace, 0.0) is fine
