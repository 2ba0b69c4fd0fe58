"""The read queries, over one connection. Never writes."""

import asyncio
import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import json
from msgspec.structs import replace

from handraise.model.asks import Ask, Kind, State, read_settlement
from handraise.model.audit import FIRST, AuditFilter, Entry
from handraise.model.instructions import Instruction
from handraise.model.items import AskOpened, AskSettled, Item
from handraise.model.machines import Machine, Place
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.search import Query, SearchHit, find_in_all
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
from handraise.store.packing import hashes_in, is_packed, unpacked
from handraise.store.postgres.connecting import Connection
from handraise.store.postgres.database import SQL
from handraise.store.postgres.plain_text import original
from handraise.store.rows import (
    Row,
    microseconds,
    read_ask,
    read_checkpoint,
    read_entry,
    read_instruction,
    read_item,
    read_machine,
    read_project,
    read_rule,
    read_say,
    read_session,
    read_token,
    read_trust,
)
from handraise.store.searching import CANDIDATES, patterns_of

_END = 2**63 - 1
_MUCH = 1_000_000
"""Bytes that are worth another thread."""
_ASK_COLUMNS = (4, 8)
_ITEM_COLUMNS = (3,)
"""The position of body and request, or content, in a row as it is read."""
_ABOUT_ASKS = (b'{"type":"ask.opened"', b'{"type":"ask.settled"')


class TextMissing(Exception):
    """A long text is gone: it was pruned while its row was read, or the database is damaged."""


