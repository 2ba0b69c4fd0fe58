"""What a hostile page, a foreign machine or a broken client can do: nothing, and they get an error."""

import asyncio
import random
import select
import socket
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.events import feed, items
from api.served import PLAIN, A, Served, error_of, served
from handraise.api import requests, server
from handraise.api.origins import HEADERS
from handraise.api.requests import Route
from handraise.store.interface import StoreFull

EVIL = "https://evil.example"
CHANGING = ("POST", "PATCH", "DELETE")


async def test_under_a_name_that_somebody_pointed_at_us_there_is_nothing(tmp_path: Path) -> None:  # lesson 53
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("the page")
    async with served(tmp_path, page=page) as hub, hub.browser() as browser:
        for host in ("evil.example", f"evil.example:{hub.up.base.rpartition(':')[2]}", "127.0.0.1.evil.example", ""):
            for path in ("/", "/index.html", "/api/asks", "/api/health", "/login", "/nothing", "/api/feed"):
                refused = await browser.get(path, headers={"host": host})
                assert (refused.status_code, error_of(refused)["code"]) == (421, "wrong_host"), (host, path)
        assert (await browser.get("/", headers={"host": "localhost"})).text == "the page"


async def test_a_host_that_was_allowed_is_ours(tmp_path: Path) -> None:
    allowed = frozenset({"hub.example"})
    async with served(tmp_path, allowed_hosts=allowed, behind_proxy=True) as hub, hub.client() as client:
        cookie = (await client.get(hub.link)).headers["set-cookie"].partition(";")[0]
        headers = {"host": "hub.example", "origin": "https://hub.example", "cookie": cookie}
        ask = await hub.ask()
        answered = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A}, headers=headers)
        assert answered.status_code == 200
        in_the_clear = {**headers, "origin": "http://hub.example"}
        assert (await client.post("/api/login-link", headers=in_the_clear)).status_code == 403


@pytest.mark.parametrize("origin", [EVIL, "null", "http://localhost:1", "http://[", None, ""])
async def test_no_foreign_page_changes_anything_on_any_route(tmp_path: Path, origin: str | None) -> None:
    async with served(tmp_path) as hub, hub.browser() as browser:
        del browser.headers["origin"]
        for route in _changing(hub):
            refused = await browser.request(
                route.method, _path(route), json={}, headers={} if origin is None else {"origin": origin}
            )
            assert (refused.status_code, error_of(refused)["code"]) == (403, "foreign_page"), route.path
        assert (await browser.get("/api/me")).status_code == 200


async def test_a_foreign_page_cannot_use_a_script_s_token_either(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        refused = await client.post("/api/login-link", headers={"origin": EVIL})
        assert (refused.status_code, error_of(refused)["code"]) == (403, "foreign_page")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonx"],
)
async def test_a_form_is_no_answer(tmp_path: Path, kind: str) -> None:
    async with served(tmp_path) as hub, hub.browser() as browser:
        ask = await hub.ask()
        sent = b'{"answer":{"answers":[{"labels":["A"]}]},"digest":null}'
        posted = await browser.post(f"/api/asks/{ask.id}/answer", content=sent, headers={"content-type": kind})
        assert (posted.status_code, error_of(posted)["code"]) == (415, "not_json")
        assert (await browser.get(f"/api/asks/{ask.id}")).json()["state"] == "open"
        for good in ("application/json", "Application/JSON; charset=utf-8"):
            posted = await browser.post(f"/api/asks/{ask.id}/answer", content=sent, headers={"content-type": good})
            assert posted.status_code == 200


