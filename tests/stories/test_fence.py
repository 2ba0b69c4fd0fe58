"""Stories of the fence: what Claude's own tools can do with the hub's socket. Nothing, and it is recorded.

The fence is what is left where there is no sandbox: inside one the socket is not even there (`attacks/`).
"""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from api.served import Served
from handraise.api.guard import TrustedProxy
from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import HubConfig, hub
from handraise.model.items import TurnEnded
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.serving.serve import ServeConfig, serving
from stories.house import seen
from stories.serving_house import command, surroundings

SPEAKER = """
import json, sys, urllib.error, urllib.request
base = sys.argv[1]
sent = json.dumps({"answer": {"answers": [{"labels": ["A"]}]}}).encode()
headers = {"x-user": "ana", "origin": base, "content-type": "application/json"}
try:
    print(urllib.request.urlopen(urllib.request.Request(f"{base}/api/asks/a_2/answer", sent, headers)).status)
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


def runs(*turns: Sequence[str]) -> Scripted:
    """A model that has Bash run these: some lines for each message."""

    def script(conversation: Conversation) -> Script:
        for lines in turns:
            conversation = yield [use("Bash", command=line, description="Answer for the person") for line in lines]
            conversation = yield [say(conversation.result().text)]

    return script


def answering(tmp: Path, ask: str) -> str:
    environ = " ".join(f"{name}='{value}'" for name, value in surroundings(tmp).items() if name != "HOME")
    return f"env {environ} {sys.executable} -m handraise answer {ask} --choose A"


# Each is how a tool may try to leave its family before it speaks to the hub.
WAYS_OUT = {
    "plainly": "{answer} > {out} 2>&1; echo exit $? >> {out}",
    "detached": "setsid sh -c '{answer} > {out} 2>&1; echo exit $? >> {out}' > /dev/null 2>&1 &",
    "daemonised": (
        '{python} -c "import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); '
        "time.sleep(0.5); os.execv('/bin/sh', ['sh', '{script}'])\" > /dev/null 2>&1"
    ),
}


async def test_a_tool_of_claude_cannot_answer_for_the_person(tmp_path: Path) -> None:  # lesson 45
    typed = []
    outs = {way: tmp_path / f"{way}.txt" for way in WAYS_OUT}
    for number, (way, out) in enumerate(outs.items(), 1):
        script = tmp_path / f"{way}.sh"
        line = answering(tmp_path, f"a_{number}")
        script.write_text(f"{line} > {out} 2>&1; echo exit $? >> {out}\n")
        quoted = line.replace("'", '"') if way == "detached" else line
        typed.append(WAYS_OUT[way].format(answer=quoted, out=out, python=sys.executable, script=script))
    session = ""
    async with _model(tmp_path, runs(*([each] for each in typed))) as (environ, work):
        # Each hub immediately records the first of many similar attempts.
        for number, (way, out) in enumerate(outs.items(), 1):
            async with _served(tmp_path, environ, options=Options(sandbox="off")) as served:
                desk = served.up.hub.desk
                before = await desk.newest()
                ask = (await served.ask(name=f"a_{number}")).id
                if session:
                    await desk.say(session, "Go on.")
                else:
                    session = (await desk.start("Go on.", str(work))).session.id
                async with asyncio.timeout(60):
                    while not out.exists() or "exit" not in out.read_text():
                        await asyncio.sleep(0.05)
                assert out.read_text().endswith("exit 4\n"), (way, out.read_text())
                assert "role (you are an agent)" in out.read_text(), way
                assert (await desk.ask(ask)).state == "open"
                tried = await desk.audit(what="refused")
                assert len(tried) == number, way
                assert (tried[-1].source, tried[-1].ask) == ("terminal", ask), way
                assert "a tool of Claude" in tried[-1].by.name
                await seen(desk, lambda content: isinstance(content, TurnEnded), session, before)

                # The person's own terminal has access.
                if number == len(outs):
                    code, text = await command(surroundings(tmp_path), "answer", ask, "--choose", "A")
                    assert (code, text) == (0, "Answered.\n")


async def test_a_tool_of_claude_that_found_a_token_is_still_an_agent_and_no_proxy_that_we_trust(tmp_path: Path) -> None:
    """On loopback, by an admin's token and by a browser's cookie, and then as the proxy of the next hub."""
    out, thief, secret = tmp_path / "out.txt", tmp_path / "steal.py", tmp_path / "secret.txt"
    proxied, speaker = tmp_path / "proxied.txt", tmp_path / "speak.py"
    thief.write_text(STOLEN)
    speaker.write_text(SPEAKER)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    stealing = f"{sys.executable} {thief} {base} {secret} > {out} 2>&1"
    speaking = f"{sys.executable} {speaker} {base} > {proxied} 2>&1"
    async with _model(tmp_path, runs([stealing], [speaking])) as (environ, work):
        async with _served(tmp_path, environ, port=port) as served:
            ask = await served.ask(name="a_1")
            secret.write_text(f"handraise_{port} {await served.token('admin')}")
            desk = served.up.hub.desk
            session = (await desk.start("Go on.", str(work))).session
            await seen(desk, lambda content: isinstance(content, TurnEnded))
            assert out.read_text().split() == ["403", "403"]
            assert (await desk.ask(ask.id)).state == "open"
            tried = await desk.audit(what="refused")
            assert {each.by.name for each in tried} == {"a tool of Claude"}

            # The same program, when a person runs it.
            spoken = await asyncio.create_subprocess_exec(sys.executable, thief, base, secret, stdout=subprocess.PIPE)
            assert (await spoken.communicate())[0].split() == [b"200", b"200"]

        proxy = TrustedProxy("x-user", frozenset({"127.0.0.1"}))
        async with _served(tmp_path, environ, port=port, proxy=proxy, behind_proxy=True) as served:
            desk = served.up.hub.desk
            before = await desk.newest()
            other = await served.ask(name="a_2")
            await desk.say(session.id, "Go on.")
            await seen(desk, lambda content: isinstance(content, TurnEnded), session.id, before)
            assert "403" in proxied.read_text(), proxied.read_text()
            assert (await desk.ask(other.id)).state == "open"
            [last] = (await desk.audit(what="refused"))[len(tried) :]
            assert (last.by.name, last.source, last.ask) == ("a tool of Claude", "web", "a_2")

            # Anything else from there is the proxy.
            spoken = await asyncio.create_subprocess_exec(sys.executable, speaker, base, stdout=subprocess.PIPE)
            assert (await spoken.communicate())[0] == b"200\n"
            assert (await desk.ask(other.id)).state == "answered"


@asynccontextmanager
async def _model(tmp: Path, script: Scripted) -> AsyncIterator[tuple[dict[str, str], Path]]:
    work = tmp / "work"
    work.mkdir()
    async with ScriptedModel({"script": script}) as model:
        environ = surroundings(tmp, model.url("script"))
        try:
            yield environ, work
        finally:
            async with hub(HubConfig(tmp / "state", locate(), environ)) as last:
                await last.pool.stop_all()


@asynccontextmanager
async def _served(tmp: Path, environ: dict[str, str], **settings: Any) -> AsyncIterator[Served]:
    service = ServeConfig(tmp / "state", locate(), environ, rules=(ALLOWED,), **{"port": 0, **settings})
    async with serving(service) as up:
        yield Served(up, tmp / "state")
