"""The other end of each kind of channel, on loopback, under one interface: what arrived, and every way to fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from channels.mail_server import MailServer, mail_server
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.channels.apprise_channel import AppriseChannel
from handraise.channels.config import CheckedChannel, check
from handraise.channels.model import Channel, ChannelButton, ChannelKind, ChannelMessage
from handraise.channels.ntfy import NtfyChannel
from handraise.channels.smtp import EmailChannel

SECRET = "tk_s3cret-Xyzzy"
Failure = Literal["unauthorized", "refused", "busy", "cut"]
MESSAGE = ChannelMessage(
    "n_1",
    "Claude needs you in `shop`",
    "Run the tests?\n\nnpm test",
    "https://hub.example/asks/a_1",
    buttons=(ChannelButton("Allow once", "https://hub.example/answer", '{"secret":"one-use"}'),),
    thread="s_1",
)


class Arrived(Struct, frozen=True):
    """A message at the other end."""

    title: str
    text: str


class Counterpart(Protocol):
    """One kind's other end."""

    port: int

    def typed(self) -> dict[str, str]: ...

    def arrived(self) -> list[Arrived]: ...

    def attempts(self) -> int: ...

    def fail(self, how: Failure) -> None: ...

    def hang(self) -> None: ...


class NtfyCounterpart:
    def __init__(self) -> None:
        self.server = NtfyServer(token=SECRET)
        self.port = 0

    def typed(self) -> dict[str, str]:
        return {"server": f"http://127.0.0.1:{self.port}", "topic": "shop-alerts", "token": SECRET}

    def arrived(self) -> list[Arrived]:
        return [
            Arrived(each.get("title", ""), each["message"] + "\n" + each.get("click", ""))
            for each in self.server.published
        ]

    def attempts(self) -> int:
        return len(self.server.requests)

    def fail(self, how: Failure) -> None:
        words = f'{{"error":"{SECRET}"}}'.encode()
        match how:
            case "unauthorized":
                self.server.token = "another"
            case "refused":
                self.server.answer = (400, {}, words)
            case "busy":
                self.server.answer = (503, {}, words)
            case "cut":
                self.server.cuts = True

    def hang(self) -> None:
        self.server.silent = True


class EmailCounterpart:
    def __init__(self) -> None:
        self.server = MailServer(user="ana", password=SECRET)
        self.port = 0

    def typed(self) -> dict[str, str]:
        return {
            "host": "127.0.0.1",
            "port": str(self.port),
            "security": "none",
            "user": "ana",
            "password": SECRET,
            "sender": "hub@example.com",
            "recipients": "bo@example.com",
        }

    def arrived(self) -> list[Arrived]:
        found = []
        for each in self.server.mails:
            body = each.get_body(("plain",))
            assert body is not None
            found.append(Arrived(str(each["Subject"]), body.get_content()))
        return found

    def attempts(self) -> int:
        return self.server.sessions

    def fail(self, how: Failure) -> None:
        match how:
            case "unauthorized":
                self.server.login = ("ana", "another")
            case "refused":
                self.server.on_data = f"554 Rejected {SECRET}"
            case "busy":
                self.server.on_recipient = {"bo@example.com": f"450 4.2.0 Greylisted {SECRET}"}
            case "cut":
                self.server.cuts_data = True

    def hang(self) -> None:
        self.server.silent = True


class AppriseCounterpart:
    """Apprise's JSON target. The server is the one for ntfy, which is asked for nothing but its answers here."""

    def __init__(self) -> None:
        self.server = NtfyServer()
        self.server.answer = (200, {}, b"")
        self.port = 0

    def typed(self) -> dict[str, str]:
        return {"url": f"json://ana:{SECRET}@127.0.0.1:{self.port}/hook/{SECRET}"}

    def arrived(self) -> list[Arrived]:
        bodies = [msgspec.json.decode(body) for _, _, _, body in self.server.requests]
        return [Arrived(each["title"], each["message"]) for each in bodies]

    def attempts(self) -> int:
        return len(self.server.requests)

    def fail(self, how: Failure) -> None:
        status = {"unauthorized": 401, "refused": 400, "busy": 503}
        if how == "cut":
            self.server.cuts = True
        else:
            self.server.answer = (status[how], {}, SECRET.encode())

    def hang(self) -> None:
        self.server.silent = True


@asynccontextmanager
async def counterpart(kind: ChannelKind) -> AsyncIterator[Counterpart]:
    match kind:
        case "ntfy":
            ntfy = NtfyCounterpart()
            async with ntfy_server(ntfy.server) as server:
                ntfy.port = server.port
                yield ntfy
        case "email":
            email = EmailCounterpart()
            async with mail_server(email.server) as mails:
                email.port = mails.port
                yield email
        case "apprise":
            apprise = AppriseCounterpart()
            async with ntfy_server(apprise.server) as server:
                apprise.port = server.port
                yield apprise


def checked(kind: ChannelKind, typed: dict[str, str], *, private: bool = True) -> CheckedChannel:
    return check("c_1", "Somewhere", kind, typed, private=private)


def channel(kind: ChannelKind, other: Counterpart | dict[str, str], *, private: bool = True, **terms: Any) -> Channel:
    """A channel to it. `private` is what the hub allows when it sends, not what it allowed when it was typed."""
    made = checked(kind, other if isinstance(other, dict) else other.typed())
    classes: dict[ChannelKind, Any] = {"ntfy": NtfyChannel, "email": EmailChannel, "apprise": AppriseChannel}
    found: Channel = classes[kind](made.config, made.secrets, private=private, **terms)
    return found


async def closed_port() -> int:
    """A port where nobody listens."""
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port
