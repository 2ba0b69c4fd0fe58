"""Notifies the devices that turned it on. Nothing leaves the hub before that."""

import asyncio
import importlib
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from handraise.auth import Auth, Principal
from handraise.desk.gate import NotificationGate
from handraise.desk.interface import Desk, Invalid, NotFound, Refused
from handraise.desk.shared import RENEW, LeaseKeeper, SharedRecords
from handraise.model import ids
from handraise.model.actors import Person
from handraise.model.devices import NOTICE_KINDS, Device, Subscription
from handraise.model.names import BadName, check_name
from handraise.model.tokens import Role, may
from handraise.surfaces.push import notices
from handraise.surfaces.push.device_log import (
    DeviceBook,
    DeviceLogFile,
    DeviceLogLost,
    DeviceState,
    Ending,
    KeyLost,
)
from handraise.surfaces.push.due import GRACE, OLDEST_ENDING, AskStates
from handraise.surfaces.push.messages import Accepted, EndpointGone, PushMessage
from handraise.surfaces.push.sender import DeviceSender
from handraise.surfaces.push.shared_log import SharedDeviceLog
from handraise.surfaces.push.watcher import AskWatcher
from handraise.texts import t

if TYPE_CHECKING:
    from handraise.surfaces.push.client import WebPushClient

MOST_DEVICES = 20
"""Per person."""
MOST_IN_ALL = 500
_TRIAL_LIFE = 60
_FEED = "feed"
_LEASE = "push"
MARGIN = 21.0
"""A message is sent only if the lease lasts longer than that: a push service may take nearly as long."""
_BEGAN = ("session started", "session resumed")

log = logging.getLogger("handraise.push")


class PushConfig(Struct, frozen=True):
    """The settings of push."""

    enabled: bool = True
    contact: str | None = None
    private_addresses: bool = False
    proxied: Role | None = None
    """The role of people whom a proxy signs in; None without a proxy."""
    grace: timedelta = GRACE
    renew: float = RENEW
    """How often the hub that sends says that it still does, and looks for what other hubs changed, in seconds."""


class SharedPush(Struct, frozen=True):
    """What the notifiers of several hubs share. `elapsed` is a clock that also counts while the machine sleeps."""

    records: SharedRecords
    elapsed: Callable[[], float]


