"""Decisions that wait for the store: stored together, in order, with the last offset and memory."""

from handraise.model.items import Text
from handraise.model.sessions import Checkpoint
from handraise.session.backlog import Backlog, Decision
from handraise.session.commands import Changed, Command, Publish
from handraise.store.changes import Advance, PublishItems
from session.claude_says import NOON


def decision(number: int, *, rests: bool = False) -> Decision:
    text = Text(f"m_{number}", str(number))
    commands: list[Command] = [Publish(text)] if number % 2 else [Publish(text), Changed()]
    advance = Advance(Checkpoint("s_1", 1, number, b"memory %d" % number))
    return Decision(commands, [PublishItems("s_1", NOON, text)], advance, rests)


def test_a_lone_decision_is_taken_as_it_is() -> None:
    backlog, lone = Backlog(), decision(1)
    backlog.add(lone)

    assert backlog.take() is lone
    assert backlog.take() is None


def test_several_are_one_in_their_order_with_the_last_memory() -> None:
    backlog = Backlog()
    for number in (1, 2, 3):
        backlog.add(decision(number, rests=number == 2))

    batch = backlog.take()
    assert batch is not None
    assert [change for number in (1, 2, 3) for change in decision(number).changes] == batch.changes
    assert [command for number in (1, 2, 3) for command in decision(number).commands] == batch.commands
    assert batch.advance == decision(3).advance
    assert batch.rests
    assert backlog.take() is None


def test_it_is_full_after_a_few() -> None:
    backlog = Backlog()
    for number in range(4):
        assert not backlog.is_full
        backlog.add(decision(number))
    assert backlog.is_full

    backlog.take()
    assert not backlog.is_full
