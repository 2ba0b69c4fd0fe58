"""The audit entry of a settlement and what an answer grants, the same for every store."""

from typing import Any, assert_never

from msgspec import json

from handraise.model.actors import Actor, ByRule, Person, TheHub
from handraise.model.answers import Trusting, answer_as_json
from handraise.model.asks import Answered, Ask, Expired, Settlement, Withdrawn, digest_of_trust
from handraise.model.audit import Entry, What
from handraise.model.trust import DirectoryTrust, Trust

FROM_HUB = "hub"


def trust_in(ask: Ask, settlement: Settlement) -> DirectoryTrust | None:
    """A person's decision about a directory; rules and deadlines never decide that."""
    match ask.body, settlement:
        case Trust() as body, Answered(answer=Trusting(level), by=Person(name=name), source=source, at=at):
            return DirectoryTrust(body.directory, level, digest_of_trust(body), name, source, at, ask.id, ask.machine)
        case _:
            return None


def settled(ask: Ask, settlement: Settlement) -> Entry:
    """How the ask ended."""
    match settlement:
        case Answered():
            return _answered(ask, "answered", settlement)
        case Expired(at=at):
            return Entry(at, "expired", TheHub(), FROM_HUB, ask.id, ask.session, ask.digest, detail=_detail(ask))
        case Withdrawn(reason=reason, at=at):
            detail = _detail(ask, reason=reason)
            return Entry(at, "withdrawn", TheHub(), FROM_HUB, ask.id, ask.session, ask.digest, detail=detail)
        case _:
            assert_never(settlement)


def late(ask: Ask, answered: Answered) -> Entry:
    """Who answered after the ask had expired."""
    return _answered(ask, "late answer", answered)


def detail_as_text(entry: Entry) -> str:
    """The entry's detail as it is stored."""
    return json.encode(entry.detail).decode()


def _answered(ask: Ask, what: What, answered: Answered) -> Entry:
    return Entry(
        answered.at,
        what,
        answered.by,
        answered.source,
        ask.id,
        ask.session,
        ask.digest,
        _rule(answered.by),
        _detail(ask, answer=answer_as_json(answered.answer)),
    )


def _rule(by: Actor) -> str | None:
    return by.rule if isinstance(by, ByRule) else None


def _detail(ask: Ask, **more: object) -> dict[str, Any]:
    return {"kind": ask.kind, "tool": ask.tool, **more}
