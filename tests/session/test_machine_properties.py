"""Properties of the session machine: any events in any order, with the hub killed anywhere."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.model.actors import Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import Answered, Ask, Expired, Form, Permission, Plan, Prompt, Question, Withdrawn
from handraise.model.sessions import Say
from handraise.model.trust import Trust
from handraise.session.commands import (
    AskWasSettled,
    ChangeMode,
    ChangeModel,
    Command,
    Complete,
    DangersFound,
    Fact,
    FrameReceived,
    Interrupt,
    ProcessEnded,
    ProcessStarted,
    Raise,
    Rename,
    RulesConsulted,
    Speak,
    Stop,
    TimerFired,
    Wish,
    Withdraw,
    Write,
)
from handraise.session.machine import SessionMachine, WishRefused
from handraise.session.memory import Memory, StartKind
from handraise.wire.connection import Connection
from session import claude_says as says
from session.claude_says import NOON, TEMPER, Line
from thorough import at_least

REQUESTS = ["r_1", "r_2", "r_3"]
USES = ["t_1", "t_2", "t_3"]

requests = st.sampled_from(REQUESTS)
uses = st.sampled_from(USES)
lines: st.SearchStrategy[Line] = st.one_of(
    st.builds(says.init, permissionMode=st.sampled_from(["default", "plan"])),
    st.builds(says.text, st.text(max_size=5)),
    st.builds(says.tool_use, st.sampled_from(["Bash", "Write", "mcp__a__b", "Odd"]), uses),
    st.builds(says.tool_result, uses, st.text(max_size=5) | st.none(), is_error=st.booleans()),
    st.builds(says.bash, requests, st.text(max_size=5), uses | st.none()),
    st.builds(says.question, requests),
    st.builds(says.plan, requests, st.sampled_from(["1. Do it.", ""])),
    st.builds(says.form, requests, mode=st.sampled_from(["form", "url"])),
    st.builds(says.link, requests, elicitation_id=st.sampled_from(["e_1", "e_2", None])),
    st.builds(says.completed, st.sampled_from(["e_1", "e_2", ""]), st.sampled_from(["post", "another"])),
    st.builds(says.dialog, requests, st.sampled_from(["refusal_fallback_prompt", "enum_prompt"])),
    st.builds(says.request, requests, st.just("AskUserQuestion"), st.none() | st.just({"questions": []})),
    st.builds(says.ask_user, requests, question=st.sampled_from(["Which?", ""])),
    st.builds(says.mcp_message, requests, method=st.just("notifications/cancelled"), params=st.just({"requestId": 1})),
    st.builds(says.cancel, requests),
    st.builds(says.acknowledged, requests | st.sampled_from(["handraise-hello", "handraise-1", "handraise-2"])),
    st.builds(says.acknowledged, st.sampled_from(["handraise-1"]), st.just("error")),
    st.builds(says.replayed, st.sampled_from(["u_1", "u_2"])),
    st.builds(says.became, st.sampled_from(["u_1", "u_2"]), st.sampled_from(["started", "completed", "cancelled"])),
    st.builds(says.result, is_error=st.booleans(), total_cost_usd=st.floats(0, 9)),
    st.builds(says.status, st.sampled_from(["default", "plan"])),
    st.just({"type": "control_request", "request_id": "r_1", "request": {"subtype": "dance"}}),
    st.just({"type": "unheard_of", "x": 1}),
)
wishes: st.SearchStrategy[Wish] = st.one_of(
    st.builds(Speak, st.just(Say("u_1", "s_1", "go on", Person("ana"), "web", NOON))),
    st.builds(Interrupt),
    st.builds(ChangeMode, st.just("plan")),
    st.builds(ChangeModel, st.just("opus")),
    st.builds(Rename, st.text(max_size=3)),
    st.builds(Stop),
)


@dataclass(frozen=True)
class Decide:
    """Someone decides about an ask, if it is open; `how` picks what."""

    request: str
    how: int


@dataclass(frozen=True)
class Tell:
    """The machine learns, possibly again, how an ask was settled."""

    request: str


Step = list[Line] | Wish | Decide | Tell | Fact
steps: st.SearchStrategy[Step] = st.one_of(
    st.lists(lines, min_size=1, max_size=4),
    wishes,
    st.builds(Decide, requests, st.integers(0, 4)),
    st.builds(Tell, requests),
    st.sampled_from([ProcessStarted(), TimerFired("move"), TimerFired("idle")]),
)


@dataclass
class World:
    """A machine, and the part of the inbox that it deals with: each ask is opened once and settled once."""

    memory: Memory = field(default_factory=Memory)
    asks: dict[str, Ask] = field(default_factory=dict)
    lines: list[bytes] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    offset: int = 0

    def __post_init__(self) -> None:
        self.machine = SessionMachine("s_1", None, self.memory, Connection(self.offset, self.memory.requests), TEMPER)

    def step(self, step: Step) -> list[Command]:
        match step:
            case list():
                chunk = b"".join(msgspec.json.encode(line) + b"\n" for line in step)
                received = self.machine.wire.receive(chunk)
                return [each for one in received for each in self._observe(FrameReceived(one.frame))]
            case Decide(request, how):
                ask = self.asks.get(request)
                if ask is None or ask.settlement is not None:
                    return []
                self.asks[request] = replace(ask, settlement=_settlement(ask, how))
                return self._observe(AskWasSettled(self.asks[request]))
            case Tell(request):
                return self._observe(AskWasSettled(self.asks[request])) if request in self.asks else []
            case (
                ProcessStarted()
                | FrameReceived()
                | AskWasSettled()
                | RulesConsulted()
                | DangersFound()
                | TimerFired()
                | ProcessEnded()
            ):
                return self._observe(step)
            case _:
                try:
                    return self._noted(self.machine.wish(step))
                except WishRefused:
                    return []

    def killed(self) -> "World":
        """What the next hub finds: the memory as it was written down, and the inbox."""
        offset = self.machine.wire.offset
        return World(Memory.load(self.memory.dump()), dict(self.asks), list(self.lines), set(self.ids), offset)

    def _observe(self, fact: Fact) -> list[Command]:
        return self._noted(self.machine.observe(fact, NOON))

    def _noted(self, commands: list[Command]) -> list[Command]:
        for command in commands:
            match command:
                case Raise(ask) if ask.id not in self.ids:
                    self.ids.add(ask.id)
                    self.asks[ask.origin.reference] = ask
                case Withdraw(ask_id, reason):
                    self._settle(ask_id, Withdrawn(reason, NOON))
                case Complete(ask_id):
                    self._settle(ask_id, Answered(Filled("accept"), TheHub(), "website", NOON))
                case Write(line):
                    self.lines.append(line)
                case _:
                    pass
        return commands

    def _settle(self, ask_id: str, settlement: Answered | Withdrawn) -> None:
        for request, ask in self.asks.items():
            if ask.id == ask_id and ask.settlement is None:
                self.asks[request] = replace(ask, settlement=settlement)


def _settlement(ask: Ask, how: int) -> Answered | Expired | Withdrawn:
    if how == 0:
        return Expired(NOON)
    if how == 1:
        return Withdrawn("as chance had it", NOON)
    return Answered(_answer(ask, how), Person("ana"), "web", NOON)


def _answer(ask: Ask, how: int) -> Answer:
    match ask.body:
        case Question(questions):
            return Choices(tuple(_choice(each, how) for each in questions))
        case Permission():
            allowed: list[Answer] = [Allow(), Deny(), Allow(input={"command": "another"})]
            return allowed[how % 3]
        case Plan():
            approved: list[Answer] = [Approve(), Revise(), Outline()]
            return approved[how % 3]
        case Form(url=str()):
            return Filled("decline") if how % 2 else Filled("accept")
        case Form():
            return Filled("decline") if how % 2 else Filled("accept", {"street": "Odeon 4"})
        case Trust():
            return Trusting("without")


def _choice(prompt: Prompt, how: int) -> Choice:
    return Choice((prompt.options[how % 2].label,)) if prompt.options else Choice(text="Because.")


def _answers_to(request: str, written: list[bytes]) -> list[Any]:
    calls = [msgspec.json.decode(line) for line in written]
    return [
        line["response"]
        for line in calls
        if line["type"] == "control_response" and line["response"]["request_id"] == request
    ]


@settings(max_examples=at_least(300), deadline=None)
@given(st.lists(steps, max_size=25))
def test_no_sequence_raises_and_every_line_is_one_line_of_json(sequence: list[Step]) -> None:
    world = World()
    for step in [ProcessStarted(), *sequence, ProcessEnded(None, "")]:
        world.step(step)

    for line in world.lines:
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        assert isinstance(msgspec.json.decode(line), dict)


@settings(max_examples=at_least(300), deadline=None)
@given(
    st.lists(steps, max_size=25),
    st.sampled_from([None, 0, 1, -9]),
    st.sampled_from(["begin", "fork", "resume"]),
    st.booleans(),
)
def test_at_the_end_every_ask_is_settled(
    sequence: list[Step], exit_code: int | None, way: StartKind, failed: bool
) -> None:
    world = World(Memory(way=way, failed_to_begin=failed))
    for step in [ProcessStarted(), *sequence, ProcessEnded(exit_code, "")]:
        world.step(step)

    assert world.memory.is_over
    assert world.memory.requests == {}
    assert [ask for ask in world.asks.values() if ask.settlement is None] == []


class _Strict(World):
    """Each request is made at most once, as Claude does."""

    def step(self, step: Step) -> list[Command]:
        if isinstance(step, list):
            record = []
            for line in step:
                request = line.get("request_id") if line["type"] == "control_request" else None
                if request is None or request not in self._made:
                    record.append(line)
                    self._made |= {request} if request else set()
            step = record
        return super().step(step)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._made: set[str] = set()


@settings(max_examples=at_least(300), deadline=None)
@given(st.lists(steps, max_size=25))
def test_each_request_gets_one_answer_and_what_was_withdrawn_gets_none(sequence: list[Step]) -> None:
    world = _Strict()
    for step in [ProcessStarted(), *sequence, ProcessEnded(None, "")]:
        world.step(step)

    for request in REQUESTS:
        answers = _answers_to(request, world.lines)
        assert all(each == answers[0] for each in answers)
        ask = world.asks.get(request)
        if ask is not None and ask.state == "withdrawn":
            assert answers == []


@settings(max_examples=at_least(300), deadline=None)
@given(st.lists(steps, max_size=12), st.lists(steps, max_size=12))
def test_a_hub_killed_anywhere_leaves_one_that_decides_the_same(before: list[Step], after: list[Step]) -> None:
    world = World()
    for step in [ProcessStarted(), *before]:
        world.step(step)

    reborn = world.killed()

    for step in [*after, ProcessEnded(None, "")]:
        assert reborn.step(step) == world.step(step)
    assert reborn.memory == world.memory
