"""A real SMTP server on loopback, by aiosmtpd: STARTTLS, TLS, sign-in, and every refusal."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


class MailServer:
    """What it got, and what it refuses. A reply such as `450 Greylisted` refuses; None accepts."""

    def __init__(self, *, user: str = "", password: str = "") -> None:
        self.login = (user, password)
        self.port = 0
        self.mails: list[EmailMessage] = []
        self.envelopes: list[Envelope] = []
        self.sessions = 0
        self.on_sender: str | None = None
        self.on_recipient: dict[str, str] = {}
        self.on_data: str | None = None
        self.on_login: str | None = None
        self.cuts_data = False
        self.silent = False
        self.hides_auth = False
        self.greetings: list[str] = []

    async def handle_EHLO(  # noqa: N802 (aiosmtpd's name)
        self, server: SMTP, session: Session, envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        self.sessions += 1
        session.host_name = hostname
        self.greetings.append(hostname)
        return [each for each in responses if not (self.hides_auth and "AUTH" in each)]

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.silent:
            await asyncio.Event().wait()
        if self.on_sender:
            return self.on_sender
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if refusal := self.on_recipient.get(address):
            return refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.cuts_data:
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
            return "250 nobody hears this"
        if self.on_data:
            return self.on_data
        self.envelopes.append(envelope)
        assert isinstance(envelope.content, bytes)
        read = message_from_bytes(envelope.content, policy=policy.SMTP)
        assert isinstance(read, EmailMessage)
        self.mails.append(read)
        return "250 OK"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: object
    ) -> AuthResult:
        if self.on_login:
            return AuthResult(success=False, handled=False, message=self.on_login)
        assert isinstance(given, LoginPassword)
        return AuthResult(success=(given.login.decode(), given.password.decode()) == self.login, handled=False)


@asynccontextmanager
async def mail_server(
    server: MailServer, tls: ssl.SSLContext | None = None, *, at_once: bool = False
) -> AsyncIterator[MailServer]:
    loop = asyncio.get_running_loop()

    def protocol() -> SMTP:
        return SMTP(
            server,
            loop=loop,
            hostname="mail.test",
            tls_context=None if at_once else tls,
            authenticator=server.authenticate if server.login[0] else None,
            auth_require_tls=tls is not None and not at_once,
        )

    listener = await loop.create_server(protocol, "127.0.0.1", 0, ssl=tls if at_once else None)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