async def test_missing_and_forged_cookies_open_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client, hub.browser() as browser:
        [(name, good)] = [each for each in browser.cookies.items() if not each[0].endswith("-seat")]
        forged = ["", "x", good[:-1], good + "x", good.upper(), f"{good}%00", "%ff%fe", "a" * 5000, '"', "%"]
        for value in [None, *forged]:
            headers = {} if value is None else {"cookie": f"{name}={value}"}
            for route in hub.up.app.routes:
                if route.role is not None and route.path != "/api/feed":
                    refused = await client.request(
                        route.method, _path(route), headers={**headers, "origin": hub.up.base}
                    )
                    assert refused.status_code == 401, (route.path, value)
            if value is None:
                continue
            assert (await client.get("/api/feed", headers=headers)).status_code == 401
        assert (await client.get("/api/me", headers={"cookie": f"handraise={good}"})).status_code == 401
        assert (await client.get("/api/me", headers={"cookie": f"a=b; {name}={good}; c"})).status_code == 200


async def test_a_page_that_was_left_open_for_days_can_still_answer(tmp_path: Path) -> None:  # lesson 50
    async with served(tmp_path) as hub, hub.browser() as browser:
        record = dict(browser.cookies)
    # Days later, after many restarts of the hub: the page sends what it always sent.
    async with served(tmp_path) as later, later.client() as page:
        ask = await later.ask()
        [value] = [each for name, each in record.items() if not name.endswith("-seat")]
        headers = {"cookie": f"handraise_{later.up.base.rpartition(':')[2]}={value}", "origin": later.up.base}
        answered = await page.post(f"/api/asks/{ask.id}/answer", json={"answer": A}, headers=headers)
        assert answered.status_code == 200


async def test_no_page_elsewhere_may_read_anything_and_no_page_may_frame_us(tmp_path: Path) -> None:
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("the page")
    (page / "assets" / "app.js").write_text("1")
    async with served(tmp_path, page=page) as hub, hub.client("admin") as client:
        foreign = {"origin": EVIL, "access-control-request-method": "POST"}
        shown = [
            await client.get("/"),
            await client.get("/assets/app.js"),
            await client.get("/api/asks", headers=foreign),
            await client.get("/api/nothing"),
            await client.get("/api/asks/none"),
            await client.put("/api/asks"),
            await client.options("/api/asks", headers=foreign),
            await client.post("/api/tokens", content=b"{"),
            await client.get("/", headers={"host": "evil.example"}),
            await client.get("/metrics"),
            await client.get("/api/audit", params={"as": "lines"}),
            await client.get(hub.link),
        ]
        assert [each.status_code for each in shown] == [200, 200, 200, 404, 404, 405, 405, 400, 421, 200, 200, 303]
        for each in shown:
            for name, value in HEADERS.items():
                assert each.headers.get_list(name) == [value], each
            assert not any(name.startswith("access-control-") for name in each.headers)
            assert "server" not in each.headers
            if each.url.path.startswith("/api/") and each.status_code == 200:
                assert each.headers["cache-control"] == "no-store"
        async with client.stream("GET", "/api/feed") as stream:
            assert stream.headers["x-frame-options"] == "DENY"
        raw = await _exchange(hub, b"NONSENSE\r\n\r\n")
        assert raw.startswith(b"HTTP/1.1 400 ")
        assert b"x-frame-options: DENY" in raw
        assert b'{"error":{"code":"bad_request"' in raw


