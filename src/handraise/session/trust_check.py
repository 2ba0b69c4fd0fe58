"""Whether a session may start, and what it may use of its directory: a decision, or an ask that it waits for."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from handraise.claude import brought, repository
from handraise.inbox.inbox import Inbox
from handraise.model import ids
from handraise.model.asks import Ask, Expired, Origin, digest_of_trust
from handraise.model.items import Notice
from handraise.model.projects import Options
from handraise.model.sessions import Session
from handraise.model.trust import DirectoryTrust, Trust
from handraise.present.evidence import brought_in_words
from handraise.session import surroundings
from handraise.session.launching import StartContext
from handraise.store.changes import Change, DeliverAsk, PublishItems
from handraise.store.interface import Store
from handraise.store.surrogates import mended
from handraise.texts import t

TOOL = "Trust"


class TrustCheck:
    """Asks people about a directory before the first session starts there, and whenever its files change."""

    def __init__(
        self,
        store: Store,
        inbox: Inbox,
        environment: Mapping[str, str],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
    ) -> None:
        self._store = store
        self._inbox = inbox
        self._environment = environment
        self._clock = clock
        self._entropy = entropy

    async def footing(self, session: Session, options: Options) -> StartContext | None:
        """None while an ask is open."""
        look = await asyncio.to_thread(self._look, session.directory, options.add_dirs)
        open_asks = await self._store.asks(session=session.id, kind="trust", state="open")
        if look.body is None:
            await self._withdraw(open_asks, t("sessions.withdrawn.nothing_to_trust"))
            return look.untrusted()
        digest = digest_of_trust(look.body)
        decision = await self._store.trust(session.directory)
        if decision is not None and decision.covers(digest):
            await self._withdraw(open_asks, t("sessions.withdrawn.trust_decided"))
            return look.trusted() if decision.level == "exactly" else look.untrusted()
        outdated = [ask for ask in open_asks if _digest(ask) != digest]
        await self._withdraw(outdated, t("sessions.withdrawn.files_changed"))
        if await self._has_expired(session, digest):
            return look.untrusted()
        if len(outdated) == len(open_asks):
            await self._ask(session, look.body, options, decision)
        return None

    async def started(self, session: Session, footing: StartContext) -> list[Change]:
        """Stored with the start: the decision has reached the session that waited for it."""
        now = self._clock()
        settled = await self._store.asks(session=session.id, kind="trust", undelivered=True)
        notes = [PublishItems(session.id, now, Notice("info", footing.note, "trust"))] if footing.note else []
        return [*(DeliverAsk(ask.id, now) for ask in settled), *notes]

    async def _has_expired(self, session: Session, digest: str) -> bool:
        """Whether this session's ask expired: it doesn't wait for the same one twice."""
        newest = await self._store.asks(session=session.id, kind="trust", newest_first=True, limit=1)
        return any(isinstance(ask.settlement, Expired) and _digest(ask) == digest for ask in newest)

    async def _ask(self, session: Session, body: Trust, options: Options, before: DirectoryTrust | None) -> None:
        identity = ids.spell("a", self._entropy(ids.ENTROPY))
        around = surroundings.around(session.directory, session.mode, options)
        ask = Ask(
            id=identity,
            session=session.id,
            project=session.project,
            body=body,
            tool=TOOL,
            origin=Origin(f"trust {identity}"),
            opened_at=self._clock(),
            why=_why(before),
        )
        await self._inbox.open(ask, around)

    async def _withdraw(self, asks: Sequence[Ask], reason: str) -> None:
        for ask in asks:
            await self._inbox.withdraw(ask.id, reason)

    def _look(self, directory: str, more: Sequence[str]) -> "_Look":
        home = self._environment.get("HOME", "")
        found = repository.read(directory, more, home)
        scripts = repository.read_scripts(directory, brought.mentioned(found))
        return _Look(
            mended(brought.trust_of(found, scripts)),
            brought.reading_list(found),
            repository.own_servers(home, self._environment.get("CLAUDE_CONFIG_DIR", "")),
        )


class _Look(Struct, frozen=True):
    body: Trust | None
    reading_list: str | None
    own_servers: str | None

    def untrusted(self) -> StartContext:
        note = t("card.session.without", what=brought_in_words(self.body.brought)) if self.body else ""
        return StartContext(reading_list=mended(self.reading_list), own_servers=self.own_servers, note=note)

    def trusted(self) -> StartContext:
        disables = self.body is not None and brought.disables_hooks(self.body)
        return StartContext(trusted=True, keeps_hooks=disables)


def _digest(ask: Ask) -> str:
    return digest_of_trust(ask.body) if isinstance(ask.body, Trust) else ask.digest


def _why(before: DirectoryTrust | None) -> str:
    if before is None:
        return t("why.trust.new")
    at = f"{before.made_at:%Y-%m-%d %H:%M} UTC"
    if before.level == "exactly":
        return t("why.trust.changed_trusted", who=before.made_by, at=at)
    return t("why.trust.changed_without", who=before.made_by, at=at)
