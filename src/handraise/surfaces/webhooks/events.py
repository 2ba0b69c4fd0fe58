"""What an event contains, and which webhooks get it. Pure.

Without content, an event has no text that Claude, a tool or an external agent wrote: IDs, kinds, states and names that
people gave.
"""

from datetime import datetime
from hashlib import sha256
from typing import Any, assert_never
from urllib.parse import quote

import msgspec
from msgspec import Struct

from handraise.model.asks import Ask, ask_as_json, ask_from_json
from handraise.model.items import (
    AskDelivered,
    AskOpened,
    AskSettled,
    Item,
    NotificationFailed,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from handraise.model.projects import Project
from handraise.model.sessions import Session
from handraise.model.webhooks import TEST, EventName, Webhook, WebhookDelivery

LARGEST = 64 * 1024
"""Bytes of one event. Longer texts in its content are cut."""
_CUTS = (8000, 1000, 100)
"""How many characters of each text stay, until it fits."""
_TOOL = 100

Announced = AskOpened | AskSettled | AskDelivered | SessionStarted | SessionEnded | TurnEnded | NotificationFailed
"""The contents of items that are events."""
# The type comes first in an item, so that other items needn't be decoded.
_PREFIXES = tuple(
    b'{"type":"' + name + b'"'
    for name in (
        b"ask.opened",
        b"ask.settled",
        b"ask.delivered",
        b"session.started",
        b"session.ended",
        b"turn.ended",
        b"notification.failed",
    )
)


class EventFacts(Struct, frozen=True):
    """What an item refers to, as far as it still exists."""

    ask: Ask | None = None
    session: Session | None = None
    project: Project | None = None


class WebhookEvent(Struct, frozen=True):
    """Something that happened. `content` is only for webhooks that want it."""

    name: EventName
    at: datetime
    cursor: int
    project: str | None
    about: str
    fields: dict[str, Any]
    content: dict[str, Any]
    key: str
    """Identifies the item, also after a database was restored."""


def announced_in(item: Item) -> Announced | None:
    """The content of an item, if it is an event."""
    if not item.content.startswith(_PREFIXES):
        return None
    content = item.read()
    return content if isinstance(content, Announced) else None


def ask_in(content: Announced) -> str | None:
    """The ID of the ask that it refers to and doesn't contain."""
    match content:
        case AskSettled(ask=ask) | AskDelivered(ask=ask) | NotificationFailed(ask=ask):
            return ask or None
        case _:
            return None


def facts_in(content: Announced) -> EventFacts:
    """The ask, if the content has it."""
    return EventFacts(ask_from_json(content.ask)) if isinstance(content, AskOpened) else EventFacts()


def project_in(content: Announced, facts: EventFacts) -> str | None:
    """The ID of the project that it belongs to."""
    if facts.ask is not None:
        return facts.ask.project
    if isinstance(content, SessionStarted):
        return content.project
    return facts.session.project if facts.session is not None else None


def event_of(item: Item, content: Announced, facts: EventFacts, base: str) -> WebhookEvent:
    """The event. `base` is the address of the page, for links."""
    ask, project = facts.ask, project_in(content, facts)
    session = ask.session if ask is not None else item.session
    named = facts.project.name if facts.project is not None else None
    common: dict[str, Any] = {
        "project": {"id": project, "name": named} if project is not None else None,
        "session": {"id": session} if session is not None else None,
    }
    name, fields, texts = _said(content, facts)
    about = ask.id if ask is not None else ask_in(content) or session or ""
    link = _link(base, session, about if about != session else "")
    digest = sha256(f"{item.cursor} {item.at.isoformat()} ".encode() + item.content).hexdigest()
    return WebhookEvent(name, item.at, item.cursor, project, about, {**fields, **common, "link": link}, texts, digest)


def is_wanted(webhook: Webhook, event: WebhookEvent) -> bool:
    """Whether a webhook gets this event."""
    return (
        webhook.enabled
        and event.cursor > webhook.since
        and (not webhook.events or event.name in webhook.events)
        and (not webhook.projects or event.project in webhook.projects)
    )


def delivery_of(event: WebhookEvent, webhook: Webhook, now: datetime) -> WebhookDelivery:
    """The event for this webhook: the same one again has the same ID."""
    identity = _identity(f"{webhook.id} {event.key}")
    body = _body(event.name, event.at, event.fields, event.content if webhook.content else None)
    return WebhookDelivery(identity, event.name, event.at, body.decode(), now, about=event.about)


def trial_delivery(webhook: Webhook, base: str, entropy: bytes, now: datetime) -> WebhookDelivery:
    """What *Test* sends. It isn't sent by itself."""
    fields = {"webhook": {"id": webhook.id, "name": webhook.name}, "link": f"{base}/admin/webhooks"}
    body = _body(TEST, now, fields, None)
    return WebhookDelivery(_identity(f"{webhook.id} {entropy.hex()}"), TEST, now, body.decode(), None, state="failed")


def _said(content: Announced, facts: EventFacts) -> tuple[EventName, dict[str, Any], dict[str, Any]]:
    """Its name, its fields, and its content."""
    match content:
        case AskOpened():
            return "ask.opened", _ask(facts.ask, "", "open"), _texts(facts.ask)
        case AskSettled(ask=ask, settlement=settlement):
            return _settled(ask, settlement, facts)
        case AskDelivered(ask=ask):
            return "ask.delivered", _ask(facts.ask, ask), _texts(facts.ask)
        case SessionStarted(run=run, terminal=terminal):
            described = {"title": content.title, "directory": content.directory, "mode": content.mode}
            fields = {"run": run, "in_terminal": bool(terminal)}
            return "session.started", fields, {**described, "model": content.model, **_title(facts)}
        case SessionEnded(how=how, alarm=alarm):
            why = {"reason": content.reason, "by": content.by}
            return "session.ended", {"state": how, "alarm": alarm}, {**why, **_title(facts)}
        case TurnEnded():
            state = "interrupted" if content.interrupted else "failed" if content.is_error else "done"
            numbers = {"cost_usd": content.cost_usd, "duration_ms": content.duration_ms, "denials": content.denials}
            texts: dict[str, Any] = {"result": content.result, "error": content.error, "usage": content.usage}
            return "turn.ended", {"turn": content.turn, "state": state, **numbers}, {**texts, **_title(facts)}
        case NotificationFailed():
            notification = {"channel": content.channel, "kind": content.kind, "person": content.person}
            about = _ask(facts.ask, content.ask) if content.ask else {}
            return "notification.failed", {"notification": {**notification, "reason": content.reason}, **about}, {}
        case _:
            assert_never(content)


def _settled(
    identity: str, settlement: dict[str, Any], facts: EventFacts
) -> tuple[EventName, dict[str, Any], dict[str, Any]]:
    """An expired ask has an event of its own; a late answer to it settles it after all."""
    state = str(settlement.get("state", ""))
    is_late = bool(settlement.get("late"))
    name: EventName = "ask.expired" if state == "expired" and not is_late else "ask.settled"
    fields = _ask(facts.ask, identity, state)
    if is_late:
        fields["late"] = True
    return name, fields, {**_texts(facts.ask), "settlement": settlement}


def _ask(ask: Ask | None, identity: str, state: str = "") -> dict[str, Any]:
    """An ask without any text. One that was removed has only its ID."""
    if ask is None:
        return {"ask": {"id": identity, "state": state or None}}
    shown = {"id": ask.id, "kind": ask.kind, "tool": ask.tool[:_TOOL], "state": state or ask.state, "asker": ask.asker}
    return {"ask": {**shown, "opened_at": ask.opened_at, "expires_at": ask.expires_at}}


def _texts(ask: Ask | None) -> dict[str, Any]:
    if ask is None:
        return {}
    shown = ask_as_json(ask)
    return {name: shown[name] for name in ("body", "why", "agent", "digest", "settlement")}


def _title(facts: EventFacts) -> dict[str, Any]:
    return {"title": facts.session.title} if facts.session is not None else {}


def _link(base: str, session: str | None, ask: str) -> str:
    page = f"{base}/sessions/{quote(session, safe='')}" if session is not None else f"{base}/"
    return f"{page}#card-{quote(ask, safe='')}" if ask else page


def _body(name: str, at: datetime, fields: dict[str, Any], content: dict[str, Any] | None) -> bytes:
    """As the specification recommends: `type`, `timestamp` and `data`."""
    whole = _encoded(name, at, fields if content is None else {**fields, "content": content})
    if len(whole) <= LARGEST or content is None:
        return whole
    for longest in _CUTS:
        whole = _encoded(name, at, {**fields, "content": _cut(content, longest), "cut": True})
        if len(whole) <= LARGEST:
            return whole
    return _encoded(name, at, {**fields, "content": None, "cut": True})


def _encoded(name: str, at: datetime, data: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": name, "timestamp": at, "data": data})


def _cut(value: Any, longest: int) -> Any:  # noqa: ANN401 (any JSON)
    match value:
        case str():
            return value if len(value) <= longest else f"{value[:longest]}…"
        case dict():
            return {key: _cut(each, longest) for key, each in value.items()}
        case list() | tuple():
            return [_cut(each, longest) for each in value]
        case _:
            return value


def _identity(of: str) -> str:
    return f"msg_{sha256(of.encode()).hexdigest()[:26]}"
