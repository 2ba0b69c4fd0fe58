"""A served hub, and terminals connected to it. Asks are written straight to its store: no Claude is started for
them."""

import itertools
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from handraise.hub.hub import now
from handraise.model.actors import Person
from handraise.model.answers import Answer
from handraise.model.asks import Answered, Ask, Body, Origin
from handraise.model.items import Content, Text
from handraise.model.sessions import Session
from handraise.serving.serve import RunningHub, ServeConfig, serving
from handraise.store.changes import OpenAsk, PublishItems, SaveSession
from surfaces.terminal.pseudo import Pseudo, handraise


class Table:
    """One hub after the other on the same state; `up` is the running one."""

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.state = tmp / "state"
        self.up: RunningHub | None = None
        self._count = itertools.count(1)

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[RunningHub]:
        async with serving(ServeConfig(self.state, Path("/bin/false"), {}, port=0)) as up:
            self.up = up
            yield up
        self.up = None

    @property
    def hub(self) -> Any:
        assert self.up is not None
        return self.up.hub

    async def session(self, identity: str = "s_1", title: str = "Fix the tests", **fields: Any) -> Session:
        """One without a process."""
        values: dict[str, Any] = {"phase": "working", **fields}
        session = Session(identity, None, str(self.tmp), f"claude-{identity}", title, now(), now(), **values)
        await self.hub.store.apply([SaveSession(session)])
        return session

    async def ask(self, body: Body, *, session: str | None = None, patience: float | None = None) -> Ask:
        """An open one."""
        name = f"a_{next(self._count)}"
        expires = now() + timedelta(seconds=patience) if patience is not None else None
        ask = Ask(
            name,
            session,
            None,
            body,
            "Tool",
            Origin(name),
            now(),
            asker="session" if session else "agent",
            expires_at=expires,
        )
        await self.hub.store.apply([OpenAsk(ask)])
        return ask

    async def publish(self, *contents: Content | str, session: str = "s_1") -> None:
        made = [Text(each, f"m_{next(self._count)}") if isinstance(each, str) else each for each in contents]
        await self.hub.store.apply([PublishItems(session, now(), each) for each in made])

    async def answer(self, ask: Ask, answer: Answer, name: str = "ann", source: str = "web") -> None:
        await self.hub.desk.seat(Person(name), source).answer(ask.id, answer, ask.digest)

    async def given(self, ask: Ask) -> Answer:
        """The answer that the ask got."""
        found = await self.hub.desk.ask(ask.id)
        assert isinstance(found.settlement, Answered), found.settlement
        return found.settlement.answer

    def terminal(self, *arguments: str, environment: Mapping[str, str] | None = None, **size: int) -> Pseudo:
        """The real command in its own terminal."""
        fields = {**self._environment(), **(environment or {})}
        return Pseudo(*handraise(*arguments), environment=fields, cwd=str(self.tmp), **size)

    def shell(self, command: str) -> Pseudo:
        """A shell that runs a setup command first, and continues."""
        start = self.tmp / "shell.rc"
        start.write_text(f'handraise() {{ {" ".join(handraise())} "$@"; }}\n{command}\n')
        fields = {**self._environment(), "HISTFILE": "/dev/null"}
        return Pseudo("/bin/bash", "--rcfile", str(start), "-i", environment=fields, cwd=str(self.tmp))

    def _environment(self) -> dict[str, str]:
        (self.tmp / "home").mkdir(exist_ok=True)
        record = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
        return {"HANDRAISE_STATE": str(self.state), "HOME": str(self.tmp / "home"), **record}


@asynccontextmanager
async def table(tmp: Path) -> AsyncIterator[Table]:
    """A table with a running hub."""
    laid = Table(tmp)
    async with laid.serve():
        yield laid
