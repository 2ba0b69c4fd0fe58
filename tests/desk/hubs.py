"""A hub for desk tests, with sessions and asks written straight to its store: no Claude is started for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from posixpath import normpath
from typing import Any

from handraise.hub.hub import Hub, HubConfig, hub
from handraise.inbox.considering import Surroundings
from handraise.model.asks import Ask, Body, Option, Origin, Permission, Prompt, Question
from handraise.model.items import Text
from handraise.model.projects import Patience
from handraise.model.sessions import Session
from handraise.session import records
from handraise.store.changes import PublishItems

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
QUESTION = Question((Prompt("Which database?", "Store", (Option("SQLite"), Option("Postgres"))),))
BASH = Permission("Bash", {"command": "npm test"})


@asynccontextmanager
async def quiet_hub(tmp: Path, **settings: Any) -> AsyncIterator[Hub]:
    """A whole hub that finds nothing to adopt."""
    async with hub(HubConfig(tmp / "state", tmp / "no-claude", {}, **settings)) as opened:
        yield opened


async def put_session(opened: Hub, identity: str = "s_1", **fields: Any) -> Session:
    values = {"phase": "idle", **fields}
    project = values.pop("project", None)
    session = Session(identity, project, "/work/app", f"claude-{identity}", "Fix it", NOON, NOON, **values)
    await opened.store.apply(records.changed(session))
    return session


async def put_ask(opened: Hub, identity: str = "a_1", body: Body = QUESTION, **fields: Any) -> Ask:
    patience = fields.pop("patience", Patience())
    values = {"session": "s_1", "project": "p_1", **fields}
    origin = values.pop("origin", Origin(f"r-{identity}"))
    ask = Ask(id=identity, body=body, tool="Bash", origin=origin, opened_at=NOON, **values)
    around = Surroundings("/work/app", "default", patience, normpath, lambda _: None)
    return await opened.inbox.open(ask, around)


async def put_text(opened: Hub, text: str, session: str = "s_1") -> None:
    await opened.store.apply([PublishItems(session, NOON, Text(text, "m_1"))])
