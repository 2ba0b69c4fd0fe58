"""A revoked token ends every open request; and nobody keeps too many open."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from api.events import ApiEvent, feed, items
from api.served import PLAIN, TESTER, Served, error_of, served
from handraise.api.long_requests import AccessRevoked, LongRequests, TooManyRequests, while_allowed
from handraise.auth import Principal, Revocation
from handraise.desk.interface import Unreached
from handraise.desk.remote import NO_TIMEOUT, RemoteDesk
from handraise.model.actors import Person
from handraise.model.asks import Withdrawn
from handraise.model.audit import Entry
from handraise.store.changes import Record

QUESTION = {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_user", "arguments": QUESTION}}
MCP = {"accept": "application/json, text/event-stream"}
LONG = 300


async def test_every_way_whose_answer_goes_on_ends_with_its_token(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for route in hub.up.app.routes:
            goes_on = {route.media, route.alternate_media} & {"text/event-stream", "application/x-ndjson"}
            waits = route.path in ("/mcp", "/claude/poll-answer", "/hooks/claude")
            assert route.long_lived == bool(goes_on or waits), route.path


async def test_an_agent_whose_token_is_revoked_has_withdrawn_and_does_not_hear_the_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        made = await hub.up.auth.make("an agent", "agent", TESTER, "test")
        async with _client(hub, made.secret) as agent:
            async with agent.stream("POST", "/mcp", json=CALL, headers=MCP) as called:
                pieces = called.aiter_raw()
                _, ask = await _raised(hub, await anext(pieces))
                await hub.up.auth.revoke(made.token.id, TESTER, "test")
                assert b'"result"' not in await _rest(pieces)
            assert (await agent.post("/mcp", json=CALL, headers=MCP)).status_code == 401
        settled = await _settled(hub, ask)
        assert settled.reason == "the agent cancelled it"


async def test_nor_does_it_when_it_took_the_call_up_again_at_the_next_hub(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        async with served(tmp_path) as hub:
            made = await hub.up.auth.make("an agent", "agent", TESTER, "test")
            agent = await stack.enter_async_context(_client(hub, made.secret))
            called = await stack.enter_async_context(agent.stream("POST", "/mcp", json=CALL, headers=MCP))
            first = called.aiter_raw()
            event, _ = await _raised(hub, await anext(first))
        later = await stack.enter_async_context(served(tmp_path))
        same = await stack.enter_async_context(_client(later, made.secret))
        resumed = await stack.enter_async_context(same.stream("GET", "/mcp", headers={"last-event-id": event}))
        second = resumed.aiter_raw()
        assert event.encode() in await anext(second)
        await later.up.auth.revoke(made.token.id, TESTER, "test")
        assert b'"result"' not in await _rest(second)


async def test_a_relay_that_came_in_by_a_token_is_hung_up_on_with_it(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        made = await hub.up.auth.make("an agent", "agent", TESTER, "test")
        lines = [f"Authorization: Bearer {made.secret}", f"Handraise-Conversation: {'a' * 32}"]
        async with _connected(hub) as (reader, writer):
            writer.write(_head("POST /mcp/lines", *lines, "Transfer-Encoding: chunked"))
            text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n"
            writer.write(b"%x\r\n%s\r\n" % (len(text), text))
            await reader.readuntil(b'"result"')
            await hub.up.auth.revoke(made.token.id, TESTER, "test")
            with suppress(ConnectionError):
                await reader.read()


async def test_an_export_that_was_cut_off_does_not_look_whole(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        made = await hub.up.auth.make("a script", "admin", TESTER, "test")
        entry = Entry(hub.up.auth.now(), "refused", TESTER, "test", detail={"tried": "x" * 10_000})
        await hub.up.hub.store.apply([Record(entry) for _ in range(1500)])
        async with _connected(hub) as (reader, writer):
            writer.write(_head("GET /api/audit?as=lines", f"Authorization: Bearer {made.secret}"))
            # It isn't read any further, and is more than the system buffers for a client that doesn't read.
            received = await reader.readuntil(b"\r\n\r\n")
            assert received.startswith(b"HTTP/1.1 200")
            await hub.up.auth.revoke(made.token.id, TESTER, "test")
            with suppress(ConnectionError):
                while piece := await reader.read(1 << 20):
                    received = piece
            assert not received.endswith(b"\r\n0\r\n\r\n")


async def test_what_is_sent_slowly_is_not_taken_from_who_is_gone(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as other:
        made = await hub.up.auth.make("a script", "admin", TESTER, "test")
        body = b'{"name":"late","role":"admin"}'
        async with _connected(hub) as (reader, writer):
            lines = [f"Authorization: Bearer {made.secret}", f"Content-Length: {len(body)}", "Expect: 100-continue"]
            writer.write(_head("POST /api/tokens", *lines))
            # "100 Continue" means that access was granted.
            await reader.readuntil(b"100 Continue\r\n\r\n")
            await hub.up.auth.revoke(made.token.id, TESTER, "test")
            assert (await reader.readuntil(b"}}")).startswith(b"HTTP/1.1 401")
            writer.write(body)
        assert all(each["name"] != "late" for each in (await other.get("/api/tokens")).json()["tokens"])


async def test_who_revokes_their_own_token_is_told_that_it_is_done(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        made = await hub.up.auth.make("a script", "admin", TESTER, "test")
        async with _client(hub, made.secret) as client:
            assert (await client.delete(f"/api/tokens/{made.token.id}")).json() == {"done": True}
            assert (await client.get("/api/me")).status_code == 401


async def test_a_token_that_expires_ends_what_is_open_by_it(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for seconds in (1, 4, 16, 60):
            secret = await hub.token("agent", expires_at=datetime.now(UTC) + timedelta(seconds=seconds))
            async with _client(hub, secret) as agent:
                async with agent.stream("POST", "/mcp", json=CALL, headers=MCP) as called:
                    heard = await _rest(called.aiter_raw())
                assert (await agent.post("/mcp", json=CALL, headers=MCP)).status_code == 401
            if called.status_code == 200:
                break
            # The machine was so slow that it was over before it started.
            assert called.status_code == 401
        assert called.status_code == 200
        assert b'"result"' not in heard
        [ask] = await hub.up.hub.desk.asks(state=None)
        assert (await _settled(hub, ask.id)).reason == "the agent cancelled it"


@pytest.mark.parametrize("already", [True, False])
async def test_a_stay_is_over_when_its_visitor_has_left_before_or_meanwhile(already: bool) -> None:
    left = Revocation()
    principal = Principal(Person("ana"), "viewer", left=left)
    if already:
        left.set()
    with pytest.raises(AccessRevoked):
        async with while_allowed(principal):
            await _leave_twice(left)
    async with while_allowed(Principal(Person("ana"), "viewer", left=Revocation(), seconds=3600)):
        await asyncio.sleep(0)


@pytest.mark.parametrize("seconds", [0.01, -1])
async def test_a_stay_is_over_when_its_time_is(seconds: float) -> None:
    with pytest.raises(AccessRevoked):
        async with while_allowed(Principal(Person("ana"), "viewer", left=Revocation(), seconds=seconds)):
            await asyncio.Event().wait()


async def test_somebody_else_s_deadline_is_not_the_end_of_a_stay() -> None:
    with pytest.raises(TimeoutError):
        async with while_allowed(Principal(Person("ana"), "viewer", left=Revocation())), asyncio.timeout(0):
            await asyncio.Event().wait()


async def test_one_token_does_not_take_all_the_room(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(served(tmp_path, most_open=3))
        leaked, other = [await stack.enter_async_context(hub.client("viewer")) for _ in range(2)]
        last = AsyncExitStack()
        record = [await _followed(each, leaked) for each in (stack, stack, last)]
        refused = await leaked.get("/api/feed")
        assert (refused.status_code, error_of(refused)["code"]) == (429, "too_many_open")
        assert error_of(refused)["message"] == ("This token already has 3 open requests. Close some first.")
        # Short requests still work, and everyone else has their own limit.
        assert (await leaked.get("/api/me")).status_code == 200
        owner = await stack.enter_async_context(hub.neighbour())
        record += [await _followed(stack, each) for each in (other, owner, owner, owner, owner)]
        await last.aclose()
        while (await _status(leaked, "/api/feed")) == 429:
            await asyncio.sleep(0.01)
        await hub.publish("still there")
        for stream in (*record[:2], *record[3:]):
            assert await items(stream, 1) == [1]


async def test_calls_that_wait_are_counted_as_streams_are(tmp_path: Path) -> None:
    async with (
        served(tmp_path, most_open=1) as hub,
        hub.client("agent") as agent,
        agent.stream("POST", "/mcp", json=CALL, headers=MCP) as called,
    ):
        pieces = called.aiter_raw()
        await anext(pieces)
        assert (await agent.post("/mcp", json=CALL, headers=MCP)).status_code == 429


async def test_a_follower_that_has_to_wait_for_its_turn_comes_back(tmp_path: Path) -> None:
    async with served(tmp_path, most_open=1) as hub:
        secret = await hub.token("viewer")
        async with RemoteDesk(hub.up.base, secret, patience=NO_TIMEOUT) as desk, desk.follow():
            with pytest.raises(Unreached, match="already has"):
                await desk.follow().__aenter__()


def test_people_behind_a_proxy_are_counted_by_name_and_tools_of_claude_together() -> None:
    stays = LongRequests(most=1)
    ana, ben = (Principal(Person(name), "approver") for name in ("ana", "ben"))
    tools = [Principal(Person(f"process {number}, a tool of Claude"), "agent") for number in (1, 2)]
    owner = Principal(Person("owner"), "admin")
    with stays.hold(ana), stays.hold(ben), stays.hold(tools[0]), stays.hold(owner), stays.hold(owner):
        for refused in (ana, ben, tools[1]):
            with pytest.raises(TooManyRequests), stays.hold(refused):
                pass
    with stays.hold(ana), stays.hold(tools[1]):
        pass


def _client(hub: Served, secret: str) -> httpx2.AsyncClient:
    headers = {"authorization": f"Bearer {secret}"}
    return httpx2.AsyncClient(base_url=hub.up.base, headers=headers, timeout=LONG, verify=PLAIN)


@asynccontextmanager
async def _connected(hub: Served) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Its own connection, with a small receive buffer."""
    end = socket.socket()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    end.setblocking(False)
    host, _, port = hub.up.base.removeprefix("http://").partition(":")
    await asyncio.get_running_loop().sock_connect(end, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=end, limit=4096)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def _head(what: str, *lines: str) -> bytes:
    return "\r\n".join([f"{what} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


async def _followed(stack: AsyncExitStack, client: httpx2.AsyncClient) -> AsyncIterator[ApiEvent]:
    """A stream that has started, open as long as the stack."""
    stream = await stack.enter_async_context(feed(client))
    await anext(stream)
    return stream


async def _leave_twice(left: Revocation) -> None:
    left.set()
    left.set()
    await asyncio.Event().wait()


async def _status(client: httpx2.AsyncClient, path: str) -> int:
    async with client.stream("GET", path) as response:
        return response.status_code


async def _raised(hub: Served, first: bytes) -> tuple[str, str]:
    """Waits for the ask; returns the name to resume the wait with, and the ask's id."""
    desk = hub.up.hub.desk
    async with desk.follow(0) as follower:
        while not (asks := await desk.asks()):
            await anext(follower)
    return first.decode().partition("id: ")[2].partition("\n")[0], asks[0].id


async def _settled(hub: Served, ask: str) -> Withdrawn:
    desk = hub.up.hub.desk
    async with desk.follow(0) as follower:
        while (settlement := (await desk.ask(ask)).settlement) is None:
            await anext(follower)
    assert isinstance(settlement, Withdrawn)
    return settlement


async def _rest(pieces: AsyncIterator[bytes]) -> bytes:
    """Everything until the connection ends, in any way."""
    heard: Iterable[bytes] = []
    with suppress(httpx2.HTTPError):
        heard = [piece async for piece in pieces]
    return b"".join(heard)
