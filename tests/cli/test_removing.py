"""Sessions and projects are removed: only what has ended, after a question, and with everything stored about it."""

import asyncio
from pathlib import Path

from click.testing import CliRunner, Result
from msgspec.structs import replace

from api.hubs import two_hubs
from api.served import Served, error_of, served
from handraise.cli.main import main
from handraise.model.asks import Permission
from handraise.model.items import SessionRemoved
from handraise.store.changes import SaveSession


async def typed(hub: Served, *words: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, main, [*words, "--state", str(hub.state)])


async def test_sessions_of_another_machine_are_removed_from_here(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as (one, two):
        machine = two.up.hub.machine
        ended, old = await two.session(machine=machine.id), await two.session(machine=machine.id)
        runs = await two.session(phase="idle", machine=machine.id)
        await one.up.hub.store.apply([SaveSession(replace(old, id="s_gone", machine="m_gone"))])
        journal = two.state / "sessions" / ended.id / "1"
        journal.mkdir(parents=True)

        assert (await typed(one, "rm", ended.id, "--yes")).output == "Removed 1 session.\n"
        assert not journal.parent.exists()
        assert await two.up.hub.store.session(ended.id) is None
        assert await two.up.hub.store.instructions() == []
        async with one.client("admin") as client, one.client("approver") as approver:
            refused = await client.delete(f"/api/sessions/{runs.id}")
            assert (refused.status_code, error_of(refused)["code"]) == (409, "refused")
            assert (await approver.delete(f"/api/sessions/{old.id}")).status_code == 403
            away = await client.delete("/api/sessions/s_gone")
            assert (away.status_code, "is away" in error_of(away)["message"]) == (409, True)
        pruned = await typed(one, "prune", "--days", "0", "--yes")
        assert pruned.output == "Left out 1 on machines that are away.\nRemoved 1 session.\n"
        assert {each.session.id for each in await two.up.hub.desk.sessions()} == {runs.id, "s_gone"}
        entries = await two.up.hub.store.audit(what="session removed")
        assert [each.session for each in entries] == [ended.id, old.id]


async def test_sessions_that_ended_are_removed_and_one_that_waits_for_a_person_never_is(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        gone, waits, old = await hub.session(), await hub.session(phase="working"), await hub.session()
        await hub.publish("some text", session=gone.id)
        await hub.ask(Permission("Bash", {"command": "ls"}), session=waits.id)
        journal = hub.state / "sessions" / gone.id / "1"
        journal.mkdir(parents=True)
        (journal / "out.ndjson").write_text("{}")

        # Without a terminal nobody can be asked.
        refused = await typed(hub, "rm", gone.id)
        assert (refused.exit_code, "Use --yes" in refused.output) == (2, True)
        both = await typed(hub, "rm", gone.id, waits.id, "--yes")
        assert (both.exit_code, "stop them first" in both.output) == (4, True)
        assert waits.id in both.output
        assert len(await hub.up.hub.desk.sessions()) == 3

        assert (await typed(hub, "rm", gone.id, "--yes")).output == "Removed 1 session.\n"
        assert not journal.parent.exists()
        assert (await typed(hub, "rm", gone.id, "--yes")).exit_code == 1
        assert [type(item.read()) for item in await hub.up.hub.desk.items(gone.id)] == [SessionRemoved]
        assert "session removed" in (await typed(hub, "audit", "--session", gone.id)).output

        assert (await typed(hub, "prune", "--yes")).output == "Nothing to remove.\n"
        assert (await typed(hub, "prune", "--days", "0", "--yes")).output == "Removed 1 session.\n"
        assert [each.session.id for each in await hub.up.hub.desk.sessions()] == [waits.id]
        assert old.id != waits.id
        assert len(await hub.up.hub.desk.asks()) == 1


async def test_who_may_not_remove_and_what_may_not_be_removed(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as approver, hub.neighbour() as owner:
        ended, runs = await hub.session(), await hub.session(phase="working")
        assert (await approver.delete(f"/api/sessions/{ended.id}")).status_code == 403
        assert error_of(await owner.delete(f"/api/sessions/{runs.id}"))["message"].startswith(
            "This session hasn't ended"
        )
        assert (await owner.delete("/api/sessions/..%2F..%2Fhub.db")).status_code == 404
        assert (hub.state / "hub.db").exists()
        assert (await approver.delete("/api/projects/x")).status_code == 403
        assert (await owner.delete("/api/projects/x")).status_code == 404


async def test_a_project_is_removed_with_its_rules_and_its_directory_stays(tmp_path: Path) -> None:
    (tmp_path / "my shop").mkdir()
    async with served(tmp_path) as hub:
        await typed(hub, "project", "add", str(tmp_path / "my shop"))
        await typed(hub, "rules", "add", "deny", "--tool", "Bash", "--project", "my shop")
        await typed(hub, "rules", "add", "deny", "--tool", "Write")
        token = await hub.token("agent", project=(await hub.up.hub.desk.projects())[0].id)
        assert token
        bound = await typed(hub, "project", "remove", "my shop", "--yes")
        assert (bound.exit_code, "Revoke it first" in bound.output) == (4, True)
        [made] = [each for each in await hub.up.auth.tokens() if each.project]
        await typed(hub, "token", "revoke", made.id)

        asked = await typed(hub, "project", "remove", "my shop")
        assert (asked.exit_code, "Its 1 rule is revoked." in asked.output) == (2, True)
        done = await typed(hub, "project", "remove", "my shop", "--yes")
        assert done.output == "Removed the project my shop. Its 1 rule is revoked. The directory stays.\n"
        assert (tmp_path / "my shop").is_dir()
        assert [rule.tool for rule in await hub.up.hub.desk.rules()] == ["Write"]
        assert await hub.up.hub.desk.projects() == []
        again = await typed(hub, "project", "remove", "my shop", "--yes")
        assert again.exit_code == 2
        assert "handraise project list" in again.output
