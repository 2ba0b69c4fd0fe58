"""The desk outside the hub: over HTTP and server-sent events, by Unix socket or address."""

from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack
from urllib.parse import quote

import msgspec

from handraise.client.connection import HttpClient, RequestFailed
from handraise.client.state import state_folder
from handraise.desk.decode import decode, error_in, item_in
from handraise.desk.interface import MachineSummary, NotLetIn, SessionSummary, Unreached, Waiting, Words
from handraise.desk.stream import RemoteFollower
from handraise.model.actors import Actor, Person
from handraise.model.answers import Answer, answer_as_json
from handraise.model.asks import AcceptedAnswer, Ask, Kind, State, ask_from_json
from handraise.model.audit import AuditFilter, Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Item
from handraise.model.machines import Machine
from handraise.model.projects import Options, Project
from handraise.model.rules import Rule
from handraise.model.search import NO_FILTER, SearchFilter, SearchPage
from handraise.model.sessions import Say, Session
from handraise.model.trust import DirectoryTrust

__all__ = ["NO_TIMEOUT", "NotLetIn", "RemoteDesk", "connect"]

NO_TIMEOUT = float("inf")
_SURFACE = "handraise-surface"
_SEAT = "handraise-seat"
_ATTENDED = "handraise-attended"
_PAGE = 1000
_WAITING = 202

T = TypeVar("T")


