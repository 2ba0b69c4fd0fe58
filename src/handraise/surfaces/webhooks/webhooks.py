"""Webhooks as a whole: who gets events, changed by people; one reader of the feed; a sender for each."""

import asyncio
import importlib
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.auth import Auth
from handraise.desk.interface import Desk, Invalid, NotFound, Refused
from handraise.desk.shared import RENEW, LeaseKeeper, RecordChange, SharedRecords
from handraise.model import ids
from handraise.model.actors import Person, TheHub
from handraise.model.names import BadName, check_name
from handraise.model.webhooks import (
    NewWebhook,
    Webhook,
    WebhookDelivery,
    WebhookSecret,
    WebhookSummary,
)
from handraise.surfaces.endpoints import BadEndpoint
from handraise.surfaces.webhooks import events, retries, signing
from handraise.surfaces.webhooks.delivery_book import DeliveryBook
from handraise.surfaces.webhooks.events import WebhookEvent
from handraise.surfaces.webhooks.reader import EventReader
from handraise.surfaces.webhooks.sender import WebhookSender
from handraise.texts import t

if TYPE_CHECKING:
    from handraise.surfaces.webhooks.client import WebhookClient

KIND = "webhooks"
MOST_WEBHOOKS = 50
_CURSOR = "cursor"
_LEASE = "webhooks"
_TRIES = 20
MARGIN = 12.0
"""An event is sent only if the lease lasts longer than that: a receiver may take nearly as long."""

log = logging.getLogger("handraise.webhooks")


class WebhookConfig(Struct, frozen=True):
    """The settings of webhooks."""

    private_addresses: bool = False
    renew: float = RENEW
    """How often the hub that sends says that it still does, and looks for what other hubs changed, in seconds."""
    deadline: float | None = None
    """How long a receiver may take, in seconds. None: the default of the client."""


