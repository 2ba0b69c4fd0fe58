"""The desk from elsewhere: over HTTP and server-sent events, on this machine's Unix socket or by an address."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx2
import msgspec
import platformdirs

from handraise.desk import interface
from handraise.desk.events import Event, Events
from handraise.desk.interface import Conflict, DeskError, Given, LostPlace, Partial, Seen, TooLate, Unreached, Words
from handraise.model.actors import Actor, Person
from handraise.model.answers import Answer, answer_as_json
from handraise.model.asks import Ask, Kind, State, ask_from_json
from handraise.model.audit import Entry, What
from handraise.model.items import Item
from handraise.model.projects import Options, Project
from handraise.model.rules import Rule
from handraise.model.says import Say
from handraise.model.sessions import Session

FOR_EVER = float("inf")
_DEADLINE = 60.0
_SILENCE = 50.0
"""A hub says something every 15 s, if only that it is there."""
_FIRST_WAIT = 0.1
_LONGEST_WAIT = 5.0
_SURFACE = "handraise-surface"
_ERRORS: dict[str, type[DeskError]] = {
    "not_found": interface.NotFound,
    "refused": interface.Refused,
    "invalid": interface.Refused,
    "unfit": interface.Unfit,
    "unavailable": interface.Unreached,
}

T = TypeVar("T")


class NotLetIn(DeskError):
    """The hub does not know the token, or its role may not do this."""

    code = "not_allowed"


class RemoteDesk:
    """See `Desk`. Entered with `async with`; raises Unreached where no hub answers.

    `where` is a hub's Unix socket, or its address; then `token` says who we are. `source` is the surface that
    settlements and the audit name. A follower that loses the hub comes back by itself, with its place, for `patience`
    seconds.
    """

    person: Person
    source: str

    def __init__(
        self, where: Path | str, token: str | None = None, *, source: str | None = None, patience: float = 0.0
    ) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        if source:
            headers[_SURFACE] = source
        on_socket = isinstance(where, Path)
        self._http = httpx2.AsyncClient(
            transport=httpx2.AsyncHTTPTransport(uds=str(where)) if on_socket else None,
            base_url="http://localhost" if on_socket else str(where),
            headers=headers,
            timeout=_DEADLINE,
            limits=httpx2.Limits(max_connections=None),
        )
        self._patience = patience
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._http)
        try:
            me = await self._get("/api/me")
        except BaseException:
            await self._stack.aclose()
            raise
        self.person, self.source = Person(me["name"]), me["source"]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def start(
        self, say: Words, project: str, *, mode: str | None = None, model: str | None = None, title: str | None = None
    ) -> Seen:
        wanted = {"say": say, "project": project, "mode": mode, "model": model, "title": title}
        return _seen(await self._post("/api/sessions", wanted))

    async def sessions(self) -> list[Seen]:
        return [_seen(each) async for each in self._pages("/api/sessions", "sessions")]

    async def session(self, session: str) -> Seen:
        return _seen(await self._get(_path("sessions", session)))

    async def say(self, session: str, say: Words, say_id: str | None = None) -> Say:
        words = {"text": say} if isinstance(say, str) else {"content": say}
        said = await self._post(_path("sessions", session, "say"), {**words, "id": say_id})
        by: Actor = msgspec.convert(said["by"], Actor)
        return Say(said["say"], session, say, by, said["source"], _time(said["at"]))

    async def interrupt(self, session: str) -> None:
        await self._post(_path("sessions", session, "interrupt"))

    async def stop(self, session: str) -> None:
        await self._post(_path("sessions", session, "stop"))

    async def change_mode(self, session: str, mode: str) -> None:
        await self._post(_path("sessions", session, "mode"), {"mode": mode})

    async def change_model(self, session: str, model: str) -> None:
        await self._post(_path("sessions", session, "model"), {"model": model})

    async def rename(self, session: str, title: str) -> None:
        await self._ask("PATCH", _path("sessions", session), {"title": title})

    async def resume(self, session: str, say: Words | None = None) -> Seen:
        return _seen(await self._post(_path("sessions", session, "resume"), {"say": say}))

    async def fork(self, session: str, say: Words) -> Seen:
        return _seen(await self._post(_path("sessions", session, "fork"), {"say": say}))

    async def asks(
        self, *, state: State | None = "open", kind: Kind | None = None, session: str | None = None
    ) -> list[Ask]:
        query = {"state": state, "kind": kind, "session": session}
        return [ask_from_json(each) async for each in self._pages("/api/asks", "asks", query)]

    async def ask(self, ask: str) -> Ask:
        return ask_from_json(await self._get(_path("asks", ask)))

    async def answer(self, ask: str, answer: Answer, digest: str | None = None) -> Given:
        said = {"answer": answer_as_json(answer), "digest": digest}
        told = await self._post(_path("asks", ask, "answer"), said)
        return Given(ask_from_json(told), bool(told.get("late")))

    async def items(
        self, session: str | None = None, *, after: int | None = None, before: int | None = None, limit: int = 500
    ) -> list[Item]:
        query = {"session": session, "after": after, "before": before, "limit": limit}
        return [_item(each) for each in (await self._get("/api/items", query))["items"]]

    async def newest(self) -> int:
        cursor: int = (await self._get("/api/items", {"limit": 1}))["cursor"]
        return cursor

    @asynccontextmanager
    async def follow(self, after: int | None = None, session: str | None = None) -> AsyncIterator["RemoteFollower"]:
        follower = RemoteFollower(self._http, after, session, self._patience)
        try:
            await follower.begin()
            yield follower
        finally:
            await follower.close()

    async def rules(self) -> list[Rule]:
        return _read((await self._get("/api/rules"))["rules"], list[Rule])

    async def revoke(self, rule: str) -> None:
        await self._ask("DELETE", _path("rules", rule))

    async def add_rule(self, rule: Rule) -> Rule:
        given = {key: value for key, value in msgspec.to_builtins(rule).items() if key not in _BY_THE_DESK}
        return _read(await self._post("/api/rules", given), Rule)

    async def projects(self) -> list[Project]:
        return _read((await self._get("/api/projects"))["projects"], list[Project])

    async def add_project(self, path: str, name: str | None, options: Options) -> Project:
        return _read(await self._post("/api/projects", {"path": path, "name": name, "options": options}), Project)

    async def change_project(self, project: str, name: str | None, options: Options | None) -> Project:
        wanted = {"name": name, "options": options}
        return _read(await self._ask("PATCH", _path("projects", project), wanted), Project)

    async def audit(
        self,
        *,
        after: int = 0,
        session: str | None = None,
        ask: str | None = None,
        by: str | None = None,
        what: What | None = None,
        limit: int = 500,
    ) -> list[Entry]:
        query = {"after": after, "session": session, "ask": ask, "by": by, "what": what, "limit": limit}
        return _read((await self._get("/api/audit", query))["entries"], list[Entry])

    async def _pages(self, path: str, name: str, query: dict[str, Any] | None = None) -> AsyncIterator[dict[str, Any]]:
        after = None
        while True:
            page = await self._get(path, {**(query or {}), "after": after})
            for each in page[name]:
                yield each
            after = page["next"]
            if after is None:
                return

    async def _get(self, path: str, query: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 (JSON)
        return await self._ask(
            "GET", path, query={key: value for key, value in (query or {}).items() if value is not None}
        )

    async def _post(self, path: str, body: object = None) -> Any:  # noqa: ANN401 (JSON)
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: object = None, query: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 (JSON)
        sent = None if body is None else msgspec.json.encode(body)
        headers = {"content-type": "application/json"} if sent else {}
        try:
            response = await self._http.request(method, path, content=sent, params=query, headers=headers)
        except httpx2.HTTPError as error:
            raise Unreached from error
        if response.status_code >= 400:
            raise _error(response.content)
        return _decode(response.content)


class RemoteFollower:
    """See `Follower`."""

    def __init__(self, http: httpx2.AsyncClient, after: int | None, session: str | None, patience: float) -> None:
        self._http = http
        self._cursor = after
        self._session = session
        self._patience = patience
        self._waiting: list[Sequence[Item] | Partial] = []
        self._connection = AsyncExitStack()

    def __aiter__(self) -> "RemoteFollower":
        return self

    async def __anext__(self) -> Sequence[Item] | Partial:
        while not self._waiting:
            try:
                self._take(self._events.receive(await anext(self._pieces)))
            except (httpx2.HTTPError, StopAsyncIteration) as error:
                await self._come_back(error)
        return self._waiting.pop(0)

    async def begin(self) -> None:
        """Connects, and waits until the hub has found the place; raises LostPlace."""
        query = {"after": self._cursor, "session": self._session}
        given = {key: value for key, value in query.items() if value is not None}
        stream = self._http.stream("GET", "/api/feed", params=given, timeout=httpx2.Timeout(_DEADLINE, read=_SILENCE))
        try:
            response = await self._connection.enter_async_context(stream)
            if response.status_code >= 400:
                raise _error(await response.aread())
            self._events = Events()
            self._pieces = response.aiter_raw()
            while True:
                first, *rest = self._events.receive(await anext(self._pieces)) or (None,)
                if first is not None:
                    self._take((first, *rest))
                    return
        except (httpx2.HTTPError, StopAsyncIteration) as error:
            raise Unreached from error

    async def close(self) -> None:
        await self._connection.aclose()

    async def _come_back(self, lost: BaseException) -> None:
        """Where we were: what was sent and did not reach us is sent again."""
        wait, waited = _FIRST_WAIT, 0.0
        await self.close()
        while waited < self._patience:
            await asyncio.sleep(wait)
            waited += wait
            wait = min(2 * wait, _LONGEST_WAIT)
            try:
                await self.begin()
            except Unreached:
                await self.close()
            else:
                return
        raise Unreached("The hub went away.") from lost

    def _take(self, events: Sequence[Event]) -> None:
        """Items that came together are handed out together."""
        items: list[Item] = []
        for event in events:
            match event.kind:
                case "message":
                    items.append(_item(_decode(event.data)))
                    self._cursor = items[-1].cursor
                case "place" if event.id is not None:
                    self._cursor = int(event.id)
                case "preview":
                    self._hand_out(items)
                    items = []
                    self._waiting.append(_read(_decode(event.data), Partial))
                case "reset":
                    told = _decode(event.data)
                    raise LostPlace(told["oldest"], told["newest"])
                case _:
                    pass
        self._hand_out(items)

    def _hand_out(self, items: list[Item]) -> None:
        if items:
            self._waiting.append(items)


_BY_THE_DESK = ("id", "made_by", "made_at", "source")


def _path(*names: str) -> str:
    return "/api/" + "/".join(quote(name, safe="") for name in names)


def _decode(told: bytes) -> Any:  # noqa: ANN401 (JSON)
    return msgspec.json.decode(told)


def _read(told: object, kind: type[T]) -> T:
    return msgspec.convert(told, kind)


def _time(told: str) -> datetime:
    return msgspec.convert(told, datetime)


def _seen(told: dict[str, Any]) -> Seen:
    return Seen(_read(told, Session), told["open_asks"])


def _item(told: dict[str, Any]) -> Item:
    cursor, session, at = told.pop("cursor"), told.pop("session"), told.pop("at")
    return Item(cursor, session, _time(at), msgspec.json.encode(told))


def _error(content: bytes) -> DeskError:
    """What the hub refused, as the desk's own errors."""
    try:
        told = msgspec.json.decode(content)["error"]
        code, message = told["code"], told["message"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return Unreached("What answers here is no hub.")
    if "ask" in told and code in ("conflict", "withdrawn"):
        return (Conflict if code == "conflict" else TooLate)(message, ask_from_json(told["ask"]))
    if code in ("unknown_token", "login_needed", "not_allowed", "wrong_host", "foreign_page"):
        return NotLetIn(message)
    kind = _ERRORS.get(code, DeskError)
    return kind(message)


def connect(where: str | Path | None = None, token: str | None = None, *, source: str | None = None) -> RemoteDesk:
    """A desk at a hub: by its address and a token, by its Unix socket, or at the hub of this machine.

    Entered with `async with`. Followers wait for a hub that went away, and go on where they were.
    """
    if where is None:
        named = os.environ.get("HANDRAISE_STATE")
        where = (Path(named).expanduser() if named else platformdirs.user_state_path("handraise")) / "hub.sock"
    return RemoteDesk(where, token, source=source, patience=FOR_EVER)
