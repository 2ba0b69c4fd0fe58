"""Commands, models, files and directories over HTTP: who may see them, and what is never shown."""

from pathlib import Path

from msgspec.structs import replace

from api.hubs import two_hubs
from api.served import Served, error_of, served
from handraise.model.abilities import Abilities, ModelChoice, SlashCommand
from handraise.session import abilities
from handraise.store.changes import SaveSession

SONNET = ModelChoice("sonnet", "Sonnet", "For daily use")
OFFERED = Abilities((SlashCommand("compact", "Clear the context"),), (SONNET,))


async def learn(hub: Served, directory: str, offered: Abilities = OFFERED) -> None:
    store = hub.up.hub.store
    await store.apply(abilities.saved(offered, store.machine, directory))


async def test_files_of_a_session_are_found_by_what_was_typed(tmp_path: Path) -> None:
    work = tmp_path.resolve() / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "app.py").touch()
    (tmp_path / "secret.txt").touch()
    async with served(tmp_path) as hub, hub.client("approver") as client:
        session = await hub.session(directory=str(work))
        path = f"/api/sessions/{session.id}/files"

        assert (await client.get(path, params={"q": "app"})).json() == {"files": ["src/app.py"], "complete": True}
        for outside in ("../", "../secret", str(tmp_path), "secret", "/etc/"):
            assert (await client.get(path, params={"q": outside})).json()["files"] == []
        assert (await client.get("/api/sessions/s_none/files")).status_code == 404


async def test_a_directory_that_became_a_link_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    work = tmp_path.resolve() / "work"
    work.symlink_to(tmp_path / "elsewhere")
    async with served(tmp_path) as hub, hub.client("approver") as client:
        session = await hub.session(directory=str(work))
        refused = await client.get(f"/api/sessions/{session.id}/files")

        assert refused.status_code == 409
        assert "any more" in error_of(refused)["message"]


async def test_files_of_a_directory_are_found_before_there_is_a_session(tmp_path: Path) -> None:
    (tmp_path / "shop" / "src").mkdir(parents=True)
    (tmp_path / "shop" / "src" / "app.py").write_text("x")
    (tmp_path / "secret.txt").write_text("x")
    async with served(tmp_path) as hub, hub.client("admin") as client:
        where = {"path": str(tmp_path / "shop")}
        found = await client.get("/api/directories/files", params={**where, "q": "app"})
        assert found.json() == {"files": ["src/app.py"], "complete": True}
        for outside in ("../secret", str(tmp_path / "secret.txt")):
            found = await client.get("/api/directories/files", params={**where, "q": outside})
            assert found.json()["files"] == []


async def test_commands_of_a_session_on_another_machine_are_known(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as (one, two), one.client("approver") as client:
        session = replace(await two.session(directory=str(tmp_path)), machine=two.up.hub.store.machine)
        await two.up.hub.store.apply([SaveSession(session)])
        await learn(two, str(tmp_path))
        there = {"directory": str(tmp_path), "machine": two.up.hub.machine.id}
        for query in ({"session": session.id}, there):
            offered = (await client.get("/api/abilities", params=query)).json()
            assert [each["name"] for each in offered["commands"]] == ["compact"]
        here = (await client.get("/api/abilities", params={"directory": str(tmp_path)})).json()
        assert here["commands"] == []


async def test_commands_belong_to_a_directory_and_models_to_all(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        assert (await client.get("/api/abilities")).json() == {"commands": [], "models": []}
        await learn(hub, "/work")
        known = await hub.session(directory="/work")
        other = await hub.session(directory="/other")
        there = (await client.get("/api/abilities", params={"session": known.id})).json()
        elsewhere = (await client.get("/api/abilities", params={"session": other.id})).json()

        assert there["commands"] == [{"name": "compact", "description": "Clear the context", "hint": ""}]
        assert elsewhere["commands"] == []
        assert (
            there["models"]
            == elsewhere["models"]
            == [{"value": "sonnet", "name": "Sonnet", "description": "For daily use", "resolved": ""}]
        )


async def test_what_claude_said_last_counts(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        await learn(hub, "/work")
        await learn(hub, "/work", Abilities((SlashCommand("new"),)))
        found = (await client.get("/api/abilities", params={"directory": "/work"})).json()
        assert [each["name"] for each in found["commands"]] == ["new"]


async def test_directories_are_for_admins_and_the_hubs_own_are_for_nobody(tmp_path: Path) -> None:
    (tmp_path / "root" / "project" / ".git").mkdir(parents=True)
    root = str((tmp_path / "root").resolve())
    async with served(tmp_path) as hub, hub.client("admin") as client, hub.client("approver") as approver:
        found = (await client.get("/api/directories", params={"path": root})).json()
        assert found == {
            "path": root,
            "parent": str(tmp_path.resolve()),
            "repository": False,
            "directories": [{"name": "project", "path": f"{root}/project", "is_repository": True}],
            "complete": True,
        }
        assert (await client.get("/api/directories")).status_code == 200
        assert (await approver.get("/api/directories", params={"path": root})).status_code == 403
        assert (await approver.get("/api/directories/files", params={"path": root})).status_code == 403
        for path, status in {
            f"{root}/../..": 422,
            "relative": 422,
            f"{root}/gone": 404,
            str(hub.state): 409,
            f"{hub.state}/sessions": 409,
            "/\0": 422,
        }.items():
            assert (await client.get("/api/directories/files", params={"path": path})).status_code == status
            refused = await client.get("/api/directories", params={"path": path})
            assert refused.status_code == status, path
            assert error_of(refused)["message"]
