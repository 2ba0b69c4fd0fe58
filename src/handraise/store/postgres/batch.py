"""Writes batches of changes in one transaction; each statement decides by itself whether it takes effect.

Never begins or ends the transaction: the writer does. What doesn't decide anything is collected and written together
by `flush`, which also takes the cursors: as late as possible, because that makes other hubs wait.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from handraise.model.asks import Answered, Ask, Settlement
from handraise.model.audit import Entry
from handraise.model.items import AskDelivered, AskHeld, Content, Item, SaidTaken, SaidWithdrawn, SessionRemoved
from handraise.model.machines import Machine
from handraise.model.projects import Project, places_of
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Say
from handraise.model.trust import DirectoryTrust
from handraise.store import contents, entries
from handraise.store.changes import (
    Advance,
    Change,
    DeliverAsk,
    ForgetMachine,
    GiveInstruction,
    HoldAsk,
    OpenAsk,
    Prune,
    PruneAudit,
    PruneTokens,
    PublishItems,
    QueueSay,
    Record,
    RecordLate,
    RemoveProject,
    RemoveRecord,
    RemoveRule,
    RemoveSession,
    RenameMachine,
    ReturnSay,
    RevokeTrust,
    SaveMachine,
    SaveProject,
    SaveRecord,
    SaveRule,
    SaveSession,
    SaveToken,
    SettleAsk,
    SettleInstruction,
    SpendCode,
    TakeInstruction,
    TakeSay,
    WithdrawSay,
    changes_rules,
)
from handraise.store.interface import StoreConflict
from handraise.store.packing import WORTH_IT, compressed, hash_of_text, packed
from handraise.store.postgres.connecting import Connection, watched
from handraise.store.postgres.database import SQL
from handraise.store.postgres.plain_text import original, storable
from handraise.store.postgres.reader import PostgresReader
from handraise.store.rows import (
    Row,
    ask_row,
    entry_row,
    instruction_row,
    machine_row,
    microseconds,
    project_row,
    read_instruction,
    read_machine,
    read_say,
    read_time,
    read_trust,
    rule_row,
    say_row,
    session_row,
    settlement_row,
    settlement_text,
    token_row,
    trust_row,
)

_BYTES_A_SECOND = 500_000
"""What even a slow connection carries."""
_MUCH = 1_000_000
"""Bytes that are worth another thread."""
_NEVER = 2**63 - 1


class Conflicting(Exception):
    """Somebody else advanced the same session meanwhile; each batch has to be tried alone."""


class _Pending(Struct, frozen=True):
    """An item that waits for its cursor."""

    session: str | None
    at: datetime
    content: bytes
    stored: bytes


class PostgresBatch:
    """Applies the changes of a group of batches, one by one. Items have no cursor before `flush`.

    `published` counts the items so far, also those without a cursor; `asks` are those that changed.
    """

    def __init__(self, connection: Connection, machine: str, hang_seconds: float) -> None:
        self._connection = connection
        self._hang_seconds = hang_seconds
        self._machine = machine
        self._reader = PostgresReader(connection, machine)
        self.items: list[Item] = []
        self.asks: list[Ask] = []
        self.base: int | None = None
        """The newest cursor before this transaction, once it is known."""
        self.newest = 0
        self.rules: int | None = None
        """How often rules were changed, including by this transaction; known with the cursors."""
        self.changed_rules = 0
        self._pending: list[_Pending] = []
        self._sessions: dict[str, dict[str, Any]] = {}
        self._checkpoints: dict[str, Checkpoint] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._lines: dict[str, str] = {}
        self._entries: list[dict[str, Any]] = []
        self._texts: dict[bytes, tuple[bytes, int]] = {}
        self._uses: list[dict[str, Any]] = []
        self._mentions: dict[str, dict[str, int]] = {}
        self._rules_to_count = 0

    @property
    def published(self) -> int:
        return len(self.items) + len(self._pending)

    async def begin(self, writer: str, number: int, changes: Iterable[Change]) -> int | None:
        """Leaves the number of this transaction, and locks what these changes advance. Returns the machine's epoch."""
        sessions = sorted({change.checkpoint.session for change in changes if isinstance(change, Advance)})
        (row,) = await self._rows("begin_batch", writer=writer, number=number, sessions=sessions, machine=self._machine)
        epoch, locked, runs, offsets = row
        self._places = {
            original(session): (run, offset) for session, run, offset in zip(locked, runs, offsets, strict=True)
        }
        return None if epoch is None else int(epoch)

    async def take(self, change: Change) -> bool:
        """Whether the change took effect."""
        took = await self._take(change)
        if took and changes_rules(change):
            self._rules_to_count += 1
        return took

    async def _take(self, change: Change) -> bool:
        match change:
            case PublishItems(session, at, content):
                return await self._publish(session, at, content)
            case Advance(checkpoint):
                return self._advance(checkpoint)
            case SaveSession(session):
                self._sessions[session.id] = _storable(session_row(session))
                return True
            case RemoveSession(session_id, at, by):
                gone = await self._remove_session(session_id)
                return gone and await self._publish(session_id, at, SessionRemoved(by))
            case OpenAsk(ask):
                return await self._open(ask)
            case SettleAsk(ask, settlement, rules):
                return await self._settle(ask, settlement, rules)
            case RecordLate(ask, answered):
                return await self._record_late(ask, answered)
            case HoldAsk(ask, holder, at):
                return await self._hold(ask, holder, at)
            case DeliverAsk(ask, at):
                row = await self._row("deliver_ask", id=ask, at=microseconds(at))
                return row is not None and await self._publish(row[0], at, AskDelivered(ask), asks=ask)
            case QueueSay(say):
                return await self._queue(say)
            case TakeSay(say, at):
                row = await self._row("take_say", id=say, at=microseconds(at))
                return row is not None and await self._publish(row[0], at, SaidTaken(say), says=say)
            case ReturnSay(say, at):
                row = await self._row("return_say", id=say)
                return row is not None and await self._publish(row[1], at, contents.said(read_say(row)), says=say)
            case WithdrawSay(say, at):
                row = await self._row("withdraw_say", id=say)
                return row is not None and await self._publish(row[0], at, SaidWithdrawn(say))
            case GiveInstruction(wanted):
                given = await self._changed("give_instruction", **instruction_row(wanted, 0))
                about = contents.given(wanted)
                return given and await self._publish(wanted.session, wanted.at, about, instructions=wanted.id)
            case TakeInstruction(wanted_id, epoch):
                return await self._changed("take_instruction", id=wanted_id, epoch=epoch)
            case SettleInstruction():
                return await self._settle_instruction(change)
            case SaveMachine(machine, at):
                return await self._save_machine(machine, at)
            case RenameMachine(renamed, name, at):
                row = await self._row("rename_machine", id=renamed, name=name)
                return row is not None and await self.publish_machine(read_machine(row), at)
            case ForgetMachine(forgotten, at):
                await self._write_sessions()
                row = await self._row("forget_machine", id=forgotten)
                return row is not None and await self.publish_machine(read_machine(row), at, forgotten=True)
            case SaveRule(rule):
                return await self._changed("save_rule", **rule_row(rule))
            case RemoveRule(rule):
                return await self._changed("remove_rule", id=rule)
            case RevokeTrust(directory, where):
                machines = {"machine": where or self._machine, "or_machine": where}
                return await self._changed("remove_trust", directory=directory, **machines)
            case SaveProject(project):
                return await self._save_project(project)
            case RemoveProject(project_id):
                return await self._remove_project(project_id)
            case SaveToken(token):
                return await self._changed("save_token", **token_row(token))
            case SpendCode(token, at):
                return await self._changed("spend_code", id=token, at=microseconds(at))
            case PruneTokens(codes, others):
                times = {"codes": microseconds(codes), "others": microseconds(others), "never": _NEVER}
                return await self._changed("prune_tokens", **times)
            case SaveRecord(kind, key, value, None):
                return await self._changed("add_record", kind=kind, key=key, value=value)
            case SaveRecord(kind, key, value, only_if):
                return await self._changed("change_record", kind=kind, key=key, value=value, only_if=only_if)
            case RemoveRecord(kind, key):
                return await self._changed("remove_record", kind=kind, key=key)
            case Record(entry):
                return self._record(entry)
            case PruneAudit(up_to):
                return await self._changed("prune_audit", up_to=up_to)
            case Prune(up_to):
                return await self._prune(up_to)
            case _:
                assert_never(change)

    async def claim(self, machine: Machine) -> Machine:
        """See `Store.claim`."""
        await self._rows("lock_claims")
        row = await self._row("lock_machine", id=machine.id)
        now = await self._now()
        if row is None:
            taken_names = {name for (name,) in await self._rows("machine_names")}
            numbers = range(2, len(taken_names) + 3)
            names = [machine.name, *(f"{machine.name}-{number}" for number in numbers)]
            # A machine that was forgotten and comes back must not get an epoch that a hub of it may still have.
            name, epoch = next(each for each in names if each not in taken_names), microseconds(now)
        else:
            stored = read_machine(row)
            name, epoch = stored.name, stored.epoch + 1
        claimed = replace(machine, name=name, epoch=epoch, started_at=now, seen_at=now, away_since=None)
        await self._save_machine(claimed, now)
        return claimed

    async def beat(self, machine: str, lease: int) -> datetime | None:
        """See `Store.beat`; None if the machine was never claimed."""
        row = await self._row("beat", id=machine)
        away = await self._rows("find_away", id=machine, lease=lease)
        found = read_machine(row[:-1]) if row is not None else None
        if found is not None and row is not None and row[-1] is not None:
            await self.publish_machine(found, found.seen_at)
        for each in away:
            await self.publish_machine(read_machine(each), await self._now())
        return found.seen_at if found is not None else None

    async def release(self, machine: str) -> None:
        """See `Store.release`."""
        row = await self._row("release_machine", id=machine)
        if row is not None:
            await self.publish_machine(read_machine(row), await self._now())

    async def publish_machine(self, machine: Machine, at: datetime, *, forgotten: bool = False) -> bool:
        return await self._publish(None, at, contents.machine_changed(machine, forgotten=forgotten))

    async def flush(self, *, with_cursors: bool = False) -> None:
        """Writes what was collected. From the first cursors on, other hubs wait until this transaction ends."""
        await self._write_sessions()
        if not (with_cursors or self._pending or self._entries or self._rules_to_count):
            await self._write_checkpoints()
            return
        await self._write_texts()
        await self._write_with_cursors()

    async def _write_with_cursors(self) -> None:
        pending, before = self._pending, len(self.items)
        places = list(self._checkpoints.values())
        mentions = {table: self._mentions.get(table, {}) for table in ("asks", "says", "instructions")}
        row = await self._row(
            "publish",
            size=sum(len(each.stored) for each in pending),
            items=len(pending),
            entries=len(self._entries),
            changes=self._rules_to_count,
            sessions=[each.session for each in pending],
            times=[microseconds(each.at) for each in pending],
            contents=[each.stored for each in pending],
            **_columns_of(places),
            lined=list(self._lines),
            lines=list(self._lines.values()),
            **{table: list(positions) for table, positions in mentions.items()},
            **{f"{table}_at": [at - before for at in each.values()] for table, each in mentions.items()},
            texts=list(self._texts),
            texts_at=[at - before for _, at in self._texts.values()],
        )
        if row is None:
            raise RuntimeError("the feed's row is missing")
        base, audited, self.rules, advanced = row
        if advanced != len(places):
            raise Conflicting
        self.base = base if self.base is None else self.base
        self.newest = base + len(pending)
        self.items += [
            Item(cursor, each.session, each.at, each.content) for cursor, each in enumerate(pending, base + 1)
        ]
        self.changed_rules += self._rules_to_count
        self._pending, self._checkpoints, self._lines, self._mentions, self._texts = [], {}, {}, {}, {}
        self._rules_to_count = 0
        entries_to_write, self._entries = self._entries, []
        numbered = [{**row, "number": number} for number, row in enumerate(entries_to_write, audited + 1)]
        await self._many("record", numbered)

    async def _publish(self, session: str | None, at: datetime, content: Content, **about: str) -> bool:
        """`about` names the row that the item refers to, by its table."""
        whole = contents.encode(content)
        stored = await self._pack(whole) if len(whole) >= WORTH_IT else whole
        storable(session)
        self._pending.append(_Pending(session, at, whole, stored))
        for table, identity in about.items():
            self._mentions.setdefault(table, {})[identity] = self.published
        line = contents.line_of(content) if session is not None else None
        if session is not None and line is not None:
            self._lines[session] = line
        return True

    async def _pack(self, whole: bytes, used: list[bytes] | None = None) -> bytes:
        """A row's JSON as it is stored; its texts are stored with the next cursor."""
        literals: dict[bytes, bytes] = {}

        def keep(literal: bytes) -> bytes:
            hashed = hash_of_text(literal)
            literals[hashed] = literal
            return hashed

        stored = await asyncio.to_thread(packed, whole, keep) if len(whole) > _MUCH else packed(whole, keep)
        for hashed, literal in literals.items():
            self._texts[hashed] = literal, self.published + 1
        if used is not None:
            used.extend(literals)
        return stored

    def _advance(self, checkpoint: Checkpoint) -> bool:
        place = (checkpoint.run, checkpoint.offset)
        if place < self._places.get(checkpoint.session, place):
            # The effects of this batch are stored already: storing them again would duplicate them.
            raise StoreConflict(
                f"The journal of session {checkpoint.session} was already read beyond {checkpoint.offset}."
            )
        self._places[checkpoint.session] = place
        self._checkpoints[checkpoint.session] = checkpoint
        return True

    async def _open(self, ask: Ask) -> bool:
        row, used, texts = ask_row(ask, 0), list[bytes](), dict(self._texts)
        for column in ("body", "request"):
            if len(row[column]) >= WORTH_IT:
                row[column] = (await self._pack(row[column].encode(), used)).decode()
        if not await self._changed("open_ask", **row):
            self._texts = texts
            return False
        self._uses += [{"ask": ask.id, "hash": hashed} for hashed in used]
        await self._publish(ask.session, ask.opened_at, contents.opened(ask), asks=ask.id)
        if ask.settlement:
            about = contents.settled(ask.id, ask.settlement)
            await self._publish(ask.session, ask.settlement.at, about, asks=ask.id)
            self._record(entries.settled(ask, ask.settlement))
        self.asks.append(ask)
        return True

    async def _settle(self, ask: str, settlement: Settlement, rules: tuple[Rule, ...]) -> bool:
        settled = await self._ask("settle_ask", id=ask, **settlement_row(settlement))
        if settled is None:
            return False
        for rule in rules:
            await self._changed("save_rule", **rule_row(rule))
        self.asks.append(settled)
        await self._keep_trust(entries.trust_in(settled, settlement))
        await self._publish(settled.session, settlement.at, contents.settled(ask, settlement), asks=ask)
        return self._record(entries.settled(settled, settlement))

    async def _record_late(self, ask: str, answered: Answered) -> bool:
        expired = await self._ask("record_late", id=ask, late=settlement_text(answered))
        if expired is None:
            return False
        self.asks.append(expired)
        await self._keep_trust(entries.trust_in(expired, answered))
        if expired.settlement is not None:
            await self._publish(expired.session, answered.at, contents.settled(ask, expired.settlement), asks=ask)
        return self._record(entries.late(expired, answered))

    async def _hold(self, ask: str, machine: str, at: datetime) -> bool:
        held = await self._ask("hold_ask", id=ask, machine=machine)
        if held is None:
            return False
        self.asks.append(held)
        return await self._publish(None, at, AskHeld(ask, machine))

    async def _ask(self, statement: str, **bindings: Any) -> Ask | None:  # noqa: ANN401 - whatever a column holds
        """The ask that a conditional update changed, if it changed one."""
        rows = await self._rows(statement, **bindings)
        asks = await self._reader.whole_asks(rows, {key: text for key, (text, _) in self._texts.items()})
        return asks[0] if asks else None

    async def _keep_trust(self, trust: DirectoryTrust | None) -> None:
        if trust is not None:
            await self._changed("save_trust", **trust_row(trust))

    def _record(self, entry: Entry) -> bool:
        self._entries.append(_storable(entry_row(entry)))
        return True

    async def _queue(self, say: Say) -> bool:
        queued = await self._changed("queue_say", **say_row(say, 0))
        return queued and await self._publish(say.session, say.at, contents.said(say), says=say.id)

    async def _settle_instruction(self, change: SettleInstruction) -> bool:
        row = await self._row(
            "settle_instruction",
            id=change.instruction,
            state=change.state,
            reason=change.reason,
            result=change.result,
            settled_at=microseconds(change.at),
        )
        if row is None:
            return False
        settled = read_instruction(row)
        about = contents.carried_out(settled)
        return await self._publish(settled.session, change.at, about, instructions=settled.id)

    async def _save_machine(self, machine: Machine, at: datetime) -> bool:
        await self._changed("save_machine", **machine_row(machine))
        if machine.id == self._machine:
            await self._write_sessions()
            for table in ("sessions", "asks", "places"):
                await self._changed(f"name_machine_of_{table}", machine=machine.id)
            for row in await self._rows("trust_without_machine"):
                await self._keep_trust(replace(read_trust(row), machine=machine.id))
        return await self.publish_machine(machine, at)

    async def _save_project(self, project: Project) -> bool:
        await self._changed("save_project", **project_row(project))
        await self._changed("remove_places", project=project.id)
        for place in places_of(project, self._machine):
            await self._changed("save_place", project=project.id, machine=place.machine, path=place.path)
        return True

    async def _remove_session(self, session: str) -> bool:
        await self.flush(with_cursors=True)
        if not await self._changed("remove_session", session=session):
            return False
        for table in ("items", "says", "asks", "instructions", "checkpoints", "lines"):
            await self._changed(f"remove_{table}_of_session", session=session)
        await self._changed("prune_ask_texts")
        return True

    async def _remove_project(self, project: str) -> bool:
        await self._write_sessions()
        gone = await self._changed("remove_project", id=project)
        if gone:
            await self._changed("remove_places", project=project)
        return gone

    async def _prune(self, wanted: int) -> bool:
        await self.flush(with_cursors=True)
        up_to = min(wanted, self.newest)
        if not await self._changed("mark_pruned", up_to=up_to):
            return False
        for statement in ("prune_items", "prune_says", "prune_asks", "prune_instructions"):
            await self._changed(statement, up_to=up_to)
        await self._changed("prune_ask_texts")
        await self._changed("prune_texts", up_to=up_to)
        return True

    async def _write_sessions(self) -> None:
        rows, self._sessions = self._sessions, {}
        await self._many("save_session", list(rows.values()))

    async def _write_checkpoints(self) -> None:
        places, self._checkpoints = list(self._checkpoints.values()), {}
        if places and await self._count("advance", **_columns_of(places)) != len(places):
            raise Conflicting

    async def _write_texts(self) -> None:
        """Before the cursors are known: long texts would make other hubs wait. Sorted, against deadlocks."""
        texts = sorted((hashed, literal) for hashed, (literal, _) in self._texts.items())
        if texts:
            rows = await asyncio.to_thread(_text_rows, texts)
            await self._many("keep_text", rows, size=sum(len(row["content"]) for row in rows))
        uses, self._uses = self._uses, []
        await self._many("use_text", uses)

    async def _now(self) -> datetime:
        (row,) = await self._rows("time")
        return read_time(row[0])

    async def _changed(self, statement: str, **bindings: object) -> bool:
        return await self._count(statement, **bindings) > 0

    async def _count(self, statement: str, **bindings: object) -> int:
        """How many rows the statement changed."""
        prepared = SQL[statement]
        with watched(self._connection, self._hang_seconds):
            status = await self._connection.execute(prepared.text, *prepared.arguments(bindings))
        return int(status.rpartition(" ")[2])

    async def _row(self, statement: str, *, size: int = 0, **bindings: object) -> Row | None:
        rows = await self._rows(statement, size=size, **bindings)
        return rows[0] if rows else None

    async def _rows(self, statement: str, *, size: int = 0, **bindings: object) -> list[Row]:
        """`size` is how many bytes are sent."""
        prepared = SQL[statement]
        with watched(self._connection, self._hang_seconds + size / _BYTES_A_SECOND):
            rows = await self._connection.fetch(prepared.text, *prepared.arguments(bindings))
        return [tuple([original(cell) for cell in row.values()]) for row in rows]

    async def _many(self, statement: str, rows: list[dict[str, Any]], *, size: int = 0) -> None:
        if not rows:
            return
        prepared = SQL[statement]
        with watched(self._connection, self._hang_seconds + size / _BYTES_A_SECOND):
            await self._connection.executemany(prepared.text, [prepared.arguments(row) for row in rows])


def _storable(row: dict[str, Any]) -> dict[str, Any]:
    """Fails now, and not when the whole group is written."""
    for each in row.values():
        storable(each)
    return row


def _columns_of(places: list[Checkpoint]) -> dict[str, Any]:
    return {
        "advanced": [each.session for each in places],
        "runs": [each.run for each in places],
        "offsets": [each.offset for each in places],
        "memories": [each.memory for each in places],
    }


def _text_rows(literals: list[tuple[bytes, bytes]]) -> list[dict[str, Any]]:
    return [{"hash": hashed, "content": compressed(literal)} for hashed, literal in literals]
