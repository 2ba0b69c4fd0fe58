"""Small values of every noun, for tests of stores and feeds."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from handraise.model.actors import Actor, Person
from handraise.model.answers import Allow, Answer, Deny, Trusting
from handraise.model.asks import Answered, Ask, Body, Expired, Origin, Permission, Withdrawn
from handraise.model.audit import Entry, What
from handraise.model.items import Item, Text
from handraise.model.projects import Project
from handraise.model.sessions import Checkpoint, Phase, Say, Session
from handraise.model.tokens import Token, hash_of
from handraise.model.trust import TrustLevel
from handraise.store.changes import PublishItems

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
ANA = Person("ana")


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def a_session(identity: str = "s_1", *, phase: Phase = "idle", created_at: datetime = NOON) -> Session:
    return Session(identity, None, "/work/app", f"claude-{identity}", "Fix it", created_at, created_at, phase)


def an_ask(
    identity: str = "a_1",
    *,
    session: str | None = "s_1",
    reference: str | None = None,
    agent: str | None = None,
    body: Body | None = None,
) -> Ask:
    return Ask(
        id=identity,
        session=session,
        project=None,
        body=body or Permission("Bash", {"command": "ls"}),
        tool="Bash",
        origin=Origin(reference or f"request-{identity}"),
        opened_at=NOON,
        asker="agent" if session is None else "session",
        agent=agent,
    )


def answered(answer: Answer | None = None, *, source: str = "web") -> Answered:
    return Answered(answer or Allow(), ANA, source, later(1))


def trusted(level: TrustLevel, by: Actor = ANA) -> Answered:
    return Answered(Trusting(level), by, "web", later(3))


def denied() -> Answered:
    return Answered(Deny("no"), Person("ben"), "telegram", later(2))


def expired() -> Expired:
    return Expired(later(30))


def withdrawn() -> Withdrawn:
    return Withdrawn("the session was stopped", later(3))


def a_say(identity: str = "y_1", *, session: str = "s_1", text: str = "go on") -> Say:
    return Say(identity, session, text, ANA, "web", NOON)


def a_text(text: str = "hello", session: str | None = "s_1") -> PublishItems:
    return PublishItems(session, NOON, Text(text, "m_1"))


def a_checkpoint(offset: int, *, run: int = 1, session: str = "s_1") -> Checkpoint:
    return Checkpoint(session, run, offset, b"\x00memory")


def a_project(identity: str = "p_1", name: str = "app", path: str = "/work/app") -> Project:
    return replace(Project(identity, name, path), created_at=NOON)


def a_token(identity: str = "t_1", *, secret: str | None = None, created_at: datetime = NOON) -> Token:
    return Token(identity, "laptop", "approver", hash_of(secret or identity), created_at)


def a_code(identity: str = "t_1", *, expires_at: datetime | None = None) -> Token:
    return replace(a_token(identity), kind="code", expires_at=expires_at)


def an_entry(what: What = "login", *, by: Actor = ANA, session: str | None = None, ask: str | None = None) -> Entry:
    return Entry(NOON, what, by, "web", ask, session)


def cursors_of(items: Sequence[Item]) -> list[int]:
    return [item.cursor for item in items]


def texts_of(items: Sequence[Item]) -> list[str]:
    return [content.text for content in (item.read() for item in items) if isinstance(content, Text)]
