"""The push client: what a push service gets, what its responses mean, and where the hub never connects."""

import asyncio
import os
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from handraise.model.devices import Device, Unusable
from handraise.surfaces.push.client import LONGEST_PAUSE, WebPushClient, read_pause
from handraise.surfaces.push.messages import Accepted, EndpointGone, PushMessage, Rejected, RetryLater
from handraise.surfaces.push.vapid import HubKey, keep_key
from surfaces.push.asked import NOW, device_of
from surfaces.push.vendor import Phone, Vendor, b64, vendor

LETTER = PushMessage(b'{"kind":"trial"}', "topic-1", 60, "high")


def now() -> datetime:
    return datetime.now(UTC)


def device(phone: Phone) -> Device:
    made = device_of()
    return Device(
        made.id, made.person, made.token, made.label, made.kinds, phone.endpoint, b64(phone.point), b64(phone.auth), NOW
    )


@asynccontextmanager
async def client(key: HubKey, **terms: Any) -> AsyncIterator[WebPushClient]:
    terms.setdefault("private", True)
    async with WebPushClient(key, now, os.urandom, **terms) as made:
        yield made


@asynccontextmanager
async def parties(tmp: Path, **terms: Any) -> AsyncIterator[tuple[Vendor, WebPushClient, Phone]]:
    key = keep_key(tmp / "key.pem")
    async with vendor() as service, client(key, **terms) as carrier:
        yield service, carrier, service.phone(key.public)


async def test_a_push_service_gets_a_sealed_message_and_how_it_travels(tmp_path: Path) -> None:
    async with parties(tmp_path, contact="mailto:me@example.org") as (service, carrier, phone):
        assert await carrier.carry(device(phone), LETTER) == Accepted()
        (got,) = phone.delivered
        assert got.notice == {"kind": "trial"}
        assert (got.headers["ttl"], got.headers["urgency"], got.headers["topic"]) == ("60", "high", "topic-1")
        assert got.claims["aud"] == service.base
        assert got.claims["sub"] == "mailto:me@example.org"
        assert b"trial" not in got.sealed
        assert await carrier.carry(device(phone), LETTER._replace(topic=None)) == Accepted()
        assert "topic" not in phone.delivered[1].headers
        assert phone.delivered[1].sealed[:16] != got.sealed[:16], "the salt is used once"
        assert phone.delivered[1].sealed[21:86] != got.sealed[21:86], "and so is the key"


@pytest.mark.parametrize(
    ("status", "headers", "outcome"),
    [
        (404, {}, EndpointGone()),
        (410, {}, EndpointGone()),
        (429, {"retry-after": "120"}, RetryLater("The push service is busy (429).", 120.0)),
        (503, {}, RetryLater("The push service is busy (503).", None)),
        (500, {"retry-after": "soon"}, RetryLater("The push service is busy (500).", None)),
        (403, {}, Rejected("The push service refused the message (403).")),
        (413, {}, Rejected("The push service refused the message (413).")),
        (302, {"location": "http://127.0.0.1:9/"}, Rejected("The push service refused the message (302).")),
        (200, {}, Accepted()),
    ],
)
async def test_what_a_push_service_answers_has_a_meaning(
    tmp_path: Path, status: int, headers: dict[str, str], outcome: object
) -> None:
    async with parties(tmp_path) as (_, carrier, phone):
        phone.refusals.append((status, headers))
        assert await carrier.carry(device(phone), LETTER) == outcome
        assert phone.tried == 1