@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "/%2e%2e%2fsecret",
        "/assets/../../secret",
        "/assets/..%2f..%2fsecret",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/..\\secret",
        "/link",
        "/file%00.html",
        "/" + "x" * 5000,
        "/" + "x/" * 3000,
        "/%ff%fe",
        "/assets",
        "/.",
    ],
)
async def test_no_path_leads_out_of_the_page(tmp_path: Path, path: str) -> None:
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("the page")
    (tmp_path / "secret").write_text("the secret")
    (page / "link").symlink_to(tmp_path / "secret")
    async with served(tmp_path, page=page) as hub:
        raw = await _exchange(hub, f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        assert raw.startswith((b"HTTP/1.1 200", b"HTTP/1.1 404"))
        assert b"the secret" not in raw
        assert b"root:" not in raw


async def test_what_the_page_is_made_of_may_be_kept_and_the_page_itself_not(tmp_path: Path) -> None:
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("the page")
    (page / "assets" / "app-1a2b.js").write_text("1")
    async with served(tmp_path, page=page) as hub, hub.client() as client:
        assert "immutable" in (await client.get("/assets/app-1a2b.js")).headers["cache-control"]
        for path in ("/", "/index.html", "/sessions/s_1", "/anything"):
            assert (await client.get(path)).headers["cache-control"] == "no-cache"
        assert (await client.head("/")).status_code == 200


async def test_bodies_are_bounded_whether_they_say_so_or_not(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:

        async def endless() -> AsyncIterator[bytes]:
            for _ in range(40):
                yield b"x" * 65536

        for sent in (b"x" * (1024 * 1024 + 1), endless()):
            refused = await client.post("/api/tokens", content=sent)
            assert (refused.status_code, error_of(refused)["code"]) == (413, "too_large")
        assert (await client.post("/api/tokens", content=b"x" * (1024 * 1024))).status_code == 400
        lies = b"POST /api/tokens HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999999999999999999\r\n%s\r\n"
        raw = await _exchange(
            hub, lies % (f"authorization: Bearer {await hub.token('admin')}\r\n").encode(), until=b"}}"
        )
        assert raw.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))


async def test_who_may_not_come_in_need_not_be_read(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        head = b"POST /api/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n"
        raw = await _exchange(hub, head, until=b"}}")
        assert raw.startswith(b"HTTP/1.1 401")


async def test_a_truncated_body_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        token = await hub.token("admin")
        head = f"POST /api/tokens HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n"
        whole = b'{"name":"half","role":"viewer"}'
        for cut in range(0, len(whole), 5):
            await _exchange(hub, f"{head}content-length: {len(whole)}\r\n\r\n".encode() + whole[:cut], close=True)
        for chunk in (b'5\r\n{"nam', b"5\r\nabcde\r\n", b"zz\r\n", b"-1\r\n", b"ffffffffffffffffff\r\n"):
            await _exchange(hub, f"{head}transfer-encoding: chunked\r\n\r\n".encode() + chunk, close=True)
        assert all(each["name"] != "half" for each in (await client.get("/api/tokens")).json()["tokens"])


async def test_a_slow_body_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "SLOW", 0.2)
    async with served(tmp_path) as hub:
        token = await hub.token("admin")
        head = f"POST /api/tokens HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n"
        head += "content-length: 9\r\n\r\n{"
        raw = await _exchange(hub, head.encode(), until=b"}}")
        assert raw.startswith(b"HTTP/1.1 408")


