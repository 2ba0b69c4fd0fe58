"""Directories belong to machines: those of projects, the trust in them, and the rules for them."""

from pathlib import Path

import pytest

from handraise.desk.interface import Invalid, NotFound, Refused
from handraise.model.answers import Trusting
from handraise.model.machines import Place
from handraise.model.projects import Options
from handraise.model.rules import Rule
from hub.fleet import fleet_of, next_ask, until_turns
from hub.test_many_machines import with_project


async def test_a_project_has_a_directory_on_each_machine_and_one_name(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        project = await with_project(laptop)
        here, there = laptop.hub.desk, server.hub.desk
        with pytest.raises(Refused, match="no directory on machine `server`"):
            await there.start("go", "app")

        changed = await here.change_project(project, None, None, f"{server.work}/../work", "server")

        assert changed.elsewhere == (Place(server.machine, str(server.work)),)
        (seen,) = await there.projects()
        assert (seen.path, seen.elsewhere) == (str(server.work), (Place(laptop.machine, str(laptop.work)),))
        started = await there.start("go", "app")
        assert (started.session.machine, started.session.project) == (server.machine, project)
        with pytest.raises(Invalid, match="absolute"):
            await here.change_project(project, None, None, "relative", "server")
        with pytest.raises(NotFound, match="no machine moon"):
            await here.change_project(project, None, None, "/x", "moon")
        with pytest.raises(Refused, match="already a project"):
            await there.add_project(str(server.work), "other", Options())
        with pytest.raises(Refused, match="already a project called"):
            await there.add_project("/srv/other", "app", Options(), machine="laptop")
        await there.change_project(project, "renamed", None, "", "server")
        (seen,) = await here.projects()
        assert (seen.name, seen.path, seen.elsewhere) == ("renamed", str(laptop.work), ())


async def test_a_project_can_be_added_for_a_machine_from_another_one(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        added = await laptop.hub.desk.add_project(str(server.work), None, Options(), machine="server")

        assert (added.path, added.name) == ("", "work")
        (seen,) = await server.hub.desk.projects()
        assert seen.path == str(server.work)
        started = await laptop.hub.desk.start("go", "work", machine="any")
        assert started.session.machine == server.machine


async def test_trust_that_is_given_elsewhere_is_trust_in_the_directory_that_was_shown(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        (laptop.work / ".claude").mkdir()
        settings = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
        (laptop.work / ".claude" / "settings.json").write_text(settings)
        started = await laptop.hub.desk.start("go", str(laptop.work))
        ask = await next_ask(server.hub, started.session.id)
        assert (ask.kind, ask.machine) == ("trust", laptop.machine)

        await server.hub.desk.answer(ask.id, Trusting("without"))

        await until_turns(server.hub, started.session.id)
        (trust,) = await server.hub.desk.trusts()
        assert (trust.machine, trust.directory) == (laptop.machine, str(laptop.work))
        with pytest.raises(NotFound):
            await server.hub.desk.revoke_trust(str(laptop.work))
        with pytest.raises(NotFound):
            await server.hub.desk.revoke_trust(str(laptop.work), "server")
        await server.hub.desk.revoke_trust(str(laptop.work), "laptop")
        assert await laptop.hub.desk.trusts() == []


async def test_a_rule_for_a_directory_names_the_machine_that_it_is_on(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        project = await with_project(laptop, server)
        desk = laptop.hub.desk

        for_project = await desk.add_rule(Rule("", "allow", tool="Bash", command="ls", project="app"))
        for_path = await desk.add_rule(Rule("", "allow", tool="Bash", command="ls", project=str(laptop.work.parent)))
        for_other = await desk.add_rule(
            Rule("", "allow", tool="Bash", command="ls", project="/srv/x/../y", machine="server")
        )

        assert (for_project.project, for_project.machine) == (project, "")
        assert (for_path.project, for_path.machine) == (str(laptop.work.parent), laptop.machine)
        assert (for_other.project, for_other.machine) == ("/srv/y", server.machine)
        assert {rule.id for rule in await desk.rules()} == {for_project.id, for_path.id, for_other.id}
        with pytest.raises(NotFound):
            await desk.add_rule(Rule("", "allow", tool="Bash", project="/srv/x", machine="moon"))
