"""A story of escalation: the real CLI raises its hand, hubs are killed, and each step reaches ntfy on loopback once."""

import asyncio
from pathlib import Path

import httpx2

from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.items import TurnEnded
from stories.serving_house import command, desk, serve, settle_in, surroundings
from stories.test_serve import next_ask, until

SETTINGS = "[notifications]\nprivate_addresses = true\n"


def touch(_: Conversation) -> Script:
    yield [say("I'll make a file."), use("Bash", command="touch done")]
    yield [say("Not done.")]


async def arrived(ntfy: NtfyServer, count: int) -> None:
    async with asyncio.timeout(60):
        while len({each["sequence_id"] for each in ntfy.published}) < count:
            await asyncio.sleep(0.02)


async def test_a_chain_goes_on_through_killed_hubs_and_a_button_denies(tmp_path: Path) -> None:
    settle_in(tmp_path, SETTINGS)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"touch": touch}) as model, ntfy_server(NtfyServer()) as ntfy:
        environ = surroundings(tmp_path, model.url("touch"))
        server = f"server=http://127.0.0.1:{ntfy.port}"
        async with serve(tmp_path, environ) as hub, desk(tmp_path) as owner:
            for name in ("phone", "tablet"):
                code, text = await command(environ, "notify", "add", name, "ntfy", server, f"topic={name}")
                assert code == 0, text
            code, text = await command(environ, "notify", "chain", "set", "0: phone", "4s: tablet")
            assert code == 0, text
            code, text = await command(environ, "notify", "test", "phone")
            assert (code, text) == (0, "Sent a test to phone.\n")
            ntfy.published.clear()
            async with httpx2.AsyncClient(
                base_url=hub.base, headers={"authorization": f"Bearer {hub.token('ana', 'admin')}"}, timeout=30
            ) as client:
                wanted = {"say": "Go.", "project": str(tmp_path / "work"), "title": "Files"}
                session = (await client.post("/api/sessions", json=wanted)).json()["id"]
            ask = await next_ask(owner, session)
            await arrived(ntfy, 1)
            hub.child.kill()
            await hub.child.wait()

        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            await arrived(ntfy, 2)
            assert {each["topic"] for each in ntfy.published} == {"phone", "tablet"}
            first, second = ntfy.published[0], ntfy.published[-1]
            assert "touch" not in str(ntfy.published)
            assert first["title"] == second["title"] == "Claude needs you: a permission"
            assert second["click"] == f"{hub.base}/sessions/{session}#card-{ask.id}"
            [deny] = second["actions"]
            async with httpx2.AsyncClient(timeout=30) as phone:
                pressed = await phone.post(deny["url"], content=deny["body"])
                assert pressed.json() == {"ask": ask.id}
            await until(owner, TurnEnded, session)
            assert not (tmp_path / "work" / "done").exists()
            async with asyncio.timeout(60):
                while set(ntfy.deleted) != {each["sequence_id"] for each in ntfy.published}:
                    await asyncio.sleep(0.02)
            code, text = await command(environ, "notify", "log", ask.id)
            assert code == 0
            assert text.count("retracted") == 2
            await hub.stop()
