"""What happens while a machine is away, and when it comes back: nothing is lost, and nothing is done twice."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from handraise.desk.interface import NotFound, Refused
from handraise.hub.hub import now
from handraise.model.actors import Person
from handraise.model.instructions import Instruction, InstructionKind
from handraise.model.items import Notice
from handraise.session.machine import WishRefused
from handraise.session.remote import Dispatcher
from handraise.store.changes import Change, GiveInstruction, SettleInstruction, TakeInstruction
from hub.fleet import DEADLINE, MachineSite, fleet_of, next_ask, until, until_phase, until_turns
from hub.test_many_machines import SQLITE, begin, with_project

ANA = Person("ana")


async def test_an_answer_that_was_given_while_the_machine_was_away_is_delivered_when_it_returns(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session = await begin(laptop, "ask me")
        ask = await next_ask(server.hub, session)
        await laptop.stop()

        accepted = await server.hub.desk.answer(ask.id, SQLITE)

        assert not accepted.late
        assert laptop.received("control_response") == []
        await laptop.open()
        await until_turns(server.hub, session)
        assert len(laptop.received("control_response")) == 1
        assert (await server.hub.desk.ask(ask.id)).delivered_at is not None


async def test_what_only_makes_sense_now_is_refused_and_the_rest_waits(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        desk = server.hub.desk
        session = await begin(laptop)
        await laptop.stop()

        for wish in (desk.interrupt(session), desk.change_mode(session, "plan"), desk.change_model(session, "opus")):
            with pytest.raises(Refused, match=r"Machine `laptop` is away\. Try again"):
                await wish
        with pytest.raises(Refused, match="away"):
            await desk.allow_denied(session, "t_1")
        assert await desk.instructions(session) == []
        with pytest.raises(Refused, match="done when it returns"):
            await desk.rename(session, "Later")
        with pytest.raises(Refused, match="done when it returns"):
            await desk.stop(session)
        renaming, stopping = await desk.instructions(session)
        await desk.withdraw_instruction(stopping.id)
        with pytest.raises(Refused, match="too late"):
            await desk.withdraw_instruction(stopping.id)
        with pytest.raises(NotFound):
            await desk.withdraw_instruction("i_none")

        await laptop.open()

        async def settled() -> bool:
            return not await desk.instructions(session)

        await until(server.hub, settled)
        found = await server.store.instruction(renaming.id)
        assert found is not None
        assert found.state == "done"
        left = (await desk.session(session)).session
        assert (left.title, left.phase) == ("Later", "idle")


async def test_a_start_waits_for_its_machine_and_can_be_taken_back(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        await with_project(laptop, server)
        await server.stop()
        desk = laptop.hub.desk

        wanted = (await desk.start("go", "app", machine="server")).session.id
        unwanted = (await desk.start("go", "app", machine="server")).session.id
        with pytest.raises(Refused, match="done when it returns"):
            await desk.stop(unwanted)
        assert (await desk.session(wanted)).session.phase == "queued"
        await server.open()

        await until_turns(laptop.hub, wanted)
        gone = await until_phase(laptop.hub, unwanted, "ended")
        assert gone.run == 0
        assert len(server.received("user")) == 1


async def test_a_message_to_a_machine_that_is_away_waits_and_can_be_taken_back(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        desk = server.hub.desk
        session = await begin(laptop)
        await laptop.stop()
        wanted = await desk.say(session, "keep this")
        unwanted = await desk.say(session, "forget this")

        await desk.withdraw_say(unwanted.id)

        with pytest.raises(NotFound):
            await desk.withdraw_say(unwanted.id)
        await laptop.open()

        async def received() -> bool:
            return not await server.store.says(session)

        await until(server.hub, received)
        ids = [line["uuid"] for line in laptop.received("user")]
        assert ids.count(wanted.id) == 1
        assert unwanted.id not in ids
        late = await desk.say(session, "wait")
        await until_phase(server.hub, session, "working")
        with pytest.raises((Refused, NotFound)):
            await desk.withdraw_say(late.id)


async def test_the_first_message_of_a_session_is_taken_back_by_stopping_it(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        await with_project(laptop, server)
        await server.stop()
        started = await laptop.hub.desk.start("go", "app", machine="server")
        (say,) = await laptop.store.says(started.session.id)

        with pytest.raises(Refused, match="Stop the session instead"):
            await laptop.hub.desk.withdraw_say(say.id)


async def test_a_message_that_was_taken_back_as_its_machine_returned_is_not_sent_or_reported(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        desk = server.hub.desk
        session = await begin(laptop)
        for _ in range(5):
            await laptop.stop()
            say = await desk.say(session, "forget this")

            outcomes = await asyncio.gather(laptop.open(), desk.withdraw_say(say.id), return_exceptions=True)

            taken_back = outcomes[1] is None
            await desk.say(session, "go on")

            async def received() -> bool:
                return not await server.store.says(session)

            await until(server.hub, received)
            was_sent = say.id in [line["uuid"] for line in laptop.received("user")]
            notices = [item.read() for item in await desk.items(session)]
            reported = sum(isinstance(each, Notice) and each.about == "not withdrawn" for each in notices)
            assert was_sent or taken_back
            assert not (was_sent and taken_back and not reported)


async def give(
    site: MachineSite, kind: InstructionKind, session: str, machine: str, identity: str, value: str = ""
) -> None:
    wanted = Instruction(identity, machine, session, kind, ANA, "web", site.hub.machine.started_at, value=value)
    await site.store.apply([GiveInstruction(wanted)])


async def settled(site: MachineSite, instruction: str) -> Instruction:
    async def holds() -> bool:
        found = await site.store.instruction(instruction)
        return found is not None and found.is_settled

    await until(site.hub, holds)
    found = await site.store.instruction(instruction)
    assert found is not None
    return found


async def test_what_a_killed_hub_had_taken_is_done_again_if_that_does_no_harm(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session = await begin(laptop, "wait")
        epoch = laptop.hub.machine.epoch
        await laptop.kill()
        kinds: Sequence[InstructionKind] = ("interrupt", "fork", "allow_denied", "rename", "mode", "stop")
        for kind in kinds:
            value = {"rename": "Again", "mode": "acceptEdits"}.get(kind, "")
            await give(server, kind, session, laptop.machine, f"i_{kind}", value)
            await server.store.apply([TakeInstruction(f"i_{kind}", epoch)])

        await laptop.open()

        for kind in ("interrupt", "fork", "allow_denied"):
            found = await settled(server, f"i_{kind}")
            assert (found.state, found.reason) == (
                "refused",
                "The hub there restarted. It isn't known whether this was done.",
            )
        assert (await settled(server, "i_rename")).state == "done"
        assert (await settled(server, "i_stop")).state == "done"
        over = await until_phase(server.hub, session, "ended")
        assert over.title == "Again"


async def killed(site: MachineSite) -> None:
    async with asyncio.timeout(DEADLINE):
        while not site.store.is_killed:
            await asyncio.sleep(0)
    await site.kill()


async def test_a_stop_and_a_resume_that_were_done_but_not_settled_are_not_done_twice(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        desk = server.hub.desk
        session = await begin(laptop)

        async def die(changes: Sequence[Change]) -> None:
            if any(isinstance(each, SettleInstruction) for each in changes):
                laptop.store.is_killed = True

        laptop.store.before = die
        stopping = asyncio.create_task(desk.stop(session))
        await killed(laptop)
        await laptop.open()
        await stopping
        await until_phase(server.hub, session, "ended")

        laptop.store.before = die
        resuming = asyncio.create_task(desk.resume(session, "go on"))
        await killed(laptop)
        await laptop.open()
        await resuming

        await until_turns(server.hub, session, 2)
        messages = [line["uuid"] for line in laptop.received("user")]
        assert len(messages) == len(set(messages)) == 2
        assert await desk.instructions(session) == []


async def test_what_waited_too_long_for_a_restarted_hub_is_not_done(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session = await begin(laptop, "wait")
        await laptop.stop()
        await give(server, "interrupt", session, laptop.machine, "i_late")

        await laptop.open()

        assert (await settled(server, "i_late")).reason == "The machine was away or restarting. Try again."
        assert (await server.hub.desk.session(session)).session.phase == "working"


async def test_resume_that_is_given_twice_is_done_once(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server", "phone") as (laptop, server, phone):
        session = await begin(laptop)
        await laptop.hub.desk.stop(session)
        await until_phase(server.hub, session, "ended")

        outcomes = await asyncio.gather(
            server.hub.desk.resume(session), phone.hub.desk.resume(session), return_exceptions=True
        )

        assert sum(isinstance(each, Refused) for each in outcomes) == 1
        resumed = await until_phase(server.hub, session, "idle")
        assert resumed.run == 2


async def test_a_machine_that_does_not_respond_is_said_and_what_is_late_is_taken_back(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session = (await server.hub.desk.session(await begin(laptop))).session
        laptop.store.is_killed = True  # it hangs: its lease holds, but it does nothing
        async with Dispatcher(server.store, now, bytes, patience=0.01) as hurried:
            with pytest.raises(WishRefused, match=r"didn't respond\. Nothing was done"):
                await hurried.give(session, "interrupt", ANA, "web")
            assert await server.store.instructions() == []
        async with Dispatcher(server.store, now, lambda size: b"\1" * size, patience=0.01) as other:
            with pytest.raises(WishRefused, match="still waiting there"):
                await other.give(session, "stop", ANA, "web")
            assert [each.kind for each in await server.store.instructions()] == ["stop"]
