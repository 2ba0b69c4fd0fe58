"""An upgrade while Claude waits: the old hub is stopped, the new one starts on the same state, the answer arrives."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import HubConfig, hub
from handraise.model.asks import Permission
from handraise.store.sqlite.database import schema
from stories.house import seen
from stories.older import OLDER, PREVIOUS, ROOT, has_history, install_older
from stories.serving_house import command, desk, serve, settle_in, stop_all, surroundings
from stories.test_backup import last_text

OLD_STATES = sorted((ROOT / "tests" / "upgrades").glob("schema-*.sql"))


def touch(conversation: Conversation) -> Script:
    while True:
        path = f"{conversation.directory}/made"
        conversation = yield [say("May I?"), use("Bash", command=f"touch {path}", description="Touch a file")]
        conversation = yield [say(f"Done: {conversation.result().text or 'yes'}")]


async def older_command(environ: dict[str, str], directory: Path, *words: str) -> str:
    """Runs a command of the older version."""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", "handraise", *words],
        env=environ, cwd=directory, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


async def waiting_session(environ: dict[str, str], work: Path) -> tuple[str, str]:
    """A session that asks for a permission, and its ask. Also a rule."""
    session = (await older_command(environ, work, "run", "--detach", "Touch a file.")).split()[-1]
    async with asyncio.timeout(60):
        while not (listed := await older_command(environ, work, "inbox", "--json")):
            await asyncio.sleep(0.05)
    await older_command(environ, work, "rules", "add", "deny", "--tool", "WebFetch")
    return session, json.loads(listed.splitlines()[0])["id"]


async def upgraded_from(version: int, tmp_path: Path) -> None:
    """What a person does: install the new version, stop the hub, start it again."""
    if not has_history(OLDER[version]):
        pytest.skip("needs the repository's history")
    installed = await asyncio.to_thread(install_older, OLDER[version], tmp_path / "older")
    settle_in(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    async with ScriptedModel({"touch": touch}) as model:
        environ = surroundings(tmp_path, model.url("touch"))
        old = {**environ, "PYTHONPATH": os.pathsep.join([str(installed), *sys.path])}
        async with serve(tmp_path, old) as before:
            session, ask = await waiting_session(old, work)
            await before.stop()
        assert schema(tmp_path / "state" / "hub.db")[0] == version
        async with serve(tmp_path, environ) as after, desk(tmp_path) as owner:
            assert "Reattached 1 session" in after.output
            found = await owner.ask(ask)
            assert (found.state, found.session) == ("open", session)
            assert [rule.tool for rule in await owner.rules()] == ["WebFetch"]
            assert not (work / "made").exists()
            assert (await command(environ, "answer", ask, "--allow"))[0] == 0
            assert "Done" in await last_text(owner, session)
            assert (work / "made").exists()
            await owner.say(session, "Once more.")
            await seen(owner, lambda each: type(each).__name__ == "AskOpened", session, await owner.newest() - 1)
            await after.stop()
        await stop_all(tmp_path, environ)
        assert model.errors == []


async def test_an_upgrade_from_the_previous_version_loses_no_session(tmp_path: Path) -> None:
    await upgraded_from(PREVIOUS, tmp_path)


@pytest.mark.torture
@pytest.mark.parametrize("version", [each for each in OLDER if each != PREVIOUS])
async def test_an_upgrade_from_any_older_version_loses_no_session(version: int, tmp_path: Path) -> None:
    await upgraded_from(version, tmp_path)


@pytest.mark.parametrize("dump", OLD_STATES, ids=lambda path: path.stem)
async def test_a_database_of_an_older_version_is_migrated_with_everything_in_it(dump: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    with closing(apsw.Connection(str(state / "hub.db"))) as database:
        database.execute(dump.read_text()).fetchall()
    async with hub(HubConfig(state, Path(os.devnull), {})) as opened:
        [summary] = await opened.desk.sessions()
        assert summary.session.machine == opened.machine.id
        assert summary.session.ended is not None  # its Claude is gone, and it can be resumed
        assert summary.session.ended.how == "lost"
        [ask] = await opened.store.asks(session=summary.session.id)
        assert ask.state == "withdrawn"
        assert isinstance(ask.body, Permission)
        assert ask.body.input["command"].startswith("touch ")
        assert [rule.tool for rule in await opened.desk.rules()] == ["WebFetch"]
        assert [token.name for token in await opened.store.tokens()] == ["ana"]
        texts = [each.read() for each in await opened.store.items(after=0)]
        assert "Touch a file." in str(texts)
        assert "May I?" in str(texts)
    found, known = schema(state / "hub.db")
    assert found == known > int(dump.stem.rpartition("-")[2])
