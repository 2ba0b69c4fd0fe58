"""Sends e-mails over an SMTP server. Never retries, and lets no password into an error or a log.

`smtplib` blocks, so it runs in a thread. When the time is up, its connection is shut down from outside: then the
thread ends, whatever the server does.
"""

import asyncio
import os
import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, BinaryIO

from handraise.channels.config import ChannelConfig, ChannelSecrets, utc
from handraise.channels.mails import mail, message_id, partly_refused, refused, refused_recipients
from handraise.channels.model import ChannelError, ChannelMessage, ChannelReceipt
from handraise.channels.outbound import NoReply, Resolve, resolve, usable_addresses
from handraise.channels.threads import in_thread
from handraise.model.addresses import is_loopback
from handraise.texts import t

DEADLINE = 30.0
"""How long a mail may take. Longer than for other channels: mail servers make unknown senders wait."""
_CONNECT_SECONDS = 10.0
_ACCEPTED = (250, 251)
_LARGEST_REPLIES = 256 * 1024


class EmailChannel:
    """One sender and some recipients, over one mail server."""

    def __init__(
        self,
        config: ChannelConfig,
        secrets: ChannelSecrets,
        *,
        private: bool = False,
        clock: Callable[[], datetime] = utc,
        resolve: Resolve = resolve,
        trust: ssl.SSLContext | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self._host = config.fields["host"]
        self._port = int(config.fields["port"])
        self._security = config.fields["security"]
        self._user = config.fields.get("user", "")
        self._password = secrets.get("password")
        self._sender = config.fields["sender"]
        self._recipients = config.fields["recipients"].split(", ")
        self._private = private
        self._clock = clock
        self._resolve = resolve
        self._trust = trust
        self._deadline = deadline

    def __repr__(self) -> str:
        return f"EmailChannel({self._host!r})"

    def describe(self) -> str:
        return t("channels.email.describe", host=self._host, recipients=", ".join(self._recipients))

    async def send(self, message: ChannelMessage) -> ChannelReceipt:
        now = self._clock()
        refusals = await self._run(lambda server: self._deliver(server, message, now))
        identity = message_id(message.id, self._sender.rpartition("@")[2])
        return ChannelReceipt(identity, partly_refused(refusals, self._host))

    async def retract(self, receipt: ChannelReceipt, message: ChannelMessage) -> bool:  # noqa: ARG002 (no way back)
        return False

    async def probe(self) -> str:
        await self._run(lambda _: {})
        key = "channels.email.signed_in" if self._user else "channels.email.works"
        return t(key, host=self._host)

    async def _run(self, work: Callable[["_MailConnection"], dict[str, int]]) -> dict[str, int]:
        outcome = await self._try(work)
        if isinstance(outcome, ChannelError):
            # Outside of an `except`: no error of smtplib, which may quote what was sent, hangs on to this one.
            raise outcome
        return outcome

    async def _try(self, work: Callable[["_MailConnection"], dict[str, int]]) -> dict[str, int] | ChannelError:
        server: _MailConnection | None = None
        try:
            async with asyncio.timeout(self._deadline):
                addresses = await usable_addresses(self._host, self._port, self._resolve, private=self._private)
                if self._security == "none" and not all(is_loopback(each) for each in addresses):
                    return self._trouble("plain", permanent=True)
                server = self._server(addresses)
                connection = server
                return await in_thread(lambda: self._work(connection, work))
        except NoReply as error:
            return self._trouble(error.trouble, permanent=error.trouble == "private")
        except TimeoutError:
            return self._trouble("timeout", maybe_sent=server is not None and server.has_begun)
        finally:
            if server is not None:
                server.abandon()

    def _server(self, addresses: list[str]) -> "_MailConnection":
        return _MailConnection(
            self._host, self._port, addresses, self._security == "tls", self._context, self._deadline
        )

    def _context(self) -> ssl.SSLContext:
        if self._trust is None:
            self._trust = ssl.create_default_context()
        return self._trust

    def _work(
        self, server: "_MailConnection", work: Callable[["_MailConnection"], dict[str, int]]
    ) -> dict[str, int] | ChannelError:
        """In a thread. Every way that a server can fail is caught here, where it is known how far it got."""
        try:
            server.open()
            self._sign_in(server)
            done = work(server)
        except ChannelError as error:
            return ChannelError(error.sentence, permanent=error.permanent)
        except ssl.SSLError:
            return self._trouble("tls")
        except smtplib.SMTPNotSupportedError:
            return self._trouble("unsupported", permanent=True)
        except smtplib.SMTPResponseException as error:
            return refused(error.smtp_code, self._host)
        except (OSError, smtplib.SMTPException, ValueError):
            return self._trouble("broken" if server.is_open else "unreachable", maybe_sent=server.has_begun)
        finally:
            # Whatever happened, has happened: a server that doesn't say goodbye changes nothing.
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
            server.close()
        return done

    def _sign_in(self, server: "_MailConnection") -> None:
        server.ehlo_or_helo_if_needed()
        if self._security == "starttls":
            if not server.has_extn("starttls"):
                raise self._trouble("no_starttls", permanent=True)
            server.starttls(context=self._context())
            server.ehlo_or_helo_if_needed()
        if not self._user:
            return
        try:
            server.login(self._user, self._password)
        except smtplib.SMTPNotSupportedError:
            raise self._trouble("no_login", permanent=True) from None
        except smtplib.SMTPResponseException as error:
            raise refused(error.smtp_code, self._host, step="login") from None

    def _deliver(self, server: "_MailConnection", message: ChannelMessage, now: datetime) -> dict[str, int]:
        """Sends it to everyone whom the server accepts; the others with their codes."""
        content = mail(message, self._sender, self._recipients, now).as_bytes()
        code, _ = server.mail(self._sender)
        if code not in _ACCEPTED:
            raise refused(code, self._host, step="sender")
        answers = {each: server.rcpt(each)[0] for each in self._recipients}
        refusals = {each: code for each, code in answers.items() if code not in _ACCEPTED}
        if len(refusals) == len(answers):
            raise refused_recipients(refusals, self._host)
        server.has_begun = True
        try:
            code, _ = server.data(content)
        except smtplib.SMTPDataError as error:
            code = error.smtp_code
        server.has_begun = False
        if code not in _ACCEPTED:
            raise refused(code, self._host)
        return refusals

    def _trouble(self, trouble: str, *, permanent: bool = False, maybe_sent: bool = False) -> ChannelError:
        return ChannelError(
            t(f"channels.email.network.{trouble}", host=self._host), permanent=permanent, maybe_sent=maybe_sent
        )


class _MailConnection(smtplib.SMTP):
    """A connection to an address that was checked, under the name that its certificate must have."""

    file: Any

    def __init__(
        self,
        host: str,
        port: int,
        addresses: list[str],
        at_once: bool,
        context: Callable[[], ssl.SSLContext],
        deadline: float,
    ) -> None:
        # The name of this machine is nobody's business, and looking it up could take long.
        super().__init__(local_hostname="[127.0.0.1]", timeout=deadline)
        self._host = host
        self._where = (port, addresses)
        self._at_once = at_once
        self._new_context = context
        self._handle: socket.socket | None = None
        self._abandoned = False
        self.is_open = False
        self.has_begun = False
        """Whether the content is on its way, and the server hasn't said what became of it."""

    def open(self) -> None:
        """Connects and reads the greeting. Raises what smtplib raises."""
        port, addresses = self._where
        code, greeting = self.connect(addresses[0], port)
        if code != 220:
            raise smtplib.SMTPConnectError(code, greeting)
        self.is_open = True

    def getreply(self) -> tuple[int, bytes]:
        """As smtplib's, with a limit: a reply can have any number of lines."""
        if self.file is None and self.sock is not None:
            self.file = _LimitedReplies(self.sock.makefile("rb"))
        return super().getreply()

    def abandon(self) -> None:
        """From another thread: ends whatever the connection waits for."""
        self._abandoned = True
        if self._handle is not None:
            with suppress(OSError):
                self._handle.shutdown(socket.SHUT_RDWR)
            self._handle.close()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002 (see addresses)
        made = self._connected(port, timeout)
        # A second handle: TLS takes the first one over, and meanwhile nobody could shut it down.
        self._handle = socket.socket(fileno=os.dup(made.fileno()))
        if self._abandoned:
            self.abandon()
        where = made.getsockname()[0]
        self.local_hostname = f"[IPv6:{where}]" if ":" in where else f"[{where}]"
        if self._at_once:
            return self._new_context().wrap_socket(made, server_hostname=self._host)
        return made

    def _connected(self, port: int, timeout: float) -> socket.socket:
        *others, last = self._where[1]
        for address in others:
            with suppress(OSError):
                return socket.create_connection((address, port), min(timeout, _CONNECT_SECONDS))
            if self._abandoned:
                raise OSError("abandoned")
        return socket.create_connection((last, port), min(timeout, _CONNECT_SECONDS))


class _LimitedReplies:
    """What a server says, up to a size that no honest one reaches."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rest = _LARGEST_REPLIES

    def readline(self, size: int) -> bytes:
        line = self._file.readline(size)
        self._rest -= len(line)
        if self._rest < 0:
            raise OSError("too much")
        return line

    def close(self) -> None:
        self._file.close()
