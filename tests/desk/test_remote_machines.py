"""A desk over HTTP at one hub, and sessions on the machine of another."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from handraise.desk.interface import NotFound, Refused, Waiting
from handraise.desk.remote import RemoteDesk
from handraise.model.actors import Person
from handraise.model.projects import Options
from handraise.serving.serve import ServeConfig, reachable
from hub.fleet import MachineSite, fleet_of, until_phase, until_turns


@dataclass
class TwoMachines:
    """A desk at the laptop's hub, and a session of the server that has had a turn."""

    desk: RemoteDesk
    laptop: MachineSite
    server: MachineSite
    session: str


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[TwoMachines]:
    service = ServeConfig(tmp_path / "served", Path("/bin/false"), {}, port=0)
    service.state.mkdir(mode=0o700)
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server), reachable(laptop.hub, service) as up:
        made = await up.auth.make("ana", "admin", Person("ana"), "test")
        async with RemoteDesk(up.base, made.secret, source="web") as desk:
            project = await desk.add_project(str(laptop.work), "app", Options())
            await desk.change_project(project.id, None, None, path=str(server.work), machine="server")
            started = (await desk.start("go", "app", machine="server")).session
            await until_turns(laptop.hub, started.id)
            yield TwoMachines(desk, laptop, server, started.id)


async def test_a_session_runs_where_it_was_started_and_is_steered_from_elsewhere(two: TwoMachines) -> None:
    session = (await two.desk.session(two.session)).session
    assert (session.machine, session.directory) == (two.server.machine, str(two.server.work.resolve()))
    machines = {each.machine.name: each for each in await two.desk.machines()}
    assert (machines["laptop"].here, machines["server"].here, machines["server"].sessions) == (True, False, 1)
    await two.desk.change_mode(two.session, "plan")
    await two.desk.stop(two.session)
    await until_phase(two.laptop.hub, two.session, "ended")
    resumed = await two.desk.resume(two.session, "go on")
    assert resumed.session.id == two.session
    await until_turns(two.laptop.hub, two.session, 2)


async def test_what_waits_says_so_is_listed_and_can_be_taken_back(two: TwoMachines) -> None:
    await two.server.stop()
    with pytest.raises(Waiting, match="server"):
        await two.desk.stop(two.session)
    (waiting,) = await two.desk.instructions(two.session)
    assert (waiting.kind, waiting.state, waiting.machine) == ("stop", "waiting", two.server.machine)
    await two.desk.withdraw_instruction(waiting.id)
    assert await two.desk.instructions(two.session) == []
    with pytest.raises((NotFound, Refused)):
        await two.desk.withdraw_instruction(waiting.id)
    say = await two.desk.say(two.session, "later")
    await two.desk.withdraw_say(say.id)
    with pytest.raises((NotFound, Refused)):
        await two.desk.withdraw_say(say.id)


async def test_what_makes_sense_only_now_is_refused_with_the_reason(two: TwoMachines) -> None:
    await two.server.stop()
    for refused in (two.desk.interrupt(two.session), two.desk.change_mode(two.session, "plan")):
        with pytest.raises(Refused, match="server") as raised:
            await refused
        assert not isinstance(raised.value, Waiting)
    assert await two.desk.instructions(two.session) == []


async def test_a_machine_is_renamed_and_not_forgotten_while_it_has_sessions(two: TwoMachines) -> None:
    renamed = await two.desk.rename_machine("server", "builder")
    assert (renamed.id, renamed.name) == (two.server.machine, "builder")
    with pytest.raises(Refused, match="builder"):
        await two.desk.forget_machine(two.server.machine)
    await two.server.stop()
    with pytest.raises(Refused, match="builder"):
        await two.desk.forget_machine(two.server.machine)
    with pytest.raises(NotFound):
        await two.desk.forget_machine("m_none")
