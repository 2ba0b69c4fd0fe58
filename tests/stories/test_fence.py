"""Stories of the fence: what Claude's own tools can do with the hub's socket. Nothing, and it is on record.

The fence is what is left where there is no sandbox: inside one the socket is not even there (`attacks/`).
"""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.told import Told
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.serving import Service, serving
from handraise.surfaces.web.door import TrustedProxy
from stories.house import seen
from stories.serving_house import command, surroundings
from surfaces.web.served import Served

SPEAKER = """
import json, sys, urllib.error, urllib.request
base = sys.argv[1]
sent = json.dumps({"answer": {"answers": [{"labels": ["A"]}]}}).encode()
headers = {"x-user": "ana", "origin": base, "content-type": "application/json"}
try:
    print(urllib.request.urlopen(urllib.request.Request(f"{base}/api/asks/a_1/answer", sent, headers)).status)
except urllib.error.HTTPError as error:
    print(error.code, error.read())
"""
STOLEN = """
import json, sys, urllib.error, urllib.request
base, (cookie, token) = sys.argv[1], open(sys.argv[2]).read().split()
sent = json.dumps({"answer": {"answers": [{"labels": ["A"]}]}}).encode()
plain = {"origin": base, "content-type": "application/json"}
for more in ({"authorization": f"Bearer {token}"}, {"cookie": f"{cookie}={token}"}):
    try:
        print(urllib.request.urlopen(urllib.request.Request(f"{base}/api/asks/a_1/answer", sent, plain | more)).status)
    except urllib.error.HTTPError as error:
        print(error.code)
"""
ALLOWED = Rule("r_bash", "allow", tool="Bash", source="settings")


def runs(line: str) -> Scripted:
    """A model that has Bash run this, and says what came of it."""

    def script(told: Told) -> Script:
        told = yield [use("Bash", command=line, description="Answer for the person")]
        yield [say(told.result().text)]

    return script


def answering(tmp: Path) -> str:
    environ = " ".join(f"{name}='{value}'" for name, value in surroundings(tmp).items() if name != "HOME")
    return f"env {environ} {sys.executable} -m handraise answer a_1 --choose A"


# Each is how a tool may try to leave its family before it speaks to the hub.
WAYS_OUT = {
    "plainly": "{answer} > {out} 2>&1; echo exit $? >> {out}",
    "detached": "setsid sh -c '{answer} > {out} 2>&1; echo exit $? >> {out}' > /dev/null 2>&1 &",
    "daemonised": (
        '{python} -c "import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); '
        "time.sleep(0.5); os.execv('/bin/sh', ['sh', '{script}'])\" > /dev/null 2>&1"
    ),
}


@pytest.mark.parametrize("way", WAYS_OUT)
async def test_a_tool_of_claude_cannot_answer_for_the_person(tmp_path: Path, way: str) -> None:  # lesson 45
    out = tmp_path / "out.txt"
    script = tmp_path / "answer.sh"
    line = answering(tmp_path)
    script.write_text(f"{line} > {out} 2>&1; echo exit $? >> {out}\n")
    quoted = line.replace("'", '"') if way == "detached" else line
    typed = WAYS_OUT[way].format(answer=quoted, out=out, python=sys.executable, script=script)
    async with _hub(tmp_path, runs(typed), options=Options(sandbox="off")) as (hub, work):
        ask = await hub.ask()
        assert ask.id == "a_1"
        desk = hub.up.hub.desk
        await desk.start("Go on.", str(work))
        async with asyncio.timeout(60):
            while not out.exists() or "exit" not in out.read_text():
                await asyncio.sleep(0.05)
        assert out.read_text().endswith("exit 4\n"), out.read_text()
        assert "The role 'agent' may not do this" in out.read_text()
        assert (await desk.ask(ask.id)).state == "open"
        tried = await desk.audit(what="refused")
        assert [(each.source, each.ask) for each in tried] == [("terminal", "a_1")]
        assert "a tool of Claude" in tried[0].by.name

        # The person's own terminal is let in.
        code, said = await command(surroundings(tmp_path), "answer", "a_1", "--choose", "A")
        assert (code, said) == (0, "Answered.\n")
        await seen(desk, lambda content: type(content).__name__ == "TurnEnded")


async def test_a_tool_of_claude_is_no_proxy_that_we_trust(tmp_path: Path) -> None:
    out, speaker = tmp_path / "out.txt", tmp_path / "speak.py"
    speaker.write_text(SPEAKER)
    proxy = TrustedProxy("x-user", frozenset({"127.0.0.1"}))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = f"{sys.executable} {speaker} http://127.0.0.1:{port} > {out} 2>&1"
    async with _hub(tmp_path, runs(line), port=port, proxy=proxy, behind_proxy=True) as (hub, work):
        ask = await hub.ask()
        desk = hub.up.hub.desk
        await desk.start("Go on.", str(work))
        await seen(desk, lambda content: type(content).__name__ == "TurnEnded")
        assert "403" in out.read_text(), out.read_text()
        assert (await desk.ask(ask.id)).state == "open"
        tried = await desk.audit(what="refused")
        assert [(each.by.name, each.source, each.ask) for each in tried] == [("a tool of Claude", "web", "a_1")]

        # Whoever else speaks from there is the proxy.
        spoken = await asyncio.create_subprocess_exec(sys.executable, speaker, hub.up.base, stdout=subprocess.PIPE)
        assert (await spoken.communicate())[0] == b"200\n"
        assert (await desk.ask(ask.id)).state == "answered"


async def test_a_tool_of_claude_that_found_a_token_is_still_an_agent(tmp_path: Path) -> None:
    """On loopback, by an admin's token and by a browser's cookie."""
    out, speaker, secret = tmp_path / "out.txt", tmp_path / "speak.py", tmp_path / "secret.txt"
    speaker.write_text(STOLEN)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = f"{sys.executable} {speaker} http://127.0.0.1:{port} {secret} > {out} 2>&1"
    async with _hub(tmp_path, runs(line), port=port) as (hub, work):
        ask = await hub.ask()
        token = await hub.token("admin")
        secret.write_text(f"handraise_{port} {token}")
        desk = hub.up.hub.desk
        await desk.start("Go on.", str(work))
        await seen(desk, lambda content: type(content).__name__ == "TurnEnded")
        assert out.read_text().split() == ["403", "403"]
        assert (await desk.ask(ask.id)).state == "open"
        tried = await desk.audit(what="refused")
        assert {each.by.name for each in tried} == {"a tool of Claude"}

        # The same program, when a person runs it.
        spoken = await asyncio.create_subprocess_exec(
            sys.executable, speaker, hub.up.base, secret, stdout=subprocess.PIPE
        )
        assert (await spoken.communicate())[0].split() == [b"200", b"200"]


@asynccontextmanager
async def _hub(tmp: Path, script: Scripted, **settings: Any) -> AsyncIterator[tuple[Served, Path]]:
    work = tmp / "work"
    work.mkdir()
    async with ScriptedModel({"script": script}) as model:
        environ = surroundings(tmp, model.url("script"))
        service = Service(tmp / "state", locate(), environ, rules=(ALLOWED,), **{"port": 0, **settings})
        async with serving(service) as up:
            try:
                yield Served(up, tmp / "state"), work
            finally:
                await up.hub.crew.stop_all()
