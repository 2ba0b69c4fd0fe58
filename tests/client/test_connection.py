"""Requests to a hub, against servers that do everything wrong that a server can."""

import asyncio
import gzip
import ssl
from pathlib import Path

import pytest
import uvloop

from api.certificates import make_certificate
from client.odd_server import CLOSE, OK, Converse, OddConnection, in_turn, odd_server, responding
from handraise.client import connection as client_connection
from handraise.client.connection import HttpClient, RequestFailed

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SHORT = 0.05


def client(where: Path | str, **more: float) -> HttpClient:
    return HttpClient(where, {"Authorization": "Bearer x"}, **more)


async def hang(connection: OddConnection) -> None:
    """Takes a request and never answers."""
    await connection.request()
    await connection.until_closed()


async def keep(connection: OddConnection) -> None:
    """Answers every request."""
    while await connection.request():
        await connection.send(OK)
    await connection.until_closed()


async def test_requests_share_a_connection() -> None:
    chunks = CHUNKED + b"1\r\no\r\n1;name=value\r\nk\r\n0\r\nTrailer: x\r\n\r\n"
    nothing = b"HTTP/1.1 204 No Content\r\n\r\n"
    async with odd_server(responding(OK, chunks, nothing, OK)) as server, client(server.where) as http:
        responses = [await http.request("GET", "/"), await http.request("POST", "/", content=b"{}")]
        responses += [await http.request("DELETE", "/"), await http.request("GET", "/")]

    assert responses == [(200, b"ok"), (200, b"ok"), (204, b""), (200, b"ok")]
    assert server.connections == 1
    assert all("Authorization: Bearer x\r\n" in head for head in server.heads)


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        OK + b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
        CHUNKED + b"2\r\nok\r\n0\r\n\r\nmore",
    ],
    ids=["it says so", "it is old", "more came than was asked for", "more came after the last chunk"],
)
async def test_a_connection_is_not_used_again_where(response: bytes) -> None:
    async with odd_server(in_turn(responding(response, OK), keep)) as server, client(server.where) as http:
        assert await http.request("GET", "/1") == (200, b"ok")
        assert await http.request("GET", "/2") == (200, b"ok")

    assert server.connections == 2


async def test_bytes_that_come_while_a_connection_is_idle_are_no_response() -> None:
    more = asyncio.Event()

    async def talk(connection: OddConnection) -> None:
        await connection.request()
        await connection.send(OK)
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
        more.set()
        await connection.until_closed()

    async with odd_server(in_turn(talk, keep)) as server, client(server.where) as http:
        assert await http.request("GET", "/1") == (200, b"ok")
        await more.wait()
        assert await http.request("POST", "/2") == (200, b"ok")


async def test_a_connection_that_was_closed_while_idle_is_not_used() -> None:
    leave = asyncio.Event()

    async def answer_and_leave(connection: OddConnection) -> None:
        await connection.request()
        await connection.send(OK)
        await leave.wait()

    async with odd_server(in_turn(answer_and_leave, keep)) as server, client(server.where) as http:
        await http.request("GET", "/1")
        leave.set()
        while http._connections:
            await asyncio.sleep(0)
        assert await http.request("POST", "/2") == (200, b"ok")

    assert server.targets == ["GET /1", "POST /2"]


async def test_a_connection_that_was_closed_a_moment_ago_is_not_used() -> None:
    async with odd_server(keep) as server, client(server.where) as http:
        await http.request("GET", "/1")
        server.shut()
        # Nothing was awaited since: asyncio has not seen it.
        assert await http.request("POST", "/2") == (200, b"ok")

    assert server.targets == ["GET /1", "POST /2"]


async def test_a_connection_that_was_idle_for_long_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with odd_server(keep) as server, client(server.where) as http:
        await http.request("GET", "/1")
        monkeypatch.setattr(client_connection, "LONGEST_IDLE", -1.0)
        await http.request("GET", "/2")
        await server.closed.wait()

    assert server.connections == 2


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
async def test_what_changes_something_is_sent_once(method: str) -> None:
    async with odd_server(in_turn(responding(OK, CLOSE), keep)) as server, client(server.where) as http:
        await http.request("GET", "/1")
        with pytest.raises(RequestFailed):
            await http.request(method, "/2")

    assert server.targets == ["GET /1", f"{method} /2"]


async def test_a_get_that_met_a_closing_connection_is_sent_again() -> None:
    async with odd_server(in_turn(responding(OK, CLOSE), keep)) as server, client(server.where) as http:
        await http.request("GET", "/1")
        assert await http.request("GET", "/2") == (200, b"ok")

    assert server.targets == ["GET /1", "GET /2", "GET /2"]


@pytest.mark.parametrize(
    ("converse", "good", "sent"),
    [
        (responding(CLOSE), 0, 1),
        (responding(OK, b"HTTP/1.1 2"), 1, 2),
        (in_turn(responding(OK, CLOSE), responding(CLOSE)), 1, 3),
    ],
    ids=["a new connection closed", "some of a response came", "it was sent twice"],
)
async def test_a_get_is_not_sent_again_where(converse: Converse, good: int, sent: int) -> None:
    async with odd_server(converse) as server, client(server.where) as http:
        for _ in range(good):
            await http.request("GET", "/")
        with pytest.raises(RequestFailed):
            await http.request("GET", "/")

    assert len(server.heads) == sent


