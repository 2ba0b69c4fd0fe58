"""Stories of a machine on which no namespaces can be made: every surface says so, and what needs a sandbox refuses.

Such a machine is made here: a user namespace in which no other may be made.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say
from handraise.demo.request import Conversation
from handraise.model.items import Notice, SessionEnded, TurnEnded
from handraise.model.projects import Options
from stories.house import seen
from stories.serving_house import DEADLINE, desk, settle_in, surroundings

WITHOUT = ("unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh")
ADVICE = "sysctl -w user.max_user_namespaces"
HANDRAISE = (*WITHOUT, sys.executable, "-m", "handraise")


@pytest.fixture(autouse=True)
def unshared() -> None:
    tried = shutil.which("unshare") and subprocess.run([*WITHOUT, "true"], capture_output=True, check=False)
    if not tried or tried.returncode:
        pytest.skip("no such machine can be made here: unshare -Ur does not work")


def script(conversation: Conversation) -> Script:
    del conversation
    yield [say("Done.")]


@asynccontextmanager
async def served(tmp: Path, environ: dict[str, str]) -> AsyncIterator[str]:
    """`handraise serve` on such a machine: everything it printed until it was up."""
    child = await asyncio.create_subprocess_exec(
        *HANDRAISE, "serve", "--port", "0", "--stop-sessions",
        env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        text = ""
        async with asyncio.timeout(DEADLINE):
            while "token link" not in text:
                line = await child.stdout.readline()
                assert line, text
                text += line.decode()
        yield text
        child.terminate()
        async with asyncio.timeout(DEADLINE):
            await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def test_every_surface_says_that_there_is_no_sandbox_and_what_needs_one_does_not_start(tmp_path: Path) -> None:
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"script": script}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        async with served(tmp_path, environ) as text, desk(tmp_path) as owner:
            assert "no sandbox" in text
            assert ADVICE in text
            base = text.partition("up at ")[2].split()[0]
            health = await asyncio.to_thread(lambda: json.load(urllib.request.urlopen(f"{base}/api/health")))
            assert health["sandbox"] is False
            session = (await owner.start("Go.", str(tmp_path / "work"))).session
            heard = await seen(owner, lambda each: isinstance(each, TurnEnded | SessionEnded), session.id)
            assert isinstance(heard[-1], TurnEnded)
            assert [each.about for each in heard if isinstance(each, Notice)] == ["sandbox"]

            # A session that needs one does not start.
            (tmp_path / "walled").mkdir()
            await owner.add_project(str(tmp_path / "walled"), None, Options(sandbox="project"))
            session = (await owner.start("Go.", str(tmp_path / "walled"))).session
            heard = await seen(owner, lambda each: isinstance(each, TurnEnded | SessionEnded), session.id)
            assert isinstance(heard[-1], SessionEnded)
            assert heard[-1].how == "failed"
            assert ADVICE in heard[-1].reason
        doctor = await asyncio.create_subprocess_exec(*HANDRAISE, "doctor", env=environ, stdout=subprocess.PIPE)
        found = (await doctor.communicate())[0].decode()
        assert "No sandbox" in found
        assert ADVICE in found
