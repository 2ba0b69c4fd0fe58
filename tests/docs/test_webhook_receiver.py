"""The receiver on the page about webhooks: it is run as it stands there, and checks what a hub sends."""

import asyncio
import os
import re
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import msgspec

from surfaces.webhooks.hooked import add, hooked

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"


def receiver_on_the_page() -> str:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return str(code)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def until_open(port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return


async def test_the_receiver_on_the_page_accepts_what_a_hub_sends_and_nothing_else(tmp_path: Path) -> None:
    port, file = free_port(), tmp_path / "receiver.py"
    file.write_text(receiver_on_the_page())
    async with hooked(tmp_path) as (_, client, _):
        webhook, secret = await add(client, f"http://127.0.0.1:{port}/hook")
        environ = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": secret}
        running = await asyncio.create_subprocess_exec(sys.executable, str(file), env=environ, stdout=PIPE, stderr=PIPE)
        assert running.stdout is not None
        try:
            await until_open(port)
            tried = (await client.post(f"/api/webhooks/{webhook}/test")).json()
            assert (tried["state"], tried["attempts"][-1]["status"]) == ("sent", 204)
            event = msgspec.json.decode(await asyncio.wait_for(running.stdout.readline(), 30))
            assert event["type"] == "webhook.test"
            await client.post(f"/api/webhooks/{webhook}/secret")
            assert (await client.post(f"/api/webhooks/{webhook}/test")).json()["state"] == "sent", "both secrets sign"
            stranger, _ = await add(client, f"http://127.0.0.1:{port}/hook", name="stranger")
            refused = (await client.post(f"/api/webhooks/{stranger}/test")).json()
            assert (refused["state"], refused["attempts"][-1]["status"]) == ("failed", 401)
        finally:
            running.terminate()
            await running.communicate()


def test_the_receiver_is_short() -> None:
    lines = [line for line in receiver_on_the_page().splitlines() if line.strip()]
    body = lines[lines.index("    def do_POST(self):") + 1 :]
    assert len(body) <= 11
