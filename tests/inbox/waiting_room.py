"""An inbox with a clock that the test sets, asks for it, and surroundings without a disk."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from posixpath import normpath
from typing import Any

from handraise.inbox.considering import Surroundings
from handraise.inbox.inbox import Inbox
from handraise.model.actors import Person
from handraise.model.asks import Ask, Body, Form, Option, Origin, Permission, Plan, Prompt, Question
from handraise.model.items import Content
from handraise.model.projects import Patience
from handraise.model.rules import Rule
from handraise.store.interface import Store

ANA, BEN = Person("ana"), Person("ben")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

QUESTION = Question((Prompt("Which database?", "Store", (Option("SQLite"), Option("Postgres"))),))
PLAN = Plan("1. Do it.")
FORM = Form("Where to?", "post", {"properties": {"street": {"type": "string"}}, "required": ["street"]})


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Room:
    """Everything a test needs of an inbox."""

    def __init__(self, store: Store, inbox: Inbox, clock: Clock) -> None:
        self.store = store
        self.inbox = inbox
        self.clock = clock
        self.settled: list[Ask] = []

    async def open(self, ask: Ask, **around: Any) -> Ask:
        return await self.inbox.open(ask, surroundings(**around))

    async def contents(self) -> list[Content]:
        return [item.read() for item in await self.store.items(after=0)]


@asynccontextmanager
async def room(store: Store, clock: Clock | None = None, settings: Sequence[Rule] = ()) -> AsyncIterator[Room]:
    clock = clock or Clock()
    async with Inbox(store, clock, settings) as inbox:
        here = Room(store, inbox, clock)
        with inbox.listening(here.settled.append, "s_1"):
            yield here


def surroundings(patience: Patience | None = None, mode: str = "default", files: dict[str, str] | None = None) -> Any:
    return Surroundings("/work/app", mode, patience or Patience(), normpath, (files or {}).get)


def bash(command: str = "npm test", **fields: Any) -> Permission:
    return Permission("Bash", {"command": command}, **fields)


def an_ask(body: Body | None = None, identity: str = "a_1", session: str | None = "s_1") -> Ask:
    return Ask(
        id=identity,
        session=session,
        project="p_1",
        body=body or bash(),
        tool=body.tool if isinstance(body, Permission) else "Bash",
        origin=Origin(f"request-{identity}"),
        opened_at=NOON,
    )
