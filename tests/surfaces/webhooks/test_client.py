"""The webhook client: what a receiver gets, what its responses mean, and where the hub never connects."""

import asyncio
import ssl
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from handraise.surfaces.endpoints import BadEndpoint
from handraise.surfaces.webhooks.client import MOST_ANSWER, WebhookClient, WebhookResponse
from surfaces.webhooks.receiver import (
    Reply,
    close,
    dripping_body,
    endless_headers,
    garbage,
    huge,
    receiver,
    silence,
    slow_drip,
    status,
)

HEADERS = {"webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1,x"}
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def test_a_receiver_gets_the_body_and_the_headers() -> None:
    async with receiver() as there, WebhookClient(private=True, trust=PLAIN) as client:
        assert await client.post(there.url("/a?b=c"), HEADERS, b'{"x":1}') == WebhookResponse(204)
        (got,) = there.received
        assert (got.path, got.raw, got.id) == ("/a?b=c", b'{"x":1}', "msg_1")
        assert got.headers["content-type"] == "application/json"
        assert got.headers["host"] == there.base.removeprefix("http://")
        assert got.headers["user-agent"].startswith("Handraise/")


@pytest.mark.parametrize(
    ("reply", "code", "problem", "answer"),
    [
        (status(200, b"thanks"), 200, "", ""),
        (status(500, b" out of order "), 500, "The response was 500.", "out of order"),
        (status(404), 404, "The response was 404.", ""),
        (status(410), 410, "The response was 410 (gone), so the webhook was turned off.", ""),
        (status(500, b"\xff\xfe"), 500, "The response was 500.", "\ufffd\ufffd"),
    ],
)
async def test_what_a_receiver_answers_has_a_meaning(reply: Reply, code: int, problem: str, answer: str) -> None:
    async with receiver() as there, WebhookClient(private=True, trust=PLAIN) as client:
        there.replies.append(reply)
        assert await client.post(there.url(), HEADERS, b"{}") == WebhookResponse(code, problem, answer)


async def test_a_redirect_is_not_followed() -> None:
    async with receiver() as there, WebhookClient(private=True, trust=PLAIN) as client:
        there.replies.append(status(302, location=there.url("/elsewhere")))
        response = await client.post(there.url(), HEADERS, b"{}")
        assert response.status == 302
        assert "Redirects aren't followed" in response.problem
        assert [each.path for each in there.received] == ["/hook"]


@pytest.mark.parametrize("reply", [close, garbage, endless_headers])
async def test_a_broken_connection_is_no_response(reply: Reply) -> None:
    async with receiver() as there, WebhookClient(private=True, trust=PLAIN) as client:
        there.replies.append(reply)
        response = await client.post(there.url(), HEADERS, b"{}")
        assert response.status is None
        assert response.problem.startswith("The connection failed (")


@pytest.mark.parametrize("reply", [silence, slow_drip])
async def test_everything_together_has_one_deadline(reply: Reply) -> None:
    async with receiver() as there, WebhookClient(private=True, trust=PLAIN, deadline=0.3) as client:
        there.always = reply
        response = await client.post(there.url(), HEADERS, b"{}")
        assert response == WebhookResponse(None, "No response within 0.3 s.")


async def test_a_body_that_does_not_end_is_not_read() -> None:
    async with receiver() as there, WebhookClient(private=True, trust=PLAIN) as client:
        there.replies += [huge, dripping_body]
        endless = await client.post(there.url(), HEADERS, b"{}")
        assert (endless.status, len(endless.answer)) == (500, MOST_ANSWER)
        slow = await client.post(there.url(), HEADERS, b"{}")
        assert (slow.status, slow.answer) == (503, "busy")


@pytest.mark.parametrize(
    ("wished", "wish"), [("120", timedelta(minutes=2)), ("soon", None), ("-1", None), ("9" * 30, None), ("", None)]
)
async def test_a_receiver_may_say_when_to_come_back(wished: str, wish: timedelta | None) -> None:
    async with receiver() as there, WebhookClient(private=True, trust=PLAIN) as client:
        there.replies.append(status(429, retry_after=wished))
        assert (await client.post(there.url(), HEADERS, b"{}")).wish == wish


async def test_nobody_listens() -> None:
    async with receiver() as there:
        url = there.url()
    async with WebhookClient(private=True, trust=PLAIN) as client:
        assert await client.post(url, HEADERS, b"{}") == WebhookResponse(None, "The host couldn't be reached.")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.org/x", "https"),
        ("ftp://example.org/x", "https"),
        ("https://user@example.org/x", "address"),
        ("https:///x", "address"),
        ("https://exa mple.org", "address"),
        ("https://127.0.0.1/x", "private"),
        ("https://[::1]/x", "private"),
        ("https://169.254.169.254/latest", "private"),
        ("https://10.0.0.1:8443/x", "private"),
        ("https://[::ffff:127.0.0.1]/x", "private"),
    ],
)
async def test_addresses_that_are_never_used(url: str, reason: str) -> None:
    async with WebhookClient(trust=PLAIN) as client:
        with pytest.raises(BadEndpoint) as refused:
            await client.check(url)
        assert refused.value.reason == reason
        assert (await client.post(url, HEADERS, b"{}")).status is None


async def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    """A name that leads to another address the next time (DNS rebinding) isn't looked up a second time."""
    lookups: list[str] = []

    async def rebinding(host: str, _: int) -> list[str]:
        lookups.append(host)
        return ["8.8.8.8", "127.0.0.1"] if len(lookups) > 1 else ["127.0.0.1"]

    async with receiver() as there:
        port = there.base.rpartition(":")[2]
        async with WebhookClient(private=True, resolve=rebinding, trust=PLAIN) as client:
            assert (await client.post(f"http://hooks.test:{port}/x", HEADERS, b"{}")).status == 204
        assert lookups == ["hooks.test"]
        assert there.received[0].headers["host"] == f"hooks.test:{port}"
        async with WebhookClient(resolve=rebinding, trust=PLAIN) as client:
            blocked = await client.post("https://hooks.test/x", HEADERS, b"{}")
        assert blocked.problem.startswith("This address isn't on the public internet.")
        assert len(there.received) == 1


async def test_a_name_that_cannot_be_found_may_be_found_later() -> None:
    async def nowhere(_: str, __: int) -> list[str]:
        return []

    async with WebhookClient(resolve=nowhere, trust=PLAIN) as client:
        response = await client.post("https://nowhere.test/", HEADERS, b"{}")
        assert response == WebhookResponse(None, "This host can't be found from here.")


async def test_a_certificate_of_another_name_is_not_accepted(tmp_path: Path) -> None:
    made = ("-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=other.test")
    names = ("-addext", "subjectAltName=DNS:other.test")
    files = ("-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem"))
    subprocess.run(["openssl", "req", *made, *names, *files], check=True, capture_output=True)
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        await reader.readuntil(b"\r\n\r\n")
        requests += 1
        await status(204)(writer)
        writer.close()

    async def here(_: str, __: int) -> list[str]:
        return ["127.0.0.1"]

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server_side)
    port = server.sockets[0].getsockname()[1]
    async with server, WebhookClient(private=True, resolve=here, trust=trusting) as client:
        wrong = await client.post(f"https://hooks.test:{port}/", HEADERS, b"{}")
        assert (wrong.status, requests) == (None, 0)
        assert (await client.post(f"https://other.test:{port}/", HEADERS, b"{}")).status == 204