@pytest.mark.parametrize(
    "response",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 20x OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: br\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\nok",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\nContent-Length: 2\r\n\r\nok",
        b"x" * 200_000,
        CHUNKED + b"2\r\nok",
        CHUNKED + b"2\r\nokay\r\n0\r\n\r\n",
        CHUNKED + b"0x2\r\nok\r\n0\r\n\r\n",
        CHUNKED + b"2" * 5000 + b"\r\n",
        CHUNKED + b"2\r\nok\r\n0\r\nX: " + b"x" * 200_000,
    ],
)
async def test_a_broken_response_is_an_error(response: bytes) -> None:
    async with odd_server(responding(response)) as server, client(server.where) as http:
        with pytest.raises(RequestFailed):
            await http.request("GET", "/")
        assert not http._idle


async def test_a_head_that_never_ends_is_an_error_while_it_comes() -> None:
    async def flood(connection: OddConnection) -> None:
        await connection.request()
        await connection.send(b"HTTP/1.1 200 OK\r\n")
        for _ in range(10_000):
            await connection.send(b"X: " + b"x" * 1000 + b"\r\n")

    async with odd_server(flood) as server, client(server.where) as http:
        with pytest.raises(RequestFailed, match="too large"):
            await http.request("GET", "/")


async def test_interim_responses_are_passed_over() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n"
    async with odd_server(responding(interim + OK)) as server, client(server.where) as http:
        assert await http.request("GET", "/") == (200, b"ok")


async def test_a_body_without_a_length_ends_with_the_connection() -> None:
    async with odd_server(responding(b"HTTP/1.1 200 OK\r\n\r\nall of it")) as server, client(server.where) as http:
        assert await http.request("GET", "/") == (200, b"all of it")


async def test_a_large_body_comes_whole() -> None:
    body = bytes(range(256)) * 20_000
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with odd_server(responding(head + body, OK)) as server, client(server.where) as http:
        assert (await http.request("GET", "/")).body == body
        assert await http.request("POST", "/", content=body) == (200, b"ok")

    assert server.connections == 1


async def test_a_response_counts_even_if_the_request_was_not_read() -> None:
    async def refuse(connection: OddConnection) -> None:
        await connection.head()
        await connection.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await server.closed.wait()

    async with odd_server(in_turn(refuse, keep)) as server, client(server.where) as http:
        assert await http.request("POST", "/", content=b"x" * 50_000_000) == (413, b"no")
        server.closed.set()
        assert await http.request("GET", "/") == (200, b"ok")


async def test_a_redirect_is_not_followed() -> None:
    elsewhere = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    async with odd_server(responding(elsewhere, OK)) as server, client(server.where) as http:
        assert await http.request("GET", "/") == (302, b"")

    assert server.targets == ["GET /"]


async def test_over_the_network_responses_are_compressed(tmp_path: Path) -> None:
    body = gzip.compress(b"a long text")
    response = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    async with odd_server(responding(response)) as server, client(server.where) as http:
        assert await http.request("GET", "/") == (200, b"a long text")
        assert "Accept-Encoding: gzip\r\n" in server.heads[0]
    async with odd_server(keep, socket=tmp_path / "s") as server, client(server.where) as http:
        assert await http.request("GET", "/") == (200, b"ok")
        assert "Accept-Encoding" not in server.heads[0]
        assert "Host: localhost\r\n" in server.heads[0]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_silent_hub_is_given_up_at_the_deadline_and_not_asked_again(method: str) -> None:
    async def fall_silent(connection: OddConnection) -> None:
        await connection.request()
        await connection.send(OK)
        await connection.request()
        await connection.until_closed()

    async with odd_server(fall_silent) as server, client(server.where) as http:
        await http.request("GET", "/1")
        http._deadline = SHORT
        with pytest.raises(RequestFailed) as failure:
            await http.request(method, "/2")
        assert isinstance(failure.value.__cause__, TimeoutError)
        await server.closed.wait()

    assert server.targets == ["GET /1", f"{method} /2"]


async def test_a_hub_that_does_not_read_is_given_up_at_the_deadline() -> None:
    async def ignore(_: OddConnection) -> None:
        await asyncio.Event().wait()

    async with odd_server(ignore) as server, client(server.where, deadline=SHORT) as http:
        with pytest.raises(RequestFailed):
            await http.request("POST", "/", content=b"x" * 50_000_000)


async def test_cancelling_a_request_closes_its_connection() -> None:
    async with odd_server(hang) as server, client(server.where) as http:
        request = asyncio.create_task(http.request("POST", "/"))
        while not server.heads:
            await asyncio.sleep(0)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await server.closed.wait()