async def test_an_endless_answer_is_not_read(tmp_path: Path) -> None:
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 201 -\r\ncontent-length: 1000000000\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
                sent += 65536
        except ConnectionError:
            writer.close()

    key = keep_key(tmp_path / "key.pem")
    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    async with server, client(key) as carrier:
        phone = Phone(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/x", key.public)
        assert await carrier.carry(device(phone), LETTER) == Accepted()
    assert sent < 50_000_000


async def test_one_that_never_answers_or_is_not_there_can_be_tried_later(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    key = keep_key(tmp_path / "key.pem")
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    phone = Phone(f"http://127.0.0.1:{port}/x", key.public)
    async with client(key, deadline=0.3) as carrier:
        async with server:
            assert await carrier.carry(device(phone), LETTER) == RetryLater("The push service didn't respond in time.")
        assert isinstance(await carrier.carry(device(phone), LETTER), RetryLater)
        nameless = Phone("http://no-such-host.invalid/x", key.public)
        assert await carrier.carry(device(nameless), LETTER) == RetryLater("The push service can't be found from here.")


async def test_the_hubs_own_network_is_never_connected_to_whatever_a_name_leads_to(tmp_path: Path) -> None:
    key = keep_key(tmp_path / "key.pem")
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["8.8.8.8", "169.254.169.254"]

    connected = 0

    async def listen(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connected
        connected += 1
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, client(key, private=False) as plain, client(key, private=False, resolve=resolve) as tricked:
        for endpoint in (f"https://127.0.0.1:{port}/x", f"https://localhost:{port}/x", f"https://[::1]:{port}/x"):
            outcome = await plain.carry(device(Phone(endpoint, key.public)), LETTER)
            assert outcome == Rejected("This push service isn't on the public internet."), endpoint
        outcome = await plain.carry(device(Phone(f"http://127.0.0.1:{port}/x", key.public)), LETTER)
        assert outcome == Rejected("A push service must be reached over https.")
        outcome = await tricked.carry(device(Phone("https://push.example/x", key.public)), LETTER)
        assert outcome == Rejected("This push service isn't on the public internet.")
        phone = Phone("https://push.example/x", key.public)
        with pytest.raises(Unusable, match="public internet"):
            await tricked.check(phone.endpoint, b64(phone.point), b64(phone.auth))
    assert asked == ["push.example"] * 2
    assert connected == 0


async def test_the_name_is_checked_by_tls_and_the_connection_goes_to_the_address_that_was_looked_at(
    tmp_path: Path,
) -> None:
    certificate, private = tmp_path / "cert.pem", tmp_path / "tls.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=push.example", "-addext", "subjectAltName=DNS:push.example",
         "-out", certificate, "-keyout", private],
        check=True, capture_output=True,
    )  # fmt: skip
    theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    theirs.load_cert_chain(certificate, private)
    trust = ssl.create_default_context(cafile=str(certificate))
    key = keep_key(tmp_path / "key.pem")
    service = Vendor("")

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    server = await asyncio.start_server(service.take, "127.0.0.1", 0, ssl=theirs)
    port = server.sockets[0].getsockname()[1]
    async with server, client(key, resolve=resolve, trust=trust) as carrier:
        service.base = f"https://push.example:{port}"
        phone = service.phone(key.public)
        assert await carrier.carry(device(phone), LETTER) == Accepted()
        assert phone.delivered[0].headers["host"] == f"push.example:{port}"
        pretender = Phone(phone.endpoint.replace("push.example", "other.example"), key.public)
        assert await carrier.carry(device(pretender), LETTER) == RetryLater("The push service couldn't be reached.")
        assert phone.tried == 1


async def test_keys_that_are_none_are_told_at_once(tmp_path: Path) -> None:
    async with parties(tmp_path) as (_, carrier, phone):
        point, auth = b64(phone.point), b64(phone.auth)
        await carrier.check(phone.endpoint, point, auth)
        for key, secret in (("", auth), (point[:-4], auth), (point, auth[:-4]), (point, ""), ("*", auth), (point, "é")):
            with pytest.raises(Unusable, match="keys"):
                await carrier.check(phone.endpoint, key, secret)
        broken = Device("d_1", "ana", None, "x", (), phone.endpoint, "AAAA", auth, NOW)
        assert await carrier.carry(broken, LETTER) == Rejected("This browser's keys can't be used.")
        assert phone.tried == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("30", 30.0),
        ("99999999999", LONGEST_PAUSE),
        ("-1", None),
        ("Tue, 01 Jan 2030 12:02:00 GMT", 120.0),
        ("Tue, 01 Jan 2030 11:00:00 GMT", 0.0),
        ("Fri, 01 Jan 2100 11:00:00 GMT", LONGEST_PAUSE),
        ("tomorrow", None),
    ],
)
def test_how_long_to_wait_is_read_and_bounded(text: str | None, seconds: float | None) -> None:
    assert read_pause(text, NOW) == seconds
    assert timedelta(seconds=LONGEST_PAUSE) == timedelta(hours=1)
