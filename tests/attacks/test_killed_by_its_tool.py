"""A tool that kills Claude and carries on: as an orphan, it would be the owner on the hub's socket."""

import asyncio
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from attacks.assault import alive
from attacks.test_sandbox import end_all, sandboxed
from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.items import SessionEnded
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.serving.serve import ServeConfig, serving
from stories.house import seen

__all__ = ["sandboxed"]

# Detaches itself, kills Claude, and runs for ten seconds at most: it tries to create a token.
KILLER = """
import os, signal, socket, sys, time
claude, state = int(os.environ["CLAUDE_PID"]), os.environ["STATE"]
for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(each, signal.SIG_IGN)
os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0)
open("there", "w").write("killing")
os.kill(claude, signal.SIGKILL)
body = b'{"name": "mine", "role": "admin"}'
head = b"POST /api/tokens HTTP/1.1\\r\\nhost: localhost\\r\\ncontent-type: application/json\\r\\n"
until = time.monotonic() + 10
while time.monotonic() < until:
    time.sleep(0.05)
    open("lives", "a").write(".")
    try:
        with socket.socket(socket.AF_UNIX) as hub:
            hub.connect(state + "/hub.sock")
            hub.sendall(head + b"content-length: %d\\r\\n\\r\\n" % len(body) + body)
            said = hub.recv(12)
        open("said", "ab").write(said + b"\\n")
        if said.endswith(b"201"):
            break
    except OSError:
        pass
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, because a socket's path must be."""
    made = Path(tempfile.mkdtemp(prefix="hr-"))
    yield made
    shutil.rmtree(made)


async def attack(folder: Path, preset: str, mark: str) -> tuple[str, list[str]]:
    """How the session ended, and which tokens exist once nothing of it runs any more."""
    home, work, state = folder / "home", folder / "work", folder / "home" / "state"
    for each in (home, work):
        each.mkdir()
    (work / "kill.py").write_text(KILLER)

    def script(conversation: Conversation) -> Script:
        del conversation
        yield [use("Bash", command=f"{sys.executable} kill.py {mark}; sleep 60", description="Kill")]
        yield [say("Still there.")]

    async with ScriptedModel({"script": script}) as model:
        environ = {**environment(model.url("script"), str(home)), "STATE": str(state)}
        allowed = Rule("r", "allow", tool="Bash", source="settings")
        options = Options(sandbox=preset, mode="bypassPermissions")
        async with serving(ServeConfig(state, locate(), environ, port=0, rules=(allowed,), options=options)) as up:
            await up.hub.desk.start("Go.", str(work))
            end = (await seen(up.hub.desk, lambda each: isinstance(each, SessionEnded)))[-1]
            assert isinstance(end, SessionEnded)
            if preset == "off":
                async with asyncio.timeout(60):
                    while alive(mark):
                        await asyncio.sleep(0.05)
            assert alive(mark) == []
            return end.how, [each.name for each in await up.auth.tokens()]


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("preset", ["open", "sealed"])
async def test_in_a_sandbox_it_ends_with_claude(folder: Path, preset: str) -> None:
    mark = f"kills-{uuid.uuid4().hex}"
    try:
        how, tokens = await attack(folder, preset, mark)
    finally:
        end_all(folder, mark)
    assert how == "lost"
    assert (folder / "work" / "there").exists()
    assert not (folder / "work" / "said").exists()
    assert "mine" not in tokens


async def test_without_one_it_becomes_the_owner(folder: Path) -> None:
    """The control. Without a sandbox, this is what the hub warns about."""
    mark = f"kills-{uuid.uuid4().hex}"
    try:
        how, tokens = await attack(folder, "off", mark)
    finally:
        end_all(folder, mark)
    assert how == "lost"
    assert "mine" in tokens
