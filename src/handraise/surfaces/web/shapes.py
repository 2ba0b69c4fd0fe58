"""The shapes of what goes in and out over HTTP. The OpenAPI document is made of them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct, field

from handraise.model.actors import Actor
from handraise.model.audit import Entry
from handraise.model.devices import NoticeKind
from handraise.model.projects import Options, Project
from handraise.model.rules import Decision, Rule
from handraise.model.sessions import Ended, Phase
from handraise.model.tokens import Role
from handraise.surfaces.web.ask_shapes import AnAsk, ASettlement

Moment = Annotated[datetime, Meta(tz=True)]
"""With a time zone: without one nobody knows when it is."""
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class Image(Struct, frozen=True, forbid_unknown_fields=True):
    """A picture to go along with what is said."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str
    """Base64."""


class TextBlock(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """A piece of text."""

    text: str


class Source(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="base64"):
    """What a block carries, as Base64."""

    media_type: str
    data: str


class ImageBlock(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="image"):
    """A picture."""

    source: Source


class DocumentBlock(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="document"):
    """A document, such as a PDF."""

    source: Source


Blocks = tuple[TextBlock | ImageBlock | DocumentBlock, ...]


class NewSession(Struct, frozen=True, forbid_unknown_fields=True):
    """What a new session is to be; with `resume` or `fork`, what it goes on from."""

    say: str | Blocks
    project: str | None = None
    mode: Name | None = None
    model: Name | None = None
    title: str | None = None
    resume: str | None = None
    fork: str | None = None
    images: tuple[Image, ...] = ()


class Session(Struct, frozen=True):
    """A session; `state` is what a person would say of it."""

    id: str
    project: str | None
    directory: str
    claude_id: str
    title: str
    state: str
    phase: Phase
    mode: str
    model: str | None
    cost_usd: float
    open_asks: int
    run: int
    created_at: datetime
    changed_at: datetime
    ended: Ended | None
    stuck_since: datetime | None
    forked_from: str | None
    last_line: str
    """What Claude said or did last; empty, if it has not done anything."""


class Sessions(Struct, frozen=True):
    """A page. `cursor` is the place in the feed that it was read at."""

    sessions: list[Session]
    next: str | None
    cursor: int


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """Something to say: text, pictures, or blocks as the Messages API takes them. `id` makes it idempotent."""

    text: str | None = None
    content: Blocks | None = None
    images: tuple[Image, ...] = ()
    id: UUID | None = None


class MaybeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Perhaps something to say."""

    say: str | Blocks | None = None
    images: tuple[Image, ...] = ()


class Said(Struct, frozen=True):
    """It is stored, and on its way."""

    say: str
    session: str
    by: Actor
    source: str
    at: datetime


class Mode(Struct, frozen=True, forbid_unknown_fields=True):
    """A permission mode, by Claude's own name for it."""

    mode: Name


class Model(Struct, frozen=True, forbid_unknown_fields=True):
    """A model, by Claude's own name for it."""

    model: Name


class Title(Struct, frozen=True, forbid_unknown_fields=True):
    """What a session is called."""

    title: str


class Done(Struct, frozen=True):
    """It is done, or on its way."""

    done: Literal[True] = True


class Asks(Struct, frozen=True):
    """A page; `next` goes on from here. `cursor` is the place in the feed that it was read at."""

    asks: list[AnAsk]
    next: str | None
    cursor: int


class Items(Struct, frozen=True):
    """Entries of a timeline, each with `cursor`, `session`, `at`, `type` and what belongs to the type."""

    items: list[dict[str, Any]]
    next: int | None
    cursor: int


class Projects(Struct, frozen=True):
    """All of them, by name."""

    projects: list[Project]


class NewProject(Struct, frozen=True, forbid_unknown_fields=True):
    """A directory, perhaps with a name and options."""

    path: str
    name: str | None = None
    options: Options = Options()


class ProjectChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be another one; what is left out stays."""

    name: str | None = None
    options: Options | None = None


class Rules(Struct, frozen=True):
    """In the order in which they are tried."""

    rules: list[Rule]


class NewRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A standing answer."""

    decision: Decision
    tool: str | None = None
    command: str | None = None
    path: str | None = None
    server: str | None = None
    project: str | None = None
    session: str | None = None
    mode: str | None = None
    message: str = ""
    expires_at: Moment | None = None


class Token(Struct, frozen=True):
    """A token, without what makes it one."""

    id: str
    name: str
    role: Role
    kind: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    project: str | None


class Tokens(Struct, frozen=True):
    """Oldest first."""

    tokens: list[Token]


class NewToken(Struct, frozen=True, forbid_unknown_fields=True):
    """A name, a role, and perhaps an end; for an agent, perhaps the project that it works in."""

    name: Name
    role: Role
    expires_at: Moment | None = None
    project: str | None = None


class MadeToken(Struct, frozen=True):
    """The secret is shown this once."""

    token: Token
    secret: str


class Link(Struct, frozen=True):
    """A link that logs one browser in, once."""

    link: str


class Login(Struct, frozen=True, forbid_unknown_fields=True):
    """A token, or a one-time code."""

    secret: str


class Push(Struct, frozen=True):
    """Whether devices are told at all, and the key that browsers bind themselves to (`applicationServerKey`)."""

    enabled: bool
    key: str | None


class DeviceKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """As `PushSubscription.toJSON()` has them, in base64url."""

    p256dh: Annotated[str, Meta(max_length=200)]
    auth: Annotated[str, Meta(max_length=100)]


class NewDevice(Struct, frozen=True, forbid_unknown_fields=True):
    """A browser that is to be told; `replaces` is the endpoint that it had, `made_for` the key it has of the hub."""

    endpoint: Annotated[str, Meta(max_length=2048)]
    keys: DeviceKeys
    label: Name
    kinds: tuple[NoticeKind, ...] | None = None
    """What it is told of; without it everything, or what it was told of before."""
    made_for: Annotated[str, Meta(max_length=200)] | None = None
    replaces: Annotated[str, Meta(max_length=2048)] | None = None


class Device(Struct, frozen=True):
    """A browser that is told; `trouble` is why the last message could not be sent."""

    id: str
    label: str
    kinds: tuple[NoticeKind, ...]
    created_at: datetime
    last_sent_at: datetime | None
    trouble: str | None


class Devices(Struct, frozen=True):
    """Your own, oldest first."""

    devices: list[Device]


class Tried(Struct, frozen=True):
    """Whether its push service took it, and why not."""

    sent: bool
    trouble: str | None


class ClosedNotice(Struct, frozen=True, forbid_unknown_fields=True):
    """The ask that a device no longer shows."""

    ask: Annotated[str, Meta(max_length=200)]


class Audit(Struct, frozen=True):
    """In order; `next` goes on from here."""

    entries: list[Entry]
    next: int | None


class Health(Struct, frozen=True):
    """The hub is up."""

    ok: bool
    version: str


class Me(Struct, frozen=True):
    """Who the hub takes the caller for."""

    name: str
    role: Role
    source: str


class Problem(Struct, frozen=True, omit_defaults=True):
    """What went wrong: a code for programs, a sentence for people."""

    code: str
    message: str
    settlement: ASettlement | None = None
    ask: AnAsk | None = None


class Failed(Struct, frozen=True):
    """Every error has this shape."""

    error: Problem


class Reset(Struct, frozen=True):
    """The place in the feed is gone: read a snapshot, and follow from its cursor."""

    kind: Literal["reset"] = field(default="reset")
    oldest: int = 0
    newest: int = 0
