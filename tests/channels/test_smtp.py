"""The mail client against a real SMTP server: encryption, sign-in, and every refusal."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.certificates import make_certificate
from channels.counterparts import MESSAGE, SECRET, channel
from channels.mail_server import MailServer, mail_server
from handraise.channels.model import Channel, ChannelError

TYPED = {"sender": "hub@example.com", "recipients": "ana@example.com, bo@example.com"}


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's side, and trust in it."""
    folder: Path = tmp_path_factory.mktemp("tls")
    make_certificate(folder / "cert.pem", folder / "key.pem")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return server, ssl.create_default_context(cafile=str(folder / "cert.pem"))


def email(server: MailServer, trust: ssl.SSLContext | None = None, **typed: str) -> Channel:
    fields = {"host": "localhost", "port": str(server.port), **TYPED, **typed}

    async def resolve(host: str, port: int) -> list[str]:
        # Not ::1, where nobody listens.
        return ["127.0.0.1"]

    return channel("email", fields, trust=trust, resolve=resolve)


async def refusal(server: MailServer, **typed: str) -> ChannelError:
    with pytest.raises(ChannelError) as caught:
        await email(server, None, security="none", **typed).send(MESSAGE)
    return caught.value


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_mail_is_sent_encrypted_after_signing_in(
    tls: tuple[ssl.SSLContext, ssl.SSLContext], security: str
) -> None:
    at_once = security == "tls"
    async with mail_server(MailServer(user="ana", password=SECRET), tls[0], at_once=at_once) as server:
        made = email(server, tls[1], security=security, user="ana", password=SECRET)
        await made.send(MESSAGE)
        (envelope,) = server.envelopes
        assert envelope.rcpt_tos == ["ana@example.com", "bo@example.com"]
        assert envelope.mail_from == "hub@example.com"
        assert "accepts the sign-in" in await made.probe()
        assert len(server.mails) == 1


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_certificate_that_is_not_trusted_ends_it_before_the_password(
    tls: tuple[ssl.SSLContext, ssl.SSLContext], security: str
) -> None:
    at_once = security == "tls"
    async with mail_server(MailServer(user="ana", password=SECRET), tls[0], at_once=at_once) as server:
        with pytest.raises(ChannelError, match="certificate") as caught:
            await email(server, security=security, user="ana", password=SECRET).send(MESSAGE)
        assert server.mails == []
    assert (caught.value.permanent, caught.value.maybe_sent) == (False, False)


async def test_a_certificate_for_another_name_is_not_trusted(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async with mail_server(MailServer(), tls[0]) as server:
        with pytest.raises(ChannelError, match="certificate"):
            await email(server, tls[1], host="mail.example.com").send(MESSAGE)
        assert server.mails == []


async def test_nothing_is_sent_to_a_server_that_hides_starttls() -> None:
    async with mail_server(MailServer()) as server:
        with pytest.raises(ChannelError, match="no STARTTLS") as caught:
            await email(server, security="starttls", user="ana", password=SECRET).send(MESSAGE)
        assert server.mails == []
    assert caught.value.permanent


async def test_a_port_for_another_encryption_is_a_clear_error(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async with mail_server(MailServer(), tls[0]) as server:
        with pytest.raises(ChannelError, match="Check name, port and security"):
            await email(server, tls[1], security="tls").send(MESSAGE)


async def test_a_server_without_sign_in_is_named() -> None:
    async with mail_server(MailServer()) as server:
        server.hides_auth = True
        error = await refusal(server, user="ana", password=SECRET)
    assert "no sign-in" in error.sentence
    assert error.permanent


@pytest.mark.parametrize(
    ("refuse", "permanent", "words"),
    [
        (lambda server: setattr(server, "on_sender", "553 Not yours"), True, "may send from"),
        (lambda server: setattr(server, "on_sender", "451 Later"), False, "at the moment"),
        (lambda server: setattr(server, "on_data", "554 Spam"), True, "refused the e-mail"),
        (lambda server: setattr(server, "on_data", "451 Greylisted"), False, "at the moment"),
        (lambda server: setattr(server, "on_login", "535 No"), True, "app password"),
        (lambda server: setattr(server, "on_login", "454 Later"), False, "at the moment"),
    ],
)
async def test_each_refusal_is_temporary_or_not(refuse: Callable[[Any], None], permanent: bool, words: str) -> None:
    async with mail_server(MailServer(user="ana", password=SECRET)) as server:
        refuse(server)
        error = await refusal(server, user="ana", password=SECRET)
        assert server.mails == []
    assert words in error.sentence
    assert error.permanent == permanent


async def test_everyone_whom_the_server_accepts_gets_it() -> None:
    async with mail_server(MailServer()) as server:
        server.on_recipient = {"ana@example.com": "550 Unknown"}
        receipt = await email(server, security="none").send(MESSAGE)
        assert server.envelopes[0].rcpt_tos == ["bo@example.com"]
    assert "ana@example.com" in receipt.warning
    assert "bo@example.com" not in receipt.warning


@pytest.mark.parametrize(("code", "permanent"), [("550", True), ("450", False)])
async def test_nobody_whom_the_server_accepts_is_an_error(code: str, permanent: bool) -> None:
    async with mail_server(MailServer()) as server:
        server.on_recipient = {"ana@example.com": "550 Unknown", "bo@example.com": f"{code} X"}
        error = await refusal(server)
        assert server.mails == []
    assert error.permanent == permanent
    assert "bo@example.com" in error.sentence


async def test_this_machine_is_not_named_to_the_server() -> None:
    async with mail_server(MailServer()) as server:
        await email(server, security="none").send(MESSAGE)
        assert server.greetings == ["[127.0.0.1]"]


async def test_without_encryption_only_this_machine_is_reached() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["192.0.2.1"]

    made = channel("email", {"host": "mail.lan", "security": "none", **TYPED}, resolve=resolve)
    with pytest.raises(ChannelError, match="without encryption") as caught:
        await made.send(MESSAGE)
    assert caught.value.permanent


@pytest.mark.parametrize(
    "greeting", [b"554 Go away\r\n", b"421 Busy\r\n", b"hello\r\n", b"\xff\xfe\r\n", b"", b"220-x\r\n" * 70_000]
)
async def test_a_strange_greeting_is_an_error(greeting: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        server = MailServer()
        server.port = listener.sockets[0].getsockname()[1]
        error = await refusal(server)
    assert not error.maybe_sent
    assert error.permanent == greeting.startswith(b"554")
