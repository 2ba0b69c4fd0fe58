"""Files of a Claude on one machine, and a person at the other: two hubs in their own processes, and PostgreSQL.

The other machine's hub is of an older version at first, is upgraded, freezes, and is killed.
"""

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from handraise.client.connection import HttpClient
from handraise.demo.model import EACH_SESSION, ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.answers import Allow
from handraise.model.items import MachineChanged, SessionChanged, TurnEnded
from handraise.model.projects import Options
from postgres.cluster import Cluster
from postgres.proxy import Proxy
from stories.house import next_ask, seen
from stories.older import BEFORE_LOOKUPS, check_out_older, has_history
from stories.serving_house import surroundings
from stories.sites import DEADLINE, ServedSite

SECRET = "the content of a file"


def work(conversation: Conversation) -> Script:
    command = f"printf 'two\\n{SECRET}\\n' > {conversation.directory}/a.py"
    yield [use("Bash", command=command, description="Change a file")]
    yield [say("Changed.")]


def repository(top: Path) -> None:
    (top / "a.py").write_text("one\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=top, check=True, capture_output=True, timeout=60)


async def ask(site: ServedSite, route: str, body: Any = None, /, **query: str) -> tuple[int, Any]:
    """What its hub says: the status, and the content or the sentence."""
    sent = None if body is None else json.dumps(body).encode()
    async with HttpClient(site.state / "hub.sock", {}, deadline=DEADLINE) as http:
        response = await http.request("GET" if sent is None else "POST", route, query=query, content=sent)
    content = json.loads(response.body)
    return response.status, content["error"]["message"] if "error" in content else content


async def diff_printed(site: ServedSite, session: str) -> str:
    environ = {**surroundings(site.folder), "HANDRAISE_STATE": str(site.state)}
    command = (sys.executable, "-m", "handraise", "diff", session)
    child = await asyncio.create_subprocess_exec(*command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    async with asyncio.timeout(DEADLINE):
        output, errors = await child.communicate()
    assert child.returncode == 0, errors
    return output.decode()


@pytest.mark.skipif(not has_history(BEFORE_LOOKUPS), reason="the repository's history isn't here")
async def test_files_on_another_machine_are_seen_and_reverted_through_everything(
    tmp_path: Path, cluster: Cluster, empty_database: str
) -> None:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel({"script": work}, stretch=0))
        proxy = await stack.enter_async_context(Proxy(cluster.port))
        url = model.url("script", EACH_SESSION)
        alder, birch = (ServedSite(name, tmp_path / name, proxy, empty_database, url) for name in ("alder", "birch"))
        birch.code = await asyncio.to_thread(check_out_older, BEFORE_LOOKUPS, tmp_path / "older")
        for site in (birch, alder):  # the newer one migrates the schema while the older one runs
            await stack.enter_async_context(site.kept())
            await site.up()
        repository(birch.work)
        desk = await stack.enter_async_context(alder.desk())
        async with birch.desk() as there:
            await there.add_project(str(birch.work), "app", Options())
        session = (await desk.start("work", "app", machine="birch")).session
        changes, file = f"/api/sessions/{session.id}/changes", birch.work / "a.py"

        # An older hub goes on with its work, and what it doesn't know gets a sentence.
        permission = await next_ask(desk, session)
        unknown, listed, reverted = await asyncio.gather(
            ask(alder, changes),
            ask(alder, "/api/directories", machine="birch"),
            ask(alder, f"{changes}/revert", {"path": "a.py", "digest": "x"}),
        )
        assert unknown == listed == (409, "Machine `birch` didn't respond. Try again.")
        assert reverted == (409, "This failed there. See that hub's log.")
        await desk.answer(permission.id, Allow())
        await seen(desk, lambda each: isinstance(each, TurnEnded), session.id)
        assert SECRET in file.read_text()

        await birch.stop()
        birch.code = None
        birch.come_back()
        await birch.up()

        # As if the files were here.
        status, review = await ask(alder, changes)
        assert (status, review["source"], review["since_start"]) == (200, "git", True)
        assert [each["path"] for each in review["files"]] == ["a.py"]
        printed = await diff_printed(alder, session.id)
        assert (f"+{SECRET}\n" in printed, "-one\n" in printed) == (True, True)
        assert (await ask(alder, f"/api/sessions/{session.id}/files", q="a"))[1]["files"] == ["a.py"]
        _, listed_there = await ask(alder, "/api/directories", machine="birch", path=str(birch.folder))
        assert "work" in [each["name"] for each in listed_there["directories"]]
        _, shown = await ask(alder, f"{changes}/file", path="a.py")
        wanted = {"path": "a.py", "digest": shown["digest"]}

        # It freezes: nothing is done, not even later.
        birch.signal(signal.SIGSTOP)
        frozen, late = await asyncio.gather(ask(alder, changes), ask(alder, f"{changes}/revert", wanted))
        assert frozen[0] == late[0] == 409
        assert "Machine `birch`" in frozen[1]
        assert "birch" in late[1]
        birch.signal(signal.SIGCONT)
        await birch.up()
        assert (await ask(alder, changes))[0] == 200
        assert SECRET in file.read_text()

        # It is killed while it is asked: a sentence, and the next hub answers.
        after = await desk.newest()
        asking = asyncio.create_task(ask(alder, changes))
        birch.leave()
        killed = await asking
        assert killed[0] == 200 or "Machine `birch`" in killed[1]
        await seen(desk, lambda each: _is_away(each, birch), after=after)
        assert "is away" in (await ask(alder, f"{changes}/file", path="a.py"))[1]
        assert "is away" in (await ask(alder, f"{changes}/revert", wanted))[1]
        birch.come_back()
        await birch.up()

        assert await ask(alder, f"{changes}/revert", wanted) == (200, {"done": True})
        assert file.read_text() == "one\n"
        [entry] = (await ask(alder, "/api/audit", what="file reverted"))[1]["entries"]
        assert entry["session"] == session.id
        assert not await asyncio.to_thread(_is_stored, cluster, empty_database)

        after = await desk.newest()
        await desk.stop(session.id)
        await seen(desk, lambda each: isinstance(each, SessionChanged) and each.phase == "ended", session.id, after)
        assert model.errors == []


def _is_away(content: object, site: ServedSite) -> bool:
    return (
        isinstance(content, MachineChanged)
        and content.machine["id"] == site.machine
        and content.machine["away_since"] is not None
    )


def _is_stored(cluster: Cluster, database: str) -> bool:
    """Whether anything of what was looked up is left in the database."""
    name = database.rpartition("/")[2]
    counts = [
        int(cluster.run(f"SELECT count(*) FROM handraise.{table}", database=name)[0][0])
        for table in ("lookups", "lookup_pieces")
    ]
    return any(counts)
