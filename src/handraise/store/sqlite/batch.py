"""Writes a batch of changes to the database; each statement decides by itself whether it takes effect.

Never begins or ends a transaction: the writer does.
"""

from datetime import datetime
from typing import Any, assert_never

import apsw
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
)
from handraise.store.interface import StoreConflict
from handraise.store.rows import (
    Row,
    ask_row,
    checkpoint_row,
    entry_row,
    instruction_row,
    machine_row,
    microseconds,
    project_row,
    read_ask,
    read_instruction,
    read_machine,
    read_say,
    rule_row,
    say_row,
    session_row,
    settlement_row,
    settlement_text,
    token_row,
    trust_row,
)
from handraise.store.sqlite.database import SQL
from handraise.store.sqlite.texts import Texts

_NEVER = 2**63 - 1


def newest_cursor(connection: apsw.Connection) -> int:
    """The last cursor that was issued, pruned or not."""
    rows: list[Row] = connection.execute(SQL["cursors"]).fetchall()
    _pruned, newest = rows[0]
    return int(newest)


class Batch:
    """Applies changes one by one. `asks` are those that changed; `close` adds `items` to the feed, up to `newest`."""

    def __init__(self, connection: apsw.Connection, newest: int, machine: str = "") -> None:
        """`machine` is the one that the store belongs to."""
        self._connection = connection
        self._machine = machine
        self._texts = Texts(connection)
        self.newest = newest
        self.items: list[Item] = []
        self.asks: list[Ask] = []
        self._rows: list[tuple[int, str | None, int, bytes]] = []
        self._published: dict[str, list[Content]] = {}

    def close(self) -> None:
        """Adds the items to the feed in one statement: they are most of what a busy session writes."""
        self._connection.executemany(SQL["add_item"], self._rows)
        self._rows.clear()
        lines = [(session, contents.last_line(published)) for session, published in self._published.items()]
        self._connection.executemany(SQL["save_line"], [each for each in lines if each[1] is not None])
        self._published.clear()

    def take(self, change: Change) -> bool:
        """Whether the change took effect."""
        match change:
            case PublishItems(session, at, content):
                return self._publish(session, at, content)
            case Advance(checkpoint):
                return self._advance(checkpoint)
            case SaveSession(session):
                return self._save_session(session_row(session))
            case RemoveSession(session_id, at, by):
                return self._remove_session(session_id) and self._publish(session_id, at, SessionRemoved(by))
            case OpenAsk(ask):
                return self._open(ask)
            case SettleAsk(ask, settlement, rules):
                return self._settle(ask, settlement, rules)
            case RecordLate(ask, answered):
                return self._record_late(ask, answered)
            case HoldAsk(ask, holder, at):
                return self._hold(ask, holder, at)
            case DeliverAsk(ask, at):
                return self._deliver(ask, at)
            case QueueSay(say):
                return self._queue(say)
            case TakeSay(say, at):
                return self._take_say(say, at)
            case ReturnSay(say, at):
                return self._return_say(say, at)
            case WithdrawSay(say, at):
                return self._withdraw_say(say, at)
            case GiveInstruction(wanted):
                given = self._changed("give_instruction", instruction_row(wanted, self.newest + 1))
                return given and self._publish(wanted.session, wanted.at, contents.given(wanted))
            case TakeInstruction(wanted_id, epoch):
                return self._changed("take_instruction", {"id": wanted_id, "epoch": epoch})
            case SettleInstruction():
                return self._settle_instruction(change)
            case SaveMachine(machine, at, quiet):
                return self._save_machine(machine, at, quiet=quiet)
            case RenameMachine(renamed, name, at):
                return self._rename(renamed, name, at)
            case ForgetMachine(forgotten, at):
                return self._forget(forgotten, at)
            case SaveRule(rule):
                return self._changed("save_rule", rule_row(rule))
            case RemoveRule(rule):
                return self._changed("remove_rule", {"id": rule})
            case RevokeTrust(directory, where):
                machines = {"machine": where or self._machine, "or_machine": where}
                return self._changed("remove_trust", {"directory": directory, **machines})
            case SaveProject(project):
                return self._save_project(project)
            case RemoveProject(project_id):
                return self._remove_project(project_id)
            case SaveToken(token):
                return self._changed("save_token", token_row(token))
            case SpendCode(token, at):
                return self._changed("spend_code", {"id": token, "at": microseconds(at)})
            case PruneTokens(codes, others):
                return self._prune_tokens(codes, others)
            case SaveRecord(kind, key, value, only_if):
                record = {"kind": kind, "key": key, "value": value, "only_if": only_if}
                return self._changed("add_record" if only_if is None else "change_record", record)
            case RemoveRecord(kind, key):
                return self._changed("remove_record", {"kind": kind, "key": key})
            case Record(entry):
                return self._record(entry)
            case PruneAudit(up_to):
                return self._changed("prune_audit", {"up_to": up_to})
            case Prune(up_to):
                return self._prune(min(up_to, self.newest))
            case _:
                assert_never(change)

    def _publish(self, session: str | None, at: datetime, content: Content) -> bool:
        item = Item(self.newest + 1, session, at, contents.encode(content))
        packed = self._texts.pack(item.content, item.cursor)
        self._rows.append((item.cursor, session, microseconds(at), packed))
        self.newest = item.cursor
        self.items.append(item)
        if session is not None:
            self._published.setdefault(session, []).append(content)
        return True

    def _save_session(self, row: dict[str, Any]) -> bool:
        return self._changed("update_session", row) or self._changed("save_session", row)

    def _advance(self, checkpoint: Checkpoint) -> bool:
        if not self._changed("advance", checkpoint_row(checkpoint)):
            # The effects of this batch are stored already: storing them again would duplicate them.
            raise StoreConflict(
                f"The journal of session {checkpoint.session} was already read beyond {checkpoint.offset}."
            )
        return True

    def _open(self, ask: Ask) -> bool:
        published = 2 if ask.settlement else 1
        if not self._changed("open_ask", self._texts.pack_ask(ask_row(ask, self.newest + published))):
            return False
        self._publish(ask.session, ask.opened_at, contents.opened(ask))
        if ask.settlement:
            self._publish(ask.session, ask.settlement.at, contents.settled(ask.id, ask.settlement))
            self._record(entries.settled(ask, ask.settlement))
        self.asks.append(ask)
        return True

    def _settle(self, ask: str, settlement: Settlement, rules: tuple[Rule, ...]) -> bool:
        row = self._mention("settle_ask", ask, **settlement_row(settlement))
        if row is None:
            return False
        for rule in rules:
            self._changed("save_rule", rule_row(rule))
        settled = read_ask(self._texts.whole_ask(row))
        self.asks.append(settled)
        self._keep_trust(entries.trust_in(settled, settlement))
        self._publish(settled.session, settlement.at, contents.settled(ask, settlement))
        return self._record(entries.settled(settled, settlement))

    def _record_late(self, ask: str, answered: Answered) -> bool:
        row = self._mention("record_late", ask, late=settlement_text(answered))
        if row is None:
            return False
        expired = read_ask(self._texts.whole_ask(row))
        self.asks.append(expired)
        self._keep_trust(entries.trust_in(expired, answered))
        if expired.settlement is not None:
            self._publish(expired.session, answered.at, contents.settled(ask, expired.settlement))
        return self._record(entries.late(expired, answered))

    def _hold(self, ask: str, machine: str, at: datetime) -> bool:
        rows = self._connection.execute(SQL["hold_ask"], {"id": ask, "machine": machine}).fetchall()
        self.asks += [read_ask(self._texts.whole_ask(row)) for row in rows]
        return bool(rows) and self._publish(None, at, AskHeld(ask, machine))

    def _keep_trust(self, trust: DirectoryTrust | None) -> None:
        if trust is not None:
            self._changed("save_trust", trust_row(trust))

    def _record(self, entry: Entry) -> bool:
        return self._changed("record", entry_row(entry))

    def _deliver(self, ask: str, at: datetime) -> bool:
        row = self._mention("deliver_ask", ask, at=microseconds(at))
        return row is not None and self._publish(row[0], at, AskDelivered(ask))

    def _queue(self, say: Say) -> bool:
        queued = self._changed("queue_say", say_row(say, self.newest + 1))
        return queued and self._publish(say.session, say.at, contents.said(say))

    def _take_say(self, say: str, at: datetime) -> bool:
        row = self._mention("take_say", say, at=microseconds(at))
        return row is not None and self._publish(row[0], at, SaidTaken(say))

    def _return_say(self, say: str, at: datetime) -> bool:
        row = self._mention("return_say", say)
        return row is not None and self._publish(row[1], at, contents.said(read_say(row)))

    def _withdraw_say(self, say: str, at: datetime) -> bool:
        rows: list[Row] = self._connection.execute(SQL["withdraw_say"], {"id": say}).fetchall()
        return bool(rows) and self._publish(rows[0][0], at, SaidWithdrawn(say))

    def _settle_instruction(self, change: SettleInstruction) -> bool:
        row = self._mention(
            "settle_instruction",
            change.instruction,
            state=change.state,
            reason=change.reason,
            result=change.result,
            settled_at=microseconds(change.at),
        )
        if row is None:
            return False
        settled = read_instruction(row)
        return self._publish(settled.session, change.at, contents.carried_out(settled))

    def _save_machine(self, machine: Machine, at: datetime, *, quiet: bool = False) -> bool:
        self._changed("save_machine", machine_row(machine))
        if machine.id == self._machine:
            for table in ("sessions", "asks", "places", "trust", "rules"):
                self._changed(f"name_machine_of_{table}", {"machine": machine.id})
        return quiet or self._publish(None, at, contents.machine_changed(machine))

    def _rename(self, machine: str, name: str, at: datetime) -> bool:
        rows = self._connection.execute(SQL["machine"], {"id": machine}).fetchall()
        return bool(rows) and self._save_machine(replace(read_machine(rows[0]), name=name), at)

    def _forget(self, machine: str, at: datetime) -> bool:
        rows = self._connection.execute(SQL["forget_machine"], {"id": machine}).fetchall()
        return bool(rows) and self._publish(None, at, contents.machine_changed(read_machine(rows[0]), forgotten=True))

    def _save_project(self, project: Project) -> bool:
        self._changed("save_project", project_row(project))
        self._changed("remove_places", {"project": project.id})
        for place in places_of(project, self._machine):
            self._changed("save_place", {"project": project.id, "machine": place.machine, "path": place.path})
        return True

    def _remove_project(self, project: str) -> bool:
        gone = self._changed("remove_project", {"id": project})
        if gone:
            self._changed("remove_places", {"project": project})
        return gone

    def _remove_session(self, session: str) -> bool:
        bindings = {"session": session}
        self.close()
        if not self._changed("remove_session", bindings):
            return False
        for table in ("items", "says", "asks", "instructions", "checkpoints", "lines"):
            self._connection.execute(SQL[f"remove_{table}_of_session"], bindings)
        self._connection.execute(SQL["prune_ask_texts"])
        return True

    def _prune(self, up_to: int) -> bool:
        bindings = {"up_to": up_to}
        self.close()
        if not self._changed("mark_pruned", bindings):
            return False
        for statement in ("prune_items", "prune_says", "prune_asks", "prune_instructions"):
            self._connection.execute(SQL[statement], bindings)
        self._connection.execute(SQL["prune_ask_texts"])
        self._connection.execute(SQL["prune_texts"], bindings)
        return True

    def _prune_tokens(self, codes: datetime, others: datetime) -> bool:
        times = {"codes": microseconds(codes), "others": microseconds(others), "never": _NEVER}
        return self._changed("prune_tokens", times)

    def _changed(self, statement: str, bindings: dict[str, Any]) -> bool:
        self._connection.execute(SQL[statement], bindings)
        return self._connection.changes() > 0

    def _mention(self, statement: str, identity: str, **bindings: object) -> Row | None:
        """Runs a conditional update. If it changed a row, the next item refers to that row."""
        bindings |= {"id": identity, "mentioned": self.newest + 1}
        rows = self._connection.execute(SQL[statement], bindings).fetchall()
        return rows[0] if rows else None