class RemoteDesk:
    """See `Desk`. Entered with `async with`; raises Unreached if there is no hub.

    `where` is a hub's Unix socket, or its address; then `token` says who we are. `source` is the surface that
    settlements and the audit log name, `seat` a secret that tells this client from others of the same person.
    `is_attended`: a person sees what is followed. A follower that loses the hub reconnects where it was, for
    `patience` seconds.
    """

    person: Person
    source: str
    language: str = "en"
    """The language of the hub."""

    def __init__(
        self,
        where: Path | str,
        token: str | None = None,
        *,
        source: str | None = None,
        seat: str | None = None,
        is_attended: bool = False,
        patience: float = 0.0,
    ) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        if source:
            headers[_SURFACE] = source
        if seat:
            headers[_SEAT] = seat
        if is_attended:
            headers[_ATTENDED] = "yes"
        self._http = HttpClient(where, headers)
        self._patience = patience
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._http)
        try:
            me = await self._get("/api/me")
        except BaseException:
            await self._stack.aclose()
            raise
        self.person, self.source = Person(me["name"], me.get("seat", "")), me["source"]
        self.language = me.get("language") or self.language
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def start(
        self,
        say: Words,
        project: str,
        *,
        mode: str | None = None,
        model: str | None = None,
        title: str | None = None,
        machine: str | None = None,
    ) -> SessionSummary:
        wanted = {"say": say, "project": project, "mode": mode, "model": model, "title": title, "machine": machine}
        return _summary(await self._post("/api/sessions", wanted))

    async def sessions(self) -> list[SessionSummary]:
        return [_summary(each) async for each in self._pages("/api/sessions", "sessions")]

    async def session(self, session: str) -> SessionSummary:
        return _summary(await self._get(_path("sessions", session)))

    async def say(self, session: str, say: Words, say_id: str | None = None) -> Say:
        words = {"text": say} if isinstance(say, str) else {"content": say}
        stored = await self._post(_path("sessions", session, "say"), {**words, "id": say_id})
        by: Actor = msgspec.convert(stored["by"], Actor)
        return Say(stored["say"], session, say, by, stored["source"], _time(stored["at"]))

    async def interrupt(self, session: str) -> None:
        await self._post(_path("sessions", session, "interrupt"))

    async def allow_denied(self, session: str, action: str) -> None:
        await self._post(_path("sessions", session, "denied", action, "allow"))

    async def stop(self, session: str) -> None:
        await self._post(_path("sessions", session, "stop"))

    async def change_mode(self, session: str, mode: str) -> None:
        await self._post(_path("sessions", session, "mode"), {"mode": mode})

    async def change_model(self, session: str, model: str) -> None:
        await self._post(_path("sessions", session, "model"), {"model": model})

    async def rename(self, session: str, title: str) -> None:
        await self._ask("PATCH", _path("sessions", session), {"title": title})

    async def resume(self, session: str, say: Words | None = None) -> SessionSummary:
        return _summary(await self._post(_path("sessions", session, "resume"), {"say": say}))

    async def fork(self, session: str, say: Words) -> SessionSummary:
        return _summary(await self._post(_path("sessions", session, "fork"), {"say": say}))

    async def asks(
        self,
        *,
        state: State | None = "open",
        kind: Kind | None = None,
        session: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Ask]:
        query = {"state": state, "kind": kind, "session": session, "after": after, "order": _order(newest_first)}
        return [ask_from_json(each) async for each in self._pages("/api/asks", "asks", query, limit)]

    async def ask(self, ask: str) -> Ask:
        return ask_from_json(await self._get(_path("asks", ask)))

    async def answer(self, ask: str, answer: Answer, digest: str | None = None) -> AcceptedAnswer:
        body = {"answer": answer_as_json(answer), "digest": digest}
        settled = await self._post(_path("asks", ask, "answer"), body)
        return AcceptedAnswer(ask_from_json(settled), bool(settled.get("late")))

    async def items(
        self, session: str | None = None, *, after: int | None = None, before: int | None = None, limit: int = 500
    ) -> list[Item]:
        query = {"session": session, "after": after, "before": before, "limit": limit}
        return [item_in(each) for each in (await self._get("/api/items", query))["items"]]

    async def search(
        self,
        text: str,
        *,
        session: str | None = None,
        before: int | None = None,
        limit: int = 50,
        only: SearchFilter = NO_FILTER,
    ) -> SearchPage:
        times = {name: each.isoformat() for name, each in (("since", only.since), ("until", only.until)) if each}
        narrowed = {"project": only.project, "state": only.state, "by": only.by, **times}
        query = {"q": text, "session": session, "before": before, "limit": limit, **narrowed}
        return _read(await self._get("/api/search", query), SearchPage)

    async def newest(self) -> int:
        cursor: int = (await self._get("/api/items", {"limit": 1}))["cursor"]
        return cursor

    @asynccontextmanager
    async def follow(
        self, after: int | None = None, session: str | None = None, watch: Collection[str] = ()
    ) -> AsyncIterator[RemoteFollower]:
        follower = RemoteFollower(self._http, after, session, self._patience, watch)
        try:
            await follower.begin()
            yield follower
        finally:
            follower.close()

    async def rules(self) -> list[Rule]:
        return _read((await self._get("/api/rules"))["rules"], list[Rule])

    async def revoke(self, rule: str) -> None:
        await self._ask("DELETE", _path("rules", rule))

    async def add_rule(self, rule: Rule) -> Rule:
        body = {key: value for key, value in msgspec.to_builtins(rule).items() if key not in _SET_BY_HUB}
        return _read(await self._post("/api/rules", body), Rule)

    async def trusts(self) -> list[DirectoryTrust]:
        return _read((await self._get("/api/trust"))["trust"], list[DirectoryTrust])

    async def revoke_trust(self, directory: str, machine: str = "") -> None:
        await self._ask("DELETE", "/api/trust", query={"directory": directory, "machine": machine or None})

    async def projects(self) -> list[Project]:
        return _read((await self._get("/api/projects"))["projects"], list[Project])

    async def add_project(self, path: str, name: str | None, options: Options, machine: str | None = None) -> Project:
        wanted = {"path": path, "name": name, "options": options, "machine": machine}
        return _read(await self._post("/api/projects", wanted), Project)

    async def change_project(
        self,
        project: str,
        name: str | None,
        options: Options | None,
        path: str | None = None,
        machine: str | None = None,
    ) -> Project:
        wanted = {"name": name, "options": options, "path": path, "machine": machine}
        return _read(await self._ask("PATCH", _path("projects", project), wanted), Project)

    async def machines(self) -> list[MachineSummary]:
        return [_machine(each) for each in (await self._get("/api/machines"))["machines"]]

    async def rename_machine(self, machine: str, name: str) -> Machine:
        return _read(await self._ask("PATCH", _path("machines", machine), {"name": name}), Machine)

    async def remove(self, session: str) -> None:
        await self._ask("DELETE", _path("sessions", session))

    async def remove_project(self, project: str) -> None:
        await self._ask("DELETE", _path("projects", project))

    async def forget_machine(self, machine: str) -> None:
        await self._ask("DELETE", _path("machines", machine))

    async def instructions(self, session: str) -> list[Instruction]:
        found = (await self._get(_path("sessions", session, "instructions")))["instructions"]
        return [_read({**each, "words": each["text"] or None}, Instruction) for each in found]

    async def withdraw_instruction(self, instruction: str) -> None:
        await self._ask("DELETE", _path("instructions", instruction))

    async def withdraw_say(self, say: str) -> None:
        await self._ask("DELETE", _path("says", say))

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        query: dict[str, Any] = {**wanted}
        query["order"] = _order(query.pop("newest_first", False))
        return _read((await self._get("/api/audit", query))["entries"], list[Entry])

    async def _pages(
        self, path: str, name: str, query: dict[str, Any] | None = None, limit: int | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """All entries, or as many as `limit` says."""
        wanted = dict(query or {})
        left = limit
        while left is None or left > 0:
            page = await self._get(path, {**wanted, "limit": None if left is None else min(left, _PAGE)})
            for each in page[name]:
                yield each
            if page["next"] is None:
                return
            wanted["after"] = page["next"]
            left = None if left is None else left - len(page[name])

    async def _get(self, path: str, query: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 (JSON)
        present = {key: value for key, value in (query or {}).items() if value is not None}
        return await self._ask("GET", path, query=msgspec.to_builtins(present))

    async def _post(self, path: str, body: object = None) -> Any:  # noqa: ANN401 (JSON)
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: object = None, query: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 (JSON)
        content = None if body is None else msgspec.json.encode(body)
        headers = {"content-type": "application/json"} if content else {}
        try:
            response = await self._http.request(method, path, query=query, content=content, headers=headers)
        except RequestFailed as error:
            raise Unreached from error
        if response.status >= 400:
            raise error_in(response.body)
        try:
            found = decode(response.body)
        except msgspec.DecodeError as error:
            raise error_in(response.body) from error
        if response.status == _WAITING and "waiting" in found:
            raise Waiting(found["waiting"])
        return found


_SET_BY_HUB = ("id", "made_by", "made_at", "source")


def _path(*names: str) -> str:
    return "/api/" + "/".join(quote(name, safe="") for name in names)


def _read(value: object, kind: type[T]) -> T:
    return msgspec.convert(value, kind)


def _order(newest_first: bool) -> str | None:
    return "newest" if newest_first else None


def _time(text: str) -> datetime:
    return msgspec.convert(text, datetime)


def _summary(fields: dict[str, Any]) -> SessionSummary:
    return SessionSummary(_read(fields, Session), fields["open_asks"], fields.get("last_line", ""))


def _machine(fields: dict[str, Any]) -> MachineSummary:
    return MachineSummary(_read(fields, Machine), fields["sessions"], fields["open_asks"], fields["here"])


def connect(where: str | Path | None = None, token: str | None = None, *, source: str | None = None) -> RemoteDesk:
    """A desk of a hub: by address and token, by Unix socket, or the hub of this machine.

    Entered with `async with`. Followers wait for a hub that stopped, and continue where they were.
    """
    if where is None:
        where = Path(state_folder()) / "hub.sock"
    return RemoteDesk(where, token, source=source, patience=NO_TIMEOUT)
