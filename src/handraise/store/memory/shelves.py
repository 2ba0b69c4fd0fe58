"""The contents of a store, in dicts, and what each change does to them. Never awaits, never notifies."""

from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Self, TypeVar, assert_never

from msgspec import Struct, field, json, structs
from msgspec.structs import replace

from handraise.model.actors import Actor
from handraise.model.asks import Answered, Ask, Expired, Settlement
from handraise.model.audit import Entry
from handraise.model.instructions import Instruction
from handraise.model.items import AskDelivered, AskHeld, Content, Item, SaidTaken, SaidWithdrawn, SessionRemoved
from handraise.model.machines import LEASE, Machine
from handraise.model.projects import Project, places_of
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Say, Session
from handraise.model.tokens import Token
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
from handraise.texts import t

T = TypeVar("T", Ask, Say, Instruction)


class Shelves(Struct):
    """Everything stored, by id, in insertion order."""

    sessions: dict[str, Session] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)
    asks: dict[str, Ask] = field(default_factory=dict)
    says: dict[str, Say] = field(default_factory=dict)
    items: dict[int, Item] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)
    trusts: dict[tuple[str, str], DirectoryTrust] = field(default_factory=dict)
    """By machine and directory."""
    projects: dict[str, Project] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    records: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """By kind and key."""
    instructions: dict[str, Instruction] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)
    audit: list[Entry] = field(default_factory=list)
    mentioned: dict[str, int] = field(default_factory=dict)
    published: list[Item] = field(default_factory=list)
    """Since these shelves were copied."""
    changed_asks: list[Ask] = field(default_factory=list)
    """Opened or settled since then."""
    pruned: int = 0
    newest: int = 0

    def copy(self) -> Self:
        """For a batch to work on; discarded if the batch fails."""
        return replace(
            self,
            sessions=dict(self.sessions),
            lines=dict(self.lines),
            checkpoints=dict(self.checkpoints),
            asks=dict(self.asks),
            says=dict(self.says),
            items=dict(self.items),
            rules=dict(self.rules),
            trusts=dict(self.trusts),
            projects=dict(self.projects),
            tokens=dict(self.tokens),
            records=dict(self.records),
            instructions=dict(self.instructions),
            machines=dict(self.machines),
            audit=list(self.audit),
            mentioned=dict(self.mentioned),
            published=[],
            changed_asks=[],
        )

    def take(self, change: Change, machine: str = "") -> bool:
        """Whether the change took effect. `machine` is where it was made."""
        match change:
            case SaveSession(session):
                self.sessions[session.id] = session
            case Advance(checkpoint):
                self._advance(checkpoint)
            case PublishItems(session, at, content):
                self._publish(session, at, content)
            case RemoveSession(session_id, at, by):
                return self._remove_session(session_id, at, by)
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
                return self._give(wanted)
            case TakeInstruction(wanted_id, epoch):
                return self._take_instruction(wanted_id, epoch)
            case SettleInstruction():
                return self._settle_instruction(change)
            case SaveMachine(claimed, at, quiet):
                self._put_machine(claimed, at, quiet=quiet)
            case RenameMachine(renamed, name, at):
                return self._rename(renamed, name, at)
            case ForgetMachine(forgotten, at):
                return self._forget(forgotten, at)
            case SaveRule(rule):
                self.rules[rule.id] = rule
            case RemoveRule(rule):
                return self.rules.pop(rule, None) is not None
            case RevokeTrust(directory, where):
                gone = [self.trusts.pop((each, directory), None) for each in {where or machine, where}]
                return any(gone)
            case SaveProject(project):
                self._save_project(project, machine)
            case RemoveProject(project_id):
                return self._remove_project(project_id)
            case SaveToken(token):
                self._save_token(token)
            case SpendCode(token, at):
                return self._spend(token, at)
            case PruneTokens(codes, others):
                return self._prune_tokens(codes, others)
            case SaveRecord(kind, key, value, only_if):
                return self._save_record((kind, key), value, only_if)
            case RemoveRecord(kind, key):
                return self.records.pop((kind, key), None) is not None
            case Record(entry):
                self._record(entry)
            case PruneAudit(up_to):
                return self._prune_audit(up_to)
            case Prune(up_to):
                return self._prune(min(up_to, self.newest))
            case _:
                assert_never(change)
        return True

    def _publish(self, session: str | None, at: datetime, content: Content, about: str | None = None) -> None:
        self.newest += 1
        item = Item(self.newest, session, at, contents.encode(content))
        self.items[item.cursor] = item
        self.published.append(item)
        line = contents.line_of(content)
        if session is not None and line is not None:
            self.lines[session] = line
        if about is not None:
            self.mentioned[about] = self.newest

    def _advance(self, checkpoint: Checkpoint) -> None:
        stored = self.checkpoints.get(checkpoint.session)
        if stored is not None and (checkpoint.run, checkpoint.offset) < (stored.run, stored.offset):
            raise StoreConflict(
                f"The journal of session {checkpoint.session} was already read beyond {checkpoint.offset}."
            )
        self.checkpoints[checkpoint.session] = checkpoint

    def _open(self, ask: Ask) -> bool:
        if ask.id in self.asks or any(_same_origin(ask, stored) for stored in self.asks.values()):
            return False
        self._put(ask)
        self._publish(ask.session, ask.opened_at, contents.opened(ask), about=ask.id)
        if ask.settlement:
            self._publish(ask.session, ask.settlement.at, contents.settled(ask.id, ask.settlement), about=ask.id)
            self._record(entries.settled(ask, ask.settlement))
        return True

    def _settle(self, ask: str, settlement: Settlement, rules: tuple[Rule, ...]) -> bool:
        stored = self.asks.get(ask)
        if stored is None or stored.settlement is not None:
            return False
        self._put(structs.replace(stored, settlement=settlement))
        self.rules.update({rule.id: rule for rule in rules})
        self._keep_trust(entries.trust_in(stored, settlement))
        self._publish(stored.session, settlement.at, contents.settled(ask, settlement), about=ask)
        self._record(entries.settled(stored, settlement))
        return True

    def _record_late(self, ask: str, answered: Answered) -> bool:
        stored = self.asks.get(ask)
        if stored is None or not isinstance(stored.settlement, Expired) or stored.settlement.late is not None:
            return False
        expired = Expired(stored.settlement.at, answered)
        self._put(structs.replace(stored, settlement=expired))
        self._keep_trust(entries.trust_in(stored, answered))
        self._publish(stored.session, answered.at, contents.settled(ask, expired), about=ask)
        self._record(entries.late(stored, answered))
        return True

    def _hold(self, ask: str, machine: str, at: datetime) -> bool:
        stored = self.asks.get(ask)
        if stored is None or stored.settlement is not None or stored.session is not None or stored.machine == machine:
            return False
        self._put(structs.replace(stored, machine=machine))
        self._publish(None, at, AskHeld(ask, machine))
        return True

    def _put(self, ask: Ask) -> None:
        self.asks[ask.id] = ask
        self.changed_asks.append(ask)

    def _keep_trust(self, trust: DirectoryTrust | None) -> None:
        if trust is not None:
            self.trusts[trust.machine, trust.directory] = trust

    def _deliver(self, ask: str, at: datetime) -> bool:
        stored = self.asks.get(ask)
        if stored is None or not is_undelivered(stored):
            return False
        self.asks[ask] = structs.replace(stored, delivered_at=at)
        self._publish(stored.session, at, AskDelivered(ask), about=ask)
        return True

    def _queue(self, say: Say) -> bool:
        if say.id in self.says:
            return False
        self.says[say.id] = say
        self._publish(say.session, say.at, contents.said(say), about=say.id)
        return True

    def _take_say(self, say: str, at: datetime) -> bool:
        stored = self.says.get(say)
        if stored is None or stored.taken_at is not None:
            return False
        self.says[say] = structs.replace(stored, taken_at=at)
        self._publish(stored.session, at, SaidTaken(say), about=say)
        return True

    def _return_say(self, say: str, at: datetime) -> bool:
        stored = self.says.get(say)
        if stored is None or stored.taken_at is None:
            return False
        self.says[say] = structs.replace(stored, taken_at=None)
        self._publish(stored.session, at, contents.said(stored), about=say)
        return True

    def _withdraw_say(self, say: str, at: datetime) -> bool:
        stored = self.says.get(say)
        if stored is None or stored.taken_at is not None:
            return False
        del self.says[say]
        self._publish(stored.session, at, SaidWithdrawn(say))
        return True

    def _give(self, wanted: Instruction) -> bool:
        if wanted.id in self.instructions:
            return False
        self.instructions[wanted.id] = wanted
        self._publish(wanted.session, wanted.at, contents.given(wanted), about=wanted.id)
        return True

    def _take_instruction(self, wanted: str, epoch: int) -> bool:
        stored = self.instructions.get(wanted)
        if stored is None or stored.state != "waiting":
            return False
        self.instructions[wanted] = structs.replace(stored, state="taken", epoch=epoch)
        return True

    def _settle_instruction(self, change: SettleInstruction) -> bool:
        stored = self.instructions.get(change.instruction)
        if stored is None or stored.is_settled or (change.state == "withdrawn" and stored.state != "waiting"):
            return False
        settled = structs.replace(
            stored, state=change.state, reason=change.reason, result=change.result, settled_at=change.at
        )
        self.instructions[settled.id] = settled
        self._publish(settled.session, change.at, contents.carried_out(settled), about=settled.id)
        return True

    def claim(self, machine: Machine) -> Machine:
        """The machine with its new epoch."""
        stored = self.machines.get(machine.id)
        name = stored.name if stored is not None else self._free_name(machine.name)
        epoch = stored.epoch + 1 if stored is not None else 1
        claimed = structs.replace(machine, name=name, epoch=epoch, seen_at=machine.started_at, away_since=None)
        self._put_machine(claimed, machine.started_at)
        return claimed

    def beat(self, machine: str, at: datetime) -> None:
        """This one is there; those that were not seen for long are away."""
        for each in list(self.machines.values()):
            if each.id == machine and each.away_since is not None:
                self._put_machine(structs.replace(each, seen_at=at, away_since=None), at)
            elif each.id == machine:
                self.machines[machine] = structs.replace(each, seen_at=at)
            elif each.away_since is None and at - each.seen_at > LEASE:
                self._put_machine(structs.replace(each, away_since=each.seen_at), at)

    def release(self, machine: str, at: datetime) -> None:
        """It goes away by itself."""
        self._put_machine(structs.replace(self.machines[machine], away_since=at), at)

    def _put_machine(self, machine: Machine, at: datetime, *, quiet: bool = False) -> None:
        self.machines[machine.id] = machine
        if not quiet:
            self._publish(None, at, contents.machine_changed(machine))

    def _free_name(self, name: str) -> str:
        names = {each.name for each in self.machines.values()}
        numbered = (f"{name}-{number}" for number in count(2))
        return name if name not in names else next(each for each in numbered if each not in names)

    def _rename(self, machine: str, name: str, at: datetime) -> bool:
        if any(each.name == name and each.id != machine for each in self.machines.values()):
            raise StoreConflict(t("error.store.machine_name_taken"), t("error.store.other_name"))
        stored = self.machines.get(machine)
        if stored is None:
            return False
        self._put_machine(structs.replace(stored, name=name), at)
        return True

    def _forget(self, machine: str, at: datetime) -> bool:
        stored = self.machines.get(machine)
        living = any(each.machine == machine and each.phase != "ended" for each in self.sessions.values())
        if stored is None or stored.away_since is None or living:
            return False
        del self.machines[machine]
        self._publish(None, at, contents.machine_changed(stored, forgotten=True))
        return True

    def _remove_session(self, session: str, at: datetime, by: Actor) -> bool:
        stored = self.sessions.get(session)
        asks = [each for each in self.asks.values() if each.session == session]
        if stored is None or stored.phase != "ended" or any(each.state == "open" for each in asks):
            return False
        del self.sessions[session]
        self.checkpoints.pop(session, None)
        self.lines.pop(session, None)
        self.items = {cursor: item for cursor, item in self.items.items() if item.session != session}
        self.says = {name: say for name, say in self.says.items() if say.session != session}
        self.asks = {name: ask for name, ask in self.asks.items() if ask.session != session}
        self.instructions = {name: each for name, each in self.instructions.items() if each.session != session}
        self._publish(session, at, SessionRemoved(by))
        return True

    def _remove_project(self, project: str) -> bool:
        living = any(each.project == project and each.phase != "ended" for each in self.sessions.values())
        return not living and self.projects.pop(project, None) is not None

    def _save_project(self, project: Project, machine: str) -> None:
        """Stored with all of its directories in `elsewhere`; a store makes its own one the path."""
        saved = structs.replace(project, path="", elsewhere=tuple(places_of(project, machine)))
        for stored in self.projects.values():
            if stored.id != saved.id and stored.name == saved.name:
                raise StoreConflict(t("error.store.name_taken"), t("error.store.other_name"))
            if stored.id != saved.id and set(stored.elsewhere) & set(saved.elsewhere):
                raise StoreConflict(t("error.store.directory_taken"))
        self.projects[project.id] = saved

    def _save_token(self, token: Token) -> None:
        if any(stored.id != token.id and stored.hash == token.hash for stored in self.tokens.values()):
            raise StoreConflict(t("error.store.exists", what="tokens.hash"))
        stored = self.tokens.get(token.id)
        revoked = stored.revoked_at if stored is not None else None
        self.tokens[token.id] = structs.replace(token, revoked_at=revoked or token.revoked_at)

    def _spend(self, token: str, at: datetime) -> bool:
        stored = self.tokens.get(token)
        if stored is None or stored.kind != "code" or not stored.is_good(at):
            return False
        self.tokens[token] = structs.replace(stored, revoked_at=at)
        return True

    def _save_record(self, name: tuple[str, str], value: bytes, only_if: bytes | None) -> bool:
        if self.records.get(name) != only_if:
            return False
        self.records[name] = value
        return True

    def _record(self, entry: Entry) -> None:
        detail = json.decode(entries.detail_as_text(entry))
        number = self.audit[-1].number + 1 if self.audit else 1
        self.audit.append(structs.replace(entry, detail=detail, number=number))

    def _prune_audit(self, up_to: int) -> bool:
        before = len(self.audit)
        self.audit = [*(entry for entry in self.audit[:-1] if entry.number > up_to), *self.audit[-1:]]
        return len(self.audit) < before

    def _prune(self, up_to: int) -> bool:
        if up_to <= self.pruned:
            return False
        self.pruned = up_to
        self.items = {cursor: item for cursor, item in self.items.items() if cursor > up_to}
        self.says = self._unpruned(self.says, lambda say: say.taken_at is None)
        self.asks = self._unpruned(self.asks, self._awaited)
        self.instructions = self._unpruned(self.instructions, lambda wanted: not wanted.is_settled)
        return True

    def _prune_tokens(self, codes: datetime, others: datetime) -> bool:
        old = [
            key
            for key, token in self.tokens.items()
            if token.ends_at is not None and token.ends_at < (codes if token.kind == "code" else others)
        ]
        for key in old:
            del self.tokens[key]
        return bool(old)

    def _unpruned(self, stored: dict[str, T], awaited: Callable[[T], bool]) -> dict[str, T]:
        return {key: each for key, each in stored.items() if self.mentioned[key] > self.pruned or awaited(each)}

    def _awaited(self, ask: Ask) -> bool:
        session = self.sessions.get(ask.session or "")
        living = session is not None and session.phase != "ended"
        return ask.settlement is None or (living and is_undelivered(ask))


def seen_from(project: Project, machine: str) -> Project:
    """A stored project for one machine: its directory there, and the others."""
    here = [place.path for place in project.elsewhere if place.machine == machine]
    others = tuple(place for place in project.elsewhere if place.machine != machine)
    return structs.replace(project, path=here[0] if here else "", elsewhere=others)


def is_undelivered(ask: Ask) -> bool:
    """Whether Claude has yet to confirm the outcome of the ask."""
    return ask.state in ("answered", "expired") and ask.delivered_at is None


def _same_origin(one: Ask, other: Ask) -> bool:
    """Whether both have the same reference from the same asker (a session, or an agent without one)."""
    mine = (one.session, one.agent if one.session is None else None, one.origin.reference)
    return mine == (other.session, other.agent if other.session is None else None, other.origin.reference)