async def test_a_slow_or_endless_head_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        for endless in (b"GET /", b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ", b"GET / HTTP/1.1\r\n"):
            piece = b"a: b\r\n" if endless.endswith(b"\n") else b"a"
            raw = await _exchange(hub, endless + piece * (server.LARGEST_HEAD // len(piece) + 10_000))
            assert raw.startswith(b"HTTP/1.1 431")
        long_but_fine = await client.get("/api/asks", params={"session": "s" * 40_000})
        assert long_but_fine.status_code == 200
    monkeypatch.setattr(server, "SLOW_HEAD", 0.2)
    async with served(tmp_path) as hub:
        for slow in (b"", b"GET / HT"):
            assert await _exchange(hub, slow) == b""


@pytest.mark.parametrize("names", [("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost",) * 2])
async def test_a_request_with_two_hosts_is_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    async with served(tmp_path) as hub:
        hosts = "".join(f"host: {name}\r\n" for name in names)
        raw = await _exchange(hub, f"GET /api/health HTTP/1.1\r\n{hosts}connection: close\r\n\r\n".encode())
        assert raw.startswith((b"HTTP/1.1 421", b"HTTP/1.1 400"))


async def test_a_head_that_comes_in_one_piece_is_bounded_too(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for length, status in ((server.LARGEST_HEAD - 1000, b"200"), (server.LARGEST_HEAD + 1, b"431")):
            head = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx: %s\r\nconnection: close\r\n\r\n"
            assert (await _exchange(hub, head % (b"a" * length))).startswith(b"HTTP/1.1 " + status)


async def test_who_opens_many_connections_and_says_nothing_shuts_nobody_out(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as known:
        listener = server.listen_on_port("127.0.0.1", 0)
        crowded = server.Listener(hub.up.app, listener, most=5)
        task = asyncio.create_task(crowded.serve())
        there = ("127.0.0.1", listener.getsockname()[1])
        known.base_url = httpx2.URL(f"http://127.0.0.1:{there[1]}")
        async with feed(known) as stream:
            await anext(stream)
            idle = [await asyncio.open_connection(*there) for _ in range(20)]
            slow = b"POST /api/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\norigin: %s\r\n\r\n{"
            for _, writer in idle[10:]:
                writer.write(slow % f"http://localhost:{there[1]}".encode())
            for reader, _ in idle[:15]:  # the oldest ones had to go
                with suppress(ConnectionError):
                    assert await reader.read() == b""
            async with httpx2.AsyncClient(base_url=known.base_url, timeout=30, verify=PLAIN) as newcomer:
                assert (await newcomer.get("/api/health")).status_code == 200
            # Authenticated clients stay, however many others come.
            [item] = await hub.publish("still there")
            assert await items(stream, 1) == [item.cursor]
            for _, writer in idle:
                writer.transport.abort()
        crowded.stop()
        await task


async def test_headers_cookies_cursors_and_paths_of_any_bytes_are_refused_and_not_a_fault(tmp_path: Path) -> None:
    dice = random.Random(53)
    async with served(tmp_path) as hub:
        token = await hub.token("admin")
        name = f"handraise_{hub.up.base.rpartition(':')[2]}"

        def noise(most: int) -> bytes:
            letters = bytes(dice.choices(range(1, 256), k=dice.randrange(most)))
            return letters.replace(b"\r", b"").replace(b"\n", b"")

        for _ in range(150):
            lines = [
                b"%s /api/%s?%s HTTP/1.%d"
                % (dice.choice([b"GET", b"POST", b"BREW"]), noise(20), noise(30), dice.choice((0, 1))),
                b"host: localhost" if dice.random() < 0.9 else b"host: " + noise(20),
                b"cookie: %s=%s; %s" % (name.encode(), noise(50), noise(50)),
                b"last-event-id: " + noise(20),
                b"origin: " + noise(20),
                b"content-type: " + noise(20),
                *([b"authorization: Bearer " + (token.encode() if dice.random() < 0.5 else noise(60))]),
                *([b"content-length: " + noise(4)] if dice.random() < 0.3 else []),
                *([noise(30) + b": " + noise(30)] if dice.random() < 0.5 else []),
                b"connection: close",
            ]
            raw = await _exchange(hub, b"\r\n".join(lines) + b"\r\n\r\n" + noise(50), close=True)
            assert not raw.startswith(b"HTTP/1.1 5"), (lines, raw)
        head = f"GET /api/feed HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nlast-event-id: "
        for _ in range(30):
            raw = await _exchange(hub, head.encode() + noise(30) + b"\r\n\r\n", until=b"}")
            assert raw.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400")), raw
        assert not any(status >= 500 for status in hub.up.app.answered)


BOMBS = (
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"[" * 900 + b"]" * 900,
    b'{"streamToken":"\\ud800","reference":"\\ud800","name":"\\ud800","say":"\\ud800"}',
    b'{"name":NaN,"limit":-Infinity}',
    b'{"jsonrpc":"2.0","id":%s,"method":"x"}' % (b"9" * 5000),
    b'{"name":"a","name":"b","role":"viewer","role":"king"}',
    b'{"name":"a","role":"viewer","decision":"deny","tool":"Read","expires_at":"9999-12-31T23:59:59-23:59"}',
    b"\xff\xfe{",
    b"null",
    b"",
)


async def test_no_json_is_a_fault_on_any_route(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as admin, hub.client("agent") as agent:
        for route in hub.up.app.routes:
            if route.method in ("POST", "PATCH"):
                client = agent if route.role == "agent" else admin
                for bomb in BOMBS:
                    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
                    response = await client.request(route.method, _path(route), content=bomb, headers=headers)
                    assert response.status_code < 500, (route.path, bomb[:40], response.text)
        last = "a_x." + urlsafe_b64encode(b"[" * 40_000).decode()
        assert (await agent.get("/mcp", headers={"last-event-id": last})).status_code == 404
        # What could not be read back must not have been stored.
        for path in ("/api/tokens", "/api/rules", "/api/sessions", "/api/asks"):
            assert (await admin.get(path)).status_code == 200


async def test_a_time_that_some_zone_does_not_have_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as admin:
        for path, wanted in (
            ("/api/tokens", {"name": "x", "role": "viewer"}),
            ("/api/rules", {"decision": "deny", "tool": "Read"}),
        ):
            for at, status in (("9999-12-31T23:59:59-23:59", 422), ("9999-12-31T23:59:59Z", 201)):
                response_of = await admin.post(path, json={**wanted, "expires_at": at})
                assert response_of.status_code == status
                if status == 422:
                    assert error_of(response_of)["message"] == "This time is out of range."
        for far in (await admin.get("/api/tokens")).json()["tokens"]:
            assert far["expires_at"] in (None, "9999-12-31T23:59:59Z")


async def test_an_answer_that_is_not_read_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await hub.publish(*["x" * 100_000] * 100)
        monkeypatch.setattr(server, "SLOW_READER", 0.2)
        with socket.socket() as end:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            host, _, port = hub.up.base.removeprefix("http://").partition(":")
            end.connect((host, int(port)))
            token = client.headers["authorization"]
            end.sendall(f"GET /api/items HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\n\r\n".encode())
            broken = select.poll()
            broken.register(end, select.POLLHUP)
            while not await asyncio.to_thread(broken.poll, 100):
                pass
        monkeypatch.undo()
        whole = await client.get("/api/items", headers={"accept-encoding": "identity"})
        assert len(whole.content) > 10_000_000


async def test_a_huge_query_is_no_trouble(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        many = await client.get("/api/asks?" + "&".join(f"x{number}=1" for number in range(8000)))
        assert many.status_code == 422
        twice = await client.get("/api/asks?state=open&state=closed")
        assert twice.status_code == 422


async def test_a_request_for_a_websocket_is_answered_as_any_other(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        head = b"GET /api/asks HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
        assert (await _exchange(hub, head, until=b"}}")).startswith(b"HTTP/1.1 401")


async def test_a_store_that_cannot_keep_anything_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:

        async def full(*_: Any) -> None:
            raise StoreFull("The disk is full; make room.")

        ask = await hub.ask()
        monkeypatch.setattr(hub.up.hub.store, "apply", full)
        # Their last use can't be stored either, which is no reason to lock anyone out.
        assert (await client.get(f"/api/asks/{ask.id}")).status_code == 200
        refused = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        assert (refused.status_code, error_of(refused)["message"]) == (503, "The disk is full; make room.")


def _changing(hub: Served) -> list[Route]:
    return [
        route
        for route in hub.up.app.routes
        if route.method in CHANGING and not route.authenticates_itself and route.role != "agent"
    ]


def _path(route: Route) -> str:
    return route.path.format(id="x", say="x", number="0", action="x", delivery="x")


async def _exchange(hub: Served, sent: bytes, *, close: bool = False, until: bytes | None = None) -> bytes:
    """Sends raw bytes, and returns the response until the other side closes or this was in it."""
    host, _, port = hub.up.base.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    received = b""
    try:
        async with asyncio.timeout(60):
            writer.write(sent)
            if close and writer.can_write_eof():
                writer.write_eof()
            while until is None or until not in received:
                piece = await reader.read(65536)
                if not piece:
                    break
                received += piece
    except ConnectionError:
        pass
    except TimeoutError:
        if not close:
            raise
    finally:
        writer.transport.abort()
    return received
