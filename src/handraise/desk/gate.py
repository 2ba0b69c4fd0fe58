"""Lets in who belongs: tokens, one-time codes, and the browsers that used one. Keeps hashes only."""

import asyncio
import hmac
from collections.abc import Callable
from datetime import datetime, timedelta
from secrets import token_urlsafe

from msgspec import Struct
from msgspec.structs import replace

from handraise.desk.interface import NotFound
from handraise.model import ids
from handraise.model.actors import Actor, Person
from handraise.model.audit import Entry, What
from handraise.model.tokens import Role, Token, hash_of
from handraise.store.changes import Record, SaveToken, SpendCode
from handraise.store.interface import Store

CODE_LIFE = timedelta(minutes=10)
BROWSER_LIFE = timedelta(days=365)
_TOUCH = timedelta(minutes=1)
"""How exact `last_used_at` is: not every request is worth a write."""


class Visitor(Struct, frozen=True):
    """Somebody who was let in. `left` is set when they no longer may be here: open streams end with it."""

    person: Person
    role: Role
    token: str | None = None
    left: asyncio.Event | None = None


class Made(Struct, frozen=True):
    """A token, and its secret: shown once, kept nowhere."""

    token: Token
    secret: str


class Gate:
    """Belongs to one event loop."""

    def __init__(self, store: Store, clock: Callable[[], datetime], entropy: Callable[[int], bytes]) -> None:
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._left: dict[str, asyncio.Event] = {}

    async def admit(self, secret: str) -> Visitor | None:
        """Who has this secret; None for nobody, or nobody any more."""
        now = self._clock()
        hashed = hash_of(secret)
        token = await self._store.token(hashed)
        if token is None or not hmac.compare_digest(token.hash, hashed):
            return None
        if token.kind == "code" or not token.is_good(now):
            return None
        if token.last_used_at is None or now - token.last_used_at > _TOUCH:
            await self._store.apply([SaveToken(replace(token, last_used_at=now))])
        left = self._left.setdefault(token.id, asyncio.Event())
        return Visitor(Person(token.name), token.role, token.id, left)

    async def make(self, name: str, role: Role, by: Person, source: str, *, expires_at: datetime | None = None) -> Made:
        """A token for a script, an agent or another device."""
        made = self._new(name, role, "token", expires_at)
        await self._keep(made.token, "token made", by, source)
        return made

    async def make_code(self, name: str, role: Role, by: Actor, source: str) -> str:
        """A code that logs one browser in, once, within ten minutes."""
        made = self._new(name, role, "code", self._clock() + CODE_LIFE)
        await self._keep(made.token, "token made", by, source)
        return made.secret

    async def login(self, secret: str) -> Made | None:
        """Lets a browser in by a one-time code or a token; None if neither is good."""
        now = self._clock()
        token = await self._store.token(hash_of(secret))
        if token is None or not token.is_good(now) or token.role == "agent":
            return None
        if token.kind == "code":
            spent = await self._store.apply([SpendCode(token.id, now)])
            if not spent.took[0]:
                return None
        expires = token.expires_at if token.kind == "token" and token.expires_at else now + BROWSER_LIFE
        made = self._new(token.name, token.role, "browser", expires)
        await self._keep(made.token, "login", Person(token.name), "web")
        return made

    async def revoke(self, token_id: str, by: Person, source: str) -> None:
        """At once: what is open by this token ends too."""
        for token in await self._store.tokens():
            if token.id == token_id:
                await self._keep(replace(token, revoked_at=self._clock()), "token revoked", by, source)
                self._left.setdefault(token_id, asyncio.Event()).set()
                return
        raise NotFound(f"There is no token {token_id}.")

    async def tokens(self) -> list[Token]:
        """The good ones, oldest first; codes are not among them."""
        now = self._clock()
        return [token for token in await self._store.tokens() if token.kind != "code" and token.is_good(now)]

    async def refused(self, what: str, by: Actor, source: str, ask: str | None = None) -> None:
        """Somebody tried what they may not: kept in the audit."""
        entry = Entry(self._clock(), "refused", by, source, ask=ask, detail={"tried": what})
        await self._store.apply([Record(entry)])

    def _new(self, name: str, role: Role, kind: str, expires_at: datetime | None) -> Made:
        secret = token_urlsafe(32)
        token = Token(
            id=ids.spell("t", self._entropy(ids.ENTROPY)),
            name=name,
            role=role,
            hash=hash_of(secret),
            created_at=self._clock(),
            expires_at=expires_at,
            kind=kind,  # type: ignore[arg-type]
        )
        return Made(token, secret)

    async def _keep(self, token: Token, what: What, by: Actor, source: str) -> None:
        entry = Entry(
            self._clock(), what, by, source, detail={"token": token.id, "name": token.name, "role": token.role}
        )
        await self._store.apply([SaveToken(token), Record(entry)])
