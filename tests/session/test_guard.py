"""The guard: honest sessions raise no alarm, whatever calls and dying hubs do; forged answers do."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.inbox.considering import Objection
from handraise.model.actors import ByRule
from handraise.model.answers import Allow, Answer, Approve, Deny
from handraise.model.asks import Answered, Ask, Expired, Settlement
from handraise.model.items import Notice
from handraise.session.commands import (
    Alarm,
    AskWasSettled,
    ChangeMode,
    Command,
    Consult,
    Fact,
    FrameReceived,
    ProcessEnded,
    ProcessStarted,
    Raise,
    RulesConsulted,
    Terminate,
    Withdraw,
    Write,
)
from handraise.session.machine import SessionMachine
from handraise.session.memory import Memory
from handraise.texts import t
from handraise.wire.connection import Connection
from session import claude_says as says
from session.claude_says import ANA, NOON, TEMPER, Line, of, published
from thorough import at_least

KEY = "0123456789abcdef"


@dataclass(frozen=True)
class ToolCallCase:
    """One tool call, as rules, people and Claude deal with it."""

    use: str
    objection: Literal["deny", "ask", None] = None
    asks: bool = False
    """Claude asks about it by itself."""
    answer: Literal["allow", "deny", "expire"] = "allow"
    cancelled: bool = False
    """The turn is interrupted while someone is asked."""
    fails: bool = False

    @property
    def is_asked(self) -> bool:
        return self.objection != "deny" and (self.asks or self.objection == "ask")


class GuardedWorld:
    """A Claude that goes by the wire, the store, and a hub that can be killed after any line."""

    def __init__(self, calls: tuple[ToolCallCase, ...] = ()) -> None:
        self.calls = {call.use: call for call in calls}
        self.memory = Memory(key=KEY, granted=["default"])
        self.asks: dict[str, Ask] = {}
        self.answers: dict[str, Line] = {}
        """The first answer to each request: what Claude takes, and echoes."""
        self.commands: list[Command] = []
        self._start(0)
        self.observe(ProcessStarted())
        self.hear(says.HELLO, says.init())

    def restart(self) -> None:
        """Another hub adopts Claude: settled asks are reported again, and answers written again."""
        self.memory = Memory.load(self.memory.dump())
        self._start(self.machine.wire.offset)
        self.observe(ProcessStarted())
        for ask in list(self.asks.values()):
            if ask.settlement is not None:
                self.observe(AskWasSettled(ask))

    def hear(self, *lines: Line) -> list[Command]:
        before = len(self.commands)
        for line in lines:
            for each in self.machine.wire.receive(msgspec.json.encode(line) + b"\n"):
                self.observe(FrameReceived(each.frame))
        return self.commands[before:]

    def observe(self, fact: Fact) -> None:
        for command in self.machine.observe(fact, NOON):
            self.commands.append(command)
            match command:
                case Consult(ask):
                    self.observe(RulesConsulted(ask, self._objection(ask)))
                case Raise(ask):
                    self.asks[ask.origin.reference] = ask
                    if self._objection(ask) and "hook" in ask.origin.request:
                        self.settle(ask.origin.reference, Answered(Deny("No."), ByRule("r", ""), "rule", NOON))
                case Withdraw(ask_id):
                    self.asks = {each: ask for each, ask in self.asks.items() if ask.id != ask_id}
                case Write(line):
                    self._write(msgspec.json.decode(line))
                case _:
                    pass

    def settle(self, request: str, settlement: Settlement) -> None:
        if request in self.asks:
            self.asks[request] = replace(self.asks[request], settlement=settlement)
            self.observe(AskWasSettled(self.asks[request]))

    @property
    def alarms(self) -> list[str]:
        return [each.reason for each in of(Alarm, self.commands)]

    def _start(self, offset: int) -> None:
        wire = Connection(offset, self.memory.requests, key=self.memory.key)
        self.machine = SessionMachine("s_1", None, self.memory, wire, TEMPER)

    def _write(self, line: Line) -> None:
        if line["type"] == "control_response":
            self.answers.setdefault(line["response"]["request_id"], line)

    def _objection(self, ask: Ask) -> Objection | None:
        call = self.calls.get(ask.origin.tool_use or "")
        return None if call is None or call.objection is None else Objection(call.objection, "A rule.", "No.")


def check(use: str, tool: str = "Bash", **text: Any) -> Line:
    call = {"tool_name": tool, "tool_input": text or {"command": use}, "tool_use_id": use}
    inside = {"subtype": "hook_callback", "callback_id": "handraise", "input": call}
    return {"type": "control_request", "request_id": f"h_{use}", "request": inside}


def life(world: GuardedWorld, call: ToolCallCase) -> Iterator[None]:
    """What Claude says of a call, from its beginning to its result; a step at a time."""
    asked, ran = f"r_{call.use}", call.objection != "deny"
    world.hear(says.tool_use("Bash", call.use, command=call.use))
    yield
    world.hear(check(call.use))
    yield
    world.hear(world.answers[f"h_{call.use}"])
    yield
    if call.is_asked:
        world.hear(says.bash(asked, call.use, use=call.use))
        yield
        if call.cancelled:
            world.hear(says.cancel(asked))
            yield
            ran = False
        else:
            answers: dict[str, Answer] = {"allow": Allow(), "deny": Deny()}
            answer = answers.get(call.answer)
            world.settle(asked, Answered(answer, ANA, "web", NOON) if answer else Expired(NOON))
            yield
            world.hear(world.answers[asked])
            yield
            ran = call.answer == "allow"
    world.hear(says.tool_result(call.use, is_error=not ran or call.fails))
    yield


calls = st.builds(
    ToolCallCase,
    st.just(""),
    st.sampled_from(["deny", "ask", None]),
    st.booleans(),
    st.sampled_from(["allow", "deny", "expire"]),
    st.booleans(),
    st.booleans(),
)
many = st.lists(calls, min_size=1, max_size=5).map(
    lambda found: tuple(ToolCallCase(f"t_{number}", *_but_use(each)) for number, each in enumerate(found))
)


def _but_use(call: ToolCallCase) -> tuple[Any, ...]:
    return (call.objection, call.asks, call.answer, call.cancelled, call.fails)


def play(world: GuardedWorld, order: list[int], deaths: set[int]) -> Iterator[int]:
    """The calls beside each other, in some order, the hub killed after some steps; gives the number of each step."""
    lives = [life(world, call) for call in world.calls.values()]
    step = 0
    while lives:
        number = order[step % len(order)] % len(lives) if order else 0
        if next(lives[number], "over") == "over":
            del lives[number]
            continue
        if step in deaths:
            world.restart()
        yield step
        step += 1


orders = st.lists(st.integers(0, 4), max_size=30)
deaths = st.sets(st.integers(0, 30), max_size=6)


@settings(max_examples=at_least(300), deadline=None)
@given(many, orders, deaths)
def test_nothing_that_goes_through_us_raises_the_alarm(
    found: tuple[ToolCallCase, ...], order: list[int], dead: set[int]
) -> None:
    world = GuardedWorld(found)
    for _ in play(world, order, dead):
        pass

    assert world.alarms == []
    assert world.memory.calls == {}


Forgery = Literal["answer", "error", "result", "command", "mode"]


def forge(world: GuardedWorld, how: Forgery) -> None:
    match how:
        case "answer":
            answer = {"behavior": "allow", "updatedInput": {"command": "other"}}
            world.hear(check("t_x"), says.acknowledged("h_t_x", response=answer))
        case "error":
            world.hear({"type": "system", "subtype": "informational", "tag": "hook_callback_failed"})
        case "result":
            world.hear(says.tool_use("Bash", "t_x", command="x"), check("t_x"), says.bash("r_x", use="t_x"))
            world.hear(says.tool_result("t_x"))
        case "command":
            world.hear(says.acknowledged("not-ours"))
        case "mode":
            world.hear(says.status("bypassPermissions"))


@settings(max_examples=at_least(300), deadline=None)
@given(many, orders, deaths, st.integers(0, 10), st.sampled_from(["answer", "error", "result", "command", "mode"]))
def test_whatever_goes_around_us_raises_it_once(
    found: tuple[ToolCallCase, ...], order: list[int], dead: set[int], when: int, how: Forgery
) -> None:
    world = GuardedWorld(found)
    for step in play(world, order, dead):
        if step == when:
            break
    forge(world, how)
    forge(world, how)

    assert len(world.alarms) == 1
    assert world.memory.phase == "stopping"
    assert [ask for ask in world.asks.values() if ask.settlement is None] == []


def started(*found: ToolCallCase) -> GuardedWorld:
    """Each call was announced, checked, and the answer taken."""
    world = GuardedWorld(found)
    for call in found:
        world.hear(says.tool_use("Bash", call.use, command="x"), check(call.use))
        world.hear(world.answers[f"h_{call.use}"])
    return world


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ToolCallCase("t_1", "deny"), "although it was denied"),
        (ToolCallCase("t_1", "ask"), "without an answer"),
    ],
)
def test_a_call_that_ran_all_the_same(call: ToolCallCase, words: str) -> None:
    world = started(call)
    contents = world.hear(says.tool_result("t_1"))

    assert [words in alarm for alarm in world.alarms] == [True]
    assert [notice.level for notice in published(Notice, contents)] == ["alarm"]
    world.hear(says.tool_result("t_1"))
    assert len(world.alarms) == 1


def test_a_call_that_was_denied_by_a_person_and_ran() -> None:
    world = started(ToolCallCase("t_1"))
    world.hear(says.bash("r_1", use="t_1"))
    world.settle("r_1", Answered(Deny(), ANA, "web", NOON))
    world.hear(world.answers["r_1"], says.tool_result("t_1"))

    assert ["although it was denied" in alarm for alarm in world.alarms] == [True]


def test_a_call_that_nobody_checked() -> None:
    world = started(ToolCallCase("t_1"))
    world.hear(says.tool_use("Bash", "t_2", command="x"), says.tool_result("t_2"))

    assert ["without being checked" in alarm for alarm in world.alarms] == [True]


def test_a_claude_that_has_nothing_checked_raises_no_alarm() -> None:
    world = GuardedWorld()
    world.hear(says.tool_use("Bash", "t_2", command="x"), says.tool_result("t_2"))

    assert world.alarms == []


def test_an_answer_of_ours_that_was_changed_on_its_way() -> None:
    world = started(ToolCallCase("t_1"))
    world.hear(says.bash("r_1", use="t_1"))
    world.settle("r_1", Answered(Allow(), ANA, "web", NOON))
    echo = msgspec.json.decode(msgspec.json.encode(world.answers["r_1"]))
    echo["response"]["response"]["updatedInput"] = {"command": "rm -rf /"}
    world.hear(echo)

    assert world.alarms == [t("sessions.alarm.answered")]


def test_something_that_claude_was_told_to_do_by_another() -> None:
    world = GuardedWorld()
    world.hear(says.acknowledged("handraise-7"))

    assert world.alarms == [t("sessions.alarm.commanded")]


@pytest.mark.parametrize("mode", ["plan", "default", "dontAsk"])
def test_a_mode_in_which_claude_does_less_is_its_own_affair(mode: str) -> None:
    world = GuardedWorld()
    world.hear(says.status(mode))

    assert world.alarms == []


def test_modes_that_people_choose_and_approve() -> None:
    world = GuardedWorld()
    world.machine.wish(ChangeMode("auto"))
    world.hear(says.acknowledged("handraise-1"), says.status("auto"), says.plan("r_1"))
    world.settle("r_1", Answered(Approve("acceptEdits"), ANA, "web", NOON))
    world.hear(world.answers["r_1"], says.status("acceptEdits"))
    assert world.alarms == []

    world.hear(says.init(permissionMode="bypassPermissions"))
    assert ["bypassPermissions" in alarm for alarm in world.alarms] == [True]


def test_a_process_of_an_older_hub_is_not_guarded() -> None:
    world = GuardedWorld()
    world.memory.key = ""
    world.hear(says.status("bypassPermissions"), says.acknowledged("x"))

    assert world.alarms == []


def test_after_an_alarm_every_call_is_denied_and_the_end_says_why() -> None:
    world = GuardedWorld()
    world.hear(says.status("bypassPermissions"))
    world.hear(check("t_1"))
    world.observe(ProcessEnded(-9, ""))

    assert world.answers["h_t_1"]["response"]["response"]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert world.memory.ended is not None
    assert (world.memory.ended.how, world.memory.ended.alarm) == ("failed", True)
    assert "bypassPermissions" in world.memory.ended.reason


def test_the_next_hub_ends_a_claude_for_which_there_was_an_alarm() -> None:
    world = GuardedWorld()
    world.hear(says.status("bypassPermissions"))
    world.restart()

    assert len(of(Terminate, world.commands)) == 1
    assert len(world.alarms) == 1


@pytest.mark.parametrize("text", [[], "text", 1])
def test_a_call_that_cannot_be_read_is_denied_and_never_answered_with_an_error(text: Any) -> None:
    world = GuardedWorld()
    line = check("t_1")
    line["request"]["input"]["tool_input"] = text
    world.hear(line)
    world.hear({"type": "control_request", "request_id": "h_2", "request": {"subtype": "hook_callback"}})

    for request in ("h_t_1", "h_2"):
        text = world.answers[request]["response"]
        assert text["subtype"] == "success"
        assert text["response"]["hookSpecificOutput"]["permissionDecision"] == "deny"