class Webhooks:
    """Entered with `async with`, inside the hub's. It follows the feed only while there is a webhook.

    With `elapsed` (a clock that also counts while the machine sleeps), other hubs have the same webhooks: only the one
    with the lease sends. Any of them can change, test and resend.
    """

    def __init__(
        self,
        desk: Desk,
        auth: Auth,
        records: SharedRecords,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        base: str,
        terms: WebhookConfig,
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        self._desk = desk
        self._auth = auth
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self._base = base
        self._terms = terms
        self._lease = None if elapsed is None else LeaseKeeper(records, _LEASE, elapsed, every=terms.renew)
        self._webhooks: dict[str, Webhook] = {}
        self._stored: dict[str, bytes] = {}
        self._senders: dict[str, WebhookSender] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._sharing: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()
        self._storing = asyncio.Lock()
        """Around each read or write of the webhooks: what was read earlier must not replace what was written since."""
        self._stack = AsyncExitStack()
        self._loading = asyncio.Lock()
        self._loaded: WebhookClient | None = None

    async def __aenter__(self) -> Self:
        if self._lease is not None:
            await self._stack.enter_async_context(self._lease)
            self._sharing = asyncio.create_task(self._share(self._lease))
        else:
            await self._adapt()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sharing is not None:
            self._sharing.cancel()
            await asyncio.gather(self._sharing, return_exceptions=True)
        await self._pause()
        await self._stack.aclose()

    async def list_all(self) -> list[WebhookSummary]:
        """Oldest first."""
        await self._load()
        found = sorted(self._webhooks.values(), key=lambda each: (each.created_at, each.id))
        return [await self._summary(each) for each in found]

    async def one(self, webhook: str) -> WebhookSummary:
        await self._load()
        return await self._summary(self._known(webhook))

    async def add(self, wanted: NewWebhook, by: Person, source: str) -> tuple[WebhookSummary, str]:
        """The webhook and its secret, which isn't shown again; raises Invalid or Refused."""
        wanted = await self._checked(wanted)
        await self._load()
        if len(self._webhooks) >= MOST_WEBHOOKS:
            raise Refused(t("webhooks.error.too_many", most=MOST_WEBHOOKS))
        secret = signing.make_secret(self._entropy(signing.ENTROPY))
        made = Webhook(
            id=ids.spell("w", self._entropy(ids.ENTROPY)),
            secrets=(WebhookSecret(secret),),
            since=await self._desk.newest(),
            created_at=self._clock(),
            created_by=by.name,
            **msgspec.structs.asdict(wanted),
        )
        await self._save(made, None)
        await self._auth.note("webhook added", by, source, {"webhook": made.id, "name": made.name})
        await self._begin()
        return await self._summary(made), secret

    async def change(self, webhook: str, wanted: dict[str, Any], by: Person, source: str) -> WebhookSummary:
        """Sets these fields of `NewWebhook`; raises Invalid."""
        await self._load()
        before = self._known(webhook)
        fields = {name: getattr(before, name) for name in NewWebhook.__struct_fields__}
        checked = await self._checked(NewWebhook(**{**fields, **wanted}), before)
        changed = {name: getattr(checked, name) for name in wanted if getattr(checked, name) != fields[name]}
        if not changed:
            return await self._summary(before)
        if changed.get("enabled"):
            # What happened while it was off isn't sent.
            changed |= {"since": await self._desk.newest(), "gone_at": None}
        after = await self._change(webhook, lambda each: replace(each, **changed))
        named = sorted(name for name in changed if name in NewWebhook.__struct_fields__)
        detail = {"webhook": after.id, "name": after.name, "changed": ", ".join(named)}
        await self._auth.note("webhook changed", by, source, detail)
        await self._begin()
        return await self._summary(after)

    async def rotate(self, webhook: str, by: Person, source: str) -> tuple[WebhookSummary, str]:
        """A new secret. The one before it still signs for a day, too."""
        await self._load()
        secret, now = signing.make_secret(self._entropy(signing.ENTROPY)), self._clock()
        after = await self._change(
            webhook, lambda each: replace(each, secrets=signing.rotated(each.secrets, secret, now))
        )
        detail = {"webhook": after.id, "name": after.name}
        await self._auth.note("webhook secret rotated", by, source, detail)
        return await self._summary(after), secret

    async def remove(self, webhook: str, by: Person, source: str) -> None:
        """With everything that is queued for it."""
        await self._load()
        known = self._known(webhook)
        await self._drop(webhook)
        # Events first: without its webhook, nobody would find them again. Then those that came meanwhile.
        await DeliveryBook(self._records, webhook).remove()
        async with self._storing:
            await self._records.save(KIND, [RecordChange(webhook, None, None)])
            self._forget(webhook)
        await DeliveryBook(self._records, webhook).remove()
        await self._auth.note("webhook removed", by, source, {"webhook": webhook, "name": known.name})

    async def test(self, webhook: str) -> WebhookDelivery:
        """Sends an event that stands for nothing, whether the webhook is on or off."""
        await self._load()
        known = self._known(webhook)
        sender = await self._sender_of(known)
        made = events.trial_delivery(known, self._base, self._entropy(ids.ENTROPY), self._clock())
        await sender.book.add(made, self._clock())
        return await sender.resend(known, made)

    async def deliveries(self, webhook: str) -> list[WebhookDelivery]:
        """What is queued, and the last ones that were sent or failed; newest first."""
        await self._load()
        book = (await self._sender_of(self._known(webhook))).book
        return retries.newest_first(book.deliveries.values())

    async def resend(self, webhook: str, delivery: str) -> WebhookDelivery:
        """Sends it again, with the same ID; raises NotFound if it is no longer known."""
        await self._load()
        known = self._known(webhook)
        sender = await self._sender_of(known)
        found = sender.book.deliveries.get(delivery)
        if found is None:
            raise NotFound(t("webhooks.error.no_delivery", delivery=delivery[:100]))
        return await sender.resend(known, found)

    def wake(self) -> None:
        """Checks now what is due: the clock was set."""
        for sender in self._senders.values():
            sender.changed.set()

    async def _checked(self, wanted: NewWebhook, before: Webhook | None = None) -> NewWebhook:
        """Raises Invalid."""
        try:
            name = check_name(wanted.name.strip())
            if before is None or wanted.url != before.url:
                await (await self._client()).check(wanted.url)
        except BadName as error:
            raise Invalid(str(error)) from error
        except BadEndpoint as error:
            raise Invalid(t(f"webhooks.endpoint.{error.reason}")) from error
        known = {each.id for each in await self._desk.projects()} | set(before.projects if before else ())
        for project in wanted.projects:
            if project not in known:
                raise Invalid(t("webhooks.error.no_project", project=project[:100]))
        chosen = tuple(dict.fromkeys(wanted.events)), tuple(dict.fromkeys(wanted.projects))
        return replace(wanted, name=name, events=chosen[0], projects=chosen[1])

    def _known(self, webhook: str) -> Webhook:
        found = self._webhooks.get(webhook)
        if found is None:
            raise NotFound(t("webhooks.error.no_webhook", webhook=webhook[:100]))
        return found

    async def _summary(self, webhook: Webhook) -> WebhookSummary:
        book = (await self._sender_of(webhook)).book
        return WebhookSummary(webhook, book.health, len(retries.queued(book.deliveries.values())))

    async def _load(self) -> dict[str, bytes]:
        """The webhooks as they are stored."""
        async with self._storing:
            stored = await self._records.read(KIND)
            for key in [each for each in self._stored if each not in stored]:
                self._forget(key)
            for key, value in stored.items():
                if key != _CURSOR and self._stored.get(key) != value:
                    self._take_over(key, value)
        return stored

    def _take_over(self, key: str, value: bytes) -> None:
        self._stored[key] = value
        try:
            self._webhooks[key] = msgspec.json.decode(value, type=Webhook)
        except msgspec.MsgspecError:
            log.warning("a webhook in the database can't be read", extra={"webhook": key})

    def _forget(self, webhook: str) -> None:
        self._stored.pop(webhook, None)
        self._webhooks.pop(webhook, None)

    async def _save(self, webhook: Webhook, only_if: bytes | None) -> bool:
        value = msgspec.json.encode(webhook)
        async with self._storing:
            (took,) = await self._records.save(KIND, [RecordChange(webhook.id, value, only_if)])
            if took:
                self._take_over(webhook.id, value)
        return took

    async def _change(self, webhook: str, decide: Callable[[Webhook], Webhook]) -> Webhook:
        for _ in range(_TRIES):
            known = self._known(webhook)
            after = decide(known)
            if after == known or await self._save(after, self._stored[webhook]):
                return after
            await self._load()
        raise Refused(t("webhooks.error.busy"))

    async def _sender_of(self, webhook: Webhook) -> WebhookSender:
        """The one that runs here, or one for this moment."""
        running = self._senders.get(webhook.id)
        if running is not None and self._lease is None:
            return running
        sender = running or self._sender(webhook.id)
        await sender.book.refresh()
        return sender

    def _sender(self, webhook: str) -> WebhookSender:
        return WebhookSender(
            DeliveryBook(self._records, webhook),
            lambda: self._webhooks.get(webhook),
            self._client,
            self._clock,
            self._entropy,
            self._gone,
            self._may_send,
            is_shared=self._lease is not None,
        )

    def _may_send(self) -> bool:
        return self._lease is None or self._lease.seconds_left > MARGIN

    async def _gone(self, webhook: Webhook) -> None:
        """Its receiver wants nothing more: what is queued stays, until a person decides."""
        now = self._clock()
        with suppress(NotFound):
            after = await self._change(webhook.id, lambda each: replace(each, enabled=False, gone_at=now))
            detail = {"webhook": after.id, "name": after.name, "reason": t("webhooks.error.gone")}
            await self._auth.note("webhook changed", TheHub(), "webhooks", detail)

    async def _share(self, lease: LeaseKeeper) -> None:
        """Sends while the lease is ours, for the webhooks that any hub has."""
        is_troubled = False
        while True:
            looked = asyncio.ensure_future(lease.looked())
            try:
                await (self._adapt() if lease.is_held else self._pause())
                is_troubled = False
            except Exception:  # outer boundary: the database may be away; the lease runs out by itself
                if not is_troubled:
                    log.exception("the webhooks could not be read; trying again")
                is_troubled = True
            await looked

    async def _adapt(self) -> None:
        await self._load()
        await self._begin()

    async def _begin(self) -> None:
        """Does everything that is pending for the existing webhooks, unless another hub does."""
        async with self._changing:
            if self._lease is not None and not self._lease.is_held:
                return
            for name in [each for each in self._senders if each not in self._webhooks]:
                await self._drop(name)
            for name in list(self._webhooks):
                if name not in self._tasks:
                    # Known before it is read: an event that comes meanwhile goes into the same book.
                    sender = self._senders.setdefault(name, self._sender(name))
                    await sender.book.refresh()
                    self._tasks[name] = asyncio.create_task(sender.go())
            if self._webhooks and self._reading is None:
                self._reading = asyncio.create_task(self._read(await self._place()))
            elif not self._webhooks:
                await self._stop_reading()
            self.wake()

    async def _place(self) -> int:
        """Where to go on in the feed: nothing before the oldest webhook is needed."""
        stored = (await self._records.read(KIND)).get(_CURSOR, b"")
        return max(_number(stored), min((each.since for each in self._webhooks.values()), default=0))

    async def _read(self, cursor: int) -> None:
        await EventReader(self._desk, self._base, cursor, self._hear).follow()

    async def _hear(self, event: WebhookEvent) -> None:
        """Queues the event for those that want it, then moves on: after a crash in between, it is heard again."""
        stored = await self._load()
        now = self._clock()
        for webhook in list(self._webhooks.values()):
            if not events.is_wanted(webhook, event):
                continue
            sender = self._senders.get(webhook.id)
            # One that another hub has just added gets its sender soon.
            book = sender.book if sender is not None else await self._book(webhook.id)
            await book.add(events.delivery_of(event, webhook, now), now)
            if sender is not None:
                sender.changed.set()
        before = stored.get(_CURSOR)
        if before is None or _number(before) < event.cursor:
            await self._records.save(KIND, [RecordChange(_CURSOR, str(event.cursor).encode(), before)])

    async def _book(self, webhook: str) -> DeliveryBook:
        book = DeliveryBook(self._records, webhook)
        await book.refresh()
        return book

    async def _pause(self) -> None:
        """Sends nothing more: another hub may go on."""
        async with self._changing:
            await self._stop_reading()
            for name in list(self._senders):
                await self._drop(name)

    async def _stop_reading(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _drop(self, webhook: str) -> None:
        self._senders.pop(webhook, None)
        task = self._tasks.pop(webhook, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _client(self) -> "WebhookClient":
        """Imports an HTTP client when the first webhook is added."""
        async with self._loading:
            if self._loaded is None:
                module = await asyncio.to_thread(importlib.import_module, "handraise.surfaces.webhooks.client")
                deadline = self._terms.deadline or module.DEADLINE
                made: WebhookClient = await asyncio.to_thread(
                    module.WebhookClient, private=self._terms.private_addresses, deadline=deadline
                )
                self._loaded = await self._stack.enter_async_context(made)
            return self._loaded


def _number(value: bytes) -> int:
    return int(value) if value.isdigit() else 0
