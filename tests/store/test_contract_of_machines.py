"""What every store promises about machines, instructions and directories on several machines."""

import pytest
from msgspec.structs import replace

from handraise.model.instructions import Instruction
from handraise.model.items import AskHeld, InstructionGiven, InstructionSettled, MachineChanged, SaidWithdrawn
from handraise.model.machines import Machine, Place
from handraise.model.trust import Trust
from handraise.store.changes import (
    ForgetMachine,
    GiveInstruction,
    HoldAsk,
    OpenAsk,
    Prune,
    QueueSay,
    RenameMachine,
    RevokeTrust,
    SaveMachine,
    SaveProject,
    SaveSession,
    SettleAsk,
    SettleInstruction,
    TakeInstruction,
    TakeSay,
    WithdrawSay,
)
from handraise.store.interface import Store, StoreConflict
from store.examples import ANA, NOON, a_project, a_say, a_session, an_ask, answered, later, trusted


def a_machine(identity: str = "m_1", name: str = "laptop") -> Machine:
    return Machine(identity, name, "0.1.0", 8, NOON, NOON)


def an_instruction(identity: str = "i_1") -> Instruction:
    return Instruction(identity, "m_2", "s_1", "resume", ANA, "web", NOON, "value", ({"type": "text", "text": "go"},))


async def test_a_claim_takes_a_new_epoch_and_keeps_the_name(store: Store) -> None:
    first = await store.claim(replace(a_machine(store.machine), name="laptop"))
    await store.apply([RenameMachine(first.id, "desk", later(1))])
    second = await store.claim(replace(a_machine(store.machine), name="laptop", version="0.2.0"))

    assert second.epoch == first.epoch + 1
    assert (second.name, second.version, second.away_since) == ("desk", "0.2.0", None)
    assert [each.name for each in await store.machines()] == ["desk"]


async def test_a_claim_and_a_release_are_published(store: Store) -> None:
    await store.claim(a_machine(store.machine))
    await store.release(later(5))

    contents = [item.read() for item in await store.items()]
    assert all(isinstance(each, MachineChanged) for each in contents)
    away = [each.machine["away_since"] is not None for each in contents if isinstance(each, MachineChanged)]
    assert away == [False, True]
    assert (await store.machines())[0].away_since is not None


async def test_a_name_that_another_machine_has_is_refused(store: Store) -> None:
    await store.apply([SaveMachine(a_machine("m_1", "one"), NOON), SaveMachine(a_machine("m_2", "two"), NOON)])

    with pytest.raises(StoreConflict):
        await store.apply([RenameMachine("m_2", "one", NOON)])
    assert not (await store.apply([RenameMachine("m_3", "three", NOON)])).took[0]


async def test_only_a_machine_that_is_away_and_has_no_living_session_is_forgotten(store: Store) -> None:
    away = replace(a_machine("m_9", "old"), away_since=NOON)
    living = replace(a_session("s_9"), machine="m_9")
    await store.apply([SaveMachine(a_machine("m_9", "old"), NOON)])
    assert not (await store.apply([ForgetMachine("m_9", NOON)])).took[0]
    await store.apply([SaveMachine(away, NOON), SaveSession(living)])
    assert not (await store.apply([ForgetMachine("m_9", NOON)])).took[0]

    await store.apply([SaveSession(replace(living, phase="ended"))])
    forgotten = await store.apply([ForgetMachine("m_9", NOON)])

    assert forgotten.took == (True,)
    content = forgotten.items[0].read()
    assert isinstance(content, MachineChanged)
    assert content.forgotten
    assert await store.machines() == []


async def test_an_open_ask_of_an_external_agent_can_be_held_by_another_machine(store: Store) -> None:
    outside = replace(an_ask("a_1", session=None, agent="agent", reference="one"), machine="m_1")
    of_session = replace(an_ask("a_2", reference="two"), machine="m_1")
    await store.apply([OpenAsk(outside), OpenAsk(of_session)])

    wanted = (("a_1", "m_2"), ("a_1", "m_2"), ("a_2", "m_2"), ("a_3", ""))
    held = await store.apply([HoldAsk(ask, machine, NOON) for ask, machine in wanted])

    assert held.took == (True, False, False, False)
    assert held.asks == (replace(outside, machine="m_2"),)
    assert [(item.session, item.at, item.read()) for item in held.items] == [(None, NOON, AskHeld("a_1", "m_2"))]
    assert await store.ask("a_1") == replace(outside, machine="m_2")
    assert await store.ask("a_2") == of_session
    await store.apply([SettleAsk("a_1", answered())])
    assert not (await store.apply([HoldAsk("a_1", "m_1", NOON)])).took[0]