async def test_hundreds_of_requests_wait_at_once() -> None:
    all_here = asyncio.Event()

    async def gather(connection: OddConnection) -> None:
        await connection.request()
        if connection.number == 300:
            all_here.set()
        await all_here.wait()
        await connection.send(OK)
        await keep(connection)

    async with odd_server(gather) as server, client(server.where) as http:
        responses = await asyncio.gather(*(http.request("GET", "/") for _ in range(300)))
        assert set(responses) == {(200, b"ok")}
        await asyncio.gather(*(http.request("GET", "/") for _ in range(300)))

    assert server.connections == 300


async def test_leaving_closes_what_is_still_open() -> None:
    async def answer_once(connection: OddConnection) -> None:
        await connection.request()
        await connection.send(OK)
        await hang(connection)

    async with odd_server(answer_once) as server:
        async with client(server.where) as http:
            await http.request("GET", "/1")
            request = asyncio.create_task(http.request("GET", "/2"))
            while len(server.heads) < 2:
                await asyncio.sleep(0)
        await server.closed.wait()
        with pytest.raises(RequestFailed):
            await request
        with pytest.raises(RequestFailed, match="closed"):
            await http.request("GET", "/3")

    assert server.targets == ["GET /1", "GET /2"]


async def test_a_stream_is_handed_out_as_it_comes() -> None:
    go_on = asyncio.Event()

    async def stream(connection: OddConnection) -> None:
        await connection.request()
        await connection.send(CHUNKED + b"3\r\none\r\n")
        await go_on.wait()
        await connection.send(b"3\r\ntwo\r\n0\r\n\r\n")
        await connection.until_closed()

    async with odd_server(stream) as server, client(server.where) as http:
        response = await http.stream("/feed", query={"after": 4, "session": "ä&b"}, silence=60)
        assert (response.status, await anext(response)) == (200, b"one")
        go_on.set()
        assert [piece async for piece in response] == [b"two"]
        response.close()
        await server.closed.wait()

    assert server.targets == ["GET /feed?after=4&session=%C3%A4%26b"]
    assert "Accept-Encoding" not in server.heads[0]


async def test_a_stream_that_breaks_off_or_falls_silent_is_an_error() -> None:
    first = CHUNKED + b"3\r\none\r\n"

    async def fall_silent(connection: OddConnection) -> None:
        await connection.request()
        await connection.send(first)
        await connection.until_closed()

    async with odd_server(in_turn(responding(first), fall_silent)) as server, client(server.where) as http:
        for silence in (60.0, SHORT):
            response = await http.stream("/", silence=silence)
            assert await anext(response) == b"one"
            with pytest.raises(RequestFailed):
                await anext(response)
            response.close()


async def test_a_stream_that_is_compressed_is_an_error() -> None:
    response = CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    async with odd_server(responding(response)) as server, client(server.where) as http:
        with pytest.raises(RequestFailed, match="compression"):
            await http.stream("/", silence=60)


async def test_it_goes_straight_to_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with odd_server(keep) as server, client(f"{server.where}/base/") as http:
        assert await http.request("GET", "/api/me") == (200, b"ok")

    assert server.targets == ["GET /base/api/me"]


async def test_tls_trusts_what_this_machine_trusts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_certificate(tmp_path / "cert", tmp_path / "key")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    async with odd_server(keep, tls=tls) as server:
        async with client(server.where) as http:
            with pytest.raises(RequestFailed, match="certificate"):
                await http.request("GET", "/")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert"))
        async with client(server.where) as http:
            for _ in range(3):
                assert await http.request("POST", "/", content=b"x" * 1_000_000) == (200, b"ok")
        plain = str(server.where).replace("https", "http")
        async with client(plain) as http:
            with pytest.raises(RequestFailed):
                await http.request("GET", "/")


@pytest.mark.parametrize(
    "where",
    ["http://127.0.0.1:9", "http://h:port", "http://", "ftp://h", "http://[::1", "http://" + "ü" * 70, Path("/no/hub")],
)
async def test_where_nobody_is_there_is_no_response(where: Path | str) -> None:
    async with client(where) as http:
        with pytest.raises(RequestFailed):
            await http.request("GET", "/")


async def test_a_token_with_a_line_break_is_not_sent() -> None:
    async with odd_server(keep) as server, HttpClient(server.where, {"Authorization": "Bearer x\r\nA: b"}) as http:
        with pytest.raises(RequestFailed):
            await http.request("GET", "/")

    assert server.connections == 0


def test_it_works_on_uvloop_too(tmp_path: Path) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(test_requests_share_a_connection())
        runner.run(test_a_large_body_comes_whole())
        runner.run(test_a_get_that_met_a_closing_connection_is_sent_again())
        runner.run(test_a_connection_that_was_closed_while_idle_is_not_used())
        runner.run(test_a_response_counts_even_if_the_request_was_not_read())
        runner.run(test_leaving_closes_what_is_still_open())
        runner.run(test_a_stream_that_breaks_off_or_falls_silent_is_an_error())
        runner.run(test_over_the_network_responses_are_compressed(tmp_path))
