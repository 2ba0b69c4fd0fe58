"""The read queries, over their own connection. Never writes."""

from collections.abc import Collection, Sequence

import apsw
from msgspec import json

from handraise.model.asks import Ask, Kind, State
from handraise.model.audit import FIRST, AuditFilter, Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Item
from handraise.model.machines import Machine
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.search import Query, SearchHit, find_in_all
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
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
from handraise.store.sqlite.database import SQL
from handraise.store.sqlite.texts import Texts

_END = 2**63 - 1
_ALL = -1


class Reader:
    """Each method implements the one of the same name in `Store`."""

    def __init__(self, connection: apsw.Connection, machine: str = "") -> None:
        self._connection = connection
        self._machine = machine
        self._texts = Texts(connection)

    def close(self) -> None:
        self._connection.close()

    def session(self, session: str) -> Session | None:
        row = self._row("session", id=session)
        return read_session(row) if row else None

    def sessions(self, phases: Sequence[Phase] | None) -> list[Session]:
        if phases is None:
            rows = self._rows("sessions")
        else:
            rows = self._rows("sessions_in_phases", phases=json.encode(phases).decode())
        return [read_session(row) for row in rows]

    def checkpoint(self, session: str) -> Checkpoint | None:
        row = self._row("checkpoint", session=session)
        return read_checkpoint(row) if row else None

    def ask(self, ask: str) -> Ask | None:
        row = self._row("ask", id=ask)
        return read_ask(self._texts.whole_ask(row)) if row else None

    def asks(
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
        bounds = self._bounds(after, newest_first)
        if bounds is None:
            return []
        if newest_first and not undelivered:
            statement = f"{statement}_newest"
        most = _ALL if limit is None else limit
        rows = self._rows(statement, state=state, kind=kind, session=session, limit=most, **bounds)
        return [read_ask(self._texts.whole_ask(row)) for row in rows]

    def open_asks(self) -> dict[str, int]:
        return dict(self._rows("open_asks"))

    def last_lines(self, session: str | None) -> dict[str, str]:
        return dict(self._rows("last_lines") if session is None else self._rows("last_line", session=session))

    def says(self, session: str, waiting: bool) -> list[Say]:
        return [read_say(row) for row in self._rows("says_waiting" if waiting else "says", session=session)]

    def items(self, after: int | None, before: int | None, session: str | None, limit: int) -> list[Item]:
        statement = "items_before" if after is None else "items_after"
        if session is not None:
            statement = f"session_{statement}"
        end = _END if before is None else before
        rows = self._rows(statement, after=after, before=end, session=session, limit=limit)
        return [read_item(self._texts.whole_item(row)) for row in (reversed(rows) if after is None else rows)]

    def search(self, query: Query, after: int, before: int, session: str | None, limit: int) -> list[SearchHit]:
        statement = "search" if session is None else "session_search"
        found: list[SearchHit] = []
        while len(found) < limit:
            bounds = {"after": after, "before": before, "session": session, "limit": CANDIDATES}
            rows = self._rows(statement, **bounds, **patterns_of(query))
            found += find_in_all((read_item(self._texts.whole_item(row)) for row in rows), query)
            if len(rows) < CANDIDATES:
                break
            before = rows[-1][0]
        return found[:limit]

    def cursors(self) -> tuple[int, int]:
        pruned, newest = self._rows("cursors")[0]
        return pruned, newest

    def size(self) -> int:
        pages = [int(self._connection.pragma(name)) for name in ("page_count", "freelist_count", "page_size")]
        return (pages[0] - pages[1]) * pages[2]

    def rules(self) -> list[Rule]:
        return [read_rule(row) for row in self._rows("rules")]

    def trust(self, directory: str) -> DirectoryTrust | None:
        row = self._row("trust", directory=directory, machine=self._machine)
        return read_trust(row) if row else None

    def trusts(self) -> list[DirectoryTrust]:
        return [read_trust(row) for row in self._rows("trusts")]

    def project(self, key: str) -> Project | None:
        row = self._row("project", key=key, machine=self._machine)
        return read_project(row) if row else None

    def projects(self) -> list[Project]:
        return [read_project(row) for row in self._rows("projects", machine=self._machine)]

    def machine(self, machine: str) -> Machine | None:
        row = self._row("machine", id=machine)
        return read_machine(row) if row else None

    def machines(self) -> list[Machine]:
        return [read_machine(row) for row in self._rows("machines")]

    def instruction(self, instruction: str) -> Instruction | None:
        row = self._row("instruction", id=instruction)
        return read_instruction(row) if row else None

    def instructions(self, machine: str | None, session: str | None, unsettled: bool) -> list[Instruction]:
        rows = self._rows("instructions", machine=machine, session=session, unsettled=unsettled)
        return [read_instruction(row) for row in rows]

    def token(self, hash_of_secret: str) -> Token | None:
        row = self._row("token", hash=hash_of_secret)
        return read_token(row) if row else None

    def tokens(self, ids: Collection[str] | None = None) -> list[Token]:
        rows = self._rows("tokens") if ids is None else self._rows("tokens_by_id", ids=json.encode([*ids]).decode())
        return [read_token(row) for row in rows]

    def record(self, kind: str, key: str) -> bytes | None:
        row = self._row("record_of", kind=kind, key=key)
        return bytes(row[0]) if row else None

    def records(self, kind: str) -> dict[str, bytes]:
        return dict(self._rows("records", kind=kind))

    def audit(self, wanted: AuditFilter) -> list[Entry]:
        about = {"ask": wanted.get("ask"), "session": wanted.get("session"), "name": wanted.get("by")}
        about["what"] = wanted.get("what")
        column = next((key for key, value in about.items() if value is not None), None)
        statement = "audit" if column is None else f"audit_of_{column}"
        before, since, until = wanted.get("before"), wanted.get("since"), wanted.get("until")
        rows = self._rows(
            f"{statement}_newest" if wanted.get("newest_first") else statement,
            after=wanted.get("after", 0),
            before=_END if before is None else before,
            since=-_END if since is None else microseconds(since),
            until=_END if until is None else microseconds(until),
            limit=wanted.get("limit", FIRST),
            **about,
        )
        return [read_entry(row) for row in rows]

    def _bounds(self, after: str | None, newest_first: bool) -> dict[str, int] | None:
        """The range of numbers for asks after this one; None if it is unknown."""
        if after is None:
            return {"after": 0, "before": _END}
        row = self._row("ask_number", id=after)
        if row is None:
            return None
        return {"after": 0, "before": row[0]} if newest_first else {"after": row[0], "before": _END}

    def _row(self, statement: str, **bindings: str) -> Row | None:
        rows = self._rows(statement, **bindings)
        return rows[0] if rows else None

    def _rows(self, statement: str, **bindings: str | int | None) -> list[Row]:
        return self._connection.execute(SQL[statement], bindings).fetchall()
