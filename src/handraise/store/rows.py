"""Our values as rows, and rows as our values. Never touches a connection."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from msgspec import json

from handraise.model.actors import Actor
from handraise.model.answers import Answer
from handraise.model.asks import (
    BODIES,
    Answered,
    Ask,
    Expired,
    Origin,
    Settlement,
    Withdrawn,
    read_body,
    read_settlement,
    settlement_as_json,
)
from handraise.model.audit import Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Item
from handraise.model.machines import Machine, Place
from handraise.model.projects import Options, Project
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Ended, Say, Session
from handraise.model.tokens import Token
from handraise.model.trust import DirectoryTrust
from handraise.model.usage import UsageLimit
from handraise.store import entries

Row = tuple[Any, ...]
Bindings = dict[str, Any]

# Rows are read by several threads. At the first use of a type msgspec finds out about its fields, and a second thread
# that uses it meanwhile crashes the process. So everything that a row can hold is looked at here, while it is imported.
_ENDED = json.Decoder(Ended)
_USAGE = json.Decoder(tuple[UsageLimit, ...])
_WORDS: json.Decoder[str | tuple[dict[str, Any], ...]] = json.Decoder(str | tuple[dict[str, Any], ...])
_ACTOR: json.Decoder[Actor] = json.Decoder(Actor)
_RULE = json.Decoder(Rule)
_TRUST = json.Decoder(DirectoryTrust)
_PLACES = json.Decoder(tuple[Place, ...])
_OPTIONS = json.Decoder(Options)
PARTS_OF_ASKS = tuple(json.Decoder(each) for each in (*BODIES.values(), Withdrawn, *get_args(Answer)))
"""For `model.asks` and `model.answers`, which convert by type."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """A time as stored in a column."""
    return (at - _EPOCH) // _MICROSECOND


def session_row(session: Session) -> Bindings:
    return {
        "id": session.id,
        "project": session.project,
        "directory": session.directory,
        "claude_id": session.claude_id,
        "title": session.title,
        "created_at": microseconds(session.created_at),
        "changed_at": microseconds(session.changed_at),
        "phase": session.phase,
        "mode": session.mode,
        "model": session.model,
        "cost_usd": session.cost_usd,
        "run": session.run,
        "ended": _text(session.ended) if session.ended else None,
        "stuck_since": _microseconds_or_none(session.stuck_since),
        "forked_from": session.forked_from,
        "usage": _text(session.usage) if session.usage else None,
        "terminal": session.terminal,
        "dialog": session.dialog,
        "machine": session.machine,
    }


def read_session(row: Row) -> Session:
    (identity, project, directory, claude_id, title, created, changed, phase) = row[:8]
    (mode, model, cost, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine) = row[8:]
    return Session(
        id=identity,
        project=project,
        directory=directory,
        claude_id=claude_id,
        title=title,
        created_at=read_time(created),
        changed_at=read_time(changed),
        phase=phase,
        mode=mode,
        model=model,
        cost_usd=cost,
        run=run,
        ended=_ENDED.decode(ended) if ended else None,
        stuck_since=_time_or_none(stuck_since),
        forked_from=forked_from,
        usage=_USAGE.decode(usage) if usage else (),
        terminal=terminal,
        dialog=dialog,
        machine=machine,
    )


def checkpoint_row(checkpoint: Checkpoint) -> Bindings:
    return {
        "session": checkpoint.session,
        "run": checkpoint.run,
        "offset": checkpoint.offset,
        "memory": checkpoint.memory,
    }


def read_checkpoint(row: Row) -> Checkpoint:
    return Checkpoint(*row)


def ask_row(ask: Ask, mentioned: int) -> Bindings:
    return {
        "id": ask.id,
        "session": ask.session,
        "project": ask.project,
        "kind": ask.kind,
        "body": _text(ask.body),
        "tool": ask.tool,
        "reference": ask.origin.reference,
        "tool_use": ask.origin.tool_use,
        "request": ask.origin.request,
        "opened_at": microseconds(ask.opened_at),
        "asker": ask.asker,
        "agent": ask.agent,
        "why": ask.why,
        "expires_at": _microseconds_or_none(ask.expires_at),
        "delivered_at": _microseconds_or_none(ask.delivered_at),
        "mentioned": mentioned,
        "machine": ask.machine,
        **settlement_row(ask.settlement),
    }


def settlement_row(settlement: Settlement | None) -> Bindings:
    """A late answer has its own column, so that one conditional update can record it."""
    match settlement:
        case None:
            return {"state": "open", "settlement": None, "late": None}
        case Expired(at=at, late=Answered() as late):
            return {**settlement_row(Expired(at)), "late": settlement_text(late)}
        case _:
            built = settlement_as_json(settlement)
            return {"state": built["state"], "settlement": _text(built), "late": None}


def settlement_text(settlement: Settlement) -> str:
    return _text(settlement_as_json(settlement))


def read_ask(row: Row) -> Ask:
    (identity, session, project, kind, body, tool, reference, tool_use, request, opened) = row[:10]
    (asker, agent, why, expires, settlement, late, delivered, machine) = row[10:]
    return Ask(
        id=identity,
        session=session,
        project=project,
        body=read_body(kind, body),
        tool=tool,
        origin=Origin(reference, tool_use, request),
        opened_at=read_time(opened),
        asker=asker,
        agent=agent,
        why=why,
        expires_at=_time_or_none(expires),
        settlement=read_settled(kind, settlement, late) if settlement else None,
        delivered_at=_time_or_none(delivered),
        machine=machine,
    )


def read_settled(kind: str, settlement: str, late: str | None) -> Settlement:
    """A settlement from its two columns."""
    ended = read_settlement(kind, settlement)
    answered = read_settlement(kind, late) if late else None
    if isinstance(ended, Expired) and isinstance(answered, Answered):
        return Expired(ended.at, answered)
    return ended


def say_row(say: Say, mentioned: int) -> Bindings:
    return {
        "id": say.id,
        "session": say.session,
        "content": _text(say.content),
        "by": _text(say.by),
        "source": say.source,
        "at": microseconds(say.at),
        "taken_at": _microseconds_or_none(say.taken_at),
        "mentioned": mentioned,
    }


def read_say(row: Row) -> Say:
    identity, session, content, by, source, at, taken_at = row
    content = _WORDS.decode(content)
    return Say(identity, session, content, _ACTOR.decode(by), source, read_time(at), _time_or_none(taken_at))


def rule_row(rule: Rule) -> Bindings:
    return {"id": rule.id, "rule": _text(rule)}


def read_rule(row: Row) -> Rule:
    return _RULE.decode(row[0])


def trust_row(trust: DirectoryTrust) -> Bindings:
    return {"machine": trust.machine, "directory": trust.directory, "trust": _text(trust)}


def read_trust(row: Row) -> DirectoryTrust:
    return _TRUST.decode(row[0])


def project_row(project: Project) -> Bindings:
    return {
        "id": project.id,
        "name": project.name,
        "options": _text(project.options),
        "created_at": _microseconds_or_none(project.created_at),
    }


def read_project(row: Row) -> Project:
    identity, name, path, options, created, elsewhere = row
    places = _PLACES.decode(elsewhere)
    return Project(identity, name, path, _OPTIONS.decode(options), _time_or_none(created), places)


def instruction_row(wanted: Instruction, mentioned: int) -> Bindings:
    return {
        "id": wanted.id,
        "machine": wanted.machine,
        "session": wanted.session,
        "kind": wanted.kind,
        "value": wanted.value,
        "words": None if wanted.words is None else _text(wanted.words),
        "by": _text(wanted.by),
        "source": wanted.source,
        "at": microseconds(wanted.at),
        "state": wanted.state,
        "reason": wanted.reason,
        "result": wanted.result,
        "epoch": wanted.epoch,
        "settled_at": _microseconds_or_none(wanted.settled_at),
        "mentioned": mentioned,
    }


def read_instruction(row: Row) -> Instruction:
    (identity, machine, session, kind, value, words, by, source, at, state, reason, result, epoch, settled) = row
    return Instruction(
        id=identity,
        machine=machine,
        session=session,
        kind=kind,
        by=_ACTOR.decode(by),
        source=source,
        at=read_time(at),
        value=value,
        words=None if words is None else _WORDS.decode(words),
        state=state,
        reason=reason,
        result=result,
        epoch=epoch,
        settled_at=_time_or_none(settled),
    )


def machine_row(machine: Machine) -> Bindings:
    return {
        "id": machine.id,
        "name": machine.name,
        "version": machine.version,
        "limit": machine.limit,
        "started_at": microseconds(machine.started_at),
        "seen_at": microseconds(machine.seen_at),
        "epoch": machine.epoch,
        "away_since": _microseconds_or_none(machine.away_since),
    }


def read_machine(row: Row) -> Machine:
    identity, name, version, limit, started, seen, epoch, away = row
    return Machine(identity, name, version, limit, read_time(started), read_time(seen), epoch, _time_or_none(away))


def token_row(token: Token) -> Bindings:
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "hash": token.hash,
        "created_at": microseconds(token.created_at),
        "expires_at": _microseconds_or_none(token.expires_at),
        "last_used_at": _microseconds_or_none(token.last_used_at),
        "revoked_at": _microseconds_or_none(token.revoked_at),
        "kind": token.kind,
        "project": token.project,
    }


def read_token(row: Row) -> Token:
    identity, name, role, hash_of_secret, created, expires, used, revoked, kind, project = row
    return Token(
        id=identity,
        name=name,
        role=role,
        hash=hash_of_secret,
        created_at=read_time(created),
        expires_at=_time_or_none(expires),
        last_used_at=_time_or_none(used),
        revoked_at=_time_or_none(revoked),
        kind=kind,
        project=project,
    )


def entry_row(entry: Entry) -> Bindings:
    return {
        "at": microseconds(entry.at),
        "what": entry.what,
        "by": _text(entry.by),
        "name": entry.by.name,
        "source": entry.source,
        "ask": entry.ask,
        "session": entry.session,
        "digest": entry.digest,
        "rule": entry.rule,
        "detail": entries.detail_as_text(entry),
    }


def read_entry(row: Row) -> Entry:
    number, at, what, by, source, ask, session, digest, rule, detail = row
    by = _ACTOR.decode(by)
    return Entry(read_time(at), what, by, source, ask, session, digest, rule, json.decode(detail), number)


def read_item(row: Row) -> Item:
    cursor, session, at, content = row
    return Item(cursor, session, read_time(at), content)


def _text(value: object) -> str:
    return json.encode(value).decode()


def read_time(value: int) -> datetime:
    """A time from a column."""
    return _EPOCH + value * _MICROSECOND


def _microseconds_or_none(at: datetime | None) -> int | None:
    return None if at is None else microseconds(at)


def _time_or_none(value: int | None) -> datetime | None:
    return None if value is None else read_time(value)
