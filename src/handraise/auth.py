"""Authenticates: tokens, one-time codes, and the browsers that used one. Stores hashes only."""

import asyncio
import hmac
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Generic, Literal, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from handraise.desk.interface import Invalid, NotFound
from handraise.model import ids
from handraise.model.actors import Actor, Person
from handraise.model.audit import Entry, What
from handraise.model.names import BadName, check_name
from handraise.model.tokens import Role, Token, hash_of
from handraise.store.changes import PruneTokens, Record, SaveToken, SpendCode
from handraise.store.interface import Store, StoreError
from handraise.texts import t

T = TypeVar("T")

FIRST = timedelta(minutes=1)
LONGEST = timedelta(hours=1)
CODE_LIFE = timedelta(minutes=10)
BROWSER_LIFE = timedelta(days=365)
"""A page that was left open for months can still answer."""
CODES_KEPT = timedelta(days=1)
TOKENS_KEPT = timedelta(days=90)
"""How long revoked and expired tokens are still listed."""
_TOUCH = timedelta(minutes=1)
"""How exact `last_used_at` is: not every request is worth a write."""
_TIDY = timedelta(hours=1)
_LOOK = 30.0
CHECK = 1.0
"""How often the tokens of open requests are looked up, if another hub may revoke them."""


class _Row(Struct, Generic[T]):
    latest: T
    until: datetime
    span: timedelta = FIRST
    unreported: int = 0


class Repeats(Generic[T]):
    """Holds a row for each key of the last hour; callers use few keys."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row[T]] = {}

    def meet(self, key: str, event: T, now: datetime) -> bool:
        """Whether to report this one. If not, it is counted and reported with the others."""
        row = self._rows.get(key)
        if row is None:
            self._rows[key] = _Row(event, now + FIRST)
            return True
        row.latest = event
        row.unreported += 1
        return False

    def due(self, now: datetime) -> list[tuple[T, int]]:
        """The latest event and the count for each key that is due. Quiet keys are removed."""
        repeated: list[tuple[T, int]] = []
        for key, row in list(self._rows.items()):
            if now < row.until:
                continue
            if row.unreported:
                repeated.append((row.latest, row.unreported))
                row.span = min(2 * row.span, LONGEST)
                row.until, row.unreported = now + row.span, 0
            else:
                del self._rows[key]
        return repeated

    def rest(self) -> list[tuple[T, int]]:
        """Everything that was counted and not reported."""
        repeated = [(row.latest, row.unreported) for row in self._rows.values() if row.unreported]
        self._rows.clear()
        return repeated


TokenKind = Literal["token", "browser", "code"]

log = logging.getLogger("handraise.auth")


class Revocation(asyncio.Event):
    """Set when someone's access ends."""

    def __init__(self, entered: Callable[[], None] | None = None) -> None:
        """`entered` is called whenever there is something to end."""
        super().__init__()
        self._stays: set[asyncio.Timeout] = set()
        self._entered = entered

    @property
    def is_awaited(self) -> bool:
        """Whether it would end something."""
        return bool(self._stays) and not self.is_set()

    @contextmanager
    def ending(self, stay: asyncio.Timeout) -> Iterator[None]:
        """Ends the stay, which must be entered too, as soon as this is set."""
        self._stays.add(stay)
        if self._entered is not None:
            self._entered()
        try:
            if self.is_set():
                _end(stay)
            yield
        finally:
            self._stays.discard(stay)

    def set(self) -> None:
        super().set()
        for stay in self._stays:
            _end(stay)


def _end(stay: asyncio.Timeout) -> None:
    if not stay.expired():
        stay.reschedule(asyncio.get_running_loop().time())


class Principal(Struct, frozen=True):
    """An authenticated caller. `left` is set when their access ends, and ends their open requests."""

    person: Person
    role: Role
    token: Token | None = None
    left: Revocation | None = None
    seconds: float | None = None
    """How long their access lasts, if it is limited."""


class IssuedToken(Struct, frozen=True):
    """A token and its secret, which is shown once and never stored."""

    token: Token
    secret: str


