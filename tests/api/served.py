"""A hub on real sockets, without sessions to run; its contents are written to its store."""

import asyncio
import itertools
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from handraise.api.stream import Streams
from handraise.model.actors import Person
from handraise.model.asks import Ask, Body, Option, Origin, Prompt, Question
from handraise.model.items import Item, Text
from handraise.model.sessions import Phase, Session
from handraise.model.tokens import Role
from handraise.serving.serve import RunningHub, ServeConfig, serving
from handraise.store.changes import OpenAsk, PublishItems, SaveSession
from store.empty import copy_empty

TESTER = Person("tester")
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients without TLS: reading the machine's certificates takes longer than a whole test."""
WHICH = Question((Prompt("Which?", "", (Option("A"), Option("B"))),))
A = {"answers": [{"labels": ["A"]}]}
B = {"answers": [{"labels": ["B"]}]}


@dataclass
class Served:
    """A running hub, and ways to reach it."""

    up: RunningHub
    state: Path
    link: str = ""
    """Signs one browser in."""
    _count: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def token(self, role: Role, **more: Any) -> str:
        """The secret of a new token."""
        return (await self.up.auth.make(f"a {role}", role, TESTER, "test", **more)).secret

    @asynccontextmanager
    async def client(self, role: Role | None = None, **more: Any) -> AsyncIterator[httpx2.AsyncClient]:
        """Over TCP: a script with a token of this role, or without one."""
        headers = {"authorization": f"Bearer {await self.token(role)}"} if role else {}
        async with httpx2.AsyncClient(
            base_url=self.up.base, headers=headers, timeout=30, verify=PLAIN, **more
        ) as client:
            yield client

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Over TCP: signed in with the link, and on our own page."""
        headers = {"origin": self.up.base}
        async with httpx2.AsyncClient(base_url=self.up.base, headers=headers, timeout=30, verify=PLAIN) as client:
            code = await self.up.auth.make_code("owner", "admin", TESTER, "test")
            entered = await client.get("/login", params={"code": code})
            assert entered.status_code == 303
            yield client

    @asynccontextmanager
    async def neighbour(self) -> AsyncIterator[httpx2.AsyncClient]:
        """On the Unix socket: the owner."""
        transport = httpx2.AsyncHTTPTransport(uds=str(self.state / "hub.sock"), verify=PLAIN)
        async with httpx2.AsyncClient(transport=transport, base_url="http://hub", timeout=30) as client:
            yield client

    async def session(self, *, phase: Phase = "ended", directory: str = "/work", machine: str = "") -> Session:
        """One without a process."""
        now = datetime.now(UTC)
        number = next(self._count)
        session = Session(
            f"s_{number}", None, directory, f"claude-{number}", f"Session {number}", now, now, phase, machine=machine
        )
        await self.up.hub.store.apply([SaveSession(session)])
        return session

    async def ask(self, body: Body = WHICH, *, session: str | None = None, name: str = "") -> Ask:
        """An open one, as if an external agent had raised it. A later hub would wait for that agent, and withdraw
        it."""
        name = name or f"a_{next(self._count)}"
        ask = Ask(
            name, session, None, body, "ask_user", Origin(name), datetime.now(UTC), "session" if session else "agent"
        )
        await self.up.hub.store.apply([OpenAsk(ask)])
        return ask

    async def publish(self, *texts: str, session: str = "s_1") -> Sequence[Item]:
        """Adds items to the feed."""
        now = datetime.now(UTC)
        applied = await self.up.hub.store.apply([PublishItems(session, now, Text(text, "m")) for text in texts])
        return applied.items


@asynccontextmanager
async def served(
    tmp: Path, streams: Streams | None = None, *, seconds: float = 200, **settings: Any
) -> AsyncIterator[Served]:
    """A hub on any free port, for at most this many seconds."""
    state = tmp / "state"
    if not state.exists() and not settings.keys() & {"database", "store"}:
        state.mkdir(0o700, parents=True)
        copy_empty(state)
    settings.setdefault("page", tmp / "no page")
    program = settings.pop("program", Path("/bin/false"))
    service = ServeConfig(state, program, settings.pop("environment", {}), port=0, **settings)
    async with asyncio.timeout(seconds), serving(service, streams) as up:
        yield Served(up, state, await up.new_link())


def error_of(response: httpx2.Response) -> dict[str, Any]:
    """The error in a refusal: always the same shape, and a sentence."""
    body = response.json()
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert error["code"]
    assert error["message"][0].isupper() or error["message"][0] in "`'“"
    assert error["message"].rstrip().endswith((".", "?"))
    return error
