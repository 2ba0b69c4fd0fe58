"""What Claude starts besides its tools: hooks, servers and the key helper have no network either.

They are the person's own, so nobody is asked about them.
"""

import json
import socket
import sys
from pathlib import Path

import pytest

from attacks.test_sandbox import sandboxed
from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, say
from handraise.demo.request import Conversation
from handraise.hub.hub import HubConfig, hub
from handraise.model.items import TurnEnded
from handraise.model.projects import Options
from stories.house import seen

__all__ = ["sandboxed"]

# Records whether it got through. Its output is a key for the helper, and nothing to the others.
PROBE = """
import pathlib, socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), 20)
    found = "reached"
except OSError as error:
    found = error.strerror
pathlib.Path(sys.argv[1]).write_text(found)
print("key")
"""
WAYS = ("hook", "helper", "server")


def lay(home: Path, work: Path, port: int) -> None:
    probe = work / "probe.py"
    probe.write_text(PROBE)
    words = {way: [sys.executable, "-IS", str(probe), str(work / way), str(port)] for way in WAYS}
    line = {way: " ".join(each) for way, each in words.items()}
    hook = {"hooks": [{"type": "command", "command": line["hook"]}]}
    (home / ".claude").mkdir()
    settings = {"hooks": {"SessionStart": [hook]}, "apiKeyHelper": line["helper"]}
    (home / ".claude" / "settings.json").write_text(json.dumps(settings))
    server = {"command": words["server"][0], "args": words["server"][1:]}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"probe": server}}))


def script(conversation: Conversation) -> Script:
    del conversation
    yield [say("Ready.")]


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize(("preset", "found"), [("project", "reached"), ("sealed", "Connection refused")])
async def test_only_claude_itself_has_the_network(tmp_path: Path, preset: str, found: str) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        lay(home, work, listener.getsockname()[1])
        async with ScriptedModel({"script": script}) as model:
            environ = environment(model.url("script"), str(home))
            options = Options(sandbox=preset)
            async with hub(HubConfig(tmp_path / "state", locate(), environ, options=options)) as up:
                started = await up.desk.start("Begin.", str(work))
                *_, ended = await seen(up.desk, lambda each: isinstance(each, TurnEnded), started.session.id)
                await up.pool.stop_all()
    assert isinstance(ended, TurnEnded)
    assert ended.result == "Ready."
    assert {way: (work / way).read_text() for way in WAYS if (work / way).exists()} == dict.fromkeys(WAYS, found)
