"""The live stream: one cursor for snapshot and stream, nothing missed, nothing twice, nobody delayed."""

import asyncio
import random
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.events import events, feed, items
from api.served import PLAIN, Served, error_of, served
from handraise.api.stream import Streams
from handraise.model.items import Preview
from handraise.store.changes import Prune


async def test_items_come_in_order_each_with_its_cursor_as_id(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.publish("one", "two")
        async with feed(client, after=0) as stream:
            place = await anext(stream)
            assert (place.kind, place.id, place.data) == ("place", "0", {"cursor": 0})
            first = await anext(stream)
            assert (first.kind, first.cursor, first.data["text"]) == ("message", 1, "one")
            assert first.data["type"] == "text"
            assert (await anext(stream)).cursor == 2
            await hub.publish("three")
            assert (await anext(stream)).cursor == 3


async def test_without_a_cursor_it_begins_here_and_says_where_that_is(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.publish("before")
        async with feed(client) as stream:
            # A client that is cut off before the first item still knows where to continue.
            assert (await anext(stream)).cursor == 1
            await hub.publish("after")
            assert (await anext(stream)).data["text"] == "after"


async def test_last_event_id_resumes_and_is_newer_than_the_address(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.publish(*"abcde")
        async with feed(client, last="3", after=0) as stream:
            assert await items(stream, 2) == [4, 5]


@pytest.mark.parametrize(
    ("last", "query"),
    [
        ("2", {}),
        (None, {"after": 2}),
        ("99", {}),
        (None, {"after": 99}),
        ("nonsense", {}),
        ("-1", {}),
        ("9" * 40, {}),
        ("9" * 19, {}),
        ("٣", {}),
        (None, {"after": 2**62}),
    ],
)
async def test_a_pruned_or_unknown_cursor_gets_an_explicit_reset(
    tmp_path: Path, last: str | None, query: dict[str, Any]
) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.publish(*"abcde")
        await hub.up.hub.store.apply([Prune(3)])
        headers = [(b"last-event-id", last.encode())] if last else []
        async with client.stream("GET", "/api/feed", params=query, headers=headers) as response:
            assert response.status_code == 200
            received = [event async for event in events(response)]
        assert [(event.kind, event.id) for event in received] == [("reset", None)]
        assert received[0].data == {"kind": "reset", "oldest": 3, "newest": 5}


async def test_a_place_that_is_no_number_is_refused_at_the_door(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        for after in ("x", "-1", "1.5", "9" * 30):
            refused = await client.get("/api/feed", params={"after": after})
            assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid")


async def test_pings_are_events_without_an_id(tmp_path: Path) -> None:  # lesson 48
    async with served(tmp_path, Streams(keep_alive=0.02)) as hub, hub.client("viewer") as client:
        await hub.publish("one")
        async with feed(client, after=0) as stream:
            assert await items(stream, 1) == [1]
            ping = await anext(stream)
            assert (ping.kind, ping.id, ping.data) == ("ping", None, {})
            await hub.publish("two")
            assert await items(stream, 1) == [2]


async def test_previews_have_no_id_and_no_place(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.session()
        async with feed(client, session="s_1") as stream:
            await anext(stream)
            asleep = asyncio.create_task(asyncio.sleep(30))
            seen = asyncio.ensure_future(anext(stream))
            while not seen.done() and not asleep.done():
                # A client that hasn't caught up yet gets none.
                for session in ("s_2", "s_1"):
                    hub.up.hub.feed.preview(Preview(session, "m", 0, "text", "Hel"))
                await asyncio.sleep(0.01)
            asleep.cancel()
            shown = await seen
            assert (shown.kind, shown.id, shown.data["session"], shown.data["text"]) == ("preview", None, "s_1", "Hel")


async def test_one_session_is_followed_alone(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.session()
        async with feed(client, after=0, session="s_1") as stream:
            await hub.publish("mine", session="s_1")
            await hub.publish("not mine", session="s_2")
            await hub.publish("mine", session="s_1")
            assert await items(stream, 2) == [1, 3]


async def test_a_snapshot_and_the_stream_from_its_cursor_leave_no_gap_and_tell_nothing_twice(
    tmp_path: Path,
) -> None:  # lesson 46
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.session()

        async def write() -> None:
            for number in range(200):
                await hub.publish(str(number))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write())
            for _ in range(10):
                shown = (await client.get("/api/sessions/s_1/items", params={"limit": 5000})).json()
                async with feed(client, after=shown["cursor"]) as stream:
                    before = [item["cursor"] for item in shown["items"]]
                    assert before == list(range(1, shown["cursor"] + 1))
                    rest = 200 - len(before)
                    assert await items(stream, rest) == list(range(len(before) + 1, 201))


async def test_a_client_that_does_not_read_is_cut_off_and_holds_nobody_up(tmp_path: Path) -> None:  # lesson 49
    async with served(tmp_path, Streams(slow=0.3)) as hub, hub.client("viewer") as client:
        token = await hub.token("viewer")
        with _connected(hub) as slow:
            slow.sendall(_request(f"/api/feed?after=0 HTTP/1.1\r\nauthorization: Bearer {token}"))
            assert b"200" in await asyncio.to_thread(slow.recv, 12)
            async with feed(client, after=0) as stream:
                for _ in range(12):
                    await hub.publish(*["x" * 100_000] * 10)
                    await items(stream, 10)
                await _until(lambda: hub.up.app.streams.open == 1)
                await hub.publish("still here")
                assert await items(stream, 1) == [121]
            # Nothing is kept for it: it finds the connection broken, not the rest of what was sent.
            slow.settimeout(60)
            read = await asyncio.to_thread(_read_all, slow)
            assert read < 12_000_000


async def test_fifty_open_streams_do_not_hold_up_the_end(tmp_path: Path) -> None:  # lesson 52
    async with httpx2.AsyncClient(timeout=30, limits=httpx2.Limits(max_connections=100), verify=PLAIN) as client:
        async with served(tmp_path) as hub:
            headers = {"authorization": f"Bearer {await hub.token('viewer')}"}
            open_streams = [
                await client.send(client.build_request("GET", f"{hub.up.base}/api/feed", headers=headers), stream=True)
                for _ in range(50)
            ]
            await _until(lambda: hub.up.app.streams.open == 50)
            began = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - began < 2
        for response in open_streams:
            assert response.status_code == 200
            async for _ in response.aiter_raw():
                pass


async def test_a_client_that_reads_nothing_does_not_hold_up_the_end_either(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        token = await hub.token("viewer")
        await hub.publish(*["x" * 100_000] * 100)
        slow = _connected(hub)
        slow.sendall(_request(f"/api/feed?after=0 HTTP/1.1\r\nauthorization: Bearer {token}"))
        await _until(lambda: hub.up.app.streams.open == 1)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 4
    slow.close()


async def test_a_revoked_token_ends_its_streams_at_once_and_no_others(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as other, hub.client("admin") as admin:
        made = await hub.up.auth.make("a phone", "viewer", hub.up.hub.desk.person, "test")
        headers = {"authorization": f"Bearer {made.secret}"}
        async with (
            httpx2.AsyncClient(base_url=hub.up.base, headers=headers, timeout=30, verify=PLAIN) as phone,
            feed(phone) as mine,
            feed(other) as theirs,
        ):
            await anext(mine)
            assert (await admin.delete(f"/api/tokens/{made.token.id}")).status_code == 200
            assert [event async for event in mine] == []
            assert (await phone.get("/api/me")).status_code == 401
            await hub.publish("still here")
            assert await items(theirs, 1) == [1]


async def test_a_stream_ends_when_its_token_does(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for seconds in (0.5, 2, 8, 32):
            secret = await hub.token("viewer", expires_at=datetime.now(UTC) + timedelta(seconds=seconds))
            headers = {"authorization": f"Bearer {secret}"}
            async with httpx2.AsyncClient(base_url=hub.up.base, headers=headers, timeout=60, verify=PLAIN) as client:
                async with client.stream("GET", "/api/feed") as response:
                    kinds = [event.kind async for event in events(response)]
                assert (await client.get("/api/me")).status_code == 401
            if response.status_code == 200:
                break
            # The machine was so slow that it was over before it started.
            assert response.status_code == 401
        assert response.status_code == 200
        assert kinds[:1] == ["place"]
        assert set(kinds[1:]) <= {"ping"}


async def test_sixty_disconnects_lose_and_repeat_nothing(tmp_path: Path) -> None:
    await _with_disconnects(tmp_path, disconnects=60)


@pytest.mark.torture
async def test_a_thousand_disconnects_lose_and_repeat_nothing(tmp_path: Path) -> None:
    await _with_disconnects(tmp_path, disconnects=1000)


async def _with_disconnects(tmp_path: Path, disconnects: int) -> None:
    """Three clients, each disconnected at random moments while items are written, reconnecting with their cursors."""
    dice = random.Random(20)
    async with served(tmp_path) as hub:
        count = disconnects * 8

        async def write() -> None:
            for _ in range(count):
                await hub.publish("x" * dice.randrange(1, 3000))

        async def follow() -> list[int]:
            seen: list[int] = []
            async with hub.client("viewer") as client:
                for until in [*sorted(dice.sample(range(1, count), disconnects // 3)), count]:
                    async with feed(client, last=str(seen[-1] if seen else 0)) as stream:
                        seen += await items(stream, until - len(seen))
            return seen

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write())
            clients = [tasks.create_task(follow()) for _ in range(3)]
        for each in clients:
            assert each.result() == list(range(1, count + 1))
        await _until(lambda: hub.up.app.streams.open == 0)


def _connected(hub: Served) -> socket.socket:
    host, _, port = hub.up.base.removeprefix("http://").partition(":")
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.connect((host, int(port)))
    return made


def _request(rest: str) -> bytes:
    return f"GET {rest}\r\nhost: localhost\r\n\r\n".encode()


def _read_all(end: socket.socket) -> int:
    size = 0
    try:
        while piece := end.recv(1 << 20):
            size += len(piece)
    except ConnectionError:
        pass
    return size


async def _until(true: Any) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)