async def test_an_instruction_is_taken_once_and_settled_once(store: Store) -> None:
    given = await store.apply([GiveInstruction(an_instruction())])
    assert isinstance(given.items[0].read(), InstructionGiven)
    assert not (await store.apply([GiveInstruction(an_instruction())])).took[0]
    assert await store.instructions(machine="m_2") == [an_instruction()]
    assert await store.instructions(machine="m_3") == []

    assert (await store.apply([TakeInstruction("i_1", 4), TakeInstruction("i_1", 5)])).took == (True, False)
    assert not (await store.apply([SettleInstruction("i_1", "withdrawn", later(1))])).took[0]
    settled = await store.apply([SettleInstruction("i_1", "refused", later(2), "Not now.", "s_2")])

    assert settled.items[0].read() == InstructionSettled("i_1", "refused", "Not now.", "s_2")
    assert not (await store.apply([SettleInstruction("i_1", "done", later(3))])).took[0]
    expected = replace(an_instruction(), state="refused", reason="Not now.", result="s_2", epoch=4, settled_at=later(2))
    assert await store.instruction("i_1") == expected
    assert await store.instructions(session="s_1") == []
    assert await store.instructions(session="s_1", unsettled=False) == [expected]


async def test_an_instruction_that_waits_can_be_taken_back_and_outlives_pruning(store: Store) -> None:
    await store.apply([GiveInstruction(an_instruction("i_1")), GiveInstruction(an_instruction("i_2"))])
    assert (await store.apply([SettleInstruction("i_1", "withdrawn", later(1))])).took == (True,)
    assert not (await store.apply([TakeInstruction("i_1", 1)])).took[0]

    _, newest = await store.cursors()
    await store.apply([Prune(newest)])

    assert [each.id for each in await store.instructions(unsettled=False)] == ["i_2"]


async def test_a_message_that_claude_has_not_received_can_be_taken_back(store: Store) -> None:
    await store.apply([QueueSay(a_say("y_1")), QueueSay(a_say("y_2")), TakeSay("y_2", NOON)])

    withdrawn = await store.apply(
        [WithdrawSay("y_1", later(1)), WithdrawSay("y_2", later(1)), WithdrawSay("y_1", NOON)]
    )

    assert withdrawn.took == (True, False, False)
    assert [item.read() for item in withdrawn.items] == [SaidWithdrawn("y_1")]
    assert [say.id for say in await store.says("s_1", waiting=False)] == ["y_2"]


async def test_a_project_has_a_directory_on_each_machine(store: Store) -> None:
    project = replace(a_project(), elsewhere=(Place("m_8", "/srv/app"), Place("m_9", "/srv/app")))
    only_there = replace(a_project("p_2", "there", ""), elsewhere=(Place("m_8", "/srv/there"),))
    await store.apply([SaveProject(project), SaveProject(only_there)])

    assert await store.projects() == [project, only_there]
    assert await store.project("/work/app") == project
    assert await store.project("/srv/app") is None
    assert await store.project("") is None
    with pytest.raises(StoreConflict):
        await store.apply([SaveProject(replace(a_project("p_3", "other", ""), elsewhere=(Place("m_8", "/srv/app"),)))])

    moved = replace(project, path="", elsewhere=(Place("m_9", "/srv/new"),))
    await store.apply([SaveProject(moved)])
    assert await store.project("p_1") == moved


async def test_trust_belongs_to_a_directory_on_one_machine(store: Store) -> None:
    here = replace(an_ask("a_1", body=Trust("/work/app", (), {})), machine=store.machine)
    there = replace(an_ask("a_2", body=Trust("/work/app", (), {})), machine="m_8")
    await store.apply([OpenAsk(here), OpenAsk(there), SettleAsk("a_2", trusted("exactly"))])
    assert await store.trust("/work/app") is None

    await store.apply([SettleAsk("a_1", trusted("never"))])
    mine = await store.trust("/work/app")

    assert mine is not None
    assert (mine.level, mine.machine) == ("never", store.machine)
    assert {(each.machine, each.level) for each in await store.trusts()} == {
        (store.machine, "never"),
        ("m_8", "exactly"),
    }
    assert (await store.apply([RevokeTrust("/work/app", "m_8"), RevokeTrust("/work/app", "m_8")])).took == (True, False)
    assert (await store.apply([RevokeTrust("/work/app")])).took == (True,)
    assert await store.trusts() == []


async def test_sessions_and_asks_keep_their_machine(store: Store) -> None:
    session, ask = replace(a_session(), machine="m_8"), replace(an_ask(), machine="m_8")

    await store.apply([SaveSession(session), OpenAsk(ask)])

    assert await store.session("s_1") == session
    assert await store.ask("a_1") == ask
