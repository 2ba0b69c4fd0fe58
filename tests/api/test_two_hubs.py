"""Two hubs over one database: a sign-in counts at both, ends at both, and live text comes from the other."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
from msgspec.structs import replace

from api.events import ApiEvent, feed
from api.hubs import two_hubs
from api.served import PLAIN, TESTER, Served, served
from api.test_pictures import PNG, picture, say
from handraise.model.items import Preview
from handraise.store.changes import SaveSession

DEADLINE = 20.0


def client_of(hub: Served, secret: str) -> httpx2.AsyncClient:
    headers = {"authorization": f"Bearer {secret}"}
    return httpx2.AsyncClient(base_url=hub.up.base, headers=headers, timeout=30, verify=PLAIN)


async def test_a_stream_at_one_hub_ends_when_its_token_is_revoked_at_the_other(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as (one, two):
        made = await one.up.auth.make("a phone", "viewer", TESTER, "test")
        async with client_of(two, made.secret) as client, feed(client) as stream:
            async with one.client("admin") as admin:
                assert (await admin.delete(f"/api/tokens/{made.token.id}")).status_code == 200
            async with asyncio.timeout(DEADLINE):
                assert [event.kind async for event in stream if event.kind not in ("place", "ping")] == []
            assert (await client.get("/api/me")).status_code == 401


async def test_a_sign_in_at_one_hub_is_one_at_the_other_and_so_is_a_sign_out(tmp_path: Path) -> None:
    async with (
        two_hubs(tmp_path) as (one, two),
        one.browser() as browser,
        httpx2.AsyncClient(base_url=two.up.base, cookies=browser.cookies, verify=PLAIN) as other,
    ):
        assert (await other.get("/api/me")).json()["name"] == "owner"
        assert (await browser.post("/api/logout", json={})).status_code == 200
        assert (await other.get("/api/me")).status_code == 401


async def test_the_cookie_of_a_hub_alone_is_named_after_its_port(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.browser() as browser:
        assert f"handraise_{hub.up.base.rpartition(':')[2]}" in browser.cookies
        assert "shared" not in (await browser.get("/api/me")).json()


async def test_live_text_comes_from_the_other_machine_to_a_page_that_shows_the_session(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as (one, two), one.client("viewer") as client:
        session = replace(await two.session(), machine=two.up.hub.store.machine)
        await two.up.hub.store.apply([SaveSession(session)])
        assert (await client.get("/api/me")).json()["shared"]
        async with feed(client) as elsewhere, feed(client, watch=f"s_other,{session.id}") as watching:
            # One may come too early for a stream that has just begun: any preview may be left out.
            writing = asyncio.create_task(_write(two, session.id))
            async with asyncio.timeout(DEADLINE):
                assert (await _preview(watching))["text"] == "half a"
                # It is there for everyone at this hub, as on its own machine.
                assert (await _preview(elsewhere))["text"] == "half a"
            writing.cancel()


async def _write(hub: Served, session: str) -> None:
    while True:
        hub.up.hub.feed.preview(Preview(session, "m", 0, "text", "half a"))
        await asyncio.sleep(0.04)


async def _preview(stream: AsyncIterator[ApiEvent]) -> Any:
    event = await anext(stream)
    while event.kind != "preview":
        event = await anext(stream)
    return event.data


async def test_a_page_cannot_watch_any_number_of_sessions(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as (one, _), one.client("viewer") as client:
        many = ",".join(f"s_{number}" for number in range(51))
        assert (await client.get("/api/feed", params={"watch": many})).status_code == 422


async def test_a_picture_that_was_sent_at_one_hub_is_shown_at_the_other(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as (one, two), two.client("viewer") as client:
        await say(one, picture(b64encode(PNG).decode()))
        shown = await client.get("/api/sessions/s_1/says/say-1/pictures/0")
        assert (shown.status_code, shown.content) == (200, PNG)