class PostgresReader:
    """Each method implements the one of the same name in `Store`."""

    def __init__(self, connection: Connection, machine: str) -> None:
        self._connection = connection
        self._machine = machine

    async def session(self, session: str) -> Session | None:
        row = await self._row("session", id=session)
        return read_session(row) if row else None

    async def sessions(self, phases: Sequence[Phase] | None) -> list[Session]:
        if phases is None:
            rows = await self._rows("sessions")
        else:
            rows = await self._rows("sessions_in_phases", phases=list(phases))
        return [read_session(row) for row in rows]

    async def checkpoint(self, session: str) -> Checkpoint | None:
        row = await self._row("checkpoint", session=session)
        return read_checkpoint(row) if row else None

    async def ask(self, ask: str) -> Ask | None:
        asks = await self._asks(await self._rows("ask", id=ask))
        return asks[0] if asks else None

    async def asks(
        self,
        state: State | None,
        kind: Kind | None,
        session: str | None,
        undelivered: bool,
        limit: int | None,
        after: str | None,
        newest_first: bool,
    ) -> list[Ask]:
        if undelivered:
            statement = "asks_undelivered"
        elif session is not None:
            statement = "asks_of_session"
        elif state is not None:
            statement = "asks_in_state"
        else:
            statement = "asks"
        bounds = await self._bounds(after, newest_first)
        if bounds is None:
            return []
        if newest_first and not undelivered:
            statement = f"{statement}_newest"
        return await self._asks(
            await self._rows(statement, state=state, kind=kind, session=session, limit=limit, **bounds)
        )

    async def open_asks(self) -> dict[str, int]:
        return dict(await self._rows("open_asks"))

    async def last_lines(self, session: str | None) -> dict[str, str]:
        return dict(await (self._rows("last_lines") if session is None else self._rows("last_line", session=session)))

    async def says(self, session: str, waiting: bool) -> list[Say]:
        return [read_say(row) for row in await self._rows("says_waiting" if waiting else "says", session=session)]

    async def items(self, after: int | None, before: int | None, session: str | None, limit: int) -> list[Item]:
        statement = "items_before" if after is None else "items_after"
        if session is not None:
            statement = f"session_{statement}"
        end = _END if before is None else before
        rows = await self._rows(statement, after=after, before=end, session=session, limit=limit)
        whole = await self._whole(rows, _ITEM_COLUMNS)
        return [read_item(row) for row in (reversed(whole) if after is None else whole)]

    async def search(self, query: Query, after: int, before: int, session: str | None, limit: int) -> list[SearchHit]:
        statement = "search" if session is None else "session_search"
        found: list[SearchHit] = []
        while len(found) < limit:
            bounds = {"after": after, "before": before, "session": session, "limit": CANDIDATES}
            rows = await self._rows(statement, **bounds, **patterns_of(query))
            items = [read_item(row) for row in await self._whole(rows, _ITEM_COLUMNS)]
            found += await asyncio.to_thread(find_in_all, items, query)
            if len(rows) < CANDIDATES:
                break
            before = rows[-1][0]
        return found[:limit]

    async def asks_in(self, items: Iterable[Item]) -> list[Ask]:
        """The asks that these items opened or settled, each in its state at that moment."""
        contents = [item.read() for item in items if item.content.startswith(_ABOUT_ASKS)]
        named = [
            str(each.ask["id"]) if isinstance(each, AskOpened) else each.ask
            for each in contents
            if isinstance(each, AskOpened | AskSettled)
        ]
        stored = {ask.id: ask for ask in await self._asks(await self._rows("asks_named", ids=named))} if named else {}
        states: dict[str, Ask] = {}
        changed: list[Ask] = []
        for ask_id, content in zip(named, contents, strict=True):
            if ask_id not in stored:
                continue  # pruned since
            shown = content.ask.get("settlement") if isinstance(content, AskOpened) else None
            if isinstance(content, AskSettled):
                shown = content.settlement
            then = stored[ask_id]
            settlement = read_settlement(then.kind, json.encode(shown).decode()) if shown else None
            then = replace(then, settlement=settlement, delivered_at=None)
            if states.get(ask_id) != then:
                states[ask_id] = then
                changed.append(then)
        return changed

    async def newest(self) -> tuple[int, int]:
        """The newest cursor, and how often rules were changed."""
        newest, rules = (await self._rows("newest"))[0]
        return newest, rules

    async def cursors(self) -> tuple[int, int]:
        pruned, newest = (await self._rows("cursors"))[0]
        return pruned, newest

    async def size(self) -> int:
        return int((await self._rows("size"))[0][0])

    async def rules(self) -> list[Rule]:
        return [read_rule(row) for row in await self._rows("rules")]

    async def trust(self, directory: str) -> DirectoryTrust | None:
        row = await self._row("trust", directory=directory, machine=self._machine)
        return read_trust(row) if row else None

    async def trusts(self) -> list[DirectoryTrust]:
        return [read_trust(row) for row in await self._rows("trusts")]

    async def project(self, key: str) -> Project | None:
        projects = await self._projects(await self._rows("project", key=key, machine=self._machine))
        return projects[0] if projects else None

    async def projects(self) -> list[Project]:
        return await self._projects(await self._rows("projects", machine=self._machine))

    async def machines(self) -> list[Machine]:
        return [read_machine(row) for row in await self._rows("machines")]

    async def instruction(self, instruction: str) -> Instruction | None:
        row = await self._row("instruction", id=instruction)
        return read_instruction(row) if row else None

    async def instructions(self, machine: str | None, session: str | None, unsettled: bool) -> list[Instruction]:
        if unsettled:
            statement = "instructions_unsettled"
        else:
            statement = "instructions" if session is None else "instructions_of_session"
        return [read_instruction(row) for row in await self._rows(statement, machine=machine, session=session)]

    async def token(self, hash_of_secret: str) -> Token | None:
        row = await self._row("token", hash=hash_of_secret)
        return read_token(row) if row else None

    async def tokens(self, ids: Collection[str] | None = None) -> list[Token]:
        rows = await (self._rows("tokens") if ids is None else self._rows("tokens_by_id", ids=[*ids]))
        return [read_token(row) for row in rows]

    async def record(self, kind: str, key: str) -> bytes | None:
        row = await self._row("record_of", kind=kind, key=key)
        return row[0] if row else None

    async def records(self, kind: str) -> dict[str, bytes]:
        return dict(await self._rows("records", kind=kind))

    async def lease(self, name: str, holder: str, microseconds: int, epoch: int | None) -> tuple[bool, bool]:
        """Whether the holder may have leases, and whether it has this one. Not a read, but as short as one."""
        wanted = {"name": name, "holder": holder, "microseconds": microseconds}
        (row,) = await self._rows("take_lease", machine=self._machine, epoch=epoch, **wanted)
        return row[0], row[1]

    async def end_lease(self, name: str, holder: str) -> None:
        await self._rows("end_lease", name=name, holder=holder)

    async def audit(self, wanted: AuditFilter) -> list[Entry]:
        about = {"ask": wanted.get("ask"), "session": wanted.get("session"), "name": wanted.get("by")}
        about["what"] = wanted.get("what")
        column = next((key for key, value in about.items() if value is not None), None)
        statement = "audit" if column is None else f"audit_of_{column}"
        before, since, until = wanted.get("before"), wanted.get("since"), wanted.get("until")
        rows = await self._rows(
            f"{statement}_newest" if wanted.get("newest_first") else statement,
            after=wanted.get("after", 0),
            before=_END if before is None else before,
            since=-_END if since is None else microseconds(since),
            until=_END if until is None else microseconds(until),
            limit=wanted.get("limit", FIRST),
            **about,
        )
        return [read_entry(row) for row in rows]

    async def whole_asks(self, rows: Sequence[Row], texts: dict[bytes, bytes]) -> list[Ask]:
        """Asks from their rows. `texts` are long ones that are not stored yet."""
        return await self._asks(rows, texts)

    async def _asks(self, rows: Sequence[Row], texts: dict[bytes, bytes] | None = None) -> list[Ask]:
        return [read_ask(row) for row in await self._whole(rows, _ASK_COLUMNS, texts)]

    async def _projects(self, rows: Sequence[Row]) -> list[Project]:
        there = await self._rows("places_elsewhere", projects=[row[0] for row in rows], machine=self._machine)
        places: dict[str, list[Place]] = {}
        for project, machine, path in there:
            places.setdefault(project, []).append(Place(machine, path))
        return [read_project((*row, json.encode(places.get(row[0], [])))) for row in rows]

    async def _whole(
        self, rows: Sequence[Row], columns: tuple[int, ...], texts: dict[bytes, bytes] | None = None
    ) -> list[Row]:
        """The rows with their long texts."""
        cells = [row[column] for row in rows for column in columns if is_packed(row[column])]
        if not cells:
            return list(rows)
        wanted = {each for cell in cells for each in hashes_in(_as_bytes(cell))}
        found = dict(texts or {})
        missing = [each for each in wanted if each not in found]
        stored: list[Row] = await self._rows("texts", hashes=missing) if missing else []
        if len(stored) < len(missing):
            raise TextMissing("a long text is missing")
        if sum(len(content) for _, content in stored) > _MUCH:
            found |= await asyncio.to_thread(lambda: {each: zlib.decompress(content) for each, content in stored})
        else:
            found |= {each: zlib.decompress(content) for each, content in stored}
        return [tuple(_joined(cell, found) if at in columns else cell for at, cell in enumerate(row)) for row in rows]

    async def _bounds(self, after: str | None, newest_first: bool) -> dict[str, int] | None:
        """The range of numbers for asks after this one; None if it is unknown."""
        if after is None:
            return {"after": 0, "before": _END}
        row = await self._row("ask_number", id=after)
        if row is None:
            return None
        return {"after": 0, "before": row[0]} if newest_first else {"after": row[0], "before": _END}

    async def _row(self, statement: str, **bindings: Any) -> Row | None:  # noqa: ANN401 - whatever a column holds
        rows = await self._rows(statement, **bindings)
        return rows[0] if rows else None

    async def _rows(self, statement: str, **bindings: Any) -> list[Row]:  # noqa: ANN401 - whatever a column holds
        prepared = SQL[statement]
        rows = await self._connection.fetch(prepared.text, *prepared.arguments(bindings))
        return [tuple([original(cell) for cell in row.values()]) for row in rows]


def _as_bytes(cell: str | bytes) -> bytes:
    return cell.encode() if isinstance(cell, str) else cell


def _joined(cell: Any, texts: dict[bytes, bytes]) -> Any:  # noqa: ANN401 - whatever a column holds
    if not is_packed(cell):
        return cell
    whole = unpacked(_as_bytes(cell), texts.__getitem__)
    return whole.decode() if isinstance(cell, str) else whole