class Auth:
    """Belongs to one event loop. While it is entered with `async with`, it removes old tokens.

    If other hubs use the same database, it also looks for tokens that were revoked there, as long as they have open
    requests here.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        *,
        check_every: float = CHECK,
    ) -> None:
        self._store = store
        self._check_every = check_every
        self._entered = asyncio.Event()
        self._clock = clock
        self._entropy = entropy
        self._left: dict[str, Revocation] = {}
        self._refusals: Repeats[Entry] = Repeats()
        self._tidied: datetime | None = None

    async def __aenter__(self) -> Self:
        await self.tidy()
        self._tasks = [asyncio.create_task(self._tidy_regularly())]
        if self._store.shared:
            self._tasks.append(asyncio.create_task(self._check_regularly()))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._record_repeats(self._refusals.rest())
        except StoreError:
            log.exception("could not store how often something was refused")

    async def admit(self, secret: str) -> Principal | None:
        """Who has this secret; None if it is unknown, revoked or expired."""
        now = self._clock()
        hashed = hash_of(secret)
        token = await self._store.token(hashed)
        if token is None or not hmac.compare_digest(token.hash, hashed):
            return None
        if token.kind == "code" or not token.is_good(now):
            return None
        if token.last_used_at is None or now - token.last_used_at > _TOUCH:
            await self._touch(replace(token, last_used_at=now))
        left = self._revocation(token.id)
        return Principal(Person(token.name), token.role, token, left, self.seconds_left(token))

    async def make(
        self,
        name: str,
        role: Role,
        by: Person,
        source: str,
        *,
        expires_at: datetime | None = None,
        project: str | None = None,
    ) -> IssuedToken:
        """A token for a script, an agent or another device; an agent's may be bound to a project, by its id."""
        try:
            made = self._new(check_name(name), role, "token", expires_at, project)
        except BadName as error:
            raise Invalid(str(error)) from error
        await self._keep(made.token, "token made", by, source)
        return made

    async def make_code(self, name: str, role: Role, by: Actor, source: str) -> str:
        """A one-time code that signs one browser in within ten minutes."""
        made = self._new(name, role, "code", self._clock() + CODE_LIFE)
        await self._keep(made.token, "token made", by, source)
        return made.secret

    async def login(self, secret: str, address: str | None = None) -> IssuedToken | None:
        """Signs a browser in with a one-time code or a token; None if it isn't valid.

        A code is exchanged for a token of the browser's own. A pasted token stays itself: revoking it signs out every
        browser that uses it.
        """
        now = self._clock()
        token = await self._store.token(hash_of(secret))
        if token is None or not token.is_good(now) or token.role == "agent":
            return None
        if token.kind != "code":
            await self._keep(token, "login", Person(token.name), "web", address)
            return IssuedToken(token, secret)
        spent = await self._store.apply([SpendCode(token.id, now)])
        if not spent.took[0]:
            return None
        made = self._new(token.name, token.role, "browser", now + BROWSER_LIFE)
        await self._keep(made.token, "login", Person(token.name), "web", address)
        return made

    async def logout(self, principal: Principal, source: str) -> None:
        """Revokes the browser's own token. A pasted token stays valid elsewhere."""
        if principal.token is not None and principal.token.kind == "browser":
            await self.revoke(principal.token.id, principal.person, source)

    async def revoke(self, token_id: str, by: Person, source: str) -> None:
        """Revokes immediately; open requests of the token end, too."""
        for token in await self._store.tokens():
            if token.id == token_id:
                await self._keep(replace(token, revoked_at=self._clock()), "token revoked", by, source)
                self._revocation(token_id).set()
                return
        raise NotFound(t("error.no_token", token=token_id))

    async def tokens(self, *, gone: bool = False) -> list[Token]:
        """Valid tokens, or revoked and expired ones, oldest first; no codes."""
        now = self._clock()
        return [each for each in await self._store.tokens() if each.kind != "code" and each.is_good(now) is not gone]

    def now(self) -> datetime:
        """The time, by this part's own clock."""
        return self._clock()

    def seconds_left(self, token: Token) -> float | None:
        """Seconds until it expires; None if it doesn't."""
        return (token.expires_at - self._clock()).total_seconds() if token.expires_at else None

    async def refused(
        self,
        what: str,
        principal: Principal,
        source: str,
        *,
        ask: str | None = None,
        session: str | None = None,
        address: str | None = None,
    ) -> None:
        """Records in the audit log that someone tried what their role forbids. Repeated attempts are counted."""
        detail = {"tried": what, **_detail(address)}
        entry = Entry(self._clock(), "refused", principal.person, source, ask=ask, session=session, detail=detail)
        if self._refusals.meet(f"{_identity(principal)} {source} {what}", entry, entry.at):
            await self._store.apply([Record(entry)])

    async def tidy(self) -> None:
        """Records repeated attempts, and once an hour removes old tokens."""
        now = self._clock()
        await self._record_repeats(self._refusals.due(now))
        if self._tidied is None or now - self._tidied >= _TIDY:
            await self._store.apply([PruneTokens(now - CODES_KEPT, now - TOKENS_KEPT)])
            self._tidied = now

    async def check(self) -> None:
        """Ends the open requests of tokens that were revoked through another hub, or are gone."""
        open_here = [token for token, left in self._left.items() if left.is_awaited]
        if open_here:
            now = self._clock()
            good = {token.id for token in await self._store.tokens(open_here) if token.is_good(now)}
            for token in open_here:
                if token not in good:
                    self._left[token].set()

    def _revocation(self, token: str) -> Revocation:
        found = self._left.get(token)
        if found is None:
            found = self._left[token] = Revocation(self._entered.set if self._store.shared else None)
        return found

    async def _check_regularly(self) -> None:
        """Only while there are open requests."""
        while True:
            if not any(left.is_awaited for left in self._left.values()):
                self._entered.clear()
                await self._entered.wait()
            await asyncio.sleep(self._check_every)
            try:
                await self.check()
            except StoreError as error:
                # The database is away: nothing new can be read with the token, either. It is looked up again.
                log.warning("could not look up the tokens of open requests: %s", type(error).__name__)

    async def _touch(self, used: Token) -> None:
        """A full disk must not stop people from reading."""
        try:
            await self._store.apply([SaveToken(used)])
        except StoreError:
            log.exception("could not store the last use of a token")

    async def _tidy_regularly(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            try:
                await self.tidy()
            except StoreError:
                log.exception("could not remove old tokens; will retry")

    async def _record_repeats(self, refusals: list[tuple[Entry, int]]) -> None:
        if refusals:
            counted = [replace(entry, detail={**entry.detail, "times": times}) for entry, times in refusals]
            await self._store.apply([Record(entry) for entry in counted])

    async def note(self, what: What, by: Actor, source: str, detail: dict[str, str]) -> None:
        """Records something about access or devices in the audit log."""
        await self._store.apply([Record(Entry(self._clock(), what, by, source, detail=detail))])

    def _new(
        self, name: str, role: Role, kind: TokenKind, expires_at: datetime | None, project: str | None = None
    ) -> IssuedToken:
        secret = token_urlsafe(32)
        token = Token(
            id=ids.spell("t", self._entropy(ids.ENTROPY)),
            name=name,
            role=role,
            hash=hash_of(secret),
            created_at=self._clock(),
            expires_at=expires_at,
            kind=kind,
            project=project,
        )
        return IssuedToken(token, secret)

    async def _keep(self, token: Token, what: What, by: Actor, source: str, address: str | None = None) -> None:
        detail = {"token": token.id, "name": token.name, "role": token.role, **_detail(address)}
        entry = Entry(self._clock(), what, by, source, detail=detail)
        await self._store.apply([SaveToken(token), Record(entry)])


def _detail(address: str | None) -> dict[str, str]:
    return {} if address is None else {"address": address}


def _identity(principal: Principal) -> str:
    """The same for every attempt by one caller: Claude's tools are a new process each time."""
    if principal.token is not None:
        return principal.token.id
    return principal.role if principal.role == "agent" else principal.person.name