class Notifier:
    """Entered with `async with`, inside the hub's. It follows the feed only while there is a device.

    If hubs share their devices, only the one with the lease sends. Any of them can add, remove and test a device.
    """

    def __init__(
        self,
        desk: Desk,
        auth: Auth,
        folder: Path,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        terms: PushConfig,
        shared: SharedPush | None = None,
        gate: NotificationGate | None = None,
    ) -> None:
        self._desk = desk
        self._gate = gate
        if gate is not None:
            gate.listen(self._changed)
        self._auth = auth
        self._clock = clock
        self._entropy = entropy
        self._terms = terms
        self._book: DeviceBook
        self._lease: LeaseKeeper | None = None
        if shared is None:
            self._book = DeviceLogFile(folder / "devices.json")
        else:
            self._book = SharedDeviceLog(shared.records, folder)
            self._lease = LeaseKeeper(shared.records, _LEASE, shared.elapsed, every=terms.renew)
        self._scene = AskStates(grace=terms.grace)
        self._senders: dict[str, DeviceSender] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sharing: asyncio.Task[None] | None = None
        self._watch: AskWatcher | None = None
        self._stack = AsyncExitStack()
        self._loading = asyncio.Lock()
        self._loaded: WebPushClient | None = None
        self._lost = ""

    async def __aenter__(self) -> Self:
        try:
            await self._stack.enter_async_context(self._book)
        except DeviceLogLost as error:
            log.error("%s", error)  # noqa: TRY400 (the hub goes on without it)
            self._lost = t("push.error.devices_lost")
        if self._terms.enabled and self._lease is not None and not self._lost:
            await self._stack.enter_async_context(self._lease)
            self._sharing = asyncio.create_task(self._share(self._lease))
        elif self._terms.enabled and self._book.ledger.pages:
            self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sharing is not None:
            self._sharing.cancel()
            await asyncio.gather(self._sharing, return_exceptions=True)
        await self._pause()
        await self._stack.aclose()

    @property
    def owners(self) -> set[str]:
        """The people who turned a device on."""
        return {page.device.person for page in self._book.ledger.pages.values()} if self.enabled else set()

    @property
    def enabled(self) -> bool:
        return self._terms.enabled

    async def key(self) -> str:
        """The hub's public key, which a browser needs to subscribe; raises Refused."""
        self._check()
        return (await self._client()).key

    async def devices(self, principal: Principal) -> list[Device]:
        """One person's devices, oldest first."""
        await self._book.refresh()
        own = [page.device for page in self._book.ledger.pages.values() if _is_own(page.device, principal)]
        return [device for device in own if await self._role_of(device) is not None]

    async def add(self, wanted: Subscription, principal: Principal, source: str) -> Device:
        """Turns on a browser, or updates it; raises Unusable or Refused."""
        self._check()
        if principal.token is None and self._terms.proxied is None:
            raise Refused(t("push.error.not_signed_in"))
        client = await self._client()
        if wanted.made_for not in (None, client.key):
            raise Refused(t("push.error.other_hub"))
        await client.check(wanted.endpoint, wanted.key, wanted.secret)
        newest = await self._desk.newest()
        await self._book.refresh()
        before = set(self._book.ledger.pages)
        page = self._keep(wanted, principal)
        if self._book.ledger.cursor is None:
            self._book.ledger.cursor = newest
        self._begin()
        await self._save()
        if page.device.id not in before:
            await self._auth.note("device added", principal.person, source, {"device": page.device.id})
        return page.device

    async def remove(self, device: str, principal: Principal, source: str) -> None:
        """Takes effect immediately: nothing more is sent to it."""
        await self._book.refresh()
        page = self._own(device, principal)
        self._stop(page)
        await self._save()
        await self._auth.note("device removed", principal.person, source, {"device": device})

    async def try_out(self, device: str, principal: Principal) -> str | None:
        """Sends a test; the sentence says why it failed."""
        self._check()
        await self._book.refresh()
        page = self._own(device, principal)
        sender = self._senders.get(device) or self._sender(page)
        message = PushMessage(notices.encode(notices.of_test(device)), None, _TRIAL_LIFE, "high")
        outcome = await sender.carry(message)
        await self._save()
        if isinstance(outcome, EndpointGone):
            return t("push.error.unknown_device")
        return None if isinstance(outcome, Accepted) else outcome.why

    async def closed(self, device: str, principal: Principal, ask: str) -> None:
        """The device no longer shows this ask: it was answered or dismissed there."""
        await self._book.refresh()
        page = self._own(device, principal)
        if page.forget(ask):
            if self._scene.is_known:
                page.put_away = {each: at for each, at in page.put_away.items() if each in self._scene.open}
            page.put_away[ask] = self._clock()
            await self._save()

    def _check(self) -> None:
        if not self._terms.enabled:
            raise Refused(t("push.error.disabled"))
        if self._lost:
            raise Refused(self._lost)

    def _own(self, device: str, principal: Principal) -> DeviceState:
        page = self._book.ledger.pages.get(device)
        if page is None or not _is_own(page.device, principal):
            raise NotFound(t("push.error.no_device", device=device[:100]))
        return page

    def _keep(self, wanted: Subscription, principal: Principal) -> DeviceState:
        """The browser's device: the existing one, if it had one, even at another endpoint."""
        pages = self._book.ledger.pages
        known = self._book.ledger.by_endpoint(wanted.endpoint) or self._book.ledger.by_endpoint(wanted.replaces)
        if known is not None and not _is_own(known.device, principal):
            # Another person has signed in there.
            self._stop(known)
            known = None
        if known is None:
            if sum(_is_own(page.device, principal) for page in pages.values()) >= MOST_DEVICES:
                raise Refused(t("push.error.too_many_devices", most=MOST_DEVICES))
            if len(pages) >= MOST_IN_ALL:
                raise Refused(t("push.error.hub_full", most=MOST_IN_ALL))
        before = known.device.kinds if known else NOTICE_KINDS
        device = Device(
            id=known.device.id if known else self._new_id(wanted.endpoint),
            person=principal.person.name,
            token=principal.token.id if principal.token else None,
            label=_label(wanted.label),
            kinds=before if wanted.kinds is None else wanted.kinds,
            endpoint=wanted.endpoint,
            key=wanted.key,
            secret=wanted.secret,
            created_at=known.device.created_at if known else self._clock(),
            origin=wanted.origin,
            last_sent_at=known.device.last_sent_at if known else None,
            trouble=known.device.trouble if known and known.device.endpoint == wanted.endpoint else None,
            role=None if principal.token else principal.role,
        )
        if known is not None:
            known.device = device
            return known
        pages[device.id] = DeviceState(device)
        return pages[device.id]

    def _new_id(self, endpoint: str) -> str:
        """Hubs that add the same browser at the same moment give it the same one, so it is one device."""
        same = ids.spell("d", sha256(endpoint.encode()).digest()[: ids.ENTROPY])
        is_free = self._lease is not None and same not in self._book.ledger.pages
        return same if is_free else ids.spell("d", self._entropy(ids.ENTROPY))

    def _begin(self) -> None:
        """Does everything that is pending for the existing devices, unless another hub does."""
        if self._lease is not None and not self._lease.is_held:
            return
        if self._watch is None:
            self._watch = AskWatcher(
                self._desk, self._scene, self._clock, self._changed, self._hear_end, self._book.ledger.cursor
            )
            self._tasks[_FEED] = asyncio.create_task(self._watch.follow())
        for name, page in self._book.ledger.pages.items():
            if name not in self._senders:
                self._senders[name] = self._sender(page)
                self._tasks[name] = asyncio.create_task(self._senders[name].go())
        self._changed()

    def _sender(self, page: DeviceState) -> DeviceSender:
        return DeviceSender(
            page,
            self._book,
            self._scene,
            self._desk,
            self._client,
            self._role_of,
            self._clock,
            self._stop,
            self._may_send,
            self._gate,
        )

    def _may_send(self) -> bool:
        return self._lease is None or self._lease.seconds_left > MARGIN

    async def _share(self, lease: LeaseKeeper) -> None:
        """Sends while the lease is ours, for the devices that any hub has."""
        is_troubled = False
        while True:
            looked = asyncio.ensure_future(lease.looked())
            try:
                await (self._adapt() if lease.is_held else self._pause())
                is_troubled = False
            except Exception:  # outer boundary: the database may be away; the lease runs out by itself
                if not is_troubled:
                    log.exception("the devices of other hubs could not be read; trying again")
                is_troubled = True
            await looked

    async def _adapt(self) -> None:
        await self._book.refresh()
        for name in [each for each in self._senders if each not in self._book.ledger.pages]:
            self._drop(name)
        if self._book.ledger.pages:
            self._begin()

    async def _pause(self) -> None:
        """Sends nothing more, and forgets what it knows of asks: another hub may go on."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        watch, self._watch = self._watch, None
        self._tasks.clear()
        self._senders.clear()
        self._scene = AskStates(grace=self._terms.grace)
        if watch is not None:
            self._book.ledger.cursor = max(self._book.ledger.cursor or 0, watch.cursor or 0)
            with suppress(Exception):  # it is read again from further back
                await self._book.save()

    def _stop(self, page: DeviceState) -> None:
        """Stops everything for this device, and forgets it."""
        self._book.ledger.pages.pop(page.device.id, None)
        self._drop(page.device.id)

    def _drop(self, name: str) -> None:
        self._senders.pop(name, None)
        task = self._tasks.pop(name, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def _changed(self) -> None:
        for sender in self._senders.values():
            sender.changed.set()

    async def _hear_end(self, ending: Ending, cursor: int) -> None:
        """Notifies the person who started the session, unless they ended it; for an alarm, everyone who can answer."""
        if self._clock() - ending.at > OLDEST_ENDING:
            return
        if ending.alarm:
            await self._tell_end(ending, cursor, await self._approvers(ending.at))
            return
        entries = await self._desk.audit(session=ending.session)
        began = {each.by.name for each in entries if each.what in _BEGAN and isinstance(each.by, Person)}
        devices = [
            name
            for name, page in self._book.ledger.pages.items()
            if "ended" in page.device.kinds
            and page.device.person in began
            and page.device.created_at <= ending.at
            and ending.by != page.device.person
        ]
        await self._tell_end(ending, cursor, devices)

    async def _approvers(self, at: datetime) -> list[str]:
        """The devices of everyone who can answer."""
        pages = [(name, page.device) for name, page in self._book.ledger.pages.items() if page.device.created_at <= at]
        roles = [(name, await self._role_of(device)) for name, device in pages]
        return [name for name, role in roles if role is not None and may(role, "approver")]

    async def _tell_end(self, ending: Ending, cursor: int, devices: list[str]) -> None:
        if devices:
            self._book.ledger.note_ending(ending, cursor, devices)
            await self._save()
            self._changed()

    async def _role_of(self, device: Device) -> Role | None:
        """The current role of this device's owner."""
        if device.token is None:
            return self._terms.proxied or (device.role if self._lease is not None else None)
        good = [token.role for token in await self._auth.tokens() if token.id == device.token]
        return good[0] if good and good[0] != "agent" else None

    async def _client(self) -> "WebPushClient":
        """Imports cryptography and creates the hub's key when the first device is added."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await self._stack.enter_async_context(await self._hire())
            return self._loaded

    async def _hire(self) -> "WebPushClient":
        try:
            key = await self._book.key()
        except (OSError, KeyLost) as error:
            log.error("%s", error)  # noqa: TRY400 (the hub goes on without it)
            raise Refused(t("push.error.key_lost")) from error
        module = await asyncio.to_thread(importlib.import_module, "handraise.surfaces.push.client")
        hired: WebPushClient = await asyncio.to_thread(
            module.WebPushClient,
            key,
            self._clock,
            self._entropy,
            contact=self._terms.contact,
            private=self._terms.private_addresses,
        )
        return hired

    async def _save(self) -> None:
        try:
            await self._book.save()
        except OSError as error:
            raise Refused(t("push.error.not_saved", reason=error.strerror)) from error


def _label(label: str) -> str:
    try:
        return check_name(label)
    except BadName as error:
        raise Invalid(str(error)) from error


def _is_own(device: Device, principal: Principal) -> bool:
    """Whether it is the same person, signed in the same way: a name alone is whatever a proxy says."""
    return device.person == principal.person.name and (device.token is None) == (principal.token is None)
