"""Everything that the decision depends on besides the ask: settings, presence, people, and what reaches them."""

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from msgspec import Struct

from handraise.auth import Auth
from handraise.desk.shared import RENEW
from handraise.model.asks import Ask
from handraise.model.tokens import Role, may
from handraise.reach.decision import GRACE, ChannelFacts, HoldBack, ReachWorld, SendNow, Skip, Verdict, next_for
from handraise.reach.presence import Presence
from handraise.reach.settings import ReachSettings
from handraise.reach.urgency import facts_of

log = logging.getLogger("handraise.reach")


class ReachConfig(Struct, frozen=True):
    """The settings of notifications."""

    private_addresses: bool = False
    """Whether channels may have addresses that aren't on the public internet."""
    owner: str = "owner"
    """Who uses the hub's own machine; always an admin."""
    proxied: Role | None = None
    """The role of people whom a proxy signs in; None without a proxy."""
    has_telegram: bool = False
    renew: float = RENEW
    """How often a hub that shares its database looks for what others changed, in seconds."""
    deadline: float = 35.0
    """How long a channel may take, in seconds."""
    grace: timedelta = GRACE
    """An ask that is answered this quickly needs no notification."""


class Situation:
    """Entered with `async with`. `shared`: other hubs use the same database, and it is read again and again."""

    def __init__(
        self,
        settings: ReachSettings,
        presence: Presence,
        auth: Auth,
        clock: Callable[[], datetime],
        config: ReachConfig,
        *,
        shared: bool = False,
    ) -> None:
        self.settings = settings
        self.presence = presence
        self.config = config
        self._auth = auth
        self._clock = clock
        self._shared = shared
        self._roles: dict[str, Role] = {}
        self._task: asyncio.Task[None] | None = None
        self.devices: Callable[[], Collection[str]] = tuple
        """The people who turned a device on."""
        self.listeners: list[Callable[[], None]] = []
        """Called whenever something may be decided differently."""
        settings.listeners.append(self._tell)
        presence.listeners.append(self._tell)

    async def __aenter__(self) -> Self:
        await self.settings.refresh()
        if self._shared:
            self._task = asyncio.create_task(self._refresh_regularly())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def world(self) -> ReachWorld:
        """As it is now, with the current roles."""
        self._roles = await self.roles()
        return self.last_world()

    def last_world(self) -> ReachWorld:
        """As it is now, with the roles as they were read last."""
        settings = self.settings
        return ReachWorld(
            self._roles,
            settings.windows,
            tuple(settings.mutes.values()),
            self.presence.looking(),
            tuple(ChannelFacts(each.id, each.owner, each.config.name) for each in settings.channels.values()),
            frozenset(self.devices()),
            self.config.has_telegram,
            settings.chains,
            self.config.grace,
        )

    async def roles(self) -> dict[str, Role]:
        """The people who have access now, and the most that each of them may do."""
        found: dict[str, Role] = {}
        if self.config.proxied is not None:
            owners = {each.owner for each in self.settings.channels.values()} | set(self.settings.quiet)
            found |= dict.fromkeys(owners - {""}, self.config.proxied)
        for token in await self._auth.tokens():
            known = found.get(token.name)
            if token.role != "agent" and (known is None or may(token.role, known)):
                found[token.name] = token.role
        found[self.config.owner] = "admin"
        return found

    def gate(self, ask: Ask, channel: str, person: str, now: datetime) -> Verdict:
        """For what delivers by itself: whether it may show this ask to this person now. It knows what it has sent."""
        found = next_for(facts_of(ask), channel, person, self.last_world(), (), now)
        return Skip("not_in_chain") if found is None else found[1]

    def opens_at(self, ask: Ask, channel: str, person: str, now: datetime) -> datetime | None:
        """The same as a time: in the past if it may, later if it must wait; None if only a change helps."""
        verdict = self.gate(ask, channel, person, now)
        match verdict:
            case SendNow():
                return ask.opened_at
            case HoldBack(until=until):
                end = self.presence.next_end() if verdict.reason == "looking" else None
                return until if end is None or until is None else min(until, end)
            case Skip():
                return None

    def _tell(self) -> None:
        for listener in self.listeners:
            listener()

    async def _refresh_regularly(self) -> None:
        is_troubled = False
        while True:
            await asyncio.sleep(self.config.renew)
            try:
                await self.settings.refresh()
                await self.presence.refresh()
                is_troubled = False
            except Exception as error:  # the database may be away: what is known stays
                if not is_troubled:
                    log.warning("the settings of notifications could not be read: %s", type(error).__name__)
                is_troubled = True
