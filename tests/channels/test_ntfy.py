"""The ntfy client against a server that keeps ntfy's rules, with and without TLS."""

import asyncio
import ssl
from pathlib import Path

import pytest

from api.certificates import make_certificate
from channels.counterparts import MESSAGE, SECRET, channel
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.channels.model import ChannelError
from handraise.channels.ntfy import NtfyChannel
from handraise.channels.outbound import LARGEST_REPLY, OutboundClient


def ntfy(server: NtfyServer, **typed: str) -> NtfyChannel:
    made = channel("ntfy", {"server": f"http://127.0.0.1:{server.port}", "topic": "shop", **typed})
    assert isinstance(made, NtfyChannel)
    return made


async def test_the_same_message_again_replaces_itself() -> None:
    async with ntfy_server(NtfyServer()) as server:
        made = ntfy(server)
        first, second = await made.send(MESSAGE), await made.send(MESSAGE)
        assert first == second
        assert {each["sequence_id"] for each in server.published} == {"n_1"}
        assert await made.retract(first, MESSAGE)
        assert server.deleted == ["n_1"]
        assert server.requests[-1][:2] == ("DELETE", "/shop/n_1")


async def test_a_server_before_sequence_ids_gets_the_message_and_keeps_it() -> None:
    async with ntfy_server(NtfyServer(version=15)) as server:
        made = ntfy(server)
        receipt = await made.send(MESSAGE)
        assert len(server.published) == 1
        assert not await made.retract(receipt, MESSAGE)
        assert len(server.requests) == 1, "it isn't asked for what it can't do"


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_that_no_longer_knows_the_message_took_nothing_back(status: int) -> None:
    async with ntfy_server(NtfyServer()) as server:
        made = ntfy(server)
        receipt = await made.send(MESSAGE)
        server.answer = (status, {}, b"")
        assert not await made.retract(receipt, MESSAGE)


async def test_a_retraction_that_fails_is_an_error() -> None:
    async with ntfy_server(NtfyServer()) as server:
        made = ntfy(server)
        receipt = await made.send(MESSAGE)
        server.answer = (503, {"retry-after": "30"}, b"")
        with pytest.raises(ChannelError) as caught:
            await made.retract(receipt, MESSAGE)
    assert (caught.value.permanent, caught.value.retry_after) == (False, 30.0)


async def test_a_user_with_a_password_signs_in() -> None:
    async with ntfy_server(NtfyServer(user="ana", password="pw")) as server:
        await ntfy(server, user="ana", password="pw").send(MESSAGE)
        assert len(server.published) == 1
        with pytest.raises(ChannelError, match="refused the sign-in"):
            await ntfy(server, user="ana", password="wrong").send(MESSAGE)
        with pytest.raises(ChannelError, match="access rules"):
            await ntfy(server).send(MESSAGE)


async def test_a_redirect_is_not_followed() -> None:
    async with ntfy_server(NtfyServer()) as aim, ntfy_server(NtfyServer()) as server:
        server.answer = (308, {"location": f"http://127.0.0.1:{aim.port}/"}, b"")
        with pytest.raises(ChannelError, match="redirects") as caught:
            await ntfy(server, token=SECRET).send(MESSAGE)
        assert aim.requests == []
    assert caught.value.permanent


async def test_an_endless_answer_is_read_only_so_far() -> None:
    async with ntfy_server(NtfyServer()) as server:
        server.endless = True
        reply = await OutboundClient(private=True).request("GET", f"http://127.0.0.1:{server.port}/")
        assert len(reply.body) == LARGEST_REPLY
        assert (await ntfy(server).send(MESSAGE)).data == ""


async def test_an_unreadable_answer_is_still_a_success() -> None:
    async with ntfy_server(NtfyServer()) as server:
        for body in (b"", b"\xff", b"[]", b'{"sequence_id":1}', b"[" * 50_000):
            server.answer = (200, {}, body)
            assert (await ntfy(server).send(MESSAGE)).data == ""


async def test_a_probe_says_what_works() -> None:
    async with ntfy_server(NtfyServer(token="tk_1")) as server:
        assert "accepts the sign-in" in await ntfy(server, token="tk_1").probe()
        assert (await ntfy(server).probe()).endswith("works.")
        server.answer = (200, {}, b"<html>")
        with pytest.raises(ChannelError, match="no ntfy server"):
            await ntfy(server).probe()
        server.answer = (502, {}, b"")
        with pytest.raises(ChannelError, match="a problem"):
            await ntfy(server).probe()


async def test_every_address_of_a_name_must_be_public() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["8.8.8.8", "127.0.0.1"]

    made = channel("ntfy", {"server": "https://ntfy.example", "topic": "shop"}, private=False, resolve=resolve)
    with pytest.raises(ChannelError, match="public internet"):
        await made.send(MESSAGE)


async def test_a_name_is_looked_up_once_and_the_checked_address_is_used() -> None:
    async with ntfy_server(NtfyServer()) as server:
        looked_up = []

        async def resolve(host: str, port: int) -> list[str]:
            looked_up.append((host, port))
            return ["127.0.0.1"]

        made = channel("ntfy", {"server": f"http://ntfy.example:{server.port}", "topic": "shop"}, resolve=resolve)
        await made.send(MESSAGE)
        assert looked_up == [("ntfy.example", server.port)]
        assert server.requests[0][2]["host"] == f"ntfy.example:{server.port}"


async def test_a_token_never_leaves_over_plain_http_to_the_internet() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["8.8.8.8"]

    made = channel("ntfy", {"server": "http://ntfy.example", "topic": "shop", "token": SECRET}, resolve=resolve)
    with pytest.raises(ChannelError, match="over https") as caught:
        await made.send(MESSAGE)
    assert caught.value.permanent


async def test_an_unknown_name_is_not_found() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return []

    made = channel("ntfy", {"server": "https://ntfy.example", "topic": "shop"}, resolve=resolve)
    with pytest.raises(ChannelError, match="can't be found"):
        await made.send(MESSAGE)


async def test_tls_needs_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    make_certificate(tmp_path / "cert.pem", tmp_path / "key.pem")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    trust = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    async with ntfy_server(NtfyServer(), tls) as server:
        typed = {"server": f"https://localhost:{server.port}", "topic": "shop"}
        await channel("ntfy", typed, trust=trust).send(MESSAGE)
        assert len(server.published) == 1
        with pytest.raises(ChannelError, match="certificate") as caught:
            await channel("ntfy", typed).send(MESSAGE)
        assert (caught.value.permanent, caught.value.maybe_sent) == (False, False)
        assert len(server.published) == 1


async def test_a_server_without_tls_is_not_mistaken_for_one_with_it() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        with pytest.raises(ChannelError, match="TLS") as caught:
            await channel("ntfy", {"server": f"https://127.0.0.1:{port}", "topic": "shop"}).send(MESSAGE)
    assert not caught.value.maybe_sent
